/* What `membrane doctor` makes of a host's answers, host by host. */
#include "compiler/cli/doctor/doctor_judge.h"
#include "tests/check.h"

#include <cjson/cJSON.h>

#include <errno.h>
#include <string.h>

static struct arena *a;
static struct doctor found;

#define WORKS(text)                                                            \
	{                                                                      \
		.works = FACT_YES, .words = (text), .ms = 80                   \
	}

static const char *tags[] = {"0.24.1", "latest", "0.19.0", "0.20.0"};

/* Everything is there. */
static struct doctor_host healthy(void)
{
	return (struct doctor_host){
		.engine = IR_ENGINE_DOCKER,
		.client = "Docker version 27.1",
		.at = {.socket = "/run/docker.sock"},
		.info = {.version = "27.1",
			 .api = "1.48",
			 .runc = "1.3.3",
			 .kernel = "6.12",
			 .storage = "overlay2",
			 .cgroup_version = "2",
			 .cgroup_driver = "systemd",
			 .seccomp = "builtin",
			 .mac = "apparmor",
			 .runtimes = "kata, runc, sysbox-runc",
			 .limits_memory = true,
			 .limits_pids = true},
		.tracee = {.v = tags, .n = ARRAY_LEN(tags)},
		.gate = {FACT_YES, NULL},
		.agent = {FACT_YES, NULL},
		.watch = {FACT_YES, NULL},
		.view = {FACT_YES, NULL},
		.steps = {.of = {[TRY_USERS] = {.state = TRY_WORKED},
				 [TRY_NAMESPACES] = {.state = TRY_WORKED},
				 [TRY_MOUNTS] = {.state = TRY_WORKED},
				 [TRY_PROC] = {.state = TRY_WORKED},
				 [TRY_VIEW] = {.state = TRY_WORKED},
				 [TRY_TAP] = {.state = TRY_WORKED},
				 [TRY_UPLINK] = {.state = TRY_WORKED},
				 [TRY_RULES] = {.state = TRY_WORKED},
				 [TRY_FILTER] = {.state = TRY_WORKED},
				 [TRY_ASKED] = {.state = TRY_WORKED}}},
		.native = {.part = {.works = FACT_YES, .words = "", .ms = 40}},
		.programs = {.line = "/usr/libexec/membrane"},
		.haproxy = {.line = "HAProxy version 2.6.12-1+deb12u4"},
		.uplink = {.line = "pasta 0.0~git20230309"},
		.ssh = "/run/user/1000/agent",
		.ssh_keys = 2,
		.tried = {.gate = WORKS(""),
			  .tracer = WORKS(""),
			  .haproxy = WORKS("HAProxy version 2.6"),
			  .ipv6 = true,
			  .back_end = "fexit",
			  .io_uring = "followed",
			  .missing = ""},
		.facts = {.kernel = "6.12",
			  .lsms = "lockdown,bpf",
			  .btf = FACT_YES,
			  .bridge_netfilter = FACT_YES,
			  .kprobes = FACT_YES,
			  .user_namespaces = FACT_YES,
			  .fuse = FACT_YES,
			  .traces = FACT_YES},
		.state = "/home/me/.membrane",
		.mount = {FACT_YES, "/home"},
	};
}

static bool is(enum doctor_id id, enum doctor_state state, const char *detail)
{
	const struct doctor_finding *f = &found.of[id];

	return f->state == state && !f->unasked &&
	       (detail ? f->detail && strcmp(f->detail, detail) == 0
		       : !f->detail);
}

static bool is_unasked(enum doctor_id id, const char *why)
{
	const struct doctor_finding *f = &found.of[id];

	return f->state == DOCTOR_UNKNOWN && f->unasked &&
	       strcmp(f->detail, why) == 0;
}

