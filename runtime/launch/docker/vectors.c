#include "runtime/launch/docker/vectors.h"

#include "compiler/base/limits.h"
#include "compiler/plan/docker_json.h"
#include "compiler/base/sha256.h"
#include "compiler/plan/native_json.h"
#include "runtime/launch/docker/binds.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

static int fail_vectors(struct err *err, const char *what)
{
	return err_set(err, -EPROTO, "docker.json: %s", what);
}

/* A string that JSON ends early with \u0000 would read as a shorter one. */
static bool has_nul_escape(struct str json)
{
	for (size_t i = 0; i + 6 <= json.n; i++) {
		if (json.p[i] != '\\')
			continue;
		if (memcmp(json.p + i, "\\u0000", 6) == 0)
			return true;
		i++; /* the byte that this backslash escapes */
	}
	return memchr(json.p, '\0', json.n) != NULL;
}

static int read_words(struct arena *a, const cJSON *list, bool native,
		      vectors_words *out, struct err *err)
{
	const cJSON *w;

	if (!cJSON_IsArray(list))
		return fail_vectors(err, "argv is not a list");
	cJSON_ArrayForEach(w, list) {
		if (!cJSON_IsString(w))
			return fail_vectors(
				err, "argv holds something else than text");
		if (out->n >= VECTORS_WORDS_MAX)
			return fail_vectors(err, "argv has too many words");
		*vec_push(a, out) = arena_cstr(a, str_of(w->valuestring));
	}
	if (out->n < 3 || strcmp(out->v[1], "run") != 0 ||
	    strcmp(out->v[0],
		   native ? NATIVE_JSON_NATIVE : DOCKER_JSON_DOCKER) != 0)
		return fail_vectors(err, "argv is not the engine's 'run'");
	return 0;
}

static int read_vector(struct arena *a, const cJSON *o, bool native,
		       struct vector *out, struct err *err)
{
	const cJSON *m;
	int rc;

	if (!cJSON_IsObject(o) || out->image)
		return fail_vectors(
			err, "a vector is not an object, or there twice");
	cJSON_ArrayForEach(m, o) {
		if (strcmp(m->string, DOCKER_JSON_IMAGE) == 0 &&
		    cJSON_IsString(m) && !out->image && m->valuestring[0]) {
			out->image = arena_cstr(a, str_of(m->valuestring));
		} else if (strcmp(m->string, DOCKER_JSON_ARGV) == 0 &&
			   !out->words.n) {
			rc = read_words(a, m, native, &out->words, err);
			if (rc < 0)
				return rc;
		} else {
			return fail_vectors(
				err, "unknown or repeated member in a vector");
		}
	}
	if (!out->image || !out->words.n)
		return fail_vectors(err, "a vector without image or argv");
	return 0;
}

static int read_fields(struct arena *a, const cJSON *list, vectors_words *out,
		       struct err *err)
{
	const cJSON *f;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) == 0 ||
	    cJSON_GetArraySize(list) > (int)LIMIT_FIELDS)
		return fail_vectors(err, "no fields of a credential's file");
	cJSON_ArrayForEach(f, list) {
		if (!cJSON_IsString(f) || !f->valuestring[0])
			return fail_vectors(err, "a field without a name");
		*vec_push(a, out) = arena_cstr(a, str_of(f->valuestring));
	}
	return 0;
}

