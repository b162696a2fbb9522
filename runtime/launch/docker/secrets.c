#include "runtime/launch/docker/secrets.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int check_secret(const char *what, const char *name, struct str value,
			size_t all, struct err *err)
{
	if (value.n == 0)
		return err_set(err, -EINVAL,
			       "the credential from %s '%.200s' is empty", what,
			       name);
	if (value.n > SECRETS_VALUE_MAX || all + value.n > SECRETS_ALL_MAX)
		return err_set(err, -EINVAL,
			       "the credential from %s '%.200s' is too long",
			       what, name);
	for (size_t i = 0; i < value.n; i++)
		if ((unsigned char)value.p[i] < ' ' || value.p[i] == 127)
			return err_set(
				err, -EINVAL,
				"the credential from %s '%.200s' has a line end or another control byte",
				what, name);
	return 0;
}

static int read_file(struct arena *a, const char *path, const char *user_home,
		     struct str *out, struct err *err)
{
	const char *real = path;
	int rc;

	if (strncmp(path, "~/", 2) == 0 && user_home)
		real = arena_fmt(a, "%s/%s", user_home, path + 2).p;
	if (real[0] != '/')
		return err_set(
			err, -EINVAL,
			"the credential from file '%.200s': write an absolute path, or one that begins with '~/'",
			path);
	rc = fileio_read(a, AT_FDCWD, real, SECRETS_VALUE_MAX + 2, out, err);
	if (rc < 0)
		return err_while(err, "the credential from a file");
	if (str_ends(*out, STR("\n")))
		out->n--;
	if (str_ends(*out, STR("\r")))
		out->n--;
	return 0;
}

static int read_env(const struct vectors_values *values, const char *name,
		    struct str *out, struct err *err)
{
	const char *value = values->env(values->env_ctx, name);

	if (!value)
		return err_set(
			err, -ENOENT,
			"the credential from variable '%.200s': it is not set here",
			name);
	*out = str_of(value);
	return 0;
}

int secrets_one(struct arena *a, const char *env, const char *file,
		const struct vectors_values *values, const char *user_home,
		char **out, struct err *err)
{
	struct str value = {0};
	int rc = env ? read_env(values, env, &value, err)
		     : read_file(a, file, user_home, &value, err);

	if (rc == 0)
		rc = check_secret(env ? "variable" : "file", env ? env : file,
				  value, 0, err);
	if (rc == 0)
		*out = arena_cstr(a, value);
	if (file && value.n)
		explicit_bzero((void *)(uintptr_t)value.p, value.n);
	return rc;
}

int secrets_read(struct arena *a, const struct vectors *v,
		 const struct vectors_values *values, const char *user_home,
		 secrets *out, struct err *err)
{
	size_t all = 0;

	vec_each(c, &v->credentials) {
		const char *name = c->env ? c->env : c->file;
		struct str value = {0};
		struct secret *s;
		int rc;

		if (c->fields.n)
			continue;
		rc = c->env ? read_env(values, name, &value, err)
			    : read_file(a, name, user_home, &value, err);
		if (rc == 0)
			rc = check_secret(c->env ? "variable" : "file", name,
					  value, all, err);
		if (rc < 0)
			return rc;
		all += value.n;
		s = vec_push(a, out);
		s->n = c->n;
		s->value = arena_cstr(a, value);
		if (c->file)
			explicit_bzero((void *)(uintptr_t)value.p, value.n);
	}
	return 0;
}

void secrets_forget(secrets *s)
{
	vec_each(x, s)
		explicit_bzero(x->value, strlen(x->value));
	s->n = 0;
}
