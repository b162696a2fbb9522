/*
 * A policy, an empty line, and requests, one on a line. What is read is read
 * again from its canonical text, and means the same; every request that is
 * read is decided.
 */
#include "compiler/algebra/decide/ask.h"
#include "compiler/front/bind/bind.h"
#include "compiler/front/word/request.h"
#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(bool ok)
{
	if (!ok)
		__builtin_trap();
}

/* All that a request means; where it was written is not. */
static void check_again(struct pass_ctx *c, const struct ir_request *r)
{
	struct text t = {ir_request_text(c->a, r), {0}, 0};
	struct ir_request again;

	same(request_parse(c, &t, &again));
	same(again.kind == r->kind && again.proto == r->proto &&
	     again.has_addr == r->has_addr && again.port == r->port &&
	     again.unresolved == r->unresolved);
	same(!r->has_addr || addr_eq(&again.addr, &r->addr));
	same(str_eq(again.name, r->name) && str_eq(again.method, r->method) &&
	     str_eq(again.type, r->type) && str_eq(again.path, r->path) &&
	     str_eq(again.arg, r->arg));
	same(again.url.scheme == r->url.scheme && again.url.who == r->url.who &&
	     again.url.port == r->url.port &&
	     str_eq(again.url.name, r->url.name) &&
	     str_eq(again.url.path, r->url.path));
	same(str_eq(t.s, ir_request_text(c->a, &again)));
}

static void check_decision(struct pass_ctx *c, const struct ir_policy *p,
			   const struct ir_request *r)
{
	struct decision d = decide_asked(c->a, p, decide_files_new(c->a, p), r);

	same((d.verdict == VERDICT_ALLOW) == (d.reason == REASON_GRANTED));
	same((d.verdict == VERDICT_ASK) == (d.reason == REASON_ASK));
	same(reason_name(d.reason) != NULL);
}

static bool make_policy(struct pass_ctx *c, const struct source *src,
			struct ir_policy *out)
{
	struct doc *doc;
	struct yaml_node *root;
	ir_texts extends = {0};
	docs list = {0};

	doc = vec_push(c->a, &list);
	*doc = (struct doc){.layer = LAYER_GLOBAL, .source = src->name};
	return yaml_parse(c->a, c->diags, src, &root) &&
	       bind_policy(c, LAYER_GLOBAL, root, &doc->policy, &extends) &&
	       passes_layers(c, &list, out) && passes_normalise(c, out);
}

static void ask_all(struct pass_ctx *c, const struct ir_policy *p,
		    struct str rest)
{
	struct str line;

	while (str_line(&rest, &line) && c->diags->errors < 100) {
		struct text t = {line, {0}, 0};
		struct ir_request r;

		if (!request_parse(c, &t, &r))
			continue;
		check_again(c, &r);
		check_decision(c, p, &r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = {(const char *)data, size};
	struct sources s;
	struct diags d;
	struct pass_ctx c = {arena_new(), &s, &d};
	struct ir_policy p;
	const struct source *src;
	size_t cut = size;

	if (size > 8192) {
		arena_free(c.a);
		return 0;
	}
	for (size_t i = 0; i + 1 < size && cut == size; i++)
		if (data[i] == '\n' && data[i + 1] == '\n')
			cut = i + 1;
	sources_init(&s, c.a);
	diags_init(&d, c.a, &s);
	src = sources_add(&s, STR("fuzz"), str_slice(all, 0, cut),
			  LAYER_GLOBAL);
	if (make_policy(&c, src, &p))
		ask_all(&c, &p, str_slice(all, cut + 1, size));
	arena_free(c.a);
	return 0;
}
