#include "runtime/launch/tokens/tokens.h"

#include "compiler/base/ascii.h"
#include "compiler/base/oauth.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/pathwalk.h"
#include "runtime/launch/tokens/copy.h"
#include "runtime/launch/tokens/sentinel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define RANDOM_BYTES 16u

/* One file, whichever hosts get what stands in it. */
struct file {
	const char *path; /* "~/…" */
	copy_fields fields;
	struct str copy;
	bool renewed;
};

typedef VEC(struct file) files;

/* --- what is asked for -----------------------------------------------------
 */

static struct file *file_of(struct arena *a, files *list, const char *path)
{
	struct file *f;

	vec_each(had, list)
		if (strcmp(had->path, path) == 0)
			return had;
	f = vec_push(a, list);
	f->path = path;
	return f;
}

static struct copy_field *field_of(struct file *f, const char *name)
{
	vec_each(had, &f->fields)
		if (strcmp(had->name, name) == 0)
			return had;
	return NULL;
}

static void collect_files(struct arena *a, const struct vectors *v, files *out)
{
	vec_each(c, &v->credentials) {
		struct file *f;

		if (c->fields.n == 0)
			continue;
		f = file_of(a, out, c->file);
		f->renewed |= c->refresh != NULL;
		vec_each(name, &c->fields)
			if (!field_of(f, *name))
				*vec_push(a, &f->fields) = (struct copy_field){
					.name = *name,
					.digits = sentinel_digits(a, f->path,
								  *name)};
	}
}

/* --- the host's file -------------------------------------------------------
 */

int tokens_digits(struct arena *a, struct str *out, struct err *err)
{
	unsigned char bytes[RANDOM_BYTES];
	char hex[2 * RANDOM_BYTES + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_errno(err, "getrandom");
	ascii_put_hex(bytes, sizeof(bytes), hex);
	*out = arena_str(a, str_of(hex));
	return 0;
}

static int read_file(struct arena *a, struct file *f, const char *home,
		     struct str random, struct err *err)
{
	struct str json = {0};
	int rc =
		home ? 0 : err_set(err, -ENOENT, "there is no home to look in");

	if (rc == 0)
		rc = fileio_read(a, AT_FDCWD,
				 arena_fmt(a, "%s%s", home, f->path + 1).p,
				 TOKENS_FILE_MAX, &json, err);
	if (rc == 0)
		rc = copy_make(a, json, &f->fields, random, SECRETS_VALUE_MAX,
			       &f->copy, err);
	if (json.n)
		explicit_bzero((void *)(uintptr_t)json.p, json.n);
	return rc < 0 ? err_while(err, "the credentials of '%.200s'", f->path)
		      : 0;
}

static bool is_refresh(const char *field)
{
	const char *member = oauth_member(str_of(field));

	return member && strcmp(member, OAUTH_REFRESH) == 0;
}

static int add_values(struct arena *a, const struct vectors *v, files *list,
		      secrets *out, struct err *err)
{
	size_t all = 0;

	vec_each(had, out)
		all += strlen(had->value);
	vec_each(c, &v->credentials)
		vec_each(name, &c->fields) {
			struct file *file = file_of(a, list, c->file);
			const struct copy_field *f = field_of(file, *name);
			struct secret *s;

			if (file->renewed && is_refresh(*name))
				continue;
			s = vec_push(a, out);
			s->n = c->n;
			s->digits = f->digits;
			s->value = arena_cstr(a, str_of(f->secret));
			all += strlen(f->secret) + GATE_SENTINEL_DIGITS;
		}
	return all <= SECRETS_ALL_MAX
		       ? 0
		       : err_set(err, -EINVAL,
				 "all credentials together are too long");
}

/* --- the agent's copy ------------------------------------------------------
 */

/* The folder that the copy lies in, made where it is missing. */
static int enter_folder(struct arena *a, const char *home, struct str *rest,
			int *out, struct err *err)
{
	int fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t slash;

	if (fd < 0)
		return err_errno(err, home);
	while ((slash = str_find(*rest, '/', 0)) < rest->n) {
		const char *name = arena_cstr(a, str_slice(*rest, 0, slash));
		int next, rc = fileio_mkdir(fd, name, 0700, err);

		next = rc < 0 ? rc : pathwalk_enter(fd, name);
		close(fd);
		if (rc < 0)
			return rc;
		if (next < 0)
			return err_set(err, -ENOTDIR,
				       "'%.100s' is no folder of its own",
				       name);
		fd = next;
		*rest = str_slice(*rest, slash + 1, rest->n);
	}
	*out = fd;
	return 0;
}

static int check_own(struct arena *a, int dir, struct str name,
		     const struct file *f, struct err *err)
{
	struct str had = {0};
	int rc = fileio_read_inside(a, dir, name, TOKENS_FILE_MAX, &had, err);
	const char *own;

	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	own = copy_own(had, &f->fields);
	explicit_bzero((void *)(uintptr_t)had.p, had.n);
	return own ? err_set(err, -EEXIST,
			     "there is a login of its own, with text at '%.100s' that is no sentinel: remove that file, or the entry from 'credentials'",
			     own)
		   : 0;
}

static int put_copy(struct arena *a, const struct file *f, const char *home,
		    struct err *err)
{
	struct str rest = str_of(f->path + 2);
	auto_fd int dir = -1;
	int rc = enter_folder(a, home, &rest, &dir, err);

	if (rc == 0)
		rc = check_own(a, dir, rest, f, err);
	if (rc == 0)
		rc = fileio_write(dir, arena_cstr(a, rest), f->copy, 0600, err);
	return rc < 0 ? err_while(err, "the agent's '%.200s', in %.200s",
				  f->path, home)
		      : 0;
}

int tokens_place(struct arena *a, const struct vectors *v,
		 const struct tokens_homes *homes, secrets *out,
		 struct err *err)
{
	files list = {0};
	struct str random;
	int rc;

	collect_files(a, v, &list);
	if (list.n == 0)
		return 0;
	rc = tokens_digits(a, &random, err);
	vec_each(f, &list)
		if (rc == 0)
			rc = read_file(a, f, homes->user, random, err);
	if (rc == 0)
		rc = add_values(a, v, &list, out, err);
	vec_each(f, &list)
		if (rc == 0)
			rc = put_copy(a, f, homes->agent, err);
	vec_each(f, &list)
		vec_each(field, &f->fields)
			if (field->secret)
				explicit_bzero(field->secret,
					       strlen(field->secret));
	return rc;
}
