/* What kubectl prints to doctor, and what doctor applies. */
#include "compiler/cli/preflight/parts.h"
#include "tests/check.h"

#include <string.h>

static struct arena *a;

/* --- answers ---------------------------------------------------------------- */

static void check_versions(void)
{
	struct answers_versions v;

	CHECK(answers_versions(
		STR("{\"clientVersion\":{\"gitVersion\":\"v1.20.2\",\"minor\":\"20\"},\"serverVersion\":{\"gitVersion\":\"v1.33.1-gke.1\",\"minor\":\"33+\"}}"),
		&v));
	CHECK(strcmp(v.client, "v1.20.2") == 0 && v.client_minor == 20);
	CHECK(strcmp(v.server, "v1.33.1-gke.1") == 0 && v.server_minor == 33);
	CHECK(answers_versions(
		STR("{\"clientVersion\":{\"gitVersion\":\"v1.20.2\"}}"), &v));
	CHECK(!v.server[0] && v.client_minor == 0);
	CHECK(!answers_versions(STR(""), &v));
	CHECK(!answers_versions(STR("{}"), &v));
	CHECK(!answers_versions(STR("{\"clientVersion\":\"v1\"}"), &v));
}

#define REVIEW(verb, sub, status)                                              \
	"{\"spec\":{\"resourceAttributes\":{\"verb\":\"" verb                 \
	"\",\"resource\":\"pods\"" sub "}}" status "}\n"

static bool is_answered(const char *text, enum doctor_state get,
			enum doctor_state log)
{
	struct answers_right r[] = {
		{CHECK_MAY_PODS, "get", "", "pods", "", DOCTOR_UNKNOWN},
		{CHECK_MAY_LOGS, "get", "", "pods", "log", DOCTOR_UNKNOWN},
	};

	answers_rights(str_of(text), r, ARRAY_LEN(r));
	return r[0].state == get && r[1].state == log;
}

static void check_rights(void)
{
#define ALLOWED REVIEW("get", "", ",\"status\":{\"allowed\":true}")
#define DENIED	REVIEW("get", ",\"subresource\":\"log\"", ",\"status\":{}")
	CHECK(is_answered(ALLOWED DENIED, DOCTOR_OK, DOCTOR_MISSING));
	CHECK(is_answered("{\"kind\":\"List\",\"items\":[" ALLOWED "," DENIED
			  "]}",
			  DOCTOR_OK, DOCTOR_MISSING));
	CHECK(is_answered("", DOCTOR_UNKNOWN, DOCTOR_UNKNOWN));
	/* what comes before a document that is cut off counts */
	CHECK(is_answered(ALLOWED "{\"spec\":", DOCTOR_OK, DOCTOR_UNKNOWN));
	CHECK(is_answered(REVIEW("get", "", ""), DOCTOR_UNKNOWN,
			  DOCTOR_UNKNOWN));
	CHECK(is_answered(REVIEW("list", "", ",\"status\":{\"allowed\":true}"),
			  DOCTOR_UNKNOWN, DOCTOR_UNKNOWN));
	CHECK(is_answered(REVIEW("get", ",\"group\":\"x\"",
				 ",\"status\":{\"allowed\":true}"),
			  DOCTOR_UNKNOWN, DOCTOR_UNKNOWN));
}

static void check_verbs(void)
{
	const struct answers_right r[] = {
		{CHECK_MAY_PODS, "get", "", "pods", "", DOCTOR_OK},
		{CHECK_MAY_LOGS, "get", "", "pods", "log", DOCTOR_OK},
		{CHECK_MAY_PODS, "watch", "", "pods", "", DOCTOR_OK},
		{CHECK_MAY_PODS, "patch", "", "pods", "", DOCTOR_MISSING},
	};

	CHECK(str_is(answers_verbs(a, r, 4, CHECK_MAY_PODS, DOCTOR_OK),
		     "get, watch"));
	CHECK(str_is(answers_verbs(a, r, 4, CHECK_MAY_PODS, DOCTOR_MISSING),
		     "patch"));
	CHECK(answers_verbs(a, r, 4, CHECK_MAY_EVENTS, DOCTOR_OK).n == 0);
}

