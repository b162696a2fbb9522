#include "runtime/launch/session/refusal.h"

#include "compiler/base/json.h"
#include "runtime/launch/session/summary.h"

#define COMM_MAX    16u
#define COMMAND_MAX 200u /* printed bytes, in a line */

struct str refusal_whose(struct arena *a, const struct refusal *r)
{
	const struct refusal_by *by = &r->by;
	struct buf b;

	buf_init(&b, a);
	switch (by->sure) {
	case HELLO_NOBODY:
		return buf_str(&b);
	case HELLO_PROBABLY:
		buf_adds(&b, "probably ");
		break;
	case HELLO_SURELY:
		break;
	}
	buf_adds(&b, "by ");
	summary_escape(&b, by->comm, COMM_MAX);
	buf_addf(&b, "[%u]%s", by->pid, by->command.n ? ": " : "");
	summary_escape(&b, by->command, COMMAND_MAX);
	return buf_str(&b);
}

struct str refusal_readers(struct arena *a, struct str what, struct str kind)
{
	return arena_fmt(a, "others read there: %.*s (%.*s)", STR_ARG(what),
			 STR_ARG(kind));
}

struct str refusal_read_by(struct arena *a, const struct refusal *r)
{
	if (!r->place)
		return (struct str){0};
	return refusal_readers(a, str_of(r->place->what),
			       str_of(third_party_kind_name(r->place->kind)));
}

static void second_line(const struct refusal *r, struct buf *out)
{
	struct str readers = refusal_read_by(out->a, r);
	struct str by = refusal_whose(out->a, r);

	if (!readers.n && !by.n)
		return;
	buf_addf(out, "membrane:   %.*s%s%.*s\n", STR_ARG(readers),
		 readers.n && by.n ? "; " : "", STR_ARG(by));
}

void refusal_line(const struct refusal *r, bool colour, struct buf *out)
{
	const char *bold = colour ? "\033[1m" : "";
	const char *yellow = colour ? "\033[33m" : "";
	const char *off = colour ? "\033[0m" : "";
	size_t from = out->n;

	buf_addf(out, "membrane: refused %s%.*s%s: %s%s%s", bold,
		 STR_ARG(r->what), off, yellow, reason_name(r->reason), off);
	if (r->at.n)
		buf_addf(out, " (%.*s)", STR_ARG(r->at));
	if (r->advice.n)
		buf_addf(out, "; %.*s", STR_ARG(r->advice));
	if (out->n - from > REFUSAL_TEXT - 1)
		buf_cut(out, from + REFUSAL_TEXT - 1);
	buf_addc(out, '\n');
	second_line(r, out);
}

cJSON *refusal_by_json(const struct refusal_by *by)
{
	cJSON *o;

	if (by->sure == HELLO_NOBODY)
		return cJSON_CreateNull();
	o = json_object();
	json_put_bool(o, "sure", by->sure == HELLO_SURELY);
	json_put_u64(o, "pid", by->pid);
	json_put_str(o, "name", by->comm);
	if (by->command.n)
		json_put_str(o, "command", by->command);
	return o;
}

cJSON *refusal_place_json(const struct third_party *place)
{
	cJSON *o = json_object();

	json_put_cstr(o, "kind", third_party_kind_name(place->kind));
	json_put_cstr(o, "what", place->what);
	return o;
}

struct refusal refusal_copy(struct arena *a, const struct refusal *r)
{
	struct refusal out = *r;

	out.what = arena_str(a, r->what);
	out.advice = arena_str(a, r->advice);
	out.grant = arena_str(a, r->grant);
	out.word = arena_str(a, r->word);
	out.at = arena_str(a, r->at);
	out.record = NULL;
	return out;
}

cJSON *refusal_json(struct arena *a, const struct refusal *r,
		    const struct refusal_of *of, uint64_t dropped)
{
	cJSON *o = json_object();

	json_put_u64(o, "version", REFUSAL_VERSION);
	json_put_cstr(o, "event", REFUSAL_EVENT);
	json_put_cstr(o, "session", of->session);
	json_put_cstr(o, "workspace", of->workspace);
	json_put_str(o, "what", r->what);
	json_put_cstr(o, "reason", reason_name(r->reason));
	json_put_cstr(o, "about", reason_about(r->reason));
	if (r->at.n)
		json_put_str(o, "at", r->at);
	if (r->advice.n)
		json_put_str(o, "advice", r->advice);
	if (r->grant.n)
		json_put_str(o, "grant", r->grant);
	if (r->word.n)
		json_put_str(o, "command",
			     arena_fmt(a, "membrane allow %.*s --session %s",
				       STR_ARG(r->word), of->session));
	if (r->place)
		json_put(o, "third_party", refusal_place_json(r->place));
	json_put(o, "process", refusal_by_json(&r->by));
	if (dropped)
		json_put_u64(o, "dropped", dropped);
	json_put(o, "decision", cJSON_Duplicate(r->record, true));
	return o;
}
