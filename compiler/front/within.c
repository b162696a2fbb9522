/* The bound of a session that learns, as documents of the flags' layer. */
#include "compiler/front/parts.h"

#include "compiler/front/bind/bind.h"
#include "compiler/front/yaml/yaml.h"

static struct str lines_of(struct arena *a, const struct str *list, size_t n)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < n; i++)
		buf_addf(&b, SOURCE_WITHIN " %.*s\n", STR_ARG(list[i]));
	return buf_str(&b);
}

/* A bound says where to, and what of that is well known; not how a session is
 * run. */
static void keep_network(struct ir_policy *p)
{
	*p = (struct ir_policy){.allow = p->allow,
				.ask = p->ask,
				.deny = p->deny,
				.waivers = p->waivers};
}

static enum files_status load_preset(struct presets *p, const struct text *t)
{
	const struct ir_text word = {.from = {t->at, LAYER_FLAGS}, .s = t->s};
	const char *label = p->label;
	uint32_t first = p->out->n;
	enum files_status s;

	p->label = SOURCE_WITHIN " ";
	s = presets_named(p, &word, LAYER_FLAGS);
	p->label = label;
	if (s == FILES_REFUSED && p->out->n == first)
		diag_help(
			p->files->c->diags,
			"a host of one label is written with its port: '%s:443'",
			diag_quote(p->files->c->diags, t->s));
	for (uint32_t i = first; i < p->out->n; i++)
		keep_network(&p->out->v[i].policy);
	return s;
}

static enum files_status load_one(struct presets *p, const struct text *t,
				  struct doc *own)
{
	struct pass_ctx *c = p->files->c;

	if (presets_is_word(t->s))
		return load_preset(p, t);
	p->ok &= bind_flag(c, LAYER_FLAGS, "allow", t, &own->policy);
	return FILES_OK;
}

enum files_status within_load(struct presets *p, const struct str *list,
			      size_t n)
{
	struct pass_ctx *c = p->files->c;
	const struct source *src =
		sources_add(p->sources, STR(SOURCE_WITHIN),
			    lines_of(c->a, list, n), LAYER_FLAGS);
	struct doc own = {.layer = LAYER_FLAGS, .source = src->name};
	uint32_t at = src->base;

	if (!yaml_check_bytes(c->diags, src)) {
		p->ok = false;
		return FILES_REFUSED;
	}
	for (size_t i = 0; i < n; i++) {
		struct text t = {.s = list[i]};

		at += (uint32_t)sizeof(SOURCE_WITHIN);
		t.at = (struct span){at, at + (uint32_t)t.s.n};
		t.verbatim = at;
		at = t.at.end + 1;
		if (load_one(p, &t, &own) == FILES_FAILED)
			return FILES_FAILED;
	}
	*vec_push(c->a, p->out) = own;
	return FILES_OK;
}