static void check_healthy(void)
{
	struct doctor_host h = healthy();

	h.steps.host.root = true;
	doctor_judge(a, &h, &found);
	for (int i = 0; i < DOCTOR_CHECKS; i++)
		CHECK_MSG(found.of[i].state == DOCTOR_OK, "check %d", i);
	CHECK(doctor_runs(&found));
	CHECK(is(DOCTOR_DAEMON, DOCTOR_OK,
		 "27.1, API 1.48, as root, at /run/docker.sock"));
	CHECK(is(DOCTOR_CLIENT, DOCTOR_OK, "Docker version 27.1"));
	CHECK(is(DOCTOR_LIMITS, DOCTOR_OK, "cgroup v2, systemd"));
	CHECK(is(DOCTOR_SECCOMP, DOCTOR_OK, "profile builtin"));
	CHECK(is(DOCTOR_TRACEE, DOCTOR_OK, "0.24.1, 0.20.0"));
	CHECK(is(DOCTOR_GATE, DOCTOR_OK,
		 "tried: its rules are loaded and HAProxy answers after 80 ms"));
	CHECK(is(DOCTOR_HAPROXY, DOCTOR_OK, "HAProxy version 2.6"));
	CHECK(is(DOCTOR_TRACER, DOCTOR_OK,
		 "tried: it sees the kernel's events after 80 ms"));
	CHECK(is(DOCTOR_SHARED, DOCTOR_OK,
		 "/home/me/.membrane is on the mount /home"));
	CHECK(is(DOCTOR_BTF, DOCTOR_OK, "Linux 6.12"));
	CHECK(is(DOCTOR_SYSBOX, DOCTOR_OK, NULL));
}

/* A Docker that lacks what can be lacked; sessions run all the same. */
static void check_poor(void)
{
	struct doctor_host h = healthy();

	h.at = (struct endpoint){.base = "https://10.0.0.1:2376"};
	h.info.storage = "vfs";
	h.info.limits_pids = false;
	h.info.cgroup_version = h.info.cgroup_driver = "";
	h.info.seccomp = h.info.mac = h.info.runc = "";
	h.info.runtimes = "runc";
	h.info.remapped = true;
	h.tracee.n = 0;
	doctor_judge(a, &h, &found);
	CHECK(doctor_runs(&found));
	CHECK(is(DOCTOR_DAEMON, DOCTOR_OK,
		 "27.1, API 1.48, as root, at https://10.0.0.1:2376"));
	CHECK(is(DOCTOR_STORAGE, DOCTOR_MISSING, "vfs"));
	CHECK(is(DOCTOR_LIMITS, DOCTOR_MISSING, "cgroup v1, no driver"));
	CHECK(is(DOCTOR_SECCOMP, DOCTOR_MISSING, NULL));
	CHECK(is(DOCTOR_MAC, DOCTOR_MISSING, ""));
	CHECK(is(DOCTOR_RUNC, DOCTOR_UNKNOWN, ""));
	CHECK(is(DOCTOR_USERS, DOCTOR_MISSING,
		 "those of containers are others on the host"));
	CHECK(found.of[DOCTOR_PROTECT].state == DOCTOR_MISSING);
	CHECK(is(DOCTOR_SYSBOX, DOCTOR_MISSING, "Docker has: runc"));
	CHECK(is(DOCTOR_KATA, DOCTOR_MISSING, "Docker has: runc"));
	CHECK(is(DOCTOR_TRACEE, DOCTOR_MISSING, NULL));
	h.info.seccomp = "unconfined";
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_SECCOMP, DOCTOR_MISSING, "profile unconfined"));
}

/* CVE-2025-31133 and others: 1.2.8, 1.3.3, and what came after those. */
static void check_runc(void)
{
	static const struct {
		const char *version;
		enum doctor_state state;
	} known[] = {
		{"0.9.9", DOCTOR_UNKNOWN},  {"1.1.5+ds1", DOCTOR_UNKNOWN},
		{"1.2.7", DOCTOR_UNKNOWN},  {"1.2.8", DOCTOR_OK},
		{"1.3.2", DOCTOR_UNKNOWN},  {"1.3.3-1", DOCTOR_OK},
		{"1.4.0", DOCTOR_OK},	    {"2.0", DOCTOR_OK},
		{"v1.3.3", DOCTOR_UNKNOWN}, {"1..3", DOCTOR_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct doctor_host h = healthy();

		h.info.runc = known[i].version;
		doctor_judge(a, &h, &found);
		CHECK_MSG(is(DOCTOR_RUNC, known[i].state, known[i].version),
			  "%s", known[i].version);
	}
}

static void check_tracee(void)
{
	struct doctor_host h = healthy();

	h.facts.kprobes = FACT_NO;
	doctor_judge(a, &h, &found);
	CHECK(is(
		DOCTOR_TRACEE, DOCTOR_OK,
		"0.24.1, 0.20.0; without kprobes in this kernel it cannot record files and sockets"));
	/* that is of this kernel, and Docker's is another */
	h.info.kernel = "5.10";
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_TRACEE, DOCTOR_OK, "0.24.1, 0.20.0"));
	h.tracee.v = tags + 1;
	h.tracee.n = 2;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_TRACEE, DOCTOR_MISSING, "none of 0.20.0 to 0.24"));
	h.no_tracee = "docker: disk full";
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_TRACEE, DOCTOR_UNKNOWN, "docker: disk full"));
}

