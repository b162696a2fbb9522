/* A plan on disk: written whole, read whole, and nothing altered goes unseen.
 */
#include "compiler/plan/plan.h"

#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "compiler/plan/manifest.h"
#include "compiler/plan/mounts_plan.h"
#include "compiler/plan/mountsplan.h"
#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct arena *a;
static char base[] = "/tmp/membrane-plan-XXXXXX";

static const char *in(const char *name)
{
	return arena_fmt(a, "%s/%s", base, name).p;
}

static struct plan sample(const char *ruleset)
{
	struct plan p = {0};

	plan_add(a, &p, STR("ruleset.nft"), str_of(ruleset));
	plan_add(a, &p, STR("names.map"), STR("membrane-names 2\n"));
	plan_add(a, &p, STR("docker.json"), STR("{}\n"));
	*vec_push(a, &p.sources) = (struct plan_source){
		STR(".membrane.yaml"), STR("e3b0c44298fc1c149afbf4c8996fb92427a"
					   "e41e4649b934ca495991b7852"
					   "b855")};
	return p;
}

static int reread(const char *dir, struct plan *out)
{
	struct err err = {0};
	int rc = plan_read(a, dir, out, &err);

	if (rc < 0 && getenv("VERBOSE"))
		printf("%s\n", err.text);
	return rc;
}

static void put(const char *path, const char *text)
{
	struct err err;

	if (fileio_write(AT_FDCWD, path, str_of(text), 0644, &err) < 0)
		CHECK(!"write");
}

static unsigned entries(const char *path)
{
	FILE *f = popen(arena_fmt(a, "ls -A '%s' | wc -l", path).p, "r");
	unsigned n = 99;

	CHECK(f && fscanf(f, "%u", &n) == 1);
	if (f)
		pclose(f);
	return n;
}

static void round_trip(void)
{
	struct plan p = sample("table inet membrane {}\n"), q = {0};
	struct err err = {0};

	CHECK(str_is(p.files.v[0].name, "docker.json"));
	CHECK(str_is(p.files.v[2].name, "ruleset.nft"));
	CHECK(plan_write(in("p"), &p, &err) == 0);
	CHECK(reread(in("p"), &q) == 0);
	CHECK(q.files.n == 3 && q.sources.n == 1);
	CHECK(str_eq(plan_manifest(a, &p), plan_manifest(a, &q)));
	CHECK(str_is(plan_file(&q, "names.map")->data, "membrane-names 2\n"));
	CHECK(!plan_file(&q, "manifest.json"));
	CHECK(reread(in("nowhere"), &q) == -ENOENT);
	CHECK(mkdir(in("empty"), 0755) == 0);
	CHECK(reread(in("empty"), &q) == -ENOENT);
	CHECK(plan_write(in("empty/"), &p, &err) == 0);
	CHECK(reread(in("empty"), &q) == 0);
	CHECK(plan_write(in("no/such/parent"), &p, &err) < 0);
}

static void replacing(void)
{
	struct plan p = sample("other\n"), q = {0};
	struct err err = {0};
	unsigned before = entries(base);

	CHECK(plan_write(in("p"), &p, &err) == 0);
	CHECK(reread(in("p"), &q) == 0);
	CHECK(str_is(plan_file(&q, "ruleset.nft")->data, "other\n"));
	/* A link to a plan: what it leads to is replaced, the link stays. */
	CHECK(symlink("p", in("link")) == 0);
	CHECK(plan_write(in("link"), &p, &err) == 0);
	CHECK(readlink(in("link"), (char[4]){0}, 4) == 1);
	CHECK(unlink(in("link")) == 0);
	/* An altered plan is one still, and may be replaced. */
	put(in("p/ruleset.nft"), "altered");
	CHECK(plan_write(in("p"), &p, &err) == 0);
	CHECK(entries(base) == before);
	/* Somebody else's directory stays as it is. */
	CHECK(mkdir(in("web"), 0755) == 0);
	put(in("web/manifest.json"), "{\"name\": \"a web application\"}");
	CHECK(plan_write(in("web"), &p, &err) == -EEXIST);
	put(in("p/notes.txt"), "mine");
	CHECK(plan_write(in("p"), &p, &err) == -EEXIST);
	CHECK(unlink(in("p/notes.txt")) == 0);
	put(in("file"), "");
	CHECK(plan_write(in("file"), &p, &err) < 0);
}

static void refused(const char *name, const char *text)
{
	struct plan p = sample("rules\n"), q = {0};
	struct err err = {0};

	CHECK(plan_write(in("p"), &p, &err) == 0);
	if (text)
		put(in(name), text);
	else
		CHECK(unlink(in(name)) == 0);
	if (reread(in("p"), &q) != -EPROTO) {
		printf("%s: read in spite of '%s'\n", name, text ? text : "");
		check_failed++;
	}
	CHECK(q.files.n == 0);
	/* What is no plan any more is not replaced either. */
	CHECK(system(arena_fmt(a, "rm -r '%s/p'", base).p) == 0);
}

/* Of its source. */
static const char *without_digest(struct str manifest)
{
	struct buf b;

	buf_init(&b, a);
	buf_add(&b, manifest);
	strstr(strstr(b.p, "\"sources\""), "sha256")[0] = 'S';
	return b.p;
}

static const char *in_another_order(void)
{
	struct plan p = sample("rules\n");
	struct plan_file first = p.files.v[0];

	p.files.v[0] = p.files.v[1];
	p.files.v[1] = first;
	return plan_manifest(a, &p).p;
}

