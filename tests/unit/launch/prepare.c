/*
 * What is made and asked for before a session starts: whom the command runs
 * as, its home, the session's folder, git's identity, and an image that is not
 * here. `docker pull` is a script.
 */
#include "runtime/launch/prepare.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "tests/check.h"
#include "tests/unit/docker_standin.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER 4242

static char top[] = "/tmp/membrane-prepare.XXXXXX";
static struct err err;
static struct arena *a;

static const char *at_top(const char *name)
{
	return arena_fmt(a, "%s/%s", top, name).p;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	CHECK(fileio_write(AT_FDCWD, path, str_of(text), mode, &err) == 0 &&
	      chmod(path, mode) == 0);
}

static struct str text_of(const char *path)
{
	struct str text = STR("");

	CHECK(fileio_read(a, AT_FDCWD, path, 1 << 20, &text, &err) == 0);
	return text;
}

static unsigned mode_of(const char *path)
{
	struct stat st = {0};

	CHECK(stat(path, &st) == 0);
	return st.st_mode & 0777;
}

/* --- what is said on stderr ----------------------------------------------- */

static FILE *said;
static int saved = -1;

static void hear_stderr(void)
{
	said = tmpfile();
	saved = dup(STDERR_FILENO);
	CHECK(said && saved >= 0);
	CHECK(dup2(fileno(said), STDERR_FILENO) == STDERR_FILENO);
}

