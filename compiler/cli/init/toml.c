/* Settings in TOML (toml.io, 1.0), as far as those of a sandbox need it. */
#include "compiler/cli/init/parts.h"

#include "compiler/base/ascii.h"

#include <errno.h>
#include <string.h>

enum {
	DEPTH_MAX = 16,	 /* lists and tables in values */
	PARTS_MAX = 16,	 /* of a key */
	KEYS_MAX = 4096, /* each is compared with those beside it */
};

struct toml {
	struct arena *a;
	struct str in;
	size_t at;
	unsigned keys;
	struct err *err;
};

struct toml_key {
	const char *parts[PARTS_MAX];
	unsigned n;
};

static bool wrong(struct toml *t, const char *what)
{
	unsigned line = 1;

	for (size_t i = 0; i < t->at && i < t->in.n; i++)
		line += t->in.p[i] == '\n';
	err_set(t->err, -EINVAL, "line %u: %s", line, what);
	return false;
}

/* --- characters ----------------------------------------------------------- */

/* '\0' behind the end */
static char look(const struct toml *t, size_t ahead)
{
	return t->at + ahead < t->in.n ? t->in.p[t->at + ahead] : '\0';
}

static bool take(struct toml *t, char c)
{
	if (t->at == t->in.n || t->in.p[t->at] != c)
		return false;
	t->at++;
	return true;
}

static void skip_blanks(struct toml *t)
{
	while (look(t, 0) == ' ' || look(t, 0) == '\t')
		t->at++;
}

static bool take_line_end(struct toml *t)
{
	if (look(t, 0) == '\r' && look(t, 1) == '\n')
		t->at++;
	return take(t, '\n');
}

/* Blanks and a comment. */
static void skip_rest(struct toml *t)
{
	skip_blanks(t);
	if (look(t, 0) == '#')
		while (look(t, 0) != '\0' && look(t, 0) != '\n')
			t->at++;
}

static void skip_lines(struct toml *t)
{
	do
		skip_rest(t);
	while (take_line_end(t));
}

/* --- texts ---------------------------------------------------------------- */

