/*
 * .membraneignore: gitignore syntax, one pattern per line, for `ignore`.
 */
#include "compiler/front/parts.h"

#include "compiler/base/limits.h"
#include "compiler/front/bind/bind_types.h"
#include "compiler/front/yaml/yaml.h"

/* gitignore(5): blank lines and comments; a line of blanks alone is blank. */
static bool says_nothing(struct str line)
{
	return str_trim(line).n == 0 || line.p[0] == '#';
}

bool ignorefile_parse(struct pass_ctx *c, const struct source *src,
		      ir_patterns *out)
{
	struct str rest = src->text, line;
	uint32_t beg = src->base;
	bool ok = true;

	if (!yaml_check_bytes(c->diags, src))
		return false;
	while (str_line(&rest, &line)) {
		struct span at = {beg, beg + (uint32_t)line.n};
		struct text t = {line, at, beg};

		beg += (uint32_t)line.n + 1;
		if (says_nothing(line))
			continue;
		if (line.n > LIMIT_SCALAR_BYTES) {
			diag_error(c->diags, DIAG_SCALAR, at,
				   "a pattern of %zu bytes, at most %u", line.n,
				   LIMIT_SCALAR_BYTES);
			ok = false;
		} else {
			ok &= bind_list_pattern(c, src->layer, &t, out);
		}
	}
	return ok;
}
