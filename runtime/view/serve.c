/*
 * The server: answers the kernel's requests, with the workspace owner's ids and
 * without a right beyond them.
 */
#include "runtime/view/parts.h"

#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/mounts_plan.h"
#include "runtime/view/aside/aside.h"
#include "runtime/view/aside/kept.h"
#include "runtime/view/aside/outside.h"
#include "runtime/view/rights.h"
#include "runtime/view/say.h"
#include "runtime/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* One that answers, and while that waits for a disk, another. */
#define THREADS_MAX 4

/* --- threads -------------------------------------------------------------- */

/*
 * One thread reads requests and answers them: handing each over costs more
 * than it saves. One that is about to wait gives its place away first.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t free;
	bool led;
	int n, idle;
	struct fuse_session *session;
	struct view *view;
	int ended; /* an eventfd */
} crew = {.lock = PTHREAD_MUTEX_INITIALIZER, .free = PTHREAD_COND_INITIALIZER};

static _Thread_local bool leads;

static void *answer_requests(void *unused);

static bool start_thread(void)
{
	pthread_attr_t attr;
	pthread_t t;
	bool ok;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 256u << 10);
	ok = pthread_create(&t, &attr, answer_requests, NULL) == 0;
	pthread_attr_destroy(&attr);
	return ok;
}

void serve_yield(void)
{
	if (!leads)
		return;
	pthread_mutex_lock(&crew.lock);
	if (crew.idle > 0) {
		crew.led = leads = false;
		pthread_cond_signal(&crew.free);
	} else if (crew.n < THREADS_MAX && start_thread()) {
		crew.n++;
		crew.led = leads = false;
	}
	pthread_mutex_unlock(&crew.lock);
}

static void take_lead(void)
{
	pthread_mutex_lock(&crew.lock);
	crew.idle++;
	while (crew.led)
		pthread_cond_wait(&crew.free, &crew.lock);
	crew.idle--;
	crew.led = leads = true;
	pthread_mutex_unlock(&crew.lock);
}

static _Thread_local pid_t asker;

pid_t serve_asker(void)
{
	return asker;
}

/* As the header of the request has it. */
static pid_t pid_of(const struct fuse_buf *b)
{
	struct fuse_in_header head;

	if (b->flags & FUSE_BUF_IS_FD || b->size < sizeof(head))
		return 0;
	memcpy(&head, b->mem, sizeof(head));
	return (pid_t)head.pid;
}

static void *answer_requests(void *unused)
{
	struct fuse_buf buf = {0};
	uint64_t one = 1;
	int rc = 1;

	(void)unused;
	while (rc > 0 || rc == -EINTR) {
		if (!leads)
			take_lead();
		rc = await_request(crew.session, &buf);
		if (rc <= 0)
			continue;
		asker = pid_of(&buf);
		if (!newer_answer(crew.view, &buf))
			fuse_session_process_buf(crew.session, &buf);
	}
	free(buf.mem);
	/* Nobody has the mount any more, or the connection was cut. */
	ignore(write(crew.ended, &one, sizeof(one)));
	return NULL;
}

/* --- the session ---------------------------------------------------------- */

static void on_init(void *userdata, struct fuse_conn_info *c)
{
	static const unsigned wanted[] = {
		FUSE_CAP_ASYNC_READ,	   FUSE_CAP_ATOMIC_O_TRUNC,
		FUSE_CAP_AUTO_INVAL_DATA,  FUSE_CAP_READDIRPLUS,
		FUSE_CAP_READDIRPLUS_AUTO, FUSE_CAP_PARALLEL_DIROPS,
		FUSE_CAP_HANDLE_KILLPRIV};

	(void)userdata;
	/*
	 * Not the cache that writes back: with it the kernel no longer asks
	 * for a file's size and time, and what the host writes is not seen.
	 * Locks stay the kernel's.
	 */
	c->want = 0;
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		c->want |= c->capable & wanted[i];
}

