#include "runtime/launch/native/words.h"

#include "compiler/plan/docker_json.h"
#include "compiler/plan/native_json.h"
#include "runtime/launch/docker/binds.h"

#include <errno.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <string.h>

struct reading {
	struct arena *a;
	struct words *out;
	words_get *get;
	void *ctx;
	const char *entrypoint;
	struct err *err;
};

static int fail_word(const struct reading *r, const char *word)
{
	return err_set(
		r->err, -EPROTO,
		"native.json: '%.200s' is no word that this engine knows",
		word);
}

/* --- places --------------------------------------------------------------- */

/* Absolute, and each part of it a name. */
static bool is_place(const char *path)
{
	struct str rest = str_of(path), name;

	if (path[0] != '/' || path[1] == '\0')
		return false;
	rest = str_slice(rest, 1, rest.n);
	while (str_field(&rest, '/', &name))
		if (name.n == 0 || str_is(name, ".") || str_is(name, ".."))
			return false;
	return true;
}

static int add_place(struct reading *r, const struct words_place *p,
		     const char *word)
{
	bool is_bind = p->kind == WORDS_BIND;

	if (!p->target || !is_place(p->target) ||
	    (is_bind && (!p->source || p->source[0] != '/')))
		return fail_word(r, word);
	*vec_push(r->a, &r->out->places) = *p;
	return 0;
}

static bool take_mount_field(struct reading *r, struct str field,
			     struct words_place *p)
{
	struct str key = field, value = field;

	(void)str_field(&value, '=', &key);
	if (str_is(field, "type=bind"))
		p->kind = WORDS_BIND;
	else if (str_is(field, "type=tmpfs"))
		p->kind = WORDS_TMPFS;
	else if (str_is(key, "source") || str_is(key, "src"))
		p->source = arena_cstr(r->a, value);
	else if (str_is(key, "target") || str_is(key, "dst") ||
		 str_is(key, "destination"))
		p->target = arena_cstr(r->a, value);
	else if (str_is(field, "readonly") || str_is(field, "ro") ||
		 str_is(field, "readonly=true") || str_is(field, "ro=true"))
		p->readonly = true;
	else if (str_is(field, "optional"))
		p->optional = true;
	else if (str_is(field, "bind-propagation=rshared"))
		p->shared = true;
	else
		return false;
	return true;
}

static int read_mount(struct reading *r, const char *word, struct str value)
{
	struct words_place p = {.mode = 01777};
	bool more = true;

	while (more) {
		struct str field;

		if (!binds_field(r->a, &value, &field, &more) ||
		    !take_mount_field(r, field, &p))
			return fail_word(r, word);
	}
	return add_place(r, &p, word);
}

/* SOURCE:TARGET[:ro]; what is not absolute is a volume of Docker's. */
static int read_volume(struct reading *r, const char *word, struct str value)
{
	struct words_place p = {.kind = WORDS_BIND};
	struct str field;

	if (!str_field(&value, ':', &field))
		return fail_word(r, word);
	p.source = arena_cstr(r->a, field);
	if (!str_field(&value, ':', &field))
		return fail_word(r, word);
	p.target = arena_cstr(r->a, field);
	p.readonly = str_is(value, "ro");
	if (value.n && !p.readonly && !str_is(value, "rw"))
		return fail_word(r, word);
	return add_place(r, &p, word);
}

static bool read_octal(struct str s, unsigned *out)
{
	unsigned v = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '7' || v > 07777)
			return false;
		v = v * 8 + (unsigned)(s.p[i] - '0');
	}
	*out = v;
	return s.n > 0 && v <= 07777;
}

