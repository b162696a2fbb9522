/*
 * Entries of `credentials`: a header with its secret, or a file with the fields
 * of it that are secrets.
 */
#include "compiler/base/ascii.h"
#include "compiler/base/oauth.h"
#include "compiler/front/bind/bind_types.h"
#include "compiler/front/word/dest.h"

#include <stddef.h>
#include <string.h>

#define FIELD_DEPTH_MAX 8u

#define outer(type, member, field)                                             \
	((type *)(void *)((char *)(field)-offsetof(type, member)))

/* --- host and header ------------------------------------------------------ */

void bind_credential_host(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	const struct text *t = &pair->value->text;
	struct ir_dest d;

	if (!dest_parse(b->c, t, &d))
		return;
	if (d.kind == IR_DEST_HOST) {
		*(struct ir_dest *)field = d;
		return;
	}
	bind_error(b, DIAG_DEST_KIND, t->at,
		   "a credential goes to one host by name");
	bind_help(b, "as in 'api.example.com'");
}

/* Headers that frame the message or name the host: RFC 9110, 9112. */
static const char *const framing[] = {
	"host",		  "connection",
	"content-length", "transfer-encoding",
	"upgrade",	  "te",
	"trailer",	  "keep-alive",
	"expect",	  "proxy-connection",
};

void bind_credential_header(struct binder *b, const struct yaml_pair *pair,
			    void *field)
{
	const struct text *t = &pair->value->text;

	if (!ascii_is_token(t->s)) {
		bind_error(b, DIAG_HEADER, t->at,
			   "'%s' is not the name of a header",
			   bind_quote(b, t->s));
		bind_help(b, "a name alone, as in 'Authorization' (RFC 9110)");
		return;
	}
	if (ascii_is_any(t->s, framing, ARRAY_LEN(framing))) {
		bind_error(b, DIAG_HEADER, t->at,
			   "'%s' says how the message is framed",
			   bind_quote(b, t->s));
		bind_help(
			b,
			"a secret goes into a header of its own, as in 'Authorization'");
		return;
	}
	*(struct str *)field = t->s;
}

static void set_source(struct ir_credential *cred, const struct text *t,
		       bool from_env)
{
	cred->from_env = from_env;
	cred->source = t->s;
	cred->source_at = t->at;
}

bool bind_credential_is_env(struct binder *b, const struct text *t)
{
	bool ok = t->s.n > 0 && !ascii_is_digit(t->s.p[0]);

	for (size_t i = 0; i < t->s.n; i++) {
		ok &= ascii_is_alnum(t->s.p[i]) || t->s.p[i] == '_';
	}
	if (ok)
		return true;
	bind_error(b, DIAG_TEXT, t->at, "'%s' is not the name of a variable",
		   bind_quote(b, t->s));
	bind_help(b, "the name alone, without '$', as in 'GITHUB_TOKEN'");
	return false;
}

void bind_credential_env_name(struct binder *b, const struct yaml_pair *pair,
			      void *field)
{
	const struct text *t = &pair->value->text;

	if (bind_credential_is_env(b, t))
		set_source(outer(struct ir_credential, source, field), t, true);
}

void bind_credential_file_name(struct binder *b, const struct yaml_pair *pair,
			       void *field)
{
	const struct text *t = &pair->value->text;

	if (t->s.n && str_find(t->s, '\n', 0) == t->s.n) {
		set_source(outer(struct ir_credential, source, field), t,
			   false);
		return;
	}
	bind_error(b, DIAG_TEXT, t->at, "not a path");
	bind_help(b, "as in '~/.config/token'");
}

void bind_credential_format(struct binder *b, const struct yaml_pair *pair,
			    void *field)
{
	const struct text *t = &pair->value->text;
	unsigned places = 0;
	bool printable = true;

	for (size_t i = 0; i < t->s.n; i++) {
		printable &= t->s.p[i] >= 0x20 && t->s.p[i] < 0x7f;
		if (t->s.p[i] == '{' && i + 1 < t->s.n && t->s.p[i + 1] == '}')
			places++;
	}
	if (places == 1 && printable) {
		*(struct str *)field = t->s;
		return;
	}
	bind_error(b, DIAG_FORMAT, t->at,
		   printable ? "%u places for the secret in a format"
			     : "a format that is not printable ASCII",
		   places);
	bind_help(b, "one '{}' stands for the secret, as in 'Bearer {}'");
}

/* --- a file with sentinels ------------------------------------------------ */

