/*
 * What a policy leaves open although it is enforced to the letter: "residual
 * risk" in the plan. Only what applies to the policy at hand.
 */
#include "compiler/cli/plan/parts.h"

#include "compiler/cli/text/view.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/ir/image.h"
#include "compiler/ir/published.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/upstream.h"
#include "compiler/ir/visible.h"

struct finder {
	struct arena *a;
	const struct ir_policy *p;
	risk_list *out;
};

static void add_risk(struct finder *f, const char *id, struct ir_origin from,
		     struct str text)
{
	*vec_push(f->a, f->out) = (struct risk){id, text, from};
}

/* What a grant is given by; a URL counts as what stands in it. */
static enum ir_dest_kind dest_kind(const struct ir_grant *g)
{
	return g->dest.kind == IR_DEST_URL ? g->dest.u.url.who : g->dest.kind;
}

static const struct ir_grant *first_grant(const struct ir_policy *p,
					  enum ir_dest_kind kind)
{
	vec_each(g, &p->allow)
		if (dest_kind(g) == kind)
			return g;
	return NULL;
}

/* A risk of the first grant or denial that is so; is: one of those below. */
static void add_first(struct finder *f, const char *id, const ir_grants *of,
		      bool (*is)(const struct finder *,
				 const struct ir_grant *),
		      struct str text)
{
	vec_each(g, of) {
		if (!is(f, g))
			continue;
		add_risk(f, id, g->from, text);
		return;
	}
}

/* --- names --------------------------------------------------------------- */

/* What nobody reads behind a name that is granted. */
static bool is_raw(const struct finder *f, const struct ir_grant *g)
{
	(void)f;
	return dest_kind(g) != IR_DEST_CIDR && !ir_grant_http(g);
}

static bool is_spliced(const struct finder *f, const struct ir_grant *g)
{
	return is_raw(f, g) && !inspection_decrypts(f->p, g);
}

static bool is_unread_udp(const struct finder *f, const struct ir_grant *g)
{
	vec_each(p, &g->ports)
		if (p->proto == IR_PROTO_UDP)
			return is_raw(f, g);
	return false;
}

static bool is_private(const struct finder *f, const struct ir_grant *g)
{
	(void)f;
	return g->private.set && g->private.v;
}

static void find_names(struct finder *f)
{
	const ir_grants *allow = &f->p->allow;
	const struct ir_grant *pattern = first_grant(f->p, IR_DEST_PATTERN);

	if (pattern || first_grant(f->p, IR_DEST_HOST)) {
		add_first(
			f, "fronting", allow, is_spliced,
			STR("where only the name of a TLS connection is checked, a server with several sites can be asked for another one inside it: 'tls: inspect' closes that"));
		add_first(
			f, "shared-address", allow, is_raw,
			STR("other protocols than TLS and HTTP state no name: without 'http' rules they reach whoever listens at an address that a granted name leads to"));
		add_first(
			f, "datagrams", allow, is_unread_udp,
			STR("datagrams are not read: UDP that is granted by name reaches whoever listens at an address that the name leads to, and QUIC (HTTP/3) and DTLS there may state another name, and ask for anything"));
		add_risk(
			f, "dead-drop", (struct ir_origin){0},
			STR("a granted server that takes uploads (gists, object storage, an API with somebody else's key) is a way out for all that the agent can read"));
	}
	if (pattern)
		add_risk(
			f, "dns-labels", pattern->from,
			arena_fmt(
				f->a,
				"labels under '%s' reach the name servers of its zone: a slow channel to whoever runs them",
				view_cleaned(f->a,
					     ir_dest_text(f->a, &pattern->dest))
					.p));
	add_first(
		f, "private-names", allow, is_private,
		STR("with 'private: true' whoever runs a name's zone chooses which address of your private networks it opens"));
}

/* --- addresses ----------------------------------------------------------- */

static const struct ir_grant *first_of_floor(const struct ir_policy *p)
{
	vec_each(g, &p->allow) {
		const struct cidr *net = ir_dest_net(&g->dest);

		if (net && !cidr_is_machine(net) &&
		    addr_scope(&net->addr) == ADDR_NEVER &&
		    ir_grant_reaches(g, &net->addr))
			return g;
	}
	return NULL;
}

