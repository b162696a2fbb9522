/* The plan's text: width, folding, harmless for a terminal, colour or none. */
#include "compiler/cli/plan/views.h"

#include "compiler/cli/text/view.h"
#include "tests/check.h"

#include <string.h>

static struct arena *a;

static const char *cleaned(const char *s)
{
	return view_cleaned(a, str_of(s)).p;
}

static void test_clean(void)
{
	CHECK(!strcmp(cleaned("plain ümläut €"), "plain ümläut €"));
	CHECK(!strcmp(cleaned("a\x1b[2Jb\n\t"), "a\\x1b[2Jb\\x0a\\x09"));
	CHECK(!strcmp(cleaned("\x7f"), "\\x7f"));
	/* C1, overlong, surrogate, lonely continuation, cut short */
	CHECK(!strcmp(cleaned("\xc2\x9b"), "\\xc2\\x9b"));
	CHECK(!strcmp(cleaned("\xc0\xaf"), "\\xc0\\xaf"));
	CHECK(!strcmp(cleaned("\xe0\x80\xaf"), "\\xe0\\x80\\xaf"));
	CHECK(!strcmp(cleaned("\xed\xa0\x80"), "\\xed\\xa0\\x80"));
	CHECK(!strcmp(cleaned("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"));
	CHECK(!strcmp(cleaned("\x80"), "\\x80"));
	CHECK(!strcmp(cleaned("\xe2\x82"), "\\xe2\\x82"));
	/* right-to-left override, zero-width space, byte order mark, tag */
	CHECK(!strcmp(cleaned("a\xe2\x80\xae"
			      "b"),
		      "a\\xe2\\x80\\xaeb"));
	CHECK(!strcmp(cleaned("\xe2\x80\x8b"), "\\xe2\\x80\\x8b"));
	CHECK(!strcmp(cleaned("\xef\xbb\xbf"), "\\xef\\xbb\\xbf"));
	CHECK(!strcmp(cleaned("\xf3\xa0\x80\xa1"), "\\xf3\\xa0\\x80\\xa1"));
	CHECK(!strcmp(cleaned("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80"));
	CHECK(view_columns(STR("ü€x")) == 3);
	CHECK(str_is(view_number(a, 0), "0"));
	CHECK(str_is(view_number(a, 999), "999"));
	CHECK(str_is(view_number(a, 1000), "1,000"));
	CHECK(str_is(view_number(a, 1234567), "1,234,567"));
}

static struct str row(unsigned indent, const char *text, const char *right)
{
	struct buf out;
	struct view v = {&out, 20, false};

	buf_init(&out, a);
	view_row(&v, indent, VIEW_PLAIN, str_of(text), str_of(right));
	return buf_str(&out);
}

static void test_rows(void)
{
	CHECK(str_is(row(2, "abc", ""), "  abc\n"));
	CHECK(str_is(row(2, "abc", "f:1"), "  abc            f:1\n"));
	CHECK(str_is(row(0, "fifteen columns", "f:1"),
		     "fifteen columns  f:1\n"));
	CHECK(str_is(row(0, "sixteen columns.", "f:1"),
		     "sixteen columns.\n                 f:1\n"));
	CHECK(str_is(row(2, "twenty-four columns here", ""),
		     "  twenty-four column\n    s here\n"));
}

/* A policy of n grants and n patterns, at places in a source. */
struct sample {
	struct sources sources;
	struct ir_policy policy;
	struct plan plan;
	struct diags diags;
	struct plan_model model;
};

static void make_grants(struct sample *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct ir_grant *g = vec_push(a, &s->policy.allow);

		g->from = (struct ir_origin){{3, 4}, LAYER_WORKSPACE};
		g->dest.kind = IR_DEST_HOST;
		g->dest.u.host.name = arena_fmt(a, "h%05u.example", i);
		*vec_push(a, &g->ports) =
			(struct ir_port){IR_PROTO_TCP, 443, 443, {3, 4}};
		g->canon = ir_grant_text(a, g);
		g->id = STR("g-0123456789");
	}
}

static void make_patterns(struct sample *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct ir_pattern *p = vec_push(a, &s->policy.ignore);

		p->from = (struct ir_origin){{5, 6}, LAYER_WORKSPACE};
		p->line = arena_fmt(a, "\x1b]0;%u\a\xe2\x80\xae%s", i,
				    "a rather long name of a secret file in "
				    "a rather deep folder of the workspace");
	}
}

