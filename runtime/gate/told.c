#include "runtime/gate/told.h"

#include "runtime/gate/ask/asking.h"

/* 0: there is none, or another word. */
static uint32_t take_number(struct str *rest)
{
	struct str number = {0};
	uint64_t n = 0;

	(void)str_field(rest, ' ', &number);
	(void)str_u64(number, UINT32_MAX, &n);
	return (uint32_t)n;
}

static bool parse_change(struct str rest, struct worker_msg *out)
{
	out->word = WORKER_CHANGE;
	out->generation = take_number(&rest);
	if (out->generation < 2)
		return false;
	out->cut = str_is(rest, "cut");
	return out->cut || str_is(rest, "keep");
}

static bool parse_asking(struct str rest, struct worker_msg *out)
{
	out->word = WORKER_LISTENS;
	out->listens = str_is(rest, "on");
	return out->listens || str_is(rest, "off");
}

static bool parse_answer(struct str rest, struct worker_msg *out)
{
	enum asking_end end;

	out->word = WORKER_ANSWER;
	out->question = take_number(&rest);
	if (!out->question || !asking_end_parse(rest, &end))
		return false;
	out->end = (uint8_t)end;
	return true;
}

bool told_parse(struct str line, struct worker_msg *out)
{
	struct worker_msg m = {0};
	struct str word = {0};
	bool ok;

	(void)str_field(&line, ' ', &word);
	if (str_is(word, "change"))
		ok = parse_change(line, &m);
	else if (str_is(word, "asking"))
		ok = parse_asking(line, &m);
	else
		ok = str_is(word, "answer") && parse_answer(line, &m);
	if (ok)
		*out = m;
	return ok;
}
