/*
 * A policy's sources as they would be with some edits, and what they compile
 * to. Nothing on disk changes.
 *
 * An edit is made in the text of a source or in the flags. Places are those of
 * what was compiled last. What comes with membrane nobody here may change: an
 * edit there is false, as one that a text's shape does not allow.
 */
#include "compiler/cli/explain/parts.h"

#include "compiler/front/yaml/edit.h"

#include <string.h>

void draft_begin(struct draft *d)
{
	const struct front_input *in = &d->in->front;

	d->c = d->base;
	d->own = (struct compilation){0};
	d->texts.n = d->left_out.n = d->flags.n = 0;
	for (size_t i = 0; i < in->n_texts; i++)
		*vec_push(d->a, &d->texts) = in->texts[i];
	for (size_t i = 0; i < in->n_flags; i++)
		*vec_push(d->a, &d->flags) = in->flags[i];
}

bool draft_compile(struct draft *d)
{
	struct front_input in = d->in->front;
	struct err err;

	in.texts = d->texts.v;
	in.n_texts = d->texts.n;
	in.flags = d->flags.v;
	in.n_flags = d->flags.n;
	draft_end(d);
	d->own = (struct compilation){0};
	d->c = &d->own;
	return driver_compile(&d->own, &in, &err) == 0 && d->own.ok;
}

void draft_end(struct draft *d)
{
	if (d->own.a)
		driver_done(&d->own);
}

/* --- texts --------------------------------------------------------------- */

static struct str file_text(const struct draft *d, struct str name)
{
	const struct source *s = sources_named(&d->c->sources, name);

	vec_each(x, &d->texts)
		if (str_eq(x->name, name))
			return x->text;
	return s ? s->text : (struct str){"", 0};
}

static void set_text(struct draft *d, struct str name, struct str text)
{
	vec_each(x, &d->texts)
		if (str_eq(x->name, name)) {
			x->text = text;
			return;
		}
	*vec_push(d->a, &d->texts) =
		(struct front_text){arena_str(d->a, name), text};
}

bool draft_is_ignore_file(struct str name)
{
	return str_ends(name, STR(".membraneignore"));
}

bool draft_may_edit(const struct source *s)
{
	return s->layer != LAYER_FLOOR && s->layer != LAYER_FLAGS &&
	       !source_is_preset(s);
}

/* --- flags --------------------------------------------------------------- */

/* The flag that has the byte at of the source of all of them. */
static bool remove_flag(struct draft *d, size_t at)
{
	size_t beg = 0, end;

	for (uint32_t i = 0; i < d->flags.n; i++) {
		struct front_flag *f = &d->flags.v[i];
		bool valued = f->kind != FRONT_FLAG_NO_TRACE;

		end = beg + f->spelling.n + (valued ? 1 + f->value.n : 0);
		if (at >= beg && at < end) {
			*vec_push(d->a, &d->left_out) = arena_fmt(
				d->a, "%.*s%s%.*s", STR_ARG(f->spelling),
				valued ? " " : "", STR_ARG(f->value));
			memmove(f, f + 1, (d->flags.n - i - 1) * sizeof(*f));
			d->flags.n--;
			return true;
		}
		beg = end + 1;
	}
	return false;
}

/* --- edits --------------------------------------------------------------- */

bool draft_add(struct draft *d, struct str file, const char *key,
	       struct str item)
{
	struct str text;

	if (!edit_add(d->a, file_text(d, file), key, item, &text))
		return false;
	set_text(d, file, text);
	return true;
}

bool draft_add_pattern(struct draft *d, struct str file, const char *key,
		       struct str line)
{
	if (!line.n)
		return false;
	if (!draft_is_ignore_file(file))
		return draft_add(d, file, key, edit_scalar(d->a, line));
	set_text(d, file, edit_add_line(d->a, file_text(d, file), line));
	return true;
}

bool draft_remove(struct draft *d, struct span at, const char *key)
{
	const struct source *s = sources_of(&d->c->sources, at);
	struct str text;

	if (s && s->layer == LAYER_FLAGS)
		return remove_flag(d, at.beg - s->base);
	if (!s || !draft_may_edit(s))
		return false;
	if (draft_is_ignore_file(s->name))
		text = edit_remove_line(d->a, s->text, at.beg - s->base);
	else if (!edit_remove(d->a, s->text, at.beg - s->base, key, &text))
		return false;
	set_text(d, s->name, text);
	return true;
}

/* The later first: the other is where it was, then. */
static bool remove_both(struct draft *d, struct span first, struct span second)
{
	const struct source *s = sources_of(&d->c->sources, first);
	struct str text;

	if (s && s->layer == LAYER_FLAGS)
		return remove_flag(d, second.beg - s->base) &&
		       remove_flag(d, first.beg - s->base);
	if (!s || !draft_may_edit(s) ||
	    !edit_remove(d->a, s->text, second.beg - s->base, "args", &text) ||
	    !edit_remove(d->a, text, first.beg - s->base, "args", &text))
		return false;
	set_text(d, s->name, text);
	return true;
}

bool draft_remove_arg(struct draft *d, const struct ir_origin *from)
{
	vec_each(x, &d->c->policy.docker_args)
		if (&x->from == from && x->has_value &&
		    x->value_at.beg != from->at.beg)
			return remove_both(d, from->at, x->value_at);
	return draft_remove(d, from->at, "args");
}

bool draft_remove_nth(struct draft *d, struct str file, const char *key,
		      uint32_t i)
{
	struct str text;

	if (!edit_remove_nth(d->a, file_text(d, file), key, i, &text))
		return false;
	set_text(d, file, text);
	return true;
}

bool draft_replace(struct draft *d, struct span at, const char *key,
		   struct str item)
{
	const struct source *s = sources_of(&d->c->sources, at);
	struct str text;

	if (!s || !draft_may_edit(s) ||
	    !edit_replace(d->a, s->text, at.beg - s->base, key, item, &text))
		return false;
	set_text(d, s->name, text);
	return true;
}

bool draft_extend(struct draft *d, struct span at, const char *key,
		  struct str item)
{
	const struct source *s = sources_of(&d->c->sources, at);
	struct str text;

	if (!s || !draft_may_edit(s) ||
	    !edit_extend(d->a, s->text, at.beg - s->base, key, item, &text))
		return false;
	set_text(d, s->name, text);
	return true;
}
