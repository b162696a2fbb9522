#include "runtime/view/judge/judge.h"

#include "compiler/base/hash.h"

#include <stdlib.h>

/*
 * A place is a token of a pattern that is to come next; the one behind a
 * pattern's last token is where it has matched.
 */
struct place {
	struct gitignore_token token;
	uint32_t pattern;
	bool end;
	bool spelled; /* only bytes stand before it, the last one a slash */
};

struct pattern_of {
	struct judge_word word;
	bool back, dir_only;
	uint32_t first; /* place */
};

struct judge_set {
	const struct judge_set *next;
	uint32_t hash, n;
	uint32_t places[]; /* ascending */
};

typedef VEC(uint32_t) place_list;

#define BUCKETS 256u

struct judge {
	struct arena *a;
	/* What is not anchored; where the disk folds, that is in the automaton,
	 * too. */
	struct gitignore *ignore, *readonly;
	bool folds;
	VEC(struct place) places;
	VEC(struct pattern_of) patterns;
	place_list now, then; /* while stepping */
	uint64_t *mark;	      /* per place: the step that has it */
	uint64_t step;
	const struct judge_set *buckets[BUCKETS], *root;
	uint32_t n_sets;
	struct judge_word root_word;
	VEC(bool) serves;   /* per line of protect */
	VEC(uint32_t) gits; /* of the readonly lines: those for git */
};

static const struct {
	const char *tool, *patterns;
} executed[] = {
#define EXECUTED(rule, tool, patterns, why) {tool, patterns},
#include "grammar/executed.def"
#undef EXECUTED
};

/* --- making --------------------------------------------------------------- */

static void add_place(struct judge *j, struct gitignore_token token,
		      uint32_t pattern, bool end, bool spelled)
{
	*vec_push(j->a, &j->places) =
		(struct place){token, pattern, end, spelled};
}

