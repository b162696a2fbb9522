#include "compiler/cli/doctor/doctor_judge.h"

#include "compiler/base/ascii.h"
#include "compiler/ir/tracee.h"

#include <string.h>

struct visit {
	struct arena *a;
	const struct doctor_host *host;
	struct doctor *d;
};

static void set_finding(struct visit *v, enum doctor_id id,
			enum doctor_state state, const char *detail)
{
	v->d->of[id] =
		(struct doctor_finding){.state = state, .detail = detail};
}

static void set_unasked(struct visit *v, enum doctor_id id, const char *why)
{
	v->d->of[id] = (struct doctor_finding){.detail = why, .unasked = true};
}

static enum doctor_state state_of(enum fact f)
{
	switch (f) {
	case FACT_YES:
		return DOCTOR_OK;
	case FACT_NO:
		return DOCTOR_MISSING;
	case FACT_UNKNOWN:
		break;
	}
	return DOCTOR_UNKNOWN;
}

/* --- Docker --------------------------------------------------------------- */

static void judge_client(struct visit *v)
{
	const struct doctor_host *h = v->host;

	if (h->client)
		set_finding(v, DOCTOR_CLIENT, DOCTOR_OK, h->client);
	else
		set_finding(v, DOCTOR_CLIENT, DOCTOR_MISSING, h->no_client);
}

/* "1.1.5+ds1-1+deb12u1": up to what it is known to be mended in upstream. */
static bool is_old_runc(const char *version)
{
	struct str rest = str_of(version), part;
	uint64_t n[3] = {0};

	for (int i = 0; i < 3 && str_field(&rest, '.', &part); i++) {
		size_t digits = 0;

		while (digits < part.n && ascii_is_digit(part.p[digits]))
			digits++;
		if (!str_u64(str_slice(part, 0, digits), 9999, &n[i]))
			return true;
	}
	if (n[0] != 1)
		return n[0] < 1;
	return n[1] < 2 || (n[1] == 2 && n[2] < 8) || (n[1] == 3 && n[2] < 3);
}

static void judge_daemon(struct visit *v)
{
	const struct docker_info *i = &v->host->info;
	const struct endpoint *at = &v->host->at;
	bool limits = i->limits_memory && i->limits_pids;

	set_finding(v, DOCTOR_DAEMON, DOCTOR_OK,
		    arena_fmt(v->a, "%s, API %s, %s, at %s", i->version, i->api,
			      i->rootless ? "rootless" : "as root",
			      at->socket ? at->socket : at->base)
			    .p);
	set_finding(v, DOCTOR_STORAGE,
		    strcmp(i->storage, "vfs") == 0 ? DOCTOR_MISSING : DOCTOR_OK,
		    i->storage);
	set_finding(
		v, DOCTOR_LIMITS, limits ? DOCTOR_OK : DOCTOR_MISSING,
		arena_fmt(v->a, "cgroup v%s, %s",
			  *i->cgroup_version ? i->cgroup_version : "1",
			  *i->cgroup_driver ? i->cgroup_driver : "no driver")
			.p);
	set_finding(v, DOCTOR_SECCOMP,
		    *i->seccomp == '\0' || strcmp(i->seccomp, "unconfined") == 0
			    ? DOCTOR_MISSING
			    : DOCTOR_OK,
		    *i->seccomp ? arena_fmt(v->a, "profile %s", i->seccomp).p
				: NULL);
	set_finding(v, DOCTOR_MAC, *i->mac ? DOCTOR_OK : DOCTOR_MISSING,
		    i->mac);
	set_finding(
		v, DOCTOR_PROTECT,
		i->rootless || i->remapped ? DOCTOR_MISSING : DOCTOR_OK,
		"by a view of the home; the program's memory is closed before it begins");
	set_finding(v, DOCTOR_USERS, i->remapped ? DOCTOR_MISSING : DOCTOR_OK,
		    i->remapped ? "those of containers are others on the host"
				: NULL);
	set_finding(v, DOCTOR_RUNC,
		    *i->runc == '\0' || is_old_runc(i->runc) ? DOCTOR_UNKNOWN
							     : DOCTOR_OK,
		    i->runc);
}

static void judge_runtime(struct visit *v, enum doctor_id id, const char *name)
{
	struct str rest = str_of(v->host->info.runtimes), one;
	bool has = false;

	while (str_field(&rest, ',', &one))
		has |= str_is(str_trim(one), name);
	set_finding(
		v, id, has ? DOCTOR_OK : DOCTOR_MISSING,
		has ? NULL
		    : arena_fmt(v->a, "Docker has: %s", v->host->info.runtimes)
				.p);
}

