/* docker.json: whose vector a word lands in, and what Docker would refuse. */
#include "compiler/emit/docker/docker.h"
#include "compiler/emit/docker/docker_names.h"
#include "tests/unit/emit/emitted.h"

static struct arena *a;
static struct test_policy t;
static cJSON *json;

static bool emit(void)
{
	return emitted(&t, docker_emit, &json);
}

/* Index of a word in the vector of gate or agent; -1 when it is not there. */
static int at(const char *vector, const char *word)
{
	const cJSON *v = cJSON_GetObjectItem(json, vector), *w;
	int i = 0;

	cJSON_ArrayForEach(w, cJSON_GetObjectItem(v, "argv")) {
		if (strcmp(w->valuestring, word) == 0)
			return i;
		i++;
	}
	return -1;
}

static void start(void)
{
	test_policy_init(&t, a, LAYER_GLOBAL);
}

static void defaults(void)
{
	start();
	CHECK(emit());
	CHECK(at("agent", "docker") == 0 && at("agent", "run") == 1);
	CHECK(at("agent", "--cap-drop=ALL") > 0);
	CHECK(at("agent", "--security-opt=no-new-privileges") > 0);
	CHECK(at("agent", "--pids-limit=4096") > 0);
	CHECK(at("agent", "--read-only") < 0);
	CHECK(at("agent", "{owner}") == at("agent", "--user") + 1);
	CHECK(at("agent", "{init}") == at("agent", "membrane-agent") + 1);
	CHECK(at("agent", "{command}") == at("agent", "{entrypoint}") + 1);
	CHECK(at("agent", "{git}") > at("agent", "{masks}"));
	CHECK(at("agent", "{repository}") == at("agent", "{git}") + 1);
	CHECK(at("view", "{repository-view}") > 0);
	CHECK(at("gate", "{git}") < 0 && at("tracer", "{git}") < 0);
	CHECK(at("agent", "--network=container:membrane-gate-{session}") > 0);
	CHECK(at("gate", "membrane-gate") > at("gate", "--read-only"));
	CHECK(at("gate", "--rm") > 0 && at("gate", "--privileged") < 0);
	CHECK(at("tracer", "membrane-watch") > at("tracer", "--network=none"));
	CHECK(at("tracer", "--cap-drop=ALL") + 1 == at("tracer", "{tracing}"));
	CHECK(at("tracer", "--privileged") < 0);
}

static void moving(void)
{
	start();
	test_policy_arg(&t, "-p");
	test_policy_arg(&t, "8080:80");
	test_policy_arg(&t, "-h");
	test_policy_arg(&t, "-x");
	test_policy_arg(&t, "--dns=1.1.1.1");
	test_policy_arg(&t, "--add-host=a:1.2.3.4");
	test_policy_arg(&t, "-e");
	test_policy_arg(&t, "A={b}$C${D}e$$F");
	test_policy_arg(&t, "--init");
	test_policy_arg(&t, "--cap-add=NET_RAW");
	CHECK(emit());
	CHECK(at("gate", "--publish=8080:80") > 0);
	CHECK(at("gate", "--publish=8080:80") < at("gate", "membrane-gate"));
	CHECK(at("gate", "--hostname=-x") > at("gate", "--hostname=membrane"));
	CHECK(at("gate", "--dns=1.1.1.1") > 0);
	CHECK(at("gate", "--add-host=a:1.2.3.4") > 0);
	CHECK(at("agent", "--publish=8080:80") < 0);
	CHECK(at("agent", "--env=A={{b}}{env:C}{env:D}e$F") > 0);
	/* theirs come later, and the last --env of a name counts */
	CHECK(at("agent", "--init") > at("agent", "{git}"));
	CHECK(at("agent", "--init") < at("agent", "membrane-agent"));
	CHECK(at("agent", "--cap-add=NET_RAW") > 0);
}

static void set(ir_opt_str *o, const char *s)
{
	struct ir_text text = test_policy_text(&t, s);

	o->set = true;
	o->from = text.from;
	o->v = text.s;
}

