/*
 * The keys of a policy for membrane-policy(5), after grammar/schema.def.
 */
#include "compiler/cli/frame/parts.h"

#include "compiler/base/limits.h"
#include "compiler/cli/text/view.h"
#include "compiler/front/bind/bind_keys.h"

#include <string.h>

static const char *const maps[] = {
#define MAP(name, where, prefix) where,
#include "grammar/schema.def"
};

static const struct {
	unsigned max; /* items of a list; 0 for anything else */
	const char *what;
} types[] = {
#define TYPE(name, shape, max, what) {max, what},
#include "grammar/schema.def"
};

static const struct {
	enum bind_type type;
	enum bind_map map;
} item_maps[] = {
#define ITEM_MAP(type, map) {BIND_TYPE_##type, BIND_MAP_##map},
#include "grammar/schema.def"
};

/* "not beside x": another key of the same setting in the same mapping. */
static void put_rivals(struct buf *out, const struct bind_key *k)
{
	for (size_t i = 0; i < bind_keys_n; i++)
		if (&bind_keys[i] != k && bind_keys[i].map == k->map &&
		    strcmp(bind_keys[i].setting, k->setting) == 0) {
			buf_adds(out, ";\nnot beside ");
			man_text(out, bind_keys[i].name);
		}
}

/* Where what its mappings hold is listed. */
static void put_below(struct buf *out, enum bind_type type)
{
	for (size_t i = 0; i < ARRAY_LEN(item_maps); i++)
		if (item_maps[i].type == type) {
			buf_adds(out, ";\nsee the keys of ");
			man_text(out, maps[item_maps[i].map]);
		}
}

static void put_key(struct buf *out, const struct bind_key *k)
{
	buf_adds(out, ".It Sy ");
	man_argument(out, k->name);
	buf_adds(out, " Pq ");
	man_argument(out, types[k->type].what);
	buf_addc(out, '\n');
	man_text(out, k->about);
	if (k->flags & BIND_KEY_MUST)
		buf_adds(out, ";\nhas to be there");
	if (k->flags & BIND_KEY_ONE)
		buf_adds(out, ";\nit or the other has to be there");
	if (k->flags & BIND_KEY_GLOBAL)
		buf_adds(out, ";\nin the global file alone");
	put_rivals(out, k);
	put_below(out, k->type);
	if (types[k->type].max)
		buf_addf(out, ";\nat most %u", types[k->type].max);
	buf_addc(out, '\n');
}

void man_keys(struct buf *out)
{
	for (int map = 0; map < BIND_MAPS; map++) {
		buf_adds(out, ".Ss Keys of ");
		man_argument(out, maps[map]);
		buf_adds(out, "\n.Bl -tag -width Ds\n");
		for (size_t i = 0; i < bind_keys_n; i++)
			if ((int)bind_keys[i].map == map)
				put_key(out, &bind_keys[i]);
		buf_adds(out, ".El\n");
	}
}

void man_keys_overview(struct buf *out)
{
	struct view v = {out, 80, false};
	const char *last = "";

	for (size_t i = 0; i < bind_keys_n; i++) {
		if (bind_keys[i].map == BIND_MAP_POLICY &&
		    strcmp(bind_keys[i].setting, last) != 0) {
			buf_addf(out, "  %-15s ", bind_keys[i].name);
			view_wrap(&v, 18, 18, str_of(bind_keys[i].about));
		}
		last = bind_keys[i].setting;
	}
}
