/* Lists of words: presets, patterns, arguments, paths, capabilities. */
#include "compiler/base/ascii.h"
#include "compiler/base/gitignore.h"
#include "compiler/base/limits.h"
#include "compiler/front/bind/bind_types.h"
#include "compiler/ir/published.h"

#include <string.h>

static void push_text(struct binder *b, ir_texts *list, const struct text *t,
		      struct str s)
{
	*vec_push(b->c->a, list) = (struct ir_text){bind_from(b, t->at), s};
}

static bool is_empty(struct binder *b, const struct text *t, const char *what)
{
	if (t->s.n)
		return false;
	bind_error(b, DIAG_TEXT, t->at, "an empty %s", what);
	return true;
}

void bind_list_extends(struct binder *b, const struct yaml_pair *pair,
		       void *field)
{
	(void)field;
	vec_each(item, &pair->value->items)
		if (bind_word(b, *item, "the name of a preset") &&
		    !is_empty(b, &(*item)->text, "preset"))
			push_text(b, b->extends, &(*item)->text,
				  (*item)->text.s);
}

/* A word of docker run may hold anything, even nothing. */
void bind_list_args(struct binder *b, const struct yaml_pair *pair, void *field)
{
	vec_each(item, &pair->value->items)
		if (bind_word(b, *item, "a word"))
			push_text(b, field, &(*item)->text, (*item)->text.s);
}

/* --- patterns ------------------------------------------------------------ */

static void pattern_help(struct diags *d, enum gitignore_fault fault)
{
	switch (fault) {
	case GITIGNORE_OK:
	case GITIGNORE_BLANK:
		return;
	case GITIGNORE_CLASS:
		diag_help(d, "close the class, or write '\\[' for the bracket");
		return;
	case GITIGNORE_ESCAPE:
		diag_help(d, "write '\\\\' for a backslash");
		return;
	case GITIGNORE_CONTROL:
		diag_help(d, "write '?' for a byte that cannot be written");
		return;
	case GITIGNORE_ABOVE:
		diag_help(
			d,
			"patterns are relative to the workspace and never leave it");
		return;
	}
}

bool bind_list_pattern(struct pass_ctx *c, enum layer layer,
		       const struct text *line, ir_patterns *out)
{
	struct gitignore *g = gitignore_new(c->a);
	size_t at = 0;
	enum gitignore_fault fault = gitignore_add(g, line->s, &at);
	struct span part = {(uint32_t)at, (uint32_t)at + 1};

	if (fault == GITIGNORE_OK) {
		*vec_push(c->a, out) = (struct ir_pattern){
			.from = {line->at, layer},
			.line = line->s,
			.back = line->s.n && line->s.p[0] == '!',
		};
		return true;
	}
	if (part.end > line->s.n)
		part.end = (uint32_t)line->s.n;
	diag_error(c->diags, DIAG_PATTERN, text_at(line, part), "%s in '%s'",
		   gitignore_fault_text(fault), diag_quote(c->diags, line->s));
	pattern_help(c->diags, fault);
	return false;
}

void bind_list_patterns(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;

		if (!bind_word(b, *item, "a pattern"))
			continue;
		if (str_trim(t->s).n == 0) {
			bind_error(b, DIAG_PATTERN, t->at, "an empty pattern");
		} else if (t->s.p[0] == '#') {
			bind_error(b, DIAG_PATTERN, t->at,
				   "a pattern that is a comment");
			bind_help(
				b,
				"write '\\#' for a name that begins with '#'");
		} else if (!bind_list_pattern(b->c, b->layer, t, field)) {
			continue;
		}
	}
}

/* --- files of the home --------------------------------------------------- */

/* Why this does not say which files of the home are meant, or NULL. */
static const char *home_fault(struct str s)
{
	size_t beg = 2, end;

	if (!str_starts(s, STR("~/")) || s.n == 2)
		return "is no file of the agent's home";
	if (strchr("*?[", s.p[2]) && str_find(s, '/', beg) == s.n)
		return "would be everything in the agent's home";
	for (; beg <= s.n; beg = end + 1) {
		struct str seg;

		end = str_find(s, '/', beg);
		seg = str_slice(s, beg, end);
		if (seg.n == 0)
			return "has an empty part";
		if (str_is(seg, ".") || str_is(seg, ".."))
			return "has a part '.' or '..'";
		for (size_t i = 0; i < seg.n && end < s.n; i++)
			if (strchr("*?[\\", seg.p[i]))
				return "has a wildcard before its last part";
	}
	return NULL;
}

static void bind_home_pattern(struct binder *b, const struct text *t,
			      ir_patterns *out)
{
	const char *why = home_fault(t->s);
	enum gitignore_fault fault;

	if (why) {
		bind_error(b, DIAG_PATTERN, t->at, "'%s' %s",
			   bind_quote(b, t->s), why);
		bind_help(
			b,
			"'~/', folders by their names, and wildcards in the last part alone, as in '~/.claude/.credentials.json*'");
		return;
	}
	fault = gitignore_add(gitignore_new(b->c->a),
			      str_slice(t->s, 1, t->s.n), NULL);
	if (fault != GITIGNORE_OK) {
		bind_error(b, DIAG_PATTERN, t->at, "%s in '%s'",
			   gitignore_fault_text(fault), bind_quote(b, t->s));
		pattern_help(b->c->diags, fault);
	} else {
		*vec_push(b->c->a, out) = (struct ir_pattern){
			.from = bind_from(b, t->at), .line = t->s};
	}
}

void bind_list_home_patterns(struct binder *b, const struct yaml_pair *pair,
			     void *field)
{
	vec_each(item, &pair->value->items)
		if (bind_word(b, *item, "a file of the home"))
			bind_home_pattern(b, &(*item)->text, field);
}

