/*
 * policy.json: the normalised policy, in the keys of a policy file.
 *
 * JSON is YAML: read as a policy file it compiles to itself. Grants have their
 * long form, presets and layers are dissolved, events expanded and defaults
 * written out. Left out is what comes again by itself, the built-in floor, and
 * workspace_trust and on_refusal, which say who may write a policy and who is
 * told of refusals, and not what it is. No
 * places are in it: lines may move.
 */
#include "compiler/emit/parts.h"
#include "compiler/ir/visible.h"

#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/ir/upstream.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- values -------------------------------------------------------------- */

static void put_opt_bool(cJSON *o, const char *key, const ir_opt_bool *v)
{
	if (v->set)
		json_put_bool(o, key, v->v);
}

static void put_opt_str(cJSON *o, const char *key, const ir_opt_str *v)
{
	if (v->set)
		json_put_str(o, key, v->v);
}

static void put_opt_u64(cJSON *o, const char *key, const ir_opt_u64 *v)
{
	if (v->set)
		json_put_u64(o, key, v->v);
}

struct unit {
	char letter;
	uint64_t size;
};

/* In the largest unit that divides it, the last of them 1: 536870912 is "512m".
 */
static void put_unit(struct arena *a, cJSON *o, const char *key,
		     const ir_opt_u64 *v, const struct unit *unit)
{
	if (!v->set)
		return;
	while (v->v % unit->size)
		unit++;
	json_put_str(
		o, key,
		arena_fmt(a, "%" PRIu64 "%c", v->v / unit->size, unit->letter));
}

static void put_size(struct arena *a, cJSON *o, const char *key,
		     const ir_opt_u64 *v)
{
	static const struct unit units[] = {
		{'t', 1ull << 40}, {'g', 1u << 30}, {'m', 1u << 20},
		{'k', 1u << 10},   {'b', 1},
	};

	put_unit(a, o, key, v, units);
}

