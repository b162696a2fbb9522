/*
 * What normalise makes of a policy: grants in canonical form, each once, and
 * what else has an order.
 */
#include "compiler/base/sha256.h"
#include "tests/unit/layered.h"

static void put_grants(struct buf *b, const char *key, const ir_grants *list)
{
	vec_each(g, list) {
		char hex[SHA256_HEX_MAX];

		if (g->from.layer == LAYER_FLOOR)
			continue;
		sha256_hex(g->canon, hex);
		CHECK(str_eq(str_slice(g->id, 2, 12), (struct str){hex, 10}));
		CHECK(g->id.n == 12 && g->id.p[0] == key[0] &&
		      g->id.p[1] == '-');
		buf_addf(b, "%s %.*s", key, STR_ARG(g->canon));
		vec_each(o, &g->again)
			buf_addf(b, " again@%s", layer_name(o->layer));
		buf_adds(b, "\n");
	}
}

static void put_patterns(struct buf *b, const char *key,
			 const ir_patterns *list)
{
	vec_each(p, list)
		if (p->from.layer != LAYER_FLOOR)
			buf_addf(b, "%s %.*s%s%s%s\n", key, STR_ARG(p->line),
				 p->back ? " back" : "", p->fast ? " fast" : "",
				 p->hold ? " hold" : "");
}

static void put_texts(struct buf *b, const char *key, const ir_texts *list)
{
	vec_each(t, list)
		buf_addf(b, "%s %.*s\n", key, STR_ARG(t->s));
}

/* What is not of the floor. */
static struct str settled(struct layered *l)
{
	const struct ir_policy *p = &l->p;
	struct buf b;

	buf_init(&b, l->r.a);
	put_grants(&b, "grant", &p->allow);
	put_grants(&b, "ask", &p->ask);
	put_grants(&b, "deny", &p->deny);
	put_patterns(&b, "ignore", &p->ignore);
	put_patterns(&b, "readonly", &p->readonly);
	put_texts(&b, "fast", &p->fast);
	put_texts(&b, "ports", &p->ports);
	put_texts(&b, "visible", &p->visible);
	return buf_str(&b);
}