static void check_no_docker(void)
{
	struct doctor_host h = healthy();

	h.client = NULL;
	h.no_client = "docker: No such file or directory";
	h.no_daemon = "docker at /run/docker.sock does not answer";
	h.info = (struct docker_info){0};
	doctor_judge(a, &h, &found);
	CHECK(!doctor_runs(&found));
	CHECK(is(DOCTOR_CLIENT, DOCTOR_MISSING, h.no_client));
	CHECK(is(DOCTOR_DAEMON, DOCTOR_MISSING, h.no_daemon));
	for (int i = DOCTOR_STORAGE; i <= DOCTOR_HAPROXY; i++)
		CHECK_MSG(
			is_unasked((enum doctor_id)i, "Docker does not answer"),
			"check %d", i);
	CHECK(is_unasked(DOCTOR_KATA, "Docker does not answer"));
	/* what is this host's own is known all the same */
	CHECK(is(DOCTOR_FUSE, DOCTOR_OK, NULL));
	CHECK(is(DOCTOR_LSMS, DOCTOR_OK, "lockdown,bpf"));
	CHECK(found.of[DOCTOR_SHARED].state == DOCTOR_OK);
}

static void check_images(void)
{
	static const char untried[] = "not tried: its image is missing";
	struct doctor_host h = healthy();

	h.gate = h.watch = (struct doctor_image){FACT_NO, NULL};
	h.agent = (struct doctor_image){FACT_UNKNOWN, "docker: disk full"};
	h.tried = (struct probe_session){0};
	doctor_judge(a, &h, &found);
	CHECK(!doctor_runs(&found));
	CHECK(is(DOCTOR_IMAGE_GATE, DOCTOR_MISSING, NULL));
	CHECK(is(DOCTOR_IMAGE_AGENT, DOCTOR_UNKNOWN, "docker: disk full"));
	CHECK(is_unasked(DOCTOR_GATE, untried));
	CHECK(is_unasked(DOCTOR_HAPROXY, untried));
	CHECK(is_unasked(DOCTOR_TRACER, untried));
	CHECK(is_unasked(DOCTOR_IPV6, "not tried: the gate does not work"));
	CHECK(is_unasked(DOCTOR_BACK_END,
			 "not tried: the tracer does not work"));
}

static void check_trials(void)
{
	struct doctor_host h = healthy();

	h.tried.gate = (struct probe_part){FACT_NO, "no nf_tables", 5};
	h.tried.haproxy = (struct probe_part){FACT_UNKNOWN, "too late", 5};
	h.tried.back_end = "sys_exit";
	h.tried.io_uring = "seen";
	h.tried.missing = "cap_capable";
	doctor_judge(a, &h, &found);
	CHECK(!doctor_runs(&found));
	CHECK(is(DOCTOR_GATE, DOCTOR_MISSING, "no nf_tables"));
	CHECK(is(DOCTOR_HAPROXY, DOCTOR_UNKNOWN, "too late"));
	CHECK(is_unasked(DOCTOR_IPV6, "not tried: the gate does not work"));
	CHECK(is(DOCTOR_BACK_END, DOCTOR_MISSING,
		 "sys_exit; fexit and lsm are refused by this kernel"));
	CHECK(is(DOCTOR_IO_URING, DOCTOR_MISSING, NULL));
	CHECK(is(DOCTOR_REFUSALS, DOCTOR_MISSING, "cap_capable"));
	h = healthy();
	h.tried.ipv6 = false;
	h.tried.tracer = (struct probe_part){FACT_NO, "no BTF", 5};
	doctor_judge(a, &h, &found);
	CHECK(doctor_runs(&found));
	CHECK(is(DOCTOR_IPV6, DOCTOR_MISSING, NULL));
	CHECK(is(DOCTOR_TRACER, DOCTOR_MISSING, "no BTF"));
	CHECK(is_unasked(DOCTOR_REFUSALS,
			 "not tried: the tracer does not work"));
}