/* Below the home, and by its plain path: the agent's copy lies likewise. */
static bool is_home_file(struct str path)
{
	struct str rest = str_slice(path, 2, path.n), name;

	if (!str_starts(path, STR("~/")) || str_ends(path, STR("/")))
		return false;
	while (str_field(&rest, '/', &name))
		if (name.n == 0 || !bind_value_is_line(name) ||
		    str_is(name, ".") || str_is(name, ".."))
			return false;
	return true;
}

void bind_credential_home_file(struct binder *b, const struct yaml_pair *pair,
			       void *field)
{
	const struct text *t = &pair->value->text;

	if (is_home_file(t->s)) {
		set_source(outer(struct ir_credential, source, field), t,
			   false);
		return;
	}
	bind_error(b, DIAG_TEXT, t->at, "'%s' is not a file below the home",
		   bind_quote(b, t->s));
	bind_help(
		b,
		"the agent's copy lies at the same place in its own: as in '~/.app/auth.json'");
}

static bool is_field(struct str s)
{
	struct str rest = s, name;
	unsigned depth = 0;

	if (s.n == 0 || str_ends(s, STR(".")))
		return false;
	while (str_field(&rest, '.', &name))
		if (++depth > FIELD_DEPTH_MAX || name.n == 0 ||
		    !bind_value_is_line(name) ||
		    str_find(name, ' ', 0) < name.n)
			return false;
	return true;
}

static bool bind_field(struct binder *b, const struct text *t,
		       const ir_texts *before)
{
	if (!is_field(t->s)) {
		bind_error(b, DIAG_TEXT, t->at, "'%s' is not a field of JSON",
			   bind_quote(b, t->s));
		bind_help(
			b,
			"names from the root, %u at most, as in 'tokens.access'",
			FIELD_DEPTH_MAX);
		return false;
	}
	vec_each(had, before)
		if (str_eq(had->s, t->s)) {
			bind_error(b, DIAG_DUPLICATE, t->at, "'%s' twice",
				   bind_quote(b, t->s));
			bind_note(b, had->from.at, "the first is here");
			return false;
		}
	return true;
}

void bind_credential_fields(struct binder *b, const struct yaml_pair *pair,
			    void *field)
{
	ir_texts *list = field;

	if (pair->value->items.n == 0) {
		bind_error(b, DIAG_TEXT, pair->value->text.at,
			   "an empty list of fields");
		bind_help(b, "without secrets a file needs no entry here");
	}
	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;

		if (bind_word(b, *item, "a field") && bind_field(b, t, list))
			*vec_push(b->c->a, list) =
				(struct ir_text){bind_from(b, t->at), t->s};
	}
}

/* --- renewing them ---------------------------------------------------------
 */

void bind_credential_refresh(struct binder *b, const struct yaml_pair *pair,
			     void *field)
{
	const struct text *t = &pair->value->text;
	struct ir_dest d;

	if (!dest_parse(b->c, t, &d))
		return;
	if (d.kind == IR_DEST_URL && d.u.url.scheme == IR_SCHEME_HTTPS &&
	    d.u.url.who == IR_DEST_HOST && d.u.url.path.n > 1) {
		struct ir_credential *x =
			outer(struct ir_credential, refresh, field);

		x->refresh = d;
		x->has_refresh = true;
		return;
	}
	bind_error(b, DIAG_DEST_KIND, t->at,
		   "tokens are renewed at one https URL with a path");
	bind_help(b, "as in 'https://auth.example.com/oauth/token'");
}

/* Requests of the agent to that URL: they are granted, and the gate's. */
static void grant_refresh(struct binder *b, struct ir_policy *p,
			  const struct ir_credential *x)
{
	struct ir_grant *g = vec_push(b->c->a, &p->allow);
	struct ir_http *rule;

	g->from = bind_from(b, x->refresh.at);
	g->key = IR_KEY_ALLOW;
	g->dest = x->refresh;
	g->has_http = true;
	g->implied = true;
	rule = vec_push(b->c->a, &g->http);
	rule->at = x->refresh.at;
	rule->any_path = true;
	*vec_push(b->c->a, &rule->methods) =
		(struct ir_text){g->from, STR("POST")};
}