/* The user's file, that of the workspace or NULL, and that. */
static const struct {
	const char *global, *workspace, *want;
} list[] = {
	/* ports */
	{"allow: [a.test, \"b.test:443\", {dest: c.test, ports: [20-30, 22, 31, 40, 53/udp]}]",
	 NULL,
	 "grant a.test tcp/1-65535\n"
	 "grant b.test tcp/443\n"
	 "grant c.test tcp/20-31,tcp/40,udp/53\n"},
	{"allow: [\"https://a.test/\", \"http://a.test:8080/x\", \"https://a.test:443/\"]",
	 NULL,
	 "grant http://a.test:8080/x tcp/8080\n"
	 "grant https://a.test/ tcp/443 again@global\n"},
	{"deny: [a.test, \"b.test:25\", \"c.test:53/udp\", \"https://d.test/\"]",
	 NULL,
	 "deny a.test tcp/1-65535,udp/1-65535\n"
	 "deny b.test tcp/25\n"
	 "deny c.test udp/53\n"
	 "deny https://d.test/ tcp/443\n"},
	{"allow: [{dest: a.test, ports: [65535, 1-65534]}]", NULL,
	 "grant a.test tcp/1-65535\n"},

	/* rules on requests */
	{"allow: [{dest: a.test, http: [{methods: [PUT, GET, PUT], paths: [/b, /a, /b]}]}]",
	 NULL, "grant a.test tcp/1-65535 http [GET,PUT /a /b]\n"},
	{"allow: [{dest: a.test, http: [{paths: [v1, /v2]}]}]", NULL,
	 "grant a.test tcp/1-65535 http [* /v1 /v2]\n"},
	{"allow: [{dest: \"https://a.test/api\", http: [{paths: [v1, /v2]}]}]",
	 NULL, "grant https://a.test/api tcp/443 http [* /api/v1 /v2]\n"},
	{"allow: [{dest: \"https://a.test/api/\", http: [{paths: [v1, /api/v1]}]}]",
	 NULL, "grant https://a.test/api/ tcp/443 http [* /api/v1]\n"},
	{"allow: [{dest: a.test, http: [{methods: [PUT]}, {methods: [GET]}, {methods: [PUT]}, {}]}]",
	 NULL, "grant a.test tcp/1-65535 http [* *] [GET *] [PUT *]\n"},
	{"allow: [{dest: a.test, http: [{paths: [b]}, {paths: [/b]}, {paths: [/a, b]}]}]",
	 NULL, "grant a.test tcp/1-65535 http [* /a /b] [* /b]\n"},

	{"allow: [{dest: a.test, http: [{paths: [b, /b]}]}]", NULL,
	 "grant a.test tcp/1-65535 http [* /b]\n"},

	{"allow: [{dest: a.test, http: [{methods: [GET]}, {methods: [GET]}, {methods: [PUT]}]}, '*']",
	 NULL,
	 "grant * tcp/1-65535\n"
	 "grant a.test tcp/1-65535 http [GET *] [PUT *]\n"},

	/* the same again */
	{"allow: [a.test, a.test]",
	 "allow: [\"a.test:1-65535\", {dest: a.test, ports: [1-65535]}]",
	 "grant a.test tcp/1-65535 again@global again@workspace again@workspace\n"},
	{"hostnames: [a.test]\nallow: [a.test]\ncidrs: [10.0.0.0/8]", NULL,
	 "grant 10.0.0.0/8 tcp/1-65535\n"
	 "grant a.test tcp/1-65535 again@global\n"},
	{"deny: [169.254.0.0/16]", "deny: [169.254.0.0/16]",
	 "deny 169.254.0.0/16 tcp/1-65535,udp/1-65535 again@floor again@workspace\n"},
	{"ask: [a.test, {dest: a.test, for: session, wait: 60s}, {dest: a.test, for: once, wait: 1s}, {dest: a.test, for: always}]",
	 NULL,
	 "ask a.test tcp/1-65535 for=always wait=1m\n"
	 "ask a.test tcp/1-65535 for=once wait=1s\n"
	 "ask a.test tcp/1-65535 for=session wait=1m again@global\n"},
	{"allow: [b.test, a.test, c.test, \"*.test\", 10.0.0.0/8, 9.0.0.0/8]",
	 NULL,
	 "grant *.test tcp/1-65535\n"
	 "grant 10.0.0.0/8 tcp/1-65535\n"
	 "grant 9.0.0.0/8 tcp/1-65535\n"
	 "grant a.test tcp/1-65535\n"
	 "grant b.test tcp/1-65535\n"
	 "grant c.test tcp/1-65535\n"},
	{"allow: [{dest: a.test, private: true, tls: inspect}, {dest: a.test, private: false, tls: verify}, a.test]",
	 NULL,
	 "grant a.test tcp/1-65535\n"
	 "grant a.test tcp/1-65535 tls=inspect private\n"
	 "grant a.test tcp/1-65535 tls=verify\n"},

	/* denials of nothing */
	{"deny: [{dest: \"*\", ports: [25]}, {dest: \"*\", ports: [80], http: [{methods: [PUT]}]}, \"*:26\"]",
	 NULL,
	 "deny * tcp/25\n"
	 "deny * tcp/26\n"
	 "deny * tcp/80 http [PUT *]\n"},

	/* what is held read-only */
	{"readonly: [/a, b, c/, d/e, \"/f*\", '/g\\h', \"/i?\", \"/j[k]\", /l/, /l/, \"!/m\", /m, \"!/n*\"]",
	 NULL,
	 "readonly /a hold\n"
	 "readonly b\n"
	 "readonly c/\n"
	 "readonly d/e hold\n"
	 "readonly /f*\n"
	 "readonly /g\\h\n"
	 "readonly /i?\n"
	 "readonly /j[k]\n"
	 "readonly /l/ hold\n"
	 "readonly /l/\n"
	 "readonly !/m back\n"
	 "readonly /m hold\n"
	 "readonly !/n* back\n"},
	{"readonly: [/a, \"!/a\"]", NULL,
	 "readonly /a\n"
	 "readonly !/a back\n"},
	{"readonly: [\"!/a\", /a]", NULL,
	 "readonly !/a back\n"
	 "readonly /a hold\n"},
	{"readonly: [/a/, \"!/a\"]", NULL,
	 "readonly /a/\n"
	 "readonly !/a back\n"},
	{"readonly: [/a, /a, /b, /a]", NULL,
	 "readonly /a hold\n"
	 "readonly /a\n"
	 "readonly /b hold\n"
	 "readonly /a\n"},
	{"readonly: [/x]", "readonly: [\"!/x\", /y, /x]",
	 "readonly /x hold\n"
	 "readonly !/x back\n"
	 "readonly /y hold\n"
	 "readonly /x\n"},

	/* folders past the view */
	{"masks: {fast: [b/, a, a/c, b, ab]}", NULL,
	 "ignore !/a/** back fast\n"
	 "ignore !/ab/** back fast\n"
	 "ignore !/b/** back fast\n"
	 "readonly !/a/** back fast\n"
	 "readonly !/ab/** back fast\n"
	 "readonly !/b/** back fast\n"
	 "fast a\n"
	 "fast ab\n"
	 "fast b\n"},
	{"masks: {fast: [a], hold: true}\nignore: [x, \"*.o\"]\nreadonly: [y]",
	 NULL,
	 "ignore x\n"
	 "ignore *.o\n"
	 "ignore !/a/** back fast\n"
	 "readonly y\n"
	 "readonly !/a/** back fast\n"
	 "fast a\n"},
	{"masks: {fast: [a]}", "masks: start", ""},
	{"masks: {fast: [a]}", "masks: {fast: [b]}",
	 "ignore !/a/** back fast\n"
	 "ignore !/b/** back fast\n"
	 "readonly !/a/** back fast\n"
	 "readonly !/b/** back fast\n"
	 "fast a\n"
	 "fast b\n"},

	/* what is taken back is no path that begins with '!' */
	{"readonly: [/!a/b, \"!a/b\"]", NULL,
	 "readonly /!a/b hold\n"
	 "readonly !a/b back\n"},

	/* ports and paths of the machine */
	{"ports: [\"8080:80\", 3000, \"127.0.0.1:3000:3000\", \"[::1]:1:2\"]",
	 NULL,
	 "ports 3000\n"
	 "ports 8080:80\n"
	 "ports [::1]:1:2\n"},
	{"visible: [/b, /a/c, /a, ~/x, ~/a, {path: /a/w, mode: write}, /a/w/r, /a]",
	 NULL,
	 "visible read /a\n"
	 "visible write /a/w\n"
	 "visible read /a/w/r\n"
	 "visible read /b\n"
	 "visible read ~/a\n"
	 "visible read ~/x\n"},
	{"visible: [~/a, /a, {path: /a/b, mode: write}, {path: /a/b/c, mode: write}, ~/a/]",
	 NULL,
	 "visible read /a\n"
	 "visible write /a/b\n"
	 "visible read ~/a\n"},
};

