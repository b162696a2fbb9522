#include "compiler/base/secret.h"

#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#define DIGIT 1
#define DOTS  2

static const struct prefix {
	struct str text;
	size_t least;
	unsigned flags;
	const char *what;
} prefixes[] = {
#define PREFIX(text, least, flags, what) {STR_INIT(text), least, flags, what},
#include "compiler/base/secret.def"
#undef PREFIX
};

/*
 * Bytes of one secret that are looked at, which no value in a policy has more
 * of. A text that is made of nothing but beginnings stays cheap.
 */
#define LONGEST LIMIT_SCALAR_BYTES

static bool is_name(char c)
{
	return ascii_is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* --- by how it begins ------------------------------------------------------
 */

static size_t token_end(struct str s, size_t at, bool dots)
{
	s = str_slice(s, 0, at + LONGEST);
	while (at < s.n && is_name(s.p[at]) && (dots || s.p[at] != '.'))
		at++;
	return at;
}

static bool has_digit(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (ascii_is_digit(s.p[i]))
			return true;
	return false;
}

/* The first prefix with a byte in front, and behind each the next with the
 * same; numbers from 1. */
struct chains {
	uint8_t first[UCHAR_MAX + 1], next[ARRAY_LEN(prefixes) + 1];
};

static const struct chains *chains(void)
{
	static struct chains c;
	static bool made;

	for (size_t i = ARRAY_LEN(prefixes); !made && i > 0; i--) {
		char front = prefixes[i - 1].text.p[0];

		c.next[i] = c.first[(unsigned char)front];
		c.first[(unsigned char)front] = (uint8_t)i;
	}
	made = true;
	return &c;
}

static bool by_prefix(struct str s, size_t at, struct secret *out)
{
	const struct chains *c = chains();
	struct str rest;

	if (at && (ascii_is_alnum(s.p[at - 1]) || s.p[at - 1] == '_'))
		return false;
	rest = str_slice(s, at, s.n);
	for (size_t i = c->first[(unsigned char)s.p[at]]; i; i = c->next[i]) {
		const struct prefix *p = &prefixes[i - 1];
		size_t beg = at + p->text.n, end;

		if (!str_starts(rest, p->text))
			continue;
		end = token_end(s, beg, p->flags & DOTS);
		if (end < beg + p->least ||
		    (p->flags & DIGIT && !has_digit(str_slice(s, beg, end))))
			continue;
		*out = (struct secret){beg, end, p->what};
		return true;
	}
	return false;
}

/* PEM, RFC 7468: whatever stands between the two lines, or up to the end. */
static bool by_key(struct str s, size_t at, struct secret *out)
{
	static const char begins[] = "-----BEGIN ", kind[] = "PRIVATE KEY-----";
	struct str rest = str_slice(s, at, s.n);
	const char *found, *end;

	if (!str_starts(rest, STR(begins)))
		return false;
	found = memmem(rest.p, rest.n < 64 ? rest.n : 64, kind,
		       sizeof(kind) - 1);
	if (!found)
		return false;
	found += sizeof(kind) - 1;
	end = memmem(found, (size_t)(rest.p + rest.n - found), "-----END", 8);
	*out = (struct secret){(size_t)(found - s.p),
			       end ? (size_t)(end - s.p) : s.n,
			       "a private key"};
	return out->beg < out->end;
}

/* --- behind a name ---------------------------------------------------------
 */

static bool ends_in(struct str s, const char *word)
{
	size_t n = strlen(word);

	return s.n >= n && strncasecmp(s.p + s.n - n, word, n) == 0;
}

/*
 * Does a name say that its value is secret? By its last word: TOKEN_FILE and
 * MAX_TOKENS are none.
 */
static bool names_secret(struct str name)
{
	static const char *const words[] = {
		"token",     "secret",	    "password",	 "passwd",
		"pwd",	     "passphrase",  "apikey",	 "api_key",
		"api-key",   "access_key",  "accesskey", "secret_key",
		"secretkey", "private_key", "auth_key",	 "signing_key",
		"key_base",  "credentials", "_pass",	 "encryption_key",
		"_auth",
	};

	if (str_is(name, "PWD") || str_is(name, "OLDPWD"))
		return false; /* a folder: POSIX, cd */
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (ends_in(name, words[i]))
			return true;
	return false;
}

#define RANDOM_LEAST 32

/* Long, and of three kinds of characters, as nothing that people write is. */
static bool looks_random(struct str v)
{
	bool upper = false, lower = false, digit = false;

	while (v.n && v.p[v.n - 1] == '=')
		v.n--; /* base64, RFC 4648 */
	for (size_t i = 0; i < v.n; i++) {
		char c = v.p[i];

		if (!ascii_is_alnum(c) && !strchr("+/_-", c))
			return false;
		upper |= ascii_is_upper(c);
		lower |= ascii_is_lower(c);
		digit |= ascii_is_digit(c);
	}
	return v.n >= RANDOM_LEAST && upper && lower && digit;
}

/* Does a word begin here that may look so? */
static bool is_long(struct str s, size_t at)
{
	for (size_t i = at; i < at + RANDOM_LEAST; i++)
		if (i >= s.n || strchr(" \t\n=,", s.p[i]))
			return false;
	return true;
}

/* Words that are settings, whatever the name says. */
static bool is_setting(struct str v)
{
	static const char *const words[] = {"true", "false", "yes",  "no", "on",
					    "off",  "none",  "null", "0",  "1"};

	return v.n == 0 || ascii_is_any(v, words, ARRAY_LEN(words));
}

/* A value that stands for another: a variable, a path, a gap to be filled. */
static bool stands_for(struct str v)
{
	if (strchr("/~<{", v.p[0]) || str_starts(v, STR("./")))
		return true;
	for (size_t i = 0; i + 1 < v.n; i++) {
		if (v.p[i] != '$')
			continue;
		if (v.p[i + 1] != '$')
			return true;
		i++; /* "$$" is a dollar */
	}
	return false;
}

/*
 * Where the value ends that begins at beg: at the quote that was opened before
 * the name or after the '=', else at a blank. Without what closes a list.
 */
static size_t value_end(struct str s, size_t name, size_t *beg)
{
	char quote = name ? s.p[name - 1] : '\0';
	size_t end;

	s = str_slice(s, 0, *beg + LONGEST);
	if (*beg < s.n && (s.p[*beg] == '"' || s.p[*beg] == '\''))
		quote = s.p[(*beg)++];
	if (quote == '"' || quote == '\'')
		return str_find(s, quote, *beg);
	for (end = *beg; end < s.n; end++)
		if (strchr(" \t\n\"'`", s.p[end]))
			break;
	while (end > *beg && strchr(",;)]}", s.p[end - 1]))
		end--;
	return end;
}

/* at is a '='. */
static bool by_name(struct str s, size_t at, struct secret *out)
{
	size_t name = at, beg = at + 1, end;
	struct str value;
	bool says;

	while (name && is_name(s.p[name - 1]))
		name--;
	says = names_secret(str_slice(s, name, at));
	if (name == at || (!says && !is_long(s, beg)))
		return false;
	end = value_end(s, name, &beg);
	value = str_slice(s, beg, end);
	if (is_setting(value) || stands_for(value) ||
	    !(says || looks_random(value)))
		return false;
	*out = (struct secret){beg, end,
			       says ? "a secret by its name"
				    : "what looks like a key"};
	/* Its prefix says whose it is, and opens nothing. */
	if (by_prefix(s, beg, out))
		out->end = end;
	return true;
}

/* "://user:password@": at is the first ':'. RFC 3986, section 3.2.1 */
static bool by_userinfo(struct str s, size_t at, struct secret *out)
{
	size_t colon = 0;

	if (!str_starts(str_slice(s, at, s.n), STR("://")))
		return false;
	for (size_t i = at + 3; i < s.n; i++) {
		if (s.p[i] == '@' && colon && i > colon + 1) {
			*out = (struct secret){colon + 1, i,
					       "a password in a URL"};
			return !stands_for(str_slice(s, colon + 1, i));
		}
		if (strchr("/@ \t\n\"'", s.p[i]))
			return false;
		if (s.p[i] == ':' && !colon)
			colon = i;
	}
	return false;
}

bool secret_next(struct str s, size_t from, struct secret *out)
{
	for (size_t i = from; i < s.n; i++) {
		if (s.p[i] == '='   ? by_name(s, i, out)
		    : s.p[i] == ':' ? by_userinfo(s, i, out)
		    : s.p[i] == '-' && by_key(s, i, out)
			    ? true
			    : ascii_is_alnum(s.p[i]) && by_prefix(s, i, out))
			return true;
	}
	return false;
}

struct str secret_hidden(struct arena *a, struct str s)
{
	struct secret found;
	char *copy;

	if (!secret_next(s, 0, &found))
		return s;
	copy = arena_cstr(a, s);
	do {
		memset(copy + found.beg, '*', found.end - found.beg);
	} while (secret_next(s, found.end, &found));
	return (struct str){copy, s.n};
}
