#include "compiler/commands/git.h"

#include "compiler/base/ascii.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "runtime/launch/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define TIMEOUT_MS    30000
#define WORDS_MAX     24u
#define COMPLAINT_MAX 4096u /* of what git says when it fails */
#define LISTING_MAX   (64u << 10)

extern char **environ;

/* --- one run of git ------------------------------------------------------ */

struct run {
	pid_t pid;
	int out, err; /* our ends of its pipes, -1 at their end */
	struct buf text, complaint;
	size_t max;
};

/* Before the subcommand: nothing that a repository's configuration names is
 * run, and a folder that looks like a bare repository is none. */
static const char *const first[] = {
	"git",
	"--no-pager",
	"--no-replace-objects",
	"--literal-pathspecs",
	"-c",
	"core.fsmonitor=false",
	"-c",
	"core.hooksPath=/dev/null",
	"-c",
	"safe.bareRepository=explicit",
	"-C",
};

/* A clone without all objects would fetch them: from wherever its remotes
 * lead, by whatever command they name. */
static const char *const settings[] = {
	"LC_ALL=C",
	"GIT_ALLOW_PROTOCOL=none",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
};

static bool is_set_here(const char *variable)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		size_t n = strcspn(settings[i], "=") + 1;

		if (!strncmp(variable, settings[i], n))
			return true;
	}
	return false;
}

static char **environment(struct arena *a)
{
	size_t n = 0, k = 0;
	char **env;

	while (environ[n])
		n++;
	env = arena_array(a, n + ARRAY_LEN(settings) + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (!is_set_here(environ[i]))
			env[k++] = environ[i];
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		env[k++] = arena_cstr(a, str_of(settings[i]));
	return env;
}

static int spawn(struct arena *a, const char *dir, const char *const *words,
		 struct run *r, struct err *err)
{
	char *argv[ARRAY_LEN(first) + 1 + WORDS_MAX + 1] = {0};
	auto_fd int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	auto_fd int out = -1, complaint = -1;
	struct proc_opts o = {.argv = argv, .group = PROC_SAME, .keep = -1};
	size_t n = 0;

	if (in < 0)
		return err_set(err, -errno, "/dev/null: %s", strerror(errno));
	for (size_t i = 0; i < ARRAY_LEN(first); i++)
		argv[n++] = arena_cstr(a, str_of(first[i]));
	argv[n++] = arena_cstr(a, str_of(dir));
	for (size_t i = 0; words[i] && i < WORDS_MAX; i++)
		argv[n++] = arena_cstr(a, str_of(words[i]));
	if (proc_pipe(&r->out, &out, err) < 0 ||
	    proc_pipe(&r->err, &complaint, err) < 0)
		return err->code;
	o.in = in;
	o.out = out;
	o.err = complaint;
	o.env = environment(a);
	return proc_spawn(&o, &r->pid, err);
}

/* What is there to read, once; the end closes. More than max is an error. */
static int drain(int *fd, struct buf *into, size_t max)
{
	char room[16384];
	ssize_t n = read(*fd, room, sizeof(room));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	if (n == 0) {
		fd_close(fd);
		*fd = -1;
		return 0;
	}
	if (into->n + (size_t)n > max)
		return -EFBIG;
	buf_add(into, (struct str){room, (size_t)n});
	return 0;
}

/* Until both pipes end. */
static int collect(struct run *r)
{
	int64_t deadline = proc_now_ms() + TIMEOUT_MS;

	while (r->out >= 0 || r->err >= 0) {
		struct pollfd p[2] = {{.fd = r->out, .events = POLLIN},
				      {.fd = r->err, .events = POLLIN}};
		int64_t left = deadline - proc_now_ms();
		int rc = left > 0 ? poll(p, 2, (int)left) : 0;

		if (rc < 0 && errno != EINTR)
			return -errno;
		if (rc == 0)
			return -ETIMEDOUT;
		rc = p[0].revents ? drain(&r->out, &r->text, r->max) : 0;
		if (rc < 0)
			return rc;
		/* Beyond its bound a complaint is cut, and git is let talk. */
		if (p[1].revents &&
		    drain(&r->err, &r->complaint, COMPLAINT_MAX) == -EFBIG)
			continue;
	}
	return 0;
}

static int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 128;
	return proc_status(status);
}

