/*
 * What compare.h finds between two policies about files is what they decide
 * differently, path by path: by a model of gitignore(5) and of
 * doc/semantics.md, section 5, over every path of up to four of six names,
 * 320,000 pairs unless told. Patterns cannot tell more names apart: those that
 * they are made of, and others. What differs deeper alone is checked by its
 * witness.
 *
 *	algebra_files [PAIRS [SEED]]
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/ir/text.h"

#include "tests/check.h"
#include "tests/oracle/scaled.h"
#include "tests/oracle/workers.h"
#include "tests/policy.h"

/* --- the model ------------------------------------------------------------ */

/* One name: '*', '?', "[ab]" and "[!a]". */
static bool model_name(const char *p, size_t n, const char *s, size_t m)
{
	bool negated, has = false;
	size_t i;

	if (n == 0)
		return m == 0;
	if (*p == '*')
		return model_name(p + 1, n - 1, s, m) ||
		       (m && model_name(p, n, s + 1, m - 1));
	if (m == 0)
		return false;
	if (*p != '[')
		return (*p == '?' || *p == *s) &&
		       model_name(p + 1, n - 1, s + 1, m - 1);
	negated = p[1] == '!';
	for (i = 1 + negated; p[i] != ']'; i++)
		has |= p[i] == *s;
	return has != negated && model_name(p + i + 1, n - i - 1, s + 1, m - 1);
}

/* Whole segments; "**" is any number of them, at the end at least one. */
static bool model_segments(const char *p, const char *s)
{
	size_t n = strcspn(p, "/"), m = strcspn(s, "/");
	bool p_ends = p[n] == '\0', s_ends = s[m] == '\0';

	if (n == 2 && memcmp(p, "**", 2) == 0) {
		if (p_ends)
			return true;
		return model_segments(p + 3, s) ||
		       (!s_ends && model_segments(p, s + m + 1));
	}
	if (!model_name(p, n, s, m))
		return false;
	if (p_ends || s_ends)
		return p_ends && s_ends;
	return model_segments(p + n + 1, s + m + 1);
}

/* One line about one path, whatever is said of its parents. */
static bool model_line(const char *line, const char *path, bool is_dir)
{
	char p[64];
	size_t n;
	const char *base = strrchr(path, '/');

	snprintf(p, sizeof(p), "%s", line + (*line == '!'));
	n = strlen(p);
	if (p[n - 1] == '/') {
		if (!is_dir)
			return false;
		p[--n] = '\0';
	}
	if (!strchr(p, '/'))
		return model_name(p, n, base ? base + 1 : path,
				  strlen(base ? base + 1 : path));
	return model_segments(p + (*p == '/'), path);
}

#define LINES 6
struct list {
	uint32_t line[LINES]; /* index in lines */
	uint32_t n;
};

/* Later lines win; what lies in a directory shares its fate. */
static bool model_holds(const struct list *l, const char *const *lines,
			const char *path)
{
	char part[64];

	for (size_t i = 0; path[i]; i++) {
		bool held = false, is_dir;

		if (path[i + 1] && path[i + 1] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i + 1, path);
		if (path[i] == '/')
			return false;
		is_dir = path[i + 1] == '/';
		for (uint32_t k = 0; k < l->n; k++)
			if (model_line(lines[l->line[k]], part, is_dir))
				held = lines[l->line[k]][0] != '!';
		if (held)
			return true;
		if (is_dir && !path[i + 2])
			return false;
	}
	return false;
}

/* --- the universe --------------------------------------------------------- */

static const char *const segments[] = {"a", "b", "c", "ab", "ac", "cc"};
#define SEGMENTS 6
#define NODES	 (6 + 36 + 216 + 1296)
#define WORDS	 ((NODES + 63) / 64)

static char paths[NODES][16]; /* parents first */
static uint32_t parent[NODES];

static void fill_paths(void)
{
	uint32_t n = 0, beg = 0, end;

	for (; n < SEGMENTS; n++) {
		parent[n] = UINT32_MAX;
		strcpy(paths[n], segments[n]);
	}
	while (n < NODES) {
		end = n;
		for (uint32_t at = beg; at < end; at++)
			for (int i = 0; i < SEGMENTS; i++, n++) {
				parent[n] = at;
				snprintf(paths[n], 16, "%.*s/%s", 12, paths[at],
					 segments[i]);
			}
		beg = end;
	}
}

#define LINES_MAX 4096
static const char *lines[LINES_MAX];
static uint64_t (*bits)[2][WORDS]; /* of a line: as file, as directory */
static uint32_t n_lines;

