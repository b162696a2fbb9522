/* What a Pod cannot hold: an error at its line. Nothing is weakened. */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/base/ascii.h"
#include "compiler/emit/docker/agent.h"
#include "compiler/emit/docker/docker_names.h"
#include "compiler/ir/image.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/published.h"

#include <stdlib.h>

#define ID_MAX		 UINT32_C(2147483647) /* of a user: the API's bound */
#define MEMORY_MIN_BYTES (6u << 20)

/* --- values of options ---------------------------------------------------- */

/* RFC 1123, section 2.1, as Kubernetes has it for a label: also what a Service
 * or a host can be called. */
const char *kube_name_fault(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_lower(name.p[i]) && !ascii_is_digit(name.p[i]) &&
		    name.p[i] != '-')
			return "has a sign that is none of a-z, 0-9 and '-'";
	if (name.n == 0 || name.n > 40)
		return "is empty, or longer than 40 letters";
	if (name.p[0] == '-' || name.p[name.n - 1] == '-')
		return "begins or ends with '-'";
	return NULL;
}

const char *kube_gate_image_fault(struct str image)
{
	size_t at = str_find(image, '@', 0);
	struct str digest = str_slice(image, at, image.n);

	if (!docker_names_image(image))
		return "is not the name of an image";
	if (!str_starts(digest, STR("@sha256:")))
		return "has no digest: a tag can come to mean another image";
	return NULL;
}

/* What a person may write for git: nothing that runs a program. */
const char *kube_url_fault(struct str url)
{
	const char *fault = kube_word_fault(url);

	if (fault)
		return fault;
	if (!str_starts(url, STR("https://")) &&
	    !str_starts(url, STR("http://")))
		return "is no https: or http: URL";
	if (str_find(url, '@', 0) < url.n)
		return "holds a user or a password, which everybody could read in the manifest";
	return NULL;
}

const char *kube_word_fault(struct str word)
{
	if (word.n == 0)
		return "is empty";
	if (word.p[0] == '-')
		return "begins with '-'";
	for (size_t i = 0; i < word.n; i++)
		if (!ascii_is_alnum(word.p[i]) &&
		    !strchr("/._-+~:%@=&?,", word.p[i]))
			return "has a sign that is none of letters, digits and /._-+~:%@=&?,";
	return NULL;
}

/* --- the policy ----------------------------------------------------------- */

bool kube_refuse(const struct emit_in *in, struct span at, const char *what,
		 const char *help)
{
	struct diag_view view;

	for (unsigned i = 0; diags_get(in->diags, i, &view); i++)
		if (view.id == DIAG_POD && view.at.beg == at.beg &&
		    view.at.end == at.end)
			return false;
	diag_error(in->diags, DIAG_POD, at, "a Pod cannot hold this: %s", what);
	diag_help(in->diags, "%s", help);
	return false;
}

/* Somebody wrote it: what the floor says is no wish, nor what a plan's own
 * policy.json says, which has it all. */
static bool is_wish(const struct emit_in *in, struct ir_origin from)
{
	const struct source *s = sources_of(in->sources, from.at);

	return from.layer != LAYER_FLOOR && !(s && s->derived);
}
#define WRITTEN(opt) is_wish(in, (opt).from)

/* Where nobody says how masks hold, what says so stands at the runtime. */
static bool wants_hold(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;

	return WRITTEN(p->masks) && p->masks.v == IR_MASKS_HOLD &&
	       p->masks.from.at.beg != p->runtime.from.at.beg;
}

static bool check_image(const struct emit_in *in)
{
	const ir_opt_str *image = &in->policy->image;

	if (agent_has_own_image(in->policy))
		return kube_refuse(
			in, image->from.at,
			"membrane's own image is built on one machine, and in no registry",
			"write 'image:' and a name that the cluster can pull, best with its digest");
	if (image_is_own(image->v))
		return kube_refuse(
			in, image->from.at,
			"an unpacked root or an archive is a path of one machine",
			"write the name of an image that the cluster can pull");
	if (docker_names_image(image->v))
		return true;
	return kube_refuse(
		in, image->from.at, "this is not the name of an image",
		"write [HOST/]NAME[:TAG][@DIGEST], the name in lower case");
}

