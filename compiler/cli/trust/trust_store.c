#include "compiler/cli/trust/trust_store.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/cli/trust/contribution.h"
#include "compiler/ir/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME	"trust.json"
#define VERSION 2
#define OLDER	1

const char *trust_store_path(struct arena *a, const char *state)
{
	return arena_fmt(a, "%s/" NAME, state).p;
}

/* --- safe from others ---------------------------------------------------- */

static int refuse_unsafe(const char *path, const struct stat *st, uid_t owner,
			 struct err *err)
{
	if (!fileio_may_obey(st->st_uid, owner))
		return err_set(
			err, -EPERM,
			"%s belongs to user %u, and not to %u: what it says does not count",
			path, (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & 022)
		return err_set(
			err, -EPERM,
			"%s can be written by others (mode %04o): look at it, then 'chmod go-w' it, or remove it",
			path, (unsigned)st->st_mode & 07777);
	return 0;
}

/* The folder, open; *out is -1 when there is none. */
static int open_state(const char *state, int *out, struct err *err)
{
	auto_fd int fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	*out = -1;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, -errno, "%s: %s", state, strerror(errno));
	if (refuse_unsafe(state, &st, st.st_uid, err) < 0)
		return err->code;
	*out = fd;
	fd = -1;
	return 0;
}

/* Waits for whoever holds it; goes with the descriptor. */
static int lock_state(int dir, int how, const char *state, struct err *err)
{
	while (flock(dir, how) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "%s: %s", state,
				       strerror(errno));
	return 0;
}

/* *out->p is NULL when there is no file. */
static int read_text(struct arena *a, int dir, const char *path,
		     struct str *out, struct err *err)
{
	struct stat st, of_dir;
	int rc;

