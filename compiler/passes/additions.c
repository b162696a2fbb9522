/*
 * What a workspace's layer adds to those that are trusted: what `trust` asks
 * about.
 */
#include "compiler/ir/docker_run.h"
#include "compiler/ir/upstream.h"
#include "compiler/ir/visible.h"
#include "compiler/passes/cover.h"
#include "compiler/passes/parts.h"

#include <stdlib.h>

struct item {
	struct addition x;
	uint32_t n; /* as found */
};

struct add {
	struct pass_ctx *c;
	struct ir_policy trusted; /* what all but the workspace say */
	struct cover *grants;	  /* its allow, normalised */
	/* Its ask, likewise: what may be permitted for so long at least. */
	struct cover *asked[IR_LASTS_ALWAYS + 1];
	VEC(struct item) items;
	/* Patterns of each list that take back, so far, in whatever file. */
	uint32_t back_ignore, back_readonly;
};

static void say_addition(struct add *s, enum addition_part part,
			 struct ir_origin from, struct str text)
{
	uint32_t n = s->items.n;

	*vec_push(s->c->a, &s->items) =
		(struct item){{.part = part, .from = from, .text = text}, n};
}

/* Strings of the user's as they are, whole: what is approved is this text. */
#define SAY(part, from, ...)                                                   \
	say_addition(s, ADDITION_##part, (from),                               \
		     arena_fmt(s->c->a, __VA_ARGS__))

/* --- what is trusted ----------------------------------------------------- */

#define TAKE(field)                                                            \
	do {                                                                   \
		if (from->field.set)                                           \
			to->field = from->field;                               \
	} while (0)

static void take_grants(struct add *s, ir_grants *to, const ir_grants *from)
{
	vec_each(g, from) {
		struct ir_grant *copy = vec_push(s->c->a, to);

		*copy = *g;
		normalise_grant(s->c->a, copy);
	}
}

/* Only what additions compare with. */
static void take_trusted(struct add *s, const struct ir_policy *from)
{
	struct ir_policy *to = &s->trusted;

	take_grants(s, &to->allow, &from->allow);
	take_grants(s, &to->ask, &from->ask);
	vec_each(i, &from->ignore)
		*vec_push(s->c->a, &to->ignore) = *i;
	vec_each(r, &from->readonly)
		*vec_push(s->c->a, &to->readonly) = *r;
	vec_each(p, &from->protect)
		*vec_push(s->c->a, &to->protect) = *p;
	vec_each(v, &from->visible)
		*vec_push(s->c->a, &to->visible) = *v;
	TAKE(masks);
	TAKE(resolver);
	TAKE(tls);
	TAKE(uplink);
	TAKE(upstream);
	TAKE(upstream_ca);
	TAKE(ssl_insecure);
	TAKE(ssh_agent);
	TAKE(home);
	TAKE(image);
	TAKE(engine);
	TAKE(runtime);
	TAKE(hardening.read_only);
	TAKE(hardening.pids);
	TAKE(hardening.memory);
	TAKE(hardening.cpus_milli);
	TAKE(hardening.user);
	TAKE(hardening.no_new_privileges);
	TAKE(hardening.seccomp);
	TAKE(hardening.user_namespaces);
	TAKE(trace.engine);
	TAKE(trace.reads);
	TAKE(trace.required);
}

/* --- lists --------------------------------------------------------------- */

/* A network also says which addresses a name may lead to, on any port. */
static bool is_plain(const struct ir_grant *g)
{
	return (g->dest.kind == IR_DEST_HOST ||
		g->dest.kind == IR_DEST_PATTERN) &&
	       !g->has_http && !g->tls.set && !g->private.set;
}

static struct ir_grant *normalised_grant(struct add *s,
					 const struct ir_grant *g)
{
	struct ir_grant *copy = arena_new_of(s->c->a, struct ir_grant);

	*copy = *g;
	normalise_grant(s->c->a, copy);
	return copy;
}

static void add_grants(struct add *s, const ir_grants *grants)
{
	vec_each(g, grants) {
		struct ir_grant *copy = normalised_grant(s, g);

		if (cover_find(s->grants, copy))
			continue;
		SAY(GRANT, g->from, "allow %.*s", STR_ARG(copy->canon));
		s->items.v[s->items.n - 1].x.is_plain = is_plain(g);
		s->items.v[s->items.n - 1].x.grant = copy;
	}
}

