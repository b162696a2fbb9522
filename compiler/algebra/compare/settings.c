/*
 * compare.h, of what is no request: hardening, trace, image and the like. In
 * order from tight to loose where there is one.
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/algebra/compare/covers.h"
#include "compiler/base/buf.h"
#include "compiler/ir/text.h"
#include "compiler/ir/upstream.h"
#include "compiler/ir/visible.h"

#include <stdlib.h>

struct settings {
	struct arena *a;
	const struct ir_policy *p[2];
	struct comparison *out;
	bool silent; /* what is unchanged is no access, and not said */
};

/* One value of both policies. */
struct value {
	struct str text;
	bool set;
	struct ir_origin from;
	uint64_t loose; /* what is looser has a higher one */
};

static void add_setting(struct settings *s, enum access_way way,
			struct str text, struct ir_origin why, bool why_old)
{
	*vec_push(s->a, &s->out->changes) =
		(struct access_change){.way = way,
				       .kind = ACCESS_SETTING,
				       .text = text,
				       .why = why,
				       .why_old = why_old};
}

/* Who is responsible: the new place, or the old one where a default is back. */
static void add_value(struct settings *s, enum access_way way, const char *key,
		      const struct value *was, const struct value *is)
{
	bool old = was->set && was->from.layer != LAYER_FLOOR &&
		   (!is->set || is->from.layer == LAYER_FLOOR);

	add_setting(s, way,
		    arena_fmt(s->a, "%s %.*s -> %.*s", key, STR_ARG(was->text),
			      STR_ARG(is->text)),
		    old ? was->from : is->from, old);
}

/* What somebody wrote, and which is as it was. */
static void keep_setting(struct settings *s, struct str text,
			 struct ir_origin was, struct ir_origin is)
{
	if (!s->out->with_kept || s->silent || was.layer == LAYER_FLOOR ||
	    is.layer == LAYER_FLOOR)
		return;
	*vec_push(s->a, &s->out->kept) = (struct access_change){
		.way = ACCESS_KEPT,
		.kind = ACCESS_SETTING,
		.text = text,
		.why = is,
	};
}

static void keep_value(struct settings *s, const char *key,
		       const struct value *was, const struct value *is)
{
	if (was->set && is->set)
		keep_setting(s,
			     arena_fmt(s->a, "%s %.*s", key, STR_ARG(is->text)),
			     was->from, is->from);
}

/* Ordered: looser is more. */
static void compare_ordered(struct settings *s, const char *key,
			    const struct value *was, const struct value *is)
{
	if (was->loose == is->loose)
		keep_value(s, key, was, is);
	else
		add_value(s,
			  is->loose > was->loose ? ACCESS_GAINED : ACCESS_LOST,
			  key, was, is);
}

static void compare_other(struct settings *s, const char *key,
			  const struct value *was, const struct value *is)
{
	if (str_eq(was->text, is->text))
		keep_value(s, key, was, is);
	else
		add_value(s, ACCESS_OTHER, key, was, is);
}

/* Some values are looser than others, and the rest only different. */
static void compare_partly(struct settings *s, const char *key,
			   const struct value *was, const struct value *is)
{
	if (was->loose != is->loose)
		compare_ordered(s, key, was, is);
	else
		compare_other(s, key, was, is);
}

/* --- values -------------------------------------------------------------- */

/* tight: the value that holds more back. */
static struct value of_bool(const ir_opt_bool *v, bool tight)
{
	bool b = v->set && v->v;

	return (struct value){str_of(b ? "true" : "false"), v->set, v->from,
			      b != tight};
}

/* none: what is not set; loose or tight. */
static struct value of_u64(struct arena *a, const ir_opt_u64 *v, uint64_t none)
{
	struct value out = {STR("none"), v->set, v->from, none};

	if (!v->set)
		return out;
	out.text = arena_fmt(a, "%llu", (unsigned long long)v->v);
	out.loose = v->v;
	return out;
}