/* --- paths --------------------------------------------------------------- */

/* Why this is not a path from the root in its one spelling, or NULL. */
static const char *path_fault(struct str s)
{
	size_t beg = 1;

	if (s.n == 0 || s.p[0] != '/')
		return "does not begin with '/'";
	if (!bind_value_is_line(s))
		return "holds a control character";
	while (beg < s.n) {
		size_t end = str_find(s, '/', beg);
		struct str seg = str_slice(s, beg, end);

		if (seg.n == 0)
			return "holds '//'";
		if (str_is(seg, ".") || str_is(seg, ".."))
			return "holds a '.' or '..' segment";
		beg = end + 1;
	}
	return NULL;
}

/* The same of one relative to the workspace; "" is the workspace itself. */
static const char *folder_fault(struct str s)
{
	size_t beg = 0;

	if (!bind_value_is_line(s))
		return "holds a control character";
	if (str_starts(s, STR("/")))
		return "begins with '/'";
	for (size_t i = 0; i < s.n; i++)
		if (strchr("*?[\\", s.p[i]))
			return "is a pattern";
	do {
		size_t end = str_find(s, '/', beg);
		struct str seg = str_slice(s, beg, end);

		if (seg.n == 0 || str_is(seg, ".") || str_is(seg, ".."))
			return "has a segment that is empty, '.' or '..'";
		beg = end + 1;
	} while (beg < s.n);
	return NULL;
}

void bind_list_folders(struct binder *b, const struct yaml_pair *pair,
		       void *field)
{
	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;
		const char *fault;

		if (!bind_word(b, *item, "a folder"))
			continue;
		fault = folder_fault(t->s);
		if (!fault) {
			push_text(b, field, t,
				  str_slice(t->s, 0,
					    t->s.n - str_ends(t->s, STR("/"))));
			continue;
		}
		bind_error(b, DIAG_FOLDER, t->at, "the folder '%s' %s",
			   bind_quote(b, t->s), fault);
		bind_help(
			b,
			"one folder, from the workspace's, as in 'packages/a/node_modules/'");
	}
}

/* --- ports --------------------------------------------------------------- */

void bind_list_published(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;
		struct ir_published p;
		const char *fault;

		if (!bind_word(b, *item, "a port"))
			continue;
		fault = published_parse(t->s, &p);
		if (!fault) {
			push_text(b, field, t, published_text(b->c->a, &p));
			continue;
		}
		bind_error(b, DIAG_PUBLISHED, t->at, "'%s' %s",
			   bind_quote(b, t->s), fault);
		bind_help(
			b,
			"[[ADDRESS:]PORT:]PORT, the one inside last, as in 3000, '8080:80' or '127.0.0.1:8080:80'");
	}
}

void bind_list_paths(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;
		const char *fault;

		if (!bind_word(b, *item, "a path"))
			continue;
		fault = path_fault(t->s);
		if (!fault) {
			push_text(b, field, t, t->s);
			continue;
		}
		bind_error(b, DIAG_ABSOLUTE, t->at, "the path '%s' %s",
			   bind_quote(b, t->s), fault);
		bind_help(
			b,
			"an absolute path in the container, as in '/usr/bin/git'");
	}
}

/* --- capabilities -------------------------------------------------------- */

/* capabilities(7), Linux 6.1. */
static const char *const capabilities[] = {
	"AUDIT_CONTROL",   "AUDIT_READ",   "AUDIT_WRITE",
	"BLOCK_SUSPEND",   "BPF",	   "CHECKPOINT_RESTORE",
	"CHOWN",	   "DAC_OVERRIDE", "DAC_READ_SEARCH",
	"FOWNER",	   "FSETID",	   "IPC_LOCK",
	"IPC_OWNER",	   "KILL",	   "LEASE",
	"LINUX_IMMUTABLE", "MAC_ADMIN",	   "MAC_OVERRIDE",
	"MKNOD",	   "NET_ADMIN",	   "NET_BIND_SERVICE",
	"NET_BROADCAST",   "NET_RAW",	   "PERFMON",
	"SETFCAP",	   "SETGID",	   "SETPCAP",
	"SETUID",	   "SYSLOG",	   "SYS_ADMIN",
	"SYS_BOOT",	   "SYS_CHROOT",   "SYS_MODULE",
	"SYS_NICE",	   "SYS_PACCT",	   "SYS_PTRACE",
	"SYS_RAWIO",	   "SYS_RESOURCE", "SYS_TIME",
	"SYS_TTY_CONFIG",  "WAKE_ALARM",
};

static struct str cap_name(struct arena *a, struct str s)
{
	s = ascii_upper(a, s);
	return str_starts(s, STR("CAP_")) ? str_slice(s, 4, s.n) : s;
}

static void bind_capability(struct binder *b, const struct text *t,
			    ir_texts *list)
{
	struct str name = cap_name(b->c->a, t->s);
	const char *near;

	for (size_t i = 0; i < ARRAY_LEN(capabilities); i++)
		if (str_is(name, capabilities[i])) {
			push_text(b, list, t, name);
			return;
		}
	bind_error(b, DIAG_CAPABILITY, t->at, "unknown capability '%s'",
		   bind_quote(b, t->s));
	near = bind_nearest(name, capabilities, ARRAY_LEN(capabilities));
	if (str_is(name, "ALL"))
		bind_help(b, "name each that is needed");
	else if (near)
		bind_help(b, "did you mean '%s'?", near);
	else
		bind_help(b, "the names are those of capabilities(7)");
}

void bind_list_capabilities(struct binder *b, const struct yaml_pair *pair,
			    void *field)
{
	vec_each(item, &pair->value->items)
		if (bind_word(b, *item, "a capability"))
			bind_capability(b, &(*item)->text, field);
}
