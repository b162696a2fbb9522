/* Domains and paths of others' settings, as a policy has them. */
#include "compiler/cli/init/parts.h"

#include "compiler/base/addr.h"
#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"

#include <stdlib.h>

void from_unsaid(struct from *f, struct str where, struct str text,
		 const char *why)
{
	proposal_unsaid(f->d,
			text.n ? arena_fmt(f->d->a, "%.*s: %.*s",
					   STR_ARG(where), STR_ARG(text))
			       : where,
			str_of(why));
}

static struct str reason(struct from *f, struct str where)
{
	return arena_fmt(f->d->a, "%.*s", STR_ARG(where));
}

/* --- domains -------------------------------------------------------------- */

static bool is_name(struct str s)
{
	if (s.n == 0 || s.n > LIMIT_NAME_BYTES)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.';

		if (s.p[i] == '.' ? edge
				  : !ascii_is_alnum(s.p[i]) &&
					    ((s.p[i] != '-' && s.p[i] != '_') ||
					     edge))
			return false;
	}
	return str_find(s, '.', 0) < s.n;
}

static void add_dest(struct from *f, enum proposal_key key, struct str dest,
		     bool v6, struct str where)
{
	struct arena *a = f->d->a;

	if (key == PROPOSAL_ALLOW || key == PROPOSAL_ASK) {
		f->any_port = true;
		dest = arena_fmt(a, v6 ? "[%.*s]:443" : "%.*s:443",
				 STR_ARG(dest));
	}
	proposal_add(f->d, key, dest, reason(f, where));
}

void from_domain(struct from *f, enum proposal_key key, struct str text,
		 struct str where)
{
	struct str name = ascii_lower(f->d->a, text);
	bool below = str_starts(name, STR("*."));
	struct addr addr;

	if (str_is(name, "*") && key == PROPOSAL_DENY) {
		from_unsaid(f, where, text,
			    "what nothing allows is denied as it is");
	} else if (str_is(name, "*")) {
		from_unsaid(
			f, where, text,
			"everything: name what is needed, or write '**' to 'allow' yourself");
	} else if (str_is(name, "localhost") ||
		   (addr_parse(name, &addr) &&
		    addr_scope(&addr) == ADDR_NEVER)) {
		from_unsaid(
			f, where, text,
			"inside, that is the session; of this machine 'host:PORT' is one port");
	} else if (addr_parse(name, &addr)) {
		add_dest(f, key, name, addr.family == ADDR_V6, where);
	} else if (is_name(below ? str_slice(name, 2, name.n) : name)) {
		add_dest(f, key,
			 below ? arena_fmt(f->d->a, "*%.*s", STR_ARG(name))
			       : name,
			 false, where);
	} else {
		from_unsaid(f, where, text, "no name and no address");
	}
}

/* --- paths ---------------------------------------------------------------- */

/* Below the workspace: what is behind that, with its slash. */
static bool inside(const struct from *f, struct str path, struct str *out)
{
	struct str w = f->workspace;

	if (!str_starts(path, w) || (path.n > w.n && path.p[w.n] != '/'))
		return false;
	*out = path.n > w.n ? str_slice(path, w.n, path.n) : STR("/");
	return true;
}

static bool goes_up(struct str path)
{
	struct str segment;

	while (str_field(&path, '/', &segment))
		if (str_is(segment, ".."))
			return true;
	return false;
}

/*
 * *out: from the workspace on, with a slash in front where it is anchored.
 * False for what is not in the workspace.
 */
static bool place_path(const struct from *f, enum from_paths kind,
		       struct str text, struct str *out)
{
	switch (kind) {
	case FROM_GITIGNORE:
		if (str_starts(text, STR("//")))
			return inside(f, str_slice(text, 1, text.n), out);
		break;
	case FROM_PLAIN:
		if (str_starts(text, STR("/")))
			return inside(f, text, out);
		break;
	}
	if (str_starts(text, STR("~")))
		return false;
	if (str_is(text, "."))
		text = STR("/");
	else if (str_starts(text, STR("./")))
		text = str_slice(text, 1, text.n);
	else if (kind == FROM_PLAIN)
		text = arena_fmt(f->d->a, "/%.*s", STR_ARG(text));
	*out = text;
	return true;
}

void from_path(struct from *f, enum proposal_key key, enum from_paths kind,
	       struct str text, struct str where)
{
	struct str path;

	if (goes_up(text) || !place_path(f, kind, text, &path)) {
		from_unsaid(
			f, where, text,
			"not of the workspace, and of the host nothing else is there");
		return;
	}
	if (path.n == 0 || str_is(path, "/")) {
		from_unsaid(f, where, text, "the workspace itself");
		return;
	}
	if (str_find(path, '{', 0) < path.n ||
	    str_find(path, '\\', 0) < path.n || path.p[path.n - 1] == ' ') {
		from_unsaid(f, where, text, "gitignore reads that otherwise");
		return;
	}
	if (path.p[0] == '!' || path.p[0] == '#')
		path = arena_fmt(f->d->a, "\\%.*s", STR_ARG(path));
	proposal_add(f->d, key, path, reason(f, where));
}
