#include "compiler/algebra/decide/decide.h"
#include "compiler/algebra/decide/option.h"

#include "tests/check.h"
#include "tests/policy.h"

static const char flows[] = "allow github.com:443\n"
			    "allow *.cdn.test\n"
			    "allow intra.test private\n"
			    "allow 203.0.113.0/24 tcp/1-65535,udp/53\n"
			    "allow 169.254.169.254 tcp/80\n"
			    "allow api.test:443 http\n"
			    "allow https://url.test/\n"
			    "deny 203.0.113.9\n"
			    "deny bad.cdn.test\n"
			    "deny * tcp/25\n";

static const struct {
	const char *name, *addr;
	enum ir_proto proto;
	uint16_t port;
	enum reason reason;
	const char *by; /* canonical text of the grant, or NULL */
} cases[] = {
	{"github.com", NULL, IR_PROTO_TCP, 443, REASON_GRANTED,
	 "github.com tcp/443"},
	{"github.com", NULL, IR_PROTO_TCP, 22, REASON_PORT,
	 "github.com tcp/443"},
	{"github.com", NULL, IR_PROTO_UDP, 443, REASON_UDP,
	 "github.com tcp/443"},
	{"api.github.com", NULL, IR_PROTO_TCP, 443, REASON_NO_GRANT, NULL},
	{"github.com", "1.2.3.4", IR_PROTO_TCP, 443, REASON_GRANTED, NULL},
	{"github.com", "10.0.0.1", IR_PROTO_TCP, 443, REASON_PRIVATE_ADDRESS,
	 NULL},
	{"intra.test", "10.0.0.1", IR_PROTO_TCP, 443, REASON_GRANTED, NULL},
	{"intra.test", "127.0.0.1", IR_PROTO_TCP, 443, REASON_FLOOR, NULL},
	{"intra.test", "169.254.169.254", IR_PROTO_TCP, 443,
	 REASON_PRIVATE_ADDRESS, NULL},
	{"", "169.254.169.254", IR_PROTO_TCP, 80, REASON_GRANTED, NULL},
	{"", "169.254.169.254", IR_PROTO_TCP, 81, REASON_PORT, NULL},
	{"", "169.254.169.253", IR_PROTO_TCP, 80, REASON_FLOOR, NULL},
	{"", "203.0.113.1", IR_PROTO_UDP, 53, REASON_GRANTED, NULL},
	{"", "203.0.113.1", IR_PROTO_UDP, 54, REASON_UDP, NULL},
	{"", "203.0.113.1", IR_PROTO_TCP, 25, REASON_DENIED, "* tcp/25"},
	{"", "203.0.113.9", IR_PROTO_TCP, 443, REASON_DENIED, NULL},
	{"a.cdn.test", NULL, IR_PROTO_TCP, 1, REASON_GRANTED, NULL},
	{"bad.cdn.test", NULL, IR_PROTO_TCP, 1, REASON_DENIED, NULL},
	{"api.test", NULL, IR_PROTO_TCP, 443, REASON_NOT_HTTP, NULL},
	{"url.test", NULL, IR_PROTO_TCP, 443, REASON_NOT_HTTP, NULL},
	{"", "1.2.3.4", IR_PROTO_TCP, 443, REASON_NO_GRANT, NULL},
};

static void check_flows(void)
{
	struct test_policy t;
	struct decide_flow host = {
		.port = 443, .has_addr = true, .is_host = true};

	CHECK(test_policy_make(&t, flows));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct decide_flow f = {.proto = cases[i].proto,
					.port = cases[i].port,
					.name = str_of(cases[i].name)};
		struct decision d;

		if (cases[i].addr)
			f.has_addr = addr_parse(str_of(cases[i].addr), &f.addr);
		d = decide_connect(&t.policy, &f);
		CHECK_MSG(d.reason == cases[i].reason, "%s %s %u: %s",
			  cases[i].name, cases[i].addr ? cases[i].addr : "",
			  cases[i].port, reason_name(d.reason));
		CHECK((d.verdict == VERDICT_ALLOW) ==
		      (d.reason == REASON_GRANTED));
		CHECK(!cases[i].by || str_is(d.grant->canon, cases[i].by));
	}
	CHECK(addr_parse(STR("203.0.113.1"), &host.addr));
	CHECK(decide_connect(&t.policy, &host).reason == REASON_HOST_ADDRESS);
	test_policy_done(&t);
}