static bool read_id(struct str s, uint32_t *out)
{
	uint64_t v;

	if (!str_u64(s, UINT32_MAX - 1, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

/* "64m", "1g", "1024": as the kernel reads it, too. */
static bool is_size(struct str s)
{
	size_t digits = 0;

	while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	return digits > 0 && digits < 16 &&
	       (digits == s.n ||
		(digits + 1 == s.n && strchr("kmgKMG%", s.p[digits])));
}

static bool take_tmpfs_option(struct reading *r, struct str option,
			      struct words_place *p)
{
	struct str key = option, value = option;

	(void)str_field(&value, '=', &key);
	if (str_is(option, "exec"))
		p->exec = true;
	else if (str_is(option, "ro"))
		p->readonly = true;
	else if (str_is(key, "size") && is_size(value))
		p->size = arena_cstr(r->a, value);
	else if (str_is(key, "mode"))
		return read_octal(value, &p->mode);
	else if (str_is(key, "uid"))
		return read_id(value, &p->uid);
	else if (str_is(key, "gid"))
		return read_id(value, &p->gid);
	else /* always so */
		return str_is(option, "nosuid") || str_is(option, "nodev") ||
		       str_is(option, "noexec") || str_is(option, "rw");
	return true;
}

static int read_tmpfs(struct reading *r, const char *word, struct str value)
{
	struct words_place p = {.kind = WORDS_TMPFS, .mode = 01777};
	struct str target = value, option;

	if (str_find(value, ':', 0) < value.n)
		(void)str_field(&value, ':', &target);
	else
		value = STR("");
	p.target = arena_cstr(r->a, target);
	while (str_field(&value, ',', &option))
		if (!take_tmpfs_option(r, option, &p))
			return fail_word(r, word);
	return add_place(r, &p, word);
}

/* --- masks ----------------------------------------------------------------- */

static bool read_mask_kind(struct str s, enum words_mask_kind *out)
{
	static const char *const kinds[] = {
		[WORDS_HIDE] = NATIVE_JSON_HIDE,
		[WORDS_KEEP] = NATIVE_JSON_KEEP,
		[WORDS_PIN] = NATIVE_JSON_PIN,
		[WORDS_IS] = NATIVE_JSON_IS,
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_is(s, kinds[i])) {
			*out = (enum words_mask_kind)i;
			return true;
		}
	return false;
}

static int read_mask(struct reading *r, const char *word, struct str value)
{
	struct str kind = {0}, dev = {0}, ino = {0};
	struct words_mask m = {0};

	if (!str_field(&value, ':', &kind) || !str_field(&value, ':', &dev) ||
	    !str_field(&value, ':', &ino) || !read_mask_kind(kind, &m.kind) ||
	    !str_u64(dev, UINT64_MAX, &m.dev) ||
	    !str_u64(ino, UINT64_MAX, &m.ino))
		return fail_word(r, word);
	m.target = arena_cstr(r->a, value);
	if (!is_place(m.target) || (m.kind == WORDS_HIDE && !r->out->empty))
		return fail_word(r, word);
	*vec_push(r->a, &r->out->masks) = m;
	return 0;
}

static int read_empty(struct reading *r, const char *word, struct str value)
{
	if (value.n == 0 || value.p[0] != '/')
		return fail_word(r, word);
	r->out->empty = arena_cstr(r->a, value);
	return 0;
}

/* --- rights --------------------------------------------------------------- */

static int read_cap(struct reading *r, const char *word, struct str name)
{
	static const struct {
		const char *name;
		int cap;
	} caps[] = {
		{"BPF", CAP_BPF},
		{"KILL", CAP_KILL},
		{"NET_ADMIN", CAP_NET_ADMIN},
		{"NET_BIND_SERVICE", CAP_NET_BIND_SERVICE},
		{"PERFMON", CAP_PERFMON},
		{"SETGID", CAP_SETGID},
		{"SETPCAP", CAP_SETPCAP},
		{"SETUID", CAP_SETUID},
		{"SYS_ADMIN", CAP_SYS_ADMIN},
		{"SYS_PTRACE", CAP_SYS_PTRACE},
	};

	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		if (str_is(name, caps[i].name)) {
			r->out->caps |= UINT64_C(1) << caps[i].cap;
			return 0;
		}
	return fail_word(r, word);
}

/* Of the session's own network, and of nothing that a host has once. */
static int read_sysctl(struct reading *r, const char *word, struct str value)
{
	struct words_sysctl s;
	struct str name;
	char *path;

	if (!str_field(&value, '=', &name) || !str_starts(name, STR("net.")) ||
	    value.n == 0)
		return fail_word(r, word);
	path = arena_cstr(r->a, name);
	for (char *p = path; *p; p++) {
		if (*p == '/')
			return fail_word(r, word);
		if (*p == '.')
			*p = '/';
	}
	s.path = path;
	s.value = arena_cstr(r->a, value);
	*vec_push(r->a, &r->out->sysctls) = s;
	return 0;
}

static int read_user(struct reading *r, const char *word, struct str value)
{
	struct str uid;

	if (!str_field(&value, ':', &uid) || !read_id(uid, &r->out->uid) ||
	    !read_id(value, &r->out->gid))
		return fail_word(r, word);
	r->out->has_user = true;
	return 0;
}

static int read_security(struct reading *r, const char *word, struct str value)
{
	static const struct str seccomp = STR_INIT("seccomp=");

	if (str_is(value, "no-new-privileges"))
		return 0;
	if (!str_starts(value, seccomp) || value.n == seccomp.n)
		return fail_word(r, word);
	r->out->filter = arena_cstr(r->a, str_slice(value, seccomp.n, value.n));
	return 0;
}

static int read_count(struct reading *r, const char *word, struct str value,
		      unsigned *out)
{
	uint64_t v;

	if (!str_u64(value, INT32_MAX, &v) || v == 0)
		return fail_word(r, word);
	*out = (unsigned)v;
	return 0;
}

static int read_memory(struct reading *r, const char *word, struct str value)
{
	return str_u64(value, INT64_MAX, &r->out->memory) && r->out->memory
		       ? 0
		       : fail_word(r, word);
}

/* "2.500": whole ones, and thousandths of one. */
static int read_cpus(struct reading *r, const char *word, struct str value)
{
	uint64_t whole, rest;
	struct str front;

	if (!str_field(&value, '.', &front) || value.n != 3 ||
	    !str_u64(front, 100000, &whole) || !str_u64(value, 999, &rest) ||
	    whole + rest == 0)
		return fail_word(r, word);
	r->out->cpus_milli = (unsigned)(whole * 1000 + rest);
	return 0;
}

static int read_ulimit(struct reading *r, const char *word, struct str value)
{
	static const struct str files = STR_INIT("nofile=");
	struct str soft;

	if (!str_starts(value, files))
		return fail_word(r, word);
	value = str_slice(value, files.n, value.n);
	if (!str_field(&value, ':', &soft) || !str_eq(soft, value))
		return fail_word(r, word);
	return read_count(r, word, soft, &r->out->files);
}

static int read_network(struct reading *r, const char *word, struct str value)
{
	if (str_is(value, "none"))
		r->out->network = WORDS_NONE;
	else if (str_starts(value, STR("container:")))
		r->out->network = WORDS_AGENT;
	else
		return fail_word(r, word);
	return 0;
}

static int read_processes(struct reading *r, const char *word, struct str value)
{
	if (str_starts(
		    value,
		    STR("container:" DOCKER_JSON_OURS DOCKER_JSON_VIEW "-")))
		r->out->within = WORDS_VIEWS;
	else if (str_starts(value, STR("container:" DOCKER_JSON_OURS
				       NATIVE_JSON_ASKED "-")))
		r->out->within = WORDS_ASKEDS;
	else
		return fail_word(r, word);
	return 0;
}

static int read_ask(struct reading *r, const char *word, struct str value)
{
	static const struct str write = STR_INIT(NATIVE_JSON_WRITE);
	struct str name;

	if (value.n == 0)
		return fail_word(r, word);
	while (str_field(&value, ',', &name)) {
		struct words_call c = {.write = str_ends(name, write)};

		name = str_slice(name, 0, name.n - (c.write ? write.n : 0));
		c.nr = seccomp_syscall_resolve_name(arena_cstr(r->a, name));
		if (c.nr == __NR_SCMP_ERROR)
			return fail_word(r, word);
		if (c.nr >= 0) /* one that this machine has */
			*vec_push(r->a, &r->out->ask) = c;
	}
	return 0;
}

/* --- the rest ------------------------------------------------------------- */

static int read_env(struct reading *r, const char *word, struct str value)
{
	size_t name = str_find(value, '=', 0);
	const char *own;

	if (name == 0)
		return fail_word(r, word);
	if (name < value.n) {
		*vec_push(r->a, &r->out->env) = arena_cstr(r->a, value);
		return 0;
	}
	own = r->get(r->ctx, arena_cstr(r->a, value));
	if (own)
		*vec_push(r->a, &r->out->env) =
			arena_fmt(r->a, "%.*s=%s", STR_ARG(value), own).p;
	return 0;
}

static int read_folder(struct reading *r, const char *word, struct str value)
{
	if (value.n == 0 || value.p[0] != '/')
		return fail_word(r, word);
	r->out->folder = arena_cstr(r->a, value);
	return 0;
}

/* Words that say what is so anyway. */
static bool is_known(const char *word)
{
	static const char *const known[] = {"--interactive", "--cap-drop=ALL",
					    "--init=false"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(word, known[i]) == 0)
			return true;
	return str_starts(str_of(word), STR("--detach-keys="));
}

static int read_option(struct reading *r, const char *word, struct str name,
		       struct str value)
{
	if (str_is(name, "--mount"))
		return read_mount(r, word, value);
	if (str_is(name, "--volume"))
		return read_volume(r, word, value);
	if (str_is(name, "--tmpfs"))
		return read_tmpfs(r, word, value);
	if (str_is(name, "--mask"))
		return read_mask(r, word, value);
	if (str_is(name, "--masks"))
		return read_empty(r, word, value);
	if (str_is(name, "--env"))
		return read_env(r, word, value);
	if (str_is(name, "--workdir"))
		return read_folder(r, word, value);
	if (str_is(name, "--cap-add"))
		return read_cap(r, word, value);
	if (str_is(name, "--sysctl"))
		return read_sysctl(r, word, value);
	if (str_is(name, "--security-opt"))
		return read_security(r, word, value);
	if (str_is(name, "--ulimit"))
		return read_ulimit(r, word, value);
	if (str_is(name, "--pids-limit"))
		return read_count(r, word, value, &r->out->processes);
	if (str_is(name, "--memory"))
		return read_memory(r, word, value);
	if (str_is(name, "--cpus"))
		return read_cpus(r, word, value);
	if (str_is(name, "--network"))
		return read_network(r, word, value);
	if (str_is(name, "--pid"))
		return read_processes(r, word, value);
	if (str_is(name, "--ask"))
		return read_ask(r, word, value);
	if (str_is(name, "--hostname") && value.n) {
		r->out->hostname = arena_cstr(r->a, value);
		return 0;
	}
	if (str_is(name, "--entrypoint")) {
		r->entrypoint = value.n ? arena_cstr(r->a, value) : NULL;
		return 0;
	}
	return fail_word(r, word);
}

static int read_word(struct reading *r, const char *word)
{
	struct str value = str_of(word), name = value;

	if (is_known(word))
		return 0;
	if (strcmp(word, "--read-only") == 0) {
		r->out->read_only = true;
		return 0;
	}
	if (strcmp(word, "--tty") == 0) {
		r->out->tty = true;
		return 0;
	}
	if (strcmp(word, "--device=/dev/fuse") == 0) {
		r->out->fuse = true;
		return 0;
	}
	if (strcmp(word, "--ask") == 0) {
		r->out->is_asked = true;
		return 0;
	}
	if (strcmp(word, "--userns=host") == 0) {
		r->out->host_users = true;
		return 0;
	}
	if (str_find(value, '=', 0) == value.n ||
	    !str_field(&value, '=', &name))
		return fail_word(r, word);
	return read_option(r, word, name, value);
}

static size_t depth_of(const struct words_place *p)
{
	size_t n = 0;

	for (const char *c = p->target; *c; c++)
		n += *c == '/';
	return n;
}

/* What is above comes first, as with Docker: else it would cover what is below
 * it. Those of one depth stay as they stand. */
static void sort_places(struct words *w)
{
	for (uint32_t i = 1; i < w->places.n; i++) {
		struct words_place p = w->places.v[i];
		uint32_t k = i;

		for (; k > 0 && depth_of(&w->places.v[k - 1]) > depth_of(&p);
		     k--)
			w->places.v[k] = w->places.v[k - 1];
		w->places.v[k] = p;
	}
}

/* Behind the options: what stands for an image, and the command. */
static int read_command(struct reading *r, char *const *rest)
{
	static const struct str root = STR_INIT(NATIVE_JSON_ROOT "/");

	if (!*rest)
		return fail_word(r, "");
	if (str_starts(str_of(*rest), root))
		r->out->root = *rest + root.n - 1;
	else if (strcmp(*rest, NATIVE_JSON_HOST) != 0)
		return fail_word(r, *rest);
	if (r->entrypoint)
		*vec_push(r->a, &r->out->argv) =
			arena_cstr(r->a, str_of(r->entrypoint));
	for (rest++; *rest; rest++)
		*vec_push(r->a, &r->out->argv) = *rest;
	if (r->out->argv.n == 0)
		return err_set(r->err, -EPROTO, "native.json: no program");
	*vec_push(r->a, &r->out->argv) = NULL;
	return 0;
}

int words_read(struct arena *a, char *const *vector, words_get *get, void *ctx,
	       struct words *out, struct err *err)
{
	struct reading r = {
		.a = a, .out = out, .get = get, .ctx = ctx, .err = err};
	int rc = 0;

	*out = (struct words){.folder = "/"};
	if (!vector[0] || strcmp(vector[0], NATIVE_JSON_NATIVE) != 0 ||
	    !vector[1] || strcmp(vector[1], "run") != 0)
		return fail_word(&r, vector[0] ? vector[0] : "");
	for (vector += 2; rc == 0 && *vector && **vector == '-'; vector++) {
		if (strcmp(*vector, "--user") == 0 && vector[1]) {
			rc = read_user(&r, *vector, str_of(vector[1]));
			vector++;
		} else {
			rc = read_word(&r, *vector);
		}
	}
	sort_places(out);
	return rc < 0 ? rc : read_command(&r, vector);
}
