/* native.json: a closed set of words, and what of the machine is shown. */
#include "compiler/emit/native/native.h"
#include "compiler/ir/docker_mount.h"
#include "compiler/plan/native_json.h"
#include "tests/unit/emit/emitted.h"

static struct arena *a;
static struct test_policy t;
static cJSON *json;

static void start(void)
{
	test_policy_init(&t, a, LAYER_GLOBAL);
	t.doc.engine.set = true;
	t.doc.engine.v = IR_ENGINE_NATIVE;
}

static bool emit(void)
{
	return emitted(&t, native_emit, &json);
}

static const cJSON *argv_of(const char *vector)
{
	return cJSON_GetObjectItem(cJSON_GetObjectItem(json, vector), "argv");
}

static bool has_word(const char *vector, const char *word)
{
	const cJSON *w;

	cJSON_ArrayForEach(w, argv_of(vector))
		if (strcmp(w->valuestring, word) == 0)
			return true;
	return false;
}

/* --- the words of compiler/plan/native_json.h ----------------------------- */

static bool is_known(const char *word)
{
	static const char *const whole[] = {
		"--interactive",
		"--cap-drop=ALL",
		"--security-opt=no-new-privileges",
		"--read-only",
		"--network=none",
		"--userns=host",
		"--network=container:membrane-gate-{session}",
		"--device=/dev/fuse",
		"--init=false",
		"--ask",
		NATIVE_JSON_MASKS,
		"{masks}",
		"{terminal}",
		"{own-path}",
		"{path}",
		"{environment}",
		"{git}",
		"{repository}",
		"{repository-view}",
	};
	static const char *const begins[] = {
		"--hostname=",
		"--cap-add=",
		"--sysctl=net.",
		"--ulimit=nofile=",
		"--pids-limit=",
		"--memory=",
		"--cpus=",
		"--security-opt=seccomp={state}/",
		"--mount=type=bind,source=",
		"--mount=type=tmpfs,target=",
		"--volume=/",
		"--tmpfs=/",
		"--env=",
		"--workdir=/",
		"--entrypoint=/",
		"--ask=",
		"--pid=container:membrane-asked-",
	};

	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (strcmp(word, whole[i]) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (str_starts(str_of(word), str_of(begins[i])))
			return true;
	return false;
}

/* Up to the image; "--user" and its value are two. */
static void check_words(const char *vector)
{
	const cJSON *argv = argv_of(vector);
	int n = cJSON_GetArraySize(argv), i;

	CHECK(n > 4);
	CHECK(strcmp(cJSON_GetArrayItem(argv, 0)->valuestring, "native") == 0);
	CHECK(strcmp(cJSON_GetArrayItem(argv, 1)->valuestring, "run") == 0);
	for (i = 2; i < n; i++) {
		const char *word = cJSON_GetArrayItem(argv, i)->valuestring;

		if (strcmp(word, "host") == 0)
			break;
		if (strcmp(word, "--user") == 0) {
			i++;
			continue;
		}
		CHECK(is_known(word));
		if (!is_known(word))
			printf("%s: %s\n", vector, word);
	}
	CHECK(i + 1 < n);
}

static void words_are_known(void)
{
	static const char *const vectors[] = {"gate", "agent", "view"};

	for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
		check_words(vectors[i]);
}

static void defaults(void)
{
	start();
	CHECK(emit());
	words_are_known();
	CHECK(has_word("agent", "--read-only"));
	CHECK(has_word("agent", "{owner}") && has_word("agent", "{init}"));
	CHECK(!has_word("gate", "{git}") && !has_word("view", "{git}"));
	CHECK(has_word("view", "--network=none"));
	check_words("tracer");
	CHECK(has_word("tracer", "--userns=host") &&
	      has_word("tracer", "--cap-drop=ALL"));
	CHECK(!cJSON_GetObjectItem(json, "runtime"));
}

static void all_there_is(void)
{
	static const char *const args[] = {
		"-e",	    "A={b}$C",
		"-v",	    "/srv/x:/x:ro",
		"--tmpfs",  "/y:size=1m,exec",
		"--mount",  "type=bind,source=$HOME/z,dst=/z,ro",
		"-w",	    "/workspace/src",
		"--init",   "--entrypoint",
		"/bin/env",
	};

	start();
	for (size_t i = 0; i < ARRAY_LEN(args); i++)
		test_policy_arg(&t, args[i]);
	*vec_push(a, &t.doc.ports) = test_policy_text(&t, "127.0.0.1:3000:80");
	*vec_push(a, &t.doc.hardening.tmpfs) = test_policy_text(&t, "/w");
	t.doc.ssh_agent.set = t.doc.ssh_agent.v = true;
	CHECK(emit());
	/* whether there is an init is said once, by a word that is known */
	CHECK(!has_word("agent", "--init"));
	CHECK(has_word("agent", "--init=false"));
	CHECK(has_word("agent", "--env=A={{b}}{env:C}"));
	CHECK(has_word("agent", "folder=/workspace/src"));
	words_are_known();
}

/* --- what is shown ---------------------------------------------------------
 */

/* The machine's own programs, and single files and folders of /etc. */
static bool may_be_shown(struct str path)
{
	static const char *const roots[] = {
		"/usr",	  "/bin",    "/sbin",	   "/lib",	"/lib32",
		"/lib64", "/libx32", "/nix/store", "/gnu/store"};

	for (size_t i = 0; i < ARRAY_LEN(roots); i++)
		if (str_is(path, roots[i]))
			return true;
	return str_starts(path, STR("/etc/"));
}

static bool holds_secrets(struct str path)
{
	static const char *const kept[] = {
		"/etc",
		"/etc/shadow",
		"/etc/gshadow",
		"/etc/sudoers",
		"/etc/ssh/ssh_host_key",
		"/etc/ssl/private/key.pem",
		"/etc/pki/tls/private/key.pem",
		"/etc/NetworkManager/system-connections",
		"/etc/docker",
		"/etc/machine-id",
		"/etc/krb5.keytab",
		"/etc/wireguard",
		"/etc/letsencrypt",
		"/etc/passwd",
	};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (docker_mount_within(str_of(kept[i]), path))
			return true;
	return false;
}

static void shown_is_a_list(void)
{
	static const struct str mount = STR_INIT("--mount=");
	unsigned n = 0;
	const cJSON *w;

	start();
	CHECK(emit());
	cJSON_ArrayForEach(w, argv_of("agent")) {
		struct str word = str_of(w->valuestring);
		struct docker_mount m;

		if (!str_starts(word, mount) ||
		    !docker_mount_parse(a, str_slice(word, mount.n, word.n),
					&m) ||
		    m.source.p[0] != '/')
			continue;
		n++;
		CHECK(str_eq(m.source, m.target));
		CHECK(may_be_shown(m.source) && !holds_secrets(m.source));
		CHECK(str_ends(word, STR(",readonly,optional")));
	}
	CHECK(n > 20);
}

/* --- what is refused -------------------------------------------------------
 */

static bool takes(const char *option, const char *value)
{
	start();
	test_policy_arg(&t, option);
	test_policy_arg(&t, value);
	return emit();
}

static void refusals(void)
{
	CHECK(takes("--mount", "type=tmpfs,target=/x"));
	CHECK(takes("--mount", "type=bind,\"source=/a b\",target=/x"));
	CHECK(takes("--mount", "type=bind,source=/a,target=/x,readonly=true"));
	CHECK(!takes("--mount",
		     "type=bind,source=/a,target=/x,readonly=false"));
	CHECK(!takes("--mount", "type=bind,Source=/a,target=/x"));
	CHECK(!takes("--mount", "type=BIND,source=/a,target=/x"));
	CHECK(!takes("--mount", "target=/x"));
	CHECK(takes("--volume", "/a:/x:rw"));
	CHECK(!takes("--volume", "/x"));
	CHECK(!takes("--volume", "a:/x"));
	CHECK(!takes("--volume", "/a:/x:Z"));
	CHECK(takes("--tmpfs", "/x"));
	CHECK(!takes("--tmpfs", "/x:mpol=bind"));
	CHECK(!takes("--workdir", "x"));
	CHECK(!takes("--memory", "1g"));
}

/* --- left open ------------------------------------------------------------ */

static void leave_open(void)
{
	start();
	t.doc.engine.v = IR_ENGINE_AUTO;
}

/* The words of what is in its way; NULL: nothing is. */
static const char *obstacle(void)
{
	struct native_obstacle o;

	CHECK(test_policy_done(&t));
	if (!native_obstacle(a, &t.policy, &o)) {
		CHECK(native_wanted(&t.policy));
		return NULL;
	}
	CHECK(!native_wanted(&t.policy));
	return arena_cstr(a, o.text);
}

static void left_open(void)
{
	leave_open();
	CHECK(!obstacle());
	CHECK(t.diags.errors == 0);
	leave_open();
	test_policy_arg(&t, "--env");
	test_policy_arg(&t, "A=b");
	CHECK(strcmp(obstacle(), "arguments of docker run are Docker's") == 0);
	leave_open();
	t.doc.image.set = true;
	t.doc.image.v = STR("debian");
	CHECK(strcmp(obstacle(), "it runs what this machine has") == 0);
	leave_open();
	t.doc.runtime.set = true;
	t.doc.runtime.v = IR_RUNTIME_SYSBOX;
	t.doc.trace.engine.set = true;
	t.doc.trace.engine.v = IR_TRACE_OFF;
	CHECK(strcmp(obstacle(), "another runtime is Docker's") == 0);
	leave_open();
	t.doc.hardening.memory.set = true;
	t.doc.hardening.memory.v = 1 << 30;
	CHECK(strstr(obstacle(), "control group"));
	/* what is said of a policy is nothing of this question's */
	CHECK(t.diags.errors == 0);
	start();
	CHECK(test_policy_done(&t) && native_wanted(&t.policy));
	start();
	t.doc.engine.v = IR_ENGINE_DOCKER;
	CHECK(test_policy_done(&t) && !native_wanted(&t.policy));
}

int main(void)
{
	a = arena_new();
	defaults();
	all_there_is();
	shown_is_a_list();
	refusals();
	left_open();
	cJSON_Delete(json);
	arena_free(a);
	return check_status();
}
