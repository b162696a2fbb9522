/*
 * What the native engine's steps come to: which of them a session would not
 * take, in the host's words, and the one command that mends it here.
 */
#include "compiler/base/ascii.h"
#include "compiler/cli/doctor/doctor_judge.h"

#include <errno.h>
#include <string.h>

#define HAPROXY_MAJOR 2
#define HAPROXY_MINOR 6

#define OUTER "start this container with "

static const enum doctor_id checks[TRY_STEPS] = {
	[TRY_USERS] = DOCTOR_NATIVE_USERS,
	[TRY_NAMESPACES] = DOCTOR_NATIVE_NAMESPACES,
	[TRY_MOUNTS] = DOCTOR_NATIVE_MOUNTS,
	[TRY_PROC] = DOCTOR_NATIVE_PROC,
	[TRY_VIEW] = DOCTOR_NATIVE_VIEW,
	[TRY_TAP] = DOCTOR_NATIVE_TAP,
	[TRY_UPLINK] = DOCTOR_NATIVE_WAY,
	[TRY_RULES] = DOCTOR_NATIVE_RULES,
	[TRY_FILTER] = DOCTOR_NATIVE_FILTER,
	[TRY_ASKED] = DOCTOR_NATIVE_ASKED,
};

/* --- remedies ------------------------------------------------------------- */

static bool is_refused(int code)
{
	return code == -EPERM || code == -EACCES;
}

static const char *mend_namespaces(const struct try_host *h, int code)
{
	if (h->none)
		return "sysctl user.max_user_namespaces=15000";
	if (code == -ENOSPC)
		return "sysctl user.max_user_namespaces=15000, and those of net, mnt, pid, ipc, uts and cgroup";
	if (!is_refused(code))
		return NULL;
	if (h->forbidden && !h->root)
		return "sysctl kernel.unprivileged_userns_clone=1";
	if (h->apparmor && !h->root)
		return h->profile
			       ? "apparmor_parser -r /etc/apparmor.d/membrane (AppArmor restricts user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1)"
			       : "sysctl kernel.apparmor_restrict_unprivileged_userns=0 (it is 1), or the Debian package, which has a profile";
	return h->container ? OUTER
		       "--security-opt seccomp=unconfined (and --security-opt apparmor=unconfined where it has AppArmor)"
			    : NULL;
}

static const char *mend_device(const struct try_host *h, int code,
			       const char *outer, const char *mode)
{
	if (h->container &&
	    (code == -ENOENT || code == -EPERM || code == -ENODEV))
		return outer;
	return code == -EACCES ? mode : NULL;
}

/* Each call of it fails in a way of its own: asking_try(). */
static const char *mend_asked(const struct try_host *h, int code)
{
	if (code == -EBUSY)
		return "run membrane outside of the sandbox that it runs in: that has its calls asked about, and a process has one who is asked";
	if (!is_refused(code))
		return NULL;
	return h->container
		       ? OUTER
		       "--security-opt seccomp=unconfined, and on a host where kernel.yama.ptrace_scope is 2 or less"
		       : "sysctl kernel.yama.ptrace_scope=2 (from 3 it takes a reboot): who is asked reads what is asked for";
}

/* The command for what failed so here; NULL: what the table has. */
static const char *remedy_of(const struct try_host *h, enum try_step step,
			     int code)
{
	switch (step) {
	case TRY_USERS:
	case TRY_NAMESPACES:
	case TRY_MOUNTS:
		return mend_namespaces(h, code);
	case TRY_PROC:
		return h->container && is_refused(code) ? OUTER
			       "--security-opt systempaths=unconfined"
							: NULL;
	case TRY_VIEW:
		return mend_device(h, code, OUTER "--device /dev/fuse",
				   "chmod 666 /dev/fuse");
	case TRY_TAP:
		return mend_device(h, code, OUTER "--device /dev/net/tun",
				   "chmod 666 /dev/net/tun");
	case TRY_UPLINK:
		return code == -ENOENT ? doctor_remedy(DOCTOR_NATIVE_UPLINK)
				       : NULL;
	case TRY_ASKED:
		return mend_asked(h, code);
	case TRY_RULES:
	case TRY_FILTER:
	case TRY_STEPS:
		break;
	}
	return NULL;
}

const char *doctor_step_remedy(const struct try_host *h, enum try_step step,
			       int code)
{
	const char *here = remedy_of(h, step, code);

	return here ? here : doctor_remedy(checks[step]);
}

