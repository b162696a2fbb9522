/*
 * Every ruleset is one that nft accepts, that the kernel loads, and that nft
 * then lists byte for byte. In a network namespace of this program's own; skips
 * where it cannot have one.
 *
 *	nft_load [POLICIES [SEED]]
 */
#include "compiler/emit/nft.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NAME "ruleset.nft"

static bool write_file(const char *name, const char *text, size_t n)
{
	FILE *f = fopen(name, "w");
	bool ok = f && fwrite(text, 1, n, f) == n;

	return f && fclose(f) == 0 && ok;
}

/* A namespace of our own, as root or through a user namespace. */
static bool enter_namespace(void)
{
	char map[64];
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWNET) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	snprintf(map, sizeof(map), "0 %u 1\n", uid);
	if (!write_file("/proc/self/setgroups", "deny", 4) ||
	    !write_file("/proc/self/uid_map", map, strlen(map)))
		return false;
	snprintf(map, sizeof(map), "0 %u 1\n", gid);
	return write_file("/proc/self/gid_map", map, strlen(map));
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

static bool same_as_listed(struct str text)
{
	char *listed = run("nft -s list table inet membrane");
	bool same = listed && str_eq(str_of(listed), text);

	if (listed && !same) {
		write_file("listed.nft", listed, strlen(listed));
		(void)!system("diff -u " FILE_NAME " listed.nft | head -40 >&2");
	}
	free(listed);
	return same;
}

/* A policy of ours, loaded into the kernel. */
static void check_text(const char *policy, bool dry_too, const char *about)
{
	struct test_policy t;
	struct str text;
	bool ok;

	ok = test_policy_make(&t, policy);
	CHECK_MSG(ok, "%s refused:\n%s", about, policy);
	text = ok ? test_policy_emit(&t, nft_emit) : (struct str){0};
	ok = text.n && write_file(FILE_NAME, text.p, text.n);
	if (ok && dry_too)
		CHECK_MSG(nft_ran("nft -c -f " FILE_NAME " 2>&1"), "%s:\n%s",
			  about, policy);
	ok = ok && nft_ran("nft -f " FILE_NAME " 2>&1");
	CHECK_MSG(ok, "%s does not load:\n%s", about, policy);
	if (ok) {
		CHECK_MSG(same_as_listed(text), "%s is listed otherwise:\n%s",
			  about, policy);
		nft_ran("nft delete table inet membrane");
	}
	test_policy_done(&t);
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
	struct str text;

	CHECK(test_policy_make(&t, "allow a.test tcp/443\n"));
	arg = vec_push(t.a, &t.policy.docker_args);
	arg->is_publish = true;
	arg->publish = (struct arg_publish){STR("8080:80"), IR_PROTO_TCP, 80,
					    80};
	arg = vec_push(t.a, &t.policy.docker_args);
	*arg = t.policy.docker_args.v[0];
	arg->publish.lo = 3000;
	arg->publish.hi = 3010;
	arg = vec_push(t.a, &t.policy.docker_args);
	*arg = t.policy.docker_args.v[0];
	arg->publish.proto = IR_PROTO_UDP;
	text = test_policy_emit(&t, nft_emit);
	CHECK(write_file(FILE_NAME, text.p, text.n));
	CHECK(nft_ran("nft -f " FILE_NAME " 2>&1"));
	CHECK(same_as_listed(text));
	nft_ran("nft delete table inet membrane");
	test_policy_done(&t);
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct gen_policy p;
	char dir[] = "/tmp/membrane-nft-XXXXXX";

	if (system("nft --version >/dev/null 2>&1") != 0) {
		puts("no nft");
		return 77;
	}
	if (!enter_namespace()) {
		puts("no network namespace of our own");
		return 77;
	}
	if (!mkdtemp(dir) || chdir(dir) != 0)
		return 1;
	check_text("", true, "the empty policy");
	check_text("allow 0.0.0.0/0\nallow ::/0\n", true, "everything");
	check_publish();
	check_many();
	check_classes();
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
