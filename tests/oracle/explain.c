/*
 * What `explain` says, held against what can be found out otherwise, over
 * policies and requests at random:
 *
 * - its verdict is the decision function's;
 * - each edit, made again from the lines that it prints, compiles and gives the
 *   other verdict;
 * - the first of them, for a connection or request of a policy without denials,
 *   permits one thing more;
 * - each line of an artefact is there, and changes when the rule that it is
 *   said to carry goes, unless another rule has the same line; lines of
 *   gate.cfg name the profile that the rule has;
 * - the request, in canonical text, is read back as the same.
 */
#include "compiler/algebra/decide/ask.h"
#include "compiler/cli/explain/explain_edits.h"
#include "compiler/front/word/request.h"
#include "compiler/front/yaml/edit.h"
#include "compiler/ir/text.h"
#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/scaled.h"

#include <stdlib.h>
#include <unistd.h>

#define POLICIES SCALED(400, 8)
#define REQUESTS 8
#define HERE	 STR(".membrane.yaml")
#define GLOBAL	 STR("~/.membrane/config.yaml")

static const char *const dests[] = {
	"a.test",	  "b.test",	  "x.a.test",	"\"*.test\"",
	"\"**.test\"",	  "\"*.a.test\"", "10.0.0.0/8", "10.1.0.0/16",
	"1.2.3.0/24",	  "1.2.3.4",	  "\"*\"",	"169.254.169.254",
	"2606:4700::/32", "0.0.0.0/0",
};
static const char *const ports[] = {
	"[22]", "[443]",    "[443]",	   "[443]",
	"[80]", "[53/udp]", "[8000-8999]", "[443, 53/udp]",
};
static const char *const rules[] = {
	"[{methods: [GET]}]",
	"[{paths: [/a/]}]",
	"[{methods: [GET, PUT], paths: [/a]}, {methods: [POST]}]",
	"[{methods: [POST], paths: [/b, /a/b]}]",
};
static const char *const urls[] = {
	"https://a.test/a/",	  "https://b.test/",   "http://a.test/a",
	"https://x.a.test:8443/", "https://1.2.3.4/a",
};
static const char *const patterns[] = {
	".env",	     "a/",	 "/a/b", "\"*.c\"", "\"!.env\"",
	"\"!/a/b\"", "\"**/b\"", "/a/*", "d",
};
/* Of masks.fast: those that a rule names are refused. */
static const char *const folders[] = {"a/", "d/", "a/b/", "d/e/, a/"};
static const char *const words[] = {
	"--env=A=b",
	"--init",
	"--label=x",
	"--cpu-shares=2",
};

static const char *const asked[] = {
	"a.test:22",
	"b.test:443",
	"x.a.test:8080",
	"c.test:1",
	"udp a.test:53",
	"udp b.test:53",
	"1.2.3.4:443",
	"10.1.2.3:22",
	"tcp 10.1.2.3:443 a.test",
	"tcp 1.2.3.4:22 b.test",
	"udp 1.2.3.9:53",
	"169.254.169.254:80",
	"tcp 127.0.0.1:22 a.test",
	"tcp [2606:4700::1]:443",
	"8.8.8.8:8000",
	"GET https://a.test/a/x",
	"POST https://a.test/a/b",
	"PUT https://b.test/",
	"GET http://a.test/a",
	"DELETE http://b.test:443/x",
	"GET https://x.a.test:8443/a",
	"POST https://x.a.test/b",
	"GET https://a.test/a/../b",
	"GET https://1.2.3.4/a",
	"GET http://10.1.2.3/a",
	"CONNECT https://a.test/",
	"GET https://c.test/",
	"resolve a.test",
	"resolve x.a.test TXT",
	"resolve b.test NS",
	"resolve y.test AAAA",
	"read .env",
	"read a/b",
	"read a/b/c.c",
	"read x.c",
	"read d/",
	"write a/.env",
	"write a/b/c",
	"write a/b/x.c",
	"read d/e/.env",
	"write .git/hooks/x",
	"write d/e/f",
	"write .membrane.yaml",
	"docker-arg --env A=b",
	"docker-arg --init",
	"docker-arg -l x",
	"docker-arg --privileged",
	"docker-arg -c 3",
};

