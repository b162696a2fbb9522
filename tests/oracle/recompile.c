/*
 * policy.json is a policy file: compiled again it gives the same artefacts,
 * itself included, and compared it has the same access. For every policy of
 * the golden cases, every preset, and generated ones.
 *
 *	recompile [POLICIES [SEED]]
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/base/agent_link.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/review/derived.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/scaled.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned compiled, refused;

/* Empty folders for a workspace and a state. */
static char root[] = "/tmp/membrane-recompile-XXXXXX";
static char work[64], state[64], again[64];

/* places: a provenance.json, or nothing. */
static bool compile(struct compilation *c, const char *global,
		    struct str places)
{
	struct front_input in = {.workspace = work,
				 .state = state,
				 .global = global,
				 .policies = "policies"};
	struct err err = {0};

	*c = (struct compilation){.places = places};
	if (driver_compile(c, &in, &err) < 0) {
		CHECK_MSG(false, "%s: %s", global, err.text);
		return false;
	}
	return c->ok;
}

static void show_errors(struct compilation *c)
{
	struct buf out;

	buf_init(&out, c->a);
	diags_print(&c->diags, &out, false);
	fwrite(out.p, 1, out.n, stderr);
}

static void show_difference(const struct plan_file *a,
			    const struct plan_file *b)
{
	struct str ra = a->data, rb = b->data, la = {0}, lb = {0};

	while (str_line(&ra, &la) && str_line(&rb, &lb) && str_eq(la, lb))
		;
	fprintf(stderr, "  %.*s\n  %.*s\n", STR_ARG(la), STR_ARG(lb));
}

/* Everything but where things were written. */
static void compare(const char *about, const struct plan *one,
		    const struct plan *two)
{
	CHECK_MSG(one->files.n == two->files.n, "%s", about);
	vec_each(f, &one->files) {
		const struct plan_file *g = plan_file(two, f->name.p);
		bool same;

		if (str_is(f->name, "provenance.json"))
			continue;
		same = g && str_eq(f->data, g->data);
		CHECK_MSG(same, "%s: %.*s", about, STR_ARG(f->name));
		if (!same && g)
			show_difference(f, g);
	}
}

/* What a plan says of itself is what `diff` reads of it. */
static void same_access(const char *about, const struct compilation *one,
			struct compilation *two)
{
	struct comparison found;

	derived_adopt(two, one);
	compare_policies(one->a, &one->policy, &two->policy, &found);
	CHECK_MSG(compare_equal(&found), "%s: another access", about);
	CHECK_MSG(found.same_text, "%s: in other words", about);
	if (!compare_equal(&found))
		fprintf(stderr, "  %.*s\n", STR_ARG(found.changes.v[0].text));
}

/* must: nothing in it is there to be refused. */
static void check_file(const char *about, const char *path, bool must)
{
	struct compilation one, two;
	const struct plan_file *json;
	struct err err = {0};

	if (!compile(&one, path, STR(""))) {
		CHECK_MSG(!must, "%s is refused", about);
		if (must)
			show_errors(&one);
		refused++;
		driver_done(&one);
		return;
	}
	compiled++;
	json = plan_file(&one.plan, "policy.json");
	CHECK_MSG(json != NULL, "%s: no policy.json", about);
	CHECK(fileio_write(AT_FDCWD, again, json->data, 0600, &err) == 0);
	if (compile(&two, again,
		    plan_file(&one.plan, "provenance.json")->data)) {
		compare(about, &one.plan, &two.plan);
		same_access(about, &one, &two);
	} else {
		CHECK_MSG(false, "%s: its policy.json is refused", about);
		show_errors(&two);
	}
	driver_done(&two);
	driver_done(&one);
}

static void check_glob(const char *pattern, bool must)
{
	glob_t g;

	if (glob(pattern, 0, NULL, &g) == 0)
		for (size_t i = 0; i < g.gl_pathc; i++)
			check_file(g.gl_pathv[i], g.gl_pathv[i], must);
	globfree(&g);
}

/* "allow a.test tcp/443,udp/53 private" as an entry of the list. */
static void put_entry(struct buf *out, struct str line)
{
	struct str word, port;

	str_field(&line, ' ', &word);
	str_field(&line, ' ', &word);
	/* Taken by its name alone, and with few ports. */
	if (str_starts(word, STR(LINK_MACHINE_V4))) {
		buf_adds(out, "  - 'host:443'\n");
		return;
	}
	buf_addf(out, "  - dest: '%.*s'\n", STR_ARG(word));
	while (str_field(&line, ' ', &word)) {
		if (str_is(word, "private") || str_is(word, "public")) {
			buf_addf(out, "    private: %s\n",
				 str_is(word, "private") ? "true" : "false");
			continue;
		}
		if (str_starts(word, STR("http"))) {
			buf_adds(out, "    http: [{methods: [GET]}]\n");
			continue;
		}
		buf_adds(out, "    ports: [");
		while (str_field(&word, ',', &port))
			buf_addf(out, "%.*s/%.3s, ", (int)(port.n - 4),
				 port.p + 4, port.p);
		buf_adds(out, "]\n");
	}
}

static void put_list(struct buf *out, const struct gen_policy *p,
		     const char *key)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n; i++) {
		struct str line = str_of(p->lines[i]);

		/* The grammar takes no IPv4-mapped address, and no network
		 * of the gate's own around the machine's. */
		if (!str_starts(line, str_of(key)) ||
		    strstr(p->lines[i], "::ffff:") ||
		    strstr(p->lines[i], " 192.0.0.4/3"))
			continue;
		if (!any)
			buf_addf(out, "%s:\n", key);
		any = true;
		put_entry(out, line);
	}
}

static void check_generated(uint64_t seed)
{
	static struct gen_policy p;
	struct arena *a = arena_new();
	struct rng r = {seed};
	struct err err = {0};
	struct buf yaml;
	char path[80], about[64];

	gen_policy(&r, &p);
	buf_init(&yaml, a);
	put_list(&yaml, &p, "allow");
	put_list(&yaml, &p, "deny");
	snprintf(path, sizeof(path), "%s/given.yaml", root);
	snprintf(about, sizeof(about), "seed %llu", (unsigned long long)seed);
	CHECK(fileio_write(AT_FDCWD, path, buf_str(&yaml), 0600, &err) == 0);
	check_file(about, path, true);
	arena_free(a);
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : SCALED(300, 4);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct err err = {0};

	if (!mkdtemp(root))
		return 1;
	snprintf(work, sizeof(work), "%s/workspace", root);
	snprintf(state, sizeof(state), "%s/state", root);
	snprintf(again, sizeof(again), "%s/policy.json", root);
	CHECK(fileio_mkdirs(work, 0700, &err) == 0);
	CHECK(fileio_mkdirs(state, 0700, &err) == 0);
	check_glob("policies/default.yaml", true);
	check_glob("policies/*/*.yaml", true);
	CHECK(compiled > 10);
	check_glob("tests/cases/*/input.yaml", false);
	check_glob("tests/cases/*/global.yaml", false);
	for (unsigned i = 0; i < policies; i++)
		check_generated(seed + i);
	printf("%u compiled, %u refused\n", compiled, refused);
	CHECK(fileio_remove_tree(AT_FDCWD, root, &err) == 0);
	return check_status();
}