static void check_kernels(void)
{
	static const char why[] = "Docker is on Linux 5.10, this is 6.12";
	struct doctor_host h = healthy();

	h.info.kernel = "5.10";
	doctor_judge(a, &h, &found);
	CHECK(!doctor_runs(&found));
	CHECK(is(DOCTOR_SHARED, DOCTOR_MISSING, why));
	CHECK(is_unasked(DOCTOR_FUSE, why) && is_unasked(DOCTOR_BTF, why) &&
	      is_unasked(DOCTOR_LSMS, why));
	h = healthy();
	h.info.rootless = true;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_DAEMON, DOCTOR_OK,
		 "27.1, API 1.48, rootless, at /run/docker.sock"));
	CHECK(is(
		DOCTOR_SHARED, DOCTOR_MISSING,
		"Docker is rootless, and in namespaces that cannot be entered"));
	CHECK(is(DOCTOR_FUSE, DOCTOR_OK, NULL));
	CHECK(found.of[DOCTOR_PROTECT].state == DOCTOR_MISSING);
	h.entered = true;
	doctor_judge(a, &h, &found);
	CHECK(is(
		DOCTOR_SHARED, DOCTOR_OK,
		"Docker is rootless: sessions share one of their own with it"));
	CHECK(is(
		DOCTOR_FUSE, DOCTOR_MISSING,
		"Docker is rootless, and its user may not open it: chmod 666 /dev/fuse"));
	h.facts.opens_fuse = true;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_FUSE, DOCTOR_OK, NULL));
	CHECK(found.of[DOCTOR_PROTECT].state == DOCTOR_MISSING);
	h = healthy();
	h.facts.fuse = FACT_UNKNOWN;
	h.facts.fuse_why = "/dev/fuse: Operation not permitted";
	h.facts.user_namespaces = h.facts.btf = FACT_NO;
	h.facts.lsms = NULL;
	h.mount = (struct facts_mount){FACT_NO, NULL};
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_FUSE, DOCTOR_UNKNOWN, h.facts.fuse_why));
	CHECK(is(DOCTOR_USERNS, DOCTOR_MISSING, NULL));
	CHECK(is(DOCTOR_BTF, DOCTOR_MISSING, "Linux 6.12"));
	CHECK(is(DOCTOR_LSMS, DOCTOR_UNKNOWN, NULL));
	CHECK(is(DOCTOR_SHARED, DOCTOR_MISSING, NULL));
	CHECK(found.of[DOCTOR_PROTECT].state == DOCTOR_OK);
	h.facts.traces = FACT_NO;
	doctor_judge(a, &h, &found);
	CHECK(is(
		DOCTOR_PROTECT, DOCTOR_MISSING,
		"kernel.yama.ptrace_scope is 3: nothing is stopped before it begins"));
}

/* --- the native engine ---------------------------------------------------- */

static struct try_result failed(int code)
{
	return (struct try_result){TRY_FAILED, code, "it says why"};
}

static bool mends(enum doctor_id id, const char *remedy)
{
	const struct doctor_finding *f = &found.of[id];

	return is(id, DOCTOR_MISSING, "it says why") &&
	       (remedy ? f->remedy && strstr(f->remedy, remedy) : !f->remedy);
}

/* Sessions run without it, by some policies. */
static bool is_extra(int step)
{
	return step == TRY_TAP || step == TRY_UPLINK || step == TRY_ASKED;
}

/* Names alone are reached without a device of the uplink's. */
static void check_native_needs(void)
{
	struct doctor_host h = healthy();

	h.no_daemon = "docker at /run/docker.sock does not answer";
	h.engine = IR_ENGINE_NATIVE;
	doctor_judge(a, &h, &found);
	CHECK(doctor_runs(&found));
	CHECK(is(DOCTOR_NATIVE_USERS, DOCTOR_OK, "tried"));
	CHECK(is(DOCTOR_NATIVE_PROGRAMS, DOCTOR_OK, "/usr/libexec/membrane"));
	for (int i = 0; i < TRY_STEPS; i++) {
		h = healthy();
		h.engine = IR_ENGINE_NATIVE;
		h.steps.of[i] = failed(-EIO);
		doctor_judge(a, &h, &found);
		CHECK_MSG(doctor_runs(&found) == is_extra(i), "step %d", i);
		h.engine = IR_ENGINE_DOCKER;
		doctor_judge(a, &h, &found);
		CHECK_MSG(doctor_runs(&found), "step %d", i);
		h.engine = IR_ENGINE_NATIVE;
		h.steps.of[i] = (struct try_result){.state = TRY_UNTRIED};
		doctor_judge(a, &h, &found);
		CHECK_MSG(doctor_runs(&found) == is_extra(i), "step %d", i);
	}
	CHECK(is_unasked(DOCTOR_NATIVE_ASKED,
			 "not tried: a step before it fails"));
}

