/*
 * What the agent gets, whichever engine runs it: its rights, its mounts, its
 * variables; and what the launcher is told beside the vectors.
 */
#include "compiler/emit/docker/agent.h"

#include "compiler/emit/docker/parts.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/emit/git/git_files.h"
#include "compiler/emit/git/known_hosts.h"
#include "compiler/ir/docker_mount.h"
#include "compiler/ir/image.h"
#include "compiler/ir/upstream.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"

#include <inttypes.h>

/* Docker's command reads the file, here; what it hands to the daemon is its
 * text. Without a word the daemon's own default holds. */
static void put_seccomp(struct argv *w)
{
	const ir_opt_str *s = &w->in->policy->hardening.seccomp;

	if (seccomp_wanted(w->in->policy))
		argv_put(
			w,
			"--security-opt=seccomp={state}/sessions/{session}/plan/" PLAN_SECCOMP);
	else if (!str_is(s->v, "default") && !str_is(s->v, "docker"))
		argv_value(w, "security-opt",
			   arena_fmt(w->in->a, "seccomp=%.*s", STR_ARG(s->v)));
}

static bool is_at(struct arena *a, enum docker_run_id option, struct str value,
		  const char *path)
{
	struct str target;
	bool empty;

	return docker_mount_place(a, option, value, &target, &empty) &&
	       str_is(target, path);
}

/* Does the policy mount something there itself? Docker takes no two. */
static bool has_mount(const struct argv *w, const char *path)
{
	const struct ir_policy *p = w->in->policy;

	vec_each(t, &p->hardening.tmpfs)
		if (is_at(w->in->a, DOCKER_RUN_tmpfs, t->s, path))
			return true;
	vec_each(arg, &p->docker_args)
		if (is_at(w->in->a, docker_run_named(arg->option)->id,
			  arg->value, path))
			return true;
	return false;
}

/* Natively always, but for a root of the policy's own. */
static bool is_read_only(const struct argv *w)
{
	return w->native ? !agent_writes_root(w->in->policy)
			 : w->in->policy->hardening.read_only.v;
}

/* Hardly a program lives without the first, and builds run what they make
 * there. */
static void put_read_only(struct argv *w)
{
	argv_put(w, "--read-only");
	if (!has_mount(w, "/tmp"))
		argv_put(w, "--tmpfs=/tmp:exec,nosuid,nodev,mode=1777,size=1g");
	if (!has_mount(w, "/run"))
		argv_put(w, "--tmpfs=/run:nosuid,nodev,mode=1777,size=64m");
	/* an image has one of its own; the host's is not shown */
	if (w->native && !has_mount(w, "/var/tmp"))
		argv_put(
			w,
			"--tmpfs=/var/tmp:exec,nosuid,nodev,mode=1777,size=1g");
}

void agent_hardening(struct argv *w)
{
	const struct ir_hardening *h = &w->in->policy->hardening;

	if (h->user.set) {
		argv_value(w, "user", h->user.v);
	} else {
		argv_put(w, "--user");
		argv_put(w, DOCKER_JSON_OWNER);
	}
	argv_put(w, "--cap-drop=ALL");
	vec_each(cap, &h->capabilities)
		argv_value(w, "cap-add", cap->s);
	if (h->no_new_privileges.v)
		argv_put(w, "--security-opt=no-new-privileges");
	put_seccomp(w);
	if (is_read_only(w))
		put_read_only(w);
	vec_each(t, &h->tmpfs)
		argv_value(w, "tmpfs", t->s);
	argv_u64(w, "pids-limit", h->pids.v);
	if (h->memory.set)
		argv_u64(w, "memory", h->memory.v);
	if (h->cpus_milli.set)
		argv_value(w, "cpus",
			   arena_fmt(w->in->a, "%" PRIu64 ".%03" PRIu64,
				     h->cpus_milli.v / 1000,
				     h->cpus_milli.v % 1000));
}

void docker_roots_mount(struct argv *w)
{
	if (w->in->policy->upstream_ca.set)
		argv_put(
			w,
			"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_UPSTREAM_CA_FILE
			",target=" GATE_UPSTREAM_CA ",readonly");
}