/* What was bound stays as it was: it is normalised again elsewhere. */
static void check_bound_stays(void)
{
	const struct ir_grant *g;
	struct layered l;

	layered_two(&l,
		    "allow: [{dest: a.test, ports: [443, 80], "
		    "http: [{methods: [PUT, GET], paths: [b, a]}]}]",
		    NULL);
	CHECK(layered_normalise(&l));
	g = &l.docs.v[0].policy.allow.v[0];
	CHECK(g->ports.n == 2 && g->ports.v[0].lo == 443);
	CHECK(str_is(g->http.v[0].methods.v[0].s, "PUT") &&
	      str_is(g->http.v[0].paths.v[0].s, "b"));
	layered_done(&l);
}

/* Of rules that say the same the first stays. */
static void check_first_rule(void)
{
	const struct ir_grant *g;
	struct layered l;
	uint32_t at;

	layered_two(&l,
		    "allow: [{dest: a.test, http: "
		    "[{methods: [PUT]}, {}, {methods: [PUT]}]}]",
		    NULL);
	at = l.docs.v[0].policy.allow.v[0].http.v[0].at.beg;
	CHECK(layered_normalise(&l));
	g = &l.p.allow.v[0];
	CHECK(g->http.n == 2 && at && g->http.v[1].at.beg == at);
	layered_done(&l);
}