static struct value of_str(const ir_opt_str *v, const char *none)
{
	return (struct value){v->set ? v->v : str_of(none), v->set, v->from, 0};
}

static void compare_bool(struct settings *s, const char *key,
			 const ir_opt_bool *was, const ir_opt_bool *is,
			 bool tight)
{
	struct value x = of_bool(was, tight), y = of_bool(is, tight);

	compare_ordered(s, key, &x, &y);
}

static void compare_u64(struct settings *s, const char *key,
			const ir_opt_u64 *was, const ir_opt_u64 *is)
{
	struct value x = of_u64(s->a, was, UINT64_MAX);
	struct value y = of_u64(s->a, is, UINT64_MAX);

	compare_ordered(s, key, &x, &y);
}

/* What is kept of a trace: less is looser. */
static void compare_kept(struct settings *s, const char *key,
			 const ir_opt_u64 *was, const ir_opt_u64 *is)
{
	struct value x = of_u64(s->a, was, UINT64_MAX);
	struct value y = of_u64(s->a, is, UINT64_MAX);

	x.loose = UINT64_MAX - x.loose;
	y.loose = UINT64_MAX - y.loose;
	compare_ordered(s, key, &x, &y);
}

static void compare_str(struct settings *s, const char *key,
			const ir_opt_str *was, const ir_opt_str *is,
			const char *none)
{
	struct value x = of_str(was, none), y = of_str(is, none);

	compare_other(s, key, &x, &y);
}

static void compare_size(struct settings *s, const char *key,
			 const ir_opt_u64 *was, const ir_opt_u64 *is)
{
	struct value x = of_u64(s->a, was, 0), y = of_u64(s->a, is, 0);

	compare_other(s, key, &x, &y);
}

/* --- lists --------------------------------------------------------------- */

static const struct ir_text *find_text(const ir_texts *list, struct str s)
{
	vec_each(t, list)
		if (str_eq(t->s, s))
			return t;
	return NULL;
}

/* What one list has and the other has not; more: what an entry of it means. */
static void compare_texts(struct settings *s, const char *key,
			  const ir_texts *was, const ir_texts *is, bool more)
{
	vec_each(t, is) {
		const struct ir_text *had = find_text(was, t->s);

		if (!had)
			add_setting(s, more ? ACCESS_GAINED : ACCESS_LOST,
				    arena_fmt(s->a, "%s + %.*s", key,
					      STR_ARG(t->s)),
				    t->from, false);
		else
			keep_setting(
				s,
				arena_fmt(s->a, "%s %.*s", key, STR_ARG(t->s)),
				had->from, t->from);
	}
	vec_each(t, was)
		if (!find_text(is, t->s))
			add_setting(s, more ? ACCESS_LOST : ACCESS_GAINED,
				    arena_fmt(s->a, "%s - %.*s", key,
					      STR_ARG(t->s)),
				    t->from, true);
}

static struct str fields_text(struct arena *a, const struct ir_credential *c)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(f, &c->fields)
		buf_addf(&b, "%s%.*s", f == c->fields.v ? "" : ", ",
			 STR_ARG(f->s));
	return buf_str(&b);
}

static ir_texts credentials(struct arena *a, const struct ir_policy *p)
{
	ir_texts out = {0};

	vec_each(c, &p->credentials) {
		struct str host = ir_dest_text(a, &c->host);
		struct str port = STR("");

		if (c->host.has_port)
			port = arena_fmt(a, ":%u", c->host.port.lo);
		if (c->fields.n) {
			*vec_push(a, &out) = (struct ir_text){
				c->from,
				arena_fmt(
					a, "%.*s of %.*s for %.*s%.*s%s%s",
					STR_ARG(fields_text(a, c)),
					STR_ARG(c->source), STR_ARG(host),
					STR_ARG(port),
					c->has_refresh ? ", renewed at " : "",
					c->has_refresh
						? ir_dest_text(a, &c->refresh).p
						: "")};
			continue;
		}
		*vec_push(a, &out) = (struct ir_text){
			c->from,
			arena_fmt(a, "%.*s for %.*s%.*s from %s%.*s%s%.*s",
				  STR_ARG(c->header), STR_ARG(host),
				  STR_ARG(port), c->from_env ? "$" : "file ",
				  STR_ARG(c->source),
				  str_is(c->format, "{}") ? "" : " as ",
				  STR_ARG(str_is(c->format, "{}")
						  ? STR("")
						  : c->format))};
	}
	return out;
}