static bool is_machine(const struct finder *f, const struct ir_grant *g)
{
	(void)f;
	return ir_dest_machine(&g->dest);
}

static bool is_network(const struct finder *f, const struct ir_grant *g)
{
	(void)f;
	return g->dest.kind == IR_DEST_CIDR && !ir_dest_machine(&g->dest);
}

static void find_addresses(struct finder *f)
{
	const struct ir_grant *any = first_grant(f->p, IR_DEST_ANY);
	const struct ir_grant *floor = first_of_floor(f->p);

	if (any)
		add_risk(
			f, "any-destination", any->from,
			STR("'*' reaches every public address: all that the agent can read can leave"));
	add_first(
		f, "unnamed", &f->p->allow, is_network,
		STR("for granted addresses no name is checked: whoever answers there is trusted"));
	add_first(
		f, "host-port", &f->p->allow, is_machine,
		STR("'host': what listens at a granted port of this machine takes the agent for a program of yours"));
	if (floor)
		add_risk(
			f, "floor-opened", floor->from,
			arena_fmt(
				f->a,
				"'%s' opens a part of what is otherwise never reachable (link-local, metadata services, loopback)",
				ir_dest_text(f->a, &floor->dest).p));
	if (f->p->resolver.set)
		add_risk(
			f, "plain-dns", f->p->resolver.from,
			STR("the names that are asked for travel to the upstream resolver in the clear"));
}

/* --- denials ------------------------------------------------------------- */

static bool meets_network(const struct ir_policy *p, const struct ir_grant *d)
{
	vec_each(g, &p->allow)
		if (g->dest.kind == IR_DEST_CIDR && !g->has_http &&
		    inspection_meets(&d->ports, g))
			return true;
	return false;
}

/* By name, and not seen at addresses that are granted as such. */
static bool is_unnamed(const struct finder *f, const struct ir_grant *d)
{
	return inspection_denies(d) && !ir_dest_net(&d->dest) &&
	       meets_network(f->p, d);
}

/* By name, and only datagrams to granted addresses could get by. */
static bool is_got_by(const struct finder *f, const struct ir_grant *d)
{
	if (ir_dest_name(&d->dest).n == 0 || d->dest.kind == IR_DEST_ANY ||
	    ir_grant_http(d) || meets_network(f->p, d))
		return false;
	vec_each(g, &f->p->allow)
		if (g->dest.kind == IR_DEST_CIDR && !g->has_http &&
		    ports_split(f->a, &g->ports, &d->ports, IR_PROTO_UDP, true)
			    .n)
			return true;
	return false;
}

/* Does a grant let bytes through there that are neither TLS nor HTTP? */
static bool lets_through(const struct ir_grant *d, const struct ir_grant *g)
{
	const struct cidr *at = ir_dest_net(&d->dest);
	const struct cidr *net = ir_dest_net(&g->dest);

	if (ir_grant_http(g) || !inspection_meets(&d->ports, g))
		return false;
	return !net || cidr_covers(net, at) || cidr_covers(at, net);
}

/* Of requests to an address, where not all is read. */
static bool is_unread(const struct finder *f, const struct ir_grant *d)
{
	if (!inspection_denies(d) || !ir_dest_net(&d->dest))
		return false;
	vec_each(g, &f->p->allow)
		if (lets_through(d, g))
			return true;
	return false;
}

/* Of a name or of requests to it, while '*' grants every other name. */
static bool is_led_around(const struct finder *f, const struct ir_grant *d)
{
	if (!inspection_denies(d) || ir_dest_net(&d->dest) ||
	    d->dest.kind == IR_DEST_ANY)
		return false;
	vec_each(g, &f->p->allow)
		if (g->dest.kind == IR_DEST_ANY &&
		    inspection_meets(&d->ports, g))
			return true;
	return false;
}