static void alterations(void)
{
	struct plan p = sample("rules\n");
	struct str m = plan_manifest(a, &p);
	struct buf b;

	refused("p/ruleset.nft", "rules");
	refused("p/ruleset.nft", NULL);
	refused("p/extra.nft", "");
	refused("p/manifest.json", "");
	refused("p/manifest.json", "{}");
	refused("p/manifest.json", "[]");
	refused("p/manifest.json", "{\"format\": \"membrane-plan\", "
				   "\"version\": 2, \"files\": [], "
				   "\"sources\": []}");
	refused("p/manifest.json",
		"{\"format\": \"membrane-plan\", \"version\": 1, \"files\": "
		"[{\"name\": \"../x\"}], \"sources\": []}");
	refused("p/manifest.json", arena_fmt(a, "%s\n", m.p).p);
	refused("p/manifest.json", arena_fmt(a, "%s{}", m.p).p);
	refused("p/manifest.json", arena_fmt(a, " %s", m.p).p);
	refused("p/manifest.json", without_digest(m));
	refused("p/manifest.json", in_another_order());
	/* Every byte counts; what a source was, only the sources can tell. */
	for (size_t i = 0; !str_starts(str_slice(m, i, m.n), STR("\"sources"));
	     i++) {
		buf_init(&b, a);
		buf_add(&b, m);
		b.p[i] ^= 1;
		refused("p/manifest.json", b.p);
	}
}

/* So many entries that each say the same. */
static struct str many(const char *head, const char *entry, unsigned n,
		       const char *between, const char *tail)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, head);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "%s%s", i ? between : "", entry);
	buf_adds(&b, tail);
	return buf_str(&b);
}

/* Of a plan of so many files and sources. */
static int reread_manifest(uint32_t n_files, uint32_t n_sources,
			   struct err *err)
{
	struct plan p = {0}, q = {0};
	struct plan_source source = sample("").sources.v[0];

	for (uint32_t i = 0; i < n_files; i++)
		plan_add(a, &p, arena_fmt(a, "f%u", i), STR(""));
	for (uint32_t i = 0; i < n_sources; i++)
		*vec_push(a, &p.sources) = source;
	return manifest_parse(a, plan_manifest(a, &p), &q, err);
}

/* As many as there may be, and one more. */
static void bounds(void)
{
	static const char head[] =
		MOUNTS_PLAN_HEAD "\n" MOUNTS_PLAN_WORKSPACE " /workspace\n";
	static const struct {
		const char *line;
		unsigned most;
	} lines[] = {{"ignore x\n", LIMIT_PATTERNS},
		     {"hold x\n", LIMIT_PATTERNS},
		     {"fast x\n", LIMIT_FAST}};
	struct mountsplan m;
	struct plan p = {0};
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CHECK(mountsplan_read(
			      a,
			      many(head, lines[i].line, lines[i].most, "", ""),
			      &m, &err) == 0);
		CHECK(mountsplan_read(a,
				      many(head, lines[i].line,
					   lines[i].most + 1, "", ""),
				      &m, &err) == -E2BIG);
	}
	CHECK(reread_manifest(LIMIT_PLAN_FILES, LIMIT_SOURCES + 1, &err) == 0);
	CHECK(reread_manifest(LIMIT_PLAN_FILES + 1, 0, &err) == -EPROTO);
	CHECK(strstr(err.text, "more than 32 files"));
	CHECK(reread_manifest(1, LIMIT_SOURCES + 2, &err) == -EPROTO);
	CHECK(strstr(err.text, "more than 64 sources"));
	CHECK(manifest_parse(a, (struct str){"{}\0", 3}, &p, &err) == -EPROTO);
	CHECK(strstr(err.text, "a NUL byte"));
}

static void comparing(void)
{
	struct plan p = sample("a\nb\nc\n"), q = sample("a\nb\nd\n");
	struct plan none = {0};
	struct plan_delta *d;

	CHECK(plan_compare(a, &p, &p, &d) == 0);
	CHECK(plan_compare(a, &p, &q, &d) == 1);
	CHECK(d[0].change == PLAN_CHANGED && d[0].line == 3);
	plan_add(a, &q, STR("a.new"), STR(""));
	CHECK(plan_compare(a, &p, &q, &d) == 2);
	CHECK(d[0].change == PLAN_ADDED && str_is(d[0].name, "a.new"));
	CHECK(plan_compare(a, &q, &p, &d) == 2);
	CHECK(d[0].change == PLAN_REMOVED);
	CHECK(plan_compare(a, &none, &q, &d) == 4);
	CHECK(plan_compare(a, &none, &none, &d) == 0);
}

/*
 * A reader beside a writer sees the old plan or the new one, never none: the
 * manifest is there at every moment.
 */
static void racing(void)
{
	struct plan p = sample("one\n"), q = sample("two\n");
	struct err err = {0};
	int status = -1;
	pid_t pid;

	CHECK(plan_write(in("race"), &p, &err) == 0);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 200; i++)
			if (plan_write(in("race"), i & 1 ? &p : &q, &err) < 0)
				_exit(1);
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (access(in("race/manifest.json"), F_OK) < 0)
			CHECK(!"there was a moment without a plan");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	a = arena_new();
	if (!mkdtemp(base))
		return 1;
	round_trip();
	replacing();
	alterations();
	bounds();
	comparing();
	racing();
	if (system(arena_fmt(a, "rm -r '%s'", base).p) != 0)
		return 1;
	arena_free(a);
	return check_status();
}