static uint64_t flips, narrow, named, deleted, fast;

/* --- policies ------------------------------------------------------------ */

static void put_grant(struct rng *r, struct buf *b)
{
	switch (rng_below(r, 6)) {
	case 0:
		buf_adds(b, GEN_PICK(r, urls));
		return;
	case 1:
		buf_addf(b, "{dest: %s, http: %s}", GEN_PICK(r, urls),
			 GEN_PICK(r, rules));
		return;
	case 2:
		buf_addf(b, "{dest: %s, http: %s, ports: [443]}",
			 dests[rng_below(r, 10)], GEN_PICK(r, rules));
		return;
	case 3:
	case 4:
		buf_addf(b, "{dest: %s, ports: %s%s}", GEN_PICK(r, dests),
			 GEN_PICK(r, ports),
			 rng_below(r, 4) ? "" : ", private: true");
		return;
	default:
		buf_adds(b, GEN_PICK(r, dests));
		return;
	}
}

static void put_item(struct rng *r, struct buf *b, int kind)
{
	if (kind == 0)
		put_grant(r, b);
	else if (kind == 1)
		buf_adds(b, GEN_PICK(r, patterns));
	else
		buf_adds(b, GEN_PICK(r, words));
}

/* A list in one of the shapes of YAML. */
static void put_list(struct rng *r, struct buf *b, const char *key, int kind,
		     const char *indent)
{
	uint32_t n = 1 + rng_below(r, kind ? 4 : 9), shape = rng_below(r, 4);

	if (rng_below(r, 3) == 0)
		return;
	buf_addf(b, "%s%s:%s", indent, key, shape == 0 ? " [" : "\n");
	for (uint32_t i = 0; i < n; i++) {
		if (shape == 0)
			buf_adds(b, i ? ", " : "");
		else
			buf_addf(b, "%s%s- ", indent, shape == 1 ? "" : "  ");
		put_item(r, b, kind);
		if (shape == 3 && rng_below(r, 2))
			buf_adds(b, " # why: because");
		if (shape)
			buf_addc(b, '\n');
	}
	if (shape == 0)
		buf_adds(b, "]\n");
}

static struct str policy(struct arena *a, struct rng *r, bool workspace)
{
	bool network = rng_below(r, 4) == 0;
	const char *indent = network ? "  " : "";
	struct buf b;

	buf_init(&b, a);
	if (rng_below(r, 3) == 0)
		buf_adds(&b, "# a policy\n");
	/* 'network:' with nothing in it is refused. */
	buf_adds(&b, network ? "network:\n  deny: []\n" : "");
	put_list(r, &b, "allow", 0, indent);
	if (!network)
		put_list(r, &b, "deny", 0, "");
	put_list(r, &b, "ignore", 1, "");
	put_list(r, &b, "readonly", 1, "");
	if (rng_below(r, 3) == 0)
		buf_addf(&b, "masks: {hold: true, fast: [%s]}\n",
			 GEN_PICK(r, folders));
	if (workspace)
		put_list(r, &b, "args", 2, "");
	return buf_str(&b);
}

/* --- one policy ---------------------------------------------------------- */

struct world {
	struct arena *a;
	struct inputs in;
	struct front_text texts[2];
	struct compilation c;
};

static bool compile(struct compilation *c, const struct inputs *in,
		    const struct front_text *texts, size_t n)
{
	struct front_input front = in->front;
	struct err err;

	*c = (struct compilation){.mark_lines = true};
	front.texts = texts;
	front.n_texts = n;
	return driver_compile(c, &front, &err) == 0 && c->ok;
}

static struct decision ask(struct compilation *c, const struct ir_request *r)
{
	return decide_asked(c->a, &c->policy,
			    decide_files_new(c->a, &c->policy), r);
}

/* --- edits --------------------------------------------------------------- */