/* "~/…", of which the agent has a copy below its own home. */
static int read_token_file(struct arena *a, const cJSON *o, const cJSON *file,
			   struct vectors_credential *out, struct err *err)
{
	const cJSON *refresh =
		cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_REFRESH);
	struct str rest, name;

	if (refresh && (!cJSON_IsString(refresh) ||
			strncmp(refresh->valuestring, "https://", 8) != 0))
		return fail_vectors(err, "a malformed credential");
	if (cJSON_GetArraySize(o) != (refresh ? 4 : 3) ||
	    !cJSON_IsString(file) || strncmp(file->valuestring, "~/", 2) != 0)
		return fail_vectors(err, "a malformed credential");
	rest = str_of(file->valuestring + 1);
	while (str_field(&rest, '/', &name))
		if (str_is(name, "..") || str_is(name, "."))
			return fail_vectors(err, "a malformed credential");
	out->file = arena_cstr(a, str_of(file->valuestring));
	if (refresh)
		out->refresh = arena_cstr(a, str_of(refresh->valuestring));
	return read_fields(
		a, cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_FIELDS),
		&out->fields, err);
}

static int read_credential(struct arena *a, const cJSON *o,
			   struct vectors_credential *out, struct err *err)
{
	const cJSON *n =
		cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_NUMBER);
	const cJSON *env =
		cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_FROM_ENV);
	const cJSON *file =
		cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_FROM_FILE);
	const cJSON *tokens =
		cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_FILE);
	const cJSON *source = env ? env : file;

	if (!cJSON_IsNumber(n) || n->valuedouble != n->valueint ||
	    n->valueint < 1 || n->valueint > VECTORS_CREDENTIALS_MAX)
		return fail_vectors(err, "a malformed credential");
	out->n = (uint32_t)n->valueint;
	if (tokens)
		return read_token_file(a, o, tokens, out, err);
	if (cJSON_GetArraySize(o) != 2 || !cJSON_IsString(source) ||
	    !source->valuestring[0])
		return fail_vectors(err, "a malformed credential");
	*(env ? &out->env : &out->file) =
		arena_cstr(a, str_of(source->valuestring));
	return 0;
}

static int read_credentials(struct arena *a, const cJSON *list,
			    struct vectors *out, struct err *err)
{
	const cJSON *item;

	if (!cJSON_IsArray(list) || out->credentials.n ||
	    cJSON_GetArraySize(list) > VECTORS_CREDENTIALS_MAX)
		return fail_vectors(err, "malformed credentials, or too many");
	cJSON_ArrayForEach(item, list) {
		struct vectors_credential c = {0};
		int rc = read_credential(a, item, &c, err);

		if (rc < 0)
			return rc;
		*vec_push(a, &out->credentials) = c;
	}
	return 0;
}

static bool is_port(const cJSON *p)
{
	return cJSON_IsNumber(p) && p->valuedouble == p->valueint &&
	       p->valueint >= 1 && p->valueint <= UINT16_MAX;
}

/* The order is the gate's, too. */
static int read_ports(struct arena *a, const cJSON *list, vectors_ports *out,
		      struct err *err)
{
	const cJSON *p;

	if (!cJSON_IsArray(list) || out->n ||
	    cJSON_GetArraySize(list) > (int)LIMIT_MACHINE_PORTS)
		return fail_vectors(err, "malformed ports, or too many");
	cJSON_ArrayForEach(p, list) {
		if (!is_port(p))
			return fail_vectors(err, "a malformed port");
		*vec_push(a, out) = (uint16_t)p->valueint;
	}
	return 0;
}

/* The order is the gate's, which goes by DOCKER_JSON_TO. */
static int read_published(struct arena *a, const cJSON *list,
			  vectors_published_list *out, struct err *err)
{
	const cJSON *o;

	if (!cJSON_IsArray(list) || out->n ||
	    cJSON_GetArraySize(list) > (int)LIMIT_PUBLISHED)
		return fail_vectors(err,
				    "malformed published ports, or too many");
	cJSON_ArrayForEach(o, list) {
		const cJSON *addr =
			cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_ADDR);
		const cJSON *port =
			cJSON_GetObjectItemCaseSensitive(o, DOCKER_JSON_PORT);
		struct vectors_published x = {0};

		if (!cJSON_IsString(addr) || !is_port(port) ||
		    !is_port(cJSON_GetObjectItemCaseSensitive(
			    o, DOCKER_JSON_TO)) ||
		    cJSON_GetArraySize(o) != 3 ||
		    !addr_parse(str_of(addr->valuestring), &x.addr))
			return fail_vectors(err, "a malformed published port");
		x.port = (uint16_t)port->valueint;
		*vec_push(a, out) = x;
	}
	return 0;
}