static struct fuse_session *make_session(struct view *v, int fuse)
{
	struct fuse_lowlevel_ops ops = {.init = on_init};
	char name[] = "membrane-view", path[32];
	char *argv[] = {name, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_session *s;

	ops_names(&ops);
	ops_attr(&ops);
	ops_files(&ops);
	ops_dirs(&ops);
	s = fuse_session_new(&args, &ops, sizeof(ops), v);
	fuse_opt_free_args(&args);
	snprintf(path, sizeof(path), "/dev/fd/%d", fuse);
	if (s && fuse_session_mount(s, path) != 0) {
		fuse_session_destroy(s);
		return NULL;
	}
	return s;
}

/* Does every id have a name in this namespace? */
static bool maps_all(const char *path)
{
	unsigned inside = 1, outside = 0, n = 0;
	FILE *f = fopen(path, "re");
	bool ok = f && fscanf(f, "%u %u %u", &inside, &outside, &n) == 3 &&
		  inside == 0 && n == UINT32_MAX;

	if (f)
		fclose(f);
	return ok;
}

static unsigned other_id(const char *map, const char *overflow)
{
	unsigned id = UINT32_MAX;
	FILE *f = maps_all(map) ? NULL : fopen(overflow, "re");

	if (f) {
		if (fscanf(f, "%u", &id) != 1)
			id = UINT32_MAX;
		fclose(f);
	}
	return id;
}

/* What git's index has of what is not seen. */
static bool know_index(struct view *v, struct arena *a, const struct hello *h)
{
	if (!copies_init(&v->copies) || !outside_know(v, a, h))
		return false;
	copies_bound(&v->copies, COPIES_NAMES_MAX);
	return true;
}

/* A submodule's own configuration says where its files are on the host. */
static int set_files(struct view *v, struct arena *a, struct str files,
		     struct err *err)
{
	struct str text;
	int rc = fileio_read_inside(a, v->beside, STR(".git/config"),
				    VIEW_HELLO_CONFIG_MAX, &text, err);

	if (rc < 0)
		return err_while(err, "the submodule's configuration");
	text = arena_fmt(a, "%.*s%.*s", STR_ARG(text), STR_ARG(files));
	return aside_seed(v, VIEW_HELLO_BESIDE "/.git/config", text, true)
		       ? 0
		       : err_set(err, -EINVAL,
				 "the submodule's configuration cannot be kept aside");
}

/* A filter of the repository's own would go over the one that knows what is
 * hidden; nothing goes over these. */
static int set_attributes(struct view *v, struct arena *a, struct str lines,
			  struct err *err)
{
	bool beside = v->beside >= 0;
	struct str host = STR("");
	int rc = fileio_read_inside(a, beside ? v->beside : v->nodes.root.fd,
				    STR(VIEW_HELLO_ATTRIBUTES),
				    VIEW_HELLO_CONFIG_MAX, &host, err);