/* Neither ends anything: what is weaker without them is said. */
static void check_native_extras(void)
{
	struct doctor_host h = healthy();

	h.engine = IR_ENGINE_NATIVE;
	h.steps.host.root = true;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_NATIVE_LIMITS, DOCTOR_OK, "tried"));
	CHECK(is(DOCTOR_NATIVE_TRACER, DOCTOR_OK,
		 "who runs this may load its programs"));
	h.no_group = "it says why";
	h.steps.host.root = false;
	doctor_judge(a, &h, &found);
	CHECK(mends(DOCTOR_NATIVE_LIMITS, NULL));
	CHECK(is(DOCTOR_NATIVE_TRACER, DOCTOR_MISSING,
		 "root alone may load its programs"));
	CHECK(doctor_runs(&found));
}

/* On the page for people. */
static bool says(const char *text)
{
	struct buf out;
	struct view v = {&out, 400, false};

	buf_init(&out, a);
	doctor_view(&v, &found);
	return strstr(arena_cstr(a, buf_str(&out)), text);
}

static bool needs(enum doctor_id id, const char *wanted)
{
	struct str text = doctor_json(a, &found);
	cJSON *root = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *one = cJSON_GetArrayItem(
		cJSON_GetObjectItem(root, "checks"), (int)id);
	bool is = cJSON_IsTrue(cJSON_GetObjectItem(one, "needed"));

	cJSON_Delete(root);
	return is == (strcmp(wanted, "needed") == 0);
}

/* Masks that are made at the start are mounts: nothing of a view is needed. */
static void check_viewless(void)
{
	static const enum doctor_id of_view[] = {
		DOCTOR_NATIVE_VIEW, DOCTOR_FUSE, DOCTOR_SHARED,
		DOCTOR_IMAGE_VIEW};
	static const enum ir_engine engines[] = {IR_ENGINE_NATIVE,
						 IR_ENGINE_DOCKER};

	for (size_t i = 0; i < ARRAY_LEN(engines); i++) {
		struct doctor_host h = healthy();

		h.engine = engines[i];
		h.steps.of[TRY_VIEW] = failed(-ENOENT);
		h.facts.fuse = h.view.there = h.mount.shared = FACT_NO;
		doctor_judge(a, &h, &found);
		CHECK(!doctor_runs(&found) && !says("of 'masks: start'"));
		h.viewless = true;
		doctor_judge(a, &h, &found);
		CHECK(doctor_runs(&found) && says("of 'masks: start'") &&
		      says("with masks that are made at the start, as"));
		for (size_t k = 0; k < ARRAY_LEN(of_view); k++)
			CHECK(found.of[of_view[k]].state == DOCTOR_MISSING &&
			      needs(of_view[k], "not"));
		/* what else is missing is so all the same */
		h.steps.of[TRY_PROC] = failed(-EPERM);
		h.gate.there = FACT_NO;
		doctor_judge(a, &h, &found);
		CHECK(!doctor_runs(&found));
	}
}

/* All of it at once, behind the steps. */
static void check_native_gate(void)
{
	struct doctor_host h = healthy();

	h.engine = IR_ENGINE_NATIVE;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_NATIVE_GATE, DOCTOR_OK,
		 "tried: its rules are loaded and HAProxy answers after 40 ms"));
	h.native.part = (struct probe_part){FACT_NO, "it says why", 9};
	doctor_judge(a, &h, &found);
	CHECK(mends(DOCTOR_NATIVE_GATE, NULL));
	CHECK(!doctor_runs(&found));
	h.native.part = (struct probe_part){.works = FACT_UNKNOWN};
	doctor_judge(a, &h, &found);
	CHECK(is_unasked(DOCTOR_NATIVE_GATE,
			 "not tried: a step before it fails"));
	CHECK(!doctor_runs(&found));
}