/* Where there is none it is that of all sessions. */
static int read_home(const char *text, struct vectors *out, struct err *err)
{
	if (out->home != VECTORS_HOME_SHARED)
		return fail_vectors(err, "'home' twice");
	if (strcmp(text, DOCKER_JSON_HOME_WORKSPACE) == 0)
		out->home = VECTORS_HOME_WORKSPACE;
	else if (strcmp(text, DOCKER_JSON_HOME_NONE) == 0)
		out->home = VECTORS_HOME_NONE;
	else
		return fail_vectors(err, "unknown home");
	return 0;
}

static int read_archive(struct arena *a, const cJSON *m, struct vectors *out,
			struct err *err)
{
	const cJSON *file =
			    cJSON_GetObjectItemCaseSensitive(m, NATIVE_JSON_FILE),
		    *sha256 = cJSON_GetObjectItemCaseSensitive(
			    m, NATIVE_JSON_SHA256);

	if (!cJSON_IsString(file) || file->valuestring[0] != '/' ||
	    !cJSON_IsString(sha256) ||
	    !sha256_is_hex(str_of(sha256->valuestring)) ||
	    cJSON_GetArraySize(m) != 2 || out->archive)
		return fail_vectors(err, "its archive makes no sense");
	out->archive = arena_cstr(a, str_of(file->valuestring));
	out->archive_sha256 = arena_cstr(a, str_of(sha256->valuestring));
	return 0;
}

static int read_uplink(const char *text, struct vectors *out, struct err *err)
{
	out->sockets = strcmp(text, NATIVE_JSON_SOCKETS) == 0;
	return out->sockets || strcmp(text, NATIVE_JSON_TAP) == 0
		       ? 0
		       : fail_vectors(err, "unknown uplink");
}

/* "HOST:PORT", "[ADDR]:PORT" */
static bool take_proxy(struct arena *a, struct str text,
		       struct vectors_upstream *out)
{
	size_t colon = text.n;
	uint64_t port;

	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (colon < 2 ||
	    !str_u64(str_slice(text, colon, text.n), UINT16_MAX, &port) ||
	    port == 0)
		return false;
	text = str_slice(text, 0, colon - 1);
	if (str_starts(text, STR("[")) && str_ends(text, STR("]")))
		text = str_slice(text, 1, text.n - 1);
	out->host = arena_cstr(a, text);
	out->port = (uint16_t)port;
	return text.n > 0;
}

static bool take_direct(struct arena *a, const cJSON *list,
			struct vectors_upstream *out)
{
	int n = cJSON_GetArraySize(list);
	const cJSON *item;

	if (!cJSON_IsArray(list) || n < 1 || n > (int)LIMIT_DIRECT ||
	    out->direct)
		return false;
	out->direct = arena_array(a, (size_t)n, sizeof(*out->direct));
	cJSON_ArrayForEach(item, list) {
		struct cidr *net = &out->direct[out->n_direct];

		if (!cJSON_IsString(item) || !item->valuestring[0])
			return false;
		if (cidr_parse(str_of(item->valuestring), net) == CIDR_OK)
			out->n_direct++;
		else
			out->direct_names = true;
	}
	return true;
}

static int read_upstream(struct arena *a, const cJSON *o,
			 struct vectors_upstream *out, struct err *err)
{
	struct vectors_upstream u = {0};
	const cJSON *m;
	bool ok = cJSON_IsObject(o) && !out->host;

