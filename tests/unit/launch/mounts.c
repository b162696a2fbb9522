/*
 * What the kernel says is mounted, what was meant, and whose folders lie in
 * each other: the pure parts, and real folders where a name changes its mind.
 */
#include "runtime/launch/mounts/expected.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/docker/binds.h"
#include "runtime/launch/mounts/overlap.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct arena *a;
static struct err err;

static mountinfo_list parsed(const char *text)
{
	mountinfo_list list = {0};

	CHECK_MSG(mountinfo_parse(a, str_of(text), &list, &err) == 0, "%s",
		  err.text);
	return list;
}

/* --- mountinfo ------------------------------------------------------------ */

static const char hostile[] =
	"22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
	"30 22 0:25 / /proc rw - proc proc rw\n"
	"40 22 8:1 /a\\040b\\011c\\012d\\134e\\043f /w\\040s rw shared:1 "
	"master:2 - ext4 /dev/sda1 rw\n"
	"41 40 8:1 /a\\0401 /w\\040s/x rw master:2 - ext4 /dev/sda1 rw\n"
	"50 22 0:40 /@/home /same rw - btrfs shared:9 rw\n"
	"51 50 8:1 /second /same rw - ext4 /dev/sda1 rw\n"
	"52 51 8:1 /third /same rw - ext4 /dev/sda1 rw\n"
	"60 22 8:1 /low /cover/low rw - ext4 /dev/sda1 rw\n"
	"61 22 0:50 / /cover rw - tmpfs none rw\n";

static bool is_at(const mountinfo_list *list, const char *path, uint64_t id)
{
	const struct mountinfo_mount *m = mountinfo_at(list, str_of(path));

	return id == 0 ? !m : m && m->id == id;
}

static void test_mountinfo(void)
{
	static const char *const bad[] = {
		"x\n",
		"1 2 3:4 / \n",
		"1 2 34 / / rw\n",
		"1 2 3:-4 / / rw\n",
		"1 2 3:4 / relative rw\n",
		"1 2 99999999999:4 / / rw\n",
		"\n",
		"1  3:4 / / rw\n",
	};
	mountinfo_list list = parsed(hostile);
	const struct mountinfo_mount *m = mountinfo_at(&list, STR("/w s"));

	CHECK(list.n == 9);
	CHECK(m && m->id == 40 && m->major == 8 && m->minor == 1 &&
	      str_is(m->root, "/a b\tc\nd\\e#f"));
	CHECK(m->heard && !mountinfo_by_id(&list, 22)->heard);
	CHECK_MSG(mountinfo_by_id(&list, 41)->heard, "of its master");
	CHECK_MSG(!mountinfo_by_id(&list, 50)->heard, "a device's name");
	CHECK(is_at(&list, "/w s/x", 41) && is_at(&list, "/", 22));
	CHECK(is_at(&list, "/w s/", 0) && is_at(&list, "/w", 0));
	CHECK_MSG(is_at(&list, "/same", 52), "the topmost of three");
	CHECK_MSG(is_at(&list, "/cover/low", 0), "another mount hides it");
	CHECK(is_at(&list, "/cover", 61));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(mountinfo_parse(a, str_of(bad[i]), &list, &err) ==
				  -EPROTO,
			  "%s", bad[i]);
	list = parsed("");
	CHECK(list.n == 0 && is_at(&list, "/", 0));
	/* parents in a circle, which no kernel writes: an end all the same */
	list = parsed("1 2 0:1 / /x rw\n2 1 0:1 / /x rw\n");
	CHECK(is_at(&list, "/x", 0));
}

static const char *inner(const char *root, const char *at, const char *path)
{
	struct mountinfo_mount m = {.root = str_of(root), .at = str_of(at)};
	const char *in = mountinfo_inner(a, &m, str_of(path));

	return in ? in : "(none)";
}

static void test_inner(void)
{
	CHECK(strcmp(inner("/", "/", "/a/b"), "/a/b") == 0);
	CHECK(strcmp(inner("/", "/", "/"), "/") == 0);
	CHECK(strcmp(inner("/", "/mnt", "/mnt"), "/") == 0);
	CHECK(strcmp(inner("/", "/mnt", "/mnt/x"), "/x") == 0);
	CHECK(strcmp(inner("/@/home", "/", "/u"), "/@/home/u") == 0);
	CHECK(strcmp(inner("/@/home", "/home", "/home"), "/@/home") == 0);
	CHECK(strcmp(inner("/a", "/mnt", "/mnt2/x"), "(none)") == 0);
	CHECK(strcmp(inner("/a", "/mnt", "/other"), "(none)") == 0);
}

/* --- comparing ------------------------------------------------------------ */

static struct expected_mount meant(const char *target, const char *in_fs,
				   bool below)
{
	return (struct expected_mount){.target = str_of(target),
				       .fd = -1,
				       .below = below,
				       .major = 8,
				       .minor = 1,
				       .in_fs = in_fs};
}

