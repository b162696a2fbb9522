/*
 * What emitters refuse, each by itself and all together: too many port lists or
 * sets of rules, a policy too long to be read again, a string that cannot stand
 * in HAProxy's configuration.
 */
#include "tests/unit/emit/planned.h"

#include "compiler/base/limits.h"

static struct arena *a;

/* Does that emitter, asked by itself, refuse? */
static bool refuses(struct compilation *c, const char *name)
{
	struct emit_in in = driver_emit(c);
	struct buf out;

	for (size_t i = 0; emitter_at(i); i++) {
		if (strcmp(emitter_at(i)->name, name) != 0)
			continue;
		buf_init(&out, c->a);
		return !emitter_at(i)->emit(&in, &out);
	}
	CHECK_MSG(false, "%s", name);
	return false;
}

/* How many there are, and the line of the last. */
static unsigned count_errors(struct compilation *c, enum diag_id id,
			     uint32_t *out_line)
{
	struct diag_view view;
	unsigned n = 0;

	for (unsigned i = 0; diags_get(&c->diags, i, &view); i++) {
		if (view.id != id)
			continue;
		CHECK(view.help.n);
		*out_line = sources_place(&c->sources, view.at).line;
		n++;
	}
	return n;
}

/* --- too many ------------------------------------------------------------- */

/* Entries of one key, n of them, each with a port of its own from that on. */
static void put_entries(struct buf *b, const char *key, const char *format,
			unsigned n)
{
	buf_addf(b, "%s:\n", key);
	for (unsigned i = 0; i < n; i++) {
		buf_adds(b, "  - ");
		for (const char *p = format; *p; p++)
			if (*p == '#')
				buf_addf(b, "%u", 1000 + i);
			else
				buf_addc(b, *p);
		buf_addc(b, '\n');
	}
}

struct many {
	const char *grants, *asks, *denials; /* formats, or NULL */
	const char *refusing[3];	     /* emitters that do */
	enum diag_id id;
};

/* With a port for each entry; requests to names are of no class, but of one for
 * QUIC where a grant of UDP is there. */
static const struct many kinds[] = {
	{"{dest: 10.0.0.0/8, ports: [#]}",
	 NULL,
	 NULL,
	 {"names", "nft"},
	 DIAG_CLASSES},
	{"a.test:53",
	 "{dest: 10.0.0.0/8, ports: [#]}",
	 NULL,
	 {"names", "nft"},
	 DIAG_CLASSES},
	{"a.test:53",
	 NULL,
	 "{dest: 10.0.0.0/8, ports: [#]}",
	 {"names", "nft"},
	 DIAG_CLASSES},
	{"{dest: u.test, ports: [1-65535/udp]}",
	 NULL,
	 "{dest: a.test, ports: [#], http: [{paths: [/a]}]}",
	 {"names", "nft", "gate"},
	 DIAG_CLASSES},
	{"a.test:#", NULL, NULL, {"gate", "hosts", "profiles"}, DIAG_PROFILES},
	{"a.test:53",
	 "a.test:#",
	 NULL,
	 {"gate", "addrs", "certificates"},
	 DIAG_PROFILES},
	{"a.test:53",
	 NULL,
	 "a.test:#",
	 {"gate", "hosts", "addrs"},
	 DIAG_PROFILES},
};

static const char *text_of(const struct many *m, unsigned n)
{
	struct buf b;

	buf_init(&b, a);
	if (m->grants)
		put_entries(&b, "allow", m->grants,
			    strchr(m->grants, '#') ? n : 1);
	if (m->asks)
		put_entries(&b, "ask", m->asks, n);
	if (m->denials)
		put_entries(&b, "deny", m->denials, n);
	return buf_str(&b).p;
}

/* So many are taken; one more is refused, once, however many emitters do. */
static void check_many(const struct many *m)
{
	struct compilation c;
	uint32_t line;

	CHECK_MSG(planned(&c, text_of(m, LIMIT_CLASSES)), "%s", text_of(m, 1));
	driver_done(&c);
	CHECK_MSG(!planned(&c, text_of(m, LIMIT_CLASSES + 1)), "%s",
		  text_of(m, 1));
	for (size_t i = 0; i < ARRAY_LEN(m->refusing) && m->refusing[i]; i++)
		CHECK_MSG(refuses(&c, m->refusing[i]), "%s: %s", m->refusing[i],
			  text_of(m, 1));
	CHECK_MSG(count_errors(&c, m->id, &line) == 1, "%s", text_of(m, 1));
	driver_done(&c);
}

/* What else was refused before is no reason to say nothing of it. */
static void check_behind(const struct many *m)
{
	struct compilation c;
	uint32_t line;

	CHECK(!planned(&c, text_of(m, LIMIT_CLASSES + 1)));
	diags_init(&c.diags, c.a, &c.sources);
	diag_error(&c.diags, DIAG_QUOTE, (struct span){0}, "another");
	for (unsigned i = 0; i < 2; i++)
		CHECK(refuses(&c, m->refusing[0]));
	CHECK(count_errors(&c, m->id, &line) == 1);
	driver_done(&c);
}

/* It stands at the first that is too many, however many come. */
static void check_place(const struct many *m)
{
	struct compilation c;
	uint32_t line;

	CHECK(!planned(&c, text_of(m, LIMIT_CLASSES + 40)));
	CHECK(count_errors(&c, m->id, &line) == 1);
	CHECK_MSG(line == LIMIT_CLASSES + 2, "%u", line);
	driver_done(&c);
}