/* What may be permitted is as good as what is. */
static void add_asked(struct add *s, const ir_grants *grants)
{
	vec_each(g, grants) {
		struct ir_grant *copy = normalised_grant(s, g);
		const struct ir_grant *by =
			cover_find(s->asked[copy->lasts.v], copy);

		if (cover_find(s->grants, copy) ||
		    (by && by->wait_s.v >= copy->wait_s.v))
			continue;
		SAY(GRANT, g->from, "ask %.*s", STR_ARG(copy->canon));
		s->items.v[s->items.n - 1].x.is_plain = is_plain(g);
		s->items.v[s->items.n - 1].x.grant = copy;
	}
}

/* Of what is trusted: compiler/passes/cover.h. */
static void find_covers(struct add *s)
{
	struct arena *a = s->c->a;

	s->grants = cover_new(a, &s->trusted.allow);
	for (int l = 0; l <= IR_LASTS_ALWAYS; l++) {
		ir_grants *wide = arena_new_of(a, ir_grants);

		vec_each(g, &s->trusted.ask)
			if ((int)g->lasts.v >= l)
				*vec_push(a, wide) = *g;
		s->asked[l] = cover_new(a, wide);
	}
}

static void add_texts(struct add *s, const char *key, const ir_texts *texts)
{
	vec_each(t, texts)
		SAY(SETTING, t->from, "%s %.*s", key, STR_ARG(t->s));
}

/* The words behind a lead, divided by blanks; empty when there are none. */
static const char *listed_text(struct arena *a, const char *lead,
			       const ir_texts *words)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(w, words)
		buf_addf(&b, "%s'%.*s'", w == words->v ? lead : " ",
			 STR_ARG(w->s));
	return b.p;
}

static struct str arg_word(const void *ctx, uint32_t i)
{
	return ((const ir_texts *)ctx)->v[i].s;
}

/* What of the machine is there already, to be written where that is asked. */
static void add_visible(struct add *s, const ir_texts *list)
{
	vec_each(t, list) {
		struct ir_visible v = visible_of(t->s);

		if (visible_at(&s->trusted.visible, &v) < (v.write ? 2u : 1u))
			SAY(SETTING, t->from, "visible %.*s", STR_ARG(t->s));
	}
}

/* One option a line, in one spelling; what is no option, as it is. */
static void add_args(struct add *s, const ir_texts *args)
{
	struct docker_run_reader r = {
		.word = arg_word, .ctx = args, .n = args->n};
	struct docker_run_found f;

	for (;;) {
		enum docker_run_status status = docker_run_read(&r, &f);
		struct ir_origin from;

		if (status == DOCKER_RUN_END || f.at >= args->n)
			return;
		from = args->v[f.at].from;
		if (status != DOCKER_RUN_TAKEN) {
			SAY(ARG, from, "args %.*s", STR_ARG(args->v[f.at].s));
			r.next = f.at + 1;
		} else if (f.option->type == DOCKER_RUN_FLAG) {
			SAY(ARG, from, "args --%s%s%.*s", f.option->name,
			    f.has_value ? "=" : "", STR_ARG(f.value));
		} else {
			SAY(ARG, from, "args --%s %.*s", f.option->name,
			    STR_ARG(f.value));
		}
	}
}

/* What takes back only the workspace's own patterns adds nothing. */
static bool takes_back(const struct ir_pattern *p, const ir_patterns *trusted)
{
	vec_each(t, trusted)
		if (p->back && !t->back && pattern_intersect(p, t))
			return true;
	return false;
}

static void add_back(struct add *s, const char *key,
		     const ir_patterns *patterns, const ir_patterns *trusted)
{
	vec_each(p, patterns) {
		if (!takes_back(p, trusted))
			continue;
		SAY(PATTERN, p->from, "%s %.*s", key, STR_ARG(p->line));
		s->items.v[s->items.n - 1].x.is_plain = true;
	}
}

/* --- scalars ------------------------------------------------------------- */

static bool str_differs(const ir_opt_str *a, const ir_opt_str *b)
{
	return a->set && !(b->set && str_eq(a->v, b->v));
}

static void add_str(struct add *s, const char *key, const ir_opt_str *v,
		    const ir_opt_str *trusted)
{
	if (str_differs(v, trusted))
		SAY(SETTING, v->from, "%s %.*s", key, STR_ARG(v->v));
}

/* A limit that grows, or that lifts a default; 'none' is the loosest. */
static void add_limit(struct add *s, const char *key, const ir_opt_u64 *v,
		      const ir_opt_u64 *trusted)
{
	if (v->set && trusted->set && v->v > trusted->v)
		SAY(SETTING, v->from, "%s %llu", key, (unsigned long long)v->v);
}

