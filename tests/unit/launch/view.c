/*
 * The view as the launcher sees it: its protocol, spoken by shell scripts, what
 * it is told of a workspace, what it leaves mounted.
 */
#include "runtime/launch/view/view.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/view_hello.h"
#include "runtime/launch/session/session.h"
#include "runtime/launch/view/mounted.h"
#include "runtime/launch/docker/engine.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DECISION(kind, path, rule, n)                                          \
	"{\"event\":\"decision\",\"time\":\"t\",\"kind\":\"" kind              \
	"\",\"verdict\":\"deny\",\"reason\":\"readonly\",\"path\":\"" path     \
	"\",\"rule\":{" rule "},\"count\":" n "}"
#define SECOND "\"section\":\"readonly\",\"line\":1"
#define OF_GIT "\"section\":\"git\",\"line\":0"

#define CONFIG(n) DECISION("write", ".git/config", SECOND, n)
#define HOOK	  DECISION("write", "hk/a\\u001b", OF_GIT, "1")

/* A part is whatever program the vector names. */
static struct engine *plain_engine(void)
{
	static struct docker_engine plain;
	static struct arena *names;

	if (!names)
		names = arena_new();
	docker_engine_init(&plain, names, NULL, "s");
	return &plain.engine;
}

static const char plan[] = "membrane-mounts 1\n"
			   "workspace /workspace\n"
			   "ignore secret\n"
			   "readonly /lib\n"
			   "readonly /.git/config\n"
			   "hold lib\n";
static const char places[] = "{\"version\":1,\"rules\":{},\"files\":{"
			     "\"readonly\":[4,\"a\x1b:2:9\"],"
			     "\"hold\":[]}}";

static struct arena *a;
static char dir[] = "/tmp/membrane-view-XXXXXX";
static struct err err;

struct outcome {
	int rc; /* of the pump that failed, or 0 */
	const struct view *v;
	struct str decisions, text;
};

static struct outcome play(const char *script, struct str hello)
{
	char *argv[] = {arena_cstr(a, STR("sh")), arena_cstr(a, STR("-c")),
			arena_cstr(a, str_of(script)), NULL};
	struct view *v = arena_new_of(a, struct view);
	hello_holds *holds = arena_new_of(a, hello_holds);
	struct decisions *d = arena_new_of(a, struct decisions);
	struct outcome o = {.v = v};
	int64_t until = clock_ms() + 20000;
	struct buf text;
	int status = 0, root;

	*vec_push(a, holds) = (struct hello_hold){.path = STR("hk")};
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0 &&
	      fileio_mkdirs(dir, 0700, &err) == 0);
	decisions_init(d);
	CHECK(decisions_open(d, dir, &err) == 0);
	root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fileio_write(AT_FDCWD, arena_fmt(a, "%s/config", dir).p,
			   STR("[a]\nx = 1\n"), 0600, &err) == 0);
	view_init(v,
		  refusals_new(a, str_of(plan), written_read(a, STR(places))),
		  kept_new(a), root, d);
	refusals_know(v->refusals, holds);
	CHECK(view_start(v, plain_engine(), argv, -1, &err) == 0);
	view_tell(v, hello);
	while (o.rc == 0 && (v->out >= 0 || v->err >= 0) &&
	       clock_ms() < until) {
		struct pollfd p[] = {
			{v->out, POLLIN, 0},
			{v->err, POLLIN, 0},
			{view_has_to_say(v) ? v->in : -1, POLLOUT, 0}};

		poll(p, 3, 1000);
		o.rc = view_pump(v, &err);
		if (o.rc == 0 && v->ready && !v->is_told)
			view_detach(v);
		if (v->is_hidden)
			view_close_stdin(v);
	}
	if (o.rc < 0)
		kill(v->pid, SIGKILL);
	waitpid(v->pid, &status, 0);
	v->status = proc_status(status);
	view_done(v);
	close(root);
	decisions_done(d);
	CHECK(fileio_read(a, AT_FDCWD,
			  arena_fmt(a, "%s/decisions.jsonl", dir).p, 1 << 20,
			  &o.decisions, &err) == 0);
	buf_init(&text, a);
	refusals_print(v->refusals, "the log", false, &text);
	kept_print(v->kept, "the summary", &text);
	o.text = buf_str(&text);
	return o;
}

