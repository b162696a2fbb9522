/* All artefacts of a policy's text, and which rule each line came from. */
#ifndef TESTS_UNIT_EMIT_PLANNED_H
#define TESTS_UNIT_EMIT_PLANNED_H

#include "compiler/driver.h"
#include "tests/check.h"

#include <string.h>

#define PLANNED_NOWHERE "/nonexistent"

/* As a workspace's policy, beside an empty global one. */
static inline bool planned_text(struct compilation *c, const char *policy)
{
	struct front_text texts[] = {
		{STR("~/.membrane/config.yaml"), STR("")},
		{STR(".membrane.yaml"), str_of(policy)},
	};
	struct front_input in = {.workspace = PLANNED_NOWHERE,
				 .state = PLANNED_NOWHERE,
				 .policies = PLANNED_NOWHERE,
				 .texts = texts,
				 .n_texts = ARRAY_LEN(texts)};
	struct err err;

	return driver_compile(c, &in, &err) == 0 && c->ok;
}

/* With marks, and without. */
static inline bool planned(struct compilation *c, const char *policy)
{
	*c = (struct compilation){.mark_lines = true};
	return planned_text(c, policy);
}

static inline bool planned_plain(struct compilation *c, const char *policy)
{
	*c = (struct compilation){0};
	return planned_text(c, policy);
}

/* Only what may refuse it. */
static inline bool planned_unwritten(struct compilation *c, const char *policy)
{
	*c = (struct compilation){.unwritten = true};
	return planned_text(c, policy);
}

static inline struct str planned_file(const struct compilation *c,
				      const char *name)
{
	const struct plan_file *f = plan_file(&c->plan, name);

	return f ? f->data : (struct str){0};
}

static inline void planned_put_uses(struct buf *out, unsigned uses)
{
	static const char *const names[] = {
		"name",	 "tcp4",    "tcp6", "udp4",  "udp6", "raw",
		"hello", "request", "read", "write", "arg",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (uses & 1u << i)
			buf_addf(out, " %s", names[i]);
}

static inline void planned_put_reasons(struct buf *out, uint64_t reasons)
{
	if (reasons == MARKS_ANY) {
		buf_adds(out, " any");
		return;
	}
	for (unsigned i = 0; i < 64; i++)
		if (reasons & UINT64_C(1) << i)
			buf_addf(out, " %s", reason_name((enum reason)i));
}

/* " 3: tcp4 for granted, rule 2, 10.0.0.0-10.255.255.255" */
static inline void planned_put_mark(struct buf *out, struct compilation *c,
				    const struct marks_one *m)
{
	char lo[ADDR_TEXT_MAX], hi[ADDR_TEXT_MAX];

	if (!m->from)
		buf_adds(out, "    -:");
	else if (m->from->layer == LAYER_FLOOR)
		buf_adds(out, "    floor:");
	else
		buf_addf(out, "    %u:",
			 sources_place(&c->sources, m->from->at).line);
	planned_put_uses(out, m->uses);
	buf_adds(out, " for");
	planned_put_reasons(out, m->reasons);
	if (m->rule)
		buf_addf(out, ", rule %u", m->rule);
	if (m->has_range)
		buf_addf(out, ", %s-%s", addr_text(&m->lo, lo),
			 addr_text(&m->hi, hi));
	buf_addc(out, '\n');
}

/* Comments that name rules of the policy, each first one with that before it.
 */
static inline void planned_put_comments(struct buf *out, struct str text)
{
	struct str line, before = {0};

	while (str_line(&text, &line)) {
		struct str now = str_trim(line);

		if (!str_starts(now, STR("# ")))
			now.n = 0;
		if (now.n && memmem(now.p, now.n, " .membrane.yaml:", 16)) {
			if (before.n)
				buf_addf(out, "%.*s\n", STR_ARG(before));
			buf_addf(out, "%.*s\n", STR_ARG(now));
			now.n = 0;
		}
		before = now;
	}
}

/*
 * The marks of an artefact in their order, below the lines that they are at:
 *
 *	ip daddr @cidr4_1 tcp dport 443 goto granted
 *	    3: tcp4 for granted
 *
 * 3 is the line of the policy, "-" of no rule, "floor" of a built-in one. all:
 * else without the networks and files that are built in.
 */
static inline void planned_put_marks(struct buf *out, struct compilation *c,
				     const char *file, bool all)
{
	struct str text = planned_file(c, file), line;
	uint32_t last = 0;

	vec_each(m, &c->marks.list) {
		bool policy =
			m->from ? m->from->layer != LAYER_FLOOR : !m->has_range;
		uint32_t at;

		if (strcmp(m->file, file) != 0 || !(policy || all))
			continue;
		at = marks_line(text, m->at, &line);
		if (at != last)
			buf_addf(out, "%.*s\n", STR_ARG(str_trim(line)));
		last = at;
		planned_put_mark(out, c, m);
	}
}

#endif
