#include "compiler/base/arena.h"
#include "compiler/base/ascii.h"
#include "compiler/base/buf.h"
#include "compiler/base/diag.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sha256.h"
#include "compiler/base/source.h"

#include "tests/check.h"

#include <stdio.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_arena(void)
{
	struct arena *a = arena_new();
	VEC(uint32_t) list = {0};
	uint64_t sum = 0;
	bool zero = true;
	char *last = NULL;

	for (size_t size = 0; size < 200000; size = size * 3 / 2 + 1) {
		char *p = arena_alloc(a, size);

		CHECK((uintptr_t)p % _Alignof(max_align_t) == 0);
		for (size_t i = 0; i < size; i++)
			zero &= p[i] == 0;
		memset(p, 0xff, size);
		if (last)
			CHECK(*last == (char)0xff);
		last = size ? p : NULL;
	}
	CHECK(zero);
	for (uint32_t i = 0; i < 1000; i++)
		*vec_push(a, &list) = i;
	vec_each(x, &list)
		sum += *x;
	CHECK(list.n == 1000 && sum == 499500);
	CHECK(str_is(arena_fmt(a, "%s-%d", "x", 7), "x-7"));
	CHECK(arena_str(a, (struct str){NULL, 0}).p[0] == '\0');
	arena_free(a);
	arena_free(NULL);
}

/* How a process ends that takes so many KiB in all, in two arenas. */
static int ending_of(size_t bound, size_t kib)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		struct arena *x = arena_new(), *y = arena_new();

		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		arena_bound(bound);
		for (size_t i = 0; i < kib; i++)
			arena_alloc(i % 2 ? x : y, 1024);
		/* what is given back does not count */
		arena_free(x);
		arena_free(y);
		for (int i = 0; i < 20; i++) {
			x = arena_new();
			arena_alloc(x, bound / 4);
			arena_free(x);
		}
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_bound(void)
{
	CHECK(ending_of(8u << 20, 1024) == 0);
	CHECK(ending_of(8u << 20, 3 << 10) == 0);
	CHECK(ending_of(8u << 20, 10 << 10) == 3);
	CHECK(ending_of(0, 10 << 10) == 0);
}

/* Several that grow in turn, and one that does alone: each keeps its own. */
static void check_growth(void)
{
	struct arena *a = arena_new();
	VEC(uint32_t) lists[3] = {0}, alone = {0}, seen;
	struct buf texts[2];
	bool same = true, zero = true;

	for (int k = 0; k < 2; k++)
		buf_init(&texts[k], a);
	for (uint32_t i = 0; i < 30000; i++) {
		for (uint32_t k = 0; k < 3; k++)
			*vec_push(a, &lists[k]) = i * 3 + k;
		buf_addu(&texts[i % 2], i % 10);
	}
	for (uint32_t i = 0; i < 30000; i++) {
		for (uint32_t k = 0; k < 3; k++)
			same &= lists[k].v[i] == i * 3 + k;
		same &= texts[i % 2].p[i / 2] == (char)('0' + i % 10);
	}
	CHECK(same && texts[0].n == 15000 && texts[1].p[15000] == '\0');
	/* Who has an older view keeps what it saw. */
	for (uint32_t i = 0; i < 8; i++)
		*vec_push(a, &alone) = i;
	memcpy(&seen, &alone, sizeof(seen));
	for (uint32_t i = 8; i < 50000; i++) {
		uint32_t *x = vec_push(a, &alone);

		zero &= *x == 0;
		*x = i;
	}
	*vec_push(a, &seen) = 7;
	for (uint32_t i = 0; i < 50000; i++)
		same &= alone.v[i] == i;
	CHECK(same && zero && seen.n == 9 && seen.v[7] == 7 && seen.v[8] == 7);
	arena_free(a);
}