static void find_denials(struct finder *f)
{
	const ir_grants *deny = &f->p->deny;

	add_first(
		f, "denial-led-around", deny, is_led_around,
		STR("under '*' a denial by name holds for the name that a client states: another name of the same server, or one that somebody points to its address, leads around it, and so do relays. Grant names instead"));
	add_first(
		f, "unnamed-denial", deny, is_unnamed,
		STR("at addresses that are granted as such, a denial by name or request holds for the name that a TLS hello or a request states: TLS without a name, and other protocols, state none and pass"));
	add_first(
		f, "unnamed-datagrams", deny, is_got_by,
		STR("at addresses that are granted as such, a denial by name holds for datagrams only where the session saw the name lead, and for the beginning of QUIC: others (DTLS too) are not read and pass"));
	add_first(
		f, "unread-denial", deny, is_unread,
		STR("where requests to an address are denied, what is neither TLS nor HTTP is not read, and passes where a grant without 'http' rules covers it"));
}

/* --- the rest ------------------------------------------------------------ */

static void find_requests(struct finder *f)
{
	if (f->p->ssl_insecure.set && f->p->ssl_insecure.v)
		add_risk(
			f, "unverified", f->p->ssl_insecure.from,
			STR("'ssl_insecure': where TLS is decrypted, the servers' certificates are not verified, and whoever sits on the way there can read and answer"));
	if (upstream_on_loopback(&f->p->upstream))
		add_risk(
			f, "local-proxy", f->p->upstream.from,
			STR("'upstream' on loopback: whoever on this machine listens at that port while the proxy does not is given what goes there, a login too"));
	if (f->p->upstream_ca.set)
		add_risk(
			f, "roots", f->p->upstream_ca.from,
			STR("'upstream_ca': whoever has the key of a root in that file can answer for every server, and read what is sent there, credentials that the gate adds too; what the file holds is read at each start"));
	if (ir_ssh_agent(f->p))
		add_risk(
			f, "ssh-agent", f->p->ssh_agent.from,
			STR("'ssh_agent': whoever holds it can sign. The session logs in with every key of your ssh-agent wherever a grant lets it, and signs commits in your name; keys themselves stay with the ssh-agent, which is asked for nothing else"));
	if (f->p->credentials.n)
		add_risk(
			f, "credential-use", f->p->credentials.v[0].from,
			STR("the agent never sees a credential, and can use it: for every request that the rules of its host let through"));
}

/* What mounts over what is there at the start cannot hold; or a view. */
static void find_masks(struct finder *f)
{
	struct ir_origin none = {0};

	if (f->p->ignore.n + f->p->readonly.n == 0)
		return;
	if (f->p->fast.n)
		add_risk(
			f, "fast", f->p->fast.v[0].from,
			STR("in what 'fast' names nothing is hidden or read-only: a secret that comes to lie there is read"));
	if (ir_masks_hold(f->p)) {
		if (f->p->ignore.n)
			add_risk(
				f, "mask-other-name", none,
				STR("of links and hard links that come after the start, the other name of a hidden file is hidden once the view has met the hidden one: give such files patterns of their own"));
		return;
	}
	add_risk(
		f, "mask-later", none,
		STR("a file that comes to match a pattern after the start is neither hidden nor read-only until the next session"));
	add_risk(
		f, "mask-replaced", none,
		STR("a file that a program on the host replaces (an editor's atomic save) loses its mask until the next session"));
}

static void find_home(struct finder *f)
{
	switch (f->p->home.v) {
	case IR_HOME_SHARED:
		add_risk(
			f, "home", (struct ir_origin){0},
			STR("~/.membrane/home outlives sessions and is the same for all workspaces: what one agent leaves there, the next one reads"));
		return;
	case IR_HOME_WORKSPACE:
		add_risk(
			f, "home", f->p->home.from,
			STR("the workspace's home outlives sessions: what one agent leaves there, the next one in this workspace reads"));
		return;
	case IR_HOME_NONE:
		return;
	}
}

/* The first that is read, and the first that is written. */
static void find_visible(struct finder *f)
{
	const struct ir_text *read = NULL, *write = NULL;

	vec_each(t, &f->p->visible) {
		if (visible_of(t->s).write)
			write = write ? write : t;
		else
			read = read ? read : t;
	}
	if (read)
		add_risk(
			f, "visible", read->from,
			STR("what is 'visible' the agent reads whole: 'ignore' hides nothing in it, nor what comes to lie there later"));
	if (write)
		add_risk(
			f, "visible-written", write->from,
			STR("what is 'visible' to be written is not the workspace: no view judges it, and what the agent leaves there other programs of yours may run"));
}