static const char *heard_stderr(void)
{
	char text[4096];
	size_t n;

	fflush(stderr);
	CHECK(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
	close(saved);
	rewind(said);
	n = fread(text, 1, sizeof(text), said);
	fclose(said);
	return arena_cstr(a, (struct str){text, n});
}

/* --- the owner ------------------------------------------------------------ */

static int find_owner(const struct launch_opts *o, struct prepare_owner *out)
{
	auto_fd int fd = open(o->workspace, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	return prepare_owner(a, o, fd, arena_fmt(a, "%s/home", o->state).p, out,
			     &err);
}

/* A workspace and a state folder, of these users. */
static struct launch_opts folders_of(const char *name, uid_t workspace,
				     uid_t state)
{
	struct launch_opts o = {
		.workspace = arena_fmt(a, "%s/%s-work", top, name).p,
		.state = arena_fmt(a, "%s/%s-state", top, name).p};

	CHECK(fileio_mkdirs(o.workspace, 0755, &err) == 0 &&
	      fileio_mkdirs(o.state, 0700, &err) == 0);
	CHECK(chown(o.workspace, workspace, workspace) == 0 &&
	      chown(o.state, state, state) == 0);
	return o;
}

static void root_runs_as_the_owner(void)
{
	struct launch_opts o = folders_of("root", OTHER, 0);
	struct prepare_owner owner = {0};
	struct stat st;

	hear_stderr();
	CHECK(find_owner(&o, &owner) == 0);
	CHECK(strcmp(owner.text, "4242:4242") == 0);
	CHECK(stat(owner.home, &st) == 0 && st.st_uid == OTHER &&
	      st.st_gid == OTHER && (st.st_mode & 0777) == 0700);
	CHECK(find_owner(&o, &owner) == 0); /* again: it is theirs */
	CHECK(strcmp(heard_stderr(), "") == 0);
	/* what is in it may be another user's, who keeps it */
	CHECK(chown(owner.home, 0, 0) == 0);
	write_file(arena_fmt(a, "%s/.profile", owner.home).p, "", 0644);
	hear_stderr();
	CHECK(find_owner(&o, &owner) == 0);
	CHECK(strstr(heard_stderr(),
		     "belongs to user 0 and the command runs as user 4242"));
	CHECK(stat(owner.home, &st) == 0 && st.st_uid == 0);
	o.quiet = true;
	hear_stderr();
	CHECK(find_owner(&o, &owner) == 0);
	CHECK(strcmp(heard_stderr(), "") == 0);
}

/* In a state folder that is somebody's own, the home is theirs. */
static void a_home_of_somebody_stays_so(void)
{
	struct launch_opts o = folders_of("own", OTHER, OTHER + 1);
	struct prepare_owner owner = {0};
	struct stat st;

	hear_stderr();
	CHECK(find_owner(&o, &owner) == 0);
	CHECK(strstr(heard_stderr(), "it cannot use its home"));
	CHECK(stat(owner.home, &st) == 0 && st.st_uid == OTHER + 1);
}

/* As a user with these groups; how many checks failed there is its status. */
static void as_user(uid_t uid, gid_t group, void (*check)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		check_failed = 0;
		CHECK(setgroups(group ? 1 : 0, &group) == 0 &&
		      setgid(uid) == 0 && setuid(uid) == 0);
		check();
		_exit((int)check_failed);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static struct launch_opts users;

static void check_stranger(void)
{
	struct prepare_owner owner = {0};

	users.quiet = true;
	CHECK(find_owner(&users, &owner) == 0);
	CHECK(strcmp(owner.text, "4243:4243") == 0);
}

static void check_member(void)
{
	struct prepare_owner owner = {0};

	users.quiet = true;
	CHECK(find_owner(&users, &owner) == 0);
	CHECK(strcmp(owner.text, "4243:4242") == 0);
}

static void check_owner(void)
{
	struct prepare_owner owner = {0};

	CHECK(find_owner(&users, &owner) == 0);
	CHECK(strcmp(owner.text, "4242:4242") == 0);
	users.state = "/nowhere/else";
	CHECK(find_owner(&users, &owner) < 0);
}

static void others_run_as_themselves(void)
{
	users = folders_of("users", OTHER, OTHER + 1);
	CHECK(chmod(top, 0755) == 0);
	as_user(OTHER + 1, 0, check_stranger);
	as_user(OTHER + 1, OTHER, check_member);
	CHECK(chown(users.state, OTHER, OTHER) == 0 &&
	      fileio_remove_tree(AT_FDCWD,
				 arena_fmt(a, "%s/home", users.state).p,
				 &err) == 0);
	as_user(OTHER, 0, check_owner);
}

static void a_workspace_is_a_folder(void)
{
	struct launch_opts o = {.workspace = at_top("file"), .state = top};
	struct prepare_owner owner = {0};

	write_file(o.workspace, "", 0644);
	CHECK(find_owner(&o, &owner) == -ENOTDIR && !owner.text);
	CHECK(prepare_owner(a, &o, -1, top, &owner, &err) == -EBADF);
}

/* --- the session's folder ------------------------------------------------- */

static struct session make_session(void)
{
	struct session s;

	CHECK(session_new(a, top, &s, &err) == 0);
	return s;
}

static void the_gate_reads_the_plan(void)
{
	struct plan plan = {0};
	struct launch_opts o = {.state = top,
				.workspace = at_top("work"),
				.plan = &plan,
				.session_id_file = at_top("id")};
	struct session s = make_session();
	mode_t was = umask(077);

	CHECK(fileio_mkdirs(o.workspace, 0755, &err) == 0);
	plan_add(a, &plan, STR("a.map"), STR("a\n"));
	CHECK(prepare_folder(a, &o, &s, &err) == 0);
	umask(was);
	CHECK(mode_of(arena_fmt(a, "%s/plan", s.dir).p) == 0755);
	CHECK(mode_of(arena_fmt(a, "%s/plan/a.map", s.dir).p) == 0644);
	CHECK(mode_of(arena_fmt(a, "%s/plan/manifest.json", s.dir).p) == 0644);
	CHECK(mode_of(arena_fmt(a, "%s/resolv.conf", s.dir).p) == 0644);
	CHECK(str_is(text_of(arena_fmt(a, "%s/resolv.conf", s.dir).p),
		     "nameserver " PREPARE_RESOLVER "\n"));
	CHECK(str_eq(text_of(o.session_id_file), arena_fmt(a, "%s\n", s.id)));
	/* what is not there cannot be made readable */
	CHECK(prepare_readable(a, "/nowhere", &plan, &err) == -ENOENT);
	plan_add(a, &plan, STR("b.map"), STR("b\n"));
	CHECK(prepare_readable(a, arena_fmt(a, "%s/plan", s.dir).p, &plan,
			       &err) == -ENOENT &&
	      strstr(err.text, "b.map"));
	session_release(&s, true);
}

static void git_knows_the_user(void)
{
	struct launch_opts o = {.state = top, .workspace = at_top("work")};
	struct gitlinked linked = {0};
	struct session s = make_session();
	const char *path =
		arena_fmt(a, "%s/" DOCKER_JSON_GIT_IDENTITY, s.dir).p;
	bool any = true;

	setenv("HOME", at_top("home-of-git"), 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	CHECK(fileio_mkdirs(getenv("HOME"), 0700, &err) == 0);
	CHECK(prepare_git(a, &o, &s, &any, &err) == 0 && !any);
	CHECK(access(path, F_OK) < 0);
	o.linked = &linked; /* of a worktree there is always something to say */
	CHECK(prepare_git(a, &o, &s, &any, &err) == 0 && any);
	CHECK(str_is(text_of(path),
		     "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"));
	write_file(arena_fmt(a, "%s/.gitconfig", getenv("HOME")).p,
		   "[user]\n\tname = An Na\n\temail = \"a\\tb\"\n", 0600);
	o.linked = NULL;
	hear_stderr();
	CHECK(prepare_git(a, &o, &s, &any, &err) == 0 && any);
	CHECK(strstr(heard_stderr(), "membrane: ")); /* of a TAB, why not */
	CHECK(strstr(arena_cstr(a, text_of(path)), "An Na"));
	CHECK(!strstr(arena_cstr(a, text_of(path)), "email"));
	CHECK(mode_of(path) == 0644);
	o.quiet = true;
	hear_stderr();
	CHECK(prepare_git(a, &o, &s, &any, &err) == 0);
	CHECK(strcmp(heard_stderr(), "") == 0);
	session_release(&s, true);
}

/* --- images --------------------------------------------------------------- */

/* `docker`, as the first of that name that is found. */
static void set_docker(const char *script)
{
	const char *bin = at_top("bin");

	CHECK(fileio_mkdirs(bin, 0755, &err) == 0);
	write_file(arena_fmt(a, "%s/docker", bin).p,
		   arena_fmt(a, "#!/bin/sh\n%s\n", script).p, 0755);
}

static int fetch(struct docker *d, const char *image, const char *script)
{
	struct vector v = {.image = image};

	*vec_push(a, &v.words) = arena_cstr(a, STR("run"));
	*vec_push(a, &v.words) = arena_cstr(a, STR("--platform=linux/arm64"));
	*vec_push(a, &v.words) = arena_cstr(a, STR("--rm"));
	set_docker(script);
	return prepare_fetch(a, d, &v, &err);
}

static void an_image_is_fetched(struct docker *d)
{
	CHECK(fetch(d, "here", "exit 1") == 0); /* nobody runs it */
	hear_stderr();
	CHECK(fetch(d, "away", "echo \"$@\"") == 0);
	CHECK(strcmp(heard_stderr(), "pull --platform=linux/arm64 away\n") ==
	      0);
	CHECK(fetch(d, "away", "exit 1") == -ENOENT &&
	      strstr(err.text, "docker could not fetch it"));
	CHECK(fetch(d, "broken", "") == -EREMOTEIO);
	/* what asks us to end asks it, too, and waits */
	CHECK(fetch(d, "away",
		    "trap 'exit 0' TERM; kill -INT $PPID; "
		    "while :; do sleep 0.01; done") == -EINTR &&
	      strstr(err.text, "fetching 'away' was interrupted"));
	unlink(at_top("bin/docker"));
	setenv("PATH", at_top("bin"), 1);
	{
		struct vector v = {.image = "away"};

		CHECK(prepare_fetch(a, d, &v, &err) == -ENOENT);
	}
}

static void what_is_missing_says_what_to_do(struct docker *d)
{
	static const struct {
		struct vectors v;
		const char *words;
	} rows[] = {
		{{.gate.image = DOCKER_JSON_IMAGE_GATE, .agent.image = "here"},
		 "`membrane images` builds it"},
		{{.gate.image = "here",
		  .agent.image = DOCKER_JSON_IMAGE_AGENT "-pi"},
		 "`membrane images pi` builds it"},
		{{.gate.image = "here",
		  .agent.image = "here",
		  .tracer.image = "aquasec/tracee:0.24.1"},
		 "--no-trace runs without a trace"},
		{{.gate.image = "here",
		  .agent.image = "here",
		  .tracer.image = DOCKER_JSON_IMAGE_WATCH},
		 "`membrane images` builds it"},
		{{.gate.image = "here",
		  .agent.image = "here",
		  .tracer.image = "here",
		  .view.image = DOCKER_JSON_IMAGE_VIEW},
		 "`membrane images` builds it"},
		{{.gate.image = "here", .agent.image = "broken"}, "disk"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct vectors v = rows[i].v;
		int rc;

		v.runtime = "runc";
		rc = prepare_docker(d, &v, false, &err);
		CHECK_MSG(rc == (i == 5 ? -EREMOTEIO : -ENOENT) &&
				  strstr(err.text, rows[i].words),
			  "%d %s", rc, err.text);
	}
}

static void images_are_looked_for(void)
{
	static const struct standin_answer table[] = {
		{"GET /_ping", 200, "OK"},
		{"GET /v1.48/images/here/json", 200, "{}"},
		{"GET /v1.48/images/broken/json", 500,
		 "{\"message\":\"disk\"}"},
		{"GET /v1.48/images/", 404, "{\"message\":\"none\"}"},
	};
	struct endpoint at = {.base = "http://localhost",
			      .socket = at_top("docker.sock")};
	pid_t pid = standin_start(at.socket, table, ARRAY_LEN(table));
	struct docker *d = NULL;

	CHECK(docker_open(a, &at, &d, &err) == 0);
	what_is_missing_says_what_to_do(d);
	setenv("PATH", arena_fmt(a, "%s:%s", at_top("bin"), getenv("PATH")).p,
	       1);
	CHECK(proc_signals_catch(&err) == 0);
	an_image_is_fetched(d);
	proc_signals_restore();
	docker_close(d);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	a = arena_new();
	CHECK(mkdtemp(top) != NULL);
	if (geteuid() == 0) {
		root_runs_as_the_owner();
		a_home_of_somebody_stays_so();
		others_run_as_themselves();
	}
	a_workspace_is_a_folder();
	the_gate_reads_the_plan();
	git_knows_the_user();
	images_are_looked_for();
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
