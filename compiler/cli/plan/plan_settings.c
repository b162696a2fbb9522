/*
 * The part of the plan's text about how a session is run: what somebody set, a
 * row each, and what is as usual.
 */
#include "compiler/cli/plan/parts.h"

#include "compiler/emit/docker/agent.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/emit/git/known_hosts.h"
#include "compiler/ir/image.h"
#include "compiler/ir/text.h"
#include "compiler/ir/natively.h"
#include "compiler/ir/upstream.h"

#include <stdlib.h>
#include <string.h>

/* Where the second column begins. */
#define KEY_COLUMNS 14

/* What somebody set is a row; what nobody set goes into *usual. */
struct settings {
	const struct view *v;
	const struct plan_model *m;
	struct buf usual;
};

/* Of what nobody set, that which differs from machine to machine. */
static bool is_telling(const char *key)
{
	static const char *const keys[] = {"image",    "sees",	   "engine",
					   "masks",    "resolver", "traced",
					   "decrypted"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static void put_setting(struct settings *s, const char *key, struct str value,
			struct ir_origin from)
{
	struct str shown = view_cleaned(s->m->a, value);

	if (from.layer == LAYER_FLOOR && !s->m->all && !is_telling(key))
		return;
	if (from.layer == LAYER_FLOOR)
		buf_addf(&s->usual, "%s%s: %.*s", s->usual.n ? "; " : "", key,
			 STR_ARG(shown));
	else
		view_row(s->v, 2, VIEW_PLAIN,
			 arena_fmt(s->m->a, "%-*s%.*s", KEY_COLUMNS, key,
				   STR_ARG(shown)),
			 model_source(s->m, from));
}

/* Where one way is the native engine's and the other Docker's: the words for
 * those that may run this. */
static struct str by_engine(const struct settings *s, const char *native,
			    const char *docker)
{
	const struct plan_model *m = s->m;

	if (m->by_native && m->by_docker)
		return arena_fmt(m->a, "natively %s; by docker %s", native,
				 docker);
	return str_of(m->by_native ? native : docker);
}

/* Of what is left open: whether the machine decides, or which line did. */
static void put_engine(struct settings *s)
{
	const struct plan_model *m = s->m;
	const ir_opt_engine *e = &m->policy->engine;
	struct natively own;

	if (m->obstacle.text.n)
		put_setting(s, "engine",
			    arena_fmt(m->a, "docker; not native: %.*s",
				      STR_ARG(m->obstacle.text)),
			    (struct ir_origin){.layer = LAYER_GLOBAL,
					       .at = m->obstacle.at});
	else if (e->v == IR_ENGINE_AUTO &&
		 natively_alone(m->policy, 0, &own))
		put_setting(
			s, "engine",
			arena_fmt(m->a,
				  "native; not docker: %s is the native engine's",
				  own.what),
			own.from);
	else
		put_setting(
			s, "engine",
			e->v == IR_ENGINE_AUTO
				? STR("auto (native; docker where that does not work)")
				: str_of(ir_engine_name(e->v)),
			e->from);
}

static const char *home_text(enum ir_home h)
{
	switch (h) {
	case IR_HOME_SHARED:
		return "shared: one, of all sessions";
	case IR_HOME_WORKSPACE:
		return "workspace: one of its own, for all of its sessions";
	case IR_HOME_NONE:
		return "none: an empty one, gone with the session";
	}
	abort();
}

static struct str bytes_text(struct arena *a, uint64_t n)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB",
					    "TiB"};
	size_t u = 0;

	while (u + 1 < ARRAY_LEN(units) && n && n % 1024 == 0) {
		n /= 1024;
		u++;
	}
	return arena_fmt(a, "%llu %s", (unsigned long long)n, units[u]);
}

static struct str cpus_text(struct arena *a, uint64_t milli)
{
	struct str s =
		arena_fmt(a, "%llu.%03llu", (unsigned long long)milli / 1000,
			  (unsigned long long)milli % 1000);

	while (s.p[s.n - 1] == '0')
		s.n--;
	if (s.p[s.n - 1] == '.')
		s.n--;
	return arena_str(a, s);
}

static struct str system_calls(const struct settings *s)
{
	const struct ir_policy *p = s->m->policy;
	struct str profile = p->hardening.seccomp.v;

