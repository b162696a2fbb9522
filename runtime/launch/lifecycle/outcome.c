#include "runtime/launch/lifecycle/outcome.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/lifecycle/telling.h"
#include "runtime/launch/session/metadata.h"
#include "runtime/launch/workspace/wspath.h"

#include <fcntl.h>
#include <unistd.h>

static void add_ms(cJSON *o, const char *name, int64_t ms)
{
	if (ms)
		cJSON_AddNumberToObject(o, name, (double)ms);
}

static void add_times(cJSON *o, const struct loop_times *t)
{
	cJSON *ms = cJSON_AddObjectToObject(o, "ms");

	add_ms(ms, "gate_spawned", t->gate_spawned);
	add_ms(ms, "alone", t->alone);
	add_ms(ms, "prepared", t->prepared);
	add_ms(ms, "gate_started", t->gate_started);
	add_ms(ms, "ready", t->ready);
	add_ms(ms, "tracer_loaded", t->tracer_loaded);
	add_ms(ms, "tracer_ready", t->tracer_ready);
	add_ms(ms, "view_ready", t->view_ready);
	add_ms(ms, "agent_spawned", t->agent_spawned);
	add_ms(ms, "agent_created", t->agent_created);
	add_ms(ms, "agent_started", t->agent_started);
	add_ms(ms, "checked", t->checked);
	add_ms(ms, "agent_died", t->agent_died);
	add_ms(ms, "agent_ended", t->agent_ended);
	add_ms(ms, "gate_died", t->gate_died);
	add_ms(ms, "gate_ended", t->gate_ended);
	add_ms(ms, "cleaned", t->cleaned);
}

static void add_trace(struct arena *a, cJSON *o, const struct tracer *t)
{
	cJSON *trace = cJSON_AddObjectToObject(o, "trace");
	struct str lacks = tracer_lacks(a, t);

	cJSON_AddBoolToObject(trace, "whole",
			      t->state == TRACER_ENDED && lacks.n == 0);
	cJSON_AddNumberToObject(trace, "lost", (double)tracer_lost(t));
	if (*t->watch.back_end) {
		cJSON_AddStringToObject(trace, "back_end", t->watch.back_end);
		cJSON_AddStringToObject(trace, "io_uring", t->watch.io_uring);
		cJSON_AddStringToObject(trace, "missing", t->watch.missing);
	}
	if (t->state == TRACER_FAILED)
		cJSON_AddStringToObject(trace, "error", t->why.text);
	else if (lacks.n)
		cJSON_AddStringToObject(trace, "lacks", arena_cstr(a, lacks));
}

/* Nothing is said of a record that is whole. */
static void add_unrecorded(cJSON *o, const struct gate *g)
{
	cJSON *list;

	if (!g->lost && !g->decisions.unwritten)
		return;
	list = cJSON_AddObjectToObject(o, "unrecorded");
	cJSON_AddNumberToObject(list, "decisions", (double)g->lost);
	cJSON_AddNumberToObject(list, "refusals",
				(double)g->decisions.unwritten);
}

static void add_ssh(cJSON *o, const struct sshagent_told *t)
{
	cJSON *ssh = cJSON_AddObjectToObject(o, "ssh_agent");

	cJSON_AddNumberToObject(ssh, "asked", t->asked);
	cJSON_AddNumberToObject(ssh, "made", t->signatures);
	cJSON_AddNumberToObject(ssh, "refused", t->refused);
	cJSON_AddNumberToObject(ssh, "unanswered", t->unanswered);
}

static cJSON *emptied_json(struct arena *a, const struct committed *emptied)
{
	cJSON *list = cJSON_CreateArray();

	vec_each(path, &emptied->paths)
		cJSON_AddItemToArray(list,
				     cJSON_CreateString(wspath_show(a, *path)));
	return list;
}

void outcome_write(const struct outcome *o)
{
	const struct loop *r = o->run;
	const char *path =
		arena_fmt(o->a, "%s/summary.json", r->session->dir).p;
	cJSON *root = cJSON_CreateObject();
	struct err err;
	char *text;

	cJSON_AddNumberToObject(root, "version", 1);
	cJSON_AddStringToObject(root, "session", r->session->id);
	cJSON_AddStringToObject(root, "workspace", o->workspace);
	cJSON_AddStringToObject(root, "engine", o->engine);
	cJSON_AddStringToObject(root, "ended", metadata_now(o->a));
	cJSON_AddNumberToObject(root, "status",
				o->status < 0 ? 125 : o->status);
	if (o->status < 0)
		cJSON_AddStringToObject(root, "error", o->why->text);
	add_times(root, &r->at);
	cJSON_AddNumberToObject(root, "gate_ready_ms", r->gate->ready_ms);
	if (r->gate->netns)
		cJSON_AddNumberToObject(root, "network", r->gate->netns);
	if (r->tracer)
		add_trace(o->a, root, r->tracer);
	add_unrecorded(root, r->gate);
	if (o->ssh)
		add_ssh(root, o->ssh);
	if (o->killed)
		cJSON_AddNumberToObject(root, "out_of_memory",
					(double)o->killed);
	cJSON_AddItemToObject(root, "changes", control_json(r->control));
	cJSON_AddItemToObject(root, "executed",
			      executed_json(o->a, o->executed));
	cJSON_AddItemToObject(root, "refused", summary_json(r->gate->summary));
	if (r->view) {
		cJSON_AddItemToObject(root, "files",
				      refusals_json(r->view->refusals));
		cJSON_AddItemToObject(root, "kept", kept_json(r->view->kept));
		cJSON_AddItemToObject(root, "emptied",
				      emptied_json(o->a, o->emptied));
	}
	text = cJSON_Print(root);
	if (text && fileio_write(AT_FDCWD, path, arena_fmt(o->a, "%s\n", text),
				 0600, &err) < 0)
		fprintf(stderr, "membrane: %s\n", err.text);
	cJSON_free(text);
	cJSON_Delete(root);
}

