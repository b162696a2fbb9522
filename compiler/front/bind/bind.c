#include "compiler/front/bind/bind.h"

#include "compiler/base/limits.h"
#include "compiler/base/near.h"
#include "compiler/front/bind/bind_types.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- the schema as tables ------------------------------------------------ */

enum shape { SHAPE_WORD, SHAPE_LIST, SHAPE_MAPPING, SHAPE_EITHER, SHAPE_OPEN };

#define MUST   1
#define GLOBAL 2 /* passes/layers refuses it elsewhere */
#define ONE    4 /* bind_credential.c has the message */

struct key {
	enum bind_map map;
	const char *name;
	enum bind_type type;
	size_t field; /* offset in the map's structure */
	const char *setting;
	unsigned flags;
};

/* The structure that each map is bound to. */
#define OF_POLICY     struct ir_policy
#define OF_MASKS      struct bind_masks
#define OF_UPSTREAM   struct ir_upstream
#define OF_NETWORK    struct ir_policy
#define OF_GRANT      struct ir_grant
#define OF_ASKED      struct ir_grant
#define OF_DENIAL     struct ir_grant
#define OF_HTTP	      struct ir_http
#define OF_HARDENING  struct ir_hardening
#define OF_PROTECT    struct ir_protect
#define OF_VISIBLE    struct bind_visible
#define OF_CREDENTIAL struct ir_credential
#define OF_TRACE      struct ir_trace
#define OF_EVENT      struct ir_trace_event
#define OF_ROTATE     struct ir_trace
#define OF_TESTS      struct ir_tests
#define OF_NEVER      struct ir_never
#define OF_WAIVER     struct ir_waiver
#define OF_PURPOSE    struct ir_purpose
#define OF_ON_REFUSAL struct ir_on_refusal

static const struct key keys[] = {
#define KEY(map, key, type, field, setting, flags, doc)                        \
	{BIND_MAP_##map, key,  BIND_TYPE_##type, offsetof(OF_##map, field),    \
	 setting,	 flags},
#include "grammar/schema.def"
};