static bool check_network(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;
	const ir_grants *lists[] = {&p->allow, &p->ask};
	bool ok = true;

	if (p->resolver.v.host)
		ok = kube_refuse(
			in, p->resolver.from.at,
			"there is no host whose resolver the gate could ask",
			"write 'resolver:' and an address: of the cluster's, 'kubectl -n kube-system get service kube-dns' says it");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		vec_each(g, lists[i])
			if (ir_dest_machine(&g->dest))
				ok = kube_refuse(
					in, g->from.at,
					"'host' is the machine that runs membrane, and there is none",
					"grant the name or the address of a Service");
	if (p->upstream.set)
		ok = kube_refuse(
			in, p->upstream.from.at,
			"the gate has no launcher that tells it of a proxy",
			"leave 'upstream' out");
	if (p->upstream_ca.set)
		ok = kube_refuse(
			in, p->upstream_ca.from.at,
			"this is a file of one machine",
			"build an image of the gate that has these roots");
	if (p->uplink.set)
		ok = kube_refuse(in, p->uplink.from.at,
				 "the gate goes out by the Pod's own interface",
				 "leave 'uplink' out");
	return ok;
}

static bool check_machine(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;
	bool ok = true;

	vec_each(t, &p->visible)
		ok = kube_refuse(in, t->from.at,
				 "this is a path of one machine",
				 "put it into the image");
	if (ir_ssh_agent(p))
		ok = kube_refuse(in, p->ssh_agent.from.at,
				 "the ssh-agent is that of one machine's user",
				 "leave 'ssh_agent' out");
	vec_each(x, &p->protect)
		ok = kube_refuse(in, x->from.at,
				 "protected files need a view of the home",
				 "leave 'protect' out");
	if (WRITTEN(p->home) && p->home.v != IR_HOME_NONE)
		ok = kube_refuse(in, p->home.from.at,
				 "the home ends with the Pod",
				 "write 'home: none', or leave it out");
	if (wants_hold(in))
		ok = kube_refuse(
			in, p->masks.from.at,
			"masks that hold at each access need a view of the workspace",
			"leave 'masks' out: what is ignored is not there at the start");
	vec_each(f, &p->fast)
		ok = kube_refuse(in, f->from.at,
				 "there is no view that a folder could go past",
				 "leave 'fast' out");
	if (WRITTEN(p->runtime) && !ir_runtime_is_runc(p))
		ok = kube_refuse(
			in, p->runtime.from.at,
			"the cluster chooses the runtime",
			"leave it out, and set 'runtimeClassName' in an overlay");
	if (p->trace.required.v)
		ok = kube_refuse(in, p->trace.required.from.at,
				 "nothing in it traces",
				 "leave 'required' out");
	return ok;
}

/* Of lines that are the same one holds. */
static bool is_literal(const ir_patterns *all, const struct ir_pattern *p)
{
	vec_each(q, all)
		if (q->hold && str_eq(q->line, p->line))
			return true;
	return false;
}

static bool check_files(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;
	enum kube_work work = in->kubernetes->work;
	bool ok = true;

	vec_each(r, &p->readonly) {
		if (r->from.layer == LAYER_FLOOR)
			continue;
		if (work == KUBE_WORK_EMPTY)
			ok = kube_refuse(
				in, r->from.at,
				"an empty workspace has nothing that could be kept",
				"take '--workspace-from git:URL', or leave it out");
		else if (!is_literal(&p->readonly, r))
			ok = kube_refuse(
				in, r->from.at,
				"mounts are made of paths, before it is known what matches",
				"write a path from the workspace's root, without wildcards");
	}
	vec_each(i, &p->ignore)
		if (work == KUBE_WORK_CLAIM)
			ok = kube_refuse(
				in, i->from.at,
				"of a volume nothing can be hidden without a view",
				"take '--workspace-from git:URL', or leave it out");
	return ok;
}

/* "1000", "1000:1000": numbers, and not root. */
static bool user_fits(struct str s, uint64_t *uid, uint64_t *gid)
{
	size_t colon = str_find(s, ':', 0);

	return str_u64(str_slice(s, 0, colon), ID_MAX, uid) && *uid > 0 &&
	       (colon == s.n
			? (*gid = *uid, true)
			: str_u64(str_slice(s, colon + 1, s.n), ID_MAX, gid) &&
				  *gid > 0);
}

