#include "runtime/launch/mounts/overlap.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/pathwalk.h"
#include "runtime/launch/mounts/freeze.h"
#include "runtime/launch/mounts/placeholders.h"
#include "runtime/launch/mounts/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#define REACH_BYTES (4u << 20)
#define REACH_HEAD  "membrane-reach 1"
#define TREE_TARGET "/workspace"

static const char *const kinds[] = {"folder", "tree", "name"};

/* Another session of this state folder that lives. */
struct other {
	struct session session;
	overlap_roots roots;
	bool starting;
};
typedef VEC(struct other) others;

bool overlap_harms(const struct overlap_root *w, const struct overlap_root *s)
{
	if (!w->writable)
		return false;
	if (w->moved || s->moved || place_is_above(&w->at, &s->at))
		return true;
	switch (s->kind) {
	case OVERLAP_FOLDER:
		return false;
	case OVERLAP_TREE:
		return place_same(&w->at.self, &s->at.self) ||
		       place_is_above(&s->at, &w->at);
	case OVERLAP_NAME:
		return place_same(&w->at.self, &s->at.self);
	}
	return true;
}

static bool harms_any(const overlap_roots *writers, const overlap_roots *mounts)
{
	vec_each(w, writers)
		vec_each(s, mounts)
			if (overlap_harms(w, s))
				return true;
	return false;
}

/* --- where they are --------------------------------------------------------
 */

/* What is there is not looked at as a name, but as the folder it is. */
static int find_folder(struct arena *a, const mountinfo_list *own, int fd,
		       struct overlap_root *r, struct err *err)
{
	int rc = place_find(a, fd, &r->at, err);

	if (rc == 0)
		place_locate(a, own, fd, &r->at);
	return rc;
}

/* Again, by its path: of another session's, or what Docker says. */
static int find_again(struct arena *a, const mountinfo_list *own,
		      struct overlap_root *r, struct err *err)
{
	auto_fd int fd = open(r->path, O_PATH | O_CLOEXEC);

	return fd < 0 ? err_errno(err, r->path)
		      : find_folder(a, own, fd, r, err);
}

struct finder {
	struct overlap *o;
	const mountinfo_list *own;
};

/* Something in the folder dirfd, under a name, decides what is mounted. */
static int add_name(struct finder *f, int dirfd, struct str path,
		    struct err *err)
{
	struct arena *a = f->o->a;
	struct str in = str_parent(path);
	struct overlap_root r = {
		.path = in.n ? arena_cstr(a, in) : "/",
		.kind = OVERLAP_NAME,
	};
	int rc = find_folder(a, f->own, dirfd, &r, err);

	if (rc == 0)
		*vec_push(a, &f->o->roots) = r;
	return rc;
}

static int on_link(void *ctx, int dirfd, struct str path, struct err *err)
{
	return add_name(ctx, dirfd, path, err);
}

