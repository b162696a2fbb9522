#include "runtime/launch/tracer/tracee_scope.h"

#include <cjson/cJSON.h>
#include <string.h>
#include <yajl/yajl_parse.h>

static bool is_id(struct str s)
{
	if (s.n != TRACEE_ID)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789abcdefABCDEF", s.p[i]))
			return false;
	return true;
}

/* --- ids ------------------------------------------------------------------ */

/* FNV-1a over a container's id and its cgroup's number; never 0. */
static uint64_t key_of(struct str id, uint64_t cgroup)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < id.n; i++)
		h = (h ^ (unsigned char)id.p[i]) * 0x100000001b3u;
	for (unsigned i = 0; i < 4; i++) /* Tracee compares 32 bits */
		h = (h ^ ((cgroup >> (8 * i)) & 0xff)) * 0x100000001b3u;
	return h ? h : 1;
}

static uint64_t *slot_of(struct tracee_scope *s, uint64_t key)
{
	size_t i = key % ARRAY_LEN(s->ours);

	while (s->ours[i] && s->ours[i] != key)
		i = (i + 1) % ARRAY_LEN(s->ours);
	return &s->ours[i];
}

static void add_ours(struct tracee_scope *s, uint64_t key)
{
	uint64_t *slot = slot_of(s, key);

	if (*slot == key)
		return;
	s->is_full |= s->n_ours == TRACEE_OURS_MAX;
	if (s->is_full)
		return;
	*slot = key;
	s->n_ours++;
}

/* Known now: what of it was dropped was ours. */
static void make_ours(struct tracee_scope *s, struct tracee_other *o)
{
	s->missed += o->dropped;
	o->dropped = 0;
}

void tracee_scope_agent(struct tracee_scope *s, struct str id)
{
	if (!is_id(id))
		return;
	memcpy(s->agent, id.p, TRACEE_ID);
	s->has_agent = true;
	for (uint32_t i = 0; i < s->n_others; i++)
		if (s->others[i].id == key_of(id, 0))
			make_ours(s, &s->others[i]);
}

static struct tracee_other *other_of(struct tracee_scope *s, uint64_t key)
{
	for (uint32_t i = 0; i < s->n_others; i++)
		if (s->others[i].key == key)
			return &s->others[i];
	return NULL;
}

/* In the place of the oldest. */
static struct tracee_other *add_other(struct tracee_scope *s, uint64_t key,
				      struct str id, int64_t now_ms)
{
	struct tracee_other *o =
		&s->others[s->next_other++ % TRACEE_OTHERS_MAX];

	*o = (struct tracee_other){key, key_of(id, 0), now_ms, 0};
	if (s->n_others < TRACEE_OTHERS_MAX)
		s->n_others++;
	return o;
}

static void judge(struct tracee_scope *s, struct str id, uint64_t cgroup,
		  int64_t now_ms, struct tracee_record *r)
{
	uint64_t key = key_of(id, cgroup);

	if (s->has_agent && (memcmp(s->agent, id.p, TRACEE_ID) == 0 ||
			     *slot_of(s, key) == key)) {
		r->whose = TRACEE_OURS;
		return;
	}
	r->other = other_of(s, key);
	if (!r->other)
		r->other = add_other(s, key, id, now_ms);
	/* before the agent's own is known, nothing can be told */
	r->whose =
		!s->has_agent || now_ms - r->other->since_ms < TRACEE_UNKNOWN_MS
			? TRACEE_UNKNOWN
			: TRACEE_OTHERS;
}

/* "docker-ID.scope", "cri-containerd-ID", "kubepods-x:cri-containerd:ID" */
static struct str bare(struct str part)
{
	static const struct str fronts[] = {
		STR_INIT("docker-"),
		STR_INIT("crio-"),
		STR_INIT("cri-containerd-"),
		STR_INIT("libpod-"),
	};
	size_t colon = part.n;

	if (str_ends(part, STR(".scope")))
		part.n -= 6;
	for (size_t i = 0; i < ARRAY_LEN(fronts); i++)
		if (str_starts(part, fronts[i]))
			return str_slice(part, fronts[i].n, part.n);
	while (colon > 0 && part.p[colon - 1] != ':')
		colon--;
	return str_slice(part, colon, part.n);
}

struct str tracee_scope_id(struct str path)
{
	struct str part, found = {0};

	while (str_field(&path, '/', &part))
		if (is_id(bare(part)))
			found = bare(part);
	return found;
}

/* --- lines ---------------------------------------------------------------- */

/* What a record says of whose it is, and where in it the parser is. */
struct scan {
	struct tracee_record *r;
	unsigned depth; /* 1: among the members of the record */
	enum { AT_OTHER, AT_ID, AT_CGROUP, AT_NAME, AT_HOST_PID } at;
	char id[TRACEE_ID + 1];
	bool has_cgroup;
	uint64_t cgroup;
};