enum {
	POLICY_KEYS = 0
#define KEY(map, key, type, field, setting, flags, doc)                        \
	+(BIND_MAP_##map == BIND_MAP_POLICY)
#include "grammar/schema.def"
};
_Static_assert(POLICY_KEYS <= BIND_KEYS_MAX, "keys of the largest mapping");

static const struct {
	const char *where, *prefix;
} maps[] = {
#define MAP(name, where, prefix) {where, prefix},
#include "grammar/schema.def"
};

static const struct {
	enum shape shape;
	unsigned max;
	const char *what;
} types[] = {
#define TYPE(name, shape, max, what) {SHAPE_##shape, max, what},
#include "grammar/schema.def"
};

static const bind_fn binders[BIND_TYPES] = {
	[BIND_TYPE_BOOL] = bind_value_bool,
	[BIND_TYPE_TLS] = bind_value_tls,
	[BIND_TYPE_ENGINE] = bind_value_engine,
	[BIND_TYPE_RUNTIME] = bind_value_runtime,
	[BIND_TYPE_MASKS] = bind_mapping_masks,
	[BIND_TYPE_UPSTREAM] = bind_upstream,
	[BIND_TYPE_PROXY] = bind_upstream_proxy,
	[BIND_TYPE_LOGIN_ENV] = bind_upstream_env,
	[BIND_TYPE_LOGIN_FILE] = bind_upstream_file,
	[BIND_TYPE_DIRECT] = bind_upstream_direct,
	[BIND_TYPE_HOME] = bind_value_home,
	[BIND_TYPE_MODE] = bind_value_mode,
	[BIND_TYPE_FOLDERS] = bind_list_folders,
	[BIND_TYPE_PUBLISHED] = bind_list_published,
	[BIND_TYPE_TRACE_ENGINE] = bind_value_trace_engine,
	[BIND_TYPE_TRUST] = bind_value_trust,
	[BIND_TYPE_COUNT] = bind_value_count,
	[BIND_TYPE_SIZE] = bind_value_size,
	[BIND_TYPE_AGE] = bind_value_age,
	[BIND_TYPE_CPUS] = bind_value_cpus,
	[BIND_TYPE_IMAGE] = bind_value_image,
	[BIND_TYPE_NAME] = bind_value_name,
	[BIND_TYPE_VERSION] = bind_value_version,
	[BIND_TYPE_USER] = bind_value_user,
	[BIND_TYPE_SECCOMP] = bind_value_seccomp,
	[BIND_TYPE_RESOLVER] = bind_grant_resolver,
	[BIND_TYPE_DEST] = bind_grant_dest,
	[BIND_TYPE_CREDENTIAL_HOST] = bind_credential_host,
	[BIND_TYPE_HEADER] = bind_credential_header,
	[BIND_TYPE_ENV_NAME] = bind_credential_env_name,
	[BIND_TYPE_FILE_NAME] = bind_credential_file_name,
	[BIND_TYPE_FORMAT] = bind_credential_format,
	[BIND_TYPE_HOME_FILE] = bind_credential_home_file,
	[BIND_TYPE_HOST_FILE] = bind_value_host_file,
	[BIND_TYPE_HOST_PLACE] = bind_visible_path,
	[BIND_TYPE_VISIBLES] = bind_visible_list,
	[BIND_TYPE_RENEWAL] = bind_credential_refresh,
	[BIND_TYPE_FIELDS] = bind_credential_fields,
	[BIND_TYPE_EVENT_NAME] = bind_mapping_event_name,
	[BIND_TYPE_LINT] = bind_lint_name,
	[BIND_TYPE_LINT_DEST] = bind_lint_dest,
	[BIND_TYPE_LINT_TEXT] = bind_lint_text,
	[BIND_TYPE_REASON] = bind_lint_reason,
	[BIND_TYPE_DATE] = bind_lint_date,
	[BIND_TYPE_EXTENDS] = bind_list_extends,
	[BIND_TYPE_ALLOW] = bind_grant_allow,
	[BIND_TYPE_ASK] = bind_grant_ask,
	[BIND_TYPE_LASTS] = bind_value_lasts,
	[BIND_TYPE_WAIT] = bind_value_wait,
	[BIND_TYPE_DENY] = bind_grant_deny,
	[BIND_TYPE_HOSTNAMES] = bind_grant_hostnames,
	[BIND_TYPE_CIDRS] = bind_grant_cidrs,
	[BIND_TYPE_PATTERNS] = bind_list_patterns,
	[BIND_TYPE_HOME_PATTERNS] = bind_list_home_patterns,
	[BIND_TYPE_PROGRAM] = bind_mapping_program,
	[BIND_TYPE_ARGS] = bind_list_args,
	[BIND_TYPE_PATHS] = bind_list_paths,
	[BIND_TYPE_CAPABILITIES] = bind_list_capabilities,
	[BIND_TYPE_PORTS] = bind_grant_ports,
	[BIND_TYPE_HTTP_RULES] = bind_grant_http_rules,
	[BIND_TYPE_METHODS] = bind_grant_methods,
	[BIND_TYPE_URL_PATHS] = bind_grant_url_paths,
	[BIND_TYPE_PROTECTS] = bind_mapping_protects,
	[BIND_TYPE_CREDENTIALS] = bind_credential_list,
	[BIND_TYPE_EVENTS] = bind_mapping_events,
	[BIND_TYPE_FILTERS] = bind_mapping_filters,
	[BIND_TYPE_REQUESTS] = bind_mapping_requests,
	[BIND_TYPE_NEVERS] = bind_mapping_nevers,
	[BIND_TYPE_PORT] = bind_grant_port,
	[BIND_TYPE_METHOD] = bind_grant_method,
	[BIND_TYPE_URL_PATH] = bind_grant_url_path,
	[BIND_TYPE_NEVER_FILES] = bind_mapping_never_files,
	[BIND_TYPE_NEVER_ARG] = bind_mapping_never_arg,
	[BIND_TYPE_WAIVERS] = bind_lint_waivers,
	[BIND_TYPE_HOST_NAME] = bind_lint_host_name,
	[BIND_TYPE_PURPOSES] = bind_lint_purposes,
	[BIND_TYPE_ON_REFUSAL] = bind_refusal,
	[BIND_TYPE_HOOK_URL] = bind_refusal_url,
	[BIND_TYPE_HOOK_ENV] = bind_refusal_env,
	[BIND_TYPE_NETWORK] = bind_mapping_network,
	[BIND_TYPE_HARDENING] = bind_mapping_hardening,
	[BIND_TYPE_TRACE] = bind_mapping_trace,
	[BIND_TYPE_ROTATE] = bind_mapping_rotate,
	[BIND_TYPE_TESTS] = bind_mapping_tests,
};

static const struct key *find_key(enum bind_map map, struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].map == map && str_is(name, keys[i].name))
			return &keys[i];
	return NULL;
}

