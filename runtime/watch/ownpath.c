#include "runtime/watch/ownpath.h"

#include <string.h>

bool ownpath_other(struct str own, struct str path, char buf[OWNPATH_MAX],
		   struct str *out)
{
	static const struct str name = STR_INIT(OWNPATH_WORKSPACE);
	struct str rest = str_slice(path, own.n, path.n);

	if (!own.n || !str_starts(path, own) || (rest.n && rest.p[0] != '/') ||
	    name.n + rest.n > OWNPATH_MAX)
		return false;
	memcpy(buf, name.p, name.n);
	memcpy(buf + name.n, rest.p, rest.n);
	*out = (struct str){buf, name.n + rest.n};
	return true;
}