/* An access token and a refresh token, once each; an ID token at most once. */
static bool check_refresh(struct binder *b, const struct ir_credential *x)
{
	static const char *const members[] = {OAUTH_ACCESS, OAUTH_REFRESH,
					      OAUTH_ID};
	unsigned n[ARRAY_LEN(members)] = {0};

	vec_each(f, &x->fields) {
		const char *member = oauth_member(f->s);

		for (size_t i = 0; i < ARRAY_LEN(members); i++)
			n[i] += member && strcmp(member, members[i]) == 0;
		if (member)
			continue;
		bind_error(b, DIAG_TEXT, f->from.at,
			   "what 'refresh' would put into '%s' is not known",
			   bind_quote(b, f->s));
		bind_help(
			b,
			"the last name of a field says which token it is: it begins with 'access', 'refresh' or 'id_token'");
		return false;
	}
	if (n[0] == 1 && n[1] == 1 && n[2] <= 1)
		return true;
	bind_error(b, DIAG_TEXT, x->refresh.at,
		   "'refresh' wants one access token and one refresh token");
	bind_help(
		b,
		"name both fields: 'fields: [tokens.access, tokens.refresh]'");
	return false;
}

/* --- an entry ------------------------------------------------------------- */

static const struct bind_met *met_key(const struct bind_seen *seen,
				      const char *name)
{
	for (unsigned i = 0; i < seen->n; i++)
		if (strcmp(seen->v[i].name, name) == 0)
			return &seen->v[i];
	return NULL;
}

/* A key of the other kind of entry. */
static bool says_nothing(struct binder *b, const struct bind_met *met)
{
	if (!met)
		return true;
	bind_error(b, DIAG_SPELLINGS, met->at, "'%s' together with 'file'",
		   met->name);
	bind_help(
		b,
		"the secrets of a 'file' are its 'fields', and the agent itself puts them into headers");
	return false;
}

static bool check_header(struct binder *b, struct span at,
			 const struct bind_seen *seen)
{
	if (!met_key(seen, "header")) {
		bind_error(b, DIAG_MISSING, at,
			   "an entry of 'credentials' without 'header'");
		bind_help(b, "'header' is the name of an HTTP header");
		return false;
	}
	return true;
}

static bool check_fields(struct binder *b, struct span at,
			 const struct bind_seen *seen)
{
	if (!says_nothing(b, met_key(seen, "header")) ||
	    !says_nothing(b, met_key(seen, "format")))
		return false;
	if (met_key(seen, "fields"))
		return true;
	bind_error(b, DIAG_MISSING, at, "a 'file' without its 'fields'");
	bind_help(b, "those that are secrets, as in 'fields: [tokens.access]'");
	return false;
}

/* Is everything there that belongs together? */
static bool check_entry(struct binder *b, struct span at,
			const struct bind_seen *seen,
			const struct ir_credential *x)
{
	if (met_key(seen, "file"))
		return check_fields(b, at, seen) &&
		       (!x->has_refresh || check_refresh(b, x));
	if (met_key(seen, "refresh")) {
		bind_error(b, DIAG_TEXT, met_key(seen, "refresh")->at,
			   "'refresh' without a 'file'");
		bind_help(b, "what is renewed are the 'fields' of a 'file'");
		return false;
	}
	if (met_key(seen, "fields")) {
		bind_error(b, DIAG_MISSING, met_key(seen, "fields")->at,
			   "'fields' without a 'file'");
		bind_help(
			b,
			"they are those of a file of JSON: 'file: ~/.app/auth.json'");
		return false;
	}
	if (!bind_has(seen, "source")) {
		bind_error(b, DIAG_MISSING, at,
			   "a credential without its secret");
		bind_help(
			b,
			"'from_env' names a variable, 'from_file' a file, 'file' one with secrets in some of its fields");
		return false;
	}
	return check_header(b, at, seen);
}

void bind_credential_list(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	struct ir_policy *p = outer(struct ir_policy, credentials, field);

	vec_each(item, &pair->value->items) {
		struct ir_credential entry = {.format = STR("{}")};
		struct bind_seen seen = {.n = 0};
		unsigned before = b->c->diags->errors;

		if (!bind_mapping_is(
			    b, *item,
			    "{host: api.example.com, header: Authorization, from_env: TOKEN}"))
			continue;
		entry.from = bind_from(b, (*item)->text.at);
		bind_map_seen(b, BIND_MAP_CREDENTIAL, *item, &entry, &seen);
		if (b->c->diags->errors != before ||
		    !check_entry(b, (*item)->text.at, &seen, &entry))
			continue;
		if (entry.has_refresh)
			grant_refresh(b, p, &entry);
		*vec_push(b->c->a, &p->credentials) = entry;
	}
}
