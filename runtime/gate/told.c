#include "runtime/gate/told.h"

#include "runtime/gate/ask/asking.h"

static bool parse_change(struct str rest, struct worker_msg *out)
{
	struct str number;
	uint64_t n;

	if (!str_field(&rest, ' ', &number) ||
	    !str_u64(number, UINT32_MAX, &n) || n < 2)
		return false;
	out->word = WORKER_CHANGE;
	out->generation = (uint32_t)n;
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
	struct str number;
	uint64_t n;

	if (!str_field(&rest, ' ', &number) ||
	    !str_u64(number, UINT32_MAX, &n) || n == 0 ||
	    !asking_end_parse(rest, &end))
		return false;
	out->word = WORKER_ANSWER;
	out->question = (uint32_t)n;
	out->end = (uint8_t)end;
	return true;
}

bool told_parse(struct str line, struct worker_msg *out)
{
	struct worker_msg m = {0};
	struct str word;
	bool ok;

	if (!str_field(&line, ' ', &word))
		return false;
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