/* --- shared -------------------------------------------------------------- */

/* Errors after which a file is not looked at any further: enough to fill the
 * screen several times, few enough to stay quick on a hostile file. */
#define ERRORS_ENOUGH 200

struct ir_origin bind_from(const struct binder *b, struct span at)
{
	return (struct ir_origin){at, b->layer};
}

const char *bind_nearest(struct str s, const char *const *names, size_t n)
{
	struct near near = {.word = s, .below = s.n < 5 ? 2 : s.n < 9 ? 3 : 4};

	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == s.n &&
		    strncasecmp(names[i], s.p, s.n) == 0)
			return names[i];
	for (size_t i = 0; i < n; i++)
		(void)near_offer(&near, names[i]);
	return near.name;
}

static const char *kind_name(const struct yaml_node *n)
{
	switch (n->kind) {
	case YAML_SCALAR:
		return yaml_is_null(n) ? "nothing" : "a word";
	case YAML_LIST:
		return "a list";
	case YAML_MAP:
		return "a mapping";
	}
	abort();
}

/* The place of a node; of a block list or mapping only where it begins. */
static struct span node_at(const struct yaml_node *n)
{
	return n->text.at;
}

bool bind_word(struct binder *b, const struct yaml_node *node, const char *what)
{
	if (node->kind == YAML_SCALAR && !yaml_is_null(node))
		return true;
	if (node->kind == YAML_SCALAR) {
		bind_error(b, DIAG_NULL_VALUE, node_at(node), "an empty item");
		bind_help(b, "remove it, or write %s", what);
		return false;
	}
	bind_error(b, DIAG_TYPE, node_at(node), "%s where %s belongs",
		   kind_name(node), what);
	return false;
}

bool bind_has(const struct bind_seen *seen, const char *setting)
{
	for (unsigned i = 0; i < seen->n; i++)
		if (strcmp(seen->v[i].setting, setting) == 0)
			return true;
	return false;
}

/* --- keys ---------------------------------------------------------------- */

/* The first mapping that has this key, which is another one: "'pids' goes under 'hardening'". */
static bool help_elsewhere(struct binder *b, struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *prefix = maps[keys[i].map].prefix;

		if (!str_is(name, keys[i].name))
			continue;
		if (keys[i].map == BIND_MAP_POLICY)
			bind_help(b, "'%s' stands at the top level",
				  keys[i].name);
		else if (prefix[0])
			bind_help(b, "'%s' goes under '%.*s'", keys[i].name,
				  (int)strlen(prefix) - 1, prefix);
		else
			bind_help(b, "'%s' is a key of %s", keys[i].name,
				  maps[keys[i].map].where);
		return true;
	}
	return false;
}

static void help_valid(struct binder *b, const char *const *names, size_t n)
{
	struct buf list;

	buf_init(&list, b->c->a);
	for (size_t i = 0; i < n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	bind_help(b, "the keys are %s", list.p);
}

static void unknown_key(struct binder *b, enum bind_map map,
			const struct yaml_pair *pair)
{
	const char *names[BIND_KEYS_MAX], *near;
	const struct text *key = &pair->key;
	uint64_t port;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].map == map)
			names[n++] = keys[i].name;
	bind_error(b, DIAG_UNKNOWN_KEY, key->at, "unknown key '%s' in %s",
		   bind_quote(b, key->s), maps[map].where);
	near = bind_nearest(key->s, names, n);
	if (near)
		bind_help(b, "did you mean '%s'?", near);
	else if (yaml_is_null(pair->value) && str_ends(key->s, STR(":")))
		bind_help(b, "quote a value that ends in a colon: \"%s:\"",
			  bind_quote(b, key->s));
	else if ((map == BIND_MAP_GRANT || map == BIND_MAP_ASKED ||
		  map == BIND_MAP_DENIAL) &&
		 str_u64(pair->value->text.s, 65535, &port))
		bind_help(b, "no blank before a port: '%s:%u'",
			  bind_quote(b, key->s), (unsigned)port);
	else if (!help_elsewhere(b, key->s))
		help_valid(b, names, n);
}