static struct str place_text(struct arena *a, const struct ir_visible *v,
			     unsigned mode)
{
	return arena_fmt(a, "%s %s%.*s", mode == 2 ? "write" : "read",
			 v->in_home ? "~" : "", STR_ARG(v->path));
}

static bool has_place(const ir_texts *list, const struct ir_visible *at)
{
	vec_each(t, list) {
		struct ir_visible v = visible_of(t->s);

		if (v.in_home == at->in_home && str_eq(v.path, at->path))
			return true;
	}
	return false;
}

/* What is at a place that the list has: of entries, which come by path, a folder
 * before what is in it, the last that holds it. */
static const struct ir_text *holder_of(const ir_texts *list,
				       const struct ir_visible *at)
{
	const struct ir_text *holder = NULL;

	vec_each(t, list) {
		const ir_texts one = {.v = t, .n = 1};

		if (visible_at(&one, at))
			holder = t;
	}
	return holder;
}

/* What there is of the machine changes at no path but those that are named. */
static void compare_place(struct settings *s, const struct ir_text *t, bool old)
{
	struct ir_visible v = visible_of(t->s);
	unsigned was = visible_at(&s->p[0]->visible, &v);
	unsigned is = visible_at(&s->p[1]->visible, &v);

	if (is > was)
		add_setting(s, ACCESS_GAINED, place_text(s->a, &v, is), t->from,
			    old);
	else if (is < was)
		add_setting(s, ACCESS_LOST, place_text(s->a, &v, was), t->from,
			    old);
	else
		keep_setting(s, place_text(s->a, &v, is), t->from,
			     holder_of(&s->p[1]->visible, &v)->from);
}

static void compare_visible(struct settings *s)
{
	vec_each(t, &s->p[1]->visible)
		compare_place(s, t, false);
	vec_each(t, &s->p[0]->visible) {
		struct ir_visible v = visible_of(t->s);

		if (!has_place(&s->p[1]->visible, &v))
			compare_place(s, t, true);
	}
}

static ir_texts protections(struct arena *a, const struct ir_policy *p)
{
	ir_texts out = {0};

	vec_each(x, &p->protect)
		vec_each(f, &x->files)
			*vec_push(a, &out) = (struct ir_text){
				f->from,
				arena_fmt(a, "%.*s for %.*s", STR_ARG(f->line),
					  STR_ARG(x->by))};
	return out;
}

/* --- hardening ----------------------------------------------------------- */

/* An empty folder: what it lies on goes out of sight, and comes back. */
static void compare_tmpfs(struct settings *s)
{
	const char *key = "hardening.tmpfs";
	const ir_texts *list[2] = {&s->p[0]->hardening.tmpfs,
				   &s->p[1]->hardening.tmpfs};
	struct covers c;
	bool empty;

	covers_init(&c, s->a, s->p[0], s->p[1], s->out);
	for (int side = 0; side < 2; side++) {
		vec_each(t, list[side]) {
			const struct ir_text *had =
				find_text(list[!side], t->s);
			struct str text =
				arena_fmt(s->a, "%s %.*s", key, STR_ARG(t->s));

			if (had && side)
				keep_setting(s, text, had->from, t->from);
			if (!had && covers_tell(&c, DOCKER_RUN_tmpfs, t->s,
						text, t->from, side == 0,
						&empty) != COVERS_INSIDE)
				add_setting(s, ACCESS_OTHER,
					    arena_fmt(s->a, "%s %c %.*s", key,
						      side ? '+' : '-',
						      STR_ARG(t->s)),
					    t->from, side == 0);
		}
	}
}

