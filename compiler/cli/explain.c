/* `membrane explain`: requests from the command line or stdin, one by one. */
#include "compiler/algebra/decide/decide.h"
#include "compiler/base/addr.h"
#include "compiler/base/limits.h"
#include "compiler/cli/explain/explain_decide.h"
#include "compiler/cli/explain/explain_view.h"
#include "compiler/cli/plan/views.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/trust/trust_ask.h"
#include "compiler/cli/workspace/found.h"
#include "compiler/front/word/request.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What was asked: the words of the command line, or the lines of stdin. */
struct asked {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	ir_requests list;
};

static void parse_request(struct asked *q, const struct source *src,
			  struct str part)
{
	struct pass_ctx ctx = {q->a, &q->sources, &q->diags};
	uint32_t at = src->base + (uint32_t)(part.p - src->text.p);
	struct text text = {part, {at, at + (uint32_t)part.n}, at};
	struct ir_request r;

	if (request_parse(&ctx, &text, &r))
		*vec_push(q->a, &q->list) = r;
}

/* A URL or a name alone: what people mean is to fetch it. An address: TLS. */
static struct str request_meant(struct arena *a, struct str word)
{
	bool colon = str_find(word, ':', 0) < word.n;
	bool path = str_find(word, '/', 0) < word.n;
	struct addr addr;

	if (addr_parse(word, &addr))
		return arena_fmt(a, colon ? "[%.*s]:443" : "%.*s:443",
				 STR_ARG(word));
	if (str_starts(word, STR("https://")) ||
	    str_starts(word, STR("http://")))
		return arena_fmt(a, "GET %.*s", STR_ARG(word));
	if (!colon && str_find(word, '.', 0) < word.n)
		return arena_fmt(a, "GET https://%.*s%s", STR_ARG(word),
				 path ? "" : "/");
	return (struct str){0};
}

static void parse_words(struct asked *q, const struct options *o)
{
	struct str meant = o->words.n == 1 ? request_meant(q->a, o->words.v[0])
					   : (struct str){0};
	const struct source *src;
	struct buf b;

	buf_init(&b, q->a);
	vec_each(w, &o->words) {
		if (w != o->words.v)
			buf_addc(&b, ' ');
		buf_add(&b, *w);
	}
	if (meant.n)
		console_error("taken for '%s'", view_cleaned(q->a, meant).p);
	src = sources_add(&q->sources, STR("<request>"),
			  meant.n ? meant : buf_str(&b), LAYER_FLAGS);
	parse_request(q, src, src->text);
}

/* One request on a line; none on an empty one and behind a '#'. */
static void parse_lines(struct asked *q, struct str text)
{
	const struct source *src =
		sources_add(&q->sources, STR("<stdin>"), text, LAYER_FLAGS);
	struct str rest = src->text, line;

	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (line.n && line.p[0] != '#')
			parse_request(q, src, line);
	}
}

static int read_requests(struct asked *q, const struct options *o)
{
	struct str text;

	if (o->words.n == 0) {
		console_error(
			"nothing is asked\n"
			"  as in 'membrane explain GET https://example.com/'; '-' reads requests from stdin");
		return STATUS_USAGE;
	}
	if (o->words.n > 1 || !str_is(o->words.v[0], "-"))
		parse_words(q, o);
	else if (!inputs_stdin(q->a, LIMIT_SOURCE_BYTES, &text))
		return STATUS_IO;
	else
		parse_lines(q, text);
	console_diags(q->a, &q->diags);
	return q->diags.errors ? STATUS_USAGE : STATUS_OK;
}

/*
 * A decision that stands on the workspace's own word is said to do so.
 * *approved: -1 until that was found out.
 */
static void assume_trust(struct compilation *c, const struct inputs *in,
			 struct explanation *e, int *approved)
{
	if (e->decision.verdict == VERDICT_DENY || !e->has_rule ||
	    e->rule.from->layer != LAYER_WORKSPACE)
		return;
	if (*approved < 0)
		*approved = trust_holds(c, in);
	if (!*approved)
		*vec_push(c->a, &e->assumed) =
			"somebody approved what this workspace adds ('membrane trust'), which nobody did";
}

