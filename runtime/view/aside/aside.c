#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* --- what is there -------------------------------------------------------- */

struct copy *aside_at(const struct view *v, const struct node *dir,
		      const char *name)
{
	char path[VIEW_PATH_MAX];

	if (!v->copies.root.first ||
	    node_path(dir, name, path, sizeof(path)) == 0)
		return NULL;
	return copies_find(&v->copies, path);
}

struct copy *aside_of(const struct view *v, const struct node *folder)
{
	if (!folder->parent)
		return (struct copy *)(uintptr_t)&v->copies.root;
	return folder->orphan ? NULL : aside_at(v, folder, NULL);
}

const struct statx *aside_tracked(const struct view *v, const struct node *n)
{
	const struct copy *c = n->orphan ? NULL : aside_at(v, n, NULL);

	return c && c->kind == COPY_TRACKED ? c->data->husk : NULL;
}

static int look_data(const struct copy_data *d, mode_t type, struct statx *x)
{
	int rc;

	if (d->husk) {
		*x = *d->husk;
		return 0;
	}
	rc = view_look(d->fd, "", x);
	x->stx_mode = (uint16_t)(type | (x->stx_mode & 07777));
	x->stx_nlink = S_ISDIR(type) ? 2 : 1;
	return rc;
}

int aside_look(const struct copy *c, struct statx *x)
{
	if (!c)
		return ENOENT;
	switch (c->kind) {
	case COPY_FILE:
	case COPY_HUSK:
		return look_data(c->data, S_IFREG, x);
	case COPY_LINK:
		return look_data(c->data, S_IFLNK, x);
	case COPY_FOLDER:
		return look_data(c->data, S_IFDIR, x);
	case COPY_NONE:
	case COPY_TRACKED:
	case COPY_GONE:
		break;
	}
	return ENOENT;
}

struct copy_data *aside_data(const struct view *v, const struct node *n)
{
	struct copy *c = n->orphan ? NULL : aside_at(v, n, NULL);
	struct statx x;

	if (copy_is_made(c) && aside_look(c, &x) == 0 && view_is_same(n, &x))
		return c->data;
	for (struct handle *h = n->open; h; h = h->next)
		if (h->data)
			return h->data;
	return NULL;
}

int aside_stat(const struct view *v, const struct node *n, struct statx *x)
{
	const struct copy_data *d = aside_data(v, n);

	return d ? look_data(d, n->type, x) : ESTALE;
}

/* --- locks ---------------------------------------------------------------- */

static bool is_file(const struct hidden_file *a, const struct hidden_file *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born_s == b->born_s &&
	       a->born_ns == b->born_ns;
}

/* As long as its name is that file's: who removes or renames it lets go. */
static bool is_held(const struct view_lock *l)
{
	struct hidden_file f;
	struct statx x;

	if (!l->used || view_look(l->dir, VIEW_LOCK_NAME, &x))
		return false;
	f = view_identity(&x);
	return is_file(&f, &l->file);
}

bool aside_is_locked(struct view *v)
{
	bool held = false;

	for (size_t i = 0; i < ARRAY_LEN(v->locks) && !held; i++) {
		struct view_lock *l = &v->locks[i];

		held = is_held(l);
		if (held || !l->used)
			continue;
		close(l->dir);
		l->used = false;
	}
	return held;
}

void aside_note(struct view *v, const struct node *dir, const char *name,
		int fd)
{
	struct statx x, head;
	int own;

	if (strcmp(name, VIEW_LOCK_NAME) != 0 ||
	    view_look(dir->fd, "HEAD", &head) || view_look(fd, "", &x))
		return;
	for (size_t i = 0; i < ARRAY_LEN(v->locks); i++) {
		struct view_lock *l = &v->locks[i];

		if (is_held(l))
			continue;
		own = fcntl(dir->fd, F_DUPFD_CLOEXEC, 3);
		if (own < 0)
			return;
		if (l->used)
			close(l->dir);
		*l = (struct view_lock){
			.used = true, .dir = own, .file = view_identity(&x)};
		return;
	}
}

/* --- what may be ---------------------------------------------------------- */

bool aside_hides(struct view *v, struct node *dir, const char *name,
		 bool is_dir)
{
	struct judge_word word;

	if (view_fresh(v, dir))
		return false;
	word = view_judge_new(v, dir, name, is_dir);
	return word.state == JUDGE_HIDDEN && view_may_open(word) &&
	       aside_is_locked(v);
}

/* Of a lock of a configuration that is held: what it locks. */
static bool locks_config(struct view *v, struct node *dir, const char *name)
{
	static const char *const names[] = {"config", "config.worktree"};
	size_t n = strlen(name);

	if (n < 5 || strcmp(name + n - 5, ".lock") != 0 || dir->fd < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == n - 5 &&
		    strncmp(name, names[i], n - 5) == 0)
			return view_holds(v, dir, names[i]);
	return false;
}

bool aside_may_create(struct view *v, struct node *dir, const char *name)
{
	return aside_hides(v, dir, name, false) ||
	       (view_fresh(v, dir) == 0 && locks_config(v, dir, name));
}

bool aside_is_index(const struct copy *c)
{
	return c && c->data && c->data->husk && c->given;
}

bool aside_may_remove(struct view *v, struct node *dir, const char *name,
		      bool is_dir)
{
	const struct copy *c;

	if (view_fresh(v, dir))
		return false;
	c = aside_at(v, dir, name);
	return copy_is_made(c) && !aside_is_index(c)
		       ? !c->config
		       : aside_hides(v, dir, name, is_dir);
}