/* Was the setting written before, under this key or another? */
static bool met_before(struct binder *b, const struct key *k,
		       const struct yaml_pair *pair, struct bind_seen *seen)
{
	for (unsigned i = 0; i < seen->n; i++) {
		const struct bind_met *m = &seen->v[i];

		if (strcmp(m->setting, k->setting) != 0)
			continue;
		if (strcmp(m->name, k->name) == 0 &&
		    m->prefix == maps[k->map].prefix)
			bind_error(b, DIAG_DUPLICATE, pair->key.at,
				   "duplicate key '%s'", k->name);
		else
			bind_error(b, DIAG_SPELLINGS, pair->key.at,
				   "'%s%s' and '%s%s' together",
				   maps[k->map].prefix, k->name, m->prefix,
				   m->name);
		bind_note(b, m->at, "the first is here");
		bind_help(b, "keep one of them");
		return true;
	}
	seen->v[seen->n++] = (struct bind_met){
		k->setting, k->name, maps[k->map].prefix, pair->key.at};
	return false;
}

/* The keys of the mapping that this key takes. */
static void help_mapping(struct binder *b, const struct key *k)
{
	const char *names[BIND_KEYS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str prefix = str_of(maps[keys[i].map].prefix);
		struct str name = arena_fmt(b->c->a, "%s%s.",
					    maps[k->map].prefix, k->name);

		if (str_eq(prefix, name))
			names[n++] = keys[i].name;
	}
	help_valid(b, names, n);
}

/* 'args' is the list that people write as one line of a shell. */
static struct str as_items(struct binder *b, const struct key *k, struct str s)
{
	struct buf out;

	if (k->type != BIND_TYPE_ARGS)
		return s;
	buf_init(&out, b->c->a);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == ' ')
			buf_addc(&out, ',');
		buf_addc(&out, s.p[i]);
	}
	return buf_str(&out);
}

static void help_shape(struct binder *b, const struct key *k,
		       const struct yaml_node *v)
{
	switch (types[k->type].shape) {
	case SHAPE_WORD:
	case SHAPE_OPEN:
		return;
	case SHAPE_LIST:
	case SHAPE_EITHER:
		if (v->kind == YAML_SCALAR)
			bind_help(b, "write '%s: [%s]'", k->name,
				  bind_quote(b, as_items(b, k, v->text.s)));
		else
			bind_help(b, "each item begins with '- '");
		return;
	case SHAPE_MAPPING:
		help_mapping(b, k);
		return;
	}
}

static bool shape_fits(struct binder *b, const struct key *k,
		       const struct yaml_pair *pair)
{
	static const enum yaml_kind want[] = {
		[SHAPE_WORD] = YAML_SCALAR, [SHAPE_LIST] = YAML_LIST,
		[SHAPE_MAPPING] = YAML_MAP, [SHAPE_EITHER] = YAML_LIST,
		[SHAPE_OPEN] = YAML_SCALAR,
	};
	const struct yaml_node *v = pair->value;
	enum shape shape = types[k->type].shape;
	unsigned max = types[k->type].max;

	if (yaml_is_null(v)) {
		bind_error(b, DIAG_NULL_VALUE, pair->key.at,
			   "'%s' has no value", k->name);
		if (want[shape] == YAML_LIST)
			bind_help(b, "remove the key, or write '%s: []'",
				  k->name);
		else
			bind_help(b, "remove the key, or give it %s",
				  types[k->type].what);
		return false;
	}
	if (v->kind != want[shape] &&
	    !((shape == SHAPE_EITHER || shape == SHAPE_OPEN) &&
	      v->kind == YAML_MAP)) {
		bind_error(b, DIAG_TYPE, node_at(v), "'%s' takes %s, not %s",
			   k->name, types[k->type].what, kind_name(v));
		help_shape(b, k, v);
		return false;
	}
	if (v->kind == YAML_LIST && v->items.n > max) {
		bind_error(b, DIAG_ITEMS, node_at(v->items.v[max]),
			   "%u items in '%s', at most %u", v->items.n, k->name,
			   max);
		return false;
	}
	return true;
}