/* Of a profile of somebody's own nothing is known but that unconfined is not
 * tighter: own, one of the two is such. */
static struct value of_seccomp(const ir_opt_str *profile, bool own)
{
	struct value v = of_str(profile, "default");

	v.loose = str_is(v.text, "unconfined") ? 2
		  : own			       ? 0
					       : str_is(v.text, "docker");
	return v;
}

static bool is_own_profile(const ir_opt_str *profile)
{
	return str_starts(profile->v, STR("/"));
}

static void compare_seccomp(struct settings *s, const ir_opt_str *was,
			    const ir_opt_str *is)
{
	bool own = is_own_profile(was) || is_own_profile(is);
	struct value x = of_seccomp(was, own), y = of_seccomp(is, own);

	compare_partly(s, "hardening.seccomp", &x, &y);
}

static void compare_hardening(struct settings *s)
{
	const struct ir_hardening *x = &s->p[0]->hardening;
	const struct ir_hardening *y = &s->p[1]->hardening;

	compare_bool(s, "hardening.read_only", &x->read_only, &y->read_only,
		     true);
	compare_tmpfs(s);
	compare_u64(s, "hardening.pids", &x->pids, &y->pids);
	compare_u64(s, "hardening.memory", &x->memory, &y->memory);
	compare_u64(s, "hardening.cpus, in thousandths,", &x->cpus_milli,
		    &y->cpus_milli);
	compare_str(s, "hardening.user", &x->user, &y->user,
		    "the workspace's owner");
	compare_texts(s, "hardening.capabilities", &x->capabilities,
		      &y->capabilities, true);
	compare_bool(s, "hardening.no_new_privileges", &x->no_new_privileges,
		     &y->no_new_privileges, true);
	compare_seccomp(s, &x->seccomp, &y->seccomp);
	compare_bool(s, "hardening.user_namespaces", &x->user_namespaces,
		     &y->user_namespaces, false);
}

/* --- trace --------------------------------------------------------------- */

static struct value of_trace_engine(const ir_opt_trace_engine *e)
{
	return (struct value){str_of(ir_trace_engine_name(e->v)), e->set,
			      e->from, e->v == IR_TRACE_OFF};
}

/* An event by name, without filters, or with its filters as they are. */
static ir_texts events(struct arena *a, const struct ir_trace *t)
{
	ir_texts out = {0};

	vec_each(e, &t->events) {
		struct buf b;

		buf_init(&b, a);
		buf_add(&b, e->name);
		vec_each(f, &e->filters)
			buf_addf(&b, "%s%.*s",
				 f == e->filters.v ? " where " : ", ",
				 STR_ARG(f->s));
		if (e->optional.v)
			buf_add(&b, STR(", optional"));
		*vec_push(a, &out) = (struct ir_text){e->from, buf_str(&b)};
	}
	return out;
}

static void compare_trace(struct settings *s)
{
	const struct ir_trace *x = &s->p[0]->trace, *y = &s->p[1]->trace;
	struct value engine = of_trace_engine(&x->engine);
	struct value now = of_trace_engine(&y->engine);
	ir_texts was = events(s->a, x), is = events(s->a, y);

	s->silent = true;
	compare_partly(s, "trace.engine", &engine, &now);
	/* What would be traced, where nothing is, is nothing. */
	if (x->engine.v == IR_TRACE_OFF || y->engine.v == IR_TRACE_OFF) {
		s->silent = false;
		return;
	}
	compare_str(s, "trace.version", &x->version, &y->version, "none");
	compare_texts(s, "trace.events", &was, &is, false);
	compare_texts(s, "trace.exclude", &x->exclude, &y->exclude, true);
	compare_size(s, "trace.rotate.size", &x->rotate_bytes,
		     &y->rotate_bytes);
	compare_size(s, "trace.rotate.age", &x->rotate_age_s, &y->rotate_age_s);
	compare_kept(s, "trace.rotate.keep", &x->keep_files, &y->keep_files);
	compare_kept(s, "trace.rotate.total", &x->keep_bytes, &y->keep_bytes);
	compare_bool(s, "trace.reads", &x->reads, &y->reads, true);
	compare_bool(s, "trace.required", &x->required, &y->required, true);
	s->silent = false;
}

