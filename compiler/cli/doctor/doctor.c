#include "compiler/cli/doctor/doctor.h"

#include "compiler/base/ascii.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/ir/tracee.h"
#include "compiler/plan/docker_json.h"

#include <errno.h>
#include <string.h>

#define ANSWER_MS 5000 /* a daemon that hangs must not hang this */

struct visit {
	struct arena *a;
	struct doctor *d;
	struct docker *docker; /* NULL: it does not answer */
	struct docker_info info;
	struct facts facts;
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

static const char *kept_text(struct visit *v, const char *s)
{
	return arena_cstr(v->a, str_of(s));
}

/* --- Docker --------------------------------------------------------------- */

static void look_for_client(struct visit *v)
{
	char *argv[] = {arena_cstr(v->a, STR("docker")),
			arena_cstr(v->a, STR("--version")), NULL};
	const char *line;
	struct err err;

	if (probe_line(v->a, argv, &line, &err) < 0)
		set_finding(v, DOCTOR_CLIENT, DOCTOR_MISSING,
			    kept_text(v, err.text));
	else
		set_finding(v, DOCTOR_CLIENT, DOCTOR_OK, line);
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

static void look_at_daemon(struct visit *v, const struct endpoint *at)
{
	const struct docker_info *i = &v->info;
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
	set_finding(v, DOCTOR_USERS, i->remapped ? DOCTOR_MISSING : DOCTOR_OK,
		    i->remapped ? "those of containers are others on the host"
				: NULL);
	set_finding(v, DOCTOR_RUNC,
		    *i->runc == '\0' || is_old_runc(i->runc) ? DOCTOR_UNKNOWN
							     : DOCTOR_OK,
		    i->runc);
}

/* True when it is there. */
static bool look_for_image(struct visit *v, enum doctor_id id,
			   const char *image)
{
	struct err err;
	int rc = docker_has_image(v->docker, image, &err);

	if (rc < 0)
		set_finding(v, id, DOCTOR_UNKNOWN, kept_text(v, err.text));
	else
		set_finding(v, id, rc ? DOCTOR_OK : DOCTOR_MISSING, NULL);
	return rc == 1;
}

static void look_for_runtime(struct visit *v, enum doctor_id id,
			     const char *name)
{
	struct str rest = str_of(v->info.runtimes), one;
	bool has = false;

	while (str_field(&rest, ',', &one))
		has |= str_is(str_trim(one), name);
	set_finding(
		v, id, has ? DOCTOR_OK : DOCTOR_MISSING,
		has ? NULL
		    : arena_fmt(v->a, "Docker has: %s", v->info.runtimes).p);
}

/* The releases that are here, and which of them a policy can name. */
static void look_for_tracee(struct visit *v)
{
	docker_tags tags = {0};
	struct buf known;
	struct err err;

	buf_init(&known, v->a);
	if (docker_image_tags(v->docker, "aquasec/tracee", &tags, &err) < 0) {
		set_finding(v, DOCTOR_TRACEE, DOCTOR_UNKNOWN,
			    kept_text(v, err.text));
		return;
	}
	vec_each(tag, &tags) {
		unsigned release;

		if (tracee_release(str_of(*tag), &release) &&
		    release >= TRACEE_RELEASE_MIN &&
		    release <= TRACEE_RELEASE_MAX)
			buf_addf(&known, "%s%s", known.n ? ", " : "", *tag);
	}
	/* Tracee says so at debug level alone, and goes on without */
	if (known.n && v->facts.kprobes == FACT_NO &&
	    str_is(str_of(v->info.kernel), v->facts.kernel))
		buf_adds(
			&known,
			"; without kprobes in this kernel it cannot record files and sockets");
	if (known.n)
		set_finding(v, DOCTOR_TRACEE, DOCTOR_OK,
			    arena_cstr(v->a, buf_str(&known)));
	else
		set_finding(v, DOCTOR_TRACEE, DOCTOR_MISSING,
			    tags.n ? "none of 0.20.0 to 0.24" : NULL);
}

static void not_asked(struct visit *v)
{
	static const enum doctor_id its[] = {
		DOCTOR_STORAGE,	   DOCTOR_LIMITS,      DOCTOR_SECCOMP,
		DOCTOR_MAC,	   DOCTOR_USERS,       DOCTOR_RUNC,
		DOCTOR_IMAGE_GATE, DOCTOR_IMAGE_AGENT, DOCTOR_IMAGE_WATCH,
		DOCTOR_IMAGE_VIEW, DOCTOR_GATE,	       DOCTOR_HAPROXY,
		DOCTOR_TRACER,	   DOCTOR_BACK_END,    DOCTOR_IO_URING,
		DOCTOR_REFUSALS,   DOCTOR_SYSBOX,      DOCTOR_KATA,
		DOCTOR_TRACEE};

	for (size_t i = 0; i < ARRAY_LEN(its); i++)
		set_unasked(v, its[i], "Docker does not answer");
}

/* Everything that the daemon is asked; nothing is started. */
static void ask_docker(struct visit *v, struct endpoint *at)
{
	struct err err;
	int rc = endpoint_find(v->a, endpoint_getenv, at, &err);

	at->timeout_ms = ANSWER_MS;
	if (rc == 0)
		rc = docker_open(v->a, at, &v->docker, &err);
	if (rc == 0)
		rc = docker_info(v->docker, &v->info, &err);
	if (rc == 0) {
		look_at_daemon(v, at);
		look_for_runtime(v, DOCTOR_SYSBOX, "sysbox-runc");
		look_for_runtime(v, DOCTOR_KATA, "kata");
		look_for_tracee(v);
		return;
	}
	set_finding(v, DOCTOR_DAEMON, DOCTOR_MISSING, kept_text(v, err.text));
	not_asked(v);
	docker_close(v->docker);
	v->docker = NULL;
}

/* --- trials --------------------------------------------------------------- */

static void set_tried(struct visit *v, enum doctor_id id,
		      const struct probe_part *part, const char *works)
{
	if (part->works == FACT_YES)
		set_finding(v, id, DOCTOR_OK, works);
	else
		set_finding(v, id, state_of(part->works), part->words);
}

/* How the tracer does it, and what it cannot. */
static void tell_back_end(struct visit *v, const struct probe_session *s)
{
	static const enum doctor_id its[] = {DOCTOR_BACK_END, DOCTOR_IO_URING,
					     DOCTOR_REFUSALS};
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

static int try_parts(struct visit *v, const char *state,
		     const struct plan *plan, struct err *err)
{
	static const char untried[] = "not tried: its image is missing";
	struct probe_session s = {0};
	bool gate, tracer;
	int rc;

	if (!v->docker)
		return 0;
	gate = look_for_image(v, DOCTOR_IMAGE_GATE, DOCKER_JSON_IMAGE_GATE);
	tracer = look_for_image(v, DOCTOR_IMAGE_WATCH, DOCKER_JSON_IMAGE_WATCH);
	look_for_image(v, DOCTOR_IMAGE_AGENT, DOCKER_JSON_IMAGE_AGENT);
	look_for_image(v, DOCTOR_IMAGE_VIEW, DOCKER_JSON_IMAGE_VIEW);
	rc = probe_session(v->a, v->docker, state, plan, gate, tracer, &s, err);
	if (rc < 0)
		return rc;
	set_tried(v, DOCTOR_GATE, &s.gate,
		  arena_fmt(v->a,
			    "tried: its rules are in the kernel after %lld ms",
			    (long long)s.gate.ms)
			  .p);
	if (s.gate.works == FACT_YES)
		set_finding(v, DOCTOR_IPV6, s.ipv6 ? DOCTOR_OK : DOCTOR_MISSING,
			    NULL);
	else
		set_unasked(v, DOCTOR_IPV6,
			    "not tried: the gate does not work");
	set_tried(v, DOCTOR_HAPROXY, &s.haproxy, s.haproxy.words);
	set_tried(v, DOCTOR_TRACER, &s.tracer,
		  arena_fmt(v->a,
			    "tried: it sees the kernel's events after %lld ms",
			    (long long)s.tracer.ms)
			  .p);
	tell_back_end(v, &s);
	if (!gate) {
		set_unasked(v, DOCTOR_GATE, untried);
		set_unasked(v, DOCTOR_HAPROXY, untried);
	}
	if (!tracer)
		set_unasked(v, DOCTOR_TRACER, untried);
	return 0;
}

/* --- the kernel ----------------------------------------------------------- */

/* Docker Desktop's, or another machine's: what is said here is not of it. */
static void is_another_kernel(struct visit *v)
{
	static const enum doctor_id its[] = {
		DOCTOR_BRIDGE,	 DOCTOR_BTF,  DOCTOR_LSMS,  DOCTOR_USERNS,
		DOCTOR_FANOTIFY, DOCTOR_FUSE, DOCTOR_SHARED};
	const char *why = arena_fmt(v->a, "Docker is on Linux %s, this is %s",
				    v->info.kernel, v->facts.kernel)
				  .p;

	for (size_t i = 0; i < ARRAY_LEN(its); i++)
		set_unasked(v, its[i], why);
}

/* Where a view is mounted, and whether others get it from there. */
static void look_at_mount(struct visit *v, const char *state)
{
	struct facts_mount m;

	facts_mount(v->a, state, &m);
	set_finding(
		v, DOCTOR_SHARED, state_of(m.shared),
		m.at ? arena_fmt(v->a, "%s is on the mount %s", state, m.at).p
		     : NULL);
}

static void look_at_kernel(struct visit *v, const char *state)
{
	const struct facts *f = &v->facts;

	if (v->docker && strcmp(v->info.kernel, f->kernel) != 0) {
		is_another_kernel(v);
		return;
	}
	set_finding(v, DOCTOR_BRIDGE, state_of(f->bridge_netfilter), NULL);
	set_finding(v, DOCTOR_FANOTIFY, state_of(f->fanotify), f->fanotify_why);
	set_finding(v, DOCTOR_FUSE, state_of(f->fuse), f->fuse_why);
	look_at_mount(v, state);
	set_finding(v, DOCTOR_BTF, state_of(f->btf),
		    arena_fmt(v->a, "Linux %s", f->kernel).p);
	set_finding(v, DOCTOR_LSMS, f->lsms ? DOCTOR_OK : DOCTOR_UNKNOWN,
		    f->lsms);
	set_finding(v, DOCTOR_USERNS, state_of(f->user_namespaces), NULL);
}

/* --- the command ---------------------------------------------------------- */

/* The default policy alone: nobody's own files, no workspace. */
static int compile_policy(struct arena *a, const struct options *o,
			  struct inputs *in, struct compilation *c)
{
	struct err err;

	if (inputs_find(a, o, in, &err) == 0) {
		in->front.workspace = NULL;
		in->front.global = in->standard;
		if (driver_compile(c, &in->front, &err) == 0) {
			console_diags(c->a, &c->diags);
			return c->ok ? STATUS_OK : STATUS_REFUSED;
		}
	}
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return STATUS_IO;
}

static int print_findings(struct arena *a, const struct options *o,
			  const struct doctor *d)
{
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};
	int status;

	buf_init(&out, a);
	if (options_get(o, OPTION_JSON))
		buf_add(&out, doctor_json(a, d));
	else
		doctor_view(&v, d);
	status = console_result(buf_str(&out));
	return status == STATUS_OK && !doctor_runs(d) ? STATUS_REFUSED : status;
}

int command_doctor(struct arena *a, const struct options *o)
{
	struct doctor d = {0};
	struct visit v = {.a = a, .d = &d};
	struct compilation c = {0};
	struct endpoint at = {0};
	struct inputs in;
	struct err err;
	int status = compile_policy(a, o, &in, &c);

	if (status == STATUS_OK) {
		facts_read(v.a, &v.facts);
		ask_docker(&v, &at);
		look_for_client(&v);
		look_at_kernel(&v, in.state);
		if (try_parts(&v, in.state, &c.plan, &err) < 0) {
			console_error("%s",
				      view_cleaned(a, str_of(err.text)).p);
			status = STATUS_IO;
		} else {
			status = print_findings(a, o, &d);
		}
		docker_close(v.docker);
	}
	driver_done(&c);
	return status;
}