/*
 * Run git in dir. *out_text: what it printed, at most max bytes; *out_status:
 * its exit status, 128 with a complaint when it failed.
 */
static int run(struct arena *a, const char *dir, const char *const *words,
	       size_t max, struct str *out_text, int *out_status,
	       struct str *out_complaint, struct err *err)
{
	struct run r = {.out = -1, .err = -1, .max = max};
	int rc;

	buf_init(&r.text, a);
	buf_init(&r.complaint, a);
	rc = spawn(a, dir, words, &r, err);
	if (rc == 0) {
		rc = collect(&r);
		if (rc < 0) {
			kill(r.pid, SIGKILL);
			err_set(err, rc, "git %s: %s", words[0],
				rc == -EFBIG ? "more than was asked for"
					     : strerror(-rc));
		}
		*out_status = reap(r.pid);
	}
	fd_close(&r.out);
	fd_close(&r.err);
	*out_text = buf_str(&r.text);
	*out_complaint = buf_str(&r.complaint);
	return rc;
}

/* git's own words: the line that it ends with, behind its warnings. */
static int failed(struct str complaint, int status, struct err *err)
{
	struct str line, fatal = {0};

	while (fatal.n == 0 && str_line(&complaint, &line))
		if (str_starts(line, STR("fatal: ")))
			fatal = str_slice(line, 7, line.n);
	if (fatal.n == 0)
		return err_set(err, -EPROTO, "git failed with status %d",
			       status);
	return err_set(err, -EPROTO, "git: %.*s", STR_ARG(fatal));
}

/* For what must succeed. */
static int must(struct arena *a, const char *dir, const char *const *words,
		size_t max, struct str *out_text, struct err *err)
{
	struct str complaint;
	int status = 0;
	int rc = run(a, dir, words, max, out_text, &status, &complaint, err);

	if (rc < 0)
		return rc;
	return status ? failed(complaint, status, err) : 0;
}

/* --- revisions ----------------------------------------------------------- */

int git_open(struct arena *a, const char *dir, struct git *out, struct err *err)
{
	static const char *const words[] = {"rev-parse", "--show-prefix", NULL};
	struct str text, complaint;
	int status = 0;
	int rc = run(a, dir, words, LIMIT_PATH_BYTES, &text, &status,
		     &complaint, err);

	if (rc < 0)
		return rc;
	if (status && memmem(complaint.p, complaint.n, "not a git repository",
			     strlen("not a git repository")))
		return err_set(err, -ENOENT, "%s lies in no git repository",
			       dir);
	if (status)
		return failed(complaint, status, err);
	if (str_ends(text, STR("\n")))
		text.n--;
	*out = (struct git){dir, arena_str(a, text)};
	return 0;
}

/* The digest that is all of a text but the newline at its end. */
static bool is_oid(struct str text, char out[GIT_OID_MAX])
{
	size_t n = text.n - str_ends(text, STR("\n"));

	if (n < 40 || n >= GIT_OID_MAX || !ascii_is_hex(str_slice(text, 0, n)))
		return false;
	memcpy(out, text.p, n);
	out[n] = '\0';
	return true;
}

static int resolve(struct arena *a, const struct git *g, struct str rev,
		   const char *as, char out[GIT_OID_MAX], struct err *err)
{
	const char *words[] = {"rev-parse",	   "--verify", "--quiet",
			       "--end-of-options", NULL,       NULL};
	struct str text, complaint;
	bool plain =
		rev.n > 0 && rev.n <= LIMIT_SCALAR_BYTES && rev.p[0] != '-';
	int status = 0, rc;

	for (size_t i = 0; plain && i < rev.n; i++)
		plain = (unsigned char)rev.p[i] >= 0x20 && rev.p[i] != 0x7f;
	if (!plain)
		return err_set(err, -EINVAL, "not the name of a revision");
	words[4] = arena_fmt(a, "%.*s^{%s}", STR_ARG(rev), as).p;
	rc = run(a, g->dir, words, LIMIT_SCALAR_BYTES, &text, &status,
		 &complaint, err);
	if (rc < 0)
		return rc;
	if (status == 0 && is_oid(text, out))
		return 0;
	if (status == 0 || complaint.n == 0 || status == 1)
		return err_set(err, -ENOENT, "no revision '%.*s'",
			       STR_ARG(rev));
	return failed(complaint, status, err);
}