static bool read_point(struct toml *t, unsigned digits, struct buf *out)
{
	static const uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
	uint32_t point = 0;
	unsigned more;

	for (unsigned i = 0; i < digits; i++, t->at++) {
		int digit = ascii_hex(look(t, 0));

		if (digit < 0)
			return wrong(t, "no escape of TOML's");
		point = point << 4 | (uint32_t)digit;
	}
	if (point == 0 || point > 0x10ffff || (point >> 11) == 0x1b)
		return wrong(t, "no character");
	more = (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
	buf_addc(out, (char)(leads[more] | point >> (6 * more)));
	while (more-- > 0)
		buf_addc(out, (char)(0x80 | (point >> (6 * more) & 0x3f)));
	return true;
}

/* A line that goes on in the next one: the blanks between are no text. */
static bool read_folded(struct toml *t)
{
	skip_blanks(t);
	if (!take_line_end(t))
		return wrong(t, "no escape of TOML's");
	do
		skip_blanks(t);
	while (take_line_end(t));
	return true;
}

/* Behind the backslash. */
static bool read_escape(struct toml *t, bool lines, struct buf *out)
{
	static const char names[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
	char c = look(t, 0);
	const char *found = c ? strchr(names, c) : NULL;

	if (found) {
		buf_addc(out, meant[found - names]);
		t->at++;
		return true;
	}
	if (c == 'u' || c == 'U') {
		t->at++;
		return read_point(t, c == 'u' ? 4 : 8, out);
	}
	return lines ? read_folded(t) : wrong(t, "no escape of TOML's");
}

static bool is_closed(const struct toml *t, char quote, bool lines)
{
	return look(t, 0) == quote &&
	       (!lines || (look(t, 1) == quote && look(t, 2) == quote &&
			   look(t, 3) != quote));
}

static bool read_text(struct toml *t, struct str *out)
{
	char quote = look(t, 0);
	bool lines = look(t, 1) == quote && look(t, 2) == quote;
	struct buf b;

	buf_init(&b, t->a);
	t->at += lines ? 3 : 1;
	if (lines)
		take_line_end(t);
	while (!is_closed(t, quote, lines)) {
		char c = look(t, 0);

		if ((unsigned char)c < ' ' && c != '\t' &&
		    !(lines && (c == '\n' || c == '\r')))
			return wrong(
				t,
				"a text without its end, or a character that it may not have");
		t->at++;
		if (c != '\\' || quote == '\'')
			buf_addc(&b, c);
		else if (!read_escape(t, lines, &b))
			return false;
	}
	t->at += lines ? 3 : 1;
	*out = buf_keep(&b);
	return true;
}

/* --- keys ----------------------------------------------------------------- */

static bool is_bare(char c)
{
	return ascii_is_alnum(c) || c == '_' || c == '-';
}

static bool read_part(struct toml *t, struct str *out)
{
	size_t from = t->at;

	if (look(t, 0) == '"' || look(t, 0) == '\'')
		return read_text(t, out);
	while (is_bare(look(t, 0)))
		t->at++;
	*out = str_slice(t->in, from, t->at);
	return out->n > 0 || wrong(t, "no key");
}

static bool read_key(struct toml *t, struct toml_key *out)
{
	struct str part;

	out->n = 0;
	do {
		if (out->n == PARTS_MAX || t->keys++ == KEYS_MAX)
			return wrong(t, "too many keys");
		skip_blanks(t);
		if (!read_part(t, &part))
			return false;
		out->parts[out->n++] = arena_cstr(t->a, part);
		skip_blanks(t);
	} while (take(t, '.'));
	return true;
}

/* The table of that name in a table, made where there is none; NULL: it is
 * something else. Of a list of tables it is the last one. */
static cJSON *enter(struct toml *t, cJSON *table, const char *name)
{
	cJSON *found = cJSON_GetObjectItemCaseSensitive(table, name);

	if (!found) {
		found = json_object();
		json_put(table, name, found);
	}
	if (cJSON_IsArray(found) && found->child)
		found = found->child->prev;
	if (!cJSON_IsObject(found)) {
		wrong(t, "a table where there is a value already");
		return NULL;
	}
	return found;
}

/* --- values --------------------------------------------------------------- */

/* Into a table by its name, or at the end of a list. */
static void put(cJSON *into, const char *name, cJSON *value)
{
	if (name)
		json_put(into, name, value);
	else
		json_push(into, value);
}

static bool read_word(struct toml *t, cJSON *into, const char *name)
{
	size_t from = t->at;
	struct str word;

	while (is_bare(look(t, 0)) || look(t, 0) == '+' || look(t, 0) == '.' ||
	       look(t, 0) == ':')
		t->at++;
	word = str_slice(t->in, from, t->at);
	if (str_is(word, "true") || str_is(word, "false"))
		put(into, name, cJSON_CreateBool(str_is(word, "true")));
	else if (word.n && (ascii_is_digit(word.p[0]) || word.p[0] == '+' ||
			    word.p[0] == '-' || str_is(word, "inf") ||
			    str_is(word, "nan")))
		put(into, name, json_str(word));
	else
		return wrong(t, "no value");
	return true;
}

static bool read_value(struct toml *t, cJSON *into, const char *name,
		       unsigned depth);

static bool read_pair(struct toml *t, cJSON *table, unsigned depth)
{
	struct toml_key key;

	if (!read_key(t, &key))
		return false;
	for (unsigned i = 0; i + 1 < key.n && table; i++)
		table = enter(t, table, key.parts[i]);
	if (!table)
		return false;
	if (cJSON_GetObjectItemCaseSensitive(table, key.parts[key.n - 1]))
		return wrong(t, "a key that is there already");
	if (!take(t, '='))
		return wrong(t, "a key, and no '=' behind it");
	skip_blanks(t);
	return read_value(t, table, key.parts[key.n - 1], depth);
}

/* A list or a table, behind its bracket. */
static bool read_items(struct toml *t, cJSON *in, char end, unsigned depth)
{
	if (depth == DEPTH_MAX)
		return wrong(t, "too deep");
	do {
		skip_lines(t);
		if (take(t, end))
			return true;
		if (!(end == ']' ? read_value(t, in, NULL, depth + 1)
				 : read_pair(t, in, depth + 1)))
			return false;
		skip_lines(t);
	} while (take(t, ','));
	return take(t, end) || wrong(t, "a bracket that stays open");
}

/* What has items is put before they are read: whoever fails leaves one tree. */
static bool read_value(struct toml *t, cJSON *into, const char *name,
		       unsigned depth)
{
	struct str text;
	cJSON *value;

	if (look(t, 0) == '"' || look(t, 0) == '\'') {
		if (!read_text(t, &text))
			return false;
		put(into, name, json_str(text));
		return true;
	}
	if (look(t, 0) != '[' && look(t, 0) != '{')
		return read_word(t, into, name);
	value = look(t, 0) == '[' ? json_array() : json_object();
	put(into, name, value);
	t->at++;
	return read_items(t, value, cJSON_IsArray(value) ? ']' : '}', depth);
}

/* --- lines ---------------------------------------------------------------- */

/* One more of a list of tables. */
static cJSON *add_table(struct toml *t, cJSON *table, const char *name)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(table, name);

	if (list && !cJSON_IsArray(list)) {
		wrong(t, "a list of tables where there is a value already");
		return NULL;
	}
	if (!list) {
		list = json_array();
		json_put(table, name, list);
	}
	json_push(list, json_object());
	return list->child->prev;
}

/* *table: the one that the next lines are of. */
static bool read_header(struct toml *t, cJSON *root, cJSON **table)
{
	bool list = look(t, 1) == '[';
	struct toml_key key;
	cJSON *at = root;

	t->at += list ? 2 : 1;
	if (!read_key(t, &key))
		return false;
	if (!take(t, ']') || (list && !take(t, ']')))
		return wrong(t, "a header that stays open");
	for (unsigned i = 0; i < key.n && at; i++)
		at = list && i + 1 == key.n ? add_table(t, at, key.parts[i])
					    : enter(t, at, key.parts[i]);
	*table = at;
	return at != NULL;
}

static bool read_lines(struct toml *t, cJSON *root)
{
	cJSON *table = root;

	for (;;) {
		skip_lines(t);
		if (t->at == t->in.n)
			return true;
		if (!(look(t, 0) == '[' ? read_header(t, root, &table)
					: read_pair(t, table, 0)))
			return false;
		skip_rest(t);
		if (t->at < t->in.n && !take_line_end(t))
			return wrong(t, "something behind the value");
	}
}

int toml_read(struct arena *a, struct str text, cJSON **out, struct err *err)
{
	struct toml t = {.a = a, .in = text, .err = err};
	cJSON *root = json_object();

	if (!read_lines(&t, root)) {
		cJSON_Delete(root);
		return -EINVAL;
	}
	*out = root;
	return 0;
}
