/* Of the user's PATH what is there inside. Pure. */
#include "runtime/launch/native/native.h"

#include "compiler/base/buf.h"

#define SYSTEM "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool is_below(struct str path, struct str folder)
{
	return str_starts(path, folder) &&
	       (path.n == folder.n || path.p[folder.n] == '/');
}

/* What is membrane's own leads to what the agent writes. */
static bool is_mounted(struct str dir, const bind_list *binds, struct str state)
{
	vec_each(b, binds)
		if (is_below(dir, str_of(b->target)) &&
		    !is_below(str_of(b->source), state))
			return true;
	return false;
}

static bool is_in(const struct buf *list, struct str dir)
{
	struct str rest = {list->p, list->n}, one;

	while (str_field(&rest, ':', &one))
		if (str_eq(one, dir))
			return true;
	return false;
}

const char *native_path(struct arena *a, const char *path,
			const bind_list *binds, const char *state,
			const char *image)
{
	struct str own = str_of(path ? path : ""),
		   system = str_of(image ? image : SYSTEM), dir;
	struct buf out;

	buf_init(&out, a);
	while (str_field(&own, ':', &dir)) {
		dir = str_unslashed(dir);
		if (str_starts(dir, STR("/")) && str_printable(dir) &&
		    is_mounted(dir, binds, str_of(state)) && !is_in(&out, dir))
			buf_addf(&out, "%s%.*s", out.n ? ":" : "",
				 STR_ARG(dir));
	}
	while (str_field(&system, ':', &dir))
		if (str_starts(dir, STR("/")) && str_printable(dir) &&
		    !is_in(&out, dir))
			buf_addf(&out, "%s%.*s", out.n ? ":" : "",
				 STR_ARG(dir));
	return buf_str(&out).p;
}
