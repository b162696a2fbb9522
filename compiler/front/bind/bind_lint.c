/* Exceptions from warnings, `allow_lint`, and refusals that are meant,
 * `refused_on_purpose`. */
#include "compiler/base/date.h"
#include "compiler/base/lint.h"
#include "compiler/front/bind/bind_types.h"
#include "compiler/front/word/dest.h"

#include <stddef.h>

#define outer(member, field)                                                   \
	((struct ir_waiver *)(void *)((char *)(field)-offsetof(                \
		struct ir_waiver, member)))

/* "W904", as it stands before the name. */
static const struct lint *by_number(struct str s)
{
	uint64_t n;

	if (s.n != 4 || (s.p[0] != 'W' && s.p[0] != 'w') ||
	    !str_u64(str_slice(s, 1, s.n), 999, &n))
		return NULL;
	return lint_of((enum diag_id)n);
}

static void refuse_unknown(struct binder *b, const struct text *t)
{
	const struct lint *near = by_number(t->s);

	bind_error(b, DIAG_LINT, t->at, "there is no warning '%s'",
		   bind_quote(b, t->s));
	if (near)
		bind_help(b, "by its name: '%s'", near->name);
	else if ((near = lint_near(t->s)))
		bind_help(b, "did you mean '%s'?", near->name);
	else
		bind_help(b, "'membrane help lint' lists them");
}

void bind_lint_name(struct binder *b, const struct yaml_pair *pair, void *field)
{
	const struct text *t = &pair->value->text;
	const struct lint *l = lint_named(t->s);
	struct ir_waiver *w = outer(lint, field);

	if (!l) {
		refuse_unknown(b, t);
		return;
	}
	if (l->id == DIAG_WAIVER_EXPIRED || l->id == DIAG_WAIVER_UNUSED) {
		bind_error(b, DIAG_LINT, t->at,
			   "'%s' is about exceptions and has none", l->name);
		bind_help(b, "remove the exception that it is about");
		return;
	}
	w->lint = l->id;
	w->from.at = t->at;
}

void bind_lint_dest(struct binder *b, const struct yaml_pair *pair, void *field)
{
	struct ir_waiver *w = outer(subject, field);
	struct ir_dest d;

	if (!dest_parse(b->c, &pair->value->text, &d))
		return;
	if (d.has_port) {
		bind_error(b, DIAG_DEST_KIND, d.port.at,
			   "a port in an exception");
		bind_help(b, "it holds for the destination on every port");
		return;
	}
	w->kind = IR_WAIVER_DEST;
	w->subject = ir_dest_text(b->c->a, &d);
}

void bind_lint_text(struct binder *b, const struct yaml_pair *pair, void *field)
{
	struct ir_waiver *w = outer(subject, field);
	const struct text *t = &pair->value->text;

	if (str_trim(t->s).n == 0) {
		bind_error(b, DIAG_TEXT, t->at, "an empty '%.*s'",
			   STR_ARG(pair->key.s));
		return;
	}
	w->kind = IR_WAIVER_TEXT;
	w->subject = t->s;
}

void bind_lint_reason(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	const struct text *t = &pair->value->text;

	if (str_trim(t->s).n)
		*(struct str *)field = t->s;
	else
		bind_error(b, DIAG_TEXT, t->at, "an empty reason");
}

void bind_lint_date(struct binder *b, const struct yaml_pair *pair, void *field)
{
	struct ir_waiver *w = outer(until, field);
	const struct text *t = &pair->value->text;

	w->has_until = date_parse(t->s, &w->until);
	w->until_at = t->at;
	if (w->has_until)
		return;
	bind_error(b, DIAG_DATE, t->at, "'%s' is not a date",
		   bind_quote(b, t->s));
	bind_help(b, "year, month and day, as in 2027-01-31");
}

void bind_lint_waivers(struct binder *b, const struct yaml_pair *pair,
		       void *field)
{
	ir_waivers *out = field;

	vec_each(item, &pair->value->items) {
		struct ir_waiver w = {.from = bind_from(b, (*item)->text.at)};
		unsigned before = b->c->diags->errors;

		if ((*item)->kind != YAML_MAP) {
			bind_error(b, DIAG_TYPE, (*item)->text.at,
				   "a mapping belongs here");
			bind_help(
				b,
				"as in '{id: third-party, dest: github.com, reason: we push there}'");
			continue;
		}
		bind_map(b, BIND_MAP_WAIVER, *item, &w);
		if (b->c->diags->errors == before)
			*vec_push(b->c->a, out) = w;
	}
}

void bind_lint_host_name(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	const struct text *t = &pair->value->text;
	struct ir_dest *d = field;

	if (!dest_parse(b->c, t, d))
		return;
	if ((d->kind == IR_DEST_HOST || d->kind == IR_DEST_PATTERN) &&
	    !d->has_port)
		return;
	bind_error(b, DIAG_DEST_KIND, t->at, "'%s' is not a host name",
		   bind_quote(b, t->s));
	bind_help(b, "a name alone, as in example.com or *.example.com");
}

void bind_lint_purposes(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	ir_purposes *out = field;

	vec_each(item, &pair->value->items) {
		struct ir_purpose p = {.from = bind_from(b, (*item)->text.at)};
		unsigned before = b->c->diags->errors;

		if (!bind_mapping_is(
			    b, *item,
			    "{dest: downloads.example.com, reason: updates}"))
			continue;
		bind_map(b, BIND_MAP_PURPOSE, *item, &p);
		p.from.at = p.dest.at;
		if (b->c->diags->errors == before)
			*vec_push(b->c->a, out) = p;
	}
}