static void check_kept(void)
{
	CHECK(answers_sidecar_kept(
		STR("{\"spec\":{\"initContainers\":[{\"restartPolicy\":\"Always\"}]}}")));
	CHECK(!answers_sidecar_kept(
		STR("{\"spec\":{\"restartPolicy\":\"Always\",\"initContainers\":[{}]}}")));
	CHECK(!answers_sidecar_kept(STR("{\"spec\":{}}")));
	CHECK(!answers_sidecar_kept(STR("no object")));
	CHECK(answers_users_kept(STR("{\"spec\":{\"hostUsers\":false}}")));
	CHECK(!answers_users_kept(STR("{\"spec\":{\"hostUsers\":true}}")));
	CHECK(!answers_users_kept(STR("{\"spec\":{}}")));
	CHECK(answers_served(STR("{\"resources\":[{\"name\":\"pods/log\"},{\"name\":\"pods\"}]}"),
			     "pods"));
	CHECK(!answers_served(STR("{\"resources\":[{\"name\":\"pods/log\"}]}"),
			      "pods"));
	CHECK(!answers_served(STR(""), "pods"));
}

static void check_logs(void)
{
	struct str words = {0};
	bool ipv6 = false;

	CHECK(answers_reach(STR("Health check for server probe/listener succeeded, reason: Layer4 check passed")) ==
	      REACH_YES);
	CHECK(answers_reach(STR("[WARNING]  (1) : Server probe/listener is DOWN. 0 active")) ==
	      REACH_NO);
	/* one that failed may have been lost */
	CHECK(answers_reach(STR("Health check for server probe/listener failed, reason: Layer4 timeout, status: 2/3 UP.")) ==
	      REACH_NOTHING);
	CHECK(answers_reach(STR("")) == REACH_NOTHING);
	CHECK(answers_gate(a, STR("{\"event\":\"ready\",\"ipv6\":true}"),
			   &words, &ipv6) == GATE_READY &&
	      ipv6);
	CHECK(answers_gate(a, STR("{\"event\":\"error\",\"message\":\"no wire here\"}"),
			   &words, &ipv6) == GATE_ERROR &&
	      str_is(words, "no wire here"));
	CHECK(answers_gate(a, STR("haproxy: x"), &words, &ipv6) == GATE_OTHER &&
	      str_is(words, "haproxy: x"));
	CHECK(answers_gate(a, STR("{\"event\":1}"), &words, &ipv6) ==
	      GATE_OTHER);
}

/* --- what is applied -------------------------------------------------------- */

static bool holds(struct str text, const char *part)
{
	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static void check_restricted(struct str text)
{
	static const char *const fields[] = {
		"\"allowPrivilegeEscalation\": false",
		"\"drop\": [\"ALL\"]",
		"\"readOnlyRootFilesystem\": true",
		"\"runAsNonRoot\": true",
		"\"seccompProfile\": {\"type\": \"RuntimeDefault\"}",
		"\"automountServiceAccountToken\": false",
		"\"activeDeadlineSeconds\": 300",
		"\"membrane/doctor\": \"0123456789ab\"",
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		CHECK_MSG(holds(text, fields[i]), "%s", fields[i]);
}

static void check_probes(void)
{
	struct kube_options with = {
		.gate_image = STR("g@sha256:1"),
	};
	struct visit v = {.a = a,
			  .with = &with,
			  .id = "0123456789ab",
			  .at = {.ns = STR("agents")}};
	const struct answers_right r[] = {
		{CHECK_MAY_LOGS, "get", "", "pods", "log", DOCTOR_UNKNOWN},
	};
	struct str open = probes_network(&v, false),
		   shut = probes_network(&v, true), client;
	struct addr to;

	check_restricted(probes_pod(&v, PROBES_PLAIN));
	check_restricted(probes_pod(&v, PROBES_OWN_USERS));
	check_restricted(probes_listener(&v));
	CHECK(answers_sidecar_kept(probes_pod(&v, PROBES_SIDECAR)));
	CHECK(answers_users_kept(probes_pod(&v, PROBES_OWN_USERS)));
	CHECK(!answers_users_kept(probes_pod(&v, PROBES_PLAIN)));
	CHECK(addr_parse(STR("fd00::7"), &to));
	client = probes_client(&v, &to);
	check_restricted(client);
	CHECK(holds(client, "server listener ipv6@fd00::7:8080 check"));
	CHECK(holds(open, "\"to\"") && holds(shut, "\"egress\": []"));
	CHECK(holds(shut, "\"name\": \"membrane-doctor-0123456789ab-policy\""));
	CHECK(holds(probes_reviews(&v, r, 1), "\"subresource\": \"log\""));
	CHECK(holds(probes_reviews(&v, r, 1), "\"namespace\": \"agents\""));
	with.gate_image = (struct str){0};
	CHECK(holds(probes_pod(&v, PROBES_PLAIN), PROBES_NO_IMAGE));
}

int main(void)
{
	a = arena_new();
	check_versions();
	check_rights();
	check_verbs();
	check_kept();
	check_logs();
	check_probes();
	arena_free(a);
	return check_status();
}