/* "IMAGE", or with what was spared "IMAGE, not IMAGE". */
static struct str image_of(struct layered *l)
{
	const struct ir_policy *p = &l->p;

	CHECK(layered_normalise(l));
	if (!p->image_spared.set)
		return p->image.v;
	return arena_fmt(l->r.a, "%.*s, not %.*s", STR_ARG(p->image.v),
			 STR_ARG(p->image_spared.v));
}

/* Natively the image of a preset is not run, and one that was written is. */
static void check_images(void)
{
	static const struct {
		const char *preset, *global, *image;
	} images[] = {
		{"image: a", NULL, "a"},
		{"image: a", "engine: docker", "a"},
		{"image: a", "engine: native", "membrane-agent, not a"},
		{"image: a", "engine: native\nimage: b", "b"},
		{"extends: []", "engine: native", "membrane-agent"},
		{"image: a", "upstream: http://127.0.0.1:3128",
		 "membrane-agent, not a"},
	};

	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		struct layered l;
		struct str got;

		layered_init(&l);
		layered_add(&l, LAYER_PRESET, "preset:x", images[i].preset);
		layered_add(&l, LAYER_GLOBAL, "config.yaml", images[i].global);
		got = image_of(&l);
		CHECK_MSG(str_is(got, images[i].image), "%zu: %.*s", i,
			  STR_ARG(got));
		layered_done(&l);
	}
	/* The other way around: what was written comes first. */
	for (unsigned docker = 0; docker < 2; docker++) {
		struct layered l;
		struct str got;

		layered_init(&l);
		layered_add(&l, LAYER_GLOBAL, "config.yaml",
			    docker ? "engine: docker\nimage: b"
				   : "engine: native\nimage: b");
		layered_add(&l, LAYER_WORKSPACE, "preset:x", "image: a");
		got = image_of(&l);
		CHECK_MSG(str_is(got, docker ? "a" : "b, not a"), "%.*s",
			  STR_ARG(got));
		layered_done(&l);
	}
}

/* An image that nobody wrote is no preset's. */
static void check_placeless(void)
{
	struct layered l;

	layered_two(&l, "engine: native\nimage: b", NULL);
	CHECK(passes_layers(&l.r.c, &l.docs, &l.p));
	l.p.image.from.at = (struct span){0};
	CHECK(passes_normalise(&l.r.c, &l.p) && str_is(l.p.image.v, "b"));
	layered_done(&l);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct layered l;
		struct str got;

		layered_two(&l, list[i].global, list[i].workspace);
		CHECK_MSG(layered_normalise(&l), "%s", list[i].global);
		got = settled(&l);
		/* Whoever appends to one asks whether there is room. */
		CHECK(l.p.allow.n <= l.p.allow.cap &&
		      l.p.ask.n <= l.p.ask.cap && l.p.deny.n <= l.p.deny.cap);
		CHECK_MSG(str_is(got, list[i].want), "%s\n%s\n%.*s",
			  list[i].global,
			  list[i].workspace ? list[i].workspace : "",
			  STR_ARG(got));
		layered_done(&l);
	}
	check_bound_stays();
	check_first_rule();
	check_images();
	check_placeless();
	return check_status();
}
