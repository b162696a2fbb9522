/*
 * What a person was asked and said, and whose the refusals were: as the
 * launcher has put it on record between the decisions.
 */
#include "compiler/cli/report/parts.h"

#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/text/view.h"
#include "runtime/launch/session/decisions.h"
#include "runtime/launch/session/refusal.h"

/* Nothing behind a '?', which is for the server's eyes. */
static struct str question_text(struct arena *a, const cJSON *o)
{
	struct buf b;

	buf_init(&b, a);
	logs_line_question(&b, o);
	return str_slice(buf_str(&b), 0, str_find(buf_str(&b), '?', 0));
}

static struct whose whose_of(struct arena *a, const cJSON *o)
{
	return (struct whose){.by = logs_line_process(a, o),
			      .readers = logs_line_readers(a, o)};
}

static void take_question(struct asking *k, const cJSON *o)
{
	if (k->v.n == ASKING_MAX) {
		k->beyond++;
		return;
	}
	*vec_push(k->a, &k->v) = (struct asked_once){
		.id = json_find_u64(o, "id", UINT32_MAX),
		.when = arena_str(k->a, json_find_str(o, "time")),
		.what = question_text(k->a, o),
		.whose = whose_of(k->a, o),
		.source = arena_str(k->a, json_find_str(o, "source")),
		.line = json_find_u64(o, "line", UINT32_MAX),
	};
}

static void take_answer(struct asking *k, const cJSON *o)
{
	uint64_t id = json_find_u64(o, "id", UINT32_MAX);
	struct buf who;

	buf_init(&who, k->a);
	logs_line_person(&who, o);
	for (uint32_t i = k->v.n; i-- > 0;) {
		if (k->v.v[i].id != id)
			continue;
		k->v.v[i].answer = view_cleaned(k->a,
						json_find_str(o, "answer"));
		k->v.v[i].who = buf_str(&who);
		return;
	}
}

/* Of each kind of refusal there is one. */
static void take_refusal(struct asking *k, const cJSON *o)
{
	struct whose w = whose_of(k->a, o);
	uint32_t i = w.by.n || w.readers.n
			     ? texts_index(&k->refused,
					   json_find_str(o, "what"), true)
			     : 0;

	if (i > k->whose.n)
		*vec_push(k->a, &k->whose) = w;
}

static void take_loss(struct asking *k, const cJSON *o)
{
	struct str of = json_find_str(o, "of");

	for (int i = 0; i < DECISIONS_LOST_KINDS; i++)
		if (str_is(of, decisions_lost_word((enum decisions_lost)i)))
			k->lost[i] +=
				json_find_u64(o, "count", JSON_WHOLE_MAX);
}

void asking_init(struct asking *k, struct arena *a)
{
	*k = (struct asking){.a = a};
	k->refused.a = a;
}

bool asking_take(struct asking *k, const cJSON *o)
{
	static const struct {
		const char *event;
		void (*take)(struct asking *k, const cJSON *o);
	} known[] = {
		{QUESTION_EVENT, take_question},
		{ANSWERED_EVENT, take_answer},
		{REFUSAL_EVENT, take_refusal},
		{DECISIONS_LOST_EVENT, take_loss},
	};
	struct str event = json_find_str(o, "event");

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(event, known[i].event)) {
			known[i].take(k, o);
			return true;
		}
	return false;
}

const struct whose *asking_whose(struct asking *k, struct str what)
{
	uint32_t i = texts_index(&k->refused, what, false);

	return i ? &k->whose.v[i - 1] : NULL;
}

/* --- shown ---------------------------------------------------------------- */

void shown_whose(struct html *h, struct arena *a, const struct whose *w)
{
	if (w && w->by.n)
		html_leaf(h, HTML_DIV, "dim", texts_cut(a, w->by, WHOSE_BYTES));
	if (w && w->readers.n)
		html_leaf(h, HTML_DIV, "dim",
			  texts_cut(a, w->readers, WHOSE_BYTES));
}

static void put_answer(struct html *h, const struct asked_once *x,
		       bool session_runs)
{
	bool yes = question_is_yes(x->answer);

	html_open(h, HTML_TD, "why");
	html_leaf(h, HTML_SPAN, yes ? "good" : x->answer.n ? "bad" : "warn",
		  x->answer.n    ? x->answer
		  : session_runs ? STR("waits")
				 : STR("none on record"));
	if (x->who.n)
		html_leaf(h, HTML_DIV, "dim", x->who);
	html_close(h);
}

void shown_asked(struct html *h, struct report *r)
{
	const struct asking *k = &r->asking;
	uint32_t i = 0;

	if (k->v.n == 0)
		return;
	page_section(h, "asked", "What a person was asked",
		     page_count(r->a, k->v.n + k->beyond, "question",
				"questions"));
	html_open(h, HTML_TABLE, NULL);
	page_columns(h, "When|What|Answer|Line of the policy");
	html_open(h, HTML_TBODY, NULL);
	for (; i < k->v.n && SHOWN_ROOM(h, SHOWN_ASKED); i++) {
		const struct asked_once *x = &k->v.v[i];

		html_open(h, HTML_TR, NULL);
		html_leaf(h, HTML_TD, "at", x->when);
		html_open(h, HTML_TD, "name");
		html_leaf(h, HTML_CODE, NULL,
			  texts_cut(r->a, x->what, WHOSE_BYTES));
		shown_whose(h, r->a, &x->whose);
		html_close(h);
		put_answer(h, x, r->state == SESSION_ALIVE);
		html_leaf(h, HTML_TD, "at",
			  shown_rule(r->a, x->source, x->line));
		html_close(h);
	}
	html_close(h);
	html_close(h);
	if (i < k->v.n + k->beyond)
		page_note(h, "%s more: membrane logs %s",
			  view_number(r->a, k->v.n + k->beyond - i).p,
			  r->past.about.session.id);
	page_section_end(h);
}
