#include "compiler/cli/account/abouts.h"

#include "compiler/base/hash.h"
#include "compiler/base/json.h"
#include "runtime/launch/session/decisions.h"
#include "runtime/launch/session/refusal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 16384u /* and half of them are used: the rest stays where it is */

struct about {
	struct str key, line; /* empty: free */
	bool was_given;
};

struct abouts {
	struct arena *a;
	uint32_t n;
	struct about slot[SLOTS];
};

struct abouts *abouts_new(struct arena *a)
{
	struct abouts *x = arena_new_of(a, struct abouts);

	x->a = a;
	return x;
}

/* A record says when to the microsecond, and of whom. */
static struct str key_of(struct arena *a, const cJSON *d)
{
	struct str time = json_find_str(d, "time"),
		   kind = json_find_str(d, "kind"),
		   name = json_find_str(d, "name"),
		   addr = json_find_str(d, "addr"),
		   path = json_find_str(d, "path");

	return arena_fmt(a, "%.*s %.*s %.*s %.*s %" PRIu64 " %.*s",
			 STR_ARG(time), STR_ARG(kind), STR_ARG(name),
			 STR_ARG(addr), json_find_u64(d, "port", UINT16_MAX),
			 STR_ARG(path));
}

/* The place of that key, or where it would be. */
static uint32_t find_slot(const struct abouts *x, struct str key)
{
	uint32_t at = hash_mixed(hash_str(key)) % SLOTS;

	while (x->slot[at].key.n && !str_eq(x->slot[at].key, key))
		at = (at + 1) % SLOTS;
	return at;
}

/* Where that line's decision is, of one that is about a refusal or is it. */
static uint32_t slot_of(const struct abouts *x, struct str line, bool is_about,
			struct arena *a, struct str *out_key)
{
	cJSON *o = cJSON_ParseWithLength(line.p, line.n);
	uint32_t at;

	*out_key = key_of(a, is_about ? cJSON_GetObjectItemCaseSensitive(
						o, "decision")
				      : o);
	at = find_slot(x, *out_key);
	cJSON_Delete(o);
	return at;
}

/* Cheap: most lines are none. */
static bool is_about(struct str line)
{
	static const char event[] = "\"event\":\"" REFUSAL_EVENT "\"";

	return memmem(line.p, line.n < 64 ? line.n : 64, event,
		      sizeof(event) - 1) != NULL;
}

void abouts_take(struct abouts *x, struct str line)
{
	struct str key;
	uint32_t at;

	if (!is_about(line) || x->n >= SLOTS / 2)
		return;
	at = slot_of(x, line, true, x->a, &key);
	if (x->slot[at].key.n)
		return;
	x->n++;
	x->slot[at] = (struct about){.key = key,
				     .line = arena_str(x->a, line)};
}

static bool read_part(struct abouts *x, const char *dir, unsigned part)
{
	FILE *f = fopen(decisions_path(x->a, dir, part), "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!f)
		return false;
	/* one that is being written has no end yet */
	while ((n = getline(&line, &room, f)) > 0 && line[n - 1] == '\n')
		abouts_take(x, (struct str){line, (size_t)n});
	free(line);
	fclose(f);
	return true;
}

void abouts_read(struct abouts *x, const char *dir)
{
	for (unsigned part = 0; read_part(x, dir, part);)
		part++;
}

struct str abouts_find(const struct abouts *x, const cJSON *decision)
{
	struct arena *a;
	struct str line;

	if (x->n == 0)
		return STR("");
	a = arena_new();
	line = x->slot[find_slot(x, key_of(a, decision))].line;
	arena_free(a);
	return line;
}

struct str abouts_of(struct abouts *x, struct str line)
{
	struct arena *a;
	struct about *found;
	struct str key;

	if (x->n == 0 || is_about(line))
		return STR("");
	a = arena_new();
	found = &x->slot[slot_of(x, line, false, a, &key)];
	arena_free(a);
	if (!found->key.n || found->was_given)
		return STR("");
	found->was_given = true;
	return found->line;
}

bool abouts_was_given(const struct abouts *x, struct str line)
{
	struct arena *a;
	const struct about *found;
	struct str key;

	if (x->n == 0 || !is_about(line))
		return false;
	a = arena_new();
	found = &x->slot[slot_of(x, line, true, a, &key)];
	arena_free(a);
	return found->was_given && str_eq(found->line, line);
}