int git_root(struct arena *a, const struct git *g, struct str rev,
	     struct git_entry *out, struct err *err)
{
	struct git_entry e = {.mode = S_IFDIR};
	int rc = resolve(a, g, rev, "tree", e.oid, err);

	if (rc == 0)
		*out = e;
	return rc;
}

int git_merge_base(struct arena *a, const struct git *g, struct str one,
		   struct str two, struct str *out, struct err *err)
{
	char x[GIT_OID_MAX], y[GIT_OID_MAX], base[GIT_OID_MAX];
	const char *words[] = {"merge-base", x, y, NULL};
	struct str text, complaint;
	int status = 0;
	int rc = resolve(a, g, one, "commit", x, err);

	if (rc == 0)
		rc = resolve(a, g, two, "commit", y, err);
	if (rc == 0)
		rc = run(a, g->dir, words, LIMIT_SCALAR_BYTES, &text, &status,
			 &complaint, err);
	if (rc < 0)
		return rc;
	if (status == 1)
		return err_set(err, -ENOENT,
			       "'%.*s' and '%.*s' have no commit in common",
			       STR_ARG(one), STR_ARG(two));
	if (status || !is_oid(text, base))
		return failed(complaint, status, err);
	*out = arena_str(a, str_of(base));
	return 0;
}

/* --- folders and files --------------------------------------------------- */

/* "100644 blob OID\tNAME" */
static bool parse_entry(struct str line, struct git_entry *out,
			struct str *out_name)
{
	struct str mode, type, oid;
	struct git_entry e = {0};

	if (!str_field(&line, ' ', &mode) || !str_field(&line, ' ', &type) ||
	    !str_field(&line, '\t', &oid) || !is_oid(oid, e.oid))
		return false;
	for (size_t i = 0; i < mode.n; i++) {
		if (mode.p[i] < '0' || mode.p[i] > '7')
			return false;
		e.mode = e.mode * 8 + (unsigned)(mode.p[i] - '0');
	}
	*out = e;
	*out_name = line;
	return true;
}

static int list(struct arena *a, const struct git *g, const char *oid,
		const char *name, struct str *out, struct err *err)
{
	const char *words[] = {"ls-tree", "-z", "--full-tree", oid,
			       "--",	  name, NULL};

	return must(a, g->dir, words, LISTING_MAX, out, err);
}

int git_find(struct arena *a, const struct git *g,
	     const struct git_entry *folder, struct str path,
	     struct git_entry *out, struct err *err)
{
	struct git_entry e = *folder;
	struct str part;

	while (str_field(&path, '/', &part)) {
		struct str text, line, name = {0};
		int rc;

		if (part.n == 0)
			continue;
		rc = list(a, g, e.oid, arena_cstr(a, part), &text, err);
		if (rc < 0)
			return rc;
		if (!str_field(&text, '\0', &line))
			return err_set(err, -ENOENT, "no '%.*s'",
				       STR_ARG(part));
		if (!parse_entry(line, &e, &name) || !str_eq(name, part))
			return err_set(err, -EPROTO,
				       "git lists '%.*s' in an unknown way",
				       STR_ARG(part));
		/* Nothing lies below a file, or in another repository. */
		if (path.n && !S_ISDIR(e.mode) && !S_ISLNK(e.mode))
			return err_set(err, -ENOENT, "no '%.*s'",
				       STR_ARG(path));
		if (S_ISLNK(e.mode))
			break;
	}
	*out = e;
	return 0;
}

int git_read(struct arena *a, const struct git *g, const struct git_entry *file,
	     size_t max, struct str *out, struct err *err)
{
	const char *words[] = {"cat-file", "blob", file->oid, NULL};

	return must(a, g->dir, words, max, out, err);
}

int git_list(struct arena *a, const struct git *g,
	     const struct git_entry *folder, git_names *out, struct err *err)
{
	struct str text, line;
	int rc = list(a, g, folder->oid, NULL, &text, err);

	while (rc == 0 && str_field(&text, '\0', &line)) {
		struct git_entry e;
		struct str name;

		if (!parse_entry(line, &e, &name))
			return err_set(err, -EPROTO,
				       "git lists a folder in an unknown way");
		*vec_push(a, out) = name;
	}
	return rc;
}