	cJSON_ArrayForEach(m, o) {
		if (strcmp(m->string, DOCKER_JSON_DIRECT) == 0)
			ok &= take_direct(a, m, &u);
		else if (!cJSON_IsString(m))
			ok = false;
		else if (strcmp(m->string, DOCKER_JSON_PROXY) == 0)
			ok &= !u.host &&
			      take_proxy(a, str_of(m->valuestring), &u);
		else if (strcmp(m->string, DOCKER_JSON_FROM_ENV) == 0)
			u.env = arena_cstr(a, str_of(m->valuestring));
		else if (strcmp(m->string, DOCKER_JSON_FROM_FILE) == 0)
			u.file = arena_cstr(a, str_of(m->valuestring));
		else
			ok = false;
	}
	if (!ok || !u.host || (u.env && u.file))
		return fail_vectors(err, "a malformed proxy");
	*out = u;
	return 0;
}

static int read_member(struct arena *a, const cJSON *m, struct vectors *out,
		       struct err *err)
{
	const char *text = cJSON_IsString(m) ? m->valuestring : NULL;

	if (strcmp(m->string, DOCKER_JSON_GATE) == 0)
		return read_vector(a, m, out->native, &out->gate, err);
	if (strcmp(m->string, DOCKER_JSON_AGENT) == 0)
		return read_vector(a, m, out->native, &out->agent, err);
	if (strcmp(m->string, DOCKER_JSON_CREDENTIALS) == 0)
		return read_credentials(a, m, out, err);
	if (strcmp(m->string, DOCKER_JSON_UPSTREAM) == 0)
		return read_upstream(a, m, &out->upstream, err);
	if (strcmp(m->string, DOCKER_JSON_HOST_PORTS) == 0)
		return read_ports(a, m, &out->host_ports, err);
	if (strcmp(m->string, DOCKER_JSON_PUBLISHED) == 0)
		return read_published(a, m, &out->published, err);
	if (strcmp(m->string, DOCKER_JSON_TRACER) == 0)
		return read_vector(a, m, out->native, &out->tracer, err);
	if (out->native && strcmp(m->string, NATIVE_JSON_ASKED) == 0)
		return read_vector(a, m, true, &out->asked, err);
	if (strcmp(m->string, DOCKER_JSON_TRACER_VERSION) == 0)
		return read_vector(a, m, out->native, &out->tracer_version,
				   err);
	if (strcmp(m->string, DOCKER_JSON_VIEW) == 0)
		return read_vector(a, m, out->native, &out->view, err);
	if (strcmp(m->string, DOCKER_JSON_RELAY) == 0)
		return read_vector(a, m, out->native, &out->relay, err);
	if (strcmp(m->string, DOCKER_JSON_VERSION_KEY) == 0)
		return cJSON_IsNumber(m) &&
				       m->valuedouble == DOCKER_JSON_VERSION
			       ? 0
			       : fail_vectors(err, "version is not 1");
	if (cJSON_IsTrue(m) && strcmp(m->string, DOCKER_JSON_SSH_AGENT) == 0 &&
	    !out->ssh_agent) {
		out->ssh_agent = true;
		return 0;
	}
	if (text && strcmp(m->string, DOCKER_JSON_UPSTREAM_CA) == 0 &&
	    !out->upstream_ca) {
		out->upstream_ca = arena_cstr(a, str_of(text));
		return 0;
	}
	if (text && strcmp(m->string, DOCKER_JSON_HOME) == 0)
		return read_home(text, out, err);
	if (text && strcmp(m->string, DOCKER_JSON_ENGINE) == 0)
		return out->native || strcmp(text, DOCKER_JSON_DOCKER) == 0
			       ? 0
			       : fail_vectors(err, "an unknown engine");
	if (out->native && strcmp(m->string, NATIVE_JSON_ARCHIVE) == 0)
		return read_archive(a, m, out, err);
	if (text && out->native && strcmp(m->string, NATIVE_JSON_UPLINK) == 0)
		return read_uplink(text, out, err);
	if (text && strcmp(m->string, DOCKER_JSON_RUNTIME) == 0 &&
	    !out->runtime) {
		out->runtime = arena_cstr(a, str_of(text));
		return 0;
	}
	if (text && strcmp(m->string, DOCKER_JSON_LINK) == 0) {
		out->link = strcmp(text, DOCKER_JSON_VETH) == 0
				    ? VECTORS_VETH
				    : VECTORS_BRIDGE;
		return out->link == VECTORS_VETH ||
				       strcmp(text, DOCKER_JSON_BRIDGE) == 0
			       ? 0
			       : fail_vectors(err, "unknown link");
	}
	return err_set(err, -EPROTO,
		       "docker.json: unknown or repeated member '%.40s'",
		       m->string);
}

