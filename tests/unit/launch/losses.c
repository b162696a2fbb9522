/* What a record lacks: said at once, then now and then, and once at the end. */
#include "runtime/launch/losses.h"

#include "compiler/base/json.h"
#include "tests/check.h"

#include <errno.h>
#include <string.h>

static struct gate gate;
static struct tracer tracer;
static struct losses losses;

/* The lines that are due by then; now is the same. */
static struct str lines_at(struct arena *a, int64_t ms)
{
	struct buf out;

	buf_init(&out, a);
	losses_know(&losses, &gate, &tracer);
	if (losses_are_due(&losses, ms))
		losses_lines(&losses, ms, ms, &out);
	return buf_str(&out);
}

static bool has_line(struct str lines, const char *of, unsigned count,
		     unsigned total)
{
	struct str line;

	while (str_line(&lines, &line)) {
		cJSON *o = cJSON_ParseWithLength(line.p, line.n);
		bool is = str_is(json_find_str(o, "event"), DECISIONS_LOST_EVENT) &&
			  str_is(json_find_str(o, "of"), of) &&
			  json_find_u64(o, "count", UINT32_MAX) == count &&
			  json_find_u64(o, "total", UINT32_MAX) == total &&
			  json_find_str(o, "time").n == 27;

		cJSON_Delete(o);
		if (is)
			return true;
	}
	return false;
}

/* The first at once, the rest folded, each kind by itself. */
static void folded(struct arena *a)
{
	CHECK(lines_at(a, 1000).n == 0 && losses_deadline(&losses) == 0);
	tracer.watch.lost = 3;
	CHECK(has_line(lines_at(a, 1000), "trace", 3, 3));
	CHECK(lines_at(a, 1000).n == 0 && losses_deadline(&losses) == 0);
	tracer.watch.unsaid = 4;
	CHECK(lines_at(a, 1001).n == 0);
	CHECK(losses_deadline(&losses) == 1000 + LOSSES_REST_MS);
	gate.lost = 9;
	CHECK(has_line(lines_at(a, 1002), "decisions", 9, 9));
	tracer.watch.lost = 5;
	CHECK(lines_at(a, 999 + LOSSES_REST_MS).n == 0);
	CHECK(has_line(lines_at(a, 1000 + LOSSES_REST_MS), "trace", 6, 9));
	gate.decisions.unwritten = 1;
	CHECK(has_line(lines_at(a, 1001 + LOSSES_REST_MS), "refusals", 1, 1));
}

/* Whatever is untold, and why there is no more, once. */
static void ended(struct arena *a)
{
	struct str lines;

	gate.lost = 10;
	tracer.watch.lost = 6;
	CHECK(lines_at(a, 1001 + LOSSES_REST_MS).n == 0);
	lines = lines_at(a, INT64_MAX - LOSSES_REST_MS);
	CHECK(has_line(lines, "trace", 1, 10));
	CHECK(has_line(lines, "decisions", 1, 10));
	tracer.state = TRACER_FAILED;
	err_set(&tracer.why, -EPIPE, "it said \"no\"");
	lines = lines_at(a, 0);
	CHECK(strstr(arena_cstr(a, lines),
		     "\"of\":\"trace\",\"why\":\"it said \\\"no\\\"\"}\n"));
	CHECK(lines_at(a, INT64_MAX - LOSSES_REST_MS).n == 0);
}

int main(void)
{
	struct arena *a = arena_new();

	folded(a);
	ended(a);
	arena_free(a);
	return check_status();
}
