#include "compiler/emit/mounts.h"

static void put_patterns(struct buf *out, const char *word,
			 const ir_patterns *patterns)
{
	vec_each(p, patterns) {
		buf_addf(out, "%s ", word);
		buf_add(out, p->line);
		buf_addc(out, '\n');
	}
}

bool mounts_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_policy *p = in->policy;

	buf_adds(out, "membrane-mounts 1\n"
		      "workspace /workspace\n");
	put_patterns(out, "ignore", &p->ignore);
	put_patterns(out, "readonly", &p->readonly);
	vec_each(r, &p->readonly) {
		struct str path = r->line;

		if (!r->hold)
			continue;
		if (str_starts(path, STR("/")))
			path = str_slice(path, 1, path.n);
		buf_addf(out, "hold %.*s\n", STR_ARG(path));
	}
	return true;
}