static void check_protocol(void)
{
	/* more than a pipe takes at once */
	char *big = arena_alloc(a, 1 << 20);
	struct outcome o;

	memset(big, 'x', 1 << 20);
	memcpy(big + (1 << 20) - 4, "\ngo\n", 4);
	o = play("read l; read go; echo '{\"event\":\"ready\"}'; read d; "
		 "echo ${#l} $go $d >&2; echo '{\"event\":\"detached\"}'; "
		 "cat; echo '{\"event\":\"unsealed\"}'; "
		 "echo '{\"event\":\"done\"}'",
		 (struct str){big, 1 << 20});
	CHECK(o.rc == 0 && o.v->ready && o.v->is_hidden && o.v->says.done &&
	      o.v->is_unsealed);
	CHECK_MSG(strcmp(view_last_words(o.v), "1048572 go detach") == 0, "%s",
		  view_last_words(o.v));
	o = play("echo '{\"event\":\"error\",\"message\":\"no \\u001b fuse\"}';"
		 "echo later >&2; exit 1",
		 STR(""));
	CHECK(o.rc == 0 && !o.v->ready && o.v->says.words_done &&
	      o.v->status == 1);
	CHECK(strstr(view_last_words(o.v), "no \\x1b fuse") ||
	      strcmp(view_last_words(o.v), "later") == 0);
	o = play("echo 'docker: Error response from daemon: path /s/view is "
		 "mounted on /s but it is not a shared mount.' >&2; exit 125",
		 STR(""));
	CHECK_MSG(strstr(view_last_words(o.v), "mount --make-rshared /s") &&
			  strstr(view_last_words(o.v), "masks: start"),
		  "%s", view_last_words(o.v));
	o = play("echo 'docker: Error response from daemon: error gathering "
		 "device information while adding custom device \"/dev/fuse\": "
		 "no such file or directory' >&2; exit 125",
		 STR(""));
	CHECK_MSG(strstr(view_last_words(o.v), "modprobe fuse") &&
			  strstr(view_last_words(o.v), "masks: start"),
		  "%s", view_last_words(o.v));
	o = play("exit 0", STR("hello\n"));
	CHECK(o.rc == 0 &&
	      strcmp(view_last_words(o.v), "it said nothing") == 0);
}

/* Where the policy says it: in each record, and in the summary. */
static void check_places(const struct outcome *o)
{
	static const char place[] = "\"source\":\"a\\u001b\",\"line\":2";
	const char *text = arena_cstr(a, o->decisions);
	cJSON *files = refusals_json(o->v->refusals);
	char *json = cJSON_PrintUnformatted(files);
	const char *first = strstr(text, place);

	CHECK_MSG(first && strstr(first + 1, place) && strstr(text, "hk/a"),
		  "%s", text);
	CHECK_MSG(!strstr(strstr(text, "hk/a"), "source"), "%s", text);
	CHECK_MSG(strstr(json, "\"at\":\"a\\u001b:2:9\",\"source\":"
			       "\"a\\u001b\",\"line\":2,\"count\":3}") &&
			  cJSON_GetArraySize(files) == 2,
		  "%s", json);
	cJSON_free(json);
	cJSON_Delete(files);
}

/* A place is read from behind, and one that is none has no line. */
static void check_split(void)
{
	struct str source = STR("");
	uint64_t line = 0;

	CHECK(written_split(STR("<command line>:1:4"), &source, &line) &&
	      str_is(source, "<command line>") && line == 1);
	CHECK(written_split(STR("a:3:b.yaml:12:7"), &source, &line) &&
	      str_is(source, "a:3:b.yaml") && line == 12);
	CHECK(!written_split(STR(""), &source, &line));
	CHECK(!written_split(STR("x:7"), &source, &line));
	CHECK(!written_split(STR(":3:7"), &source, &line));
	CHECK(!written_split(STR("x::7"), &source, &line));
	CHECK(!written_split(STR("x:y:7"), &source, &line));
}