static void check_resolve(void)
{
	struct test_policy t;

	CHECK(test_policy_make(&t, flows));
#define RESOLVE(name, type)                                                    \
	decide_resolve(&t.policy, STR(name), STR(type)).reason
	CHECK(RESOLVE("github.com", "A") == REASON_GRANTED);
	CHECK(RESOLVE("github.com", "NULL") == REASON_QUERY_TYPE);
	CHECK(RESOLVE("gist.github.com", "A") == REASON_NO_GRANT);
	CHECK(RESOLVE("x.cdn.test", "AAAA") == REASON_GRANTED);
	CHECK(RESOLVE("bad.cdn.test", "A") == REASON_DENIED);
	CHECK(RESOLVE("url.test", "A") == REASON_GRANTED);
	/* A closer grant is the one that is named. */
	test_policy_done(&t);
	CHECK(test_policy_make(&t, "allow *\nallow **.test\nallow a.test\n"));
	CHECK(str_is(
		decide_resolve(&t.policy, STR("a.test"), STR("A")).grant->canon,
		"a.test tcp/1-65535"));
	CHECK(str_is(
		decide_resolve(&t.policy, STR("b.test"), STR("A")).grant->canon,
		"**.test tcp/1-65535"));
	test_policy_done(&t);
}

static void check_files(void)
{
	struct test_policy t;
	struct decide_files *f;

	CHECK(test_policy_make(&t, "ignore .env\nignore secrets/\n"
				   "ignore !secrets/public\n"
				   "ignore *.pem\nignore !ca.pem\n"
				   "readonly /vendor/\nreadonly *.lock\n"));
	f = decide_files_new(t.a, &t.policy);
	CHECK(decide_read(f, STR(".env")).verdict == VERDICT_DENY);
	CHECK(decide_read(f, STR("a/b/.env")).verdict == VERDICT_DENY);
	CHECK(decide_read(f, STR("a/b/.envrc")).verdict == VERDICT_ALLOW);
	CHECK(decide_read(f, STR("secrets/a")).verdict == VERDICT_DENY);
	/* What lies in a hidden directory is not taken back. */
	CHECK(decide_read(f, STR("secrets/public")).verdict == VERDICT_DENY);
	CHECK(decide_read(f, STR("secrets")).verdict == VERDICT_ALLOW);
	CHECK(decide_read(f, STR("secrets/")).verdict == VERDICT_DENY);
	CHECK(decide_read(f, STR("/")).verdict == VERDICT_ALLOW);
	CHECK(decide_read(f, STR("ca.pem")).verdict == VERDICT_ALLOW);
	CHECK(decide_read(f, STR("x/key.pem")).verdict == VERDICT_DENY);
	CHECK(decide_write(f, STR("src/main.c")).verdict == VERDICT_ALLOW);
	CHECK(decide_write(f, STR(".env")).reason == REASON_IGNORED);
	CHECK(decide_write(f, STR("vendor/x/y")).reason == REASON_READONLY);
	CHECK(decide_write(f, STR("a/b.lock")).reason == REASON_READONLY);
	CHECK(decide_read(f, STR("a/b.lock")).verdict == VERDICT_ALLOW);
	CHECK(decide_write(f, STR(".git/hooks/pre-commit")).reason ==
	      REASON_READONLY);
	CHECK(decide_write(f, STR("sub/.git/config")).reason ==
	      REASON_READONLY);
	CHECK(decide_write(f, STR(".git/index")).verdict == VERDICT_ALLOW);
	CHECK(str_is(decide_write(f, STR(".membrane/x")).pattern->line,
		     "/.membrane/"));
	test_policy_done(&t);
}

