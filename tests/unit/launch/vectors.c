#include "runtime/launch/docker/vectors.h"
#include "runtime/launch/home.h"

#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/binds.h"
#include "tests/check.h"

#include <errno.h>
#include <string.h>

#define WRAP(gate_words, agent_words)                                          \
	"{\"version\":1,\"engine\":\"docker\",\"runtime\":\"runc\","           \
	"\"link\":\"veth\",\"gate\":{\"image\":\"g\",\"argv\":[\"docker\","    \
	"\"run\"," gate_words "]},\"agent\":{\"image\":\"a\",\"argv\":["       \
	"\"docker\",\"run\"," agent_words "]}}\n"

static const char *env(void *ctx, const char *name)
{
	(void)ctx;
	if (strcmp(name, "TOKEN") == 0)
		return "s,e\"c{ret}";
	return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static const char *const masks[] = {"--mount", "type=bind,source=/e"};
static char words[4][12] = {"echo", "{session}", "--mount", "a,b"};
static char *const command[] = {words[0], words[1], words[2], words[3], NULL};

static const struct vectors_values base = {
	.session = "0123456789ab",
	.workspace = "/w",
	.home = "/s/home",
	.state = "/s",
	.owner = "1000:1001",
	.masks = masks,
	.n_masks = 2,
	.command = command,
	.env = env,
};

/* The agent's words expanded, joined by '|'; NULL: refused, with *code. */
static const char *expand(struct arena *a, const char *json,
			  const struct vectors_values *values, int *code)
{
	struct vectors v;
	struct err err = {0};
	struct buf out;
	char **argv;

	*code = vectors_parse(a, str_of(json), &v, &err);
	if (*code == 0)
		*code = vectors_expand(a, &v.agent, values, &argv, &err);
	if (*code < 0) {
		CHECK_MSG(err.text[0], "%s", json);
		return NULL;
	}
	buf_init(&out, a);
	for (size_t i = 0; argv[i]; i++)
		buf_addf(&out, i ? "|%s" : "%s", argv[i]);
	return out.p;
}

struct expansion_case {
	const char *json;
	const char *want; /* behind "docker|run|"; NULL: refused */
	int code;
};

static const struct expansion_case cases[] = {
	{WRAP("\"g\"", "\"--name=m-{session}\",\"{owner}\",\"img\""),
	 "--name=m-0123456789ab|1000:1001|img", 0},
	{WRAP("\"g\"", "\"{masks}\",\"i\",\"{command}\""),
	 "--mount|type=bind,source=/e|i|echo|{session}|--mount|a,b", 0},
	{WRAP("\"g\"", "\"{terminal}\",\"i\""), "--interactive|i", 0},
	{WRAP("\"g\"", "\"{git}\",\"i\""), "i", 0},
	{WRAP("\"g\"", "\"{{x}}{state}{{\",\"}}\""), "{x}/s{|}", 0},
	{WRAP("\"g\"", "\"-e=A={env:TOKEN}{env:EMPTY}\""), "-e=A=s,e\"c{ret}",
	 0},
	/* in --mount the value is one CSV field, whatever is in it */
	{WRAP("\"g\"",
	      "\"--mount\",\"type=bind,source={env:TOKEN},target=/t\""),
	 "--mount|type=bind,\"source=s,e\"\"c{ret}\",target=/t", 0},
	{WRAP("\"g\"", "\"--mount=type=bind,\\\"source=/a,{home}\\\",x\""),
	 "--mount=type=bind,\"source=/a,/s/home\",x", 0},
	{WRAP("\"g\"", "\"--mount\",\"a=\\\"b\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"--mount\",\"\\\"a\\\"b\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"--mount\",\"\\\"a\""), NULL, -EPROTO},
	/* refused */
	{WRAP("\"g\"", "\"{nonsense}\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"x{masks}\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"--env={git}\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"{command}x\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"{}\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"{session\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"session}\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"{env:}\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"{env:MISSING}\""), NULL, -ENOENT},
	{WRAP("\"g\"", "1"), NULL, -EPROTO},
	{WRAP("\"g\"", "\"a\\u0000b\""), NULL, -EPROTO},
	{WRAP("\"g\"", "\"i\"") "x", NULL, -EPROTO},
	{"{\"version\":2}", NULL, -EPROTO},
	{"{\"version\":1}", NULL, -EPROTO},
	{"[]", NULL, -EPROTO},
	{"", NULL, -EPROTO},
	{"{\"version\":1,\"extra\":1}", NULL, -EPROTO},
	{"{\"version\":1,\"engine\":\"podman\"}", NULL, -EPROTO},
	{"{\"version\":1,\"link\":\"wire\"}", NULL, -EPROTO},
	{"{\"version\":1,\"ssh_agent\":false}", NULL, -EPROTO},
	{"{\"version\":1,\"host_ports\":80}", NULL, -EPROTO},
	{"{\"version\":1,\"host_ports\":[0]}", NULL, -EPROTO},
	{"{\"version\":1,\"host_ports\":[65536]}", NULL, -EPROTO},
	{"{\"version\":1,\"host_ports\":[80.5]}", NULL, -EPROTO},
	{"{\"version\":1,\"host_ports\":[\"80\"]}", NULL, -EPROTO},
	{"{\"version\":1,\"host_ports\":[80],\"host_ports\":[81]}", NULL,
	 -EPROTO},
	{"{\"version\":1,\"published\":80}", NULL, -EPROTO},
	{"{\"version\":1,\"published\":[80]}", NULL, -EPROTO},
	{"{\"version\":1,\"published\":[{\"addr\":\"x\",\"port\":1,"
	 "\"to\":1}]}",
	 NULL, -EPROTO},
	{"{\"version\":1,\"published\":[{\"addr\":\"::\",\"port\":0,"
	 "\"to\":1}]}",
	 NULL, -EPROTO},
	{"{\"version\":1,\"published\":[{\"addr\":\"::\",\"port\":1,"
	 "\"to\":65536}]}",
	 NULL, -EPROTO},
	{"{\"version\":1,\"published\":[{\"addr\":\"::\",\"port\":1,"
	 "\"to\":1,\"x\":1}]}",
	 NULL, -EPROTO},
	{"{\"version\":1,\"home\":\"shared\"}", NULL, -EPROTO},
	{"{\"version\":1,\"home\":true}", NULL, -EPROTO},
	{"{\"version\":1,\"home\":\"none\",\"home\":\"none\"}", NULL, -EPROTO},
	{"{\"version\":1,\"ssh_agent\":\"true\"}", NULL, -EPROTO},
	{"{\"version\":1,\"ssh_agent\":true,\"ssh_agent\":true}", NULL,
	 -EPROTO},
	{"{\"version\":1,\"gate\":{\"image\":\"g\",\"argv\":[\"rm\",\"-rf\","
	 "\"x\"]}}",
	 NULL, -EPROTO},
	{"{\"version\":1,\"gate\":{\"image\":\"g\",\"argv\":[\"docker\","
	 "\"run\",\"x\"],\"env\":[]}}",
	 NULL, -EPROTO},
};

static void check_cases(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct expansion_case *c = &cases[i];
		int code;
		const char *got = expand(a, c->json, &base, &code);

		CHECK_MSG(code == c->code, "case %zu: %d", i, code);
		if (c->want)
			CHECK_MSG(got && strncmp(got, "docker|run|", 11) == 0 &&
					  strcmp(got + 11, c->want) == 0,
				  "case %zu: %s", i, got ? got : "(refused)");
	}
}

/* A path of the state folder that --mount would take for options, too. */
static void check_git(struct arena *a)
{
	static const char json[] = WRAP("\"g\"", "\"{git}\",\"i\"");
	struct vectors_values v = base;
	const char *got;
	int code;

	v.git = true;
	v.state = "/s,x";
	got = expand(a, json, &v, &code);
	CHECK(got &&
	      strcmp(got, "docker|run|--mount=type=bind,"
			  "\"source=/s,x/sessions/0123456789ab/gitidentity\","
			  "target=/etc/membrane/gitidentity,readonly|i") == 0);
}

/* The gate's alone is looked at; nothing stands for one that nobody found. */
static void check_resolver(struct arena *a)
{
	static const char plain[] = WRAP("\"g\"", "\"{resolver}\"");
	static const char asks[] =
		WRAP("\"g\",\"" DOCKER_JSON_RESOLVER "\"", "\"i\"");
	struct vectors_values values = base;
	struct vectors v;
	struct err err;
	const char *got;
	int code;

	CHECK(vectors_parse(a, STR(plain), &v, &err) == 0);
	CHECK(!vectors_asks_host(&v));
	CHECK(vectors_parse(a, STR(asks), &v, &err) == 0);
	CHECK(vectors_asks_host(&v));
	CHECK(!expand(a, plain, &values, &code) && code == -EPROTO);
	values.resolver = "192.0.2.53";
	got = expand(a, plain, &values, &code);
	CHECK(got && strcmp(got, "docker|run|192.0.2.53") == 0);
}

/* None, or what the launcher says, verbatim; each vector has its own. */
static void check_repository(struct arena *a)
{
	static const char json[] =
		WRAP("\"g\"", "\"{repository}\",\"i\",\"{repository-view}\"");
	static const char *const agent[] = {"--mount={x}", "b", NULL},
				 *const view[] = {"c", NULL};
	struct vectors_values v = base;
	const char *got;
	int code;

	got = expand(a, json, &v, &code);
	CHECK(got && strcmp(got, "docker|run|i") == 0);
	v.repository = agent;
	v.repository_view = view;
	got = expand(a, json, &v, &code);
	CHECK(got && strcmp(got, "docker|run|--mount={x}|b|i|c") == 0);
	CHECK(strcmp(binds_word(a, STR("/a,\"b"), STR("/t"), true),
		     "--mount=type=bind,\"source=/a,\"\"b\",\"target=/t\","
		     "readonly") == 0);
}

/* The workspace's mount, and no other that begins like it. */
static void check_readonly(struct arena *a)
{
	static const char json[] = WRAP(
		"\"g\"", "\"--mount=type=bind,source={workspace},target=/w\","
			 "\"--mount=type=bind,source={home},target=/h\","
			 "\"--mount=type=bind,source={workspace}/x,target=/x\","
			 "\"source={workspace}\"");
	static const char want[] =
		"docker|run|--mount=type=bind,source=/ws,target=/w%s|"
		"--mount=type=bind,source=%s,target=/h|"
		"--mount=type=bind,source=/ws/x,target=/x|source=/ws";
	struct vectors_values v = base;
	const char *got;
	int code;

	v.workspace = "/ws";
	got = expand(a, json, &v, &code);
	CHECK(got && strcmp(got, arena_fmt(a, want, "", v.home).p) == 0);
	v.readonly = true;
	got = expand(a, json, &v, &code);
	CHECK(got &&
	      strcmp(got, arena_fmt(a, want, ",readonly", v.home).p) == 0);
}

static void check_more(struct arena *a)
{
	struct vectors_values v = base;
	char *const none[] = {NULL};
	const char *got;
	int code;

	v.tty = true;
	v.command = none;
	v.n_masks = 0;
	got = expand(a,
		     WRAP("\"g\"", "\"{terminal}\",\"{masks}\",\"{command}\""),
		     &v, &code);
	CHECK(got &&
	      strcmp(got, "docker|run|--interactive|--tty|" VECTORS_NO_KEYS) ==
		      0);
	v.workspace = "/a\r\nb";
	CHECK(!expand(a, WRAP("\"g\"", "\"--mount\",\"s={workspace}\""), &v,
		      &code) &&
	      code == -EINVAL);
	v.workspace = "/a\nb,c\"d";
	got = expand(a, WRAP("\"g\"", "\"--mount\",\"s={workspace},t\""), &v,
		     &code);
	CHECK(got &&
	      strcmp(got, "docker|run|--mount|\"s=/a\nb,c\"\"d\",t") == 0);
	/* the gate's vector and the head of the file */
	{
		struct vectors r;
		struct err err;

		CHECK(vectors_parse(a, str_of(WRAP("\"g\"", "\"i\"")), &r,
				    &err) == 0);
		CHECK(strcmp(r.runtime, "runc") == 0 && !r.tracer.image &&
		      !r.view.image && r.link == VECTORS_VETH &&
		      r.gate.words.n == 3 && strcmp(r.gate.image, "g") == 0);
	}
}

#define VIEW "\"view\":{\"image\":\"v\",\"argv\":[\"docker\",\"run\",\"x\"]}"

/* A plan without one has another way to hold its masks. */
static void check_view(struct arena *a)
{
	static const char plain[] = WRAP("\"g\"", "\"i\"");
	const char *one = arena_fmt(a, "{" VIEW ",%s", plain + 1).p;
	const char *two = arena_fmt(a, "{" VIEW "," VIEW ",%s", plain + 1).p;
	struct vectors r;
	struct err err;

	CHECK(vectors_parse(a, str_of(one), &r, &err) == 0 &&
	      strcmp(r.view.image, "v") == 0 && r.view.words.n == 3);
	CHECK(vectors_parse(a, str_of(two), &r, &err) == -EPROTO);
}

static void check_credentials(struct arena *a)
{
	static const char plain[] = WRAP("\"g\"", "\"i\"");
	static const struct {
		const char *entry;
		bool good;
	} entries[] = {
		{"\"from_env\":\"K\"", true},
		{"\"file\":\"~/.a/b\",\"fields\":[\"c.d\",\"e\"]", true},
		{"\"file\":\"~/.a/b\",\"fields\":[\"c\",\"d\",\"e\",\"f\"],\"refresh\":\"https://a/b\"",
		 true},
		{"\"file\":\"~/.a/b\",\"fields\":[\"c\"],\"refresh\":\"http://a/b\"",
		 false},
		{"\"file\":\"~/.a/b\",\"fields\":[\"c\"],\"refresh\":1", false},
		{"\"from_env\":\"K\",\"refresh\":\"https://a/b\"", false},
		{"\"file\":\"~/.a/b\"", false},
		{"\"file\":\"~/.a/b\",\"fields\":[]", false},
		{"\"file\":\"~/.a/b\",\"fields\":[1]", false},
		{"\"file\":\"~/.a/b\",\"fields\":[\"\"]", false},
		{"\"file\":\"/a\",\"fields\":[\"c\"]", false},
		{"\"file\":\"~/../a\",\"fields\":[\"c\"]", false},
		{"\"from_env\":\"K\",\"fields\":[\"c\"]", false},
		{"\"file\":\"~/a\",\"fields\":[\"c\"],\"x\":1", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		const char *json =
			arena_fmt(a, "{\"credentials\":[{\"n\":2,%s}],%s",
				  entries[i].entry, plain + 1)
				.p;
		struct vectors r;
		struct err err;

		CHECK_MSG(vectors_parse(a, str_of(json), &r, &err) ==
				  (entries[i].good ? 0 : -EPROTO),
			  "%s", json);
		if (entries[i].good)
			CHECK(r.credentials.n == 1 &&
			      r.credentials.v[0].n == 2 &&
			      r.credentials.v[0].fields.n == 2 * i);
	}
}

static void check_ssh_agent(struct arena *a)
{
	static const char json[] = WRAP("\"g\"", "\"i\"");
	struct vectors v;
	struct err err;

	CHECK(vectors_parse(a, STR(json), &v, &err) == 0 && !v.ssh_agent);
	CHECK(vectors_parse(a, arena_fmt(a, "{\"ssh_agent\":true,%s", json + 1),
			    &v, &err) == 0 &&
	      v.ssh_agent);
}

static void check_upstream(struct arena *a)
{
	static const char json[] = WRAP("\"g\"", "\"i\"");
	static const char *const bad[] = {
		"1",
		"{}",
		"{\"proxy\":\"a\"}",
		"{\"proxy\":\"a:0\"}",
		"{\"proxy\":\":1\"}",
		"{\"proxy\":\"a:65536\"}",
		"{\"proxy\":1}",
		"{\"proxy\":\"a:1\",\"more\":\"x\"}",
		"{\"proxy\":\"a:1\",\"from_env\":\"A\",\"from_file\":\"/a\"}",
	};
	struct vectors v;
	struct err err;

	CHECK(vectors_parse(a, STR(json), &v, &err) == 0 && !v.upstream.host);
	CHECK(vectors_parse(
		      a,
		      arena_fmt(
			      a,
			      "{\"upstream\":{\"proxy\":\"[fd00::1]:3128\",\"from_env\":\"A\"},%s",
			      json + 1),
		      &v, &err) == 0 &&
	      strcmp(v.upstream.host, "fd00::1") == 0 &&
	      v.upstream.port == 3128 && strcmp(v.upstream.env, "A") == 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(vectors_parse(a,
					arena_fmt(a, "{\"upstream\":%s,%s",
						  bad[i], json + 1),
					&v, &err) == -EPROTO,
			  "%s", bad[i]);
}

static void check_home(struct arena *a)
{
	static const char json[] = WRAP("\"g\"", "\"i\"");
	struct session s = {.dir = "/s/sessions/1"};
	struct vectors v;
	struct err err;

	CHECK(vectors_parse(a, STR(json), &v, &err) == 0);
	CHECK(strcmp(home_path(a, v.home, "/s", &s, "/w"), "/s/home") == 0);
	CHECK(vectors_parse(a, arena_fmt(a, "{\"home\":\"none\",%s", json + 1),
			    &v, &err) == 0);
	CHECK(strcmp(home_path(a, v.home, "/s", &s, "/w"),
		     "/s/sessions/1/home") == 0);
	CHECK(vectors_parse(
		      a, arena_fmt(a, "{\"home\":\"workspace\",%s", json + 1),
		      &v, &err) == 0);
	CHECK(strcmp(home_path(a, v.home, "/s", &s, "/w"),
		     home_path(a, v.home, "/s", &s, "/w")) == 0);
	CHECK(strcmp(home_path(a, v.home, "/s", &s, "/w"),
		     home_path(a, v.home, "/s", &s, "/x")) != 0);
	CHECK(strlen(home_path(a, v.home, "/s", &s, "/x")) ==
	      strlen("/s/homes/") + 16);
}

static void check_published(struct arena *a)
{
	static const char json[] = WRAP("\"g\"", "\"i\"");
	struct vectors v;
	struct err err;

	CHECK(vectors_parse(a,
			    arena_fmt(a,
				      "{\"published\":[{\"addr\":\"::1\","
				      "\"port\":8080,\"to\":80}],%s",
				      json + 1),
			    &v, &err) == 0 &&
	      v.published.n == 1 && v.published.v[0].port == 8080 &&
	      v.published.v[0].addr.family == ADDR_V6);
}

static void check_host_ports(struct arena *a)
{
	static const char json[] = WRAP("\"g\"", "\"i\"");
	struct vectors v;
	struct err err;
	struct buf many;

	CHECK(vectors_parse(a, STR(json), &v, &err) == 0 &&
	      v.host_ports.n == 0);
	CHECK(vectors_parse(
		      a,
		      arena_fmt(a, "{\"host_ports\":[80,11434],%s", json + 1),
		      &v, &err) == 0 &&
	      v.host_ports.n == 2 && v.host_ports.v[0] == 80 &&
	      v.host_ports.v[1] == 11434);
	buf_init(&many, a);
	for (unsigned i = 0; i <= LIMIT_MACHINE_PORTS; i++)
		buf_addf(&many, "%s%u", i ? "," : "", i + 1);
	CHECK(vectors_parse(
		      a,
		      arena_fmt(a, "{\"host_ports\":[%s],%s", many.p, json + 1),
		      &v, &err) == -EPROTO);
}

int main(void)
{
	struct arena *a = arena_new();

	check_view(a);
	check_cases(a);
	check_more(a);
	check_readonly(a);
	check_repository(a);
	check_git(a);
	check_resolver(a);
	check_credentials(a);
	check_ssh_agent(a);
	check_home(a);
	check_upstream(a);
	check_host_ports(a);
	check_published(a);
	arena_free(a);
	return check_status();
}
