#include "compiler/emit/git/git_files.h"

#include "compiler/emit/git/git_filter.cfg.inc"
#include "compiler/plan/docker_json.h"

/* git skips a longer line of attributes. */
#define ATTRIBUTES_LINE_MAX 2048u

/* A pattern without what says how it is to be read. */
struct shape {
	struct str text;
	bool back, dir_only, anchored;
};

bool git_files_wanted(const struct ir_policy *p)
{
	return p->ignore.n > 0 || !ir_masks_hold(p);
}

bool git_config_emit(const struct emit_in *in, struct buf *out)
{
	const char *head = "";

	/* In a view .git/hooks of the workspace is held, there or not. */
	if (ir_masks_hold(in->policy))
		head = "# A new repository gets no hooks: where these would be cannot be written.\n"
		       "[init]\n"
		       "\ttemplateDir =\n";
	/* git passes over files that are not there; this is what it reads
	 * without us, wherever it was built for */
	buf_addf(
		out,
		"# What git reads first in a session: every other setting wins, but for those of the image's own file.\n"
		"%s"
		"[include]\n"
		"\tpath = " DOCKER_JSON_GIT_IDENTITY_AT "\n"
		"\tpath = /etc/gitconfig\n"
		"\tpath = \"%%(prefix)/etc/gitconfig\"\n",
		head);
	if (git_files_wanted(in->policy))
		buf_adds(out,
			 "[core]\n"
			 "\texcludesFile = " DOCKER_JSON_GIT_EXCLUDE_AT "\n"
			 "\tattributesFile = " DOCKER_JSON_GIT_ATTRIBUTES_AT
			 "\n");
	/* also for what a view shows of a repository around the workspace */
	buf_adds(out, git_filter);
	return true;
}

/* --- what is not the user's ----------------------------------------------- */

static void put_patterns(struct buf *out, const ir_patterns *patterns,
			 bool held_only)
{
	vec_each(p, patterns)
		if (p->hold || !held_only)
			buf_addf(out, "%.*s\n", STR_ARG(p->line));
}

bool git_exclude_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_policy *p = in->policy;

	buf_adds(out, "# What is hidden and not tracked is not git's.\n");
	put_patterns(out, &p->ignore, false);
	if (ir_masks_hold(p))
		return true;
	buf_adds(
		out,
		"# Nor is what stands where nothing may be made, as long as the session lasts.\n");
	put_patterns(out, &p->readonly, true);
	return true;
}

/* --- what has the filter -------------------------------------------------- */

/* Blanks at the end count where a backslash stands before them; it is never
 * the last. */
static struct str trim_blanks(struct str line)
{
	size_t end = 0;

	for (size_t i = 0; i < line.n; i++) {
		if (line.p[i] == ' ')
			continue;
		if (line.p[i] == '\\')
			i++;
		end = i + 1;
	}
	return str_slice(line, 0, end);
}

static struct shape shape_of(const struct ir_pattern *p)
{
	struct shape s = {.text = trim_blanks(p->line), .back = p->back};

	if (s.back)
		s.text = str_slice(s.text, 1, s.text.n);
	s.dir_only = str_ends(s.text, STR("/"));
	s.text = str_unslashed(s.text);
	s.anchored = memchr(s.text.p, '/', s.text.n) != NULL;
	if (str_starts(s.text, STR("/")))
		s.text = str_slice(s.text, 1, s.text.n);
	return s;
}

static void put_quoted(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"' || text.p[i] == '\\')
			buf_addc(out, '\\');
		buf_addc(out, text.p[i]);
	}
}

/*
 * In quotes, and always with a slash in it: then it is no comment and no
 * "[attr]". One that is too long speaks of every file, or of none.
 */
static void put_attribute(struct arena *a, struct buf *out,
			  const struct shape *s, const char *below)
{
	struct buf line;

	buf_init(&line, a);
	buf_addf(&line, "\"%s", s->anchored ? "/" : "**/");
	put_quoted(&line, s->text);
	buf_addf(&line, "%s\" %s\n", below,
		 s->back ? "!filter" : "filter=" DOCKER_JSON_GIT_FILTER);
	if (line.n < ATTRIBUTES_LINE_MAX)
		buf_add(out, buf_str(&line));
	else if (!s->back)
		buf_adds(out, "\"**\" filter=" DOCKER_JSON_GIT_FILTER "\n");
}

bool git_attributes_emit(const struct emit_in *in, struct buf *out)
{
	const ir_patterns *patterns = &in->policy->ignore;

	buf_adds(
		out,
		"# What is hidden and tracked is as git's index has it; see the filter in the configuration.\n");
	vec_each(p, patterns) {
		struct shape s = shape_of(p);

		if (!s.dir_only)
			put_attribute(in->a, out, &s, "");
	}
	/* last: below what is hidden nothing is taken back */
	vec_each(p, patterns) {
		struct shape s = shape_of(p);

		if (!s.back && !str_ends(s.text, STR("/**")))
			put_attribute(in->a, out, &s, "/**");
	}
	return true;
}
