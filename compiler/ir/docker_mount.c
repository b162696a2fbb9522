#include "compiler/ir/docker_mount.h"

#include "compiler/base/ascii.h"
#include "compiler/base/buf.h"
#include "compiler/ir/variable.h"

/* --- paths --------------------------------------------------------------- */

struct str docker_mount_clean(struct arena *a, struct str path)
{
	VEC(struct str) parts = {0};
	struct str rest = path, part;
	bool absolute = path.n && path.p[0] == '/';
	struct buf b;

	while (str_field(&rest, '/', &part)) {
		if (part.n == 0 || str_is(part, "."))
			continue;
		if (!str_is(part, ".."))
			*vec_push(a, &parts) = part;
		else if (parts.n && !str_is(parts.v[parts.n - 1], ".."))
			parts.n--;
		else if (!absolute)
			*vec_push(a, &parts) = part;
	}
	buf_init(&b, a);
	vec_each(p, &parts) {
		if (absolute || p != parts.v)
			buf_addc(&b, '/');
		buf_add(&b, *p);
	}
	if (b.n == 0)
		buf_addc(&b, absolute ? '/' : '.');
	return buf_str(&b);
}

bool docker_mount_within(struct str path, struct str outer)
{
	if (outer.n == 0 || path.n == 0)
		return false;
	if (str_is(outer, "/"))
		return path.p[0] == '/';
	return str_starts(path, outer) &&
	       (path.n == outer.n || path.p[outer.n] == '/');
}

/* --- mounts -------------------------------------------------------------- */

bool docker_mount_shared(struct str propagation)
{
	return ASCII_IS_ANY(propagation, "shared", "rshared");
}

bool docker_mount_field(struct arena *a, struct str *rest, bool *more,
			struct str *out)
{
	struct str s = *rest;
	struct buf b;
	size_t i = 1;

	if (s.n == 0 || s.p[0] != '"') {
		i = str_find(s, ',', 0);
		*out = str_slice(s, 0, i);
		if (str_find(*out, '"', 0) < out->n)
			return false;
	} else {
		buf_init(&b, a);
		for (;; i++) {
			if (i >= s.n)
				return false;
			if (s.p[i] == '"' &&
			    !(i + 1 < s.n && s.p[i + 1] == '"'))
				break;
			i += s.p[i] == '"';
			buf_addc(&b, s.p[i]);
		}
		*out = buf_str(&b);
		i++;
		if (i < s.n && s.p[i] != ',')
			return false;
	}
	*more = i < s.n;
	*rest = str_slice(s, i + 1, s.n);
	return true;
}

bool docker_mount_parse(struct arena *a, struct str value,
			struct docker_mount *m)
{
	struct str rest = value, field;
	bool more = true;

	*m = (struct docker_mount){.type = STR("volume")};
	while (more) {
		struct str key, val;

		if (!docker_mount_field(a, &rest, &more, &field))
			return false;
		val = field;
		if (!str_field(&val, '=', &key))
			return false;
		if (ASCII_IS_ANY(key, "type"))
			m->type = val;
		else if (ASCII_IS_ANY(key, "source", "src"))
			m->source = val;
		else if (ASCII_IS_ANY(key, "target", "dst", "destination"))
			m->target = val;
		else if (ASCII_IS_ANY(key, "volume-opt", "volume-driver"))
			m->has_driver = true;
		else if (ASCII_IS_ANY(key, "bind-propagation"))
			m->shared = docker_mount_shared(val);
		else if (!ASCII_IS_ANY(key, "readonly", "ro", "consistency",
				       "bind-nonrecursive", "bind-recursive",
				       "volume-nocopy", "volume-label",
				       "volume-subpath", "image-subpath",
				       "tmpfs-size", "tmpfs-mode",
				       "tmpfs-options"))
			m->strange = true;
	}
	return true;
}

/* --- where --------------------------------------------------------------- */

/*
 * "$$" is the dollar sign itself; any other variable can hold what divides a
 * value, and so mount anything.
 */
static bool is_known(struct arena *a, struct str s, struct str *out)
{
	struct str name;
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0, n; i < s.n; i += n) {
		n = s.p[i] == '$' ? variable_at(s, i, &name) : 1;
		if (n == 0 || (s.p[i] == '$' && name.n))
			return false;
		buf_addc(&b, s.p[i]);
	}
	*out = buf_str(&b);
	return true;
}

/* Paths of folders: neither ':' nor ',' is in them, or docker could not. */
static bool is_folder(struct str name)
{
	return str_is(name, "HOME") || str_is(name, "PWD") ||
	       str_is(name, "MEMBRANE_HOME");
}

/* The same without variables that are folders: "/x" for "$HOME/x". */
static struct str without_folders(struct arena *a, struct str s)
{
	struct str name;
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0, n; i < s.n; i += n) {
		n = s.p[i] == '$' ? variable_at(s, i, &name) : 0;
		if (n && is_folder(name))
			continue;
		n = n ? n : 1;
		buf_add(&b, str_slice(s, i, i + n));
	}
	return buf_str(&b);
}

static bool volume_place(struct arena *a, struct str value, struct str *target,
			 bool *empty)
{
	struct str text, source;

	if (!is_known(a, without_folders(a, value), &text))
		return false;
	*empty = str_find(text, ':', 0) == text.n;
	if (!*empty)
		str_field(&text, ':', &source);
	str_field(&text, ':', target);
	return true;
}

static bool mount_place(struct arena *a, struct str value, struct str *target,
			bool *empty)
{
	struct docker_mount m;
	struct str text;

	if (!is_known(a, without_folders(a, value), &text) ||
	    !docker_mount_parse(a, text, &m))
		return false;
	*target = m.target;
	*empty = ASCII_IS_ANY(m.type, "tmpfs") ||
		 (ASCII_IS_ANY(m.type, "volume") && !m.source.n &&
		  !m.has_driver);
	return true;
}

bool docker_mount_place(struct arena *a, enum docker_run_id option,
			struct str value, struct str *out_target,
			bool *out_empty)
{
	struct str target = {0}, text;
	bool empty = true, known = false;

	if (option == DOCKER_RUN_mount) {
		known = mount_place(a, value, &target, &empty);
	} else if (option == DOCKER_RUN_volume) {
		known = volume_place(a, value, &target, &empty);
	} else if (option == DOCKER_RUN_tmpfs) {
		known = is_known(a, value, &text);
		if (known)
			str_field(&text, ':', &target);
	}
	if (!known || target.n == 0 || target.p[0] != '/')
		return false;
	*out_target = docker_mount_clean(a, target);
	*out_empty = empty;
	return true;
}
