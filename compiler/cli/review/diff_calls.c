#include "compiler/cli/review/diff_calls.h"

#include "compiler/cli/text/console.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/plan/files.h"

/* The profile that would run: a plan's own, else what the policy has. */
static bool profile_of(struct arena *a, const struct operand *s,
		       struct str *out)
{
	struct emit_in in = {.policy = &s->c.policy, .a = a};
	struct buf text;

	if (s->kind == OPERAND_PLAN) {
		if (s->seccomp)
			*out = s->seccomp->data;
		return s->seccomp != NULL;
	}
	if (!seccomp_wanted(&s->c.policy))
		return false;
	buf_init(&text, a);
	seccomp_emit(&in, &text);
	*out = buf_str(&text);
	return true;
}

static int refuse_profile(const struct diff *d, const char *label,
			  const struct err *err)
{
	console_error("%s: " PLAN_SECCOMP ": %s", label,
		      view_cleaned(d->a, str_of(err->text)).p);
	return STATUS_REFUSED;
}

int diff_calls(struct diff *d)
{
	const struct operand *sides[] = {d->old, d->now};
	struct calls calls[2];
	const struct calls *has[2] = {NULL, NULL};
	struct err err;

	if (!d->old->calls_forged && !d->now->calls_forged)
		return STATUS_OK;
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		struct str text;

		if (!profile_of(d->a, sides[i], &text))
			continue;
		if (calls_read(d->a, text, &calls[i], &err) < 0)
			return refuse_profile(d, sides[i]->label.p, &err);
		has[i] = &calls[i];
	}
	if (!has[0] && !has[1])
		return STATUS_OK;
	if (changes_make_calls(&d->access, has[0], has[1], &err) < 0)
		return refuse_profile(d, d->now->label.p, &err);
	return STATUS_OK;
}