/* Of these the first are named. */
#define MISSING_NAMED 4u

/* What a user's trace does not have, of what the policy wants. */
static void add_unasked(const struct tracer *t, struct buf *out)
{
	struct str rest = str_of(t->watch.missing), name;
	unsigned n = 0;

	buf_adds(out,
		 "membrane: traced as a user's: what was asked for, and no ");
	for (; str_field(&rest, ',', &name); n++)
		if (n < MISSING_NAMED)
			buf_addf(out, "%s%.*s", n ? ", " : "", STR_ARG(name));
	if (n > MISSING_NAMED)
		buf_addf(out, " and %u more", n - MISSING_NAMED);
	buf_adds(out, " ('membrane help events')\n");
}

/* Nothing is said of a trace that is whole. */
static void add_trace_words(struct arena *a, const struct tracer *t,
			    struct buf *out)
{
	struct str lacks = tracer_lacks(a, t);

	if (*t->watch.missing && t->holds_agent)
		add_unasked(t, out);
	else if (*t->watch.missing)
		buf_addf(
			out,
			"membrane: this kernel does not let the tracer see: %s\n",
			t->watch.missing);
	if (t->state == TRACER_FAILED)
		buf_addf(out,
			 "membrane: this session's trace is not whole: %s\n",
			 t->why.text);
	else if (lacks.n)
		buf_addf(out,
			 "membrane: this session's trace is not whole: %.*s\n",
			 STR_ARG(lacks));
}

void outcome_print(const struct outcome *o)
{
	const struct loop *r = o->run;
	bool colour = telling_in_colour();
	const char *log =
		arena_fmt(o->a, "%s/decisions.jsonl", r->session->dir).p;
	const char *summary =
		arena_fmt(o->a, "%s/summary.json", r->session->dir).p;
	struct str advised;
	struct buf text;

	buf_init(&text, o->a);
	if (r->tell)
		tell_words(r->tell, &text);
	control_words(r->control, &text);
	summary_print(r->gate->summary, log, colour, &text);
	advised = summary_advised(r->gate->summary);
	if (advised.n && !o->is_fixed)
		buf_addf(
			&text,
			"membrane: or, while a session runs: membrane allow %.*s --save\n",
			STR_ARG(advised));
	if (r->view) {
		refusals_print(r->view->refusals, log, colour, &text);
		kept_print(r->view->kept, summary, &text);
	}
	if (r->view && r->view->is_unsealed)
		buf_adds(
			&text,
			"membrane: the command opened nothing that 'protect' names: its memory was not closed to others, since another program than the command's own had become it; run the program itself\n");
	if (o->emptied->paths.n)
		buf_addf(
			&text,
			"membrane: hidden files are empty in git's index since this session, and so most likely in a commit: %s (git checkout REVISION -- FILE brings one back)\n",
			committed_text(o->a, o->emptied).p);
	executed_words(o->executed, &text);
	if (o->killed)
		buf_addf(
			&text,
			"membrane: the kernel ended %llu of the session's processes: together they wanted more than 'hardening.memory' gives\n",
			(unsigned long long)o->killed);
	if (r->gate->decisions.unwritten)
		buf_addf(
			&text,
			"membrane: %llu more refusals are counted above and not in %s, which has %u MB of them\n",
			(unsigned long long)r->gate->decisions.unwritten, log,
			DECISIONS_REFUSED_MAX >> 20);
	if (r->gate->lost)
		buf_addf(
			&text,
			"membrane: %llu decisions of the gate are neither counted above nor in %s: it had no room to tell them\n",
			(unsigned long long)r->gate->lost, log);
	if (r->gate->says.words_done && !r->failed)
		buf_addf(&text, "membrane: the gate says: %s\n",
			 gate_last_words(r->gate));
	if (r->tracer && !r->failed)
		add_trace_words(o->a, r->tracer, &text);
	if (text.n) {
		buf_addf(&text, "membrane: run by %s\n",
			 metadata_engine(o->engine));
		if (r->tell)
			tell_begin_line(r->tell);
		fwrite(text.p, 1, text.n, stderr);
	}
}
