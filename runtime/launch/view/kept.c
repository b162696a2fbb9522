#include "runtime/launch/view/kept.h"

#include "compiler/plan/view_hello.h"
#include "runtime/launch/session/summary.h"

#include <errno.h>
#include <string.h>

#define PATH_MAX_SHOWN 80u  /* printed bytes of a path */
#define LINE_MAX_SHOWN 160u /* and of a setting */

struct entry {
	struct str path;
	const char *what; /* VIEW_SAYS_FILE, … */
	bool has_text;
	struct str text, host; /* of a configuration */
};

struct kept {
	struct arena *a;
	VEC(struct entry) entries; /* in the order said */
	uint32_t texts;
};

/* A setting of a configuration: its section, and its line there. */
struct setting {
	struct str section, line; /* [remote "origin"], url = … */
};

typedef VEC(struct setting) settings;

struct kept *kept_new(struct arena *a)
{
	struct kept *k = arena_new_of(a, struct kept);

	k->a = a;
	return k;
}

/* --- records -------------------------------------------------------------- */

static struct str member_text(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(m) ? str_of(m->valuestring) : STR("");
}

static const char *parse_what(struct str word)
{
	static const char *const words[] = {VIEW_SAYS_FILE, VIEW_SAYS_REMOVED,
					    VIEW_SAYS_CONFIG};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(word, words[i]))
			return words[i];
	return NULL;
}

static bool is_config(const struct entry *e)
{
	return strcmp(e->what, VIEW_SAYS_CONFIG) == 0;
}

static bool is_inside(struct str path)
{
	struct str segment;
	bool any = path.n > 0 && path.p[path.n - 1] != '/';

	while (any && str_field(&path, '/', &segment))
		any = segment.n && !str_is(segment, ".") &&
		      !str_is(segment, "..");
	return any;
}

const char *kept_config(const cJSON *record)
{
	struct str path = member_text(record, "path");

	return str_is(member_text(record, "what"), VIEW_SAYS_CONFIG) &&
			       is_inside(path)
		       ? path.p
		       : NULL;
}

int kept_add(struct kept *k, const cJSON *record, struct str host,
	     struct err *err)
{
	const cJSON *text = cJSON_GetObjectItemCaseSensitive(record, "text");
	struct entry e = {.path = member_text(record, "path"),
			  .what = parse_what(member_text(record, "what"))};

	if (!e.what || !is_inside(e.path) || (text && !cJSON_IsString(text)) ||
	    k->entries.n >= KEPT_ENTRIES_MAX)
		return err_set(err, -EPROTO,
			       "the view sent a record that is none");
	e.path = arena_str(k->a, e.path);
	e.has_text = text && is_config(&e) && k->texts < KEPT_TEXTS_MAX;
	if (e.has_text) {
		e.text = arena_str(k->a, str_of(text->valuestring));
		e.host = arena_str(k->a, host);
		k->texts++;
	}
	*vec_push(k->a, &k->entries) = e;
	return 0;
}

/* --- configurations ------------------------------------------------------- */

/* Behind the ']' that ends a section's name; 0: it has no end. */
static size_t section_end(struct str line)
{
	bool quoted = false;

	for (size_t i = 1; i < line.n; i++) {
		if (line.p[i] == '\\' && quoted)
			i++;
		else if (line.p[i] == '"')
			quoted = !quoted;
		else if (line.p[i] == ']' && !quoted)
			return i + 1;
	}
	return 0;
}

