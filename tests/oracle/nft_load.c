/*
 * Every ruleset is one that nft accepts, that the kernel loads, and that nft
 * then lists byte for byte. In a network namespace of this program's own; skips
 * where it cannot have one.
 *
 *	nft_load [POLICIES [SEED]]
 */
#include "compiler/base/sys/fileio.h"
#include "compiler/emit/nft/nft.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/namespace.h"
#include "tests/policy.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

#define FILE_NAME "ruleset.nft"

static bool write_file(const char *name, const char *text, size_t n)
{
	FILE *f = fopen(name, "w");
	bool ok = f && fwrite(text, 1, n, f) == n;

	return f && fclose(f) == 0 && ok;
}

/* Run a command of ours; its output, or NULL when it failed. */
static char *run(const char *command)
{
	FILE *f = popen(command, "r");
	size_t n = 0, size = 1 << 24;
	char *out = calloc(1, size);

	if (!f || !out)
		return NULL;
	n = fread(out, 1, size - 1, f);
	if (pclose(f) == 0 && n < size - 1)
		return out;
	fputs(out, stderr);
	free(out);
	return NULL;
}

static bool nft_ran(const char *command)
{
	char *out = run(command);

	free(out);
	return out != NULL;
}

/* Blanks apart: how wide a set is printed differs between versions of nft. */
static bool same_words(const char *a, const char *b)
{
	while (*a || *b) {
		size_t na, nb;

		a += strspn(a, " \t\n");
		b += strspn(b, " \t\n");
		na = strcspn(a, " \t\n");
		nb = strcspn(b, " \t\n");
		if (na != nb || memcmp(a, b, na) != 0)
			return false;
		a += na;
		b += nb;
	}
	return true;
}

/* The gate's image has this one, and there every byte counts. */
static bool is_gates_nft(void)
{
	char *version = run("nft --version");
	bool is = version && strstr(version, "v1.0.6");

	free(version);
	return is;
}

/* nft lists no comments. */
static struct str without_comments(struct arena *a, struct str text)
{
	struct str line;
	struct buf out;

	buf_init(&out, a);
	while (str_line(&text, &line)) {
		if (str_starts(str_trim(line), STR("#")))
			continue;
		buf_add(&out, line);
		buf_addc(&out, '\n');
	}
	return buf_str(&out);
}

static bool same_as_listed(struct str written)
{
	struct arena *a = arena_new();
	struct str text = without_comments(a, written);
	char *listed = run("nft -s list table inet membrane");
	bool same = listed && (is_gates_nft() ? str_eq(str_of(listed), text)
					      : same_words(listed, text.p));

	if (listed && !same) {
		write_file("listed.nft", listed, strlen(listed));
		ignore(system("diff -u " FILE_NAME
			      " listed.nft | head -40 >&2"));
	}
	free(listed);
	arena_free(a);
	return same;
}

/* A ruleset, loaded into the kernel. */
static void check_rules(struct str text, bool dry_too, const char *about)
{
	bool ok = text.n && write_file(FILE_NAME, text.p, text.n);

	if (ok && dry_too)
		CHECK_MSG(nft_ran("nft -c -f " FILE_NAME " 2>&1"), "%s", about);
	ok = ok && nft_ran("nft -f " FILE_NAME " 2>&1");
	CHECK_MSG(ok, "does not load: %s", about);
	if (!ok)
		return;
	CHECK_MSG(same_as_listed(text), "is listed otherwise: %s", about);
	nft_ran("nft delete table inet membrane");
}

/* A policy of ours. */
static void check_text(const char *policy, bool dry_too, const char *about)
{
	struct test_policy t;
	bool ok = test_policy_make(&t, policy);

	CHECK_MSG(ok, "%s refused:\n%s", about, policy);
	if (ok) {
		unsigned failed = check_failed;

		check_rules(test_policy_emit(&t, nft_emit), dry_too, about);
		if (check_failed != failed)
			fputs(policy, stderr);
	}
	test_policy_done(&t);
}

/* What the golden cases expect, from where the program was started. */
static void check_cases(const char *top)
{
	struct arena *a = arena_new();
	glob_t g;

	if (glob(arena_fmt(a, "%s/tests/cases/*/expect.ruleset.nft", top).p, 0,
		 NULL, &g) != 0)
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct err err = {0};
		struct str text = {0};

		CHECK_MSG(fileio_read(a, AT_FDCWD, g.gl_pathv[i], 1 << 24,
				      &text, &err) == 0,
			  "%s", err.text);
		check_rules(text, true, g.gl_pathv[i]);
	}
	CHECK(g.gl_pathc > 20);
	globfree(&g);
	arena_free(a);
}

/* 10,000 networks and as many denials, of both families. */
static void check_many(void)
{
	struct buf b;
	struct arena *a = arena_new();

	buf_init(&b, a);
	for (unsigned i = 0; i < 10000; i++) {
		buf_addf(&b, "allow 20.%u.%u.%u tcp/443\n", i >> 8, i & 255,
			 i * 7 & 254);
		buf_addf(&b, "deny 2001:db8:%x::%x/127 tcp/%u\n", i, i & ~1u,
			 80 + i % 3);
	}
	check_text(b.p, false, "many grants");
	arena_free(a);
}

static void check_classes(void)
{
	struct buf b;
	struct arena *a = arena_new();

	buf_init(&b, a);
	for (unsigned i = 0; i < 256; i++)
		buf_addf(&b, "allow h%u.test tcp/%u,udp/%u\n", i, 1000 + i,
			 1000 + i);
	check_text(b.p, false, "256 classes");
	arena_free(a);
}

static void check_publish(void)
{
	struct test_policy t;
	struct arg *arg;

	CHECK(test_policy_make(&t, "allow a.test tcp/443\n"));
	arg = vec_push(t.a, &t.policy.docker_args);
	arg->is_publish = true;
	arg->publish =
		(struct arg_publish){STR("8080:80"), IR_PROTO_TCP, 80, 80};
	arg = vec_push(t.a, &t.policy.docker_args);
	*arg = t.policy.docker_args.v[0];
	arg->publish.lo = 3000;
	arg->publish.hi = 3010;
	arg = vec_push(t.a, &t.policy.docker_args);
	*arg = t.policy.docker_args.v[0];
	arg->publish.proto = IR_PROTO_UDP;
	check_rules(test_policy_emit(&t, nft_emit), true, "published ports");
	test_policy_done(&t);
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : 60;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct gen_policy p;
	char dir[] = "/tmp/membrane-nft-XXXXXX", top[PATH_MAX];

	if (system("nft --version >/dev/null 2>&1") != 0) {
		puts("no nft");
		return 77;
	}
	if (!namespace_enter()) {
		puts("no network namespace of our own");
		return 77;
	}
	if (!getcwd(top, sizeof(top)) || !mkdtemp(dir) || chdir(dir) != 0)
		return 1;
	check_text("", true, "the empty policy");
	check_text("allow 0.0.0.0/0\nallow ::/0\n", true, "everything");
	check_publish();
	check_many();
	check_classes();
	check_cases(top);
	for (unsigned i = 0; i < policies; i++) {
		struct rng r = {seed + i};
		char about[64];

		gen_policy(&r, &p);
		snprintf(about, sizeof(about), "seed %llu",
			 (unsigned long long)(seed + i));
		check_text(p.text, i % 10 == 0, about);
	}
	unlink(FILE_NAME);
	unlink("listed.nft");
	if (chdir("/") != 0 || rmdir(dir) != 0)
		return 1;
	return check_status();
}