/* What is left open: the native engine, then Docker, then what each lacks. */
static void check_left_open(void)
{
	struct doctor_host h = healthy();

	h.engine = IR_ENGINE_AUTO;
	doctor_judge(a, &h, &found);
	CHECK(doctor_runs(&found));
	CHECK(needs(DOCTOR_NATIVE_USERS, "needed"));
	CHECK(needs(DOCTOR_DAEMON, "not"));
	h.steps.of[TRY_USERS] = failed(-EPERM);
	doctor_judge(a, &h, &found);
	CHECK(doctor_runs(&found));
	CHECK(needs(DOCTOR_NATIVE_USERS, "not"));
	CHECK(needs(DOCTOR_DAEMON, "needed"));
	h.no_daemon = "docker at /run/docker.sock does not answer";
	doctor_judge(a, &h, &found);
	CHECK(!doctor_runs(&found));
	CHECK(needs(DOCTOR_NATIVE_USERS, "needed"));
	CHECK(needs(DOCTOR_DAEMON, "needed"));
	CHECK(needs(DOCTOR_IPV6, "not"));
	h.steps.of[TRY_USERS] = (struct try_result){.state = TRY_WORKED};
	doctor_judge(a, &h, &found);
	CHECK(doctor_runs(&found));
}

/* Each program that is not there, or too old. */
static void check_native_programs(void)
{
	static const struct {
		const char *line;
		bool works;
	} known[] = {
		{"HAProxy version 2.6.12-1+deb12u4 2026/10/17", true},
		{"HAProxy version 2.10.0", true},
		{"HAProxy version 3.0.11", true},
		{"HA-Proxy version 1.8.0", false},
		{"HAProxy version 2.5.9", false},
		{"HAProxy version 2", false},
		{"HAProxy version x", false},
		{"another program", false},
	};
	struct doctor_host h = healthy();

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		h.haproxy.line = known[i].line;
		doctor_judge(a, &h, &found);
		CHECK_MSG((found.of[DOCTOR_NATIVE_HAPROXY].state ==
			   DOCTOR_OK) == known[i].works,
			  "%s", known[i].line);
	}
	h.haproxy = h.uplink = h.programs =
		(struct doctor_program){NULL, "it is not here"};
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_NATIVE_HAPROXY, DOCTOR_MISSING, "it is not here"));
	CHECK(is(DOCTOR_NATIVE_UPLINK, DOCTOR_MISSING, "it is not here"));
	CHECK(is(DOCTOR_NATIVE_PROGRAMS, DOCTOR_MISSING, "it is not here"));
}

struct native_remedy {
	enum try_step step;
	enum doctor_id id;
	int code;
	struct try_host host;
	const char *remedy; /* part of it; NULL: the table's */
};