static void put_age(struct arena *a, cJSON *o, const char *key,
		    const ir_opt_u64 *v)
{
	static const struct unit units[] = {
		{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

	put_unit(a, o, key, v, units);
}

/* 1500 is "1.5". */
static void put_thousandths(struct arena *a, cJSON *o, const char *key,
			    const ir_opt_u64 *v)
{
	struct str s;

	if (!v->set)
		return;
	s = arena_fmt(a, "%" PRIu64 ".%03" PRIu64, v->v / 1000, v->v % 1000);
	while (str_ends(s, STR("0")))
		s.n--;
	if (str_ends(s, STR(".")))
		s.n--;
	json_put_str(o, key, s);
}

static void put_texts(cJSON *o, const char *key, const ir_texts *texts)
{
	cJSON *list = json_array();

	vec_each(t, texts)
		json_push_str(list, t->s);
	json_put(o, key, list);
}

static void put_patterns(cJSON *o, const char *key, const ir_patterns *patterns)
{
	cJSON *list = json_array();

	vec_each(p, patterns)
		if (p->from.layer != LAYER_FLOOR && !p->fast)
			json_push_str(list, p->line);
	json_put(o, key, list);
}

/* --- grants -------------------------------------------------------------- */

static void push_port(struct arena *a, cJSON *list, const struct ir_port *p)
{
	char room[64];
	struct buf b;

	buf_init_in(&b, a, room, sizeof(room));
	buf_addu(&b, p->lo);
	if (p->lo != p->hi) {
		buf_addc(&b, '-');
		buf_addu(&b, p->hi);
	}
	buf_addc(&b, '/');
	buf_adds(&b, ir_proto_name(p->proto));
	json_push_str(list, buf_str(&b));
}

static void put_http(cJSON *o, const struct ir_grant *g)
{
	cJSON *list = json_array();

	vec_each(h, &g->http) {
		cJSON *rule = json_object();

		if (!h->any_method)
			put_texts(rule, "methods", &h->methods);
		if (!h->any_path)
			put_texts(rule, "paths", &h->paths);
		json_push(list, rule);
	}
	json_put(o, "http", list);
}

static cJSON *grant_json(struct arena *a, const struct ir_grant *g)
{
	cJSON *o = json_object(), *ports = json_array();

	json_put_str(o, "dest", ir_dest_text(a, &g->dest));
	if (g->dest.has_port) /* until normalise has moved it */
		push_port(a, ports, &g->dest.port);
	vec_each(p, &g->ports)
		push_port(a, ports, p);
	if (g->dest.kind == IR_DEST_URL)
		cJSON_Delete(ports); /* the URL says it */
	else
		json_put(o, "ports", ports);
	if (g->has_http)
		put_http(o, g);
	if (g->tls.set)
		json_put_cstr(o, "tls", ir_tls_name(g->tls.v));
	if (g->private.v)
		json_put_bool(o, "private", true);
	if (g->lasts.set)
		json_put_cstr(o, "for", ir_lasts_name(g->lasts.v));
	if (g->wait_s.set)
		json_put_str(o, "wait", ir_wait_text(a, g));
	return o;
}

static void put_grants(struct arena *a, cJSON *o, const char *key,
		       const ir_grants *grants)
{
	cJSON *list = json_array();

	vec_each(g, grants)
		if (g->from.layer != LAYER_FLOOR)
			json_push(list, grant_json(a, g));
	json_put(o, key, list);
}

/* --- the rest ------------------------------------------------------------ */

static void put_hardening(struct arena *a, cJSON *root,
			  const struct ir_hardening *h)
{
	cJSON *o = json_object();

	put_opt_bool(o, "read_only", &h->read_only);
	put_texts(o, "tmpfs", &h->tmpfs);
	put_opt_u64(o, "pids", &h->pids);
	put_size(a, o, "memory", &h->memory);
	put_thousandths(a, o, "cpus", &h->cpus_milli);
	put_opt_str(o, "user", &h->user);
	put_texts(o, "capabilities", &h->capabilities);
	put_opt_bool(o, "no_new_privileges", &h->no_new_privileges);
	put_opt_str(o, "seccomp", &h->seccomp);
	put_opt_bool(o, "user_namespaces", &h->user_namespaces);
	json_put(root, "hardening", o);
}

static void put_protect(cJSON *root, const struct ir_policy *p)
{
	cJSON *list = json_array();

	vec_each(e, &p->protect) {
		cJSON *o = json_object();

		put_patterns(o, "files", &e->files);
		json_put_str(o, "by", e->by);
		json_push(list, o);
	}
	json_put(root, "protect", list);
}

static void put_visible(struct arena *a, cJSON *root, const ir_texts *texts)
{
	cJSON *list;

	if (texts->n == 0)
		return;
	list = json_array();
	vec_each(t, texts) {
		struct ir_visible v = visible_of(t->s);
		cJSON *o = json_object();

		json_put_str(o, "path",
			     arena_fmt(a, "%s%.*s", v.in_home ? "~" : "",
				       STR_ARG(v.path)));
		json_put_cstr(o, "mode", v.write ? "write" : "read");
		json_push(list, o);
	}
	json_put(root, "visible", list);
}

static void put_credentials(struct arena *a, cJSON *root,
			    const struct ir_policy *p)
{
	cJSON *list = json_array();

	vec_each(c, &p->credentials) {
		cJSON *o = json_object();

		json_put_str(o, "host",
			     c->host.has_port
				     ? arena_fmt(a, "%.*s:%u",
						 STR_ARG(c->host.u.host.name),
						 c->host.port.lo)
				     : c->host.u.host.name);
		if (c->fields.n) {
			json_put_str(o, "file", c->source);
			put_texts(o, "fields", &c->fields);
			if (c->has_refresh)
				json_put_str(o, "refresh",
					     ir_dest_text(a, &c->refresh));
			json_push(list, o);
			continue;
		}
		json_put_str(o, "header", c->header);
		json_put_str(o, c->from_env ? "from_env" : "from_file",
			     c->source);
		json_put_str(o, "format", c->format);
		json_push(list, o);
	}
	json_put(root, "credentials", list);
}

static void put_trace(struct arena *a, cJSON *root, const struct ir_trace *t)
{
	cJSON *o = json_object(), *events = json_array();
	cJSON *rotate = json_object();

	json_put_cstr(o, "engine", ir_trace_engine_name(t->engine.v));
	put_opt_str(o, "version", &t->version);
	vec_each(e, &t->events) {
		cJSON *event = json_object();

		json_put_str(event, "event", e->name);
		if (e->filters.n)
			put_texts(event, "filters", &e->filters);
		put_opt_bool(event, "optional", &e->optional);
		json_push(events, event);
	}
	json_put(o, "events", events);
	put_texts(o, "exclude", &t->exclude);
	put_opt_bool(o, "reads", &t->reads);
	put_size(a, rotate, "size", &t->rotate_bytes);
	put_age(a, rotate, "age", &t->rotate_age_s);
	put_opt_u64(rotate, "keep", &t->keep_files);
	put_size(a, rotate, "total", &t->keep_bytes);
	if (rotate->child)
		json_put(o, "rotate", rotate);
	else
		cJSON_Delete(rotate);
	put_opt_bool(o, "required", &t->required);
	json_put(root, "trace", o);
}

static void put_never_net(struct arena *a, cJSON *o, const struct ir_never *n)
{
	cJSON *ports = json_array();

	if (n->has_dest)
		json_put_str(o, "dest", ir_dest_text(a, &n->dest));
	if (n->dest.has_port)
		push_port(a, ports, &n->dest.port);
	vec_each(p, &n->ports)
		push_port(a, ports, p);
	if (ports->child)
		json_put(o, "ports", ports);
	else
		cJSON_Delete(ports);
	if (n->methods.n)
		put_texts(o, "methods", &n->methods);
	if (n->paths.n)
		put_texts(o, "paths", &n->paths);
}

static cJSON *never_json(struct arena *a, const struct ir_never *n)
{
	cJSON *o = json_object();

	switch (n->kind) {
	case IR_NEVER_NET:
		put_never_net(a, o, n);
		return o;
	case IR_NEVER_READ:
		json_put_str(o, "read", n->pattern);
		return o;
	case IR_NEVER_WRITE:
		json_put_str(o, "write", n->pattern);
		return o;
	case IR_NEVER_ARG:
		json_put_str(o, "docker_arg", n->arg);
		return o;
	}
	abort();
}

static void put_requests(cJSON *o, const char *key, const ir_requests *list)
{
	cJSON *words = json_array();

	vec_each(r, list)
		json_push_str(words, r->text);
	json_put(o, key, words);
}

static void put_tests(struct arena *a, cJSON *root, const struct ir_tests *t)
{
	cJSON *o = json_object(), *list = json_array();

	put_requests(o, "allow", &t->allow);
	if (t->ask.n)
		put_requests(o, "ask", &t->ask);
	put_requests(o, "deny", &t->deny);
	vec_each(n, &t->never)
		json_push(list, never_json(a, n));
	json_put(o, "never", list);
	json_put(root, "tests", o);
}

static void put_purposes(struct arena *a, cJSON *root, const ir_purposes *list)
{
	cJSON *items;

	if (list->n == 0)
		return;
	items = json_array();
	vec_each(x, list) {
		cJSON *o = json_object();

		json_put_str(o, "dest", ir_dest_text(a, &x->dest));
		json_put_str(o, "reason", x->reason);
		json_push(items, o);
	}
	json_put(root, "refused_on_purpose", items);
}

/* Each begins behind one of these, which strings may hold as well. */
static size_t values_at_most(struct str text)
{
	size_t n = 1;

	for (size_t i = 0; i < text.n; i++) {
		char ch = text.p[i];

		n += ch == ',' || ch == ':' || ch == '[' || ch == '{';
	}
	return n;
}

/* What could not be read again could be neither checked nor compared. */
static bool is_readable(const struct emit_in *in, struct str text)
{
	size_t n = values_at_most(text);

	if (text.n <= LIMIT_DERIVED_BYTES && n <= LIMIT_DERIVED_NODES)
		return true;
	diag_error(
		in->diags, DIAG_TOO_BIG, (struct span){0},
		"the policy, written out, has %zu bytes and some %zu values, at most %u and %u",
		text.n, n, LIMIT_DERIVED_BYTES, LIMIT_DERIVED_NODES);
	diag_help(
		in->diags,
		"grant networks or wildcards instead of single names, and ranges instead of single ports");
	return false;
}

static void put_masks(cJSON *root, const struct ir_policy *p)
{
	cJSON *o;

	if (p->fast.n == 0) {
		json_put_cstr(root, "masks", ir_masks_name(p->masks.v));
		return;
	}
	o = json_object();
	json_put_bool(o, "hold", true);
	put_texts(o, "fast", &p->fast);
	json_put(root, "masks", o);
}

static void put_upstream(struct arena *a, cJSON *root,
			 const struct ir_upstream *u)
{
	ir_texts direct = upstream_directs(a, u);
	cJSON *o;

	if (!u->set)
		return;
	o = json_object();
	json_put_str(o, "proxy",
		     arena_fmt(a, "http://%.*s", STR_ARG(upstream_at(a, u))));
	if (u->has_login)
		json_put_str(o, u->from_env ? "from_env" : "from_file",
			     u->source);
	if (direct.n)
		put_texts(o, "direct", &direct);
	json_put(root, "upstream", o);
}

bool policy_json_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_policy *p = in->policy;
	cJSON *root = json_object();
	struct arena *a = in->a;

	put_grants(a, root, "allow", &p->allow);
	if (p->ask.n)
		put_grants(a, root, "ask", &p->ask);
	put_grants(a, root, "deny", &p->deny);
	put_patterns(root, "ignore", &p->ignore);
	put_patterns(root, "readonly", &p->readonly);
	put_masks(root, p);
	json_put_str(root, "dns_resolver", ir_resolver_text(a, &p->resolver.v));
	json_put_cstr(root, "tls", ir_tls_name(p->tls.v));
	put_opt_str(root, "uplink", &p->uplink);
	put_upstream(a, root, &p->upstream);
	put_opt_str(root, "upstream_ca", &p->upstream_ca);
	if (p->ports.n)
		put_texts(root, "ports", &p->ports);
	put_visible(a, root, &p->visible);
	put_opt_bool(root, "ssl_insecure", &p->ssl_insecure);
	put_opt_bool(root, "ssh_agent", &p->ssh_agent);
	if (p->home.set)
		json_put_cstr(root, "home", ir_home_name(p->home.v));
	put_texts(root, "args", &p->args);
	put_opt_str(root, "image", &p->image);
	json_put_cstr(root, "engine", ir_engine_name(p->engine.v));
	json_put_cstr(root, "runtime", ir_runtime_name(p->runtime.v));
	put_hardening(a, root, &p->hardening);
	put_protect(root, p);
	put_credentials(a, root, p);
	put_trace(a, root, &p->trace);
	put_tests(a, root, &p->tests);
	put_purposes(a, root, &p->purposes);
	json_add(out, root);
	return is_readable(in, buf_str(out));
}
