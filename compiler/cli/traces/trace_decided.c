#include "compiler/cli/traces/trace_decided.h"

#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "compiler/cli/traces/trace_since.h"
#include "runtime/launch/session/decisions.h"

#include <stdio.h>
#include <stdlib.h>

struct decided {
	struct arena *a;
	const char *dir;
	unsigned part; /* the next file */
	FILE *file;
	char *line; /* getline(3)'s */
	size_t room;
	cJSON *next; /* was read, and is yet to come; or was handed out */
	uint64_t at_ns;
	bool was_taken;
};

struct decided *decided_new(struct arena *a, const char *dir)
{
	struct decided *d = arena_new_of(a, struct decided);

	d->a = a;
	d->dir = dir;
	d->was_taken = true;
	return d;
}

void decided_done(struct decided *d)
{
	if (d->file)
		fclose(d->file);
	free(d->line);
	cJSON_Delete(d->next);
	d->file = NULL;
	d->line = NULL;
	d->next = NULL;
}

/* Of files and names the trace has a line by itself, but not of why the view
 * let nobody at one. */
static bool is_told(const cJSON *o)
{
	struct str event = json_find_str(o, "event");
	struct str kind = json_find_str(o, "kind");

	if (str_is(event, QUESTION_EVENT) || str_is(event, ANSWERED_EVENT))
		return true;
	if (!str_is(event, "decision"))
		return false;
	if (str_is(kind, "read") || str_is(kind, "write"))
		return str_is(json_find_str(o, "verdict"), "deny");
	return str_is(kind, "connect") || str_is(kind, "request");
}

static bool is_wanted(struct decided *d)
{
	return is_told(d->next) &&
	       trace_since(json_find_str(d->next, "time"), 0, &d->at_ns);
}

/* The next line of this part, or of the one after it. */
static bool read_record(struct decided *d)
{
	ssize_t n;

	for (;;) {
		if (!d->file)
			d->file = fopen(decisions_path(d->a, d->dir, d->part++),
					"re");
		if (!d->file)
			return false;
		n = getline(&d->line, &d->room, d->file);
		if (n > 0)
			break;
		fclose(d->file);
		d->file = NULL;
	}
	cJSON_Delete(d->next);
	d->next = cJSON_ParseWithLength(d->line, (size_t)n);
	return true;
}

const cJSON *decided_next(struct decided *d, uint64_t before_ns,
			  uint64_t *out_ns)
{
	while (d->was_taken) {
		if (!read_record(d))
			return NULL;
		d->was_taken = !is_wanted(d);
	}
	if (d->at_ns >= before_ns)
		return NULL;
	d->was_taken = true;
	*out_ns = d->at_ns;
	return d->next;
}