static void add_line(const char *text)
{
	uint64_t(*b)[WORDS];

	if (n_lines == LINES_MAX)
		abort();
	b = bits[n_lines];
	lines[n_lines++] = strdup(text);
	for (uint32_t i = 0; i < NODES; i++)
		for (int dir = 0; dir < 2; dir++)
			if (model_line(text, paths[i], dir))
				b[dir][i / 64] |= 1ull << (i & 63);
}

static void add_shape(const char *text)
{
	char t[64];

	for (int i = 0; i < 4; i++) {
		snprintf(t, sizeof(t), "%s%s%s", i & 1 ? "/" : "", text,
			 i & 2 ? "/" : "");
		add_line(t);
	}
}

static void fill_lines(void)
{
	static const char *const names[] = {"a",    "b",    "*",  "?",
					    "[ab]", "[!a]", "ab", "a*"};
	char t[64];

	bits = calloc(LINES_MAX, sizeof(*bits));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		add_shape(names[i]);
		snprintf(t, sizeof(t), "%s/**", names[i]);
		add_shape(t);
		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			snprintf(t, sizeof(t), "%s/%s", names[i], names[k]);
			add_shape(t);
			snprintf(t, sizeof(t), "%s/**/%s", names[i], names[k]);
			add_shape(t);
			snprintf(t, sizeof(t), "**/%s/%s", names[i], names[k]);
			add_shape(t);
		}
	}
}

/* --- brute force ---------------------------------------------------------- */

struct held {
	uint64_t as[2][WORDS];
};

static bool bit(const uint64_t *b, uint32_t i)
{
	return b[i / 64] >> (i & 63) & 1;
}

static void hold(const struct list *l, struct held *h)
{
	memset(h, 0, sizeof(*h));
	for (uint32_t k = 0; k < l->n; k++) {
		bool back = lines[l->line[k]][0] == '!';

		for (int dir = 0; dir < 2; dir++)
			for (int w = 0; w < WORDS; w++) {
				uint64_t m = bits[l->line[k]][dir][w];

				if (back)
					h->as[dir][w] &= ~m;
				else
					h->as[dir][w] |= m;
			}
	}
	for (uint32_t i = SEGMENTS; l->n && i < NODES; i++)
		if (bit(h->as[1], parent[i])) {
			h->as[0][i / 64] |= 1ull << (i & 63);
			h->as[1][i / 64] |= 1ull << (i & 63);
		}
}

enum { READ, WRITE };

/* What each policy refuses: by what is asked. */
static void refusals(const struct held *ignore, const struct held *readonly,
		     struct held out[2])
{
	out[READ] = out[WRITE] = *ignore;
	for (int dir = 0; dir < 2; dir++)
		for (int w = 0; w < WORDS; w++)
			out[WRITE].as[dir][w] |= readonly->as[dir][w];
}

static bool without(const struct held *x, const struct held *y)
{
	for (int dir = 0; dir < 2; dir++)
		for (int w = 0; w < WORDS; w++)
			if (x->as[dir][w] & ~y->as[dir][w])
				return true;
	return false;
}

/* --- one pair ------------------------------------------------------------- */

struct operand {
	struct list ignore, readonly;
	struct ir_policy policy;
	struct decide_files *files;
	struct held refused[2];
};

static uint64_t decided, witnesses, equal, proved, refuted;

static const char *shown(const struct operand *s)
{
	static char text[2][1024];
	static int turn;
	char *p = text[turn ^= 1];

	*p = '\0';
	for (uint32_t i = 0; i < s->ignore.n; i++)
		sprintf(p + strlen(p), "  ignore %s\n",
			lines[s->ignore.line[i]]);
	for (uint32_t i = 0; i < s->readonly.n; i++)
		sprintf(p + strlen(p), "  readonly %s\n",
			lines[s->readonly.line[i]]);
	return p;
}

static struct list some_list(struct rng *r, uint32_t most)
{
	struct list l = {.n = rng_below(r, most + 1)};

	for (uint32_t i = 0; i < l.n; i++)
		l.line[i] = rng_below(r, n_lines);
	return l;
}

static void change_list(struct rng *r, struct list *l)
{
	uint32_t at = rng_below(r, l->n + 1);

	if (at < l->n && rng_below(r, 2)) {
		memmove(l->line + at, l->line + at + 1,
			(l->n - at - 1) * sizeof(*l->line));
		l->n--;
	}
	if (l->n < LINES && rng_below(r, 3))
		l->line[l->n++] = rng_below(r, n_lines);
	if (l->n > 1 && rng_below(r, 4) == 0) {
		uint32_t x = l->line[0];

		l->line[0] = l->line[l->n - 1];
		l->line[l->n - 1] = x;
	}
}