/* --- the rest ------------------------------------------------------------ */

static struct value of_resolver(struct arena *a, const ir_opt_resolver *r)
{
	return (struct value){ir_resolver_text(a, &r->v), r->set, r->from, 0};
}

static struct value of_masks(const struct ir_policy *p)
{
	bool hold = ir_masks_hold(p);

	return (struct value){
		str_of(ir_masks_name(hold ? IR_MASKS_HOLD : IR_MASKS_START)),
		p->masks.set, p->masks.from, !hold};
}

/* What is left there can be read by more sessions. */
static struct value of_home(const ir_opt_home *h)
{
	return (struct value){str_of(ir_home_name(h->v)), h->set, h->from,
			      IR_HOME_NONE - h->v};
}

/* Who has the key of one more root can answer for every server. */
static struct value of_roots(const ir_opt_str *file)
{
	struct value v = of_str(file, "the system's roots");

	v.loose = file->set;
	return v;
}

static struct value of_upstream(struct arena *a, const struct ir_upstream *u)
{
	return (struct value){u->set ? upstream_text(a, u) : STR("none"),
			      u->set, u->from, 0};
}

/* Who is on the way is neither more nor less; what goes past a proxy, which
 * might have refused it, is more. */
static void compare_upstream(struct settings *s)
{
	const struct ir_upstream *p = &s->p[0]->upstream;
	const struct ir_upstream *q = &s->p[1]->upstream;
	struct value x = of_upstream(s->a, p), y = of_upstream(s->a, q);
	ir_texts was = upstream_directs(s->a, p);
	ir_texts is = upstream_directs(s->a, q);

	compare_other(s, "upstream", &x, &y);
	if (p->set && q->set)
		compare_texts(s, "upstream.direct", &was, &is, true);
}

static void compare_kinds(struct settings *s)
{
	const struct ir_policy *p = s->p[0], *q = s->p[1];
	struct value x, y;

	x = of_resolver(s->a, &p->resolver);
	y = of_resolver(s->a, &q->resolver);
	compare_other(s, "dns_resolver", &x, &y);
	x = (struct value){str_of(ir_engine_name(p->engine.v)), p->engine.set,
			   p->engine.from, 0};
	y = (struct value){str_of(ir_engine_name(q->engine.v)), q->engine.set,
			   q->engine.from, 0};
	compare_other(s, "engine", &x, &y);
	x = (struct value){str_of(ir_runtime_name(p->runtime.v)),
			   p->runtime.set, p->runtime.from, 0};
	y = (struct value){str_of(ir_runtime_name(q->runtime.v)),
			   q->runtime.set, q->runtime.from, 0};
	compare_other(s, "runtime", &x, &y);
	x = (struct value){str_of(ir_tls_name(p->tls.v)), p->tls.set,
			   p->tls.from, p->tls.v == IR_TLS_VERIFY};
	y = (struct value){str_of(ir_tls_name(q->tls.v)), q->tls.set,
			   q->tls.from, q->tls.v == IR_TLS_VERIFY};
	compare_ordered(s, "tls", &x, &y);
	x = of_masks(p);
	y = of_masks(q);
	compare_ordered(s, "masks", &x, &y);
	x = of_home(&p->home);
	y = of_home(&q->home);
	compare_ordered(s, "home", &x, &y);
	x = of_roots(&p->upstream_ca);
	y = of_roots(&q->upstream_ca);
	compare_partly(s, "upstream_ca", &x, &y);
	compare_upstream(s);
}

static struct value of_trust(const ir_opt_trust *t)
{
	struct value v = {.set = t->set, .from = t->from};