static int read_root(struct arena *a, const cJSON *root, struct vectors *out,
		     struct err *err)
{
	const cJSON *m, *engine;

	if (!cJSON_IsObject(root))
		return fail_vectors(err, "not an object");
	if (!cJSON_HasObjectItem(root, DOCKER_JSON_VERSION_KEY))
		return fail_vectors(err, "no version");
	engine = cJSON_GetObjectItemCaseSensitive(root, DOCKER_JSON_ENGINE);
	out->native = cJSON_IsString(engine) &&
		      strcmp(engine->valuestring, NATIVE_JSON_NATIVE) == 0;
	/* as the host's own programs run */
	out->runtime = out->native ? "runc" : NULL;
	cJSON_ArrayForEach(m, root) {
		int rc = read_member(a, m, out, err);

		if (rc < 0)
			return rc;
	}
	if (!out->gate.image || !out->agent.image || !out->runtime)
		return fail_vectors(err, "gate, agent or runtime is missing");
	return 0;
}

int vectors_parse(struct arena *a, struct str json, struct vectors *out,
		  struct err *err)
{
	struct vectors read = {0};
	const char *end = NULL;
	cJSON *root;
	int rc;

	if (json.n > LIMIT_PLAN_BYTES || has_nul_escape(json))
		return fail_vectors(err, "too long, or a NUL in it");
	root = cJSON_ParseWithLengthOpts(json.p, json.n, &end, false);
	if (!root)
		return fail_vectors(err, "not JSON");
	for (; end < json.p + json.n && *end == '\n'; end++)
		;
	rc = end == json.p + json.n ? read_root(a, root, &read, err)
				    : fail_vectors(err, "bytes behind the end");
	cJSON_Delete(root);
	if (rc == 0)
		*out = read;
	return rc;
}

/* --- expanding ----------------------------------------------------------- */

struct expansion {
	struct arena *a;
	const struct vectors_values *values;
	vectors_words out;
	size_t bytes;
	struct err *err;
};

static int fail_placeholder(struct expansion *x, struct str name)
{
	return err_set(x->err, -EPROTO,
		       "docker.json: unknown placeholder '{%.*s}'",
		       (int)(name.n < 60 ? name.n : 60), name.p);
}

static int add_word(struct expansion *x, const char *word)
{
	size_t n = strlen(word) + 1;

	if (x->out.n >= VECTORS_WORDS_MAX || n > VECTORS_BYTES_MAX - x->bytes)
		return err_set(
			x->err, -E2BIG,
			"the command line for docker is too long (%u words, %zu bytes so far)",
			x->out.n, x->bytes);
	x->bytes += n;
	*vec_push(x->a, &x->out) = arena_cstr(x->a, str_of(word));
	return 0;
}

