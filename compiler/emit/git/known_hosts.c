#include "compiler/emit/git/known_hosts.h"

static const char published[] =
#include "policies/forges/known_hosts.inc"
	;

/* Of a comment it is "#", which nobody grants. */
static struct str host_of(struct str line)
{
	return str_slice(line, 0, str_find(line, ' ', 0));
}

/*
 * By its one name, on whichever port: a preset of a forge has 443 alone, and 22
 * may be allowed while the session runs.
 */
static bool is_granted(const struct ir_policy *p, struct str host)
{
	vec_each(g, &p->allow)
		if (g->dest.kind == IR_DEST_HOST &&
		    str_eq(g->dest.u.host.name, host))
			return true;
	return false;
}

bool known_hosts_emit(const struct emit_in *in, struct buf *out)
{
	struct str rest = str_of(published), line;

	while (str_line(&rest, &line)) {
		if (!str_starts(line, STR("#")) &&
		    !is_granted(in->policy, host_of(line)))
			continue;
		buf_add(out, line);
		buf_addc(out, '\n');
	}
	return true;
}

struct str known_hosts_names(struct arena *a, const struct ir_policy *p)
{
	struct str rest = str_of(published), line, last = STR("");
	struct buf out;

	buf_init(&out, a);
	while (str_line(&rest, &line)) {
		struct str host = host_of(line);

		if (str_eq(host, last) || !is_granted(p, host))
			continue;
		buf_addf(&out, "%s%.*s", out.n ? ", " : "", STR_ARG(host));
		last = host;
	}
	return buf_str(&out);
}

bool known_hosts_wanted(const struct ir_policy *p)
{
	struct str rest = str_of(published), line;

	while (str_line(&rest, &line))
		if (is_granted(p, host_of(line)))
			return true;
	return false;
}
