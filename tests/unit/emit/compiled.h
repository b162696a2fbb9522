/* A policy in YAML, as far as emitters read it, and where they refuse it. */
#ifndef TESTS_UNIT_EMIT_COMPILED_H
#define TESTS_UNIT_EMIT_COMPILED_H

#include "compiler/emit/emit.h"
#include "compiler/passes/passes.h"
#include "tests/unit/front.h"

#include <stdio.h>

struct compiled {
	struct rig front;
	struct arena *a;
	struct ir_policy policy;
	struct emit_in in;
};

static inline void compiled_show(struct compiled *t)
{
	struct buf b;

	buf_init(&b, t->a);
	diags_print(&t->front.diags, &b, false);
	printf("%.*s", STR_ARG(buf_str(&b)));
}

/* It is one that the passes take. */
static inline void compiled_init(struct compiled *t, const char *yaml,
				 enum layer layer)
{
	struct doc doc = {.layer = layer, .source = STR("test")};
	docs list = {0};
	bool ok;

	*t = (struct compiled){0};
	rig_init(&t->front);
	t->a = t->front.a;
	ok = rig_bind(&t->front, yaml, layer, &doc.policy);
	*vec_push(t->a, &list) = doc;
	ok = ok && passes_layers(&t->front.c, &list, &t->policy) &&
	     passes_normalise(&t->front.c, &t->policy);
	CHECK_MSG(ok, "%s", yaml);
	if (!ok)
		compiled_show(t);
	t->in = (struct emit_in){.policy = &t->policy,
				 .sources = &t->front.sources,
				 .diags = &t->front.diags,
				 .a = t->a};
}

static inline void compiled_done(struct compiled *t)
{
	rig_done(&t->front);
}

/* Where errors are: "5:9 6:3", by lines behind the first so many. */
static inline struct str compiled_errors(struct compiled *t, unsigned first)
{
	struct diag_view v;
	struct buf b;

	buf_init(&b, t->a);
	for (unsigned i = 0; diags_get(t->in.diags, i, &v); i++) {
		struct place at = sources_place(t->in.sources, v.at);

		if (v.error)
			buf_addf(&b, "%s%u:%u", b.n ? " " : "", at.line - first,
				 at.column);
	}
	return buf_keep(&b);
}

/*
 * Each of those lines is one of the text's, in this order; of one with '!' in
 * front none is, or begins so.
 */
static inline void check_lines(struct arena *a, const char *of, struct str text,
			       const char *lines)
{
	const char *all = arena_fmt(a, "\n%.*s", STR_ARG(text)).p, *at = all;
	struct str rest = str_of(lines), line;

	while (str_field(&rest, '\n', &line)) {
		bool wanted = line.p[0] != '!';
		const char *found =
			wanted ? strstr(at,
					arena_fmt(a, "\n%.*s\n", STR_ARG(line))
						.p)
			       : strstr(all,
					arena_fmt(a, "\n%.*s", (int)line.n - 1,
						  line.p + 1)
						.p);

		CHECK_MSG(!found == !wanted, "%s\n%.*s", of, STR_ARG(line));
		at = found && wanted ? found : at;
	}
}

/* Both are the same; else they are shown. */
static inline void check_same(const char *of, struct str got,
			      const char *wanted)
{
	CHECK(str_is(got, wanted));
	if (!str_is(got, wanted))
		printf("%s\ngot:\n%.*s\nwanted:\n%s\n", of, STR_ARG(got),
		       wanted);
}

#endif