/* A guard that is let down: set to the weaker value, unlike before. */
static void add_guard(struct add *s, const char *text, const ir_opt_bool *v,
		      const ir_opt_bool *trusted, bool weak)
{
	if (v->set && v->v == weak && !(trusted->set && trusted->v == weak))
		SAY(SETTING, v->from, "%s", text);
}

static bool resolver_eq(const struct ir_resolver *a,
			const struct ir_resolver *b)
{
	return a->host == b->host && a->port == b->port &&
	       addr_eq(&a->addr, &b->addr);
}

static void add_resolver(struct add *s, const ir_opt_resolver *r)
{
	if (r->set && !resolver_eq(&r->v, &s->trusted.resolver.v))
		SAY(SETTING, r->from, "dns_resolver %.*s",
		    STR_ARG(ir_resolver_text(s->c->a, &r->v)));
}

/* Who is on the way, and what is not told to them: one setting. */
static struct str way_text(struct arena *a, const struct ir_upstream *u)
{
	ir_texts direct = upstream_directs(a, u);

	return arena_fmt(a, "%.*s%s", STR_ARG(upstream_text(a, u)),
			 listed_text(a, ", direct ", &direct));
}

static void add_upstream(struct add *s, const struct ir_upstream *u)
{
	struct str text;

	if (!u->set)
		return;
	text = way_text(s->c->a, u);
	if (!s->trusted.upstream.set ||
	    !str_eq(text, way_text(s->c->a, &s->trusted.upstream)))
		SAY(SETTING, u->from, "upstream %.*s", STR_ARG(text));
}

static void add_hardening(struct add *s, const struct ir_hardening *h)
{
	const struct ir_hardening *t = &s->trusted.hardening;

	add_guard(s, "hardening.read_only false", &h->read_only, &t->read_only,
		  false);
	add_texts(s, "hardening.tmpfs", &h->tmpfs);
	add_limit(s, "hardening.pids", &h->pids, &t->pids);
	add_limit(s, "hardening.memory", &h->memory, &t->memory);
	if (h->cpus_milli.set && t->cpus_milli.set &&
	    h->cpus_milli.v > t->cpus_milli.v)
		SAY(SETTING, h->cpus_milli.from, "hardening.cpus %llu.%03llu",
		    (unsigned long long)h->cpus_milli.v / 1000,
		    (unsigned long long)h->cpus_milli.v % 1000);
	add_str(s, "hardening.user", &h->user, &t->user);
	add_texts(s, "hardening.capabilities", &h->capabilities);
	add_guard(s, "hardening.no_new_privileges false", &h->no_new_privileges,
		  &t->no_new_privileges, false);
	add_str(s, "hardening.seccomp", &h->seccomp, &t->seccomp);
	add_guard(s, "hardening.user_namespaces true", &h->user_namespaces,
		  &t->user_namespaces, true);
}

static void add_rotate(struct add *s, const struct ir_trace *t)
{
	const struct {
		const char *key, *unit;
		const ir_opt_u64 *v;
	} bounds[] = {
		{"size", " bytes", &t->rotate_bytes},
		{"age", " seconds", &t->rotate_age_s},
		{"keep", " files", &t->keep_files},
		{"total", " bytes", &t->keep_bytes},
	};

	for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
		if (bounds[i].v->set)
			SAY(SETTING, bounds[i].v->from,
			    "trace.rotate.%s %llu%s", bounds[i].key,
			    (unsigned long long)bounds[i].v->v, bounds[i].unit);
}

static void add_trace(struct add *s, const struct ir_trace *tr)
{
	const struct ir_trace *t = &s->trusted.trace;

	if (tr->engine.set && tr->engine.v != t->engine.v)
		SAY(SETTING, tr->engine.from, "trace.engine %s",
		    ir_trace_engine_name(tr->engine.v));
	if (tr->version.set)
		SAY(SETTING, tr->version.from, "trace.version %.*s",
		    STR_ARG(tr->version.v));
	/* Events of one's own are traced instead of the default ones. */
	vec_each(e, &tr->events)
		SAY(SETTING, e->from, "trace.events %.*s%s%s", STR_ARG(e->name),
		    listed_text(s->c->a, " where ", &e->filters),
		    e->optional.v ? ", optional" : "");
	add_texts(s, "trace.exclude", &tr->exclude);
	add_guard(s, "trace.reads false", &tr->reads, &t->reads, false);
	add_rotate(s, tr);
	add_guard(s, "trace.required false", &tr->required, &t->required,
		  false);
}

