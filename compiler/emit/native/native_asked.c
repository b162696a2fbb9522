/*
 * What a user's session records, who may load no programs into the kernel: the
 * system calls that the kernel asks about, by the policy's events
 * (grammar/native-events.def).
 */
#include "compiler/emit/native/native.h"
#include "compiler/emit/native/parts.h"
#include "compiler/ir/native.h"
#include "compiler/plan/native_json.h"

#include <string.h>

bool native_traces(const struct ir_policy *p)
{
	return p->trace.engine.v == IR_TRACE_NATIVE;
}

static bool wants_event(const struct ir_trace *t, const char *name)
{
	vec_each(e, &t->events)
		if (str_is(e->name, name))
			return true;
	return false;
}

/* A program that begins has an event of its own beside those of its calls. */
static bool is_asked(const struct ir_trace *t, const struct native_call *c)
{
	bool exec = strcmp(c->event, "execve") == 0 ||
		    strcmp(c->event, "execveat") == 0;

	return native_event_named(str_of(c->event))->is_asked &&
	       (wants_event(t, c->event) ||
		(exec && wants_event(t, "sched_process_exec")));
}

/* Files that are only read are many. Of openat2 the flags are in memory, where
 * no filter sees them, and creat has none. */
static bool writes_alone(const struct ir_trace *t, const char *call)
{
	return !t->reads.v && !t->required.v &&
	       (strcmp(call, "open") == 0 || strcmp(call, "openat") == 0);
}

/* A word for each event: its calls stand together in the table. */
void native_put_asked(struct argv *w)
{
	const struct ir_policy *p = w->in->policy;
	const struct native_call *c, *before = NULL;
	struct buf b;

	buf_init(&b, w->in->a);
	for (size_t i = 0; native_traces(p) && (c = native_call_at(i)); i++) {
		if (!is_asked(&p->trace, c))
			continue;
		if (before && strcmp(before->event, c->event) != 0) {
			argv_value(w, "ask", buf_str(&b));
			buf_init(&b, w->in->a);
		}
		buf_addf(&b, "%s%s%s", b.n ? "," : "", c->name,
			 writes_alone(&p->trace, c->name) ? NATIVE_JSON_WRITE
							  : "");
		before = c;
	}
	if (before)
		argv_value(w, "ask", buf_str(&b));
}

bool native_asks(const struct ir_policy *p)
{
	const struct native_call *c;

	for (size_t i = 0; native_traces(p) && (c = native_call_at(i)); i++)
		if (is_asked(&p->trace, c))
			return true;
	return false;
}

const char *native_unasked(const struct ir_policy *p)
{
	vec_each(e, &p->trace.events) {
		const struct native_event *n = native_event_named(e->name);

		if (n && !n->is_asked && !e->optional.v)
			return n->name;
	}
	return NULL;
}
