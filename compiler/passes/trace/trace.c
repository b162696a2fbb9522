#include "compiler/passes/trace/trace.h"

#include "compiler/base/limits.h"
#include "compiler/base/near.h"
#include "compiler/ir/native.h"
#include "compiler/ir/text.h"
#include "compiler/passes/trace/parts.h"

#include <stdlib.h>
#include <string.h>

/* What Tracee records when a policy names no events. */
static const char *const default_events[] = {
	"net_packet_dns",	  "sched_process_exec",
	"sched_process_exit",	  "security_file_open",
	"security_inode_rename",  "security_inode_unlink",
	"security_socket_bind",	  "security_socket_connect",
	"security_socket_listen",
};

struct expander {
	struct trace_filter_ctx f;
	VEC(struct ir_trace_event) out;
};

/* --- events -------------------------------------------------------------- */

/* '*' stands for any run of bytes. */
static bool glob_match(struct str pattern, struct str s)
{
	size_t p = 0, i = 0, star = SIZE_MAX, mark = 0;

	while (i < s.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			mark = i;
		} else if (p < pattern.n && pattern.p[p] == s.p[i]) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

static bool in_release(const struct expander *x, const struct tracee_event *e)
{
	return e->since <= x->f.release && x->f.release <= e->last;
}

static const char *nearest_event(struct str name)
{
	struct near near = {.word = name, .below = 4};
	const struct tracee_event *e;

	for (size_t i = 0; (e = tracee_event_at(i)); i++)
		(void)near_offer(&near, e->name);
	return near.name;
}

static bool unknown_event(struct expander *x,
			  const struct ir_trace_event *entry)
{
	struct diags *d = x->f.c->diags;
	const char *meant = native_event_meant(entry->name);
	const char *near = meant ? meant : nearest_event(entry->name);

	if (str_find(entry->name, '*', 0) < entry->name.n) {
		diag_error(d, DIAG_TRACE_EVENT, entry->from.at,
			   "no event matches '%s'", diag_quote(d, entry->name));
		return false;
	}
	diag_error(d, DIAG_TRACE_EVENT, entry->from.at, "unknown event '%s'",
		   diag_quote(d, entry->name));
	if (str_starts(entry->name, STR("-")))
		diag_help(
			x->f.c->diags,
			"leaving events out of a set is for Tracee's command line; name those that are wanted");
	else if (near)
		diag_help(d, "did you mean '%s'?", near);
	else
		diag_help(
			d,
			"'membrane help events' lists those of the built-in tracer");
	return false;
}

static bool add_event(struct expander *x, const struct ir_trace_event *entry,
		      const struct tracee_event *e)
{
	struct ir_trace_event *out;

	if (!trace_filter_check(&x->f, e, entry))
		return false;
	if (x->out.n >= 4 * LIMIT_TRACE_EVENTS) {
		diag_error(x->f.c->diags, DIAG_TRACE_LIMIT, entry->from.at,
			   "more than %u events, repeated ones counted",
			   4 * LIMIT_TRACE_EVENTS);
		return false;
	}
	out = vec_push(x->f.c->a, &x->out);
	*out = *entry;
	out->name = str_of(e->name);
	if (!x->f.native || !native_event_named(out->name)->somewhere)
		out->optional = (ir_opt_bool){0};
	return true;
}

/* Not silently left out: who names it, counts on it. */
static bool not_native(struct expander *x, const struct ir_trace_event *entry)
{
	const char *meant = native_event_meant(entry->name);
	struct diags *d = x->f.c->diags;

	diag_error(d, DIAG_TRACE_NATIVE, entry->from.at,
		   "the built-in tracer cannot record '%s'",
		   diag_quote(d, entry->name));
	if (meant)
		diag_help(d, "it has '%s' for that", meant);
	else
		diag_help(d, "'engine: tracee' can, where Tracee runs");
	return false;
}

/* As a part of a set: nobody counts on it. */
static bool add_member(struct expander *x, const struct ir_trace_event *entry,
		       const struct tracee_event *e)
{
	struct ir_trace_event copy = *entry;

	copy.optional = (ir_opt_bool){true, entry->from, true};
	return add_event(x, &copy, e);
}

static bool add_named(struct expander *x, const struct ir_trace_event *entry,
		      const struct tracee_event *e)
{
	struct diags *d = x->f.c->diags;

	if (x->f.native && !native_event_named(str_of(e->name)))
		return not_native(x, entry);
	if (in_release(x, e))
		return add_event(x, entry, e);
	diag_error(d, DIAG_TRACE_VERSION, entry->from.at,
		   "Tracee %u.%u.%u has no event '%s'", x->f.release / 10000,
		   x->f.release / 100 % 100, x->f.release % 100, e->name);
	diag_note(d,
		  x->f.t->version.set ? x->f.t->version.from.at
				      : entry->from.at,
		  e->since > x->f.release ? "it came later"
					  : "it was there before");
	return false;
}

/* The built-in tracer's own: "asked" is what of "default" every session has. */
static bool is_native_set(struct str name)
{
	return str_is(name, "default") || str_is(name, "full") ||
	       str_is(name, "asked");
}

static bool add_native_set(struct expander *x,
			   const struct ir_trace_event *entry)
{
	bool full = str_is(entry->name, "full");
	bool asked = str_is(entry->name, "asked");
	const struct native_event *n;

	for (size_t i = 0; (n = native_event_at(i)); i++)
		if ((full || n->is_default) && (!asked || n->is_asked) &&
		    !add_member(x, entry, tracee_event_named(str_of(n->name))))
			return false;
	return true;
}

/* A wildcard or the name of a set. */
static bool add_many(struct expander *x, const struct ir_trace_event *entry)
{
	bool wild = str_find(entry->name, '*', 0) < entry->name.n, any = false;
	const struct tracee_event *e;

	for (size_t i = 0; (e = tracee_event_at(i)); i++) {
		if (!in_release(x, e) ||
		    (x->f.native && !native_event_named(str_of(e->name))) ||
		    !(wild ? glob_match(entry->name, str_of(e->name))
			   : tracee_event_in_set(e, entry->name)))
			continue;
		any = true;
		/* One complaint about a filter is enough. */
		if (!add_member(x, entry, e))
			return false;
	}
	return any || unknown_event(x, entry);
}

static bool expand_one(struct expander *x, const struct ir_trace_event *entry)
{
	const struct tracee_event *e = tracee_event_named(entry->name);

	if (x->f.native && is_native_set(entry->name))
		return add_native_set(x, entry);
	return e ? add_named(x, entry, e) : add_many(x, entry);
}

/* --- one entry per event ------------------------------------------------- */

static int by_name(const void *va, const void *vb)
{
	const struct ir_trace_event *a = va, *b = vb;
	int c = str_cmp(a->name, b->name);

	if (c)
		return c;
	return a->from.at.beg < b->from.at.beg
		       ? -1
		       : a->from.at.beg > b->from.at.beg;
}

/*
 * Two entries for one event want what either wants, and a rule can only hold
 * what all its filters permit. So one without filters decides; two with
 * different filters cannot be said in one rule.
 */
static bool unite_events(struct expander *x, struct ir_trace_event *to,
			 const struct ir_trace_event *more)
{
	struct diags *d = x->f.c->diags;

	if (!more->optional.v)
		to->optional = more->optional;
	if (ir_texts_same(&to->filters, &more->filters))
		return true;
	if (to->filters.n && more->filters.n) {
		diag_error(d, DIAG_TRACE_TWICE, more->from.at,
			   "'%s' has other filters elsewhere", to->name.p);
		diag_note(d, to->from.at,
			  "here; Tracee has one rule per event");
		diag_help(
			x->f.c->diags,
			"write one entry with the filters of both, or without");
		return false;
	}
	diag_warn(d, DIAG_TRACE_VOID, (to->filters.n ? to : more)->from.at,
		  "the filters of '%s' change nothing: it is traced whole",
		  to->name.p);
	diag_note(d, (to->filters.n ? more : to)->from.at, "because of this");
	to->filters = (ir_texts){0};
	return true;
}

static bool settle_events(struct expander *x)
{
	struct ir_trace_event *v = x->out.v;
	uint32_t n = 0;
	bool ok = true;

	vec_each(e, &x->out)
		e->filters = ir_texts_sorted(x->f.c->a, &e->filters);
	if (x->out.n)
		qsort(v, x->out.n, sizeof(*v), by_name);
	for (uint32_t i = 0; i < x->out.n; i++) {
		if (n && str_eq(v[n - 1].name, v[i].name))
			ok &= unite_events(x, &v[n - 1], &v[i]);
		else
			v[n++] = v[i];
	}
	x->out.n = n;
	return ok;
}

/* --- paths to leave out -------------------------------------------------- */

static bool check_exclude(struct pass_ctx *c, const struct ir_text *t)
{
	const char *what = NULL;

	if (t->s.n < 2 || t->s.p[0] != '/')
		what = "not a path below the root";
	else if (str_find(t->s, ',', 0) < t->s.n)
		what = "Tracee divides values at commas, and cannot say it";
	else if (str_find(t->s, '*', 0) < t->s.n)
		what = "a path stands for all below it, and has no '*'";
	else if (t->s.n > 253)
		what = "the kernel compares 255 bytes at most";
	if (!what)
		return true;
	diag_error(c->diags, DIAG_TRACE_EXCLUDE, t->from.at, "'%s': %s",
		   diag_quote(c->diags, t->s), what);
	diag_help(c->diags, "as in '/usr'");
	return false;
}

static bool settle_release(struct pass_ctx *c, const struct ir_trace *t,
			   unsigned *out)
{
	*out = TRACEE_RELEASE_DEFAULT;
	if (!t->version.set)
		return true;
	if (tracee_release(t->version.v, out) && *out >= TRACEE_RELEASE_MIN &&
	    *out <= TRACEE_RELEASE_MAX)
		return true;
	diag_error(c->diags, DIAG_TRACE_VERSION, t->version.from.at,
		   "Tracee '%s' is not known here",
		   diag_quote(c->diags, t->version.v));
	diag_help(
		c->diags,
		"releases from 0.20.0 to 0.24 are, written whole; without 'version' it is " TRACEE_DEFAULT_VERSION);
	return false;
}

static void take_native_defaults(struct expander *x)
{
	const struct native_event *n;

	for (size_t i = 0; (n = native_event_at(i)); i++)
		if (n->is_default)
			*vec_push(x->f.c->a, &x->out) = (struct ir_trace_event){
				.from = {.layer = LAYER_FLOOR},
				.name = str_of(n->name),
				.optional = {n->somewhere,
					     {.layer = LAYER_FLOOR},
					     n->somewhere}};
}

static void take_defaults(struct expander *x)
{
	if (x->f.native) {
		take_native_defaults(x);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(default_events); i++)
		*vec_push(x->f.c->a, &x->out) = (struct ir_trace_event){
			.from = {.layer = LAYER_FLOOR},
			.name = str_of(default_events[i])};
}

/*
 * Files that are only read are many, and rarely news: not recorded by default,
 * but for some names. Who asks for the event by name, or for everything, gets
 * them.
 */
static void settle_reads(struct ir_trace *t)
{
	bool named = false;
	struct ir_origin from = {.layer = LAYER_FLOOR};

	if (t->reads.set)
		return;
	vec_each(e, &t->events) {
		if (str_is(e->name, "default") || str_is(e->name, "asked"))
			continue;
		named |= t->has_events;
		from = e->from;
	}
	t->reads = (ir_opt_bool){true, from, named};
}

/* The built-in tracer is of membrane's own version. */
static void judge_version(struct pass_ctx *c, const struct ir_trace *t)
{
	if (!t->version.set)
		return;
	diag_warn(
		c->diags, DIAG_TRACE_VOID, t->version.from.at,
		"'version' changes nothing: it is Tracee's, and this is the built-in tracer");
	diag_help(c->diags, "'engine: tracee' records with that");
}

bool trace_expand(struct pass_ctx *c, struct ir_policy *p)
{
	struct expander x = {.f = {.c = c, .t = &p->trace}};
	bool ok = settle_release(c, &p->trace, &x.f.release);

	if (!ok)
		return false; /* which events there are is not known */
	vec_each(t, &p->trace.exclude)
		ok &= check_exclude(c, t);
	x.f.native =
		p->trace.engine.set && p->trace.engine.v == IR_TRACE_NATIVE;
	if (x.f.native) {
		settle_reads(&p->trace);
		judge_version(c, &p->trace);
	}
	if (!p->trace.has_events)
		take_defaults(&x);
	vec_each(entry, &p->trace.events)
		ok &= expand_one(&x, entry);
	ok = ok && settle_events(&x);
	p->trace.events.v = x.out.v;
	p->trace.events.n = x.out.n;
	p->trace.events.cap = x.out.cap;
	return ok;
}