/* --- findings ------------------------------------------------------------- */

static void judge_step(const struct doctor_host *h, enum try_step step,
		       struct doctor_finding *out)
{
	const struct try_result *r = &h->steps.of[step];

	switch (r->state) {
	case TRY_UNTRIED:
		*out = (struct doctor_finding){
			.detail = "not tried: a step before it fails",
			.unasked = true};
		return;
	case TRY_FAILED:
		*out = (struct doctor_finding){
			.state = DOCTOR_MISSING,
			.detail = r->words,
			.remedy = remedy_of(&h->steps.host, step, r->code)};
		return;
	case TRY_WORKED:
		*out = (struct doctor_finding){.state = DOCTOR_OK,
					       .detail = "tried"};
		return;
	}
}

/* All of them at once, and its own programs. */
static void judge_gate(struct arena *a, const struct probe_part *p,
		       struct doctor_finding *out)
{
	switch (p->works) {
	case FACT_YES:
		*out = (struct doctor_finding){
			.state = DOCTOR_OK,
			.detail =
				arena_fmt(
					a,
					DOCTOR_GATE_TRIED,
					(long long)p->ms)
					.p};
		return;
	case FACT_NO:
		*out = (struct doctor_finding){.state = DOCTOR_MISSING,
					       .detail = p->words};
		return;
	case FACT_UNKNOWN:
		break;
	}
	*out = (struct doctor_finding){
		.detail = "not tried: a step before it fails", .unasked = true};
}

static void judge_program(const struct doctor_program *p,
			  struct doctor_finding *out)
{
	*out = (struct doctor_finding){.state = p->line ? DOCTOR_OK
							: DOCTOR_MISSING,
				       .detail = p->line ? p->line : p->why};
}

/* A number at the begin of *s, and what is behind it. */
static unsigned take_number(struct str *s)
{
	size_t n = 0;
	uint64_t value = 0;

	while (n < s->n && ascii_is_digit(s->p[n]))
		n++;
	if (!str_u64(str_slice(*s, 0, n), 9999, &value))
		value = 0;
	*s = str_slice(*s, n, s->n);
	return (unsigned)value;
}

/* "HAProxy version 2.6.12-1+deb12u4 2026/10/17": what gate.cfg is written for
 * is in 2.6. */
static bool is_new_haproxy(const char *line)
{
	static const char before[] = "version ";
	const char *at = strstr(line, before);
	struct str rest;
	unsigned major;

	if (!at)
		return false;
	rest = str_of(at + strlen(before));
	major = take_number(&rest);
	if (major != HAPROXY_MAJOR)
		return major > HAPROXY_MAJOR;
	if (rest.n == 0 || rest.p[0] != '.')
		return false;
	rest = str_slice(rest, 1, rest.n);
	return take_number(&rest) >= HAPROXY_MINOR;
}

void doctor_judge_native(struct arena *a, const struct doctor_host *host,
			 struct doctor *out)
{
	struct doctor_finding *haproxy = &out->of[DOCTOR_NATIVE_HAPROXY];

	judge_program(&host->programs, &out->of[DOCTOR_NATIVE_PROGRAMS]);
	judge_program(&host->uplink, &out->of[DOCTOR_NATIVE_UPLINK]);
	judge_program(&host->haproxy, haproxy);
	if (host->haproxy.line && !is_new_haproxy(host->haproxy.line))
		*haproxy = (struct doctor_finding){
			.state = DOCTOR_MISSING,
			.detail = arena_fmt(a, "%s: before 2.6",
					    host->haproxy.line)
					  .p};
	for (enum try_step i = 0; i < TRY_STEPS; i++)
		judge_step(host, i, &out->of[checks[i]]);
	out->of[DOCTOR_NATIVE_LIMITS] = (struct doctor_finding){
		.state = host->no_group ? DOCTOR_MISSING : DOCTOR_OK,
		.detail = host->no_group ? host->no_group : "tried"};
	out->of[DOCTOR_NATIVE_TRACER] = (struct doctor_finding){
		.state = host->steps.host.root ? DOCTOR_OK : DOCTOR_MISSING,
		.detail = host->steps.host.root
				  ? "who runs this may load its programs"
				  : "root alone may load its programs"};
	judge_gate(a, &host->native.part, &out->of[DOCTOR_NATIVE_GATE]);
}
