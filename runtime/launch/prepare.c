#include "runtime/launch/prepare.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/outfile.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/docker_info.h"
#include "runtime/launch/docker/rootless.h"
#include "runtime/launch/workspace/gitidentity.h"
#include "runtime/launch/workspace/workspaces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* What git does by itself now and then is for where all worktrees are seen:
 * it fails here, and says so to whoever runs git there next. */
#define NO_UPKEEP "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	int n = 0;

	if (!dir)
		return false;
	while (n <= 2 && (e = readdir(dir)))
		n++;
	closedir(dir);
	return n <= 2; /* "." and ".." */
}

/* In somebody's own state folder the home is theirs, too. */
static bool is_roots(const char *state)
{
	struct stat st;

	return stat(state, &st) == 0 && st.st_uid == 0;
}

static int make_home(const char *state, const struct prepare_owner *owner,
		     bool quiet, struct err *err)
{
	struct stat st;
	int rc = fileio_mkdirs(owner->home, 0700, err);

	if (rc < 0)
		return rc;
	if (stat(owner->home, &st) < 0)
		return err_errno(err, owner->home);
	if (st.st_uid == owner->uid)
		return 0;
	if (geteuid() == 0 && is_roots(state) && is_empty(owner->home))
		return chown(owner->home, owner->uid, owner->gid) < 0
			       ? err_errno(err, owner->home)
			       : 0;
	if (!quiet)
		fprintf(stderr,
			"membrane: warning: %s belongs to user %ld and the command runs as user %ld: it cannot use its home (chown -R %s %s)\n",
			owner->home, (long)st.st_uid, (long)owner->uid,
			owner->text, owner->home);
	return 0;
}

static bool is_member(gid_t group)
{
	gid_t groups[NGROUPS_MAX];
	int n = getgroups(NGROUPS_MAX, groups);

	for (int i = 0; i < n; i++)
		if (groups[i] == group)
			return true;
	return group == getegid();
}

/*
 * The owner, for root and for the owner. Anybody else has their own rights
 * there, and not the owner's: so has who is root of a rootless Docker's alone.
 */
static void find_user(const struct stat *st, struct prepare_owner *out)
{
	bool own = (geteuid() == 0 && !rootless_entered()) ||
		   geteuid() == st->st_uid;

	out->uid = own ? st->st_uid : geteuid();
	out->gid = own || is_member(st->st_gid) ? st->st_gid : getegid();
}

int prepare_owner(struct arena *a, const struct launch_opts *o, int workspace,
		  const char *home, struct prepare_owner *out, struct err *err)
{
	struct stat st;

	if (fstat(workspace, &st) < 0)
		return err_errno(err, o->workspace);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR, "%s: not a directory",
			       o->workspace);
	find_user(&st, out);
	out->text = arena_fmt(a, "%ld:%ld", (long)out->uid, (long)out->gid).p;
	out->home = home;
	return make_home(o->state, out, o->quiet, err);
}

void prepare_alone(struct arena *a, struct prepare_owner *o)
{
	if (geteuid() == 0)
		return;
	o->uid = geteuid();
	o->gid = getegid();
	o->text = arena_fmt(a, "%ld:%ld", (long)o->uid, (long)o->gid).p;
}

int prepare_readable(struct arena *a, const char *dir, const struct plan *p,
		     struct err *err)
{
	if (chmod(dir, 0755) < 0)
		return err_errno(err, dir);
	for (uint32_t i = 0; i <= p->files.n; i++) {
		struct str name = i < p->files.n ? p->files.v[i].name
						 : STR("manifest.json");
		const char *path =
			arena_fmt(a, "%s/%.*s", dir, STR_ARG(name)).p;

		if (chmod(path, 0644) < 0)
			return err_errno(err, path);
	}
	return 0;
}

int prepare_folder(struct arena *a, const struct launch_opts *o,
		   const struct session *s, struct err *err)
{
	const char *plan = arena_fmt(a, "%s/plan", s->dir).p;
	const char *resolv = arena_fmt(a, "%s/resolv.conf", s->dir).p;
	struct workspaces_ask ask = {a, o->state, o->workspace};
	struct outfile_rule rule = {workspaces_hold, &ask};
	int rc = plan_write(plan, o->plan, err);

	if (rc == 0)
		rc = prepare_readable(a, plan, o->plan, err);
	if (rc == 0)
		rc = fileio_write(AT_FDCWD, resolv,
				  STR("nameserver " PREPARE_RESOLVER "\n"),
				  0644, err);
	/* the agent's user reads it, whatever our umask is */
	if (rc == 0 && chmod(resolv, 0644) < 0)
		rc = err_errno(err, resolv);
	if (rc == 0 && o->session_id_file)
		rc = outfile_write(a, &rule, AT_FDCWD, o->session_id_file,
				   arena_fmt(a, "%s\n", s->id), 0644, err);
	return rc;
}

