/* What was learned, as YAML: by itself, and its tests. */
#include "compiler/cli/learn/learn.h"

#include "compiler/emit/yaml_write.h"

static void put_text(struct yaml_write *w, struct str s)
{
	yaml_write_scalar(w, s, YAML_ANY_SCALAR_STYLE);
}

static void put_list(struct yaml_write *w, const char *key,
		     const suggest_texts *list)
{
	if (list->n == 0)
		return;
	put_text(w, str_of(key));
	yaml_write_list(w, YAML_BLOCK_SEQUENCE_STYLE);
	vec_each(t, list)
		put_text(w, *t);
	yaml_write_list_end(w);
}

static void put_lists(struct yaml_write *w, const struct lesson *x)
{
	put_list(w, "allow", &x->allowed);
	put_list(w, "ask", &x->asked);
	put_list(w, "deny", &x->denied);
}

static bool has_tests(const struct lesson *x)
{
	return x->allowed.n + x->asked.n + x->denied.n > 0;
}

static void put_head(const struct lesson *x, struct buf *out)
{
	if (x->is_partial)
		buf_adds(
			out,
			"# Records of it are missing: this may be incomplete.\n");
	if (x->more)
		buf_addf(out, "# %llu requests more have no test here.\n",
			 (unsigned long long)x->more);
}

/* One document: the lists, under that key where there is one. */
static void put_document(const struct lesson *x, const char *key,
			 struct buf *out)
{
	struct yaml_write w;

	yaml_write_begin(&w, x->a, out);
	if (key) {
		yaml_write_map(&w, YAML_BLOCK_MAPPING_STYLE);
		put_text(&w, str_of(key));
	}
	yaml_write_map(&w, has_tests(x) ? YAML_BLOCK_MAPPING_STYLE
					: YAML_FLOW_MAPPING_STYLE);
	put_lists(&w, x);
	yaml_write_map_end(&w);
	if (key)
		yaml_write_map_end(&w);
	yaml_write_end(&w);
}

struct str lesson_tests_yaml(const struct lesson *x)
{
	struct buf out;

	buf_init(&out, x->a);
	buf_adds(
		&out,
		"# From 'membrane learn': what a session did, and what it was refused.\n");
	put_head(x, &out);
	put_document(x, NULL, &out);
	return buf_str(&out);
}

struct str lesson_yaml(const struct lesson *x)
{
	struct buf out;

	buf_init(&out, x->a);
	buf_addf(
		&out,
		"# What %.*s needed beyond the policy, from 'membrane learn'.\n"
		"# Paths are prefixes. Read it before you use it.\n",
		STR_ARG(x->p.label));
	put_head(x, &out);
	suggest_comments(x->a, &x->made, &x->p.deeds,
			 arena_fmt(x->a,
				   "~/.membrane/sessions/%.*s/decisions.jsonl",
				   STR_ARG(x->p.id))
				 .p,
			 &out);
	suggest_policy_yaml(x->a, &x->made, &out);
	if (has_tests(x))
		put_document(x, "tests", &out);
	return buf_str(&out);
}