static struct str trimmed(struct str s)
{
	while (s.n && strchr(" \t\r", s.p[0]))
		s = str_slice(s, 1, s.n);
	while (s.n && strchr(" \t\r", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* As git itself writes them: a line is a setting. */
static void read_settings(struct arena *a, struct str text, settings *out)
{
	struct str section = STR(""), line;

	while (str_line(&text, &line)) {
		line = trimmed(line);
		if (str_starts(line, STR("["))) {
			size_t end = section_end(line);

			section = str_slice(line, 0, end);
			line = trimmed(str_slice(line, end, line.n));
		}
		if (line.n && line.p[0] != '#' && line.p[0] != ';')
			*vec_push(a, out) = (struct setting){section, line};
	}
}

static int by_setting(const void *x, const void *y)
{
	const struct setting *a = x, *b = y;
	int order = str_cmp(a->section, b->section);

	return order ? order : str_cmp(a->line, b->line);
}

/* Those of now that before has not; both as often as they stand there. */
static void subtract_settings(struct arena *a, const settings *now,
			      settings *before, settings *out)
{
	bool *used = arena_array(a, before->n + 1, sizeof(*used));

	vec_sort(before, by_setting);
	vec_each(s, now) {
		const struct setting *all = before->v;
		size_t first = 0;

		/* the first that is not less */
		for (size_t n = before->n; n > 0;) {
			size_t half = n / 2;

			if (by_setting(&all[first + half], s) < 0) {
				first += half + 1;
				n -= half + 1;
			} else {
				n = half;
			}
		}
		while (first < before->n && by_setting(&all[first], s) == 0 &&
		       used[first])
			first++;
		if (first < before->n && by_setting(&all[first], s) == 0)
			used[first] = true;
		else
			*vec_push(a, out) = *s;
	}
}

struct difference {
	settings added, removed;
};

static void compare_settings(struct arena *a, const struct entry *e,
			     struct difference *out)
{
	settings now = {0}, before = {0}, sorted = {0};

	*out = (struct difference){0};
	read_settings(a, e->text, &now);
	read_settings(a, e->host, &before);
	vec_each(s, &now)
		*vec_push(a, &sorted) = *s;
	subtract_settings(a, &before, &sorted, &out->removed);
	subtract_settings(a, &now, &before, &out->added);
}

/* --- text ----------------------------------------------------------------- */

static void print_setting(const struct entry *e, const char *sign,
			  const struct setting *s, struct buf *out)
{
	buf_addf(out, "  %s ", sign);
	summary_escape(out, e->path, PATH_MAX_SHOWN);
	buf_adds(out, "  ");
	if (s->section.n) {
		summary_escape(out, s->section, LINE_MAX_SHOWN);
		buf_addc(out, ' ');
	}
	summary_escape(out, s->line, LINE_MAX_SHOWN);
	buf_addc(out, '\n');
}

static void print_some(const struct entry *e, const char *sign,
		       const settings *list, unsigned *lines, struct buf *out)
{
	vec_each(s, list)
		if ((*lines)++ < KEPT_LINES_MAX)
			print_setting(e, sign, s, out);
}

static void print_configs(const struct kept *k, const char *summary,
			  struct buf *out)
{
	unsigned lines = 0;
	struct buf text;

	buf_init(&text, k->a);
	vec_each(e, &k->entries) {
		struct difference d;

		if (!is_config(e))
			continue;
		if (!e->has_text) {
			buf_adds(&text, "  + ");
			summary_escape(&text, e->path, PATH_MAX_SHOWN);
			buf_adds(&text, "  too long, or no text\n");
			lines++;
			continue;
		}
		compare_settings(k->a, e, &d);
		print_some(e, "+", &d.added, &lines, &text);
		print_some(e, "-", &d.removed, &lines, &text);
	}
	if (lines == 0)
		return;
	buf_adds(
		out,
		"membrane: git's configuration was changed in this session alone; the workspace has it as it was\n");
	buf_add(out, buf_str(&text));
	if (lines > KEPT_LINES_MAX)
		buf_addf(out, "  and %u more: \"kept\" in %s\n",
			 lines - KEPT_LINES_MAX, summary);
	buf_adds(
		out,
		"  what of it you want, set yourself: git config NAME VALUE (some settings are commands that git runs)\n");
}

static void print_files(const struct kept *k, const char *summary,
			struct buf *out)
{
	uint32_t n = 0, named = 0;

	vec_each(e, &k->entries)
		if (!is_config(e))
			n++;
	if (n == 0)
		return;
	buf_addf(
		out,
		"membrane: git wrote or removed %u hidden file%s in this session alone; the workspace has %s as %s: ",
		n, n == 1 ? "" : "s", n == 1 ? "it" : "them",
		n == 1 ? "it was" : "they were");
	vec_each(e, &k->entries) {
		if (is_config(e) || named == KEPT_NAMES_MAX)
			continue;
		buf_adds(out, named++ ? ", " : "");
		summary_escape(out, e->path, PATH_MAX_SHOWN);
	}
	if (n > named)
		buf_addf(out, " and %u more: \"kept\" in %s", n - named,
			 summary);
	buf_addc(out, '\n');
}

void kept_print(const struct kept *k, const char *summary, struct buf *out)
{
	print_configs(k, summary, out);
	print_files(k, summary, out);
}

cJSON *kept_json(const struct kept *k)
{
	cJSON *list = cJSON_CreateArray();

	vec_each(e, &k->entries) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "path", arena_cstr(k->a, e->path));
		cJSON_AddStringToObject(o, "what", e->what);
		if (e->has_text)
			cJSON_AddStringToObject(o, "text",
						arena_cstr(k->a, e->text));
		cJSON_AddItemToArray(list, o);
	}
	return list;
}
