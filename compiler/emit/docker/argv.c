#include "compiler/emit/docker/argv.h"

#include "compiler/ir/variable.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/gate.h"

#include <inttypes.h>

void argv_put(struct argv *w, const char *word)
{
	json_push_str(w->list, str_of(word));
}

void argv_begin(struct argv *w, const struct argv_run *run)
{
	struct arena *a = w->in->a;

	w->image = run->image;
	w->list = json_array();
	if (w->native) {
		argv_put(w, "native");
		argv_put(w, "run");
		argv_put(w, run->input);
		return;
	}
	argv_put(w, "docker");
	argv_put(w, "run");
	argv_put(w, "--rm");
	if (run->input)
		argv_put(w, run->input);
	/* It is built here: nobody else's image of that name is wanted. */
	if (!run->may_pull)
		argv_put(w, "--pull=never");
	argv_put(w, arena_fmt(a, "--name=" DOCKER_JSON_OURS "%s-{session}",
			      run->name)
			    .p);
	argv_put(w, "--label=" DOCKER_JSON_LABEL_SESSION "={session}");
	argv_put(w, arena_fmt(a, "--label=" DOCKER_JSON_LABEL_ROLE "=%s",
			      run->role ? run->role : run->name)
			    .p);
	/* What a container prints goes to membrane, not to the host's disk. */
	argv_put(w, "--log-driver=none");
}

cJSON *argv_end(struct argv *w)
{
	cJSON *o = json_object();

	json_put_str(o, DOCKER_JSON_IMAGE, w->image);
	json_put(o, DOCKER_JSON_ARGV, w->list);
	return o;
}

/* Braces of the policy's own are no placeholders. */
static void put_escaped(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '{' || s.p[i] == '}')
			buf_addc(out, s.p[i]);
		buf_addc(out, s.p[i]);
	}
}

void argv_value(struct argv *w, const char *option, struct str value)
{
	struct buf b;

	buf_init(&b, w->in->a);
	buf_addf(&b, "--%s=", option);
	put_escaped(&b, value);
	json_push_str(w->list, buf_str(&b));
}

void argv_u64(struct argv *w, const char *option, uint64_t v)
{
	argv_value(w, option, arena_fmt(w->in->a, "%" PRIu64, v));
}

/* passes/args.c checked the variables. */
static void put_variables(struct buf *b, struct str s)
{
	size_t n;

	for (size_t i = 0; i < s.n; i += n) {
		struct str name;

		n = s.p[i] == '$' ? variable_at(s, i, &name) : 0;
		if (n == 0) {
			put_escaped(b, str_slice(s, i, i + 1));
			n = 1;
		} else if (name.n) {
			buf_addf(b, "{env:%.*s}", STR_ARG(name));
		} else {
			buf_addc(b, '$');
		}
	}
}

void argv_raw_value(struct argv *w, const char *front, const struct arg *arg)
{
	struct buf b;

	buf_init(&b, w->in->a);
	buf_adds(&b, front);
	put_variables(&b, arg->value);
	json_push_str(w->list, buf_str(&b));
}

void argv_raw(struct argv *w, const struct arg *arg)
{
	struct buf b;

	buf_init(&b, w->in->a);
	buf_addf(&b, "--%.*s", STR_ARG(arg->option));
	if (arg->has_value)
		buf_addc(&b, '=');
	put_variables(&b, arg->value);
	json_push_str(w->list, buf_str(&b));
	if (!w->in->marks)
		return;
	*vec_push(w->in->a, &w->args) = arg;
	*vec_push(w->in->a, &w->words) = (struct json_place){
		cJSON_GetArrayItem(w->list, cJSON_GetArraySize(w->list) - 1),
		0};
}

static void put_place(struct buf *b, const struct ir_visible *v)
{
	if (v->in_home)
		buf_adds(b, DOCKER_JSON_USER_HOME);
	put_escaped(b, v->path);
}

void argv_place(struct argv *w, const struct ir_visible *v)
{
	struct buf b;

	buf_init(&b, w->in->a);
	buf_adds(&b, "--mount=type=bind,source=");
	put_place(&b, v);
	buf_adds(&b, ",target=");
	put_place(&b, v);
	buf_adds(&b, v->write ? "" : ",readonly");
	json_push_str(w->list, buf_str(&b));
}

void argv_plan(struct argv *w)
{
	argv_put(
		w,
		"--mount=type=bind,source={state}/sessions/{session}/plan,target=" GATE_PLAN
		",readonly");
}

void argv_image(struct argv *w)
{
	json_push_str(w->list, w->image);
}

void argv_text(struct argv *w, cJSON *take_root, struct buf *out)
{
	json_add_at(out, take_root, w->words.v, w->words.n);
	for (uint32_t i = 0; i < w->words.n; i++)
		marks_add(w->in->marks,
			  (struct marks_one){.at = w->words.v[i].at,
					     .from = &w->args.v[i]->from,
					     .uses = MARKS_ARG,
					     .reasons = MARKS_FOR(GRANTED)});
}
