/*
 * What a workspace adds, held against decisions: where passes/additions lists
 * nothing, or contribution.h nothing that needs approval, the policy with the
 * workspace's part permits nothing that it does not permit without. Where
 * something is listed, it permits nothing that the listed lines alone do not
 * account for: two contributions with the same lines differ in no more than
 * what was approved.
 */
#include "compiler/algebra/decide/ask.h"
#include "compiler/cli/trust/contribution.h"
#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/scaled.h"
#include "tests/policy.h"

#define TRIALS	 SCALED(3000, 4)
#define PROBES	 60
#define TEXT_MAX 8192

static const char *const wide[] = {
	"allow@global 0.0.0.0/0\n",
	"allow@global ::/0\n",
	"allow@global * tcp/1-65535,udp/1-65535\n",
	"allow@global * private\n",
	"allow@global **.test\n",
	"allow@global 169.254.0.0/15 tcp/80\n",
	"allow@global 127.0.0.0/7\n",
};
static const char *const patterns[] = {
	".env",	 "*.log", "a/",	   "/a/b",  "*",    "**/b",    "x?z",	 "a/*",
	"a/**",	 "[ab]",  ".e*",   "!.env", "!a",   "!*.log",  "!/a/b",	 "!b/",
	"!a/**", "!*",	  "![ab]", "!.e*",  "!x*z", "!\\.env", "!k.log", "/b",
};
static const char *const paths[] = {
	".env", "a",	 "a/",	  "a/b",     "a/b/",  "b", "b/",  "a/.env",
	"xyz",	"x.log", "k.log", "a/k.log", "a/b/c", "c", "c/b", ".exe",
};

static uint64_t quiet, no_access, some, compared;

static void add(char *text, const char *line)
{
	strncat(text, line, TEXT_MAX - strlen(text) - 1);
}

/* "allow x" as "ask x", now and then: what is not over UDP may be. */
static const char *some_line(struct rng *r, const char *line)
{
	static char room[GEN_LINE_MAX];

	if (!str_starts(str_of(line), STR("allow ")) || strstr(line, "udp") ||
	    rng_below(r, 3))
		return line;
	snprintf(room, sizeof(room), "ask%s", line + strlen("allow"));
	return room;
}

/* "allow x" as "allow@global x". */
static void add_global(char *text, const char *line)
{
	const char *rest = strchr(line, ' ');
	char room[GEN_LINE_MAX + 16];

	snprintf(room, sizeof(room), "%.*s@global%s\n", (int)(rest - line),
		 line, rest);
	add(text, room);
}

static void add_pattern(struct rng *r, char *text, const char *layer)
{
	char line[64];

	snprintf(line, sizeof(line), "%s%s %s\n",
		 rng_below(r, 2) ? "ignore" : "readonly", layer,
		 GEN_PICK(r, patterns));
	add(text, line);
}

/* The user's part, then with it the workspace's. */
static void generate(struct rng *r, char *global, char *both)
{
	struct gen_policy user;

	*global = '\0';
	gen_policy(r, &user);
	for (uint32_t i = 0; i < user.n; i++)
		add_global(global, some_line(r, user.lines[i]));
	if (rng_below(r, 2))
		add(global, GEN_PICK(r, wide));
	for (uint32_t n = rng_below(r, 4); n; n--)
		add_pattern(r, global, "@global");
	strcpy(both, global);
	for (uint32_t n = rng_below(r, 3); n; n--) {
		char line[GEN_LINE_MAX];

		gen_line(r, line, sizeof(line));
		add(both, some_line(r, line));
		add(both, "\n");
	}
	for (uint32_t n = rng_below(r, 3); n; n--)
		add_pattern(r, both, "");
}

static void widened(const char *what, const char *probe, const char *text)
{
	CHECK_MSG(false, "%s %s, and nothing is listed:\n%s", what, probe,
		  text);
}

static void probe_flow(struct rng *r, const struct ir_policy *with,
		       const struct ir_policy *without, const char *text)
{
	struct decide_flow f = {.addr = gen_addr(r), .has_addr = true};
	char addr[ADDR_TEXT_MAX];
	struct str name = str_of(GEN_PICK(r, gen_names));

	f.proto = rng_below(r, 3) ? IR_PROTO_TCP : IR_PROTO_UDP;
	f.port = GEN_PICK(r, gen_ports_hit);
	if (decide_answer(with, name, &f.addr) >
	    decide_answer(without, name, &f.addr))
		widened("answers", addr_text(&f.addr, addr), text);
	if (rng_below(r, 2))
		f.name = name;
	if (decide_connect(with, &f).verdict >
	    decide_connect(without, &f).verdict)
		widened("connects to", addr_text(&f.addr, addr), text);
	if (decide_resolve(with, name, STR("A")).verdict >
	    decide_resolve(without, name, STR("A")).verdict)
		widened("resolves", name.p, text);
	compared += 3;
}