	if (rc < 0 && rc != -ENOENT)
		return err_while(err, "git's attributes");
	host = arena_fmt(a, "%.*s\n%.*s", STR_ARG(host), STR_ARG(lines));
	return aside_seed(v,
			  beside ? VIEW_HELLO_BESIDE "/" VIEW_HELLO_ATTRIBUTES
				 : VIEW_HELLO_ATTRIBUTES,
			  host, false)
		       ? 0
		       : err_set(err, -EINVAL,
				 "git's attributes cannot be kept aside");
}

static int set_aside(struct view *v, const struct serve *s, struct err *err)
{
	int rc = s->hello->module.n ? set_files(v, s->a, s->hello->module, err)
				    : 0;

	if (s->hello->part.n)
		return outside_read(v, s->a, s->hello, s->attributes,
				    s->exclude, err);
	return rc == 0 && s->hello->filtered
		       ? set_attributes(v, s->a, s->attributes, err)
		       : rc;
}

static int open_view(struct view *v, const struct serve *s, struct err *err)
{
	struct judge_rules rules = {.plan = s->plan,
				    .holds = s->hello->holds,
				    .hides = s->hello->hides,
				    .linked = s->hello->linked,
				    .readonly = s->hello->readonly,
				    .home = s->home,
				    .program = s->hello->program,
				    .folds = folds_case(s->source)};
	struct node *root = &v->nodes.root;

	*v = (struct view){.target = s->home ? STR(MOUNTS_PLAN_HOME)
					     : s->plan->target,
			   .home = s->home,
			   .who = s->who,
			   .at = s->hello->at,
			   .beside = s->beside,
			   .part = s->hello->part.n > 0,
			   .uid = s->hello->uid,
			   .gid = s->hello->gid};
	pthread_mutex_init(&v->lock, NULL);
	v->other_uid =
		other_id("/proc/self/uid_map", "/proc/sys/kernel/overflowuid");
	v->other_gid =
		other_id("/proc/self/gid_map", "/proc/sys/kernel/overflowgid");
	v->proc = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (v->proc < 0)
		return err_errno(err, "/proc/self/fd");
	if (!nodes_init(&v->nodes, s->source) || !know_index(v, s->a, s->hello))
		return err_set(err, -ENOMEM, "no memory for the view");
	v->judge = judge_new(s->a, &rules);
	root->below = judge_root(v->judge);
	root->word = judge_root_word(v->judge);
	root->dev = s->hello->dev;
	root->ino = s->hello->ino;
	v->nodes.watches = &v->watches;
	watches_open(&v->watches, root);
	vec_each(f, &s->hello->inodes)
		if (!hidden_add(&v->hidden, f))
			return err_set(err, -ENOMEM, "no memory for the view");
	return set_aside(v, s, err);
}

static int start_view(struct view *v, struct record *r, const struct serve *s,
		      struct err *err)
{
	int rc = open_view(v, s, err);

	v->record = r;
	r->fd = s->out;
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	crew.ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rc == 0 && (r->wake < 0 || crew.ended < 0))
		rc = err_errno(err, "eventfd");
	if (rc < 0)
		return rc;
	v->session = make_session(v, s->fuse);
	if (!v->session)
		return err_set(err, -EIO, "libfuse does not take the mount");
	crew.session = v->session;
	crew.view = v;
	crew.n = 1;
	return start_thread() ? 0 : err_set(err, -EAGAIN, "no thread");
}

/* --- the main thread ------------------------------------------------------ */

/* Tells what is due, until the end. */
static void watch_view(struct view *v, int control)
{
	struct pollfd p[] = {{control, POLLIN, 0},
			     {v->record->wake, POLLIN, 0},
			     {crew.ended, POLLIN, 0},
			     {v->watches.fd, POLLIN, 0}};
	uint64_t n;
	int wait_ms = -1;

	while (!p[0].revents && !p[2].revents) {
		if (poll(p, ARRAY_LEN(p), wait_ms) < 0 && errno != EINTR)
			break;
		if (p[3].revents)
			invalidate_changed(v);
		ignore(read(v->record->wake, &n, sizeof(n)));
		pthread_mutex_lock(&v->lock);
		wait_ms = record_tell(v->record, false);
		pthread_mutex_unlock(&v->lock);
	}
	pthread_mutex_lock(&v->lock);
	fcntl(v->record->fd, F_SETFL, 0);
	record_tell(v->record, true);
	kept_tell(v->record->fd, &v->copies);
}

int serve(const struct serve *s)
{
	static struct view v;
	static struct record record;
	struct rlimit files;
	struct err err = {0};
	int rc;

	/* Each folder that the kernel knows has a descriptor. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		ignore(setrlimit(RLIMIT_NOFILE, &files));
	}
	umask(0);
	fcntl(s->out, F_SETFL, O_NONBLOCK);
	rc = rights_of_owner(s->hello->uid, s->hello->gid, s->parent, &err);
	if (rc == 0)
		rc = start_view(&v, &record, s, &err);
	if (rc < 0) {
		say_error(s->out, &err);
		return 1;
	}
	/* What is asked of a home before waits. */
	if (!s->home)
		say_event(s->out, VIEW_SAYS_READY);
	watch_view(&v, s->control);
	return 0;
}