static void find_files(struct finder *f)
{
	add_risk(
		f, "written-code", (struct ir_origin){0},
		STR("what the agent writes into the workspace may run on the host later (build files, scripts, dependencies): read it first"));
	find_home(f);
	add_risk(
		f, "new-repository", (struct ir_origin){0},
		STR("a git repository that the agent makes or brings runs what its own configuration and hooks say, once git is used in it"));
	if (f->p->ignore.n)
		add_risk(
			f, "hidden-history", f->p->ignore.v[0].from,
			ir_masks_hold(f->p)
				? STR("'ignore' hides files, not what git has committed of them: 'git show HEAD:FILE' gives it; commits made inside leave it as it is")
				: STR("'ignore' hides files, not what git has committed of them: 'git show HEAD:FILE' gives it; commits made inside leave the files that are masked as they are, and remove what is in hidden folders; a git before 2.32, and programs with a git of their own, can empty both"));
	find_masks(f);
	find_visible(f);
	if (f->p->protect.n)
		add_risk(
			f, "protected-repeated", f->p->protect.v[0].from,
			STR("a protected file is for one program, not for what its tools want: what that program reads it can repeat, and it loads its settings, hooks and plugins from files that tools can write"));
}

static void find_published(struct finder *f)
{
	vec_each(t, &f->p->ports) {
		struct ir_published p;

		if (published_parse(t->s, &p))
			continue;
		add_risk(
			f, "published", t->from,
			arena_fmt(
				f->a,
				published_is_local(&p)
					? "'%s': a page at this port of 'localhost' is the agent's, whatever else of yours is called so"
					: "'%s': whoever reaches that port of this machine reaches the agent",
				view_cleaned(f->a, t->s).p));
	}
}

static void find_args(struct finder *f)
{
	vec_each(arg, &f->p->docker_args) {
		const char *value = view_cleaned(f->a, arg->value).p;

		if (arg->is_publish)
			add_risk(
				f, "published", arg->from,
				arena_fmt(
					f->a,
					"whoever reaches the host's published port (%s) reaches the agent",
					value));
		else if (arg->class == ARG_WIDENING ||
			 arg->class == ARG_UNDOING)
			add_risk(
				f,
				arg->class == ARG_UNDOING ? "undone"
							  : "raw-argument",
				arg->from,
				arena_fmt(
					f->a, "'--%s%s%s' %s",
					view_cleaned(f->a, arg->option).p,
					arg->has_value ? " " : "", value,
					arg->class == ARG_UNDOING
						? "undoes the sandbox"
						: "gives the agent more than the policy's own keys do"));
	}
}

/*
 * Masks that are mounts hold a name only in the namespaces that they are part
 * of: in one without them the file below can be moved, and then be read. Behind
 * a view there is nothing below.
 */
static void find_filter(struct finder *f)
{
	const struct ir_hardening *h = &f->p->hardening;
	struct str profile = h->seccomp.set ? h->seccomp.v : STR("default");
	bool hold = ir_masks_hold(f->p);

	if (h->user_namespaces.set && h->user_namespaces.v)
		add_risk(
			f, "user-namespaces", h->user_namespaces.from,
			hold ? STR("the agent makes namespaces of its own, and so reaches more of the kernel")
			     : STR("the agent makes mount namespaces of its own, where it can move what is hidden or read-only, and so read and change it; and it reaches more of the kernel"));
	if (str_is(profile, "unconfined"))
		add_risk(
			f, "seccomp", h->seccomp.from,
			hold ? STR("no system call is filtered: more of the kernel can be attacked")
			     : STR("no system call is filtered: more of the kernel can be attacked, and in a mount namespace of its own the agent can read and change what is hidden or read-only"));
	else if (str_starts(profile, STR("/")))
		add_risk(
			f, "seccomp", h->seccomp.from,
			hold ? STR("the filter of system calls is a file of yours: what it permits is not in this plan")
			     : STR("the filter of system calls is a file of yours: where it permits mount namespaces, what is hidden or read-only is not held"));
	else if (!seccomp_wanted(f->p))
		add_risk(
			f, "seccomp", h->seccomp.from,
			STR("the filter of system calls is Docker's default, and not this plan's: what it permits is as its release has it, AF_VSOCK before 25.0"));
	if (f->p->runtime.v == IR_RUNTIME_KATA && seccomp_wanted(f->p))
		add_risk(
			f, "guest-seccomp", f->p->runtime.from,
			STR("Kata filters system calls in its guest only where it is told to (disable_guest_seccomp)"));
}