/* The hunks of one file, made in its text line by line. */
static struct str patched(struct arena *a, struct str text, struct str file,
			  const struct explain_edit *e)
{
	explain_texts old = {0};
	uint32_t at = 0, made = 0;
	struct str line;
	struct buf b;

	buf_init(&b, a);
	while (str_line(&text, &line))
		*vec_push(a, &old) = line;
	vec_each(h, &e->hunks) {
		uint32_t to;

		if (!str_eq(h->file, file))
			continue;
		/* Where lines only come, their number is that of the new. */
		to = h->gone.n ? h->line - 1 : h->line - 1 - (made - at);
		CHECK(to >= at && to <= old.n);
		for (; at < to && at < old.n; at++, made++)
			buf_addf(&b, "%.*s\n", STR_ARG(old.v[at]));
		vec_each(gone, &h->gone) {
			CHECK(at < old.n && str_eq(old.v[at], *gone));
			at++;
		}
		vec_each(come, &h->come) {
			buf_addf(&b, "%.*s\n", STR_ARG(*come));
			made++;
		}
	}
	for (; at < old.n; at++)
		buf_addf(&b, "%.*s\n", STR_ARG(old.v[at]));
	return buf_str(&b);
}

static void check_edits(struct world *w, const struct explanation *e,
			const struct explain_flip *flip)
{
	vec_each(x, &flip->edits) {
		struct front_text texts[2];
		struct compilation c;
		bool ok;

		for (int i = 0; i < 2; i++) {
			texts[i] = w->texts[i];
			texts[i].text =
				patched(w->a, texts[i].text, texts[i].name, x);
		}
		ok = compile(&c, &w->in, texts, 2);
		CHECK_MSG(ok && ask(&c, e->request).verdict ==
					  explain_edits_turned(&e->decision),
			  "%.*s\n%.*s\n%.*s", STR_ARG(e->request->text),
			  STR_ARG(texts[0].text), STR_ARG(texts[1].text));
		flips++;
		driver_done(&c);
	}
}

/*
 * A rule for the request alone opens that and nothing else. It may well take
 * something: where '*' needed no look inside, a rule of http makes it need one.
 */
static void check_narrow(struct world *w, const struct explanation *e,
			 const struct explain_flip *flip)
{
	enum reason r = e->decision.reason;
	uint32_t gained = 0;

	if (flip->edits.n == 0 || e->request->kind > IR_REQ_HTTP ||
	    (r != REASON_NO_GRANT && r != REASON_PORT && r != REASON_UDP &&
	     r != REASON_METHOD && r != REASON_PATH))
		return;
	vec_each(d, &w->c.policy.deny)
		if (d->from.layer != LAYER_FLOOR)
			return;
	vec_each(x, &flip->edits.v[0].effects)
		gained += x->way == ACCESS_GAINED;
	narrow++;
	CHECK_MSG(gained == 1, "%.*s: %u", STR_ARG(e->request->text), gained);
}

/* --- lines --------------------------------------------------------------- */

static struct str artefact(const struct compilation *c, const char *name)
{
	const struct plan_file *f = plan_file(&c->plan, name);

	return f ? f->data : (struct str){0};
}

static uint32_t count(struct str text, struct str wanted)
{
	struct str line;
	uint32_t n = 0;

	while (str_line(&text, &line))
		n += str_eq(line, wanted);
	return n;
}

static uint32_t lines(struct str text)
{
	struct str line;
	uint32_t n = 0;

	while (str_line(&text, &line))
		n++;
	return n;
}

/* Where classes have other numbers then, one may come to look like another. */
static bool is_gone(struct str before, struct str now,
		    const struct explain_line *l)
{
	return count(now, l->text) < count(before, l->text) ||
	       (strcmp(l->file, "ruleset.nft") == 0 &&
		lines(now) < lines(before));
}

static bool line_is(struct str text, uint32_t at, struct str wanted)
{
	struct str line;

	while (str_line(&text, &line))
		if (--at == 0)
			return str_eq(line, wanted);
	return false;
}