static void keep(char *out, size_t room, const unsigned char *p, size_t n)
{
	if (n >= room)
		return;
	memcpy(out, p, n);
	out[n] = '\0';
}

static int on_string(void *ctx, const unsigned char *p, size_t n)
{
	struct scan *c = ctx;

	if (c->depth == 1 && c->at == AT_ID)
		keep(c->id, sizeof(c->id), p, n);
	if (c->depth == 1 && c->at == AT_NAME)
		keep(c->r->name, sizeof(c->r->name), p, n);
	return 1;
}

static int on_number(void *ctx, const char *p, size_t n)
{
	struct scan *c = ctx;
	struct str s = {p, n};

	if (c->depth == 1 && c->at == AT_CGROUP)
		c->has_cgroup = str_u64(s, UINT64_MAX, &c->cgroup);
	if (c->depth == 1 && c->at == AT_HOST_PID)
		c->r->of_itself = str_is(s, "0");
	return 1;
}

static int on_key(void *ctx, const unsigned char *p, size_t n)
{
	static const char *const names[] = {
		[AT_ID] = "containerId",
		[AT_CGROUP] = "cgroupId",
		[AT_NAME] = "eventName",
		[AT_HOST_PID] = "hostProcessId",
	};
	struct scan *c = ctx;

	c->at = AT_OTHER;
	for (unsigned i = AT_ID; c->depth == 1 && i < ARRAY_LEN(names); i++)
		if (str_is((struct str){(const char *)p, n}, names[i]))
			c->at = i;
	return 1;
}

static int on_open(void *ctx)
{
	struct scan *c = ctx;

	c->depth++;
	return 1;
}

static int on_close(void *ctx)
{
	struct scan *c = ctx;

	c->depth--;
	return 1;
}

/* One object from the line's first byte to its last. */
static bool parse(struct str line, struct scan *c)
{
	static const yajl_callbacks calls = {
		.yajl_number = on_number,
		.yajl_string = on_string,
		.yajl_start_map = on_open,
		.yajl_map_key = on_key,
		.yajl_end_map = on_close,
		.yajl_start_array = on_open,
		.yajl_end_array = on_close,
	};
	yajl_handle json;
	bool ok;

	if (line.n == 0 || line.p[0] != '{' || line.p[line.n - 1] != '}')
		return false;
	json = yajl_alloc(&calls, NULL, c);
	if (!json)
		return false;
	/* Only what is compared with texts of ours is looked at. */
	yajl_config(json, yajl_dont_validate_strings, 1);
	ok = yajl_parse(json, (const unsigned char *)line.p, line.n) ==
		     yajl_status_ok &&
	     yajl_complete_parse(json) == yajl_status_ok;
	yajl_free(json);
	return ok;
}

static const cJSON *argument(const cJSON *o, const char *wanted)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(o, "args"), *arg;

	cJSON_ArrayForEach(arg, args) {
		const cJSON *name =
			cJSON_GetObjectItemCaseSensitive(arg, "name");

		if (cJSON_IsString(name) &&
		    strcmp(name->valuestring, wanted) == 0)
			return cJSON_GetObjectItemCaseSensitive(arg, "value");
	}
	return NULL;
}

/* A cgroup within one of ours: so is the container that it is for. */
static void learn(struct tracee_scope *s, struct str line)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	const cJSON *path = argument(o, "cgroup_path");
	const cJSON *number = argument(o, "cgroup_id");
	struct tracee_other *known;
	struct str id = {0};
	uint64_t key;

	if (cJSON_IsString(path))
		id = tracee_scope_id(str_of(path->valuestring));
	if (id.n && cJSON_IsNumber(number) && number->valuedouble >= 0 &&
	    number->valuedouble < (double)(1ull << 53)) {
		key = key_of(id, (uint64_t)number->valuedouble);
		add_ours(s, key);
		known = other_of(s, key);
		if (known)
			make_ours(s, known);
	}
	cJSON_Delete(o);
}

struct tracee_record tracee_scope_read(struct tracee_scope *s, struct str line,
				       int64_t now_ms)
{
	struct tracee_record r = {0};
	struct scan c = {.r = &r};

	if (!parse(line, &c) || !*r.name || !c.has_cgroup)
		r.whose = TRACEE_BROKEN;
	else if (!is_id(str_of(c.id)))
		r.whose = TRACEE_NOBODYS;
	else
		judge(s, str_of(c.id), c.cgroup, now_ms, &r);
	if (r.whose == TRACEE_OURS && strcmp(r.name, "cgroup_mkdir") == 0)
		learn(s, line);
	return r;
}