/* What the agent runs natively: the machine's own, or an unpacked root. */
static void find_programs(struct finder *f)
{
	if (image_root(f->p->image.v).n)
		add_risk(
			f, "unpinned-root", f->p->image.from,
			STR("what lies in the folder of 'image' is neither pinned nor compared: who changes it changes what the agent runs"));
	else if (!image_is_own(f->p->image.v))
		add_risk(
			f, "machine", f->p->engine.from,
			STR("natively, the agent runs this machine's programs, and reads below /usr what every user may read"));
}

/* The native engine: programs in namespaces of the user's. */
static void find_machine(struct finder *f)
{
	struct ir_origin from = f->p->engine.from;

	add_risk(
		f, "shared-kernel", (struct ir_origin){0},
		STR("the session shares the host's kernel: a hole in it is a hole in the boundary"));
	find_programs(f);
	if (!native_asks(f->p) && !f->p->trace.required.v)
		add_risk(
			f, "untraced", from,
			STR("natively, what the agent's processes do is recorded only where root launches it: 'trace: {required: true}' runs nothing else"));
	if (native_asks(f->p))
		add_risk(
			f, "asked-trace", from,
			STR("natively, unless root launches it, the trace has what the agent's processes ask for, read before it is done: an agent that wants to can have another name read than the one that is used"));
	add_risk(
		f, "one-user", from,
		STR("natively, gate, HAProxy and agent are users of their own only where you have subordinate ids (/etc/subuid); else they are one, kept apart by namespaces of processes and files"));
}

static void find_hardening(struct finder *f)
{
	const struct ir_hardening *h = &f->p->hardening;

	vec_each(cap, &h->capabilities)
		add_risk(f, "capability", cap->from,
			 arena_fmt(f->a, "the agent has the capability %s",
				   view_cleaned(f->a, cap->s).p));
	if (h->no_new_privileges.set && !h->no_new_privileges.v)
		add_risk(
			f, "new-privileges", h->no_new_privileges.from,
			STR("set-uid programs work inside: a user there can become root there"));
	find_filter(f);
	if (f->p->runtime.v != IR_RUNTIME_RUNC)
		add_risk(
			f, "bridge", f->p->runtime.from,
			STR("the agent's link is a Docker network, of which the host is a part: who may send raw packets in there, as root inside Sysbox may, can address the host past the gate, and what becomes of that is for the host's own packet filter"));
	if (native_wanted(f->p))
		find_machine(f);
	else if (f->p->runtime.v != IR_RUNTIME_KATA)
		add_risk(
			f, "shared-kernel", (struct ir_origin){0},
			STR("containers share the host's kernel: a hole in it is a hole in the boundary"));
}

static void find_trace(struct finder *f)
{
	if (f->p->trace.engine.v == IR_TRACE_TRACEE && f->p->trace.events.n)
		add_risk(
			f, "unproven-tracer", f->p->trace.engine.from,
			STR("'engine: tracee' was never run against a real Tracee: what it records, loses or cannot attach to is as its documentation has it"));
}

void risks_find(struct arena *a, const struct ir_policy *p, risk_list *out)
{
	struct finder f = {a, p, out};

	find_names(&f);
	find_addresses(&f);
	find_requests(&f);
	find_denials(&f);
	find_files(&f);
	find_published(&f);
	find_args(&f);
	find_hardening(&f);
	find_trace(&f);
}

void risks_unsearched(struct arena *a, risk_list *out)
{
	struct finder f = {a, NULL, out};

	add_risk(
		&f, "unsearched", (struct ir_origin){0},
		STR("the workspace is large, or in part unreadable: not all of it was searched for files that likely hold secrets"));
}