/* Does another rule have that line? */
static bool is_shared(const struct compilation *c, const struct explain_line *l,
		      const struct ir_origin *from)
{
	vec_each(m, &c->marks.list) {
		struct str text;

		if (m->from && m->from != from &&
		    strcmp(m->file, l->file) == 0 &&
		    marks_line(artefact(c, m->file), m->at, &text) == l->line)
			return true;
	}
	return false;
}

static bool has(struct str s, const char *part)
{
	struct str p = str_of(part);

	for (size_t i = 0; i + p.n <= s.n; i++)
		if (str_eq(str_slice(s, i, i + p.n), p))
			return true;
	return false;
}

static bool has_word(struct str text, const char *stem, struct str token)
{
	char word[32];

	snprintf(word, sizeof(word), " %s_%.*s ", stem, STR_ARG(token));
	if (has(text, word))
		return true;
	word[strlen(word) - 1] = '\0';
	return str_ends(text, str_of(word));
}

/* The ACL of the rule's profile stands in the line: "name_3", "network_d1". */
static bool has_profile(const struct compilation *c,
			const struct explanation *e,
			const struct explain_line *l)
{
	struct str map = artefact(c, "profiles.map"), line;

	while (str_line(&map, &line)) {
		struct str token = str_slice(line, 0, str_find(line, ' ', 0));

		if (str_ends(line, e->rule.id) &&
		    (has_word(l->text, "name", token) ||
		     has_word(l->text, "network", token)))
			return true;
	}
	/* What holds for all that is raw, or for all that is not. */
	return has(l->text, "sess.verdict") || has(l->text, "reject unless");
}

static const char *const defaults[] = {
	"membrane:no-grant:",
	"membrane:floor:",
	"str(no-grant)",
	"METH_CONNECT",
	"floor ",
	"private ",
	"str(path-not-canonical)",
	"reject unless read_well",
	"nameless !network_granted",
};

static bool is_default(const struct explain_line *l)
{
	for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
		if (has(l->text, defaults[i]))
			return true;
	return false;
}

/* The set that names.map fills for the rule is the one of the line. */
static bool has_set(const struct compilation *c, const struct explanation *e,
		    const struct explain_line *l)
{
	struct str map = artefact(c, "names.map"), line, field = {0};
	char four[24], six[24];
	bool http;

	if (!has(l->text, " @host") && !has(l->text, " @http"))
		return true;
	while (str_line(&map, &line)) {
		if (!str_starts(line, STR("name ")) ||
		    !str_ends(line, e->rule.id))
			continue;
		for (int i = 0; i < 3; i++)
			if (!str_field(&line, ' ', &field))
				return false;
	}
	http = str_starts(field, STR("h"));
	field = str_slice(field, http, field.n);
	snprintf(four, sizeof(four), " @%s4_%.*s ", http ? "http" : "host",
		 STR_ARG(field));
	snprintf(six, sizeof(six), " @%s6_%.*s ", http ? "http" : "host",
		 STR_ARG(field));
	return has(l->text, four) || has(l->text, six);
}

/* --- lines that must be there -------------------------------------------- */

static bool line_with(const struct explanation *e, const char *file,
		      const char *part)
{
	vec_each(l, &e->lines)
		if (strcmp(l->file, file) == 0 && has(l->text, part))
			return true;
	return false;
}

static bool granted_line(const struct explanation *e)
{
	const struct ir_request *r = e->request;
	const struct ir_grant *g = e->decision.grant;

	switch (r->kind) {
	case IR_REQ_CONNECT:
		return line_with(e, "ruleset.nft", "goto granted") ||
		       line_with(e, "ruleset.nft", ":15001");
	case IR_REQ_HTTP:
		return line_with(e, "ruleset.nft", " dport ") &&
		       (g->dest.kind == IR_DEST_ANY ||
			g->dest.kind == IR_DEST_CIDR ||
			line_with(e, "gate.cfg", "sess.rule) str(") ||
			line_with(e, "gate.cfg", "txn.rule) str("));
	case IR_REQ_RESOLVE:
		return line_with(e, "names.map", "name ");
	case IR_REQ_READ:
	case IR_REQ_WRITE:
		return !e->has_rule || line_with(e, "mounts.plan", "!");
	case IR_REQ_ARG:
		return line_with(e, "docker.json", "--");
	}
	return false;
}