static bool asks_files(const struct asked *q)
{
	vec_each(r, &q->list)
		if (r->kind == IR_REQ_READ || r->kind == IR_REQ_WRITE)
			return true;
	return false;
}

/* A policy alone does not say all that is hidden or read-only. */
static bool look_around(const struct inputs *in, struct compilation *c,
			struct found *out)
{
	struct err err;

	if (found_look(c->a, in, &c->plan, out, &err) == 0) {
		vec_each(note, &out->looked.git.notes)
			console_error("%s", view_cleaned(c->a, *note).p);
		return true;
	}
	console_error(
		"the workspace cannot be looked at (%s): what links and git do to a path is not known",
		view_cleaned(c->a, str_of(err.text)).p);
	return false;
}

static int explain_requests(const struct options *o, const struct inputs *in,
			    struct compilation *c, const struct asked *q)
{
	const struct decide_files *files = decide_files_new(c->a, &c->policy);
	struct found found = {0};
	bool looked = asks_files(q) && look_around(in, c, &found);
	bool json = options_get(o, OPTION_JSON) != NULL, denied = false;
	cJSON *list = json_array();
	int approved = -1;
	struct view v;
	struct buf out;
	int status;

	buf_init(&out, c->a);
	vec_each(r, &q->list) {
		/* What one answer takes goes with it: there may be many. */
		struct compilation one = *c;
		struct explanation e;
		struct explain_flip flip;
		struct buf text;

		one.a = arena_new();
		buf_init(&text, one.a);
		v = (struct view){&text, console_width(STDOUT_FILENO),
				  console_colour(STDOUT_FILENO)};
		explain_model_make(&one, files, looked ? &found : NULL, r, &e);
		assume_trust(c, in, &e, &approved);
		explain_edits_find(one.a, in, &one, &e, &flip);
		denied |= e.decision.verdict == VERDICT_DENY;
		if (json) {
			json_push(list, explain_json_one(&one, &e, &flip));
		} else {
			if (r != q->list.v)
				buf_addc(&out, '\n');
			explain_view(&v, &one, &e, &flip);
			buf_add(&out, buf_str(&text));
		}
		arena_free(one.a);
	}
	found_done(&found);
	if (json)
		status = console_result(explain_json(c->a, list));
	else
		status = console_result(buf_str(&out));
	if (!json)
		cJSON_Delete(list);
	return status == STATUS_OK && denied ? STATUS_REFUSED : status;
}

/* One answer's form, and where --decide has requests from. */
static bool decides(const struct options *o, bool *out)
{
	const struct option_given *g = options_get(o, OPTION_DECIDE);

	*out = g != NULL;
	if (!g)
		return true;
	if (options_get(o, OPTION_JSON)) {
		console_error("'--decide' and '--json': one of them");
		return false;
	}
	if (o->words.n == 1 && str_is(o->words.v[0], "-"))
		return true;
	console_error("'--decide' answers lines of stdin: membrane explain --decide -");
	return false;
}

int command_explain(struct arena *a, const struct options *o)
{
	struct compilation c = {.mark_lines = true};
	struct asked q = {.a = a};
	struct inputs in;
	bool decide;
	int status = STATUS_OK;

	if (!decides(o, &decide))
		return STATUS_USAGE;
	sources_init(&q.sources, a);
	diags_init(&q.diags, a, &q.sources);
	if (!decide)
		status = read_requests(&q, o);
	if (status != STATUS_OK)
		return status;
	status = inputs_compile(a, o, true, &in, &c);
	if (status == STATUS_OK && decide)
		status = explain_decide(&c.policy);
	else if (status == STATUS_OK)
		status = explain_requests(o, &in, &c, &q);
	else if (status == STATUS_REFUSED && options_get(o, OPTION_JSON) &&
		 console_result(plan_json_refused(c.a, EXPLAIN_JSON_VERSION,
						  &c.diags)) != STATUS_OK)
		status = STATUS_IO;
	driver_done(&c);
	return status;
}
