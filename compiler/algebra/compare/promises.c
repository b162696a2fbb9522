#include "compiler/algebra/compare/promises.h"

#include "compiler/base/date.h"
#include "compiler/base/lint.h"
#include "compiler/ir/text.h"

static ir_texts requests(struct arena *a, const ir_requests *list)
{
	ir_texts out = {0};

	vec_each(r, list)
		*vec_push(a, &out) =
			(struct ir_text){r->from, ir_request_text(a, r)};
	return out;
}

static ir_texts nevers(struct arena *a, const struct ir_policy *p)
{
	ir_texts out = {0};

	vec_each(n, &p->tests.never)
		*vec_push(a, &out) =
			(struct ir_text){n->from, ir_never_text(a, n)};
	return out;
}

static ir_texts waivers(struct arena *a, const struct ir_policy *p)
{
	ir_texts out = {0};

	vec_each(w, &p->waivers) {
		const struct lint *l = lint_of((enum diag_id)w->lint);
		const char *until = "";

		if (w->has_until)
			until = arena_fmt(a, ", until %s",
					  date_text(a, w->until).p)
					.p;
		*vec_push(a, &out) = (struct ir_text){
			w->from,
			arena_fmt(a, "%s%s%.*s%s: %.*s", l ? l->name : "?",
				  w->subject.n ? " of " : "",
				  STR_ARG(w->subject), until,
				  STR_ARG(w->reason))};
	}
	return out;
}

static ir_texts purposes(struct arena *a, const struct ir_policy *p)
{
	ir_texts out = {0};

	vec_each(x, &p->purposes)
		*vec_push(a, &out) = (struct ir_text){
			x->from, arena_fmt(a, "%.*s: %.*s",
					   STR_ARG(ir_dest_text(a, &x->dest)),
					   STR_ARG(x->reason))};
	return out;
}

static bool has_text(const ir_texts *list, struct str s)
{
	vec_each(t, list)
		if (str_eq(t->s, s))
			return true;
	return false;
}

/* What x has and y has not. */
static void add_missing(struct arena *a, const char *key, const ir_texts *x,
			const ir_texts *y, bool old, struct comparison *out)
{
	vec_each(t, x)
		if (!has_text(y, t->s))
			*vec_push(a, &out->changes) = (struct access_change){
				.way = ACCESS_OTHER,
				.kind = ACCESS_SETTING,
				.text = arena_fmt(a, "%s %c %.*s", key,
						  old ? '-' : '+',
						  STR_ARG(t->s)),
				.why = t->from,
				.why_old = old,
			};
}

void promises_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out)
{
	ir_texts was = requests(a, &old->tests.allow);
	ir_texts is = requests(a, &now->tests.allow);

	add_missing(a, "tests.allow", &was, &is, true, out);
	was = requests(a, &old->tests.deny);
	is = requests(a, &now->tests.deny);
	add_missing(a, "tests.deny", &was, &is, true, out);
	was = nevers(a, old);
	is = nevers(a, now);
	add_missing(a, "tests.never", &was, &is, true, out);
	was = waivers(a, old);
	is = waivers(a, now);
	add_missing(a, "allow_lint", &was, &is, true, out);
	add_missing(a, "allow_lint", &is, &was, false, out);
	was = purposes(a, old);
	is = purposes(a, now);
	add_missing(a, "refused_on_purpose", &was, &is, true, out);
	add_missing(a, "refused_on_purpose", &is, &was, false, out);
}