/* --- too long ---------------------------------------------------------------
 */

/* policy.json of a policy whose image has so many of a byte in its name. */
static bool is_written(struct compilation *c, char byte, size_t n)
{
	char *name = arena_alloc(c->a, n + 1);

	memset(name, byte, n);
	name[n] = '\0';
	c->policy.image.v = (struct str){name, n};
	return !refuses(c, "policy");
}

/* As many values as may be, where each comma may begin one; and one more. */
static void check_long(void)
{
	struct compilation c;
	struct diag_view view;
	struct str text;
	size_t values = 1;

	CHECK(planned(&c, "allow: [a.test]\nimage: x\n"));
	text = planned_file(&c, "policy.json");
	for (size_t i = 0; i < text.n; i++)
		values += strchr(",:[{", text.p[i]) != NULL;
	CHECK(is_written(&c, ',', LIMIT_DERIVED_NODES - values));
	CHECK(c.diags.errors == 0);
	CHECK(!is_written(&c, ',', LIMIT_DERIVED_NODES - values + 1));
	CHECK(c.diags.errors == 1 && diags_get(&c.diags, 0, &view));
	CHECK(view.id == DIAG_TOO_BIG && view.help.n);
	driver_done(&c);
}

/* Likewise of one byte too many: the image's name is in it once, where there
 * was "x". */
static void check_bytes(void)
{
	struct compilation c;
	struct diag_view view;
	size_t rest;

	CHECK(planned(&c, "allow: [a.test]\nimage: x\n"));
	rest = planned_file(&c, "policy.json").n - 1;
	CHECK(!is_written(&c, 'x', LIMIT_DERIVED_BYTES - rest + 1));
	CHECK(c.diags.errors == 1 && diags_get(&c.diags, 0, &view));
	CHECK(view.id == DIAG_TOO_BIG && view.help.n);
	driver_done(&c);
}

/* --- what cannot be quoted ------------------------------------------------ */

static const char quoted[] =
	"allow:\n"
	"  - {dest: a.test, ports: [443], http: [{methods: [GET], paths: [/a]}]}\n"
	"  - {dest: \"x.*.test\", ports: [443]}\n"
	"  - https://u.test/v1/\n"
	"deny: [{dest: u.test, http: [{paths: [/b]}]}]\n"
	"credentials:\n"
	"  - {host: u.test, header: X-Key, from_env: KEY, format: \"Bearer {}\"}\n";

/* A string of that policy that is another one now; where it was written. */
static struct span *spoil(struct compilation *c, unsigned which,
			  struct str with)
{
	struct ir_policy *p = &c->policy;
	struct ir_http *h = NULL;

	vec_each(g, &p->allow)
		if (g->has_http)
			h = &g->http.v[0];
	switch (which) {
	case 0:
		h->methods.v[0].s = with;
		return &h->methods.v[0].from.at;
	case 1:
		h->paths.v[0].s = with;
		return &h->paths.v[0].from.at;
	case 2:
		p->deny.v[p->deny.n - 1].http.v[0].paths.v[0].s = with;
		return &p->deny.v[p->deny.n - 1].http.v[0].paths.v[0].from.at;
	case 3:
		p->credentials.v[0].header = with;
		return &p->credentials.v[0].from.at;
	}
	return NULL;
}

/* The front takes none of these; who else makes a policy is told where. */
static void check_quotes(void)
{
	static const struct str odd[] = {STR("/a\n    acl granted always_true"),
					 STR("/a\x7f"), STR("/\xc3\xa9"),
					 STR("/a b")};
	struct compilation c;
	struct diag_view view;

	for (unsigned which = 0; which < 4; which++)
		for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
			const struct span *at;

			CHECK(planned(&c, quoted) && !refuses(&c, "gate"));
			at = spoil(&c, which, odd[i]);
			CHECK_MSG(refuses(&c, "gate"), "%u %zu", which, i);
			CHECK(diags_get(&c.diags, 0, &view) &&
			      view.id == DIAG_QUOTE && view.at.beg == at->beg &&
			      view.at.end == at->end);
			driver_done(&c);
		}
}

/* --- what is asked of those that may refuse ------------------------------- */

/* Who wants to know whether a policy is refused gets nothing else. */
static void check_unwritten(void)
{
	struct compilation c, all;
	uint32_t left = 0;

	CHECK(planned_plain(&all, "allow: [a.test]\n"));
	CHECK(planned_unwritten(&c, "allow: [a.test]\n"));
	for (size_t i = 0; emitter_at(i); i++) {
		const struct emitter *e = emitter_at(i);
		bool is_there = plan_file(&all.plan, e->file) != NULL;

		CHECK_MSG((plan_file(&c.plan, e->file) != NULL) ==
				  (is_there && !e->takes_all),
			  "%s", e->file);
		left += is_there && e->takes_all;
	}
	CHECK(left > 3);
	driver_done(&c);
	driver_done(&all);
}

int main(void)
{
	a = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		check_many(&kinds[i]);
	check_place(&kinds[0]);
	check_place(&kinds[4]);
	check_behind(&kinds[0]);
	check_behind(&kinds[4]);
	check_long();
	check_bytes();
	check_quotes();
	check_unwritten();
	arena_free(a);
	return check_status();
}