static int by_first(const void *va, const void *vb)
{
	const uint32_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static void check_sort(void)
{
	uint32_t mixed[] = {3, 1, 2, 1}, ordered[] = {1, 1, 2, 9};
	VEC(uint32_t) list = {0};

	vec_sort(&list, by_first);
	CHECK(!list.v);
	list.v = mixed;
	list.n = 4;
	vec_sort(&list, by_first);
	CHECK(mixed[0] == 1 && mixed[1] == 1 && mixed[2] == 2 && mixed[3] == 3);
	list.v = ordered;
	vec_sort(&list, by_first);
	CHECK(ordered[0] == 1 && ordered[1] == 1 && ordered[3] == 9);
}

static void check_buf(void)
{
	struct arena *a = arena_new();
	char room[4];
	struct buf b;
	struct str kept;

	buf_init_in(&b, a, room, sizeof(room));
	CHECK(buf_str(&b).n == 0 && b.p[0] == '\0');
	buf_adds(&b, "abc");
	CHECK(b.p == room);
	buf_addf(&b, "%04d", 12);
	CHECK(b.p != room && str_is(buf_str(&b), "abc0012"));
	kept = buf_keep(&b);
	buf_addc(&b, '!');
	CHECK(str_is(kept, "abc0012") && kept.p[kept.n] == '\0');
	buf_init(&b, a);
	for (int i = 0; i < 5000; i++)
		buf_addf(&b, "%d,", i);
	CHECK(b.n == strlen(b.p) && str_ends(buf_str(&b), STR("4999,")));
	arena_free(a);
}

static void check_str(void)
{
	struct str rest = STR("a b  c"), f;
	uint64_t v = 7;
	unsigned n = 0;

	CHECK(str_cmp(STR("a"), STR("ab")) < 0);
	CHECK(str_cmp(STR("\xff"), STR("a")) > 0);
	CHECK(str_eq((struct str){NULL, 0}, STR("")));
	CHECK(str_starts(STR("abc"), STR("ab")) &&
	      !str_starts(STR("ab"), STR("abc")));
	CHECK(str_ends(STR("abc"), STR("bc")) && str_ends(STR("x"), STR("")));
	CHECK(str_slice(STR("abc"), 5, 9).n == 0);
	CHECK(str_is(str_slice(STR("abc"), 1, 9), "bc"));
	CHECK(str_slice((struct str){NULL, 0}, 0, 9).p == NULL);
	CHECK(str_find(STR("abc"), 'd', 0) == 3);
	CHECK(str_find(STR("abc"), 'a', 1) == 3);
	CHECK(str_is(str_trim(STR(" \tx y\t ")), "x y"));
	CHECK(str_trim(STR("  ")).n == 0);
	while (str_field(&rest, ' ', &f))
		n++;
	CHECK(n == 4);
	CHECK(!str_u64(STR(""), 9, &v) && !str_u64(STR("1a"), 99, &v) &&
	      !str_u64(STR("-1"), 99, &v) && !str_u64(STR(" 1"), 99, &v));
	CHECK(!str_u64(STR("65536"), 65535, &v) && v == 7);
	CHECK(str_u64(STR("65535"), 65535, &v) && v == 65535);
	CHECK(str_u64(STR("18446744073709551615"), UINT64_MAX, &v) &&
	      v == UINT64_MAX);
	CHECK(!str_u64(STR("18446744073709551616"), UINT64_MAX, &v));
	CHECK(!str_u64(STR("8"), 7, &v) && !str_u64(STR("9"), 0, &v));
	CHECK(str_distance(STR("alow"), STR("allow"), 2) == 1);
	CHECK(str_distance(STR("allwo"), STR("allow"), 2) == 1);
	CHECK(str_distance(STR("deny"), STR("allow"), 2) == 3);
	CHECK(str_distance(STR(""), STR(""), 2) == 0);
}

static void check_sources(void)
{
	struct arena *a = arena_new();
	struct sources s;
	uint32_t one, two;
	struct place p;

	sources_init(&s, a);
	one = sources_add(&s, STR("one"), STR("ab\r\ncd\n"), LAYER_GLOBAL)
		      ->base;
	sources_add(&s, STR("empty"), STR(""), LAYER_GLOBAL);
	two = sources_add(&s, STR("two"), STR("x"), LAYER_FLAGS)->base;
	p = sources_place(&s, (struct span){one + 1, one + 2});
	CHECK(p.line == 1 && p.column == 2 && str_is(p.text, "ab"));
	p = sources_place(&s, (struct span){one + 5, one + 6});
	CHECK(p.line == 2 && p.column == 2 && str_is(p.text, "cd"));
	/* Behind the last line end, and at the very end of a text. */
	p = sources_place(&s, (struct span){one + 7, one + 7});
	CHECK(p.line == 3 && p.column == 1 && p.text.n == 0);
	p = sources_place(&s, (struct span){two + 1, two + 1});
	CHECK(str_is(p.source->name, "two") && p.column == 2);
	CHECK(!sources_place(&s, (struct span){0, 0}).source);
	CHECK(!sources_of(&s, (struct span){s.end, s.end}));
	CHECK(str_is(sources_text(&s, (struct span){one + 4, one + 6}), "cd"));
	arena_free(a);
}

static void check_diag(void)
{
	struct arena *a = arena_new();
	struct sources s;
	struct diags d;
	struct diag_view view;
	struct buf out;
	uint32_t base;

	sources_init(&s, a);
	base = sources_add(&s, STR("p.yaml"), STR("\ta: b\x01\nc: d\n"),
			   LAYER_GLOBAL)
		       ->base;
	diags_init(&d, a, &s);
	diag_help(&d, "nobody hears this");
	diag_warn(&d, DIAG_PATH_OUTSIDE, (struct span){base + 7, base + 8},
		  "later");
	diag_error(&d, DIAG_CLASSES, (struct span){base + 4, base + 5},
		   "odd '%s'", diag_quote(&d, STR("\x1b[1m\xc3\x28")));
	diag_note(&d, (struct span){base + 1, base + 2}, "see here");
	diag_help(&d, "write less");
	diag_error(&d, DIAG_TOO_MANY, (struct span){0}, "nowhere");
	buf_init(&out, a);
	diags_print(&d, &out, false);
	CHECK_MSG(str_is(buf_str(&out),
			 "membrane: error: nowhere [E701]\n"
			 "p.yaml:1:5: error: odd '\\x1b[1m\\xc3(' [E702]\n"
			 "    1 | \ta: b\\x01\n"
			 "      | \t   ^\n"
			 "p.yaml:1:2: note: see here\n"
			 "    1 | \ta: b\\x01\n"
			 "      | \t^\n"
			 "      = help: write less\n"
			 "p.yaml:2:1: warning: later [W905 outside-path]\n"
			 "    2 | c: d\n"
			 "      | ^\n"),
		  "%s", out.p);
	CHECK(d.errors == 2 && d.warnings == 1);
	CHECK(diags_get(&d, 1, &view) && view.error &&
	      view.id == DIAG_CLASSES && str_is(view.help, "write less"));
	CHECK(!diags_get(&d, 3, &view));
	arena_free(a);
}

static void check_many_errors(void)
{
	struct arena *a = arena_new();
	struct sources s;
	struct diags d;
	struct buf out;

	sources_init(&s, a);
	diags_init(&d, a, &s);
	for (int i = 0; i < 30; i++)
		diag_error(&d, DIAG_TOO_MANY, (struct span){0}, "error %d", i);
	for (int i = 0; i < 21; i++)
		diag_warn(&d, DIAG_PATH_OUTSIDE, (struct span){0}, "warning %d",
			  i);
	buf_init(&out, a);
	diags_print(&d, &out, false);
	CHECK(strstr(out.p, "warning 19 [") && !strstr(out.p, "warning 20 ["));
	CHECK(strstr(out.p, "error 19 [") && !strstr(out.p, "error 20 ["));
	CHECK(str_ends(buf_str(&out),
		       STR("membrane: 10 more errors not shown\n"
			   "membrane: 1 more warning not shown\n")));
	memset(out.p, 'x', 100);
	CHECK(strlen(diag_quote(&d, (struct str){out.p, 100})) == 60 + 3);
	arena_free(a);
}

static void check_files(void)
{
	char dir[] = "/tmp/membrane-base-XXXXXX";
	struct arena *a = arena_new();
	struct str text;
	struct err err = {0};
	struct stat st;
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fileio_read(a, fd, "f", 10, &text, &err) == -ENOENT);
	CHECK(fileio_write(fd, "f", STR("a\0b"), 0600, &err) == 0);
	CHECK(fileio_write(fd, "f", STR("longer"), 0600, &err) == 0);
	CHECK(fileio_read(a, fd, "f", 6, &text, &err) == 0 &&
	      str_is(text, "longer"));
	CHECK(fileio_read(a, fd, "f", 5, &text, &err) == -EFBIG);
	/* Said to be empty, and not. */
	CHECK(fileio_read(a, fd, "/proc/self/maps", 1 << 20, &text, &err) ==
		      0 &&
	      text.n == strlen(text.p) && strstr(text.p, "[stack]"));
	CHECK(fileio_read(a, fd, "/proc/self/maps", 100, &text, &err) ==
	      -EFBIG);
	CHECK(fstatat(fd, "f", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
	CHECK(mkfifoat(fd, "pipe", 0600) == 0);
	CHECK(fileio_read(a, fd, "pipe", 5, &text, &err) == -EINVAL);
	CHECK(fileio_read(a, fd, ".", 5, &text, &err) == -EINVAL);
	CHECK(symlinkat("f", fd, "to-f") == 0 && mkdirat(fd, "in", 0755) == 0 &&
	      symlinkat(".", fd, "to-here") == 0 &&
	      symlinkat("../f", fd, "in/to-f") == 0);
	CHECK(fileio_read_inside(a, fd, STR("f"), 6, &text, &err) == 0);
	CHECK(fileio_read_inside(a, fd, STR("in/../f"), 6, &text, &err) == 0);
	CHECK(fileio_read_inside(a, fd, STR("f"), 5, &text, &err) == -EFBIG);
	CHECK(fileio_read_inside(a, fd, STR("to-f"), 6, &text, &err) == -ELOOP);
	CHECK(fileio_read_inside(a, fd, STR("in/to-f"), 6, &text, &err) ==
	      -ELOOP);
	CHECK(fileio_read_inside(a, fd, STR("to-here/f"), 6, &text, &err) < 0);
	CHECK(fileio_read_inside(a, fd, STR("in/none"), 6, &text, &err) ==
	      -ENOENT);
	CHECK(fileio_read_inside(a, fd, STR(""), 6, &text, &err) < 0);
	CHECK(fileio_mkdirs(arena_fmt(a, "%s/a/b//c", dir).p, 0700, &err) == 0);
	CHECK(fileio_mkdirs(arena_fmt(a, "%s/a/b", dir).p, 0700, &err) == 0);
	CHECK(fileio_mkdirs(arena_fmt(a, "%s/f", dir).p, 0700, &err) ==
	      -ENOTDIR);
	CHECK(fileio_mkdirs(arena_fmt(a, "%s/f/g", dir).p, 0700, &err) < 0);
	/* A link below is removed, and what it leads to is not. */
	CHECK(symlinkat("../../../f", fd, "a/b/c/link") == 0);
	CHECK(symlinkat("..", fd, "a/up") == 0);
	CHECK(fileio_remove_tree(fd, "a", &err) == 0);
	CHECK(faccessat(fd, "a", F_OK, 0) < 0 &&
	      faccessat(fd, "f", F_OK, 0) == 0);
	CHECK(fileio_remove_tree(fd, "none", &err) == 0);
	close(fd);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
}

/* What a writer that was killed left, and what only looks like it. */
static void check_unfinished(void)
{
	static const char *const all[] = {
		"f.12.tmp", "f.tmp",   ".12.tmp", "f.x2.tmp", "f.12.tmpx",
		"g.7.tmp",  "g.7.old", "f",	  "12.tmp",
	};
	char dir[] = "/tmp/membrane-unit-XXXXXX";
	struct err err;
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		CHECK(fileio_write(fd, all[i], STR("x"), 0600, &err) == 0);
	CHECK(fileio_mkdir(fd, "f.34.tmp.old", 0700, &err) == 1);
	CHECK(fileio_write(fd, "f.34.tmp.old/x", STR("x"), 0600, &err) == 0);
	fileio_remove_unfinished(fd, "f");
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		CHECK((faccessat(fd, all[i], F_OK, 0) == 0) == (i > 0));
	CHECK(faccessat(fd, "f.34.tmp.old", F_OK, 0) < 0);
	fileio_remove_unfinished(fd, NULL);
	for (size_t i = 1; i < ARRAY_LEN(all); i++)
		CHECK((faccessat(fd, all[i], F_OK, 0) == 0) ==
		      (strcmp(all[i], "g.7.tmp") != 0));
	close(fd);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

/* What is mounted below a folder is not removed with it; in a child, whose
 * mounts go with it. */
static void check_mounted(void)
{
	char dir[] = "/tmp/membrane-unit-XXXXXX";
	struct err err;
	int fd, status = 1;
	pid_t pid;

	CHECK(mkdtemp(dir) != NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	CHECK(fileio_mkdir(fd, "all", 0700, &err) == 1);
	CHECK(fileio_mkdir(fd, "all/on", 0700, &err) == 1);
	CHECK(fileio_mkdir(fd, "kept", 0700, &err) == 1);
	CHECK(fileio_write(fd, "kept/file", STR("x"), 0600, &err) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (fchdir(fd) < 0 ||
		    (unshare(CLONE_NEWNS) < 0 &&
		     unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("kept", "all/on", NULL, MS_BIND, NULL) < 0)
			_exit(77);
		_exit(fileio_remove_tree(AT_FDCWD, "all", &err) != -EXDEV);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		printf("skip: nothing can be mounted here\n");
	else
		CHECK(WEXITSTATUS(status) == 0);
	CHECK(faccessat(fd, "kept/file", F_OK, 0) == 0);
	close(fd);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

static void check_err(void)
{
	struct err err;
	char hex[SHA256_HEX_MAX];

	CHECK(err_set(&err, -EINVAL, "line %d", 3) == -EINVAL);
	CHECK(err_while(&err, "reading %s", "x") == -EINVAL);
	CHECK(!strcmp(err.text, "reading x: line 3"));
	for (int i = 0; i < 100; i++)
		err_while(&err, "and again");
	CHECK(strlen(err.text) == sizeof(err.text) - 1);
	CHECK(!strcmp(sha256_hex(STR("abc"), hex),
		      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61"
		      "f20015ad"));
}

static void check_ascii(void)
{
	CHECK(ascii_hex('0') == 0 && ascii_hex('9') == 9);
	CHECK(ascii_hex('a') == 10 && ascii_hex('F') == 15);
	CHECK(ascii_hex('g') < 0 && ascii_hex('/') < 0 && ascii_hex(0) < 0);
	CHECK(ascii_is_hex(STR("09af")) && !ascii_is_hex(STR("09AF")));
	CHECK(!ascii_is_hex(STR("")) && !ascii_is_hex(STR("0\0")));
	CHECK(ascii_is_unreserved('~') && ascii_is_unreserved('Z'));
	CHECK(!ascii_is_unreserved('%') && !ascii_is_unreserved((char)0xe4));
	CHECK(ASCII_IS_ANY(STR("tMpfs"), "bind", "tmpfs"));
	CHECK(!ASCII_IS_ANY(STR("tmpf"), "bind", "tmpfs"));
	CHECK(!ASCII_IS_ANY(STR("tmpfs\0"), "tmpfs"));
	CHECK(!ASCII_IS_ANY(STR(""), "tmpfs") && ASCII_IS_ANY(STR(""), ""));
	CHECK(ascii_is_token(STR("M-SEARCH")) && !ascii_is_token(STR("A B")));
}

int main(void)
{
	check_arena();
	check_bound();
	check_growth();
	check_sort();
	check_buf();
	check_str();
	check_ascii();
	check_sources();
	check_diag();
	check_many_errors();
	check_files();
	check_unfinished();
	check_mounted();
	check_err();
	return check_status();
}