/* What docker makes of a text, each option in its one spelling; NULL: none. */
static const struct {
	const char *text, *options;
} options[] = {
	{"--privileged", " --privileged"},
	{"--nothing=1", " --nothing=1"},
	{"--volume=true", " --volume=true"},
	{"--privileged=true", " --privileged"},
	{"--privileged=false", " --privileged=false"},
	{"--privileged false", " --privileged=false"},
	{"--privileged=perhaps", " --privileged"},
	{"--volume", " --volume"},
	{"--volume /a:/b", " --volume=/a:/b"},
	{"--volume=/a:/b c", " --volume=/a:/b c"},
	{"--volume /a=/b", " --volume=/a=/b"},
	{"--volume=", " --volume="},
	{"--net host", " --network=host"},
	{"--net-alias=a", " --network-alias=a"},
	{"--dns-opt=ndots:1", " --dns-option=ndots:1"},
	{"-v", " --volume"},
	{"-v/a:/b", " --volume=/a:/b"},
	{"-v /a:/b", " --volume=/a:/b"},
	{"-v=/a:/b", " --volume=/a:/b"},
	{"-v==", " --volume=="},
	{"-i", " --interactive"},
	{"-it", " --interactive --tty"},
	{"-i=false", " --interactive=false"},
	{"-ti=false", " --tty --interactive=false"},
	{"-itv /a:/b", " --interactive --tty --volume=/a:/b"},
	{"-iv/it", " --interactive --volume=/it"},
	{"-Z", NULL},
	{"-iZ", NULL},
	{"--", NULL},
	{"--=a", NULL},
	{"-- a", NULL},
	{"-", NULL},
	{"", NULL},
	{"volume", NULL},
	{"v-", NULL},
	{"xit", NULL},
};

static const struct {
	const char *text;
	bool all; /* of its options are among the arguments */
	int some; /* the argument that one of them is about, or -1 */
} among[] = {
	{"-v", true, 0},
	{"--volume=/a:/b", true, 0},
	{"--volume=/a", false, -1},
	{"--network", true, 1},
	{"--net=none", true, 1},
	{"--net=host", false, -1},
	{"-t", true, 2},
	{"-t=false", false, -1},
	{"-i", false, -1},
	{"-it", false, 2},
	{"-tv /a:/b", true, 2},
	{"-tv /b:/a", false, 2},
	{"-tZ", false, -1},
	{"v", false, -1},
};

static void check_options(void)
{
	struct arena *a = arena_new();
	arg_list args = {0};

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		option_list got = {0};
		bool ok = option_parse(a, str_of(options[i].text), &got);
		struct buf b;

		buf_init(&b, a);
		vec_each(o, &got)
			buf_addf(&b, " %.*s", STR_ARG(option_text(a, o)));
		CHECK_MSG(ok == (options[i].options != NULL), "%s",
			  options[i].text);
		CHECK_MSG(!ok || str_is(buf_str(&b), options[i].options),
			  "%s:%.*s", options[i].text, STR_ARG(buf_str(&b)));
	}
	*vec_push(a, &args) = (struct arg){.option = STR("volume"),
					   .has_value = true,
					   .value = STR("/a:/b")};
	*vec_push(a, &args) = (struct arg){.option = STR("network"),
					   .has_value = true,
					   .value = STR("none")};
	*vec_push(a, &args) = (struct arg){.option = STR("tty")};
	for (size_t i = 0; i < ARRAY_LEN(among); i++) {
		const struct arg *some =
			option_find(a, &args, str_of(among[i].text));

		CHECK_MSG(option_among(a, &args, str_of(among[i].text)) ==
				  among[i].all,
			  "%s", among[i].text);
		CHECK_MSG(some == (among[i].some < 0 ? NULL
						     : &args.v[among[i].some]),
			  "%s", among[i].text);
	}
	arena_free(a);
}

/* Of each byte of the borders, and of each part that HAProxy and a server may
 * read in two ways. */
static const struct {
	struct str path;
	bool canonical;
} paths[] = {
	{{NULL, 0}, false},	      {STR_INIT("a"), false},
	{STR_INIT("/"), true},	      {STR_INIT("/a"), true},
	{STR_INIT("/a/"), true},      {STR_INIT("/a/b"), true},
	{STR_INIT("//"), false},      {STR_INIT("/a//b"), false},
	{STR_INIT("/a//"), false},    {STR_INIT("/."), false},
	{STR_INIT("/.."), false},     {STR_INIT("/..."), true},
	{STR_INIT("/a/./b"), false},  {STR_INIT("/a/../b"), false},
	{STR_INIT("/..;a/b"), false}, {STR_INIT("/.a;b"), true},
	{STR_INIT("/ "), false},      {STR_INIT("/\x1f"), false},
	{STR_INIT("/!"), true},	      {STR_INIT("/~"), true},
	{STR_INIT("/\x7f"), false},   {STR_INIT("/\x80"), false},
	{STR_INIT("/\xff"), false},   {STR_INIT("/a\\b"), false},
	{STR_INIT("/a#b"), false},    {STR_INIT("/%20"), true},
	{STR_INIT("/%1F"), false},    {STR_INIT("/%7F"), false},
	{STR_INIT("/%7E"), false},    {STR_INIT("/%80"), true},
	{STR_INIT("/%2F"), false},    {STR_INIT("/%5C"), false},
	{STR_INIT("/%25"), false},    {STR_INIT("/%C3%A4"), true},
	{STR_INIT("/%c3"), false},    {STR_INIT("/%Ca"), false},
	{STR_INIT("/%"), false},      {STR_INIT("/%2"), false},
	{STR_INIT("/%4G"), false},    {STR_INIT("/%G4"), false},
	{STR_INIT("/%2G"), false},    {STR_INIT("/%G2"), false},
	{STR_INIT("/%00"), false},    {STR_INIT("/%3B"), true},
};