static void probe_http(struct rng *r, const struct test_policy *with,
		       const struct test_policy *without, const char *text)
{
	static const char *const methods[] = {"GET", "POST", "CONNECT"};
	static const char *const targets[] = {"/", "/x", "/a/b", "/a/bc"};
	struct ir_request q = {.kind = IR_REQ_HTTP};

	q.method = str_of(GEN_PICK(r, methods));
	q.url.scheme = rng_below(r, 2) ? IR_SCHEME_HTTPS : IR_SCHEME_HTTP;
	q.url.who = IR_DEST_HOST;
	q.url.name = str_of(GEN_PICK(r, gen_names));
	q.url.port = GEN_PICK(r, gen_ports_hit);
	q.url.path = str_of(GEN_PICK(r, targets));
	if (decide_asked(with->a, &with->policy, NULL, &q).verdict >
	    decide_asked(without->a, &without->policy, NULL, &q).verdict)
		widened("requests of", q.url.name.p, text);
	compared++;
}

static void probe_files(const struct test_policy *with,
			const struct test_policy *without, const char *text)
{
	const struct decide_files *w = decide_files_new(with->a, &with->policy);
	const struct decide_files *o =
		decide_files_new(without->a, &without->policy);

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct str path = str_of(paths[i]);

		if (decide_read(w, path).verdict > decide_read(o, path).verdict)
			widened("reads", paths[i], text);
		if (decide_write(w, path).verdict >
		    decide_write(o, path).verdict)
			widened("writes", paths[i], text);
		compared += 2;
	}
}

static bool is_listed(const struct contribution *x, uint32_t beg)
{
	vec_each(t, &x->adds)
		if (t->from.at.beg == beg)
			return true;
	return false;
}

/*
 * The user's part and, of the workspace's, the grants that are listed; its
 * patterns all or not at all, since one may need another.
 */
static void listed_text(const struct contribution *x, const char *global,
			const char *both, char *out)
{
	struct str rest = str_of(both), line;
	bool keeps = false;

	vec_each(t, &x->adds)
		keeps |= !str_starts(t->s, STR("allow ")) &&
			 !str_starts(t->s, STR("ask "));
	strcpy(out, global);
	rest = str_slice(rest, strlen(global), rest.n);
	while (str_line(&rest, &line)) {
		bool is_grant = str_starts(line, STR("allow ")) ||
				str_starts(line, STR("ask "));

		if (str_starts(line, STR("deny ")) ||
		    !(is_grant ? is_listed(x, 1 + (uint32_t)(line.p - both))
			       : keeps))
			continue;
		strncat(out, line.p, line.n + 1);
	}
}

/* Whether the listed lines, in out, are worth a comparison. */
static bool list(const char *global, const char *both, char *out)
{
	struct test_policy t;
	addition_list found = {0};
	struct contribution x;
	struct compilation c = {0};
	struct pass_ctx ctx;

	test_policy_bind(&t, both);
	passes_additions(&t.ctx, &t.docs, &found);
	c.a = t.a;
	c.sources = t.sources;
	c.docs = t.docs;
	diags_init(&c.diags, c.a, &c.sources);
	ctx = driver_ctx(&c);
	c.ok = passes_layers(&ctx, &c.docs, &c.policy) &&
	       passes_normalise(&ctx, &c.policy);
	contribution_make(&c, &x);
	listed_text(&x, global, both, out);
	no_access += found.n != 0 && x.adds.n == 0;
	quiet += x.adds.n == 0;
	some += x.adds.n != 0;
	test_policy_done(&t);
	return strcmp(both, out) != 0;
}

static void trial(struct rng *r)
{
	static char global[TEXT_MAX], both[TEXT_MAX], listed[TEXT_MAX];
	struct test_policy with, without;

	generate(r, global, both);
	if (!list(global, both, listed))
		return;
	if (test_policy_make(&with, both)) {
		if (test_policy_make(&without, listed)) {
			for (int i = 0; i < PROBES; i++) {
				probe_flow(r, &with.policy, &without.policy,
					   both);
				probe_http(r, &with, &without, both);
			}
			probe_files(&with, &without, both);
		}
		test_policy_done(&without);
	}
	test_policy_done(&with);
}

int main(int argc, char **argv)
{
	struct rng r = {.state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1};
	int trials = argc > 2 ? atoi(argv[2]) : TRIALS;

	for (int i = 0; i < trials && check_failed == 0; i++)
		trial(&r);
	CHECK(quiet > (uint64_t)trials / 20);
	CHECK(no_access > (uint64_t)trials / 100);
	printf("%llu policies that add nothing, %llu of them no access alone, "
	       "%llu that do, %llu comparisons\n",
	       (unsigned long long)quiet, (unsigned long long)no_access,
	       (unsigned long long)some, (unsigned long long)compared);
	return check_status();
}