/* of: what stands in the workspace's line and in that of its mask */
static int compare(const char *workspace, const char *at, const char *mask,
		   const char *mask_at)
{
	struct expected_mount all[] = {
		meant("/workspace", "/home/u/p", false),
		meant("/workspace/x y", "/home/u/p/x y", true),
	};
	expected_list list = {all, ARRAY_LEN(all), ARRAY_LEN(all)};
	mountinfo_list have =
		parsed(arena_fmt(a,
				 "1 0 0:9 / / rw\n2 1 %s %s rw\n3 2 %s %s rw\n"
				 "4 1 0:7 / /proc rw\n",
				 workspace, at, mask, mask_at)
			       .p);

	return expected_compare(a, &list, &have, &err);
}

static void test_compare(void)
{
	const char *ws = "8:1 /home/u/p", *x = "8:1 /home/u/p/x\\040y";
	const char *at = "/workspace", *in = "/workspace/x\\040y";

	CHECK_MSG(compare(ws, at, x, in) == 0, "%s", err.text);
	/* through a link of the image's own */
	CHECK(compare(ws, "/data/ws", x, "/data/ws/x\\040y") == 0);
	CHECK(compare(ws, "/data/ws", "8:1 /var", "/data/ws/x\\040y") ==
	      -EXDEV);
	CHECK(compare(ws, at, "8:1 /var", in) == -EXDEV);
	CHECK(strstr(err.text, "/var is mounted on /workspace/x y in place "
			       "of /home/u/p/x y"));
	CHECK(compare("8:1 /var", at, x, in) == -EXDEV);
	CHECK_MSG(compare("8:2 /home/u/p", at, x, in) == -EXDEV,
		  "another file system");
	CHECK(compare("9:1 /home/u/p", at, x, in) == -EXDEV);
	CHECK(compare("8:1 /home/u/p//deleted", at, x, in) == -EXDEV);
	CHECK_MSG(compare(ws, at, x, "/elsewhere") == -EXDEV,
		  "a mask that landed elsewhere");
	CHECK(strstr(err.text, "nothing is mounted on /workspace/x y"));
	CHECK_MSG(compare(ws, at, x, "/workspace") == -EXDEV,
		  "one that covers the workspace");
	CHECK(compare(ws, at, "8:1 /home/u/p/x", in) == -EXDEV);
	CHECK(compare(ws, at, "8:1 /home/u/p/x\\040yz", in) == -EXDEV);
	CHECK(compare(ws, at, "8:1 /a\\033[31m", in) == -EXDEV);
	CHECK_MSG(!strchr(err.text, '\033'), "escaped in the message");
}

static void test_gone(void)
{
	struct expected_mount one = meant("/home/agent", NULL, false);
	expected_list list = {&one, 1, 1};
	mountinfo_list have = parsed("1 0 8:1 / /home/agent rw\n");

	CHECK(expected_compare(a, &list, &have, &err) == -EXDEV &&
	      strstr(err.text, "removed"));
	CHECK(!expected_is_in(&one, &have));
}

/* --- overlap -------------------------------------------------------------- */

static struct overlap_root root_of(const char *path, bool writable,
				   enum overlap_kind kind)
{
	struct overlap_root r = {
		.path = path, .writable = writable, .kind = kind};
	auto_fd int fd = open(path, O_PATH | O_CLOEXEC);

	CHECK_MSG(fd >= 0 && place_find(a, fd, &r.at, &err) == 0, "%s", path);
	return r;
}

static void test_overlap(void)
{
	struct overlap_root p, sub, apart, home, ro, moved, name;

	CHECK(fileio_mkdirs("p/sub/deep", 0755, &err) == 0 &&
	      fileio_mkdirs("pp", 0755, &err) == 0 &&
	      fileio_mkdirs("home/x", 0755, &err) == 0);
	p = root_of("p", true, OVERLAP_TREE);
	sub = root_of("p/sub", true, OVERLAP_TREE);
	apart = root_of("pp", true, OVERLAP_TREE);
	home = root_of("home", true, OVERLAP_FOLDER);
	ro = root_of("p", false, OVERLAP_TREE);
	CHECK(overlap_harms(&p, &p) && overlap_harms(&p, &sub) &&
	      overlap_harms(&sub, &p));
	CHECK(!overlap_harms(&p, &apart) && !overlap_harms(&apart, &p));
	CHECK_MSG(!overlap_harms(&home, &home),
		  "who writes in a folder cannot replace it");
	CHECK(!overlap_harms(&home, &p) && !overlap_harms(&p, &home));
	CHECK_MSG(!overlap_harms(&ro, &sub), "who cannot write harms nobody");
	CHECK_MSG(overlap_harms(&sub, &ro), "read-only, and swapped");
	home = root_of("home/x", true, OVERLAP_FOLDER);
	CHECK(overlap_harms(
		&(struct overlap_root){
			.at = root_of("home", true, OVERLAP_FOLDER).at,
			.writable = true},
		&home));
	home = root_of("home", true, OVERLAP_FOLDER);
	name = root_of("home", false, OVERLAP_NAME);
	CHECK_MSG(overlap_harms(&home, &name), "a file in it can be replaced");
	CHECK(!overlap_harms(&p, &name));
	name = root_of("/", false, OVERLAP_NAME);
	CHECK_MSG(!overlap_harms(&p, &name), "a link far above it cannot");
	moved = sub;
	moved.moved = true;
	CHECK_MSG(overlap_harms(&moved, &apart), "it may be anywhere");
}

