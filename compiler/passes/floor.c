/*
 * The built-in floor: what holds under every policy, as a document of its own.
 */
#include "compiler/passes/parts.h"

/*
 * What a host tool would execute or obey later, and our own files.
 * doc/semantics.md, section 5. The nested ones are readonly where they exist;
 * the anchored literal ones also where they do not exist yet.
 */
enum rule { RULE_HELD, RULE_TOLD };

static const struct {
	enum rule rule;
	const char *patterns;
} executed[] = {
#define EXECUTED(rule, tool, patterns, why) {RULE_##rule, patterns},
#include "compiler/plan/docker_json.h"
#include "grammar/executed.def"
#undef EXECUTED
};

/* The text so far, and where it will lie among the sources. */
struct writer {
	struct buf text;
	uint32_t base;
};

static struct ir_origin put_text(struct writer *w, const char *before,
				 const char *value, const char *after)
{
	struct ir_origin from = {.layer = LAYER_FLOOR};

	buf_adds(&w->text, before);
	from.at.beg = w->base + (uint32_t)w->text.n;
	buf_adds(&w->text, value);
	from.at.end = w->base + (uint32_t)w->text.n;
	buf_adds(&w->text, after);
	return from;
}

#define SCALAR(opt, before, text, ...)                                         \
	do {                                                                   \
		(opt).set = true;                                              \
		(opt).from = put_text(w, before, text, "\n");                  \
		(opt).v = __VA_ARGS__;                                         \
	} while (0)

static void add_deny(struct arena *a, struct writer *w, struct ir_policy *p)
{
	const struct addr_special *s;
	char text[CIDR_TEXT_MAX];

	buf_adds(&w->text, "deny:\n");
	for (size_t i = 0; (s = addr_special(i)); i++) {
		struct ir_grant *g;

		if (s->scope != ADDR_NEVER)
			continue;
		g = vec_push(a, &p->deny);
		g->from = put_text(w, "  - \"", cidr_text(&s->net, text), "\"");
		buf_addf(&w->text, " # %s\n", s->about);
		g->key = IR_KEY_DENY;
		g->dest.kind = IR_DEST_CIDR;
		g->dest.at = g->from.at;
		g->dest.u.cidr.net = s->net;
	}
}

static void add_readonly(struct arena *a, struct writer *w, struct ir_policy *p)
{
	buf_adds(&w->text, "readonly:\n");
	for (size_t i = 0; i < ARRAY_LEN(executed); i++) {
		struct str list = str_of(executed[i].patterns), line;

		while (executed[i].rule == RULE_HELD &&
		       str_field(&list, '|', &line)) {
			struct ir_pattern *r = vec_push(a, &p->readonly);

			r->from = put_text(w, "  - \"", arena_cstr(a, line),
					   "\"\n");
			r->line = line;
		}
	}
}

static void add_scalars(struct writer *w, struct ir_policy *p)
{
	struct ir_resolver resolver = {.host = true};

	SCALAR(p->resolver, "dns_resolver: ", IR_RESOLVER_HOST, resolver);
	SCALAR(p->tls, "tls: ", "verify", IR_TLS_VERIFY);
	SCALAR(p->ssl_insecure, "ssl_insecure: ", "false", false);
	SCALAR(p->image, "image: ", DOCKER_JSON_IMAGE_AGENT,
	       STR(DOCKER_JSON_IMAGE_AGENT));
	SCALAR(p->engine, "engine: ", "auto", IR_ENGINE_AUTO);
	SCALAR(p->runtime, "runtime: ", "runc", IR_RUNTIME_RUNC);
	SCALAR(p->workspace_trust, "workspace_trust: ", "ask", IR_TRUST_ASK);
	buf_adds(&w->text, "hardening:\n");
	SCALAR(p->hardening.read_only, "  read_only: ", "false", false);
	SCALAR(p->hardening.pids, "  pids: ", "4096", 4096);
	SCALAR(p->hardening.no_new_privileges, "  no_new_privileges: ", "true",
	       true);
	SCALAR(p->hardening.seccomp, "  seccomp: ", "default", STR("default"));
	SCALAR(p->hardening.user_namespaces, "  user_namespaces: ", "false",
	       false);
	buf_adds(&w->text, "trace:\n");
	SCALAR(p->trace.engine, "  engine: ", "native", IR_TRACE_NATIVE);
	SCALAR(p->trace.required, "  required: ", "false", false);
}

void floor_doc(struct pass_ctx *c, struct doc *out)
{
	struct writer writer = {.base = c->sources->end}, *w = &writer;
	bool known = false;

	/* The text never differs: one source serves every call. */
	vec_each(s, &c->sources->list)
		if (s->layer == LAYER_FLOOR) {
			writer.base = s->base;
			known = true;
		}
	*out = (struct doc){.layer = LAYER_FLOOR, .source = STR("builtin")};
	buf_init(&w->text, c->a);
	buf_adds(&w->text, "# What holds under every policy.\n");
	add_deny(c->a, w, &out->policy);
	add_readonly(c->a, w, &out->policy);
	add_scalars(w, &out->policy);
	if (!known)
		sources_add(c->sources, out->source, buf_str(&w->text),
			    LAYER_FLOOR);
}