/* What a decision cannot do without. */
static bool complete(const struct compilation *c, const struct explanation *e)
{
	bool http = e->request->kind == IR_REQ_HTTP;
	bool gate = plan_file(&c->plan, "gate.cfg") != NULL;

	switch ((int)e->decision.reason) {
	case REASON_GRANTED:
		return granted_line(e);
	case REASON_METHOD:
		return line_with(e, "gate.cfg",
				 e->has_rule ? "str(method) if n"
					     : "METH_CONNECT");
	case REASON_PATH:
		return line_with(e, "gate.cfg", "str(path) if n");
	case REASON_SCHEME:
		return line_with(e, "gate.cfg", "str(scheme) if n");
	case REASON_PATH_NOT_CANONICAL:
		return line_with(e, "gate.cfg", "str(path-not-canonical)");
	case REASON_NO_SNI:
		return line_with(e, "ruleset.nft", "no-grant");
	case REASON_NO_GRANT:
		if (http && gate && !line_with(e, "gate.cfg", "str(no-grant)"))
			return false;
		return e->request->kind > IR_REQ_HTTP ||
		       line_with(e, "ruleset.nft", "no-grant");
	case REASON_PORT:
	case REASON_UDP:
		return line_with(e, "ruleset.nft", "no-grant");
	case REASON_NOT_HTTP:
		return line_with(e, "ruleset.nft", ":15002") &&
		       line_with(e, "gate.cfg", "reject unless");
	case REASON_FLOOR:
		return line_with(e, "ruleset.nft", "membrane:floor");
	case REASON_IGNORED:
		return line_with(e, "mounts.plan", "ignore ");
	case REASON_READONLY:
		return line_with(e, "mounts.plan", "readonly ");
	}
	return e->lines.n || e->decision.reason == REASON_QUERY_TYPE;
}

/* The sources without the rule; false where it is not one of theirs. */
static bool without(struct world *w, const struct explain_rule *rule,
		    struct front_text texts[2])
{
	struct span at = rule->from->at;
	const struct source *s = sources_of(&w->c.sources, at);

	memcpy(texts, w->texts, sizeof(w->texts));
	for (int i = 0; i < 2; i++)
		if (str_eq(s->name, texts[i].name))
			return edit_remove(w->a, texts[i].text,
					   at.beg - s->base, NULL,
					   &texts[i].text);
	return false;
}

static bool still_has(const struct ir_policy *p, const struct explain_rule *r)
{
	const ir_grants *grants[] = {&p->allow, &p->deny};
	const ir_patterns *lists[] = {&p->ignore, &p->readonly};

	for (int i = 0; i < 2; i++) {
		vec_each(g, grants[i])
			if (r->id.n && str_eq(g->canon, r->text))
				return true;
		vec_each(x, lists[i])
			if (!r->id.n && str_eq(x->line, r->text))
				return true;
	}
	return false;
}

static void check_line(struct world *w, const struct explanation *e,
		       const struct explain_line *l, struct compilation *less)
{
	struct str text = artefact(&w->c, l->file);

	named++;
	CHECK(line_is(text, l->line, l->text));
	CHECK_MSG(is_default(l) || has_set(&w->c, e, l), "%.*s: %.*s",
		  STR_ARG(e->request->text), STR_ARG(l->text));
	if (strcmp(l->file, "gate.cfg") == 0) {
		CHECK_MSG(is_default(l) ||
				  (e->has_rule && has_profile(&w->c, e, l)),
			  "%.*s: %.*s", STR_ARG(e->request->text),
			  STR_ARG(l->text));
		return;
	}
	if (!less || is_shared(&w->c, l, e->rule.from)) {
		CHECK_MSG(e->has_rule || is_default(l), "%.*s: %.*s",
			  STR_ARG(e->request->text), STR_ARG(l->text));
		return;
	}
	deleted++;
	CHECK_MSG(is_default(l) || is_gone(text, artefact(less, l->file), l),
		  "%.*s: %s:%u %.*s", STR_ARG(e->request->text), l->file,
		  l->line, STR_ARG(l->text));
}