int prepare_git(struct arena *a, const struct launch_opts *o,
		const struct session *s, bool *out_any, struct err *err)
{
	const char *path =
		arena_fmt(a, "%s/" DOCKER_JSON_GIT_IDENTITY, s->dir).p;
	struct gitidentity g;
	struct str text;
	int rc = 0;

	gitidentity_find(a, o->workspace, &g);
	vec_each(note, &g.notes)
		if (!o->quiet)
			fprintf(stderr, "membrane: %.*s\n", STR_ARG(*note));
	text = gitidentity_config(a, &g);
	if (o->linked)
		text = arena_fmt(a, "%.*s" NO_UPKEEP, STR_ARG(text));
	if (text.n)
		rc = fileio_write(AT_FDCWD, path, text, 0644, err);
	/* as with resolv.conf */
	if (rc == 0 && text.n && chmod(path, 0644) < 0)
		rc = err_errno(err, path);
	if (rc == 0)
		*out_any = text.n > 0;
	return rc;
}

static bool is_ours(const char *image)
{
	struct str name = str_of(image);

	return str_starts(name, STR(DOCKER_JSON_IMAGE_GATE)) ||
	       str_starts(name, STR(DOCKER_JSON_IMAGE_AGENT)) ||
	       str_starts(name, STR(DOCKER_JSON_IMAGE_WATCH)) ||
	       str_starts(name, STR(DOCKER_JSON_IMAGE_VIEW));
}

/* By which word `membrane images` builds it: an agent's by its name. */
static const char *word_of(const char *image)
{
	static const char before[] = DOCKER_JSON_IMAGE_AGENT "-";
	static char word[64];

	if (strncmp(image, before, sizeof(before) - 1) != 0)
		return "";
	snprintf(word, sizeof(word), " %s", image + sizeof(before) - 1);
	return word;
}

static int check_image(struct docker *d, const char *image, bool no_update,
		       struct err *err)
{
	int rc = docker_has_image(d, image, err);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	/* ours are in no registry: whatever answers to the name is not it */
	if (is_ours(image))
		return err_set(
			err, -ENOENT,
			"image '%s' is not here; `membrane images%s` builds it",
			image, word_of(image));
	/* it gets near to everything: fetching it is for a person to do */
	if (str_starts(str_of(image), STR("aquasec/tracee:")))
		return err_set(
			err, -ENOENT,
			"image '%s', which the policy traces with, is not here; `docker pull %s` fetches it, --no-trace runs without a trace",
			image, image);
	if (no_update)
		return err_set(
			err, -ENOENT,
			"image '%s' is not here, and --no-update forbids to fetch it; `docker pull %s` does",
			image, image);
	return 0;
}

int prepare_docker(struct docker *d, const struct vectors *v, bool no_update,
		   struct err *err)
{
	int rc = check_image(d, v->gate.image, no_update, err);

	if (rc == 0)
		rc = check_image(d, v->agent.image, no_update, err);
	if (rc == 0 && v->tracer.image)
		rc = check_image(d, v->tracer.image, no_update, err);
	if (rc == 0 && v->view.image)
		rc = check_image(d, v->view.image, no_update, err);
	if (rc < 0 || strcmp(v->runtime, "runc") == 0)
		return rc;
	rc = docker_has_runtime(d, v->runtime, err);
	if (rc == 0)
		return err_set(
			err, -ENOENT,
			"the policy asks for the runtime '%s', which this Docker daemon does not have (`docker info` lists those it has)",
			v->runtime);
	return rc < 0 ? rc : 0;
}

/* A signal to us alone is passed on, and ends the wait with its child. */
static int wait_for_pull(pid_t pid, const char *image, struct err *err)
{
	struct pollfd signals = {.fd = proc_signals_fd(), .events = POLLIN};
	bool asked = false;
	struct proc_signal s;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (poll(&signals, 1, -1) < 0 && errno != EINTR)
			return err_errno(err, "poll");
		while (proc_signals_next(&s)) {
			if (s.signo == SIGCHLD)
				continue;
			asked = true;
			kill(pid, SIGTERM);
		}
	}
	if (asked)
		return err_set(err, -EINTR, "fetching '%s' was interrupted",
			       image);
	if (proc_status(status) != 0)
		return err_set(
			err, -ENOENT,
			"image '%s' is not here, and docker could not fetch it",
			image);
	return 0;
}

int prepare_fetch(struct arena *a, struct docker *d, const struct vector *v,
		  struct err *err)
{
	vectors_words words = {0};
	struct proc_opts o = {
		.in = -1, .out = STDERR_FILENO, .err = -1, .keep = -1};
	pid_t pid;
	int rc = docker_has_image(d, v->image, err);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	*vec_push(a, &words) = arena_cstr(a, STR("docker"));
	*vec_push(a, &words) = arena_cstr(a, STR("pull"));
	vec_each(w, &v->words)
		if (str_starts(str_of(*w), STR("--platform=")))
			*vec_push(a, &words) = *w;
	*vec_push(a, &words) = arena_cstr(a, str_of(v->image));
	*vec_push(a, &words) = NULL;
	o.argv = words.v;
	rc = proc_spawn(&o, &pid, err);
	return rc < 0 ? rc : wait_for_pull(pid, v->image, err);
}
