/*
 * One destination, port, request and path per line. A destination that is
 * accepted is accepted again in its canonical text, and means the same.
 */
#include "compiler/front/word/dest.h"
#include "compiler/front/word/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_canonical(struct pass_ctx *c, const struct ir_dest *d)
{
	struct str once = ir_dest_text(c->a, d), twice;
	struct text t = {once, {0}, 0};
	struct ir_dest again;

	if (!dest_parse(c, &t, &again) || again.kind != d->kind)
		__builtin_trap();
	twice = ir_dest_text(c->a, &again);
	if (!str_eq(once, twice))
		__builtin_trap();
}

static void check_places(const struct diags *d, const struct sources *s)
{
	struct diag_view v;

	for (unsigned i = 0; diags_get(d, i, &v); i++)
		if (v.at.end < v.at.beg || v.at.end > s->end)
			__builtin_trap();
}

static void one(struct pass_ctx *c, const struct text *t)
{
	struct span whole = {0, (uint32_t)t->s.n};
	unsigned before = c->diags->errors;
	struct ir_request req;
	struct ir_port port;
	struct ir_dest d;

	if (dest_parse(c, t, &d) != (c->diags->errors == before))
		__builtin_trap();
	if (d.kind == IR_DEST_POISON && c->diags->errors == before)
		__builtin_trap();
	if (d.kind != IR_DEST_POISON)
		check_canonical(c, &d);
	if (dest_parse_port(c, t, &port) && (!port.lo || port.lo > port.hi))
		__builtin_trap();
	if (request_parse(c, t, &req) && req.text.n == 0)
		__builtin_trap();
	ignore(dest_path_check(c, t, whole));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size}, line;
	struct arena *a;
	struct sources s;
	struct diags d;
	struct pass_ctx c;
	uint32_t at = 1;

	if (size > 4096)
		return 0;
	a = arena_new();
	c = (struct pass_ctx){a, &s, &d};
	sources_init(&s, a);
	diags_init(&d, a, &s);
	sources_add(&s, STR("fuzz"), rest, LAYER_WORKSPACE);
	while (str_line(&rest, &line) && d.errors < 100) {
		struct text t = {line, {at, at + (uint32_t)line.n}, at};

		one(&c, &t);
		at += (uint32_t)line.n + 1;
	}
	check_places(&d, &s);
	arena_free(a);
	return 0;
}