static void hardening(void)
{
	struct ir_hardening *h = &t.doc.hardening;

	start();
	set(&h->user, "0:0");
	set(&h->seccomp, "unconfined");
	set(&t.doc.image, "debian:bookworm-slim");
	set(&t.doc.uplink, "lab");
	h->read_only = (ir_opt_bool){.set = true, .v = true};
	h->no_new_privileges = (ir_opt_bool){.set = true, .v = false};
	h->memory = (ir_opt_u64){.set = true, .v = 1ull << 40};
	h->cpus_milli = (ir_opt_u64){.set = true, .v = 1050};
	h->pids = (ir_opt_u64){.set = true, .v = 7};
	*vec_push(a, &h->capabilities) = test_policy_text(&t, "SYS_PTRACE");
	*vec_push(a, &h->tmpfs) = test_policy_text(&t, "/tmp");
	CHECK(emit());
	CHECK(at("agent", "--user=0:0") > 0 && at("agent", "{owner}") < 0);
	CHECK(at("agent", "--security-opt=seccomp=unconfined") > 0);
	CHECK(at("agent", "--security-opt=no-new-privileges") < 0);
	CHECK(at("agent", "--memory=1099511627776") > 0);
	CHECK(at("agent", "--cpus=1.050") > 0);
	CHECK(at("agent", "--pids-limit=7") > 0);
	CHECK(at("agent", "--read-only") > 0);
	CHECK(at("agent", "--cap-add=SYS_PTRACE") >
	      at("agent", "--cap-drop=ALL"));
	CHECK(at("agent", "--tmpfs=/tmp") > 0);
	CHECK(at("agent", "debian:bookworm-slim") > 0);
	CHECK(at("agent", "--pull=never") < 0);
	CHECK(at("gate", "--network=lab") > 0);
}

static void runtimes(void)
{
	start();
	t.doc.runtime.set = true;
	t.doc.runtime.v = IR_RUNTIME_SYSBOX;
	t.doc.trace.engine.set = true; /* it would want the host name */
	t.doc.trace.engine.v = IR_TRACE_OFF;
	test_policy_arg(&t, "-h");
	test_policy_arg(&t, "box");
	test_policy_arg(&t, "-p80");
	CHECK(emit());
	CHECK(strcmp(cJSON_GetObjectItem(json, "link")->valuestring,
		     "bridge") == 0);
	CHECK(at("agent", "--runtime=sysbox-runc") > 0);
	CHECK(at("agent", "--network=membrane-{session}") > 0);
	CHECK(at("agent", "--hostname=box") > 0);
	CHECK(at("gate", "--hostname=box") < 0);
	CHECK(at("gate", "--publish=80") > 0);
	CHECK(at("gate", "--runtime=sysbox-runc") < 0);
}

static void masks(void)
{
	const char *rights[] = {"--device=/dev/fuse", "--network=none",
				"--cap-drop=ALL", "--cap-add=SYS_ADMIN"};

	start();
	t.doc.masks = (ir_opt_masks){.set = true, .v = IR_MASKS_START};
	CHECK(emit());
	CHECK(!cJSON_HasObjectItem(json, "view"));
	CHECK(at("agent", "{masks}") > 0);
	start();
	t.doc.masks = (ir_opt_masks){.set = true, .v = IR_MASKS_HOLD};
	CHECK(emit());
	CHECK(at("agent", "{masks}") < 0);
	CHECK(at("agent", "--mount=type=bind,source={workspace}"
			  ",target=/workspace") < 0);
	for (size_t i = 0; i < ARRAY_LEN(rights); i++)
		CHECK(at("view", rights[i]) > 0 &&
		      at("view", rights[i]) < at("view", "membrane-view"));
	CHECK(at("view", "/plan/mounts.plan") ==
	      at("view", "membrane-view") + 1);
}

static void tracing(void)
{
	start();
	t.doc.trace.engine.set = true;
	t.doc.trace.engine.v = IR_TRACE_TRACEE;
	CHECK(emit());
	CHECK(at("tracer", "aquasec/tracee:0.24.1") > 0);
	CHECK(at("tracer", "/plan/tracee.yaml") > 0);
}

static void refused(enum diag_id id)
{
	struct diag_view v = {0};

	CHECK(!emit());
	diags_get(&t.diags, 0, &v);
	CHECK(v.id == id);
}

