#include "runtime/gate/l7/crtlist.h"

#include "compiler/plan/gate.h"
#include "runtime/gate/plan/names.h"

#include <errno.h>
#include <string.h>

static bool is_path(struct str path)
{
	static const struct str dir = STR_INIT(GATE_LEAVES);
	struct str file = str_slice(path, dir.n, path.n);

	if (!str_starts(path, dir) || file.n == 0 ||
	    file.n > CRTLIST_FILE_MAX || file.p[0] == '.')
		return false;
	for (size_t i = 0; i < file.n; i++) {
		char c = file.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || c == '-' || c == '.'))
			return false;
	}
	return true;
}

/* "*" as the first label, and nowhere else. */
static bool is_name(struct str name)
{
	if (!names_pattern(name))
		return false;
	if (!memchr(name.p, '*', name.n))
		return true;
	return str_starts(name, STR("*.")) &&
	       !memchr(name.p + 1, '*', name.n - 1);
}

int crtlist_next(struct str *rest, struct crtlist_line *out, struct err *err)
{
	struct str line, field;

	if (rest->n && rest->p[rest->n - 1] != '\n')
		return err_set(err, -EPROTO, "not whole lines");
	if (!str_line(rest, &line))
		return 0;
	out->n_names = 0;
	out->path = STR("");
	/* Of an empty line it is empty. */
	str_field(&line, ' ', &out->path);
	if (!is_path(out->path))
		return err_set(err, -EPROTO, "not a file of ours: '%.*s'",
			       STR_ARG(str_slice(out->path, 0, 80)));
	while (str_field(&line, ' ', &field)) {
		if (out->n_names == CA_NAMES_MAX || !is_name(field))
			return err_set(err, -EPROTO,
				       "not a name, or too many: '%.*s'",
				       STR_ARG(str_slice(field, 0, 80)));
		out->names[out->n_names++] = field;
	}
	if (out->n_names == 0)
		return err_set(err, -EPROTO, "a certificate without a name");
	return 1;
}