static void check_paths(void)
{
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		CHECK_MSG(decide_path_canonical(paths[i].path) ==
				  paths[i].canonical,
			  "%.*s", STR_ARG(paths[i].path));
}

/* Requests where two parts of a policy meet, which no plan has but by chance.
 * tls: host is the name that the hello states. */
static const struct {
	const char *policy, *host, *addr;
	bool tls, is_guarded;
	uint16_t port;
	const char *path;
	enum reason reason;
} requests[] = {
	/* A network with rules opens nothing of the floor, without it does. */
	{"allow 169.254.0.0/15 tcp/80 http\n", "169.254.169.254",
	 "169.254.169.254", false, false, 80, "/", REASON_NO_GRANT},
	{"allow 169.254.169.0/24 tcp/80 http\n", "169.254.169.254",
	 "169.254.169.254", false, false, 80, "/", REASON_NO_GRANT},
	{"allow 169.254.169.0/24 tcp/80\n", "169.254.169.254",
	 "169.254.169.254", false, false, 80, "/", REASON_GRANTED},
	{"allow 198.51.100.0/24 tcp/80 http\n", "198.51.100.1", "198.51.100.1",
	 false, false, 80, "/", REASON_GRANTED},
	/* A denial of requests to anybody asks for a name, on its ports. */
	{"allow 203.0.113.0/24\ndeny * tcp/443 http=GET\n", "", "203.0.113.1",
	 true, false, 443, "/", REASON_NO_SNI},
	{"allow 203.0.113.0/24\ndeny * tcp/444 http=GET\n", "", "203.0.113.1",
	 true, false, 443, "/", REASON_GRANTED},
	{"allow 203.0.113.0/24\ndeny * tcp/444 http=GET\n"
	 "deny a.test http=GET\n",
	 "", "203.0.113.1", true, false, 443, "/", REASON_GRANTED},
	{"allow 203.0.113.0/24\ndeny * tcp/444 http=GET\n"
	 "deny a.test http=GET\n",
	 "", "203.0.113.1", true, true, 443, "/", REASON_NO_SNI},
	{"allow 203.0.113.0/24\ndeny 203.0.113.9 tcp/443 http=GET\n"
	 "deny a.test http=GET\n",
	 "", "203.0.113.1", true, false, 443, "/", REASON_GRANTED},
	{"allow 203.0.113.0/24\ndeny 203.0.113.9 tcp/443 http=GET\n", "",
	 "203.0.113.9", true, false, 443, "/", REASON_NO_SNI},
	/* Paths of a grant are nothing where the network is granted whole, and
	 * those of a denial are. */
	{"allow 203.0.113.0/24\nallow http://a.test/a/\n"
	 "deny b.test http=GET\n",
	 "a.test", "203.0.113.1", false, false, 80, "//", REASON_GRANTED},
	{"allow http://a.test/a/\n", "a.test", "203.0.113.1", false, false, 80,
	 "//", REASON_PATH_NOT_CANONICAL},
	{"allow 203.0.113.0/24\ndeny a.test http=GET+/b/\n", "a.test",
	 "203.0.113.1", false, false, 80, "//", REASON_PATH_NOT_CANONICAL},
	/* Who states no name is nobody's; packets are denied before. */
	{"allow *\ndeny a.test\n", "", "203.0.113.1", false, false, 80, "/",
	 REASON_NO_GRANT},
	{"allow 203.0.113.0/24\ndeny 203.0.113.1 tcp/443\n"
	 "deny a.test tcp/443\n",
	 "", "203.0.113.1", true, false, 443, "/", REASON_GRANTED},
	/* Of a hello alone no method is known. */
	{"allow a.test http=PUT\n", "a.test", "203.0.113.1", true, false, 443,
	 "/", REASON_GRANTED},
};