	if (seccomp_wanted(p))
		return arena_fmt(s->m->a, "%u, in seccomp.json",
				 seccomp_calls(p));
	if (str_is(profile, "default") || str_is(profile, "docker"))
		return STR("what Docker's default permits");
	if (str_is(profile, "unconfined"))
		return STR("all, unfiltered");
	return profile;
}

/* What takes a control group, which a user has where one was handed over. */
static struct str limit_text(const struct settings *s, struct str text,
			     const char *natively)
{
	return arena_fmt(s->m->a, "%.*s%s", STR_ARG(text),
			 s->m->by_native ? natively : "");
}

static void put_hardening(struct settings *s)
{
	const struct ir_policy *p = s->m->policy;
	const struct ir_hardening *h = &p->hardening;
	struct ir_origin none = {0};
	struct arena *a = s->m->a;

	put_setting(s, "user",
		    h->user.set ? h->user.v : STR("owner of the workspace"),
		    h->user.set ? h->user.from : none);
	put_setting(
		s, "root",
		h->read_only.v ? STR("read-only")
		: agent_writes_root(p)
			? STR("writable, in memory, thrown away")
			: by_engine(s, "read-only", "writable, thrown away"),
		h->read_only.from);
	vec_each(t, &h->tmpfs)
		put_setting(s, "tmpfs", t->s, t->from);
	if (h->capabilities.n == 0)
		put_setting(s, "capabilities", STR("none"), none);
	vec_each(c, &h->capabilities)
		put_setting(s, "capability", c->s, c->from);
	put_setting(s, "privileges",
		    h->no_new_privileges.v ? STR("never new ones")
					   : STR("set-uid programs work"),
		    h->no_new_privileges.from);
	put_setting(s, "system calls", system_calls(s), h->seccomp.from);
	put_setting(s, "namespaces",
		    h->user_namespaces.set && h->user_namespaces.v
			    ? STR("the agent makes its own")
			    : STR("none of its own"),
		    h->user_namespaces.from);
	put_setting(s, "processes",
		    arena_fmt(a, "at most %s", view_number(a, h->pids.v).p),
		    h->pids.from);
	put_setting(
		s, "memory",
		h->memory.set
			? limit_text(
				  s, bytes_text(a, h->memory.v),
				  ", natively of each process where you have no control group")
			: STR("no limit"),
		h->memory.set ? h->memory.from : none);
	put_setting(
		s, "cpus",
		h->cpus_milli.set
			? limit_text(s, cpus_text(a, h->cpus_milli.v),
				     ", natively with a control group alone")
			: STR("no limit"),
		h->cpus_milli.set ? h->cpus_milli.from : none);
}

static void docker_args(struct settings *s)
{
	static const char *const classes[] = {
		[ARG_HARMLESS] = "",
		[ARG_WIDENING] = "  (widens)",
		[ARG_UNDOING] = "  (undoes the sandbox)",
		[ARG_OURS] = "",
	};
	const arg_list *list = &s->m->policy->docker_args;
	struct arena *a = s->m->a;
	uint32_t i = 0;

	vec_each(arg, list) {
		if (view_more(s->v, 2, i++, list->n))
			break;
		if (arg->is_publish) {
			put_setting(s, "publishes", arg->publish.text,
				    arg->from);
			continue;
		}
		view_row(s->v, 2,
			 arg->class == ARG_HARMLESS ? VIEW_PLAIN : VIEW_WARN,
			 arena_fmt(a, "%-*s--%s%s%s%s", KEY_COLUMNS,
				   arg->home == ARG_GATE ? "gate gets"
				   : natively_runs(s->m->policy)
					   ? "engine gets"
					   : "docker gets",
				   view_cleaned(a, arg->option).p,
				   arg->has_value ? " " : "",
				   view_cleaned(a, arg->value).p,
				   classes[arg->class]),
			 model_source(s->m, arg->from));
	}
}

/* What has a section of its own where it is told in full. */
static void put_folded(struct settings *s)
{
	const struct ir_policy *p = s->m->policy;

	if (plan_trace_is_usual(s->m))
		put_setting(s, "traced",
			    arena_fmt(s->m->a, "%u events%s", p->trace.events.n,
				      s->m->by_native
					      ? ", natively what is asked for"
					      : ""),
			    (struct ir_origin){0});
	if (plan_decrypted(p) == 0)
		put_setting(s, "decrypted", STR("nothing"),
			    (struct ir_origin){0});
	buf_adds(&s->usual, s->usual.n ? "; all else as is usual"
				       : "all else as is usual");
}