static void check_native_remedies(void)
{
	static const struct native_remedy known[] = {
		{TRY_USERS,
		 DOCTOR_NATIVE_USERS,
		 -ENOSPC,
		 {.none = true},
		 "sysctl user.max_user_namespaces=15000"},
		{TRY_USERS,
		 DOCTOR_NATIVE_USERS,
		 -ENOSPC,
		 {0},
		 "and those of net"},
		{TRY_USERS,
		 DOCTOR_NATIVE_USERS,
		 -EPERM,
		 {.forbidden = true},
		 "unprivileged_userns_clone=1"},
		{TRY_NAMESPACES,
		 DOCTOR_NATIVE_NAMESPACES,
		 -EPERM,
		 {.apparmor = true, .profile = true},
		 "apparmor_parser -r"},
		{TRY_MOUNTS,
		 DOCTOR_NATIVE_MOUNTS,
		 -EACCES,
		 {.apparmor = true},
		 "apparmor_restrict_unprivileged_userns=0"},
		{TRY_USERS,
		 DOCTOR_NATIVE_USERS,
		 -EPERM,
		 {.apparmor = true, .root = true},
		 NULL},
		{TRY_USERS,
		 DOCTOR_NATIVE_USERS,
		 -EPERM,
		 {.container = true},
		 "--security-opt seccomp=unconfined"},
		{TRY_MOUNTS,
		 DOCTOR_NATIVE_MOUNTS,
		 -ENOSYS,
		 {.container = true},
		 NULL},
		{TRY_PROC,
		 DOCTOR_NATIVE_PROC,
		 -EPERM,
		 {.container = true},
		 "--security-opt systempaths=unconfined"},
		{TRY_PROC, DOCTOR_NATIVE_PROC, -EPERM, {0}, NULL},
		{TRY_VIEW,
		 DOCTOR_NATIVE_VIEW,
		 -ENOENT,
		 {.container = true},
		 "--device /dev/fuse"},
		{TRY_VIEW, DOCTOR_NATIVE_VIEW, -ENOENT, {0}, NULL},
		{TRY_VIEW,
		 DOCTOR_NATIVE_VIEW,
		 -EACCES,
		 {0},
		 "chmod 666 /dev/fuse"},
		{TRY_TAP,
		 DOCTOR_NATIVE_TAP,
		 -EPERM,
		 {.container = true},
		 "--device /dev/net/tun"},
		{TRY_TAP,
		 DOCTOR_NATIVE_TAP,
		 -EACCES,
		 {.container = true},
		 "chmod 666 /dev/net/tun"},
		{TRY_UPLINK, DOCTOR_NATIVE_WAY, -ENETDOWN, {0}, NULL},
		{TRY_UPLINK,
		 DOCTOR_NATIVE_WAY,
		 -ENOENT,
		 {0},
		 "apt-get install passt"},
		{TRY_RULES, DOCTOR_NATIVE_RULES, -EPROTONOSUPPORT, {0}, NULL},
		{TRY_FILTER, DOCTOR_NATIVE_FILTER, -EINVAL, {0}, NULL},
		{TRY_ASKED, DOCTOR_NATIVE_ASKED, -EINVAL, {0}, NULL},
		{TRY_ASKED,
		 DOCTOR_NATIVE_ASKED,
		 -EBUSY,
		 {.container = true},
		 "a process has one who is asked"},
		{TRY_ASKED,
		 DOCTOR_NATIVE_ASKED,
		 -EPERM,
		 {0},
		 "kernel.yama.ptrace_scope=2"},
		{TRY_ASKED,
		 DOCTOR_NATIVE_ASKED,
		 -EPERM,
		 {.container = true},
		 "--security-opt seccomp=unconfined"},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct doctor_host h = healthy();

		h.steps.host = known[i].host;
		h.steps.of[known[i].step] = failed(known[i].code);
		doctor_judge(a, &h, &found);
		CHECK_MSG(mends(known[i].id, known[i].remedy), "remedy %zu", i);
	}
}

/* With keys, without, with nobody there, and none. */
static void check_ssh_agent(void)
{
	static const char gone[] = "/run/user/1000/agent: No such file";
	struct doctor_host h = healthy();

	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_SSH_AGENT, DOCTOR_OK,
		 "2 keys, at /run/user/1000/agent"));
	h.ssh_keys = 1;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_SSH_AGENT, DOCTOR_OK,
		 "1 key, at /run/user/1000/agent"));
	h.ssh_keys = 0;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_SSH_AGENT, DOCTOR_MISSING,
		 "0 keys, at /run/user/1000/agent"));
	h.no_ssh = gone;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_SSH_AGENT, DOCTOR_MISSING, gone));
	h.ssh = NULL;
	doctor_judge(a, &h, &found);
	CHECK(is(DOCTOR_SSH_AGENT, DOCTOR_MISSING, "SSH_AUTH_SOCK is not set"));
	CHECK(doctor_runs(&found));
}

/* Needed and missing is red, the rest is yellow; a terminal of 60 columns. */
static void check_view(void)
{
	struct doctor_host h = healthy();
	struct buf out;
	struct view v = {&out, 60, true};

	buf_init(&out, a);
	h.gate.there = FACT_NO;
	h.info.storage = "vfs";
	h.tracee.n = 0;
	doctor_judge(a, &h, &found);
	doctor_view(&v, &found);
	CHECK(strstr(out.p, "\033[32mok\033[0m       daemon"));
	CHECK(strstr(out.p, "\033[33mmissing\033[0m  storage"));
	CHECK(strstr(out.p, "\033[31mmissing\033[0m  membrane-gate\n"
			    "           means: no session starts\n"
			    "           remedy: 'membrane images'\n"));
	CHECK(strstr(out.p, "it lacks 3 of what it needs\n"));
	CHECK(strstr(doctor_json(a, &found).p, "\"runs\": false"));
}

int main(void)
{
	a = arena_new();
	check_healthy();
	check_poor();
	check_runc();
	check_tracee();
	check_no_docker();
	check_images();
	check_trials();
	check_kernels();
	check_native_needs();
	check_native_extras();
	check_viewless();
	check_native_gate();
	check_left_open();
	check_native_programs();
	check_native_remedies();
	check_ssh_agent();
	check_view();
	arena_free(a);
	return check_status();
}