static void check_lines(struct world *w, const struct explanation *e)
{
	struct front_text texts[2];
	struct compilation less = {0};
	bool usable = e->has_rule && e->rule.kind != EXPLAIN_ARG &&
		      without(w, &e->rule, texts) &&
		      compile(&less, &w->in, texts, 2) &&
		      !still_has(&less.policy, &e->rule);

	CHECK_MSG(complete(&w->c, e), "%.*s: %s\n%.*s\n%.*s",
		  STR_ARG(e->request->text), reason_name(e->decision.reason),
		  STR_ARG(w->texts[0].text), STR_ARG(w->texts[1].text));
	vec_each(l, &e->lines)
		check_line(w, e, l, usable ? &less : NULL);
	if (less.a)
		driver_done(&less);
}

/* --- all ----------------------------------------------------------------- */

static bool parse(struct world *w, struct str text, struct ir_request *out)
{
	struct pass_ctx ctx = driver_ctx(&w->c);
	struct text t = {text, {0}, 0};

	return request_parse(&ctx, &t, out);
}

static void check_text(struct world *w, const struct ir_request *r)
{
	struct str once = ir_request_text(w->a, r);
	struct ir_request again;

	CHECK_MSG(parse(w, once, &again) &&
			  str_eq(once, ir_request_text(w->a, &again)) &&
			  again.kind == r->kind && again.port == r->port &&
			  again.proto == r->proto,
		  "%.*s", STR_ARG(once));
}

static void check_one(struct world *w, const char *text)
{
	struct explanation e;
	struct explain_flip flip;
	struct ir_request r;

	if (!parse(w, str_of(text), &r)) {
		CHECK_MSG(false, "%s", text);
		return;
	}
	check_text(w, &r);
	explain_model_make(&w->c, decide_files_new(w->c.a, &w->c.policy), NULL,
			   &r, &e);
	CHECK(e.decision.verdict == ask(&w->c, &r).verdict);
	CHECK((e.decision.verdict == VERDICT_ALLOW) ==
	      (e.decision.reason == REASON_GRANTED));
	CHECK((e.decision.verdict == VERDICT_ASK) ==
	      (e.decision.reason == REASON_ASK));
	explain_edits_find(w->a, &w->in, &w->c, &e, &flip);
	CHECK(flip.edits.n || flip.notes.n);
	check_edits(w, &e, &flip);
	check_narrow(w, &e, &flip);
	check_lines(w, &e);
}

static void check_policy(struct rng *r, const char *dir)
{
	struct world w = {.a = arena_new()};

	w.in.front.workspace = w.in.front.state = dir;
	w.in.front.policies = dir;
	w.texts[0] = (struct front_text){GLOBAL, policy(w.a, r, false)};
	w.texts[1] = (struct front_text){HERE, policy(w.a, r, true)};
	w.in.front.texts = w.texts;
	w.in.front.n_texts = 2;
	if (compile(&w.c, &w.in, w.texts, 2)) {
		fast += w.c.policy.fast.n > 0;
		for (int i = 0; i < REQUESTS; i++)
			check_one(&w, GEN_PICK(r, asked));
	}
	driver_done(&w.c);
	arena_free(w.a);
}

int main(void)
{
	char dir[] = "/tmp/membrane-explain-XXXXXX";
	struct rng r = {.state = 20260301};

	if (!mkdtemp(dir))
		return 3;
	for (int i = 0; i < POLICIES; i++)
		check_policy(&r, dir);
	rmdir(dir);
	CHECK(flips > POLICIES && narrow > POLICIES / 8 && named > POLICIES &&
	      deleted > POLICIES && fast > POLICIES / 16);
	fprintf(stderr,
		"%llu edits made, %llu lines, %llu rules taken out, %llu with fast folders\n",
		(unsigned long long)flips, (unsigned long long)named,
		(unsigned long long)deleted, (unsigned long long)fast);
	return check_status();
}
