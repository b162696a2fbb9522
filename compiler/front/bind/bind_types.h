/*
 * How the binders of one type look, and what they share.
 */
#ifndef COMPILER_FRONT_BIND_BIND_TYPES_H
#define COMPILER_FRONT_BIND_BIND_TYPES_H

#include "compiler/front/bind/bind.h"

enum bind_map {
#define MAP(name, where, prefix) BIND_MAP_##name,
#include "grammar/schema.def"
	BIND_MAPS,
};

enum bind_type {
#define TYPE(name, shape, max, what) BIND_TYPE_##name,
#include "grammar/schema.def"
	BIND_TYPES,
};

/* Most keys that one mapping has; bind.c asserts it. */
#define BIND_KEYS_MAX 40

/* The keys that were met in one mapping. */
struct bind_seen {
	unsigned n;
	struct bind_met {
		const char *setting, *name, *prefix;
		struct span at;
	} v[BIND_KEYS_MAX];
};

/* What a mapping of `masks` is bound to, on its way into the policy. */
struct bind_masks {
	ir_opt_bool hold;
	ir_texts fast;
};

/* What a mapping of `visible` is bound to. */
struct bind_visible {
	struct ir_text path;
	ir_opt_mode mode;
};

struct binder {
	struct pass_ctx *c;
	enum layer layer;
	ir_texts *extends;
	struct ir_policy *policy;
	struct bind_seen *policy_seen; /* shared with `network` */
};

/* A value on its way into *field, a member of the map's structure. */
typedef void (*bind_fn)(struct binder *b, const struct yaml_pair *pair,
			void *field);

/* Bind the pairs of a mapping into a structure. */
void bind_map(struct binder *b, enum bind_map map, const struct yaml_node *node,
	      void *into);
/* The same, and which settings were met. */
void bind_map_seen(struct binder *b, enum bind_map map,
		   const struct yaml_node *node, void *into,
		   struct bind_seen *seen);
bool bind_has(const struct bind_seen *seen, const char *setting);

/* An item of a list that must be a word: reports anything else. */
must_check bool bind_word(struct binder *b, const struct yaml_node *node,
			  const char *what);

struct ir_origin bind_from(const struct binder *b, struct span at);

#define bind_error(b, id, at, ...)                                             \
	diag_error((b)->c->diags, (id), (at), __VA_ARGS__)
#define bind_note(b, at, ...) diag_note((b)->c->diags, (at), __VA_ARGS__)
#define bind_help(b, ...)     diag_help((b)->c->diags, __VA_ARGS__)
#define bind_quote(b, s)      diag_quote((b)->c->diags, (s))

/*
 * The nearest of n names to s, or NULL when none is near: for "did you mean".
 */
const char *bind_nearest(struct str s, const char *const *names, size_t n);

/* bind_value.c: scalars and lists of words */
void bind_value_bool(struct binder *, const struct yaml_pair *, void *);
void bind_value_tls(struct binder *, const struct yaml_pair *, void *);
void bind_value_mode(struct binder *, const struct yaml_pair *, void *);
void bind_value_lasts(struct binder *, const struct yaml_pair *, void *);
void bind_value_engine(struct binder *, const struct yaml_pair *, void *);
void bind_value_runtime(struct binder *, const struct yaml_pair *, void *);
void bind_value_masks(struct binder *, const struct yaml_pair *, void *);
void bind_value_home(struct binder *, const struct yaml_pair *, void *);
void bind_value_trace_engine(struct binder *, const struct yaml_pair *, void *);
void bind_value_trust(struct binder *, const struct yaml_pair *, void *);
void bind_value_count(struct binder *, const struct yaml_pair *, void *);
void bind_value_size(struct binder *, const struct yaml_pair *, void *);
void bind_value_age(struct binder *, const struct yaml_pair *, void *);
void bind_value_wait(struct binder *, const struct yaml_pair *, void *);
void bind_value_cpus(struct binder *, const struct yaml_pair *, void *);
void bind_value_image(struct binder *, const struct yaml_pair *, void *);
void bind_value_name(struct binder *, const struct yaml_pair *, void *);
void bind_value_version(struct binder *, const struct yaml_pair *, void *);
void bind_value_user(struct binder *, const struct yaml_pair *, void *);
/* Has it no control character? The reader lets tabs and ends of lines through,
 * and no others. */
bool bind_value_is_line(struct str s);
/* Is it a path of this machine that everybody reads alike? Likewise. */
must_check bool bind_value_is_host_file(struct binder *, const struct text *);
void bind_value_host_file(struct binder *, const struct yaml_pair *, void *);
void bind_value_seccomp(struct binder *, const struct yaml_pair *, void *);