static void to_patterns(struct arena *a, const struct list *l, ir_patterns *out)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct ir_pattern *p = vec_push(a, out);

		p->line = str_of(lines[l->line[i]]);
		p->back = p->line.p[0] == '!';
	}
}

static void make(struct arena *a, struct operand *s)
{
	struct held ignore, readonly;

	memset(&s->policy, 0, sizeof(s->policy));
	to_patterns(a, &s->ignore, &s->policy.ignore);
	to_patterns(a, &s->readonly, &s->policy.readonly);
	s->files = decide_files_new(a, &s->policy);
	hold(&s->ignore, &ignore);
	hold(&s->readonly, &readonly);
	refusals(&ignore, &readonly, s->refused);
}

static bool model_refuses(const struct operand *s, const struct ir_request *r)
{
	char path[64];

	snprintf(path, sizeof(path), "%.*s", STR_ARG(r->path));
	return model_holds(&s->ignore, lines, path) ||
	       (r->kind == IR_REQ_WRITE &&
		model_holds(&s->readonly, lines, path));
}

static bool agree(struct arena *a, const struct operand *s,
		  const struct ir_request *r)
{
	bool allow = decide_asked(a, &s->policy, s->files, r).verdict ==
		     VERDICT_ALLOW;

	decided++;
	CHECK_MSG(allow == !model_refuses(s, r), "%.*s: %d of\n%s",
		  STR_ARG(ir_request_text(a, r)), allow, shown(s));
	return allow;
}

static void some_request(struct arena *a, struct rng *r,
			 const struct operand *s)
{
	char path[20];
	uint32_t at = rng_below(r, NODES);
	bool dir = rng_below(r, 2);
	struct ir_request q = {.kind = rng_below(r, 2) ? IR_REQ_READ
						       : IR_REQ_WRITE};

	snprintf(path, sizeof(path), "%s%s", paths[at], dir ? "/" : "");
	q.path = str_of(path);
	CHECK(agree(a, s, &q) !=
	      bit(s->refused[q.kind == IR_REQ_WRITE].as[dir], at));
}

/* Lies it deeper than the universe? Then the model was asked about it alone. */
static bool is_deep(struct str path)
{
	size_t n = 0;

	for (size_t i = 0; i + 1 < path.n; i++)
		n += path.p[i] == '/';
	return n >= 4;
}

static void check_changes(struct arena *a, struct operand s[2],
			  const struct comparison *c)
{
	bool gained[2] = {0}, lost[2] = {0}, deep[2] = {0};

	vec_each(x, &c->changes) {
		bool was = agree(a, &s[0], &x->witness);
		bool is = agree(a, &s[1], &x->witness);

		witnesses++;
		CHECK(x->kind == ACCESS_READ || x->kind == ACCESS_WRITE);
		CHECK_MSG(was != is && is == (x->way == ACCESS_GAINED),
			  "%.*s for %.*s", STR_ARG(x->witness.text),
			  STR_ARG(x->text));
		deep[x->kind == ACCESS_WRITE] |= is_deep(x->witness.path);
		*(x->way == ACCESS_GAINED ? &gained[x->kind == ACCESS_WRITE]
					  : &lost[x->kind == ACCESS_WRITE]) =
			true;
	}
	for (int i = 0; i < 2; i++) {
		bool more = without(&s[0].refused[i], &s[1].refused[i]);
		bool less = without(&s[1].refused[i], &s[0].refused[i]);

		/* Writing goes with reading, and is not mentioned then. */
		CHECK_MSG(gained[i] ? more || deep[i]
				    : !more || (i && gained[READ]),
			  "%d gained: %d not %d:\n%s-\n%s", i, gained[i], more,
			  shown(&s[0]), shown(&s[1]));
		CHECK_MSG(lost[i] ? less || deep[i]
				  : !less || (i && lost[READ]),
			  "%d lost: %d not %d:\n%s-\n%s", i, lost[i], less,
			  shown(&s[0]), shown(&s[1]));
	}
}

/* Is there a path that both permit? Of all that the universe has. */
static bool some_kept(const struct operand s[2], int kind)
{
	for (uint32_t at = 0; at < NODES; at++)
		for (int dir = 0; dir < 2; dir++)
			if (!bit(s[0].refused[kind].as[dir], at) &&
			    !bit(s[1].refused[kind].as[dir], at))
				return true;
	return false;
}