static void add_credential(struct add *s, const struct ir_credential *x)
{
	struct str port = STR("");

	if (x->host.has_port)
		port = arena_fmt(s->c->a, ":%u", x->host.port.lo);
	if (x->fields.n) {
		SAY(CREDENTIAL, x->from, "credentials %s%.*s:%s of %.*s%s%s",
		    ir_dest_text(s->c->a, &x->host).p, STR_ARG(port),
		    listed_text(s->c->a, " ", &x->fields), STR_ARG(x->source),
		    x->has_refresh ? ", renewed at " : "",
		    x->has_refresh ? ir_dest_text(s->c->a, &x->refresh).p : "");
		return;
	}
	SAY(CREDENTIAL, x->from, "credentials %s%.*s: %.*s '%.*s' from %s%.*s",
	    ir_dest_text(s->c->a, &x->host).p, STR_ARG(port),
	    STR_ARG(x->header), STR_ARG(x->format),
	    x->from_env ? "$" : "the file ", STR_ARG(x->source));
}

static void add_policy(struct add *s, const struct ir_policy *p)
{
	const struct ir_policy *t = &s->trusted;

	add_grants(s, &p->allow);
	add_asked(s, &p->ask);
	add_back(s, "ignore", &p->ignore, &t->ignore);
	add_back(s, "readonly", &p->readonly, &t->readonly);
	if (p->masks.set && p->masks.v == IR_MASKS_START && ir_masks_hold(t))
		SAY(SETTING, p->masks.from, "masks start");
	add_texts(s, "masks.fast", &p->fast);
	add_resolver(s, &p->resolver);
	if (p->tls.set && p->tls.v == IR_TLS_VERIFY &&
	    t->tls.v == IR_TLS_INSPECT)
		SAY(SETTING, p->tls.from, "tls verify");
	add_str(s, "uplink", &p->uplink, &t->uplink);
	add_upstream(s, &p->upstream);
	add_str(s, "upstream_ca", &p->upstream_ca, &t->upstream_ca);
	add_texts(s, "ports", &p->ports);
	add_visible(s, &p->visible);
	add_guard(s, "ssl_insecure true", &p->ssl_insecure, &t->ssl_insecure,
		  true);
	add_guard(s, "ssh_agent true", &p->ssh_agent, &t->ssh_agent, true);
	if (p->home.set && p->home.v < t->home.v)
		SAY(SETTING, p->home.from, "home %s", ir_home_name(p->home.v));
	add_args(s, &p->args);
	add_str(s, "image", &p->image, &t->image);
	if (p->engine.set && p->engine.v != t->engine.v)
		SAY(SETTING, p->engine.from, "engine %s",
		    ir_engine_name(p->engine.v));
	if (p->runtime.set && p->runtime.v != t->runtime.v)
		SAY(SETTING, p->runtime.from, "runtime %s",
		    ir_runtime_name(p->runtime.v));
	add_hardening(s, &p->hardening);
	vec_each(x, &p->credentials)
		add_credential(s, x);
	add_trace(s, &p->trace);
}

/* --- what holds back ----------------------------------------------------- */

static void cut_denials(struct add *s, const struct ir_policy *p)
{
	vec_each(g, &p->deny) {
		struct ir_grant *copy = normalised_grant(s, g);

		SAY(GRANT, g->from, "deny %.*s", STR_ARG(copy->canon));
		s->items.v[s->items.n - 1].x.grant = copy;
	}
	vec_each(n, &p->tests.never)
		SAY(SETTING, n->from, "never %.*s",
		    STR_ARG(ir_never_text(s->c->a, n)));
}

/* Behind how many that take back: in front of all of them it holds nothing. */
static void cut_patterns(struct add *s, const char *key,
			 const ir_patterns *patterns,
			 const ir_patterns *trusted, uint32_t *back)
{
	vec_each(p, patterns) {
		*back += takes_back(p, trusted);
		if (!p->back)
			SAY(PATTERN, p->from, "%s %.*s behind %u", key,
			    STR_ARG(p->line), *back);
	}
}

static void cut_limit(struct add *s, const char *key, const ir_opt_u64 *v,
		      const ir_opt_u64 *trusted)
{
	if (v->set && !(trusted->set && trusted->v <= v->v))
		SAY(SETTING, v->from, "%s %llu", key, (unsigned long long)v->v);
}

/* Who else protects a file makes it no more open. */
static void cut_protect(struct add *s, const struct ir_policy *p)
{
	vec_each(x, &p->protect)
		vec_each(f, &x->files)
			SAY(SETTING, f->from, "protect %.*s for %.*s",
			    STR_ARG(f->line), STR_ARG(x->by));
}