static uint8_t lower_of(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static uint8_t upper_of(uint8_t c)
{
	return c >= 'a' && c <= 'z' ? (uint8_t)(c - 'a' + 'A') : c;
}

static void add_token(struct judge *j, struct gitignore_token token,
		      uint32_t pattern, bool spelled)
{
	if (j->folds && token.kind == GITIGNORE_BYTE)
		token.byte = lower_of(token.byte);
	add_place(j, token, pattern, false, spelled);
}

static void add_section(struct judge *j, const struct gitignore *g,
			enum judge_section section, enum judge_state state)
{
	static const struct gitignore_token any = {.kind = GITIGNORE_DIRS};

	for (uint32_t i = 0; i < gitignore_count(g); i++) {
		struct gitignore_shape shape = gitignore_shape(g, i);
		bool bytes = !shape.back, slash = false;

		if (!shape.anchored && !j->folds)
			continue;
		*vec_push(j->a, &j->patterns) =
			(struct pattern_of){.word = {state, section, i},
					    .back = shape.back,
					    .dir_only = shape.dir_only,
					    .first = j->places.n};
		if (!shape.anchored) {
			bytes = false;
			add_place(j, any, j->patterns.n - 1, false, false);
		}
		for (uint32_t t = 0; t < shape.n; t++) {
			struct gitignore_token token = gitignore_token(g, i, t);

			add_token(j, token, j->patterns.n - 1, bytes && slash);
			bytes = bytes && token.kind == GITIGNORE_BYTE;
			slash = token.byte == '/';
		}
		add_place(j, (struct gitignore_token){0}, j->patterns.n - 1,
			  true, false);
	}
}

static void add_path(struct judge *j, struct str path, struct judge_word word)
{
	*vec_push(j->a, &j->patterns) =
		(struct pattern_of){.word = word, .first = j->places.n};
	for (size_t i = 0; i < path.n; i++)
		add_token(j,
			  (struct gitignore_token){.kind = GITIGNORE_BYTE,
						   .byte = (uint8_t)path.p[i]},
			  j->patterns.n - 1, i > 0 && path.p[i - 1] == '/');
	add_place(j, (struct gitignore_token){0}, j->patterns.n - 1, true,
		  false);
}

static void add_paths(struct judge *j, const struct judge_rules *r)
{
	for (uint32_t i = 0; i < r->plan->holds.n; i++)
		add_path(j, r->plan->holds.v[i].path,
			 (struct judge_word){JUDGE_READONLY, JUDGE_BY_HOLD, i});
	for (uint32_t i = 0; i < r->holds.n; i++)
		add_path(j, r->holds.v[i],
			 (struct judge_word){JUDGE_READONLY, JUDGE_BY_GIT, i});
	for (uint32_t i = 0; i < r->hides.n; i++)
		add_path(j, r->hides.v[i],
			 (struct judge_word){JUDGE_HIDDEN, JUDGE_BY_HIDE, i});
}

static bool is_same_pattern(const struct gitignore *a, uint32_t i,
			    const struct gitignore *b, uint32_t k)
{
	struct gitignore_shape x = gitignore_shape(a, i),
			       y = gitignore_shape(b, k);
	bool same = x.back == y.back && x.dir_only == y.dir_only &&
		    x.anchored == y.anchored && x.n == y.n;

	for (uint32_t t = 0; t < x.n && same; t++) {
		struct gitignore_token p = gitignore_token(a, i, t),
				       q = gitignore_token(b, k, t);

		same = p.kind == q.kind && p.byte == q.byte &&
		       memcmp(p.bits, q.bits, sizeof(p.bits)) == 0;
	}
	return same;
}

/* The built-in lines come first: of the same words, the first is theirs. */
static void find_gits(struct judge *j, const struct gitignore *lines)
{
	struct gitignore *own = gitignore_new(j->a);
	struct str list, line;

	for (size_t i = 0; i < ARRAY_LEN(executed); i++) {
		list = str_of(executed[i].patterns);
		while (strcmp(executed[i].tool, "git") == 0 &&
		       str_field(&list, '|', &line))
			if (gitignore_add(own, line, NULL) != GITIGNORE_OK)
				abort();
	}
	for (uint32_t k = 0; k < gitignore_count(own); k++)
		for (uint32_t i = 0; i < gitignore_count(lines); i++)
			if (is_same_pattern(lines, i, own, k)) {
				*vec_push(j->a, &j->gits) = i;
				break;
			}
}

bool judge_is_gits(const struct judge *j, struct judge_word word)
{
	vec_each(line, &j->gits)
		if (word.section == JUDGE_BY_READONLY && word.line == *line)
			return true;
	return false;
}

/* --- stepping ------------------------------------------------------------- */

/* At the place, and where it may be at once without a byte. */
static void arrive_at(struct judge *j, place_list *to, uint32_t place)
{
	while (j->mark[place] != j->step) {
		const struct place *p = &j->places.v[place];

		j->mark[place] = j->step;
		*vec_push(j->a, to) = place;
		if (p->end || p->token.kind < GITIGNORE_STAR)
			return;
		place++;
	}
}

static void keep_at(struct judge *j, place_list *to, uint32_t place)
{
	if (j->mark[place] == j->step)
		return;
	j->mark[place] = j->step;
	*vec_push(j->a, to) = place;
}

static bool set_has(const struct gitignore_token *t, uint8_t c)
{
	return t->bits[c >> 6] >> (c & 63) & 1;
}

static void step_place(struct judge *j, place_list *to, uint32_t place,
		       uint8_t c)
{
	const struct place *p = &j->places.v[place];

	if (p->end)
		return;
	switch (p->token.kind) {
	case GITIGNORE_BYTE:
		if (p->token.byte == c)
			arrive_at(j, to, place + 1);
		return;
	case GITIGNORE_ANY:
		if (c != '/')
			arrive_at(j, to, place + 1);
		return;
	case GITIGNORE_SET:
		if (set_has(&p->token, c) ||
		    (j->folds && set_has(&p->token, upper_of(c))))
			arrive_at(j, to, place + 1);
		return;
	case GITIGNORE_STAR:
		if (c != '/')
			arrive_at(j, to, place);
		return;
	case GITIGNORE_DIRS:
		/* Within a segment it stays alone; behind one, either. */
		keep_at(j, to, place);
		if (c == '/')
			arrive_at(j, to, place + 1);
		return;
	case GITIGNORE_REST:
		arrive_at(j, to, place);
		return;
	}
	abort();
}

static void step_byte(struct judge *j, uint8_t c)
{
	place_list was = j->now;

	j->step++;
	j->then.n = 0;
	for (uint32_t i = 0; i < was.n; i++)
		step_place(j, &j->then, was.v[i], c);
	j->now = j->then;
	j->then = was;
}

/* The places in j->now after the name. */
static void step_name(struct judge *j, const struct judge_set *from,
		      struct str name)
{
	j->now.n = 0;
	for (uint32_t i = 0; i < from->n; i++)
		*vec_push(j->a, &j->now) = from->places[i];
	for (size_t i = 0; i < name.n && j->now.n; i++)
		step_byte(j, j->folds ? lower_of((uint8_t)name.p[i])
				      : (uint8_t)name.p[i]);
}

/* --- sets ----------------------------------------------------------------- */

static int place_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The set of j->now; the same object for the same places. */
static const struct judge_set *take_set(struct judge *j)
{
	size_t bytes = j->now.n * sizeof(uint32_t);
	const struct judge_set **bucket;
	struct judge_set *made;
	uint32_t hash;

	vec_sort(&j->now, place_order);
	hash = hash_bytes(HASH_SEED, j->now.v, bytes);
	bucket = &j->buckets[hash_mixed(hash) % BUCKETS];
	for (const struct judge_set *s = *bucket; s; s = s->next)
		if (s->hash == hash && s->n == j->now.n &&
		    (!bytes || memcmp(s->places, j->now.v, bytes) == 0))
			return s;
	if (j->n_sets >= JUDGE_SETS_MAX)
		return NULL;
	j->n_sets++;
	made = arena_alloc(j->a, sizeof(*made) + bytes);
	made->next = *bucket;
	made->hash = hash;
	made->n = j->now.n;
	if (bytes)
		memcpy(made->places, j->now.v, bytes);
	return *bucket = made;
}

/* All of its patterns are anchored. */
static void add_home(struct judge *j, const struct judge_rules *r)
{
	j->ignore = gitignore_new(j->a);
	j->readonly = gitignore_new(j->a);
	add_section(j, r->plan->protect, JUDGE_BY_PROTECT, JUDGE_PROTECTED);
	vec_each(by, &r->plan->by)
		*vec_push(j->a, &j->serves) = str_eq(*by, r->program);
}

static void add_workspace(struct judge *j, const struct judge_rules *r)
{
	j->ignore = r->folds ? gitignore_new(j->a)
			     : gitignore_unanchored(r->plan->ignore);
	j->readonly = r->folds ? gitignore_new(j->a)
			       : gitignore_unanchored(r->plan->readonly);
	if (r->readonly)
		j->root_word =
			(struct judge_word){JUDGE_READONLY, JUDGE_BY_ALL, 0};
	add_section(j, r->plan->ignore, JUDGE_BY_IGNORE, JUDGE_HIDDEN);
	add_section(j, r->plan->readonly, JUDGE_BY_READONLY, JUDGE_READONLY);
	if (r->linked)
		add_section(j, r->linked, JUDGE_BY_LINKED, JUDGE_READONLY);
	add_paths(j, r);
	find_gits(j, r->plan->readonly);
}

struct judge *judge_new(struct arena *a, const struct judge_rules *r)
{
	struct judge *j = arena_new_of(a, struct judge);

	j->a = a;
	j->folds = r->folds;
	if (r->home)
		add_home(j, r);
	else
		add_workspace(j, r);
	j->mark = arena_array(a, j->places.n + 1, sizeof(*j->mark));
	j->step = 1;
	vec_each(p, &j->patterns)
		arrive_at(j, &j->now, p->first);
	j->root = take_set(j);
	return j;
}

const struct judge_set *judge_root(const struct judge *j)
{
	return j->root;
}

bool judge_serves(const struct judge *j, struct judge_word word)
{
	bool all = true;

	vec_each(serves, &j->serves)
		all &= *serves;
	/* Under another name than the lines speak of: that of any. */
	return word.section == JUDGE_BY_PROTECT && word.line < j->serves.n
		       ? j->serves.v[word.line]
		       : all;
}

struct judge_word judge_root_word(const struct judge *j)
{
	return j->root_word;
}

/* --- judging -------------------------------------------------------------- */

/* The last of a list that matches decides; paths are no list. */
struct verdicts {
	bool ignore, readonly, linked; /* one of the list has spoken */
	bool ignore_back, readonly_back, linked_back;
	struct judge_word ignored, kept, shared;
	struct judge_word path; /* of hides and holds, the stronger */
	struct judge_word guarded;
};

static void take_match(const struct judge *j, struct verdicts *v,
		       struct judge_word word, bool back)
{
	switch (word.section) {
	case JUDGE_BY_IGNORE:
		if (v->ignore && v->ignored.line > word.line)
			return;
		v->ignore = true;
		v->ignore_back = back;
		v->ignored = word;
		return;
	case JUDGE_BY_READONLY:
		if (v->readonly && v->kept.line > word.line)
			return;
		v->readonly = true;
		v->readonly_back = back;
		v->kept = word;
		return;
	case JUDGE_BY_LINKED:
		if (v->linked && v->shared.line > word.line)
			return;
		v->linked = true;
		v->linked_back = back;
		v->shared = word;
		return;
	case JUDGE_BY_PROTECT:
		if (v->guarded.state != JUDGE_PROTECTED ||
		    !judge_serves(j, word))
			v->guarded = word;
		return;
	case JUDGE_BY_HOLD:
	case JUDGE_BY_GIT:
	case JUDGE_BY_HIDE:
		if (word.state > v->path.state)
			v->path = word;
		return;
	case JUDGE_BY_NOTHING:
	case JUDGE_BY_OUTSIDE:
	case JUDGE_BY_INODE:
	case JUDGE_BY_ALL:
		break;
	}
	abort();
}

static void take_base(const struct judge *j, struct verdicts *v,
		      const struct gitignore *g, struct judge_word word,
		      struct str name, bool is_dir)
{
	enum gitignore_verdict said =
		gitignore_match(g, name, is_dir, &word.line);

	if (said != GITIGNORE_NONE)
		take_match(j, v, word, said == GITIGNORE_BACK);
}

static struct judge_word weigh_verdicts(const struct verdicts *v,
					struct judge_word above)
{
	if (v->path.state == JUDGE_HIDDEN)
		return v->path;
	if (v->ignore && !v->ignore_back)
		return v->ignored;
	if (v->guarded.state == JUDGE_PROTECTED)
		return v->guarded;
	if (above.state == JUDGE_READONLY)
		return above;
	if (v->path.state == JUDGE_READONLY)
		return v->path;
	if (v->readonly && !v->readonly_back)
		return v->kept;
	if (v->linked && !v->linked_back)
		return v->shared;
	return (struct judge_word){0};
}

struct judge_word judge_name(struct judge *j, const struct judge_set *dir,
			     struct judge_word above, struct str name,
			     bool is_dir)
{
	struct verdicts v = {0};

	if (above.state == JUDGE_HIDDEN)
		return above;
	if (above.state == JUDGE_PROTECTED)
		v.guarded = above;
	take_base(j, &v, j->ignore,
		  (struct judge_word){JUDGE_HIDDEN, JUDGE_BY_IGNORE, 0}, name,
		  is_dir);
	take_base(j, &v, j->readonly,
		  (struct judge_word){JUDGE_READONLY, JUDGE_BY_READONLY, 0},
		  name, is_dir);
	step_name(j, dir, name);
	for (uint32_t i = 0; i < j->now.n; i++) {
		const struct place *p = &j->places.v[j->now.v[i]];
		const struct pattern_of *pt = &j->patterns.v[p->pattern];

		if (p->end && (is_dir || !pt->dir_only))
			take_match(j, &v, pt->word, pt->back);
	}
	return weigh_verdicts(&v, above);
}

const struct judge_set *judge_below(struct judge *j,
				    const struct judge_set *dir,
				    struct str name)
{
	step_name(j, dir, name);
	if (j->now.n)
		step_byte(j, '/');
	return take_set(j);
}

bool judge_spells(const struct judge *j, const struct judge_set *below,
		  struct judge_word *out)
{
	for (uint32_t i = 0; i < below->n; i++) {
		const struct place *p = &j->places.v[below->places[i]];

		if (!p->spelled)
			continue;
		*out = j->patterns.v[p->pattern].word;
		return true;
	}
	return false;
}

/* The first place that only one of them has. */
bool judge_differs(const struct judge *j, const struct judge_set *from,
		   const struct judge_set *to, struct judge_word *out)
{
	uint32_t i = 0, k = 0, place;

	if (from == to)
		return false;
	while (i < from->n && k < to->n && from->places[i] == to->places[k])
		i++, k++;
	if (k == to->n || (i < from->n && from->places[i] < to->places[k]))
		place = from->places[i];
	else
		place = to->places[k];
	*out = j->patterns.v[j->places.v[place].pattern].word;
	return true;
}