static int find_source(struct finder *f, const struct bind *b, struct err *err)
{
	struct pathwalk walk = {.on_link = on_link, .ctx = f};
	struct pathwalk_end end;
	struct overlap_root r = {
		.writable = !b->readonly,
		.kind = strcmp(b->target, TREE_TARGET) == 0 ? OVERLAP_TREE
							    : OVERLAP_FOLDER,
	};
	auto_fd int fd = -1;
	int rc = pathwalk_find(f->o->a, &walk, AT_FDCWD, b->source, &end, err);

	if (rc < 0)
		return rc;
	r.path = arena_cstr(f->o->a, end.path);
	if (!end.exists || !S_ISDIR(end.st.st_mode)) {
		rc = add_name(f, end.dir_fd, end.path, err);
		fd_close(&end.dir_fd);
		return rc;
	}
	fd = openat(end.dir_fd, end.name,
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	fd_close(&end.dir_fd);
	if (fd < 0)
		return err_errno(err, b->source);
	rc = find_folder(f->o->a, f->own, fd, &r, err);
	if (rc == 0)
		*vec_push(f->o->a, &f->o->roots) = r;
	return rc;
}

/* What the user cannot reach no agent of theirs can change. */
static int find_roots(struct overlap *o, const mountinfo_list *own,
		      const bind_list *binds, struct err *err)
{
	struct finder f = {.o = o, .own = own};

	o->roots.n = 0;
	vec_each(b, binds) {
		int rc = find_source(&f, b, err);

		if (rc < 0 && (strcmp(b->target, TREE_TARGET) == 0 ||
			       (rc != -ENOENT && rc != -EACCES)))
			return rc;
	}
	return 0;
}

/* --- the record ------------------------------------------------------------
 */

static const char *reach_of(struct arena *a, const struct session *s)
{
	return arena_fmt(a, "%s/reach", s->dir).p;
}

/* The caller has FREEZE_LOCK: nobody reads half of it. */
static int write_reach(struct overlap *o, struct err *err)
{
	const char *path = reach_of(o->a, o->session);
	struct buf b;
	int rc;

	buf_init(&b, o->a);
	buf_adds(&b, REACH_HEAD "\n");
	vec_each(r, &o->roots) {
		buf_addf(&b, "%s %s %llu %llu ", r->writable ? "rw" : "ro",
			 kinds[r->kind], (unsigned long long)r->at.self.dev,
			 (unsigned long long)r->at.self.ino);
		journal_add_path(&b, str_of(r->path));
		buf_addc(&b, '\n');
	}
	o->reach = fileio_create(AT_FDCWD, path, O_RDWR | O_TRUNC, 0600);
	if (o->reach < 0)
		return err_errno(err, path);
	rc = flock(o->reach, LOCK_EX | LOCK_NB) < 0
		     ? err_errno(err, path)
		     : fileio_write_all(o->reach, buf_str(&b), err);
	if (rc < 0) {
		fd_close(&o->reach);
		o->reach = -1;
	}
	return rc;
}

static bool parse_root(struct arena *a, struct str line, struct overlap_root *r,
		       struct place_id *was)
{
	struct str word = STR(""), kind = STR(""), dev, ino, path;

	if (!str_field(&line, ' ', &word) || !str_field(&line, ' ', &kind) ||
	    !str_field(&line, ' ', &dev) || !str_field(&line, ' ', &ino) ||
	    !str_u64(dev, UINT64_MAX, &was->dev) ||
	    !str_u64(ino, UINT64_MAX, &was->ino) ||
	    !journal_read_path(a, line, &path))
		return false;
	r->writable = !str_is(word, "ro");
	r->kind = OVERLAP_TREE;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_is(kind, kinds[i]))
			r->kind = (enum overlap_kind)i;
	r->path = arena_cstr(a, path);
	return true;
}

/* False: it cannot be told, and must be taken for everything. */
static bool read_reach(struct arena *a, const mountinfo_list *own,
		       const struct session *s, overlap_roots *out)
{
	struct str text, line;
	struct err ignored;

	if (fileio_read(a, AT_FDCWD, reach_of(a, s), REACH_BYTES, &text,
			&ignored) < 0 ||
	    !str_line(&text, &line) || !str_is(line, REACH_HEAD))
		return false;
	while (str_line(&text, &line)) {
		struct overlap_root r = {0};
		struct place_id was;

		if (!parse_root(a, line, &r, &was))
			return false;
		r.moved = find_again(a, own, &r, &ignored) < 0 ||
			  !place_same(&was, &r.at.self);
		*vec_push(a, out) = r;
	}
	return true;
}

static bool is_locked(const char *path)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 &&
	       errno == EWOULDBLOCK;
}

/* Those that have a record: others have not come to start their agent. */
static int find_others(struct overlap *o, const mountinfo_list *own,
		       others *out, struct err *err)
{
	sessions all = {0};
	int rc = session_list(o->a, o->state, &all, err);

	if (rc < 0)
		return rc;
	vec_each(s, &all) {
		const char *lock = arena_fmt(o->a, "%s/lock", s->dir).p;
		struct other x = {.session = *s};

		if (strcmp(s->id, o->session->id) == 0 ||
		    access(lock, F_OK) < 0 ||
		    access(reach_of(o->a, s), F_OK) < 0)
			continue;
		if (!read_reach(o->a, own, s, &x.roots))
			*vec_push(o->a, &x.roots) = (struct overlap_root){
				.path = "?", .writable = true, .moved = true};
		x.starting = is_locked(reach_of(o->a, s));
		*vec_push(o->a, out) = x;
	}
	return 0;
}

/* --- who runs ---------------------------------------------------------------
 */

/* By what Docker was told to mount: a path that is not there says nothing. */
static bool may_write(struct overlap *o, const mountinfo_list *own,
		      const struct docker_container *c)
{
	overlap_roots roots = {0};
	struct err ignored;

	vec_each(path, &c->writes) {
		struct overlap_root r = {.path = *path, .writable = true};

		r.moved = find_again(o->a, own, &r, &ignored) == -ENOENT;
		if (r.moved || r.at.self.ino)
			*vec_push(o->a, &roots) = r;
	}
	return harms_any(&roots, &o->roots);
}

static bool is_in_the_way(struct overlap *o, const mountinfo_list *own,
			  const others *list, const struct docker_container *c)
{
	if (strcmp(c->session, o->session->id) == 0)
		return false;
	vec_each(x, list)
		if (strcmp(x->session.id, c->session) == 0)
			return harms_any(&x->roots, &o->roots);
	return may_write(o, own, c);
}