/* The releases that are here, and which of them a policy can name. */
static void judge_tracee(struct visit *v)
{
	const struct doctor_host *h = v->host;
	struct buf known;

	buf_init(&known, v->a);
	if (h->no_tracee) {
		set_finding(v, DOCTOR_TRACEE, DOCTOR_UNKNOWN, h->no_tracee);
		return;
	}
	vec_each(tag, &h->tracee) {
		unsigned release;

		if (tracee_release(str_of(*tag), &release) &&
		    release >= TRACEE_RELEASE_MIN &&
		    release <= TRACEE_RELEASE_MAX)
			buf_addf(&known, "%s%s", known.n ? ", " : "", *tag);
	}
	/* Tracee says so at debug level alone, and goes on without */
	if (known.n && h->facts.kprobes == FACT_NO &&
	    str_is(str_of(h->info.kernel), h->facts.kernel))
		buf_adds(
			&known,
			"; without kprobes in this kernel it cannot record files and sockets");
	if (known.n)
		set_finding(v, DOCTOR_TRACEE, DOCTOR_OK,
			    arena_cstr(v->a, buf_str(&known)));
	else
		set_finding(v, DOCTOR_TRACEE, DOCTOR_MISSING,
			    h->tracee.n ? "none of 0.20.0 to 0.24" : NULL);
}

/* None of it was asked, or tried. */
static void judge_silence(struct visit *v)
{
	static const enum doctor_id its[] = {
		DOCTOR_STORAGE,	    DOCTOR_LIMITS,     DOCTOR_SECCOMP,
		DOCTOR_MAC,	    DOCTOR_USERS,      DOCTOR_RUNC,
		DOCTOR_PROTECT,	    DOCTOR_IMAGE_GATE, DOCTOR_IMAGE_AGENT,
		DOCTOR_IMAGE_WATCH, DOCTOR_IMAGE_VIEW, DOCTOR_GATE,
		DOCTOR_HAPROXY,	    DOCTOR_TRACER,     DOCTOR_BACK_END,
		DOCTOR_IO_URING,    DOCTOR_REFUSALS,   DOCTOR_SYSBOX,
		DOCTOR_KATA,	    DOCTOR_TRACEE};

	set_finding(v, DOCTOR_DAEMON, DOCTOR_MISSING, v->host->no_daemon);
	for (size_t i = 0; i < ARRAY_LEN(its); i++)
		set_unasked(v, its[i], "Docker does not answer");
}

/* --- trials --------------------------------------------------------------- */

static void judge_image(struct visit *v, enum doctor_id id,
			const struct doctor_image *image)
{
	set_finding(v, id, state_of(image->there), image->why);
}

static void set_tried(struct visit *v, enum doctor_id id,
		      const struct probe_part *part, const char *works)
{
	if (part->works == FACT_YES)
		set_finding(v, id, DOCTOR_OK, works);
	else
		set_finding(v, id, state_of(part->works), part->words);
}

/* How the tracer does it, and what it cannot. */
static void judge_back_end(struct visit *v)
{
	static const enum doctor_id its[] = {DOCTOR_BACK_END, DOCTOR_IO_URING,
					     DOCTOR_REFUSALS};
	const struct probe_session *s = &v->host->tried;
	bool raw, followed, all;

	if (s->tracer.works != FACT_YES) {
		for (size_t i = 0; i < ARRAY_LEN(its); i++)
			set_unasked(v, its[i],
				    "not tried: the tracer does not work");
		return;
	}
	raw = strcmp(s->back_end, "sys_exit") == 0;
	followed = strcmp(s->io_uring, "followed") == 0;
	all = *s->missing == '\0';
	set_finding(v, DOCTOR_BACK_END, raw ? DOCTOR_MISSING : DOCTOR_OK,
		    arena_fmt(v->a, "%s%s", s->back_end,
			      raw ? "; fexit and lsm are refused by this kernel"
				  : "")
			    .p);
	set_finding(v, DOCTOR_IO_URING, followed ? DOCTOR_OK : DOCTOR_MISSING,
		    followed ? "what is done by it is recorded" : NULL);
	set_finding(v, DOCTOR_REFUSALS, all ? DOCTOR_OK : DOCTOR_MISSING,
		    all ? NULL : s->missing);
}

static void judge_gate(struct visit *v, const char *untried)
{
	const struct probe_session *s = &v->host->tried;

	set_tried(v, DOCTOR_GATE, &s->gate,
		  arena_fmt(v->a,
			    DOCTOR_GATE_TRIED,
			    (long long)s->gate.ms)
			  .p);
	if (s->gate.works == FACT_YES)
		set_finding(v, DOCTOR_IPV6,
			    s->ipv6 ? DOCTOR_OK : DOCTOR_MISSING, NULL);
	else
		set_unasked(v, DOCTOR_IPV6,
			    "not tried: the gate does not work");
	set_tried(v, DOCTOR_HAPROXY, &s->haproxy, s->haproxy.words);
	if (v->host->gate.there != FACT_YES) {
		set_unasked(v, DOCTOR_GATE, untried);
		set_unasked(v, DOCTOR_HAPROXY, untried);
	}
}

static void judge_trials(struct visit *v)
{
	static const char untried[] = "not tried: its image is missing";
	const struct doctor_host *h = v->host;
	const struct probe_part *tracer = &h->tried.tracer;

	judge_image(v, DOCTOR_IMAGE_GATE, &h->gate);
	judge_image(v, DOCTOR_IMAGE_WATCH, &h->watch);
	judge_image(v, DOCTOR_IMAGE_AGENT, &h->agent);
	judge_image(v, DOCTOR_IMAGE_VIEW, &h->view);
	judge_gate(v, untried);
	set_tried(v, DOCTOR_TRACER, tracer,
		  arena_fmt(v->a,
			    "tried: it sees the kernel's events after %lld ms",
			    (long long)tracer->ms)
			  .p);
	judge_back_end(v);
	if (h->watch.there != FACT_YES)
		set_unasked(v, DOCTOR_TRACER, untried);
}

