/* Whose watch is whose: a folder has one, whatever names it has had. */
#include "runtime/view/watches.h"

#include "compiler/base/err.h"
#include "tests/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static struct nodes t;
static struct watches w;
static char top[] = "/tmp/membrane-watches-XXXXXX";
static int proc;

static struct node *known(const char *name)
{
	struct node *n = node_new(&t, &t.root, name);

	n->lookups = 1;
	n->dev = t.root.dev;
	n->fd = openat(t.root.fd, name, O_PATH | O_CLOEXEC);
	return n;
}

static void forget(struct node *n)
{
	n->lookups = 0;
	node_settle(&t, n);
}

/* What is heard of next: the watch. */
static int heard(void)
{
	_Alignas(struct inotify_event) char buf[4096];
	ssize_t n = read(w.fd, buf, sizeof(buf));

	return n > 0 ? ((struct inotify_event *)(void *)buf)->wd : 0;
}

static void a_folder_is_watched_once(void)
{
	struct node *a = known("a"), *b;
	int wd;

	CHECK(watches_add(&w, proc, a) && a->watch && w.n == 1);
	wd = a->watch;
	CHECK(watches_add(&w, proc, a) && a->watch == wd && w.n == 1);
	CHECK(watches_find(&w, wd) == a && heard() == 0);
	CHECK(mkdirat(a->fd, "x", 0700) == 0 && heard() == wd);
	/* Under another name it is another node. */
	CHECK(renameat(t.root.fd, "a", t.root.fd, "b") == 0);
	b = known("b");
	CHECK(watches_add(&w, proc, b) && b->watch == wd && a->watch == 0);
	CHECK(watches_find(&w, wd) == b && w.n == 1);
	forget(a);
	CHECK(unlinkat(b->fd, "x", AT_REMOVEDIR) == 0 && heard() == wd);
	forget(b);
	CHECK(w.n == 0 && !watches_find(&w, wd));
}

static void there_is_a_bound(void)
{
	struct node *b = known("b"), *c = known("c");
	uint32_t max = w.max;

	w.max = 1;
	CHECK(watches_add(&w, proc, b) && !watches_add(&w, proc, c));
	CHECK(c->watch == 0 && w.n == 1);
	forget(b);
	CHECK(watches_add(&w, proc, c));
	forget(c);
	w.max = max;
}

static void elsewhere_nothing_is_heard_of(void)
{
	struct node *b = known("b"), *far = known("c");

	far->dev++;
	CHECK(!watches_add(&w, proc, far) && w.n == 0);
	forget(far);
	watches_close(&w);
	CHECK(!watches_add(&w, proc, b) && !watches_find(&w, 1));
	forget(b);
}

int main(void)
{
	struct stat st;

	if (!mkdtemp(top) || !nodes_init(&t, open(top, O_PATH | O_CLOEXEC)) ||
	    fstat(t.root.fd, &st) < 0 || mkdirat(t.root.fd, "a", 0700) < 0 ||
	    mkdirat(t.root.fd, "c", 0700) < 0)
		return 1;
	proc = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	t.root.dev = st.st_dev;
	t.watches = &w;
	watches_open(&w, &t.root);
	a_folder_is_watched_once();
	there_is_a_bound();
	elsewhere_nothing_is_heard_of();
	unlinkat(t.root.fd, "b", AT_REMOVEDIR);
	unlinkat(t.root.fd, "c", AT_REMOVEDIR);
	nodes_done(&t);
	close(proc);
	rmdir(top);
	return check_status();
}
