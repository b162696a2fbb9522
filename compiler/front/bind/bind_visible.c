/* `visible`: paths of the machine, each a word or a mapping. */
#include "compiler/front/bind/bind_types.h"

#include "compiler/ir/visible.h"

static bool is_path(struct binder *b, const struct text *t)
{
	const char *fault = visible_fault(t->s);

	if (!fault)
		return true;
	bind_error(b, DIAG_VISIBLE, t->at, "'%s' %s", bind_quote(b, t->s),
		   fault);
	bind_help(
		b,
		"a folder or file that is needed, as in '~/.nvm' or '/srv/models'");
	return false;
}

void bind_visible_path(struct binder *b, const struct yaml_pair *pair,
		       void *field)
{
	const struct text *t = &pair->value->text;

	if (is_path(b, t))
		*(struct ir_text *)field =
			(struct ir_text){bind_from(b, t->at), t->s};
}

void bind_visible_list(struct binder *b, const struct yaml_pair *pair,
		       void *field)
{
	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;
		struct bind_visible v = {0};

		if ((*item)->kind == YAML_MAP)
			bind_map(b, BIND_MAP_VISIBLE, *item, &v);
		else if (bind_word(b, *item, "a path of the machine") &&
			 is_path(b, t))
			v.path = (struct ir_text){bind_from(b, t->at), t->s};
		if (v.path.s.n)
			*vec_push(b->c->a,
				  (ir_texts *)field) = (struct ir_text){
				v.path.from,
				visible_text(b->c->a, v.path.s,
					     v.mode.v == IR_MODE_WRITE)};
	}
}
