/* The layers of a policy, joined into one, and which of them may say what. */
#include "compiler/base/limits.h"
#include "compiler/passes/parts.h"
#include "compiler/passes/passes.h"

/* Lists append. */
#define APPEND(field)                                                          \
	do {                                                                   \
		vec_reserve(a, &to->field, from->field.n);                     \
		vec_each(it_, &from->field)                                    \
			*vec_push(a, &to->field) = *it_;                       \
	} while (0)

/* A scalar set in a later layer replaces an earlier one. */
#define REPLACE(field)                                                         \
	do {                                                                   \
		if (from->field.set)                                           \
			to->field = from->field;                               \
	} while (0)

static void merge_hardening(struct arena *a, struct ir_hardening *to,
			    const struct ir_hardening *from)
{
	REPLACE(read_only);
	APPEND(tmpfs);
	REPLACE(pids);
	REPLACE(memory);
	REPLACE(cpus_milli);
	REPLACE(user);
	APPEND(capabilities);
	REPLACE(no_new_privileges);
	REPLACE(seccomp);
	REPLACE(user_namespaces);
}

static void merge_trace(struct arena *a, struct ir_trace *to,
			const struct ir_trace *from)
{
	REPLACE(engine);
	REPLACE(version);
	to->has_events |= from->has_events;
	APPEND(events);
	APPEND(exclude);
	REPLACE(reads);
	REPLACE(rotate_bytes);
	REPLACE(rotate_age_s);
	REPLACE(keep_files);
	REPLACE(keep_bytes);
	REPLACE(required);
}

static void merge_layer(struct arena *a, struct ir_policy *to,
			const struct ir_policy *from, bool preset)
{
	APPEND(allow);
	APPEND(ask);
	APPEND(deny);
	APPEND(ignore);
	APPEND(readonly);
	REPLACE(masks);
	APPEND(fast);
	REPLACE(resolver);
	REPLACE(tls);
	REPLACE(uplink);
	REPLACE(upstream);
	REPLACE(upstream_ca);
	REPLACE(ssl_insecure);
	REPLACE(ssh_agent);
	REPLACE(home);
	APPEND(args);
	APPEND(ports);
	APPEND(visible);
	REPLACE(image);
	REPLACE(engine);
	REPLACE(runtime);
	merge_hardening(a, &to->hardening, &from->hardening);
	APPEND(protect);
	APPEND(credentials);
	merge_trace(a, &to->trace, &from->trace);
	/* What a preset has besides the policy may change what it expects. */
	if (!preset) {
		APPEND(tests.allow);
		APPEND(tests.ask);
		APPEND(tests.deny);
	}
	APPEND(tests.never);
	APPEND(waivers);
	APPEND(purposes);
	REPLACE(workspace_trust);
	REPLACE(on_refusal);
}

static bool refuse_elsewhere(struct pass_ctx *c, const struct doc *doc,
			     struct span at, const char *key, const char *what)
{
	diag_error(c->diags, DIAG_ONLY_GLOBAL, at,
		   "'%s' is for the global file alone", key);
	diag_help(c->diags,
		  "move it to ~/.membrane/config.yaml; a %s does not decide %s",
		  doc->layer == LAYER_PRESET ? "preset" : "workspace", what);
	return false;
}

static bool may_say(struct pass_ctx *c, const struct doc *doc)
{
	const struct ir_policy *p = &doc->policy;
	bool ok = true;

	if (doc->layer == LAYER_GLOBAL)
		return true;
	if (p->workspace_trust.set)
		ok = refuse_elsewhere(c, doc, p->workspace_trust.from.at,
				      "workspace_trust",
				      "whether it is trusted");
	if (p->on_refusal.set)
		ok = refuse_elsewhere(c, doc, p->on_refusal.from.at,
				      "on_refusal",
				      "what is started on this machine");
	return ok;
}

static bool is_within(struct pass_ctx *c, uint32_t n, uint32_t limit,
		      struct span at, const char *what)
{
	if (n <= limit)
		return true;
	diag_error(c->diags, DIAG_TOO_MANY, at,
		   "%u %s in all layers, more than %u", n, what, limit);
	return false;
}

/* The first item that is one too many is where the error points. */
#define WITHIN(list, limit, what)                                              \
	is_within(c, (list).n, (limit),                                        \
		  (list).n > (limit) ? (list).v[limit].from.at                 \
				     : (struct span){0},                       \
		  what)

static bool check_limits(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = true;

	ok &= WITHIN(p->allow, LIMIT_GRANTS, "grants");
	ok &= WITHIN(p->ask, LIMIT_GRANTS, "entries of 'ask'");
	ok &= WITHIN(p->deny, LIMIT_GRANTS, "denials");
	ok &= WITHIN(p->ignore, LIMIT_PATTERNS, "ignore patterns");
	ok &= WITHIN(p->readonly, LIMIT_PATTERNS, "readonly patterns");
	ok &= WITHIN(p->fast, LIMIT_FAST, "fast folders");
	ok &= WITHIN(p->ports, LIMIT_PUBLISHED, "published ports");
	ok &= WITHIN(p->visible, LIMIT_VISIBLE, "visible paths");
	ok &= WITHIN(p->args, LIMIT_ARGS, "docker arguments");
	ok &= WITHIN(p->waivers, LIMIT_WAIVERS, "entries of 'allow_lint'");
	ok &= WITHIN(p->purposes, LIMIT_WAIVERS,
		     "entries of 'refused_on_purpose'");
	return ok;
}

/* The default is the runtime's: it stands where that was chosen. */
static void default_masks(struct ir_policy *p)
{
	if (p->masks.set)
		return;
	p->masks = (ir_opt_masks){.set = true,
				  .from = p->runtime.from,
				  .v = ir_masks_hold(p) ? IR_MASKS_HOLD
							: IR_MASKS_START};
}

/* A preset of ours names the image that its program is in; what anybody else
 * writes is what somebody wants. */
static void note_image(const struct pass_ctx *c, const struct ir_policy *doc,
		       struct ir_policy *out)
{
	const struct source *from = sources_of(c->sources, doc->image.from.at);

	if (doc->image.set && !(from && source_is_preset(from)))
		out->image_written = doc->image;
}

bool passes_layers(struct pass_ctx *c, const docs *list, struct ir_policy *out)
{
	struct doc floor;
	bool ok = true;

	floor_doc(c, &floor);
	*out = (struct ir_policy){0};
	merge_layer(c->a, out, &floor.policy, false);
	vec_each(doc, list) {
		ir_verify(&doc->policy, IR_BOUND);
		ok &= may_say(c, doc);
		merge_layer(c->a, out, &doc->policy, doc->preset);
		note_image(c, &doc->policy, out);
	}
	default_masks(out);
	if (!check_limits(c, out))
		return false;
	ir_verify(out, IR_MERGED);
	return ok;
}