static int placeholder_text(struct expansion *x, struct str name,
			    const char **out)
{
	const struct vectors_values *v = x->values;
	struct str env = STR("env:");

	if (str_is(name, "session"))
		*out = v->session;
	else if (str_is(name, "workspace"))
		*out = v->workspace;
	else if (str_is(name, "home"))
		*out = v->home;
	else if (str_is(name, "state"))
		*out = v->state;
	else if (str_is(name, "programs") && v->programs)
		*out = v->programs;
	else if (str_is(name, "user-home") && v->user_home)
		*out = v->user_home;
	else if (str_is(name, "resolver") && v->resolver)
		*out = v->resolver;
	else if (!str_starts(name, env) || name.n == env.n)
		return fail_placeholder(x, name);
	else
		*out = v->env(v->env_ctx,
			      arena_cstr(x->a, str_slice(name, env.n, name.n)));
	if (!*out)
		return err_set(
			x->err, -ENOENT,
			"environment variable '%.*s' is not set, and the policy's args use it",
			(int)(name.n - env.n), name.p + env.n);
	return 0;
}

/* One run of text with its placeholders replaced. */
static int replace_placeholders(struct expansion *x, struct str word,
				struct buf *out)
{
	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];
		const char *text = NULL;
		size_t end;
		int rc;

		if (c != '{' && c != '}') {
			buf_addc(out, c);
			continue;
		}
		if (i + 1 < word.n && word.p[i + 1] == c) {
			buf_addc(out, c);
			i++;
			continue;
		}
		end = str_find(word, '}', i);
		if (c == '}' || end == word.n)
			return err_set(x->err, -EPROTO,
				       "docker.json: a lone '%c' in '%.*s'", c,
				       (int)(word.n < 80 ? word.n : 80),
				       word.p);
		rc = placeholder_text(x, str_slice(word, i + 1, end), &text);
		if (rc < 0)
			return rc;
		buf_adds(out, text);
		i = end;
	}
	return 0;
}

/* One CSV field as `--mount` reads it, quoted where it must be. */
static void put_csv(struct buf *out, struct str field)
{
	bool plain = field.n > 0;

	for (size_t i = 0; i < field.n; i++)
		if (strchr(",\"\r\n", field.p[i]))
			plain = false;
	if (plain) {
		buf_add(out, field);
		return;
	}
	buf_addc(out, '"');
	for (size_t i = 0; i < field.n; i++) {
		if (field.p[i] == '"')
			buf_addc(out, '"');
		buf_addc(out, field.p[i]);
	}
	buf_addc(out, '"');
}

/*
 * A --mount value: fields are taken apart before text is put in, so that no
 * comma of a path becomes an option of the mount.
 */
static int replace_mount(struct expansion *x, struct str word, struct buf *out)
{
	bool more = true;

	for (bool first = true; more; first = false) {
		struct str field, value;
		struct buf b;
		int rc;

		if (!binds_field(x->a, &word, &field, &more))
			return err_set(
				x->err, -EPROTO,
				"docker.json: a --mount value is not CSV");
		buf_init(&b, x->a);
		rc = replace_placeholders(x, field, &b);
		if (rc < 0)
			return rc;
		value = buf_str(&b);
		/* Docker's CSV reader turns CR LF into LF */
		for (size_t i = 0; i + 1 < value.n; i++)
			if (value.p[i] == '\r' && value.p[i + 1] == '\n')
				return err_set(
					x->err, -EINVAL,
					"docker cannot mount a path with CR LF in it");
		if (!first)
			buf_addc(out, ',');
		put_csv(out, value);
	}
	return 0;
}

static bool is_workspace(struct str mount)
{
	struct str field;

	while (str_field(&mount, ',', &field))
		if (str_is(field, "source={workspace}"))
			return true;
	return false;
}

static int expand_text(struct expansion *x, const char *word, bool is_mount)
{
	struct str text = str_of(word);
	struct str option = STR("--mount=");
	struct buf b;
	int rc;

	buf_init(&b, x->a);
	if (!is_mount && str_starts(text, option)) {
		buf_add(&b, option);
		text = str_slice(text, option.n, text.n);
		is_mount = true;
	}
	rc = is_mount ? replace_mount(x, text, &b)
		      : replace_placeholders(x, text, &b);
	if (is_mount && x->values->readonly && is_workspace(text))
		buf_adds(&b, ",readonly");
	return rc < 0 ? rc : add_word(x, b.n ? b.p : "");
}