/* Of a part that is bound elsewhere only the file system's paths tell. */
static void test_bound_elsewhere(void)
{
	struct place whole = {.self = {1, 2}, .major = 8, .in_fs = "/p"};
	struct place part = {.self = {1, 3}, .major = 8, .in_fs = "/p/s"};
	struct place near = {.self = {1, 4}, .major = 8, .in_fs = "/pp"};

	CHECK(place_is_above(&whole, &part) && !place_is_above(&part, &whole));
	CHECK(!place_is_above(&whole, &near) &&
	      !place_is_above(&whole, &whole));
	part.minor = 1;
	CHECK_MSG(!place_is_above(&whole, &part), "of another file system");
	part.in_fs = NULL;
	CHECK(!place_is_above(&whole, &part));
}

/* --- places --------------------------------------------------------------- */

static void test_links(void)
{
	char here[4096];
	int fd = -1;

	CHECK(getcwd(here, sizeof(here)) && symlink("p", "link") == 0 &&
	      symlink("sub", "p/inner") == 0);
	CHECK(place_open(arena_fmt(a, "%s/p/sub", here).p, O_PATH | O_DIRECTORY,
			 &fd, &err) == 0);
	close(fd);
	CHECK(place_open(arena_fmt(a, "%s/link", here).p, O_PATH, &fd, &err) ==
	      -ELOOP);
	CHECK(place_open(arena_fmt(a, "%s/link/sub", here).p, O_PATH, &fd,
			 &err) < 0);
	CHECK(place_open(arena_fmt(a, "%s/p/inner", here).p,
			 O_RDONLY | O_DIRECTORY, &fd, &err) < 0);
	CHECK(place_open(arena_fmt(a, "%s/none", here).p, O_PATH, &fd, &err) ==
	      -ENOENT);
}

/* The one that is held, wherever it was moved and whatever took its name. */
static void test_located(void)
{
	mountinfo_list own = {0};
	struct place before = {0}, after = {0};
	auto_fd int fd = open("p/sub", O_PATH | O_DIRECTORY | O_CLOEXEC);

	CHECK(place_mounts(a, "self", &own, &err) == 0 && own.n > 0);
	CHECK(fd >= 0 && place_locate(a, &own, fd, &before) &&
	      str_ends(str_of(before.in_fs), STR("/p/sub")));
	CHECK(rename("p/sub", "p/was sub") == 0 && symlink("/", "p/sub") == 0);
	CHECK(place_locate(a, &own, fd, &after) &&
	      str_ends(str_of(after.in_fs), STR("/p/was sub")));
	CHECK(before.major == after.major && before.minor == after.minor);
	CHECK(rmdir("p/was sub/deep") == 0 && rmdir("p/was sub") == 0);
	CHECK(!place_locate(a, &own, fd, &after) && !after.in_fs);
	CHECK(place_mounts(a, "0", &own, &err) == -ENOENT);
}

/* --- words ---------------------------------------------------------------- */

static void test_binds(void)
{
	static const char *const text[] = {
		"docker",
		"run",
		"--mount=type=bind,source=/w s,target=/workspace",
		"--mount=type=bind,\"src=/a,b\",dst=/q,readonly",
		"--mount=type=bind,source=/x,destination=/y,ro=false",
		"--mount=type=volume,source=/v,target=/z",
		"--mount=type=bind,source=rel,target=/z",
		"--mount=type=bind,\"source=/broken",
		"--volume=/h:/i:z,ro",
		"--volume=name:/j",
		"--volume=/only",
		"--volume=/k:/l",
		"--env=--volume=/m:/n"};
	static const struct bind want[] = {{"/w s", "/workspace", false},
					   {"/a,b", "/q", true},
					   {"/x", "/y", false},
					   {"/h", "/i", true},
					   {"/k", "/l", false}};
	char *words[ARRAY_LEN(text) + 1] = {NULL};
	bind_list got = {0};

	for (size_t i = 0; i < ARRAY_LEN(text); i++)
		words[i] = arena_cstr(a, str_of(text[i]));
	binds_read(a, words, &got);
	CHECK(got.n == ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want) && i < got.n; i++)
		CHECK_MSG(strcmp(got.v[i].source, want[i].source) == 0 &&
				  strcmp(got.v[i].target, want[i].target) ==
					  0 &&
				  got.v[i].readonly == want[i].readonly,
			  "%s", want[i].source);
}

int main(void)
{
	char top[] = "/tmp/membrane-mounts.XXXXXX";

	a = arena_new();
	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	test_mountinfo();
	test_inner();
	test_compare();
	test_gone();
	test_overlap();
	test_bound_elsewhere();
	test_links();
	test_located();
	test_binds();
	CHECK(chdir("/") == 0 && fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