static void check_kept(struct arena *a, struct operand s[2],
		       const struct comparison *c)
{
	bool got[2] = {0};

	vec_each(k, &c->kept) {
		if (k->kind != ACCESS_READ && k->kind != ACCESS_WRITE)
			continue;
		witnesses++;
		CHECK_MSG(agree(a, &s[0], &k->witness) &&
				  agree(a, &s[1], &k->witness),
			  "%.*s is not permitted by both:\n%s-\n%s",
			  STR_ARG(k->witness.text), shown(&s[0]), shown(&s[1]));
		got[k->kind == ACCESS_WRITE] = true;
	}
	for (int i = 0; i < 2; i++)
		CHECK_MSG(got[i] || !some_kept(s, i),
			  "%d kept, and not said:\n%s-\n%s", i, shown(&s[0]),
			  shown(&s[1]));
}

static void check_pair(struct arena *a, struct operand s[2], bool twice)
{
	struct comparison c;

	compare_whole(a, &s[0].policy, &s[1].policy, &c);
	check_changes(a, s, &c);
	check_kept(a, s, &c);
	equal += compare_equal(&c);
	if (!twice)
		return;
	/* Not asked for what is kept, it finds the same changes. */
	compare_policies(a, &s[0].policy, &s[1].policy, &c);
	check_changes(a, s, &c);
}

static void check_never(struct arena *a, struct rng *r, const struct operand *s)
{
	struct list one = {.n = 1, .line = {rng_below(r, n_lines)}};
	struct ir_never set = {.pattern = str_of(lines[one.line[0]])};
	struct ir_request witness = {.kind = IR_REQ_READ};
	struct held in;
	struct decision d;
	bool want, found;
	int kind = (int)rng_below(r, 2);

	if (set.pattern.p[0] == '!')
		return;
	set.kind = kind == READ ? IR_NEVER_READ : IR_NEVER_WRITE;
	hold(&one, &in);
	want = without(&in, &s->refused[kind]);
	found = never_find(a, &s->policy, &set, &witness, &d);
	CHECK_MSG(found ? want || is_deep(witness.path) : !want,
		  "never %.*s: %d not %d, of\n%s",
		  STR_ARG(ir_never_text(a, &set)), found, want, shown(s));
	*(found ? &refuted : &proved) += 1;
	if (found) {
		char path[64];

		snprintf(path, sizeof(path), "%.*s", STR_ARG(witness.path));
		CHECK(agree(a, s, &witness) && model_holds(&one, lines, path));
	}
}

static void trial(struct rng *r, uint64_t i)
{
	struct arena *a = arena_new();
	static struct operand s[2];

	s[0].ignore = some_list(r, 4);
	s[0].readonly = some_list(r, rng_below(r, 3));
	s[1].ignore = s[0].ignore;
	s[1].readonly = s[0].readonly;
	if (rng_below(r, 8) == 0)
		s[1].ignore = some_list(r, 4);
	else
		change_list(r, rng_below(r, 3) ? &s[1].ignore : &s[1].readonly);
	make(a, &s[0]);
	make(a, &s[1]);
	check_pair(a, s, i % 8 == 0);
	for (int k = 0; k < 2; k++)
		some_request(a, r, &s[k]);
	if (rng_below(r, 4) == 0)
		check_never(a, r, &s[0]);
	arena_free(a);
}

static void report(uint64_t out[WORKERS_COUNTS])
{
	out[0] = decided;
	out[1] = witnesses;
	out[2] = equal;
	out[3] = proved;
	out[4] = refuted;
}

/* A third of the lines takes back. */
static void add_backs(void)
{
	char t[64];

	for (uint32_t i = 0, n = n_lines; i < n; i += 2) {
		snprintf(t, sizeof(t), "!%s", lines[i]);
		add_line(t);
	}
}

int main(int argc, char **argv)
{
	uint64_t pairs =
		argc > 1 ? strtoull(argv[1], NULL, 10) : SCALED(100000, 50);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint64_t sum[WORKERS_COUNTS];

	fill_paths();
	fill_lines();
	add_backs();
	workers_run(pairs, seed, trial, report, sum);
	printf("seed %llu: %llu pairs of %u patterns, %llu equal; %llu "
	       "decisions, %llu witnesses; %llu sets proved, %llu refuted\n",
	       (unsigned long long)seed, (unsigned long long)pairs, n_lines,
	       (unsigned long long)sum[2], (unsigned long long)sum[0],
	       (unsigned long long)sum[1], (unsigned long long)sum[3],
	       (unsigned long long)sum[4]);
	CHECK(sum[2] > pairs / 50 && sum[2] < pairs / 2);
	CHECK(sum[3] > pairs / 200 && sum[4] > pairs / 200);
	return check_status();
}