static void check_refusals(void)
{
	static const char script[] =
		"echo '" CONFIG("1") "'; echo '" CONFIG("2") "'; echo '" HOOK
							     "'";
	struct outcome o = play(script, STR(""));

	CHECK(o.rc == 0);
	CHECK_MSG(
		str_is(o.text,
		       "membrane: 2 paths were refused\n"
		       "  write .git/config  3×  readonly  by '/.git/config'"
		       " (a\\x1b:2:9); membrane explain write .git/config; 'git config' and"
		       " 'git remote' inside can set it, for the session alone\n"
		       "  write hk/a\\x1b     1×  readonly  by 'hk'\n"),
		"%.*s", STR_ARG(o.text));
	check_places(&o);
	o = play("exit 0", STR(""));
	CHECK(o.text.n == 0);
	o = play("echo '{\"event\":\"decision\",\"kind\":\"read\",\"verdict\":"
		 "\"deny\",\"reason\":\"protected\",\"path\":\"~/.netrc\","
		 "\"rule\":{\"section\":\"inode\"}}'",
		 STR(""));
	CHECK_MSG(o.rc == 0 &&
			  strstr(o.text.p, "read ~/.netrc  1×  protected") &&
			  strstr(o.text.p,
				 "; membrane explain 'read ~/.netrc'\n"),
		  "%.*s", STR_ARG(o.text));
	o = play("i=0; while [ $i -lt 1100 ]; do echo '{\"event\":\"decision\","
		 "\"kind\":\"read\",\"verdict\":\"deny\",\"reason\":\"ignored\""
		 ",\"rule\":{\"section\":\"inode\"},\"path\":\"'$i'\"}'; "
		 "i=$((i+1)); done",
		 STR(""));
	CHECK(o.rc == 0 && strstr(o.text.p, "and at least 1004 more: the log"));
}

/* Against what the workspace has. */
static void check_kept(void)
{
	struct outcome o = play(
		"printf '%s\\n' '{\"event\":\"kept\",\"path\":\"config\",\"what\":\"config\","
		"\"text\":\"[a]\\nx = 1\\ny = 2\\n\"}'; "
		"head -c 100000 /dev/zero | tr '\\0' ' '; "
		"echo '{\"event\":\"kept\",\"path\":\"e\",\"what\":\"removed\"}'; "
		"echo '{\"event\":\"done\"}'",
		STR(""));

	CHECK_MSG(o.rc == 0 && o.v->says.done, "%s", err.text);
	CHECK_MSG(strstr(o.text.p, "\n  + config  [a] y = 2\n  what") &&
			  strstr(o.text.p, "as it was: e\n"),
		  "%.*s", STR_ARG(o.text));
}

static void check_bad_words(void)
{
	static const char *const bad[] = {
		"echo hello",
		"echo '[]'",
		"echo '{}'",
		"echo '{\"event\":\"party\"}'",
		"echo '{\"event\":\"decision\"}'",
		"echo '" DECISION("chew", "x", SECOND, "1") "'",
		"echo '" DECISION("write", "", SECOND, "1") "'",
		"echo '{\"event\":\"ready\"} x'",
		"echo '{\"event\":\"done\"}'; echo '{\"event\":\"ready\"}'",
		"echo '{\"event\":\"kept\",\"path\":\"../a\",\"what\":\"file\"}'",
		"head -c 140000 /dev/zero | tr '\\0' a; sleep 20",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct outcome o = play(bad[i], STR(""));

		CHECK_MSG(o.rc == -EPROTO, "%s: %d", bad[i], o.rc);
		CHECK(!o.v->ready);
	}
}

/* --- what it is told ------------------------------------------------------ */

static struct looked_at look_at(struct str root_path, int root)
{
	return (struct looked_at){
		.state = arena_fmt(a, "%.*s/st ate", STR_ARG(root_path)),
		.root_path = root_path,
		.root = root,
		.mounts = str_of(plan)};
}

static struct str hello_at(struct looked_at at)
{
	struct hello_owner owner = {7, 8};
	struct looked *l = arena_new_of(a, struct looked);
	struct committed git;
	hello_holds holds;
	struct str text;

	CHECK_MSG(looked_make(a, &at, l, &err) == 0, "%s", err.text);
	committed_find(a, at.root_path, l->plan.ignore, &l->found,
		       &l->git.repos, true, &git);
	CHECK(hello_write(a, l, &git, &owner, &holds, &text, &err) == 0);
	return text;
}

static struct str hello_of(struct str root_path, int root, bool readonly)
{
	struct looked_at at = look_at(root_path, root);

	at.readonly = readonly;
	return hello_at(at);
}

/* What git's index, which is 32 bits of each, says of a file. */
static const char *seen_line(struct arena *arena, const char *what,
			     const struct stat *st, const char *text)
{
	return arena_fmt(arena, "tracked %s %u %u %u %u %u %u %u %u%s", what,
			 (unsigned)st->st_size, (unsigned)st->st_mtim.tv_sec,
			 (unsigned)st->st_mtim.tv_nsec,
			 (unsigned)st->st_ctim.tv_sec,
			 (unsigned)st->st_ctim.tv_nsec, (unsigned)st->st_ino,
			 st->st_uid, st->st_gid, text)
		.p;
}