static void make(struct sample *s, unsigned n)
{
	*s = (struct sample){0};
	sources_init(&s->sources, a);
	sources_add(&s->sources, STR(".membrane.yaml"), STR("allow:\n  - x\n"),
		    LAYER_WORKSPACE);
	diags_init(&s->diags, a, &s->sources);
	make_grants(s, n);
	make_patterns(s, n);
	s->policy.image.v = STR("membrane-agent");
	s->policy.hardening.pids.v = 4096;
	s->policy.hardening.no_new_privileges.v = true;
	s->policy.resolver.v.host = true;
	s->policy.trace.engine.v = IR_TRACE_OFF;
	diag_warn(&s->diags, DIAG_YAML, (struct span){3, 4},
		  "a warning that is long enough for two lines of eighty "
		  "columns, since it tells everything there is to tell");
	s->model = (struct plan_model){
		.a = a,
		.sources = &s->sources,
		.policy = &s->policy,
		.plan = &s->plan,
		.diags = &s->diags,
	};
	diags_init(&s->model.refused, a, &s->sources);
	risks_find(a, &s->policy, &s->model.risks);
}

static struct str view(struct sample *s, unsigned width, bool colour)
{
	struct buf out;
	struct view v = {&out, width, colour};

	buf_init(&out, a);
	plan_view(&v, &s->model);
	return buf_str(&out);
}

static void test_width(void)
{
	static const unsigned widths[] = {60, 80, 120};
	struct sample s;

	make(&s, 3);
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		struct str rest = view(&s, widths[i], false), line;

		while (str_line(&rest, &line)) {
			CHECK_MSG(view_columns(line) <= widths[i], "%.*s",
				  STR_ARG(line));
			CHECK(!memchr(line.p, '\033', line.n));
			CHECK(line.n == 0 || line.p[line.n - 1] != ' ');
		}
	}
	CHECK(strstr(view(&s, 80, true).p, "\033[1m"));
	/* Only our own escapes, all of them closed. */
	CHECK(!strstr(view(&s, 80, true).p, "\033]"));
	CHECK(strstr(view(&s, 80, false).p, ".membrane.yaml:1"));
}

static void test_fold(void)
{
	struct sample s;

	make(&s, VIEW_WHOLE);
	CHECK(!strstr(view(&s, 80, false).p, "more; --json"));
	CHECK(strstr(view(&s, 80, false).p, "h00063.example"));
	make(&s, 10000);
	CHECK(strstr(view(&s, 80, false).p, "10,000 grants"));
	CHECK(strstr(view(&s, 80, false).p, "h00011.example"));
	CHECK(!strstr(view(&s, 80, false).p, "h00012.example"));
	CHECK(strstr(view(&s, 80, false).p,
		     "… and 9,988 more; --json lists all"));
}

static void test_others(void)
{
	struct sample s;
	struct buf out;

	make(&s, 2);
	s.policy.ignore.v[0].line = STR("``````");
	buf_init(&out, a);
	plan_markdown(&out, &s.model);
	CHECK(strstr(out.p, "\n```````text\n"));
	CHECK(strstr(plan_json(&s.model).p, "\"shared-address\""));
	CHECK(strstr(plan_json_refused(a, 1, &s.diags).p, "\"W103\""));
}

int main(void)
{
	a = arena_new();
	test_clean();
	test_rows();
	test_width();
	test_fold();
	test_others();
	arena_free(a);
	return check_status();
}