	*out = (struct str){0};
	if (fstatat(dir, NAME, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return 0;
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	if (S_ISLNK(st.st_mode))
		return err_set(err, -EPERM,
			       "%s is a link: what is behind it does not count",
			       path);
	if (fstat(dir, &of_dir) < 0)
		return err_errno(err, path);
	if (refuse_unsafe(path, &st, of_dir.st_uid, err) < 0)
		return err->code;
	rc = fileio_read(a, dir, NAME, LIMIT_TRUST_BYTES, out, err);
	if (rc == -EACCES)
		return err_set(
			err, rc,
			"%s belongs to user %u and cannot be read: 'sudo chown' it, or remove it and approve again",
			path, (unsigned)st.st_uid);
	return rc < 0 ? err_while(err, "%s", path) : 0;
}

/* --- text to entries ----------------------------------------------------- */

static bool has_only_names(const cJSON *object, const char *const *names,
			   size_t n)
{
	const cJSON *m;
	size_t found = 0;

	if (!cJSON_IsObject(object))
		return false;
	cJSON_ArrayForEach(m, object) {
		size_t i = 0;

		while (i < n && strcmp(m->string, names[i]) != 0)
			i++;
		if (i == n)
			return false;
		found++;
	}
	return found == n; /* a name that is there twice leaves one out */
}

static bool read_texts(struct arena *a, const cJSON *object, const char *name,
		       ir_texts *out)
{
	const cJSON *list, *item;

	if (!json_get_array(object, name, &list) ||
	    cJSON_GetArraySize(list) > (int)LIMIT_TRUST_ADDS)
		return false;
	cJSON_ArrayForEach(item, list) {
		if (!cJSON_IsString(item))
			return false;
		vec_push(a, out)->s = arena_str(a, str_of(item->valuestring));
	}
	return true;
}

/* Whose, and when: all that an older one is. */
static bool read_head(struct arena *a, const cJSON *object,
		      struct trust_entry *e)
{
	*e = (struct trust_entry){0};
	if (!json_get_str(object, "workspace", &e->workspace) ||
	    !json_get_str(object, "when", &e->when) ||
	    !str_starts(e->workspace, STR("/")))
		return false;
	e->workspace = arena_str(a, e->workspace);
	e->when = arena_str(a, e->when);
	return true;
}

/* Of version 1 without cuts. */
static bool read_entry(struct arena *a, const cJSON *object, bool older,
		       struct trust_entry *e)
{
	static const char *const names[] = {"workspace", "digest", "when",
					    "adds",	 "more",   "cuts"};

	if (!has_only_names(object, names, ARRAY_LEN(names) - older) ||
	    !read_head(a, object, e) ||
	    !json_get_str(object, "digest", &e->digest) ||
	    !sha256_is_hex(e->digest) ||
	    !read_texts(a, object, "adds", &e->adds) ||
	    (!older && !read_texts(a, object, "cuts", &e->cuts)) ||
	    !json_get_u64(object, "more", UINT32_MAX, &e->more))
		return false;
	e->digest = arena_str(a, e->digest);
	return true;
}

static bool read_list(const cJSON *root, const char *name, const cJSON **out)
{
	return json_get_array(root, name, out) &&
	       cJSON_GetArraySize(*out) <= (int)LIMIT_TRUST_ENTRIES;
}

/* As it was: none of it counts. */
static bool read_version_1(struct arena *a, const cJSON *root,
			   struct trust_store *out)
{
	static const char *const names[] = {"version", "approved"};
	const cJSON *list, *item;

	if (!has_only_names(root, names, ARRAY_LEN(names)) ||
	    !read_list(root, "approved", &list))
		return false;
	cJSON_ArrayForEach(item, list) {
		struct trust_entry e;

		if (!read_entry(a, item, true, &e))
			return false;
		*vec_push(a, &out->older) = (struct trust_entry){
			.workspace = e.workspace, .when = e.when};
	}
	return true;
}

static bool read_entries(struct arena *a, const cJSON *root,
			 struct trust_store *out)
{
	static const char *const names[] = {"version", "approved", "older"};
	static const char *const of_older[] = {"workspace", "when"};
	const cJSON *list, *older, *item;
	uint64_t version;

	if (!cJSON_IsObject(root) ||
	    !json_get_u64(root, "version", UINT32_MAX, &version))
		return false;
	if (version == OLDER)
		return read_version_1(a, root, out);
	if (version != VERSION ||
	    !has_only_names(root, names, ARRAY_LEN(names)) ||
	    !read_list(root, "approved", &list) ||
	    !read_list(root, "older", &older))
		return false;
	cJSON_ArrayForEach(item, list)
		if (!read_entry(a, item, false, vec_push(a, &out->entries)))
			return false;
	cJSON_ArrayForEach(item, older)
		if (!has_only_names(item, of_older, ARRAY_LEN(of_older)) ||
		    !read_head(a, item, vec_push(a, &out->older)))
			return false;
	return true;
}

int trust_store_parse(struct arena *a, const char *path, struct str text,
		      struct trust_store *out, struct err *err)
{
	cJSON *root;
	bool ok = false;

	*out = (struct trust_store){0};
	root = cJSON_ParseWithLengthOpts(arena_cstr(a, text), text.n + 1, NULL,
					 true);
	ok = root && read_entries(a, root, out);
	cJSON_Delete(root);
	if (ok)
		return 0;
	*out = (struct trust_store){0};
	return err_set(
		err, -EBADMSG,
		"%s is not what this membrane writes, so it counts for nothing and stays as it is: mend it, or remove it and approve again",
		path);
}

int trust_store_read(struct arena *a, const char *state,
		     struct trust_store *out, struct err *err)
{
	const char *path = trust_store_path(a, state);
	auto_fd int dir = -1;
	struct str text;

	*out = (struct trust_store){0};
	if (open_state(state, &dir, err) < 0)
		return err->code;
	if (dir < 0)
		return 0;
	if (lock_state(dir, LOCK_SH, state, err) < 0 ||
	    read_text(a, dir, path, &text, err) < 0 ||
	    (text.p && trust_store_parse(a, path, text, out, err) < 0))
		return err->code;
	return 0;
}

const struct trust_entry *trust_store_find(const struct trust_store *s,
					   struct str workspace,
					   struct str digest)
{
	vec_each(e, &s->entries)
		if (str_eq(e->workspace, workspace) &&
		    str_eq(e->digest, digest))
			return e;
	return NULL;
}

static bool has_text(const ir_texts *list, struct str s)
{
	vec_each(t, list)
		if (str_eq(t->s, s))
			return true;
	return false;
}

/* Are its texts all there was, whole? Only then do they make the digest. */
static bool is_whole(struct arena *a, const struct trust_entry *e)
{
	char digest[SHA256_HEX_MAX];

	contribution_digest(a, &e->adds, &e->cuts, digest);
	return str_is(e->digest, digest);
}

const struct trust_entry *trust_store_within(struct arena *a,
					     const struct trust_store *s,
					     struct str workspace,
					     const ir_texts *adds,
					     const ir_texts *cuts)
{
	vec_each(e, &s->entries) {
		bool all = true;

		if (!str_eq(e->workspace, workspace) ||
		    !ir_texts_same(&e->adds, adds))
			continue;
		vec_each(t, &e->cuts)
			all &= has_text(cuts, t->s);
		if (all && is_whole(a, e))
			return e;
	}
	return NULL;
}

const struct trust_entry *trust_store_older(const struct trust_store *s,
					    struct str workspace)
{
	const struct trust_entry *found = NULL;

	vec_each(e, &s->older)
		if (str_eq(e->workspace, workspace))
			found = e;
	return found;
}

/* --- entries to text ----------------------------------------------------- */

static cJSON *texts_json(const ir_texts *texts)
{
	cJSON *out = json_array();

	vec_each(t, texts)
		json_push_str(out, t->s);
	return out;
}

/* What is older has no digest. */
static cJSON *head_json(const struct trust_entry *e)
{
	cJSON *o = json_object();

	json_put_str(o, "workspace", e->workspace);
	if (e->digest.n)
		json_put_str(o, "digest", e->digest);
	json_put_str(o, "when", e->when);
	return o;
}

static int write_store(struct arena *a, int dir, const char *path,
		       const struct trust_store *s, struct err *err)
{
	uint32_t from = s->entries.n > LIMIT_TRUST_ENTRIES
				? s->entries.n - LIMIT_TRUST_ENTRIES
				: 0;
	cJSON *root = json_object(), *list = json_array();
	cJSON *older = json_array();

	for (uint32_t i = from; i < s->entries.n; i++) {
		const struct trust_entry *e = &s->entries.v[i];
		cJSON *o = head_json(e);

		json_put(o, "adds", texts_json(&e->adds));
		json_put(o, "cuts", texts_json(&e->cuts));
		json_put_u64(o, "more", e->more);
		json_push(list, o);
	}
	vec_each(e, &s->older)
		json_push(older, head_json(e));
	json_put_u64(root, "version", VERSION);
	json_put(root, "approved", list);
	json_put(root, "older", older);
	if (fileio_write(dir, NAME, json_text(a, root), 0600, err) < 0)
		return err_while(err, "%s", path);
	return 0;
}

/* Folder made, open and locked, and what the file says now. */
static int begin_change(struct arena *a, const char *state, int *out_dir,
			struct trust_store *out, struct err *err)
{
	auto_fd int dir = -1;
	struct str text;

	*out = (struct trust_store){0};
	if (fileio_mkdirs(state, 0700, err) < 0 ||
	    open_state(state, &dir, err) < 0)
		return err->code;
	if (dir < 0)
		return err_set(err, -ENOENT, "%s: gone", state);
	if (lock_state(dir, LOCK_EX, state, err) < 0)
		return err->code;
	fileio_remove_unfinished(dir, NAME);
	if (read_text(a, dir, trust_store_path(a, state), &text, err) < 0 ||
	    (text.p && trust_store_parse(a, trust_store_path(a, state), text,
					 out, err) < 0))
		return err->code;
	*out_dir = dir;
	dir = -1;
	return 0;
}

static bool is_utf8(struct str s)
{
	for (size_t i = 0, n; i < s.n; i += n) {
		n = str_utf8(s, i);
		if (n == 0)
			return false;
	}
	return true;
}

static struct str now_text(struct arena *a)
{
	time_t t = time(NULL);
	char text[32];
	struct tm tm;

	if (!gmtime_r(&t, &tm) ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return STR("?");
	return arena_str(a, str_of(text));
}

/* All but those of the workspace, or but the one with this digest; of those
 * that are older, all of the workspace. */
static uint32_t forget_entries(struct trust_store *s, struct str workspace,
			       const struct str *digest)
{
	uint32_t n = 0, before = s->entries.n;

	vec_each(e, &s->entries)
		if (!str_eq(e->workspace, workspace) ||
		    (digest && !str_eq(e->digest, *digest)))
			s->entries.v[n++] = *e;
	s->entries.n = n;
	n = before - n;
	before = 0;
	vec_each(e, &s->older)
		if (!str_eq(e->workspace, workspace))
			s->older.v[before++] = *e;
	s->older.n = before;
	return n;
}

/* For people: what is approved is the digest. */
static struct str cut_text(struct arena *a, struct str text)
{
	size_t n = LIMIT_TRUST_TEXT;

	if (text.n <= n)
		return text;
	while (n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	return arena_fmt(a, "%.*s…", (int)n, text.p);
}

/* How many were too many. */
static uint32_t keep_texts(struct arena *a, const ir_texts *from, ir_texts *to)
{
	vec_each(t, from)
		if (to->n < LIMIT_TRUST_ADDS)
			vec_push(a, to)->s = cut_text(a, t->s);
	return from->n - to->n;
}

int trust_store_add(struct arena *a, const char *state, struct str workspace,
		    struct str digest, const ir_texts *adds,
		    const ir_texts *cuts, struct err *err)
{
	auto_fd int dir = -1;
	struct trust_store s;
	struct trust_entry *e;

	if (!is_utf8(workspace))
		return err_set(
			err, -EILSEQ,
			"the workspace's path is not UTF-8, and cannot be written down");
	if (begin_change(a, state, &dir, &s, err) < 0)
		return err->code;
	forget_entries(&s, workspace, &digest);
	e = vec_push(a, &s.entries);
	*e = (struct trust_entry){
		.workspace = workspace, .digest = digest, .when = now_text(a)};
	e->more = keep_texts(a, adds, &e->adds);
	(void)keep_texts(a, cuts, &e->cuts);
	return write_store(a, dir, trust_store_path(a, state), &s, err);
}

int trust_store_revoke(struct arena *a, const char *state, struct str workspace,
		       uint32_t *out, struct err *err)
{
	auto_fd int dir = -1;
	struct trust_store s;
	uint32_t n, older;

	if (begin_change(a, state, &dir, &s, err) < 0)
		return err->code;
	older = s.older.n;
	n = forget_entries(&s, workspace, NULL);
	if ((n || s.older.n < older) &&
	    write_store(a, dir, trust_store_path(a, state), &s, err) < 0)
		return err->code;
	*out = n;
	return 0;
}