/* bind_list.c: lists of words */
void bind_list_extends(struct binder *, const struct yaml_pair *, void *);
void bind_list_patterns(struct binder *, const struct yaml_pair *, void *);
void bind_list_home_patterns(struct binder *, const struct yaml_pair *, void *);
void bind_list_args(struct binder *, const struct yaml_pair *, void *);
void bind_list_folders(struct binder *, const struct yaml_pair *, void *);
void bind_list_published(struct binder *, const struct yaml_pair *, void *);
void bind_list_paths(struct binder *, const struct yaml_pair *, void *);
void bind_list_capabilities(struct binder *, const struct yaml_pair *, void *);
/* One pattern; also the lines of an ignore file. False after reporting. */
must_check bool bind_list_pattern(struct pass_ctx *c, enum layer layer,
				  const struct text *line, ir_patterns *out);

/* bind_grant.c: destinations and what hangs on them */
void bind_grant_allow(struct binder *, const struct yaml_pair *, void *);
void bind_grant_ask(struct binder *, const struct yaml_pair *, void *);
void bind_grant_deny(struct binder *, const struct yaml_pair *, void *);
void bind_grant_hostnames(struct binder *, const struct yaml_pair *, void *);
void bind_grant_cidrs(struct binder *, const struct yaml_pair *, void *);
void bind_grant_dest(struct binder *, const struct yaml_pair *, void *);
void bind_grant_resolver(struct binder *, const struct yaml_pair *, void *);
void bind_grant_ports(struct binder *, const struct yaml_pair *, void *);
void bind_grant_port(struct binder *, const struct yaml_pair *, void *);
void bind_grant_method(struct binder *, const struct yaml_pair *, void *);
void bind_grant_url_path(struct binder *, const struct yaml_pair *, void *);
void bind_grant_http_rules(struct binder *, const struct yaml_pair *, void *);
void bind_grant_methods(struct binder *, const struct yaml_pair *, void *);
void bind_grant_url_paths(struct binder *, const struct yaml_pair *, void *);

/* bind_refusal.c: on_refusal */
void bind_refusal(struct binder *, const struct yaml_pair *, void *);
void bind_refusal_url(struct binder *, const struct yaml_pair *, void *);
void bind_refusal_env(struct binder *, const struct yaml_pair *, void *);

/* bind_credential.c: entries of `credentials` */
void bind_credential_host(struct binder *, const struct yaml_pair *, void *);
void bind_credential_header(struct binder *, const struct yaml_pair *, void *);
/* Is it the name of a variable? Else an error says so. */
must_check bool bind_credential_is_env(struct binder *, const struct text *);
void bind_credential_env_name(struct binder *, const struct yaml_pair *,
			      void *);
void bind_credential_file_name(struct binder *, const struct yaml_pair *,
			       void *);
void bind_credential_format(struct binder *, const struct yaml_pair *, void *);
void bind_credential_home_file(struct binder *, const struct yaml_pair *,
			       void *);
void bind_credential_fields(struct binder *, const struct yaml_pair *, void *);
void bind_credential_refresh(struct binder *, const struct yaml_pair *, void *);
void bind_credential_list(struct binder *, const struct yaml_pair *, void *);

/* bind_mapping.c: protect, trace, tests */
/* A mapping, or an error that shows one. */
must_check bool bind_mapping_is(struct binder *, const struct yaml_node *,
				const char *example);
void bind_mapping_event_name(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_program(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_protects(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_events(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_filters(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_requests(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_nevers(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_never_files(struct binder *, const struct yaml_pair *,
			      void *);
void bind_mapping_never_arg(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_network(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_masks(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_hardening(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_trace(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_rotate(struct binder *, const struct yaml_pair *, void *);
void bind_mapping_tests(struct binder *, const struct yaml_pair *, void *);

/* bind_upstream.c: the proxy that the gate goes out through */
void bind_upstream(struct binder *, const struct yaml_pair *, void *);
void bind_upstream_proxy(struct binder *, const struct yaml_pair *, void *);
void bind_upstream_env(struct binder *, const struct yaml_pair *, void *);
void bind_upstream_file(struct binder *, const struct yaml_pair *, void *);
void bind_upstream_direct(struct binder *, const struct yaml_pair *, void *);

/* bind_lint.c: exceptions from warnings, refusals that are meant */
void bind_lint_name(struct binder *, const struct yaml_pair *, void *);
void bind_lint_dest(struct binder *, const struct yaml_pair *, void *);
void bind_lint_text(struct binder *, const struct yaml_pair *, void *);
void bind_lint_reason(struct binder *, const struct yaml_pair *, void *);
void bind_lint_date(struct binder *, const struct yaml_pair *, void *);
void bind_lint_waivers(struct binder *, const struct yaml_pair *, void *);
void bind_lint_host_name(struct binder *, const struct yaml_pair *, void *);
void bind_lint_purposes(struct binder *, const struct yaml_pair *, void *);

/* bind_visible.c */
void bind_visible_path(struct binder *, const struct yaml_pair *, void *);
void bind_visible_list(struct binder *, const struct yaml_pair *, void *);

#endif