static bool has_line(struct str text, const char *line)
{
	struct str one;

	while (str_line(&text, &one))
		if (str_is(one, line))
			return true;
	return false;
}

static bool has_inode(struct str text, const char *path)
{
	struct str one, start;
	struct stat st;

	CHECK(stat(path, &st) == 0);
	start = arena_fmt(a, "inode %llu %llu ", (unsigned long long)st.st_dev,
			  (unsigned long long)st.st_ino);
	while (str_line(&text, &one))
		if (str_starts(one, start))
			return true;
	return false;
}

static void check_hello(void)
{
	char real[PATH_MAX];
	struct stat st;
	struct str text;
	int root;

	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0 &&
	      fileio_mkdirs(dir, 0700, &err) == 0 && realpath(dir, real) &&
	      chdir(real) == 0);
	setenv("HOME", real, 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	CHECK(system("mkdir -p sub 'st ate' real away && echo x >real/f && "
		     "echo y >sub/secret && ln sub/secret plain && "
		     "echo z >clear && ln -s real secret && ln -s away lib && "
		     "mkdir l && ln -s '/no where' l/secret && "
		     "git init -q . && git add -f sub clear l && "
		     "git config core.hooksPath 'h%k'") == 0);
	root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	text = hello_of(str_of(real), root, false);
	CHECK(fstat(root, &st) == 0);
	CHECK(str_starts(text, STR(VIEW_HELLO_HEAD "\nowner 7 8\nroot ")));
	CHECK(has_line(text, arena_fmt(a, "root %llu %llu",
				       (unsigned long long)st.st_dev,
				       (unsigned long long)st.st_ino)
				     .p));
	CHECK(has_line(text, arena_fmt(a, "at %s", real).p));
	CHECK(!has_line(text, "readonly") && str_ends(text, STR("\ngo\n")));
	CHECK(has_line(text, "hold h%25k") &&
	      has_line(text, "hold .git/hooks"));
	CHECK(has_line(text, "hold away") && has_line(text, "hide st%20ate"));
	/* under another name: a link's end, a second link */
	CHECK(has_inode(text, "real") && has_inode(text, "plain"));
	CHECK(!has_inode(text, "clear") && !has_inode(text, "away"));
	/* hidden, and in the index */
	CHECK(fstatat(root, "sub/secret", &st, 0) == 0);
	CHECK(has_line(text, seen_line(a, "file sub/secret", &st, "")));
	CHECK(fstatat(root, "l/secret", &st, AT_SYMLINK_NOFOLLOW) == 0);
	CHECK(has_line(text,
		       seen_line(a, "link l/secret", &st, " /no%20where")));
	CHECK(!strstr(text.p, "tracked file clear"));
	CHECK(has_line(hello_of(str_of(real), root, true), "readonly"));
	close(root);
	CHECK(chdir("/") == 0);
}

/* Of a repository beside the workspace: what is its own, and where the
 * workspace is in the session. */
static void check_repository(void)
{
	struct gitlinked git = {.kind = GITLINKED_MODULE,
				.common = STR("/r/.git/modules/m"),
				.dev = 3,
				.ino = 4};
	struct gitindex_file file = {.kind = VIEW_OUTSIDE_PROGRAM,
				     .path = STR("a b"),
				     .numbers = {1, 2, 3, 4, 5, 6, 7, 8}};
	struct gitoutside outside = {0};
	struct looked_at at;
	struct str text;
	int root;

	CHECK(chdir(dir) == 0);
	root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	at = look_at(str_of(dir), root);
	at.linked = &git;
	at.outside = &outside;
	text = hello_at(at);
	CHECK(has_line(text, "repository 3 4"));
	CHECK(has_line(text, "module %0a[core]%0a%09worktree%20=%20"
			     "\"/workspace\"%0a"));
	CHECK(has_line(text, "linked /.git/hooks/"));
	at.own = "/o/a\"b\\c";
	CHECK(has_line(hello_at(at), "module %0a[core]%0a%09worktree%20=%20"
				     "\"/o/a\\\"b\\\\c\"%0a"));
	git.kind = GITLINKED_PART;
	git.name = STR("part/of it");
	*vec_push(a, &outside.files) = file;
	*vec_push(a, &outside.texts) =
		(struct gitoutside_text){STR(".gitignore"), STR("*.o\n")};
	text = hello_at(at);
	CHECK(has_line(text, "part part/of%20it") &&
	      !strstr(text.p, "\nmodule"));
	CHECK(has_line(text, "outside program a%20b 1 2 3 4 5 6 7 8"));
	CHECK(has_line(text, "text .gitignore *.o%0a"));
	close(root);
	CHECK(chdir("/") == 0);
}