/* --- the kernel ----------------------------------------------------------- */

/* Docker Desktop's, or another machine's: what is said here is not of it. */
static void judge_another_kernel(struct visit *v)
{
	static const enum doctor_id its[] = {DOCTOR_BRIDGE, DOCTOR_BTF,
					     DOCTOR_LSMS, DOCTOR_USERNS,
					     DOCTOR_FUSE};
	const char *why = arena_fmt(v->a, "Docker is on Linux %s, this is %s",
				    v->host->info.kernel, v->host->facts.kernel)
				  .p;

	for (size_t i = 0; i < ARRAY_LEN(its); i++)
		set_unasked(v, its[i], why);
	set_finding(v, DOCTOR_SHARED, DOCTOR_MISSING, why);
}

/* Root opens what a user may not; in a rootless Docker nobody is that. */
static void judge_fuse(struct visit *v)
{
	const struct facts *f = &v->host->facts;

	if (v->host->entered && f->fuse == FACT_YES && !f->opens_fuse)
		set_finding(
			v, DOCTOR_FUSE, DOCTOR_MISSING,
			"Docker is rootless, and its user may not open it: chmod 666 /dev/fuse");
	else
		set_finding(v, DOCTOR_FUSE, state_of(f->fuse), f->fuse_why);
}

/* Where a view is mounted, and whether others get it from there. */
static void judge_mount(struct visit *v)
{
	const struct facts_mount *m = &v->host->mount;

	if (v->host->info.rootless) {
		set_finding(
			v, DOCTOR_SHARED,
			v->host->entered ? DOCTOR_OK : DOCTOR_MISSING,
			v->host->entered
				? "Docker is rootless: sessions share one of their own with it"
				: "Docker is rootless, and in namespaces that cannot be entered");
		return;
	}
	set_finding(v, DOCTOR_SHARED, state_of(m->shared),
		    m->at ? arena_fmt(v->a, "%s is on the mount %s",
				      v->host->state, m->at)
				    .p
			  : NULL);
}

/* Beside what its Docker allows; where there is none, natively. */
static void judge_traces(struct visit *v)
{
	if (v->host->facts.traces != FACT_NO)
		return;
	set_finding(
		v, DOCTOR_PROTECT, DOCTOR_MISSING,
		"kernel.yama.ptrace_scope is 3: nothing is stopped before it begins");
}

static void judge_kernel(struct visit *v)
{
	const struct facts *f = &v->host->facts;

	if (!v->host->no_daemon &&
	    strcmp(v->host->info.kernel, f->kernel) != 0) {
		judge_another_kernel(v);
		return;
	}
	set_finding(v, DOCTOR_BRIDGE, state_of(f->bridge_netfilter), NULL);
	judge_fuse(v);
	judge_mount(v);
	judge_traces(v);
	set_finding(v, DOCTOR_BTF, state_of(f->btf),
		    arena_fmt(v->a, "Linux %s", f->kernel).p);
	set_finding(v, DOCTOR_LSMS, f->lsms ? DOCTOR_OK : DOCTOR_UNKNOWN,
		    f->lsms);
	set_finding(v, DOCTOR_USERNS, state_of(f->user_namespaces), NULL);
}

static void judge_ssh_agent(struct visit *v)
{
	const struct doctor_host *h = v->host;
	const char *keys =
		arena_fmt(v->a, "%u key%s, at %s", h->ssh_keys,
			  h->ssh_keys == 1 ? "" : "s", h->ssh ? h->ssh : "")
			.p;

	if (!h->ssh)
		set_finding(v, DOCTOR_SSH_AGENT, DOCTOR_MISSING,
			    "SSH_AUTH_SOCK is not set");
	else if (h->no_ssh)
		set_finding(v, DOCTOR_SSH_AGENT, DOCTOR_MISSING, h->no_ssh);
	else
		set_finding(v, DOCTOR_SSH_AGENT,
			    h->ssh_keys ? DOCTOR_OK : DOCTOR_MISSING, keys);
}

void doctor_judge(struct arena *a, const struct doctor_host *host,
		  struct doctor *out)
{
	struct visit v = {a, host, out};

	*out = (struct doctor){.engine = host->engine,
			       .viewless = host->viewless};
	judge_client(&v);
	judge_ssh_agent(&v);
	if (host->no_daemon) {
		judge_silence(&v);
	} else {
		judge_daemon(&v);
		judge_runtime(&v, DOCTOR_SYSBOX, "sysbox-runc");
		judge_runtime(&v, DOCTOR_KATA, "kata");
		judge_tracee(&v);
		judge_trials(&v);
	}
	judge_kernel(&v);
	doctor_judge_native(a, host, out);
}