	switch (t->v) {
	case IR_TRUST_NEVER:
		v.text = STR("never");
		return v;
	case IR_TRUST_ASK:
		v.text = STR("ask");
		v.loose = 1;
		return v;
	case IR_TRUST_ALWAYS:
		v.text = STR("always");
		v.loose = 2;
		return v;
	}
	abort();
}

/* --- how long a request waits -------------------------------------------- */

/* All of an entry of ask but that, which is its canonical text's last word. */
static struct str but_wait(const struct ir_grant *g)
{
	size_t end = g->canon.n;

	while (g->canon.p[end - 1] != ' ')
		end--;
	return str_slice(g->canon, 0, end - 1);
}

static struct value of_wait(struct arena *a, const struct ir_grant *g)
{
	bool written = g->wait_s.from.at.beg != g->from.at.beg;

	return (struct value){ir_wait_text(a, g), written, g->wait_s.from,
			      g->wait_s.v};
}

static void compare_wait(struct settings *s, const struct ir_grant *was,
			 const struct ir_grant *is)
{
	struct value x = of_wait(s->a, was), y = of_wait(s->a, is);
	struct str key =
		arena_fmt(s->a, "wait of %.*s", STR_ARG(but_wait(is)));

	compare_ordered(s, key.p, &x, &y);
}

/* Of the entries from *i on that differ in nothing else, which are passed. */
static const struct ir_grant *longest_of(const ir_grants *list, uint32_t *i)
{
	const struct ir_grant *first = &list->v[*i], *best = first;

	for (; *i < list->n &&
	       str_eq(but_wait(first), but_wait(&list->v[*i]));
	     (*i)++)
		if (list->v[*i].wait_s.v > best->wait_s.v)
			best = &list->v[*i];
	return best;
}

/* Entries that only one of the two has are told as requests are. */
static void compare_waits(struct settings *s)
{
	const ir_grants *was = &s->p[0]->ask, *is = &s->p[1]->ask;
	uint32_t i = 0, k = 0;

	while (i < was->n && k < is->n) {
		int c = str_cmp(but_wait(&was->v[i]), but_wait(&is->v[k]));

		if (c < 0) {
			i++;
		} else if (c > 0) {
			k++;
		} else {
			const struct ir_grant *x = longest_of(was, &i);
			const struct ir_grant *y = longest_of(is, &k);

			compare_wait(s, x, y);
		}
	}
}

/* Nothing that is reached, or held back, hangs on it. */
static struct value of_on_refusal(struct arena *a,
				  const struct ir_on_refusal *r)
{
	return (struct value){r->set ? ir_on_refusal_text(a, r)
				     : STR("as usual"),
			      r->set, r->from, 0};
}

void settings_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out)
{
	struct settings s = {.a = a, .p = {old, now}, .out = out};
	struct value x = of_trust(&old->workspace_trust);
	struct value y = of_trust(&now->workspace_trust);
	struct value told = of_on_refusal(a, &old->on_refusal);
	struct value tells = of_on_refusal(a, &now->on_refusal);
	ir_texts was = credentials(a, old), is = credentials(a, now);

	compare_str(&s, "image", &old->image, &now->image, "none");
	compare_str(&s, "uplink", &old->uplink, &now->uplink,
		    "docker's bridge");
	compare_bool(&s, "ssl_insecure", &old->ssl_insecure, &now->ssl_insecure,
		     false);
	compare_bool(&s, "ssh_agent", &old->ssh_agent, &now->ssh_agent, false);
	compare_kinds(&s);
	compare_ordered(&s, "workspace_trust", &x, &y);
	compare_other(&s, "on_refusal", &told, &tells);
	compare_hardening(&s);
	compare_trace(&s);
	compare_texts(&s, "credentials", &was, &is, true);
	compare_texts(&s, "ports", &old->ports, &now->ports, true);
	compare_visible(&s);
	compare_waits(&s);
	was = protections(a, old);
	is = protections(a, now);
	compare_texts(&s, "protect", &was, &is, false);
}
