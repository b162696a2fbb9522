/*
 * Requests as people write them, and what is said of them: by which grant,
 * entry or denial. Policies are written as in tests/policy.h.
 */
#ifndef TESTS_UNIT_ALGEBRA_ASKED_H
#define TESTS_UNIT_ALGEBRA_ASKED_H

#include "compiler/algebra/decide/ask.h"
#include "compiler/front/word/request.h"

#include "tests/check.h"
#include "tests/policy.h"

/* "quic" before a request: one of QUIC. */
static inline void asked_request(struct test_policy *t, const char *text,
				 struct ir_request *out)
{
	struct text at = {.s = str_of(text)};
	bool quic = str_starts(at.s, STR("quic "));
	const struct source *src;

	if (quic)
		at.s = arena_fmt(t->a, "udp %s", text + strlen("quic "));
	src = sources_add(&t->sources, STR("asked"), at.s, LAYER_WORKSPACE);
	at.at = (struct span){src->base, src->base + (uint32_t)at.s.n};
	at.verbatim = src->base;
	CHECK(request_parse(&t->ctx, &at, out));
	out->quic = quic;
}

struct asked_row {
	const char *policy, *request;
	const char *said; /* the reason, and " by " whose it is */
};

static inline void asked_rows(const char *what, const struct asked_row *rows,
			      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ir_request r = {0};
		struct test_policy t;
		struct decision d;
		struct str said;

		CHECK(test_policy_make(&t, rows[i].policy));
		asked_request(&t, rows[i].request, &r);
		d = decide_asked(t.a, &t.policy,
				 decide_files_new(t.a, &t.policy), &r);
		said = str_of(reason_name(d.reason));
		if (d.grant)
			said = arena_fmt(t.a, "%.*s by %.*s", STR_ARG(said),
					 STR_ARG(d.grant->canon));
		if (d.pattern)
			said = arena_fmt(t.a, "%.*s by %.*s", STR_ARG(said),
					 STR_ARG(d.pattern->line));
		CHECK_MSG(str_is(said, rows[i].said),
			  "%s %zu %s:\n\t\t\"%.*s\"", what, i, rows[i].request,
			  STR_ARG(said));
		CHECK((d.verdict == VERDICT_ALLOW) ==
		      (d.reason == REASON_GRANTED));
		CHECK((d.verdict == VERDICT_ASK) == (d.reason == REASON_ASK));
		test_policy_done(&t);
	}
}

#define ASKED_ROWS(rows) asked_rows(#rows, rows, ARRAY_LEN(rows))

#endif
