/*
 * `on_refusal`: a command, word by word, or a URL and what signs for it.
 */
#include "compiler/front/bind/bind_types.h"
#include "compiler/front/word/dest.h"

/* Whatever the folder and PATH are: no shell looks for it. */
static bool is_program(struct binder *b, const struct text *t)
{
	if (str_starts(t->s, STR("/")) || str_starts(t->s, STR("~/")))
		return true;
	bind_error(b, DIAG_TEXT, t->at, "'%s' is no path of a program",
		   bind_quote(b, t->s));
	bind_help(
		b,
		"the first word is a path, as in '/usr/local/bin/tell-me'; no shell reads the words");
	return false;
}

static void take_command(struct binder *b, const struct yaml_node *list,
			 struct ir_on_refusal *r)
{
	vec_each(item, &list->items) {
		const struct text *t = &(*item)->text;

		if (!bind_word(b, *item, "a word of a command") ||
		    (item == list->items.v && !is_program(b, t)))
			return;
		*vec_push(b->c->a, &r->command) =
			(struct ir_text){bind_from(b, t->at), t->s};
	}
}

void bind_refusal(struct binder *b, const struct yaml_pair *pair, void *field)
{
	struct ir_on_refusal r = {.set = true,
				  .from = bind_from(b, pair->key.at)};
	unsigned before = b->c->diags->errors;

	if (pair->value->kind == YAML_MAP)
		bind_map(b, BIND_MAP_ON_REFUSAL, pair->value, &r);
	else
		take_command(b, pair->value, &r);
	if (b->c->diags->errors == before)
		*(struct ir_on_refusal *)field = r;
}

/* Whoever is on the way would read what is worked on. */
void bind_refusal_url(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	const struct text *t = &pair->value->text;
	struct ir_dest d;

	if (!dest_parse(b->c, t, &d))
		return;
	if (d.kind == IR_DEST_URL && d.u.url.scheme == IR_SCHEME_HTTPS &&
	    d.u.url.who == IR_DEST_HOST) {
		*(struct ir_text *)field =
			(struct ir_text){bind_from(b, t->at), t->s};
		return;
	}
	bind_error(b, DIAG_DEST_KIND, t->at,
		   "refusals are sent to one https URL");
	bind_help(b, "as in 'https://hooks.example.com/membrane'");
}

void bind_refusal_env(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	const struct text *t = &pair->value->text;

	if (bind_credential_is_env(b, t))
		*(struct ir_text *)field =
			(struct ir_text){bind_from(b, t->at), t->s};
}