static void refusals(void)
{
	start();
	set(&t.doc.image, "-privileged");
	refused(DIAG_IMAGE);
	start();
	set(&t.doc.uplink, "host");
	refused(DIAG_UPLINK);
	start();
	set(&t.doc.uplink, "container:other");
	refused(DIAG_UPLINK);
	start();
	*vec_push(a, &t.doc.hardening.tmpfs) = test_policy_text(&t, "tmp");
	refused(DIAG_HARDENING);
	start();
	t.doc.hardening.memory = (ir_opt_u64){.set = true, .v = 4096};
	refused(DIAG_HARDENING);
	start();
	t.doc.masks = (ir_opt_masks){.set = true, .v = IR_MASKS_HOLD};
	t.doc.runtime = (ir_opt_runtime){.set = true, .v = IR_RUNTIME_SYSBOX};
	refused(DIAG_MASKS);
	start();
	test_policy_arg(&t, "--ip=10.0.0.1");
	refused(DIAG_ARG_NEEDS);
}

static void names(void)
{
	static const char *const good[] = {
		"debian",
		"debian:bookworm",
		"library/debian",
		"a/b/c:T_.-1",
		"localhost/x",
		"localhost:5000/x:y",
		"ghcr.io/o/i",
		"a--b__c.d",
		"a---b",
		"[::1]:5000/x",
		"Host/x",
		"x@sha256:0123456789abcdef0123456789abcdef",
		"r.io:1/x:t@sha256:0123456789abcdef0123456789abcdef",
		"a_b/c",
		"[::1]/x",
		"2x/y3",
		"x@a+b.c_d-e:0123456789abcdef0123456789abcdef",
	};
	static const char *const bad[] = {
		"",
		"-x",
		"--privileged",
		"Debian",
		"a:",
		":a",
		"a//b",
		"/a",
		"a/",
		"a:b:c",
		"a b",
		"a:-t",
		"a..b",
		"a___b",
		"-a/b",
		"a@b",
		"a@",
		"a!b",
		"a@sha256:012",
		"a@sha256:0123456789ABCDEF0123456789abcdef",
		"a.b.:1/x",
		"a:99999/x",
		"{masks}",
		"$X",
		"a\nb",
		"a_-b",
		"_a",
		"a_",
		"https://a/b",
		"a_b.c/x",
		"-a.b/x",
		"a-.b/x",
		"a..b/x",
		"[::1/x",
		"[g!]/x",
		"[]/x",
		"[::1]x/y",
		"[::1]x5/y",
		"[::1]:x/y",
		"a:.t",
		"x@:0123456789abcdef0123456789abcdef",
		"x@a!:0123456789abcdef0123456789abcdef",
		"x@0123456789abcdef0123456789abcdef0",
		"x@a:0123456789abcdef0123456789abcde",
		"x@a:0123456789abcdef0123456789abcdeg",
	};
	char longest[260] = {0};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!docker_names_image(str_of(good[i])))
			CHECK(!good[i]);
		else
			check_passed++;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (docker_names_image(str_of(bad[i]))) {
			printf("'%s' is taken for an image\n", bad[i]);
			check_failed++;
		}
	memset(longest, 'a', sizeof(longest) - 1);
	CHECK(docker_names_image((struct str){longest, 255}));
	CHECK(!docker_names_image((struct str){longest, 256}));
	longest[1] = ':';
	CHECK(docker_names_image((struct str){longest, 2 + 128}));
	CHECK(!docker_names_image((struct str){longest, 2 + 129}));
	CHECK(docker_names_network((struct str){longest + 2, 128}));
	CHECK(!docker_names_network((struct str){longest + 2, 129}));
	CHECK(docker_names_network(STR("a_b.c-d")));
	CHECK(!docker_names_network(STR("host")));
	CHECK(!docker_names_network(STR("none")));
	CHECK(!docker_names_network(STR("default")));
	CHECK(!docker_names_network(STR("-a")));
	CHECK(!docker_names_network(STR("")));
	CHECK(docker_names_network(STR("my_net.1")));
	CHECK(!docker_names_network(STR("-x")));
	CHECK(!docker_names_network(STR("")));
}

int main(void)
{
	a = arena_new();
	defaults();
	moving();
	hardening();
	runtimes();
	masks();
	tracing();
	refusals();
	names();
	cJSON_Delete(json);
	arena_free(a);
	return check_status();
}