static void check_requests(void)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct str host = str_of(requests[i].host);
		struct decide_request r = {
			.tls = requests[i].tls,
			.only_hello = requests[i].tls,
			.port = requests[i].port,
			.has_addr = true,
			.is_pinned = true,
			.is_guarded = requests[i].is_guarded,
			.sni = requests[i].tls ? host : STR(""),
			.host = host,
			.method = STR("GET"),
			.path = str_of(requests[i].path),
		};
		struct test_policy t;
		struct decision d;

		CHECK(test_policy_make(&t, requests[i].policy));
		CHECK(addr_parse(str_of(requests[i].addr), &r.addr));
		d = decide_request(t.a, &t.policy, &r);
		CHECK_MSG(d.reason == requests[i].reason, "%zu, %s%s: %s", i,
			  requests[i].policy, requests[i].host,
			  reason_name(d.reason));
		test_policy_done(&t);
	}
}

/* N-14 */
static void check_mismatch(void)
{
	struct decide_request r = {.tls = true,
				   .port = 443,
				   .is_pinned = true,
				   .sni = STR("a.test"),
				   .host = STR("b.test"),
				   .method = STR("GET"),
				   .path = STR("/")};
	struct test_policy t;

	CHECK(test_policy_make(&t, "allow a.test inspect\nallow b.test\n"));
	CHECK(decide_request(t.a, &t.policy, &r).reason ==
	      REASON_NAME_MISMATCH);
	r.host = r.sni;
	CHECK(decide_request(t.a, &t.policy, &r).reason == REASON_GRANTED);
	r.tls = false; /* there is no hello */
	r.host = STR("b.test");
	CHECK(decide_request(t.a, &t.policy, &r).reason == REASON_GRANTED);
	test_policy_done(&t);
}

/* N-7, Q-5: whose TLS is opened. */
static const struct {
	const char *policy, *sni, *addr;
	uint16_t port;
	bool decrypts;
} opened[] = {
	{"allow a.test\n", "a.test", NULL, 443, false},
	{"allow a.test inspect\n", "a.test", NULL, 443, true},
	{"allow a.test inspect\n", "", NULL, 443, false},
	{"allow a.test inspect\n", "b.test", NULL, 443, false},
	{"allow a.test http=GET\n", "a.test", NULL, 443, true},
	{"allow a.test tcp/444 http=GET\n", "a.test", NULL, 443, false},
	{"allow a.test\ndeny a.test tcp/443 http=GET\n", "a.test", NULL, 443,
	 true},
	{"allow a.test\ndeny a.test tcp/443\n", "a.test", NULL, 443, false},
	{"allow a.test\ncredential a.test X-K K\n", "a.test", NULL, 443, true},
	{"allow a.test inspect\nallow 203.0.113.0/24\n", "a.test",
	 "203.0.113.1", 443, false},
	{"allow a.test inspect\nallow 203.0.113.0/24\ndeny b.test\n", "a.test",
	 "203.0.113.1", 443, false},
	{"allow 203.0.113.0/24\ndeny a.test tcp/443 http=GET\n", "a.test",
	 "203.0.113.1", 443, true},
	{"allow 203.0.113.0/24\ndeny a.test tcp/444 http=GET\n", "a.test",
	 "203.0.113.1", 443, false},
	{"allow 203.0.113.0/24\ndeny 203.0.113.0/24 tcp/443 http=GET\n", "",
	 "203.0.113.1", 443, false},
	{"allow 203.0.113.0/24\ncredential a.test X-K K\n", "a.test",
	 "203.0.113.1", 443, false},
};

static void check_opened(void)
{
	for (size_t i = 0; i < ARRAY_LEN(opened); i++) {
		struct decide_request r = {.tls = true,
					   .port = opened[i].port,
					   .is_pinned = true,
					   .sni = str_of(opened[i].sni)};
		struct test_policy t;

		CHECK(test_policy_make(&t, opened[i].policy));
		if (opened[i].addr)
			r.has_addr =
				addr_parse(str_of(opened[i].addr), &r.addr);
		CHECK_MSG(decide_decrypts(&t.policy, &r) == opened[i].decrypts,
			  "%zu %s", i, opened[i].policy);
		test_policy_done(&t);
	}
}