/* Where programs look for roots; those that add to their own get the one. */
static const struct agent_ca ca_variables[] = {
	{"AWS_CA_BUNDLE", "bundle"},  {"CARGO_HTTP_CAINFO", "bundle"},
	{"CURL_CA_BUNDLE", "bundle"}, {"DENO_CERT", "ca"},
	{"GIT_SSL_CAINFO", "bundle"}, {"NODE_EXTRA_CA_CERTS", "ca"},
	{"PIP_CERT", "bundle"},	      {"REQUESTS_CA_BUNDLE", "bundle"},
	{"SSL_CERT_FILE", "bundle"},  {"npm_config_cafile", "bundle"},
};

const struct agent_ca *agent_ca_at(size_t i)
{
	return i < ARRAY_LEN(ca_variables) ? &ca_variables[i] : NULL;
}

bool agent_writes_root(const struct ir_policy *p)
{
	return image_is_own(p->image.v) && !p->hardening.read_only.v;
}

bool agent_has_own_image(const struct ir_policy *p)
{
	return !p->image.set || str_is(p->image.v, DOCKER_JSON_IMAGE_AGENT);
}

static void put_roots(struct argv *w)
{
	static const char *const files[] = {"bundle", "ca"};

	if (!gate_cfg_decrypts(w->in->policy) &&
	    !w->in->policy->upstream_ca.set)
		return;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		argv_put(
			w,
			arena_fmt(
				w->in->a,
				"--mount=type=bind,source={state}/sessions/{session}/%s.pem,target=/etc/membrane/%s.pem,readonly",
				files[i], files[i])
				.p);
	/* For those that no variable reaches: apt, wget. */
	if (w->native || agent_has_own_image(w->in->policy))
		argv_put(
			w,
			"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_BUNDLE ",target=/etc/ssl/certs/ca-certificates.crt,readonly");
	for (size_t i = 0; i < ARRAY_LEN(ca_variables); i++)
		argv_put(w,
			 arena_fmt(w->in->a, "--env=%s=/etc/membrane/%s.pem",
				   ca_variables[i].name, ca_variables[i].file)
				 .p);
}

/* A file of the plan that programs inside read. */
static void put_plan_file(struct argv *w, const char *file, const char *at)
{
	argv_put(
		w,
		arena_fmt(
			w->in->a,
			"--mount=type=bind,source={state}/sessions/{session}/plan/%s,target=%s,readonly",
			file, at)
			.p);
}

static void put_git(struct argv *w)
{
	put_plan_file(w, PLAN_GIT, DOCKER_JSON_GIT_AT);
	if (git_files_wanted(w->in->policy)) {
		put_plan_file(w, PLAN_GIT_ATTRIBUTES,
			      DOCKER_JSON_GIT_ATTRIBUTES_AT);
		put_plan_file(w, PLAN_GIT_EXCLUDE, DOCKER_JSON_GIT_EXCLUDE_AT);
	}
	argv_put(w, "--env=GIT_CONFIG_SYSTEM=" DOCKER_JSON_GIT_AT);
	argv_put(w, DOCKER_JSON_GIT);
	argv_put(w, DOCKER_JSON_REPOSITORY);
	if (known_hosts_wanted(w->in->policy))
		put_plan_file(w, PLAN_KNOWN_HOSTS, DOCKER_JSON_KNOWN_HOSTS_AT);
}

/* The launcher answers there, with what the user's own one says. */
static void put_ssh_agent(struct argv *w)
{
	if (!ir_ssh_agent(w->in->policy))
		return;
	argv_put(
		w,
		"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_SSH_SOCKET
		",target=" DOCKER_JSON_SSH_SOCKET_AT ",readonly");
	argv_put(w, "--env=SSH_AUTH_SOCK=" DOCKER_JSON_SSH_SOCKET_AT);
}

void agent_mounts(struct argv *w)
{
	vec_each(t, &w->in->policy->visible) {
		struct ir_visible v = visible_of(t->s);

		argv_place(w, &v);
	}
	argv_put(
		w,
		"--mount=type=bind,source={state}/sessions/{session}/resolv.conf,target=/etc/resolv.conf,readonly");
	argv_put(w, docker_view_workspace(w->in->policy));
	argv_put(w, docker_view_home(w->in->policy));
	if (!ir_masks_hold(w->in->policy))
		argv_put(w, DOCKER_JSON_MASKS);
	argv_put(w, "--workdir=/workspace");
	if (ir_masks_hold(w->in->policy))
		argv_put(w, DOCKER_JSON_OWN_PATH);
	argv_put(w, "--env=HOME=/home/agent");
	docker_init_environment(w);
	put_plan_file(w, PLAN_README, DOCKER_JSON_README_AT);
	docker_view_seal(w);
	put_git(w);
	put_ssh_agent(w);
	put_roots(w);
}

/* Not of the first: a plan says nothing of it, as those before there was a
 * choice. */
static const char *home_word(enum ir_home h)
{
	switch (h) {
	case IR_HOME_SHARED:
		break;
	case IR_HOME_WORKSPACE:
		return DOCKER_JSON_HOME_WORKSPACE;
	case IR_HOME_NONE:
		return DOCKER_JSON_HOME_NONE;
	}
	return NULL;
}

static cJSON *fields_json(const struct ir_credential *c)
{
	cJSON *list = json_array();

	vec_each(f, &c->fields)
		json_push_str(list, f->s);
	return list;
}

/* Where the launcher finds what the gate gets; never what it is. */
static cJSON *credentials_json(struct arena *a, const struct ir_policy *p)
{
	cJSON *list = json_array();
	uint32_t n = 0;

	vec_each(c, &p->credentials) {
		cJSON *o = json_object();

		json_put_u64(o, DOCKER_JSON_NUMBER, ++n);
		json_put_str(o,
			     c->fields.n   ? DOCKER_JSON_FILE
			     : c->from_env ? DOCKER_JSON_FROM_ENV
					   : DOCKER_JSON_FROM_FILE,
			     c->source);
		if (c->fields.n)
			json_put(o, DOCKER_JSON_FIELDS, fields_json(c));
		if (c->has_refresh)
			json_put_str(o, DOCKER_JSON_REFRESH,
				     ir_dest_text(a, &c->refresh));
		json_push(list, o);
	}
	return list;
}

static cJSON *direct_json(const struct ir_upstream *u)
{
	cJSON *list = json_array();

	vec_each(d, &u->direct) {
		const struct cidr *net = ir_dest_net(&d->dest);
		char text[CIDR_TEXT_MAX];

		json_push_str(list, net ? str_of(cidr_text(net, text))
					: ir_dest_name(&d->dest));
	}
	return list;
}

static cJSON *upstream_json(struct arena *a, const struct ir_upstream *u)
{
	cJSON *o = json_object();

	json_put_str(o, DOCKER_JSON_PROXY, upstream_at(a, u));
	if (u->has_login)
		json_put_str(o,
			     u->from_env ? DOCKER_JSON_FROM_ENV
					 : DOCKER_JSON_FROM_FILE,
			     u->source);
	if (u->direct.n)
		json_put(o, DOCKER_JSON_DIRECT, direct_json(u));
	return o;
}

void agent_session(const struct emit_in *in, cJSON *root)
{
	const struct ir_policy *p = in->policy;

	if (ir_ssh_agent(p))
		json_put(root, DOCKER_JSON_SSH_AGENT, cJSON_CreateTrue());
	if (home_word(p->home.v))
		json_put_cstr(root, DOCKER_JSON_HOME, home_word(p->home.v));
	if (p->upstream.set)
		json_put(root, DOCKER_JSON_UPSTREAM,
			 upstream_json(in->a, &p->upstream));
	if (p->upstream_ca.set)
		json_put_str(root, DOCKER_JSON_UPSTREAM_CA, p->upstream_ca.v);
	docker_ports_put(in, root);
	if (p->credentials.n)
		json_put(root, DOCKER_JSON_CREDENTIALS,
			 credentials_json(in->a, p));
}
