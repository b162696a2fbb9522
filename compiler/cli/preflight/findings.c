/* What was found, and how it is shown. */
#include "compiler/cli/preflight/parts.h"

#include "compiler/cli/text/console.h"
#include "compiler/cli/text/status.h"

#include <stdio.h>
#include <unistd.h>

static const struct {
	const char *group, *name, *consequence, *remedy;
	bool needed;
} table[] = {
#define CHECK(id, group, name, needed, consequence, remedy)                    \
	[CHECK_##id] = {group, name, consequence, remedy, needed},
#include "compiler/cli/preflight/checks.def"
#undef CHECK
};

/* --- as they come ----------------------------------------------------------- */

void findings_set(struct visit *v, enum check_id id, enum doctor_state state,
		  const char *detail)
{
	v->of[id] = (struct doctor_finding){.state = state, .detail = detail};
}

void findings_take(struct visit *v, enum check_id id, int rc,
		   const struct err *err, const char *detail)
{
	findings_set(v, id, rc == 0 ? DOCTOR_OK : DOCTOR_MISSING,
		     rc == 0 ? detail : arena_cstr(v->a, str_of(err->text)));
}

static bool is_known(const struct doctor_finding *f)
{
	return f->state != DOCTOR_UNKNOWN || f->detail;
}

void findings_skip(struct visit *v, enum check_id first, enum check_id last,
		   const char *why)
{
	for (int i = first; i <= (int)last; i++)
		if (!is_known(&v->of[i]))
			v->of[i] = (struct doctor_finding){
				.detail = arena_fmt(v->a, "not tried: %s", why)
						  .p,
				.unasked = true};
}

bool findings_ok(const struct visit *v, enum check_id id)
{
	return v->of[id].state == DOCTOR_OK;
}

/* An init container that goes on is not wanted where the gate is another; a
 * profile is, where one is named. */
static bool is_needed(const struct visit *v, int id)
{
	if (id == CHECK_SIDECAR)
		return v->with->sidecar == KUBE_SIDECAR_NATIVE;
	return table[id].needed || (id == CHECK_SECCOMP && v->with->seccomp.n);
}

static unsigned lacking_count(const struct visit *v)
{
	unsigned n = 0;

	for (int i = 0; i < CHECKS; i++)
		n += is_needed(v, i) && v->of[i].state != DOCTOR_OK;
	return n;
}

bool findings_run(const struct visit *v)
{
	return lacking_count(v) == 0;
}

/* --- for a person, and for programs ----------------------------------------- */

void findings_tell(struct visit *v, const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (v->is_told)
		fputs("\r\033[K", stderr);
	if (what)
		fprintf(stderr, "membrane: %s…", what);
	fflush(stderr);
	v->is_told = what != NULL;
}

/* What a gate of its own would hold there. */
static const char *say_apart(const struct visit *v)
{
	if (!findings_ok(v, CHECK_RESTRICTED))
		return NULL;
	if (findings_ok(v, CHECK_NETWORK))
		return "'--topology apart' holds there: restricted Pods are admitted, and NetworkPolicy is enforced";
	if (v->of[CHECK_NETWORK].state == DOCTOR_MISSING)
		return "'--topology apart' holds nothing there: no NetworkPolicy is enforced";
	return NULL;
}

static void put_sum(struct visit *v, struct buf *out)
{
	unsigned n = lacking_count(v);
	bool form = !findings_ok(v, CHECK_SIDECAR) && is_needed(v, CHECK_SIDECAR);
	const char *apart = say_apart(v);

	if (n == 0)
		buf_addf(out, "'membrane run --target kubernetes%s' works there\n",
			 v->with->sidecar == KUBE_SIDECAR_CONTAINER
				 ? " --sidecar container"
				 : "");
	else if (n == 1 && form)
		buf_adds(out, "'membrane run --target kubernetes' works there with '--sidecar container', and not without\n");
	else if (n == 1u + form && v->of[CHECK_GATE].unasked &&
		 !v->with->gate_image.n)
		buf_addf(out, "'membrane run --target kubernetes%s' was not tried whole: with '--gate-image' it is\n",
			 form ? " --sidecar container" : "");
	else
		buf_addf(out, "'membrane run --target kubernetes' does not work there: it lacks %u of what it needs\n",
			 n);
	if (apart)
		buf_addf(out, "%s\n", apart);
}

static const struct doctor_row *rows_of(const struct visit *v)
{
	struct doctor_row *rows = arena_array(v->a, CHECKS, sizeof(*rows));

	for (int i = 0; i < CHECKS; i++) {
		const struct doctor_finding *f = &v->of[i];

		rows[i] = (struct doctor_row){
			.group = table[i].group,
			.name = table[i].name,
			.consequence = table[i].consequence,
			.remedy = f->remedy ? f->remedy : table[i].remedy,
			.needed = is_needed(v, i),
			.found = *f,
		};
	}
	return rows;
}

int findings_print(struct visit *v)
{
	struct buf out;
	struct view view = {&out, console_width(STDOUT_FILENO),
			    console_colour(STDOUT_FILENO)};
	int status;

	buf_init(&out, v->a);
	if (options_get(v->o, OPTION_JSON)) {
		buf_add(&out, json_shown(v->a, doctor_rows_json(
						       rows_of(v), CHECKS,
						       findings_run(v))));
	} else {
		doctor_rows_view(&view, rows_of(v), CHECKS);
		put_sum(v, &out);
	}
	status = console_result(buf_str(&out));
	return status == STATUS_OK && !findings_run(v) ? STATUS_REFUSED : status;
}
