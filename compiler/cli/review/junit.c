#include "compiler/cli/review/junit.h"

#include "compiler/base/xml.h"

/* The file that an expectation is in; "policy" for what is in none. */
static struct str file_of(const struct sources *s, const struct expectation *x)
{
	const struct source *src = sources_of(s, x->from.at);

	return src ? src->name : STR("policy");
}

static void put_case(struct arena *a, struct xml *x, const struct sources *s,
		     const struct expectation *e)
{
	struct place at = sources_place(s, e->from.at);
	bool error = e->kind == EXPECT_COMPILE;

	xml_open(x, "testcase");
	xml_attr(x, "name",
		 error ? e->text
		       : arena_fmt(a, "%s %.*s", expect_name(e->kind),
				   STR_ARG(e->text)));
	xml_attr(x, "classname", file_of(s, e));
	if (at.source) {
		xml_attr(x, "file", at.source->name);
		xml_attr_u64(x, "line", at.line);
	}
	if (!e->passed) {
		xml_open(x, error ? "error" : "failure");
		xml_attr(x, "type",
			 error ? STR("refused")
			       : str_of(reason_name(e->was.reason)));
		xml_attr(x, "message", e->summary);
		xml_text(x, e->said);
		xml_close(x);
	}
	xml_close(x);
}

/* "tests", "failures" and "errors" of those in one file, or of all. */
static void put_counts(struct xml *x, const struct sources *s,
		       const expectations *list, const struct str *file)
{
	uint64_t n = 0, failures = 0, errors = 0;

	vec_each(e, list) {
		if (file && !str_eq(file_of(s, e), *file))
			continue;
		n++;
		if (e->kind == EXPECT_COMPILE)
			errors += !e->passed;
		else
			failures += !e->passed;
	}
	xml_attr_u64(x, "tests", n);
	xml_attr_u64(x, "failures", failures);
	xml_attr_u64(x, "errors", errors);
}

static bool seen_file(const struct sources *s, const expectations *list,
		      const struct expectation *e)
{
	for (const struct expectation *x = list->v; x < e; x++)
		if (str_eq(file_of(s, x), file_of(s, e)))
			return true;
	return false;
}

struct str junit_text(struct arena *a, const struct sources *s,
		      const expectations *list)
{
	struct buf out;
	struct xml x;

	buf_init(&out, a);
	xml_init(&x, &out);
	xml_open(&x, "testsuites");
	xml_attr(&x, "name", STR("membrane"));
	put_counts(&x, s, list, NULL);
	vec_each(e, list) {
		struct str file = file_of(s, e);

		if (seen_file(s, list, e))
			continue;
		xml_open(&x, "testsuite");
		xml_attr(&x, "name", file);
		put_counts(&x, s, list, &file);
		vec_each(one, list)
			if (str_eq(file_of(s, one), file))
				put_case(a, &x, s, one);
		xml_close(&x);
	}
	xml_close(&x);
	return buf_str(&out);
}