static void missing_keys(struct binder *b, enum bind_map map,
			 const struct yaml_node *node,
			 const struct bind_seen *seen)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].map == map && keys[i].flags & MUST &&
		    !bind_has(seen, keys[i].setting)) {
			bind_error(b, DIAG_MISSING, node_at(node),
				   "%s without '%s'", maps[map].where,
				   keys[i].name);
			bind_help(b, "'%s' is %s", keys[i].name,
				  types[keys[i].type].what);
		}
}

void bind_map_seen(struct binder *b, enum bind_map map,
		   const struct yaml_node *node, void *into,
		   struct bind_seen *seen)
{
	bool known = true;

	vec_each(pair, &node->pairs) {
		const struct key *k = find_key(map, pair->key.s);

		if (b->c->diags->errors > ERRORS_ENOUGH)
			return;
		known &= k != NULL;
		if (!k)
			unknown_key(b, map, pair);
		else if (!met_before(b, k, pair, seen) &&
			 shape_fits(b, k, pair))
			binders[k->type](b, pair, (char *)into + k->field);
	}
	/* A key that is missing may be the one that was not understood. */
	if (known)
		missing_keys(b, map, node, seen);
}

void bind_map(struct binder *b, enum bind_map map, const struct yaml_node *node,
	      void *into)
{
	struct bind_seen seen = {.n = 0};

	bind_map_seen(b, map, node, into, &seen);
}

/* --- whole documents ----------------------------------------------------- */

bool bind_policy(struct pass_ctx *c, enum layer layer,
		 const struct yaml_node *root, struct ir_policy *out,
		 ir_texts *extends)
{
	struct bind_seen seen = {.n = 0};
	struct binder b = {c, layer, extends, out, &seen};
	unsigned before = c->diags->errors;

	if (!root)
		return true;
	if (root->kind == YAML_MAP) {
		bind_map_seen(&b, BIND_MAP_POLICY, root, out, &seen);
		return c->diags->errors == before;
	}
	bind_error(&b, DIAG_TYPE, node_at(root),
		   "a policy is a mapping, not %s", kind_name(root));
	bind_help(&b, "as in 'allow: [github.com:443]'");
	return false;
}

bool bind_tests(struct pass_ctx *c, enum layer layer,
		const struct yaml_node *root, struct ir_tests *out)
{
	struct binder b = {.c = c, .layer = layer};
	unsigned before = c->diags->errors;

	if (!root)
		return true;
	vec_each(pair, &root->pairs) {
		if (!str_is(pair->key.s, "tests"))
			continue;
		bind_error(&b, DIAG_UNKNOWN_KEY, pair->key.at,
			   "'tests' in a file of tests");
		bind_help(&b, "'allow', 'deny' and 'never' are its own keys");
		return false;
	}
	if (root->kind == YAML_MAP) {
		bind_map(&b, BIND_MAP_TESTS, root, out);
		return c->diags->errors == before;
	}
	bind_error(&b, DIAG_TYPE, node_at(root),
		   "a file of tests is a mapping, not %s", kind_name(root));
	bind_help(&b, "as in 'deny: [POST https://gist.github.com/]'");
	return false;
}

bool bind_flag(struct pass_ctx *c, enum layer layer, const char *key,
	       const struct text *value, struct ir_policy *out)
{
	const struct key *k = find_key(BIND_MAP_POLICY, str_of(key));
	struct binder b = {.c = c, .layer = layer, .policy = out};
	struct yaml_node *n = arena_new_of(c->a, struct yaml_node);
	struct yaml_pair pair = {.key = {str_of(key), value->at, 0},
				 .value = n};
	unsigned before = c->diags->errors;

	n->text = *value;
	if (types[k->type].shape == SHAPE_LIST) {
		struct yaml_node *items = arena_new_of(c->a, struct yaml_node);

		items->kind = YAML_LIST;
		items->text.at = value->at;
		*vec_push(c->a, &items->items) = n;
		pair.value = items;
	}
	binders[k->type](&b, &pair, (char *)out + k->field);
	return c->diags->errors == before;
}