static void cut_settings(struct add *s, const struct ir_policy *p)
{
	const struct ir_hardening *h = &p->hardening;
	const struct ir_policy *t = &s->trusted;

	if (p->masks.set && p->masks.v == IR_MASKS_HOLD && !ir_masks_hold(t))
		SAY(SETTING, p->masks.from, "masks hold");
	if (p->tls.v == IR_TLS_INSPECT && t->tls.v != IR_TLS_INSPECT)
		SAY(SETTING, p->tls.from, "tls inspect");
	add_guard(s, "ssl_insecure false", &p->ssl_insecure, &t->ssl_insecure,
		  false);
	if (p->home.v > t->home.v)
		SAY(SETTING, p->home.from, "home %s", ir_home_name(p->home.v));
	if (ir_ssh_agent(t))
		add_guard(s, "ssh_agent false", &p->ssh_agent, &t->ssh_agent,
			  false);
	add_guard(s, "hardening.read_only true", &h->read_only,
		  &t->hardening.read_only, true);
	add_guard(s, "hardening.no_new_privileges true", &h->no_new_privileges,
		  &t->hardening.no_new_privileges, true);
	add_guard(s, "hardening.user_namespaces false", &h->user_namespaces,
		  &t->hardening.user_namespaces, false);
	cut_limit(s, "hardening.pids", &h->pids, &t->hardening.pids);
	cut_limit(s, "hardening.memory", &h->memory, &t->hardening.memory);
	cut_limit(s, "hardening.cpus, in thousandths,", &h->cpus_milli,
		  &t->hardening.cpus_milli);
	add_guard(s, "trace.reads true", &p->trace.reads, &t->trace.reads,
		  true);
	add_guard(s, "trace.required true", &p->trace.required,
		  &t->trace.required, true);
	cut_protect(s, p);
}

static void cut_policy(struct add *s, const struct ir_policy *p)
{
	const struct ir_policy *t = &s->trusted;

	cut_denials(s, p);
	cut_patterns(s, "ignore", &p->ignore, &t->ignore, &s->back_ignore);
	cut_patterns(s, "readonly", &p->readonly, &t->readonly,
		     &s->back_readonly);
	cut_settings(s, p);
}

/* --- in order ------------------------------------------------------------ */

static bool is_ordered(const struct item *i)
{
	return i->x.part == ADDITION_PATTERN || i->x.part == ADDITION_ARG;
}

static int by_part(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;
	int c = 0;

	if (a->x.part != b->x.part)
		return a->x.part < b->x.part ? -1 : 1;
	if (!is_ordered(a))
		c = str_cmp(a->x.text, b->x.text);
	return c ? c : a->n < b->n ? -1 : 1;
}

static void settle_additions(struct add *s, addition_list *out)
{
	const struct item *before = NULL;

	if (s->items.n == 0)
		return;
	vec_reserve(s->c->a, out, s->items.n);
	vec_sort(&s->items, by_part);
	/* The first word says of which part it is. */
	vec_each(i, &s->items) {
		if (!before || is_ordered(i) ||
		    !str_eq(before->x.text, i->x.text))
			*vec_push(s->c->a, out) = i->x;
		before = i;
	}
}

static void take_all_trusted(struct add *s, const docs *list)
{
	struct doc floor;

	floor_doc(s->c, &floor);
	take_trusted(s, &floor.policy);
	vec_each(d, list)
		if (d->layer != LAYER_WORKSPACE)
			take_trusted(s, &d->policy);
}

void passes_additions(struct pass_ctx *c, const docs *list, addition_list *out)
{
	struct add add = {.c = c};

	take_all_trusted(&add, list);
	find_covers(&add);
	vec_each(d, list)
		if (d->layer == LAYER_WORKSPACE)
			add_policy(&add, &d->policy);
	settle_additions(&add, out);
}

/* Nothing is taken back: what is hidden beside holds nothing of it. */
static void drop_patterns(struct add *s)
{
	uint32_t n = 0;

	vec_each(i, &s->items)
		if (i->x.part != ADDITION_PATTERN)
			s->items.v[n++] = *i;
	s->items.n = n;
}

void passes_cuts(struct pass_ctx *c, const docs *list, addition_list *out)
{
	struct add cut = {.c = c};

	take_all_trusted(&cut, list);
	vec_each(d, list)
		if (d->layer == LAYER_WORKSPACE)
			cut_policy(&cut, &d->policy);
	if (cut.back_ignore + cut.back_readonly == 0)
		drop_patterns(&cut);
	settle_additions(&cut, out);
}