static int refuse_overlap(const char *session, struct err *err)
{
	struct err why = *err;

	return err_set(
		err, why.code,
		"session %s works in the same folders, and its agent cannot be stopped while this one starts (%s): end it first (membrane stop %s), or start this one in a folder apart",
		session, why.text, session);
}

/* Names in a workspace that is viewed are nobody's to resolve. */
static bool harms_names(const overlap_roots *writers, const struct overlap *o)
{
	vec_each(w, writers)
		vec_each(r, &o->roots) {
			struct overlap_root s = *r;

			if (o->views && s.kind == OVERLAP_TREE)
				s.kind = OVERLAP_FOLDER;
			if (overlap_harms(w, &s))
				return true;
		}
	return false;
}

/* An agent of the native engine's goes on, whatever starts beside it. */
static int check_native(struct overlap *o, struct other *x, struct err *err)
{
	struct err ignored;
	int rc;

	if (!session_is_native(&x->session) || !harms_names(&x->roots, o))
		return 0;
	rc = session_take(&x->session, &ignored);
	session_release(&x->session, false);
	if (rc != SESSION_ALIVE)
		return 0;
	(void)err_set(err, -EBUSY,
		      "it is one of the native engine, which stops none");
	return refuse_overlap(x->session.id, err);
}

/* How many were stopped; or 1 when one would have to be, and may not. */
static int stop_agents(struct overlap *o, struct docker *d,
		       const mountinfo_list *own, const others *list,
		       bool may_stop, bool *out_again, struct err *err)
{
	docker_containers run = {0};
	int rc = docker_list_agents(d, &run, err);

	*out_again = false;
	vec_each(c, &run) {
		if (rc < 0 || !is_in_the_way(o, own, list, c))
			continue;
		if (!may_stop)
			return 1;
		rc = freeze_agent(o->a, d, o->state, o->session, c, err);
		if (rc < 0)
			return refuse_overlap(c->session, err);
		*out_again |= strcmp(c->state, "paused") != 0;
	}
	return rc;
}

/* --- beginning and end -----------------------------------------------------
 */

static int look_around(struct overlap *o, struct docker *d,
		       const bind_list *binds, bool may_stop, struct err *err)
{
	mountinfo_list own = {0};
	struct err ignored;
	bool again = true;
	int rc = 0;

	if (place_mounts(o->a, "self", &own, &ignored) < 0)
		own.n = 0; /* names alone, then */
	/* until nobody runs who could have moved what was just looked at */
	while (rc == 0 && again) {
		others list = {0};

		rc = find_roots(o, &own, binds, err);
		if (rc == 0)
			rc = find_others(o, &own, &list, err);
		vec_each(x, &list)
			if (rc == 0 && x->starting &&
			    (harms_any(&x->roots, &o->roots) ||
			     harms_any(&o->roots, &x->roots)))
				return 1;
		vec_each(x, &list)
			if (rc == 0)
				rc = check_native(o, x, err);
		if (rc == 0)
			rc = stop_agents(o, d, &own, &list, may_stop, &again,
					 err);
	}
	return rc;
}

int overlap_begin(struct overlap *o, struct docker *d, const bind_list *binds,
		  bool may_stop, struct err *err)
{
	auto_fd int lock = -1;
	int rc = placeholders_lock_file(o->state, FREEZE_LOCK, &lock, err);

	if (rc == 0)
		rc = look_around(o, d, binds, may_stop, err);
	return rc == 0 ? write_reach(o, err) : rc;
}

int overlap_note(struct overlap *o, const bind_list *binds, struct err *err)
{
	bind_list writes = {0};
	mountinfo_list own = {0};
	others list = {0};
	auto_fd int lock = -1;
	int rc = placeholders_lock_file(o->state, FREEZE_LOCK, &lock, err);

	vec_each(b, binds)
		if (!b->readonly)
			*vec_push(o->a, &writes) = *b;
	if (rc == 0)
		rc = place_mounts(o->a, "self", &own, err);
	if (rc == 0)
		rc = find_roots(o, &own, &writes, err);
	if (rc == 0)
		rc = find_others(o, &own, &list, err);
	vec_each(x, &list)
		if (rc == 0 && x->starting && harms_any(&o->roots, &x->roots))
			return 1;
	if (rc == 0)
		rc = write_reach(o, err);
	/* nobody has to wait for this one */
	fd_close(&o->reach);
	o->reach = -1;
	return rc;
}

int overlap_end(struct overlap *o, struct docker *d, struct err *err)
{
	fd_close(&o->reach);
	o->reach = -1;
	return d ? freeze_thaw(o->a, d, o->state, o->session, err) : 0;
}