static void put_upstream(struct settings *s)
{
	const struct ir_upstream *u = &s->m->policy->upstream;
	ir_texts direct = upstream_directs(s->m->a, u);

	if (!u->set)
		return;
	put_setting(s, "upstream", upstream_text(s->m->a, u), u->from);
	vec_each(d, &direct)
		put_setting(s, d == direct.v ? "direct" : "", d->s, d->from);
}

static struct str uplink_text(const struct settings *s)
{
	const struct ir_policy *p = s->m->policy;
	const char *native =
		ir_uplink_sockets(p)
			? "sockets of this machine's, each asked for: no packet leaves"
			: "a tap of pasta's, as you, without this machine's loopback";

	if (ir_uplink_named(p))
		return p->uplink.v;
	return by_engine(s, native, "Docker's own bridge");
}

void plan_settings(const struct view *v, const struct plan_model *m)
{
	struct settings s = {.v = v, .m = m};
	const struct ir_policy *p = m->policy;

	buf_init(&s.usual, m->a);
	view_title(v, "how it is run", 0, NULL);
	if (image_is_own(p->image.v))
		put_setting(&s, "root",
			    arena_fmt(m->a,
				      "%.*s; of this machine nothing else",
				      STR_ARG(p->image.v)),
			    p->image.from);
	else if (m->by_native)
		put_setting(
			&s, "sees",
			STR("of this machine /usr, /bin, /sbin, /lib* and what programs need of /etc, to be read; no home of yours"),
			(struct ir_origin){0});
	if (m->by_docker)
		put_setting(&s, "image", p->image.v, p->image.from);
	if (p->image_spared.set)
		put_setting(&s, "image",
			    arena_fmt(m->a, "not used by native: %.*s",
				      STR_ARG(p->image_spared.v)),
			    p->image_spared.from);
	vec_each(t, &p->ports)
		put_setting(&s, t == p->ports.v ? "publishes" : "", t->s,
			    t->from);
	vec_each(t, &p->visible)
		put_setting(&s, t == p->visible.v ? "visible" : "", t->s,
			    t->from);
	put_engine(&s);
	put_setting(&s, "runtime", str_of(ir_runtime_name(p->runtime.v)),
		    p->runtime.from);
	put_setting(
		&s, "masks",
		ir_masks_hold(p)
			? STR("held by a view: every access is judged")
			: STR("made at the start: later files and host renames are bare"),
		p->masks.from);
	if (p->home.set)
		put_setting(&s, "home", str_of(home_text(p->home.v)),
			    p->home.from);
	vec_each(f, &p->fast)
		put_setting(&s, f == p->fast.v ? "fast" : "",
			    arena_fmt(m->a, "%.*s/: as it is on the host",
				      STR_ARG(f->s)),
			    f->from);
	put_hardening(&s);
	put_setting(&s, "uplink", uplink_text(&s),
		    p->uplink.set ? p->uplink.from : (struct ir_origin){0});
	if (p->on_refusal.set)
		put_setting(&s, "on refusal",
			    view_cleaned(m->a, ir_on_refusal_text(
						       m->a, &p->on_refusal)),
			    p->on_refusal.from);
	put_upstream(&s);
	if (p->upstream_ca.set)
		put_setting(
			&s, "roots",
			arena_fmt(
				m->a,
				"the system's, and those in %.*s at the start",
				STR_ARG(p->upstream_ca.v)),
			p->upstream_ca.from);
	put_setting(&s, "resolver", ir_resolver_text(m->a, &p->resolver.v),
		    p->resolver.from);
	if (known_hosts_wanted(p))
		put_setting(&s, "ssh knows",
			    arena_fmt(m->a, "%.*s, by the keys they publish",
				      STR_ARG(known_hosts_names(m->a, p))),
			    (struct ir_origin){0});
	put_setting(
		&s, "passed on",
		m->by_native
			? STR("your TERM, COLORTERM, LANG and TZ, natively what is seen of PATH too, at the start")
			: STR("your TERM, COLORTERM, LANG and TZ, at the start"),
		(struct ir_origin){0});
	docker_args(&s);
	if (!m->all)
		put_folded(&s);
	if (s.usual.n)
		view_paragraph(v, str_of(s.usual.p));
}
