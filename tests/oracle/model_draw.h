/*
 * Policies of the model's tables, drawn at random, and their text as
 * tests/policy.h reads it.
 */
#ifndef TESTS_ORACLE_MODEL_DRAW_H
#define TESTS_ORACLE_MODEL_DRAW_H

#include "tests/oracle/generate.h"
#include "tests/oracle/model.h"

static inline void model_add_pattern(const char *text)
{
	snprintf(model_patterns[model_n_patterns++], 16, "%s", text);
}

static inline void model_init(void)
{
	static const char *const labels[] = {"a", "b", "*"};
	char text[16];

	for (int i = 0; i < 3; i++) {
		if (i < 2)
			model_add_pattern(labels[i]);
		snprintf(text, sizeof(text), "**.%s", labels[i]);
		model_add_pattern(text);
		for (int k = 0; k < 3; k++) {
			snprintf(text, sizeof(text), "%s.%s", labels[k],
				 labels[i]);
			model_add_pattern(text);
			snprintf(text, sizeof(text), "**.%s.%s", labels[k],
				 labels[i]);
			model_add_pattern(text);
			for (int l = 0; l < 3; l++) {
				snprintf(text, sizeof(text), "%s.%s.%s",
					 labels[l], labels[k], labels[i]);
				model_add_pattern(text);
			}
		}
	}
}

/* What a world is about: how often rules have a network, or http. */
struct model_mix {
	uint32_t patterns;   /* of so many at the start of the table; 0: all */
	uint32_t nets, http; /* of a hundred rules */
	bool flat;	     /* no paths */
};

static inline void model_http_of(struct rng *r, const struct model_mix *mix,
				 struct model_rule *x)
{
	x->n_http = 1 + rng_below(r, 2);
	for (uint32_t i = 0; i < x->n_http; i++) {
		struct model_http *h = &x->http[i];

		h->methods = rng_below(r, 2) ? rng_below(r, 8) : 0;
		h->prefixes = 0;
		if (mix->flat)
			continue;
		if (rng_below(r, 3))
			h->prefixes = 1u << (1 + rng_below(r, 5));
		if (rng_below(r, 4) == 0)
			h->prefixes |= 1u << (1 + rng_below(r, 5));
	}
}

/* A URL is about one host. */
static inline bool model_has_url(const struct model_rule *x)
{
	return x->who == MODEL_NAME ||
	       (x->who == MODEL_NET && model_nets[x->which].bytes == 4 &&
		model_nets[x->which].bits == 32);
}

static inline struct model_rule model_rule(struct rng *r,
					   const struct model_mix *mix)
{
	struct model_rule x = {.deny = rng_below(r, 3) == 0};
	bool http = rng_below(r, 100) < mix->http;

	x.who = rng_below(r, 100) < mix->nets ? MODEL_NET
		: rng_below(r, 6) == 0	      ? MODEL_ANY
					      : MODEL_NAME;
	if (x.who == MODEL_NET)
		x.which = rng_below(r, ARRAY_LEN(model_nets));
	else if (x.who == MODEL_NAME)
		x.which = rng_below(r, mix->patterns ? mix->patterns
						     : model_n_patterns);
	x.ports = rng_below(r, ARRAY_LEN(model_ports));
	x.private = !x.deny && x.who != MODEL_NET && rng_below(r, 4) == 0;
	x.inspect = !x.deny && rng_below(r, 12) == 0;
	x.ask = !x.deny && rng_below(r, 3) == 0;
	x.lasts = rng_below(r, 3);
	if (x.ask && x.ports >= 6) /* nothing over UDP waits */
		x.ports = 1;
	if (!http)
		return x;
	if (model_has_url(&x) && rng_below(r, 3) == 0) {
		x.url = true;
		x.ports = 1 + rng_below(r, 2);
		x.scheme = x.ports == 1 ? MODEL_HTTPS : MODEL_CLEAR;
		x.base =
			mix->flat ? 0 : rng_below(r, ARRAY_LEN(model_prefixes));
	} else {
		model_http_of(r, mix, &x);
		if (x.ports >= 6)
			x.ports = 1;
	}
	return x;
}

/* A line as in tests/policy.h. */
static inline size_t model_line(const struct model_rule *r, char *out)
{
	char *p = out;

	p += sprintf(p, "%s ", r->deny ? "deny" : r->ask ? "ask" : "allow");
	if (r->url)
		p += sprintf(p, "%s://",
			     r->scheme == MODEL_HTTPS ? "https" : "http");
	switch (r->who) {
	case MODEL_ANY:
		p += sprintf(p, "*");
		break;
	case MODEL_NAME:
		p += sprintf(p, "%s", model_patterns[r->which]);
		break;
	case MODEL_NET:
		p += sprintf(p, "%.*s",
			     (int)strcspn(model_nets[r->which].text,
					  r->url ? "/" : ""),
			     model_nets[r->which].text);
		break;
	}
	if (r->url)
		p += sprintf(p, "%s/", model_prefixes[r->base]);
	else
		p += sprintf(p, "%s", model_ports[r->ports].text);
	for (uint32_t i = 0; i < r->n_http; i++) {
		const struct model_http *h = &r->http[i];

		p += sprintf(p, " http=*");
		for (uint32_t k = 0; k < ARRAY_LEN(model_methods); k++)
			if (h->methods >> k & 1)
				p += sprintf(p, "+%s", model_methods[k]);
		for (uint32_t k = 0; k < ARRAY_LEN(model_prefixes); k++)
			if (h->prefixes >> k & 1)
				p += sprintf(p, "+%s/", model_prefixes[k]);
	}
	p += sprintf(p, "%s%s", r->inspect ? " inspect" : "",
		     r->private ? " private" : "");
	if (r->ask)
		p += sprintf(p, " for=%s", model_lasts[r->lasts]);
	p += sprintf(p, "\n");
	return (size_t)(p - out);
}

static inline void model_text(const struct model_policy *p, char *out)
{
	*out = '\0';
	for (uint32_t i = 0; i < p->n; i++)
		out += model_line(&p->rules[i], out);
}

static inline void model_policy(struct rng *r, const struct model_mix *mix,
				struct model_policy *out)
{
	out->n = rng_below(r, 4) ? 1 + rng_below(r, 3) : rng_below(r, 5);
	for (uint32_t i = 0; i < out->n; i++)
		out->rules[i] = model_rule(r, mix);
}

/* Mostly like another: that is what people compare. */
static inline void model_change(struct rng *r, const struct model_mix *mix,
				const struct model_policy *from,
				struct model_policy *out)
{
	*out = *from;
	if (out->n && rng_below(r, 3)) {
		uint32_t at = rng_below(r, out->n);

		if (rng_below(r, 2))
			out->rules[at] = out->rules[--out->n];
		else
			out->rules[at] = model_rule(r, mix);
	}
	if (out->n < MODEL_RULES && rng_below(r, 2))
		out->rules[out->n++] = model_rule(r, mix);
}

#endif
