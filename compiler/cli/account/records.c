#include "compiler/cli/account/records.h"

#include "compiler/cli/text/console.h"
#include "runtime/launch/session/decisions.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHANGES (IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO)
/* A shell says nothing to a job that runs in the background when it puts it in
 * front: as long as it is there, that is looked for. */
#define FRONT_MS 500

/* --- reading -------------------------------------------------------------- */

/* All whole lines that are there; what is being written is left for later. */
static int read_lines(struct records *r, struct err *err)
{
	ssize_t n;

	while ((n = getline(&r->line, &r->room, r->file)) > 0) {
		if (r->line[n - 1] != '\n') {
			if (fseeko(r->file, -n, SEEK_CUR) < 0)
				break;
			return 0;
		}
		r->on_line(r->ctx, (struct str){r->line, (size_t)n});
	}
	if (ferror(r->file))
		return err_set(err, -errno, "%s: %s", r->path, strerror(errno));
	clearerr(r->file);
	return 0;
}

static const char *path_of(const struct records *r, unsigned part)
{
	return decisions_path(r->a, r->about->session.dir, part);
}

/* -ENOENT: a session that just begins, or that never got to its gate. */
static int open_part(struct records *r, unsigned part, struct err *err)
{
	const char *path = path_of(r, part);
	FILE *file = fopen(path, "re");

	if (!file)
		return err_errno(err, path);
	if (r->file)
		fclose(r->file);
	else if (r->on_begin)
		r->on_begin(r->ctx);
	r->file = file;
	r->path = path;
	r->part = part;
	return 0;
}

/* What a part has got to when the next one is there, it keeps. */
static int read_parts(struct records *r, struct err *err)
{
	bool is_next = access(path_of(r, r->part + 1), F_OK) == 0;
	int rc = read_lines(r, err);

	while (rc == 0 && is_next) {
		rc = open_part(r, r->part + 1, err);
		is_next = access(path_of(r, r->part + 1), F_OK) == 0;
		if (rc == 0)
			rc = read_lines(r, err);
	}
	return rc;
}

/* --- waiting for more ----------------------------------------------------- */

static bool session_runs(const struct records *r)
{
	enum session_found state;
	struct err ignored;

	return metadata_state(r->about, &state, &ignored) == 0 &&
	       state == SESSION_ALIVE;
}

/* Told of before it is read: nothing can come unseen in between. */
static int open_changes(struct records *r, struct err *err)
{
	r->changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (r->changes < 0 || inotify_add_watch(r->changes,
						r->about->session.dir,
						CHANGES) < 0)
		return err_errno(err, r->about->session.dir);
	return 0;
}

/* A launcher that is killed changes no file; whoever cleans up after it may. */
static void watch_launcher(struct records *r)
{
	pid_t pid = session_pid(&r->about->session);

	if (r->launcher > 0)
		close(r->launcher);
	r->launcher = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static bool is_behind(const struct records *r)
{
	return r->on_keys && console_is_behind(r->keys);
}

/* In the background keys are the shell's, and to read one stops the reader. */
static int poll_all(const struct records *r, struct pollfd *p, nfds_t n,
		    struct pollfd *keys)
{
	int ready;

	do {
		bool behind = is_behind(r);

		keys->fd = r->on_keys && !behind ? r->keys : -1;
		ready = poll(p, n, behind ? FRONT_MS : -1);
	} while (ready == 0 && is_behind(r));
	return ready;
}

/* False when nobody reads any more. */
static bool wait_change(struct records *r)
{
	struct pollfd p[] = {{.fd = r->changes, .events = POLLIN},
			     {.fd = r->launcher, .events = POLLIN},
			     {.fd = r->out},
			     {.fd = -1, .events = POLLIN}};
	char events[4096];

	if (poll_all(r, p, ARRAY_LEN(p), &p[3]) < 0)
		return errno == EINTR; /* stopped, and going on: see anew */
	while (read(r->changes, events, sizeof(events)) > 0)
		;
	if (p[3].revents)
		r->on_keys(r->ctx);
	return !(p[2].revents & (POLLERR | POLLHUP | POLLNVAL));
}

int records_read(struct records *r, bool follow, struct err *err)
{
	int rc = follow ? open_changes(r, err) : 0;
	bool last = false;

	while (rc == 0) {
		/* Asked first: what it wrote until then is read after that. */
		last = !follow || !session_runs(r);
		rc = r->file ? 0 : open_part(r, 0, err);
		if (rc == -ENOENT && !last)
			rc = 0;
		else if (rc == 0)
			rc = read_parts(r, err);
		if (rc == 0 && !last && r->on_read)
			r->on_read(r->ctx);
		fflush(stdout);
		if (rc < 0 || last || ferror(stdout))
			break;
		watch_launcher(r);
		if (!wait_change(r))
			break;
	}
	return rc;
}

void records_done(struct records *r)
{
	if (r->file)
		fclose(r->file);
	free(r->line);
	if (r->changes > 0)
		close(r->changes);
	if (r->launcher > 0)
		close(r->launcher);
}