static int expand_list(struct expansion *x, const char *const *words, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_word(x, words[i]);
	return rc;
}

static int expand_words(struct expansion *x, const char *const *words)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && words && words[i]; i++)
		rc = add_word(x, words[i]);
	return rc;
}

/* The least that lets a container load programs into the kernel. */
static int expand_tracing(struct expansion *x)
{
	int rc;

	if (!x->values->narrow)
		return add_word(x, "--cap-add=SYS_ADMIN");
	rc = add_word(x, "--cap-add=BPF");
	return rc == 0 ? add_word(x, "--cap-add=PERFMON") : rc;
}

/* What git of the host says stands in the file, and in no word. */
static int expand_git(struct expansion *x)
{
	if (!x->values->git)
		return 0;
	return expand_text(
		x,
		"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_GIT_IDENTITY
		",target=" DOCKER_JSON_GIT_IDENTITY_AT ",readonly",
		false);
}

static int expand_word(struct expansion *x, const char *word, bool is_mount)
{
	const struct vectors_values *v = x->values;
	size_t n = 0;
	int rc;

	if (strcmp(word, DOCKER_JSON_MASKS) == 0)
		return expand_list(x, v->masks, v->n_masks);
	if (strcmp(word, DOCKER_JSON_TERMINAL) == 0) {
		rc = add_word(x, "--interactive");
		if (rc == 0 && v->tty)
			rc = add_word(x, "--tty");
		/* keys that end docker's command would end the session */
		return rc == 0 && v->tty ? add_word(x, VECTORS_NO_KEYS) : rc;
	}
	if (strcmp(word, DOCKER_JSON_GIT) == 0)
		return expand_git(x);
	if (strcmp(word, DOCKER_JSON_OWN_PATH) == 0)
		return expand_words(x, v->own_path);
	if (strcmp(word, NATIVE_JSON_PATH) == 0)
		return expand_words(x, v->path);
	if (strcmp(word, DOCKER_JSON_REPOSITORY) == 0)
		return expand_words(x, v->repository);
	if (strcmp(word, DOCKER_JSON_REPOSITORY_VIEW) == 0)
		return expand_words(x, v->repository_view);
	if (strcmp(word, DOCKER_JSON_ENVIRONMENT) == 0)
		return expand_words(x, v->environment);
	if (strcmp(word, DOCKER_JSON_INIT_WORDS) == 0)
		return expand_words(x, v->init);
	if (strcmp(word, DOCKER_JSON_ENTRYPOINT) == 0)
		return expand_words(x, v->entrypoint);
	if (strcmp(word, DOCKER_JSON_TRACING) == 0)
		return expand_tracing(x);
	if (strcmp(word, DOCKER_JSON_OWNER) == 0)
		return add_word(x, v->owner);
	if (strcmp(word, DOCKER_JSON_COMMAND) == 0) {
		for (rc = 0; rc == 0 && v->command && v->command[n]; n++)
			rc = add_word(x, v->command[n]);
		return rc;
	}
	return expand_text(x, word, is_mount);
}

bool vectors_asks_host(const struct vectors *v)
{
	vec_each(w, &v->gate.words)
		if (strcmp(*w, DOCKER_JSON_RESOLVER) == 0)
			return true;
	return false;
}

int vectors_expand(struct arena *a, const struct vector *v,
		   const struct vectors_values *values, char ***out_argv,
		   struct err *err)
{
	struct expansion x = {.a = a, .values = values, .err = err};
	bool is_mount = false;

	for (uint32_t i = 0; i < v->words.n; i++) {
		int rc = expand_word(&x, v->words.v[i], is_mount);

		if (rc < 0)
			return rc;
		is_mount = strcmp(v->words.v[i], "--mount") == 0;
	}
	*vec_push(a, &x.out) = NULL;
	*out_argv = x.out.v;
	return 0;
}
