#include "runtime/launch/tracee_scope.h"

#include <cjson/cJSON.h>
#include <string.h>

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

void tracee_scope_agent(struct tracee_scope *s, struct str id)
{
	if (!is_id(id))
		return;
	memcpy(s->agent, id.p, TRACEE_ID);
	s->has_agent = true;
}

/* How long it has been there, unknown: 0 at first sight. */
static int64_t age_of(struct tracee_scope *s, uint64_t key, int64_t now_ms)
{
	for (uint32_t i = 0; i < s->n_others; i++)
		if (s->others[i].key == key)
			return now_ms - s->others[i].since_ms;
	s->others[s->next_other++ % TRACEE_OTHERS_MAX] =
		(struct tracee_other){key, now_ms};
	if (s->n_others < TRACEE_OTHERS_MAX)
		s->n_others++;
	return 0;
}

static enum tracee_whose whose(struct tracee_scope *s, struct str id,
			       uint64_t cgroup, int64_t now_ms)
{
	uint64_t key = key_of(id, cgroup);

	if (!s->has_agent)
		return TRACEE_UNKNOWN;
	if (memcmp(s->agent, id.p, TRACEE_ID) == 0 || *slot_of(s, key) == key)
		return TRACEE_OURS;
	return age_of(s, key, now_ms) < TRACEE_UNKNOWN_MS ? TRACEE_UNKNOWN
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

/*
 * One object from its first byte to its last. Its strings are what somebody
 * else chose, but a quote within one is escaped.
 */
static bool is_whole(struct str line)
{
	size_t depth = 0;
	bool in_text = false;

	if (line.n < 2 || line.p[0] != '{' || line.p[line.n - 1] != '}')
		return false;
	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if ((unsigned char)c < ' ')
			return false;
		if (in_text) {
			if (c == '\\')
				i++;
			in_text = c != '"';
			continue;
		}
		if (c == '"')
			in_text = true;
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return i + 1 == line.n;
	}
	return false;
}

/*
 * What stands behind the key of a top-level member, up to an end byte. Looked
 * for as bytes: within a string its quotes would be escaped, and what Tracee
 * writes before it has no such member.
 */
static struct str member(struct str line, struct str key, char end)
{
	const char *p = memmem(line.p, line.n, key.p, key.n);
	size_t beg;

	if (!p)
		return (struct str){0};
	beg = (size_t)(p - line.p) + key.n;
	return str_slice(line, beg, str_find(line, end, beg));
}

static const cJSON *argument(const cJSON *o, const char *wanted)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(o, "args"), *arg;

	cJSON_ArrayForEach(arg, args)
	{
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
	struct str id = {0};

	if (cJSON_IsString(path))
		id = tracee_scope_id(str_of(path->valuestring));
	if (id.n && cJSON_IsNumber(number) && number->valuedouble >= 0 &&
	    number->valuedouble < (double)(1ull << 53))
		add_ours(s, key_of(id, (uint64_t)number->valuedouble));
	cJSON_Delete(o);
}

struct tracee_record tracee_scope_read(struct tracee_scope *s, struct str line,
				       int64_t now_ms)
{
	struct str id = member(line, STR("\"containerId\":\""), '"');
	struct str cgroup = member(line, STR("\"cgroupId\":"), ',');
	struct tracee_record r = {
		.name = member(line, STR("\"eventName\":\""), '"')};
	uint64_t number;

	if (!is_whole(line) || r.name.n == 0 ||
	    !str_u64(cgroup, UINT64_MAX, &number))
		r.whose = TRACEE_BROKEN;
	else if (!is_id(id))
		r.whose = TRACEE_NOBODYS;
	else
		r.whose = whose(s, id, number, now_ms);
	if (r.whose == TRACEE_OURS && str_is(r.name, "cgroup_mkdir"))
		learn(s, line);
	return r;
}
