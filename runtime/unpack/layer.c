/*
 * One layer over those below it: image-spec, layer.md.
 */
#include "runtime/unpack/parts.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK	 (64u << 10)
#define WHITEOUT ".wh."
#define OPAQUE	 ".wh..wh..opq"
#define RIGHTS	 0777

struct layer {
	struct arena *a; /* for one entry */
	struct archive *outer;
	const struct tree *tree;
	struct layer_bounds *left;
	char bytes[CHUNK];
	struct err *err;
};

static la_ssize_t on_read(struct archive *a, void *ctx, const void **out)
{
	struct layer *l = ctx;
	la_ssize_t n = archive_read_data(l->outer, l->bytes, sizeof(l->bytes));

	if (n < 0)
		archive_set_error(a, EIO, "%s",
				  archive_error_string(l->outer));
	*out = l->bytes;
	return n;
}

/* Names in an archive are anybody's. */
static int fail_entry(const struct layer *l, struct archive_entry *e, int rc,
		      const char *what)
{
	const char *name = archive_entry_pathname(e);
	bool plain = name && str_printable(str_of(name));

	return err_set(l->err, rc, "%s%.200s%s: %s", plain ? "'" : "an entry",
		       plain ? name : "", plain ? "'" : "", what);
}

/* --- what it adds ----------------------------------------------------------- */

static int copy_data(const struct layer *l, struct archive *in,
		     struct archive_entry *e, int fd)
{
	const void *bytes;
	size_t n;
	la_int64_t at;
	int rc;

	while ((rc = archive_read_data_block(in, &bytes, &n, &at)) ==
	       ARCHIVE_OK) {
		if (n > l->left->bytes)
			return fail_entry(l, e, -EFBIG,
					  "more than 64 GB are unpacked");
		l->left->bytes -= n;
		for (size_t done = 0; done < n;) {
			ssize_t wrote = pwrite(fd, (const char *)bytes + done,
					       n - done, at + (la_int64_t)done);

			if (wrote < 0 && errno != EINTR)
				return fail_entry(l, e, -errno,
						  strerror(errno));
			done += wrote < 0 ? 0 : (size_t)wrote;
		}
	}
	if (rc != ARCHIVE_EOF)
		return fail_entry(l, e, -EPROTO, archive_error_string(in));
	/* what ends in a hole */
	return ftruncate(fd, archive_entry_size(e)) < 0
		       ? fail_entry(l, e, -errno, strerror(errno))
		       : 0;
}

static int add_file(const struct layer *l, struct archive *in,
		    struct archive_entry *e, const struct tree_file *f)
{
	auto_fd int fd = -1;
	int rc = tree_begin(l->tree, f, &fd), done;

	if (rc < 0)
		return fail_entry(l, e, rc, strerror(-rc));
	rc = copy_data(l, in, e, fd);
	if (rc < 0)
		return rc;
	done = tree_done(l->tree, f, fd);
	return done < 0 ? fail_entry(l, e, done, strerror(-done)) : 0;
}

static int add_hardlink(const struct layer *l, struct archive_entry *e,
			const struct tree_file *f)
{
	const char *to = tree_path(l->a, archive_entry_hardlink(e));
	int rc = to ? tree_hardlink(l->tree, f, to) : -EPROTO;

	return rc < 0 ? fail_entry(l, e, rc,
				   to ? strerror(-rc) : "its link leads out")
		      : 0;
}

static int add_other(const struct layer *l, struct archive_entry *e,
		     const struct tree_file *f)
{
	int rc = 0;

	if (archive_entry_filetype(e) == AE_IFDIR)
		rc = tree_folder(l->tree, f);
	else if (archive_entry_filetype(e) == AE_IFLNK)
		rc = archive_entry_symlink(e)
			     ? tree_symlink(l->tree, f,
					    archive_entry_symlink(e))
			     : -EPROTO;
	else if (archive_entry_filetype(e) == AE_IFIFO)
		rc = tree_fifo(l->tree, f);
	/* the session has devices of its own, and a socket is nobody's here */
	return rc < 0 ? fail_entry(l, e, rc, strerror(-rc)) : 0;
}

static int add_entry(const struct layer *l, struct archive *in,
		     struct archive_entry *e, const char *path)
{
	const struct tree_file f = {
		.path = path,
		.mode = archive_entry_perm(e) & RIGHTS,
		.uid = (uid_t)archive_entry_uid(e),
		.gid = (gid_t)archive_entry_gid(e),
		.changed = {archive_entry_mtime(e),
			    archive_entry_mtime_nsec(e)},
	};

	if (archive_entry_hardlink(e))
		return add_hardlink(l, e, &f);
	return archive_entry_filetype(e) == AE_IFREG ? add_file(l, in, e, &f)
						     : add_other(l, e, &f);
}

/* --- what it removes --------------------------------------------------------- */

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_whiteout(const char *path)
{
	return strncmp(name_in(path), WHITEOUT, strlen(WHITEOUT)) == 0;
}

static int remove_entry(const struct layer *l, struct archive_entry *e,
			const char *path)
{
	const char *name = name_in(path);
	int n = (int)(name - path), rc;

	if (!is_whiteout(path))
		return 0;
	if (strcmp(name, OPAQUE) == 0) {
		rc = tree_empty(l->tree,
				arena_fmt(l->a, "%.*s", n, path).p);
	} else {
		name += strlen(WHITEOUT);
		/* others that begin so are AUFS's own */
		if (!*name || strncmp(name, WHITEOUT, strlen(WHITEOUT)) == 0)
			return 0;
		rc = tree_remove(l->tree,
				 arena_fmt(l->a, "%.*s%s", n, path, name).p);
	}
	return rc < 0 ? fail_entry(l, e, rc, strerror(-rc)) : 0;
}

/* --- all of it --------------------------------------------------------------- */

static int on_entry(struct layer *l, struct archive *in,
		    struct archive_entry *e, enum layer_look look)
{
	const char *name = archive_entry_pathname(e),
		   *path = name ? tree_path(l->a, name) : NULL;

	if (!path)
		return fail_entry(l, e, -EPROTO, "its name leads out");
	if (look == LAYER_REMOVES)
		return remove_entry(l, e, path);
	if (l->left->entries-- == 0)
		return fail_entry(l, e, -EFBIG,
				  "more than 4,000,000 files are unpacked");
	return is_whiteout(path) ? 0 : add_entry(l, in, e, path);
}

static int read_entries(struct layer *l, struct archive *in,
			enum layer_look look)
{
	struct archive_entry *e;
	int rc, got;

	while ((got = archive_read_next_header(in, &e)) == ARCHIVE_OK ||
	       got == ARCHIVE_WARN) {
		l->a = arena_new();
		rc = on_entry(l, in, e, look);
		arena_free(l->a);
		if (rc < 0)
			return rc;
	}
	return got == ARCHIVE_EOF
		       ? 0
		       : err_set(l->err, -EPROTO, "a layer: %s",
				 archive_error_string(in));
}

int layer_read(struct archive *outer, enum layer_look look,
	       const struct tree *t, struct layer_bounds *left, struct err *err)
{
	struct layer l = {.outer = outer, .tree = t, .left = left, .err = err};
	struct archive *in = layout_reader();
	int rc;

	if (!in)
		return err_set(err, -ENOMEM, "no memory");
	archive_read_support_format_empty(in);
	rc = archive_read_open(in, &l, NULL, on_read, NULL) == ARCHIVE_OK
		     ? read_entries(&l, in, look)
		     : err_set(err, -EPROTO, "a layer: %s",
			       archive_error_string(in));
	archive_read_free(in);
	return rc;
}