/* S-1 to S-5, H-6: what becomes of an address in an answer. */
static const struct {
	const char *policy, *name, *addr;
	enum decide_keep keep;
} answers[] = {
	{"", "a.test", "203.0.113.1", DECIDE_KEEP_OPEN},
	{"allow 203.0.113.0/24\n", "a.test", "203.0.113.1", DECIDE_KEEP_OPEN},
	{"allow a.test\n", "a.test", "10.0.0.1", DECIDE_DROP_PRIVATE},
	{"allow a.test public\n", "a.test", "10.0.0.1", DECIDE_DROP_PRIVATE},
	{"allow a.test private\n", "a.test", "10.0.0.1", DECIDE_KEEP_OPEN},
	{"allow *.test private\n", "a.test", "10.0.0.1", DECIDE_KEEP_OPEN},
	{"allow * private\n", "a.test", "10.0.0.1", DECIDE_KEEP_OPEN},
	{"allow https://a.test/ private\n", "a.test", "10.0.0.1",
	 DECIDE_KEEP_OPEN},
	{"allow https://*.test/ private\n", "a.test", "10.0.0.1",
	 DECIDE_KEEP_OPEN},
	{"allow b.test private\n", "a.test", "10.0.0.1", DECIDE_DROP_PRIVATE},
	{"allow 10.0.0.0/8\n", "a.test", "10.0.0.1", DECIDE_KEEP_COVERED},
	{"allow 10.0.0.0/8 udp/9\n", "a.test", "10.0.0.1", DECIDE_KEEP_COVERED},
	{"allow 10.0.0.0/8 http=GET\n", "a.test", "10.0.0.1",
	 DECIDE_DROP_PRIVATE},
	{"allow http://10.0.0.1/\n", "a.test", "10.0.0.1", DECIDE_DROP_PRIVATE},
	{"allow 10.0.0.0/16\n", "a.test", "10.1.0.1", DECIDE_DROP_PRIVATE},
	{"allow a.test private\n", "a.test", "127.0.0.1", DECIDE_DROP_FLOOR},
	{"allow 127.0.0.0/8\n", "a.test", "127.0.0.1", DECIDE_DROP_FLOOR},
	{"allow 127.0.0.1\n", "a.test", "127.0.0.1", DECIDE_KEEP_COVERED},
	{"allow 127.0.0.1 http=GET\n", "a.test", "127.0.0.1",
	 DECIDE_DROP_FLOOR},
	{"allow 192.0.0.5 tcp/80\n", "a.test", "192.0.0.5", DECIDE_DROP_FLOOR},
	{"allow 192.0.0.5 tcp/80\n", "host", "192.0.0.5", DECIDE_KEEP_COVERED},
	{"", "host", "192.0.0.5", DECIDE_DROP_FLOOR},
};

static void check_answers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct test_policy t;
		struct addr addr;

		CHECK(test_policy_make(&t, answers[i].policy));
		CHECK(addr_parse(str_of(answers[i].addr), &addr));
		CHECK_MSG(decide_answer(&t.policy, str_of(answers[i].name),
					&addr) == answers[i].keep,
			  "%zu %s", i, answers[i].policy);
		test_policy_done(&t);
	}
}

/* Of several that speak of a name the first. */
static void check_purpose(void)
{
	static const char *const dests[] = {"*.test", "a.test", "b.org"};
	struct ir_policy p = {0};
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(dests); i++) {
		__typeof__(p.purposes.v) x = vec_push(a, &p.purposes);

		test_dest(str_of(dests[i]), &x->dest);
		x->reason = str_of(dests[i]);
	}
	CHECK(str_is(decide_purpose(&p, STR("a.test")), "*.test"));
	CHECK(str_is(decide_purpose(&p, STR("b.org")), "b.org"));
	CHECK(decide_purpose(&p, STR("a.b.org")).n == 0);
	CHECK(decide_purpose(&p, STR("test")).n == 0);
	arena_free(a);
}

/* Of '*' an address alone is nothing's name. */
static void check_any(void)
{
	struct decide_flow f = {.port = 443, .has_addr = true};
	struct test_policy t;

	CHECK(test_policy_make(&t, "allow *\n"));
	CHECK(addr_parse(STR("10.0.0.1"), &f.addr));
	CHECK(decide_connect(&t.policy, &f).reason == REASON_NO_GRANT);
	f.name = STR("a.test");
	CHECK(decide_connect(&t.policy, &f).reason == REASON_PRIVATE_ADDRESS);
	test_policy_done(&t);
}

int main(void)
{
	check_requests();
	check_mismatch();
	check_opened();
	check_answers();
	check_purpose();
	check_any();
	check_options();
	check_paths();
	check_flows();
	check_resolve();
	check_files();
	return check_status();
}