static bool check_rights(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;
	uint64_t uid, gid;
	bool ok = true;

	vec_each(cap, &h->capabilities)
		ok = kube_refuse(
			in, cap->from.at,
			"the agent's container is restricted throughout",
			"leave 'capabilities' out");
	if (h->user.set && !user_fits(h->user.v, &uid, &gid))
		ok = kube_refuse(in, h->user.from.at,
				 "a user is a number, and not root",
				 "write UID or UID:GID, from 1");
	if (!h->no_new_privileges.v)
		ok = kube_refuse(
			in, h->no_new_privileges.from.at,
			"the agent's container is restricted throughout",
			"leave 'no_new_privileges' out");
	if (WRITTEN(h->read_only) && !h->read_only.v)
		ok = kube_refuse(
			in, h->read_only.from.at,
			"the agent's container is restricted throughout",
			"leave 'read_only' out, and name what is written in 'tmpfs'");
	if (h->user_namespaces.v)
		ok = kube_refuse(in, h->user_namespaces.from.at,
				 "the cluster's filter of system calls decides",
				 "leave 'user_namespaces' out");
	if (WRITTEN(h->seccomp) && !str_is(h->seccomp.v, "default") &&
	    !str_is(h->seccomp.v, "docker"))
		ok = kube_refuse(
			in, h->seccomp.from.at,
			"a filter is a file of the cluster's nodes",
			"leave 'seccomp' out, and take '--seccomp-profile PATH'");
	return ok;
}

static bool check_resources(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;
	bool ok = true;

	if (WRITTEN(h->pids))
		ok = kube_refuse(
			in, h->pids.from.at,
			"processes are counted by the node, for each Pod",
			"leave 'pids' out, and set 'podPidsLimit' of the kubelet");
	if (h->memory.set && h->memory.v < MEMORY_MIN_BYTES)
		ok = kube_refuse(in, h->memory.from.at,
				 "nothing runs with less than 6 MiB of memory",
				 "give it more");
	vec_each(t, &h->tmpfs) {
		struct str path;
		uint64_t bytes;

		if (!kube_tmpfs(t->s, &path, &bytes))
			ok = kube_refuse(
				in, t->from.at,
				"a temporary file system has a path and a size, and lies outside of /workspace, /home/agent, /proc, /sys and /dev",
				"write PATH or PATH:size=BYTES, an absolute path");
	}
	return ok;
}

static bool check_credentials(const struct emit_in *in)
{
	bool ok = true;

	vec_each(c, &in->policy->credentials) {
		if (c->fields.n)
			ok = kube_refuse(
				in, c->source_at,
				"a file with tokens that are renewed is the launcher's",
				"write a header, with 'from_env' and the key of a Secret");
		else if (!c->from_env)
			ok = kube_refuse(
				in, c->source_at,
				"this is a file of one machine",
				"write 'from_env' and the key of the Secret");
	}
	return ok;
}

/* Of a Service's or a probe's side there is one address, the Pod's. */
static bool check_ports(const struct emit_in *in)
{
	ir_ports seen = {0};
	bool ok = true;

	vec_each(t, &in->policy->ports) {
		struct ir_published p;

		if (published_parse(t->s, &p))
			abort(); /* bound, or of a policy.json that was */
		if (p.port != p.to)
			ok = kube_refuse(
				in, t->from.at,
				"a Pod has a port at its own number",
				"write the port inside alone; a Service maps numbers");
		if (ports_has(&seen, IR_PROTO_TCP, p.to))
			ok = kube_refuse(in, t->from.at,
					 "this port is there already",
					 "leave it out");
		*vec_push(in->a, &seen) =
			(struct ir_port){IR_PROTO_TCP, p.to, p.to, {0}};
	}
	return ok;
}

bool kube_check(const struct emit_in *in)
{
	bool ok = check_image(in);

	ok &= check_network(in);
	ok &= check_machine(in);
	ok &= check_files(in);
	ok &= check_rights(in);
	ok &= check_resources(in);
	ok &= check_credentials(in);
	ok &= check_ports(in);
	ok &= kube_words_check(in);
	if (kube_apart(in))
		ok &= kube_apart_check(in);
	return ok;
}