/* The home's part, as membrane-view reads it. */
static void check_home(void)
{
	struct hello_owner owner = {7, 8};
	struct stat st;
	struct str text;

	CHECK(fileio_mkdirs(dir, 0700, &err) == 0 && stat(dir, &st) == 0);
	CHECK(hello_write_home(a, dir, &owner, "a b", &text, &err) == 0);
	CHECK(str_starts(text, STR("membrane-view 1\nowner 7 8\nroot ")));
	CHECK(has_line(text, arena_fmt(a, "root %llu %llu",
				       (unsigned long long)st.st_dev,
				       (unsigned long long)st.st_ino)
				     .p));
	CHECK(has_line(text, arena_fmt(a, "at %s", dir).p));
	CHECK(has_line(text, "program a%20b") && str_ends(text, STR("\ngo\n")));
	CHECK(hello_write_home(a, dir, &owner, NULL, &text, &err) == 0);
	CHECK(!memmem(text.p, text.n, "program", 7));
	CHECK(hello_write_home(a, "/nowhere", &owner, NULL, &text, &err) < 0);
}

/* --- what it leaves ------------------------------------------------------- */

static void check_mounted(void)
{
	struct session s = {.dir = dir, .lock_fd = -1};
	const char *folder = arena_fmt(a, "%s/view", dir).p;
	int fd = -1, home = -1;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		fputs("not run: mounts need root\n", stderr);
		return;
	}
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0 &&
	      fileio_mkdirs(dir, 0700, &err) == 0 && chdir(dir) == 0);
	CHECK(mounted_remove(a, &s, &err) == 0); /* there never was one */
	CHECK(mounted_prepare(a, &s, false, &err) == 0);
	CHECK(mounted_prepare_home(a, &s, &err) == 0);
	CHECK(mounted_open(a, folder, DOCKER_JSON_VIEW_MOUNT, &fd, &err) ==
	      -ENOTSUP);
	CHECK_MSG(strstr(err.text, "mount --make-rshared /") &&
			  strstr(err.text, "masks: start"),
		  "%s", err.text);
	CHECK(mkdir("users", 0755) == 0 && mkdir("users/x", 0755) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(mount("users", "view/workspace", NULL, MS_BIND, NULL) ==
		      0);
	CHECK(mounted_open(a, folder, DOCKER_JSON_VIEW_MOUNT, &fd, &err) == 0);
	CHECK(mounted_open(a, folder, DOCKER_JSON_VIEW_HOME, &home, &err) ==
	      -ENOTSUP);
	CHECK(mount("users", "view/home", NULL, MS_BIND, NULL) == 0);
	CHECK(mounted_open(a, folder, DOCKER_JSON_VIEW_HOME, &home, &err) == 0);
	/* whoever removes the folder before that does not get far */
	CHECK(chdir("/") == 0 &&
	      fileio_remove_tree(AT_FDCWD, arena_fmt(a, "%s/view", dir).p,
				 &err) == -EXDEV);
	CHECK(mounted_remove(a, &s, &err) == 0);
	close(fd);
	close(home);
	CHECK(access(arena_fmt(a, "%s/view", dir).p, F_OK) < 0);
	CHECK(access(arena_fmt(a, "%s/users/x", dir).p, F_OK) == 0);
}

/* A mount of its own, which goes like what is mounted in it. */
static void check_shared(void)
{
	struct session s = {.dir = dir, .lock_fd = -1};
	const char *view = arena_fmt(a, "%s/view", dir).p;
	struct statx sx;

	if (geteuid() != 0)
		return;
	CHECK(mounted_prepare(a, &s, true, &err) == 0);
	CHECK(statx(AT_FDCWD, view, 0, 0, &sx) == 0 &&
	      sx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
	CHECK(mounted_prepare(a, &s, true, &err) == 0); /* and once more */
	CHECK(mount(dir, arena_fmt(a, "%s/workspace", view).p, NULL, MS_BIND,
		    NULL) == 0);
	CHECK(mounted_remove(a, &s, &err) == 0);
	CHECK(access(view, F_OK) < 0);
}

int main(void)
{
	a = arena_new();
	CHECK(mkdtemp(dir) != NULL);
	CHECK(proc_signals_catch(&err) == 0);
	check_protocol();
	check_refusals();
	check_split();
	check_kept();
	check_bad_words();
	check_hello();
	check_repository();
	check_home();
	proc_signals_restore();
	check_mounted();
	check_shared();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
