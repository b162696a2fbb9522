/* Lines of HAProxy to the gate: parts.h. */
#include "runtime/gate/ask/parts.h"

#include <string.h>

static bool is_seen(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < '!' || text.p[i] > '~')
			return false;
	return text.n > 0;
}

/* The next field, a copy; empty ones and those that are too long are none. */
static bool take_text(struct str *rest, char *to, size_t size)
{
	struct str word;

	if (!str_field(rest, ' ', &word) || !is_seen(word) || word.n >= size)
		return false;
	memcpy(to, word.p, word.n);
	to[word.n] = '\0';
	return true;
}

static bool take_port(struct str *rest, uint16_t *out)
{
	struct str word;
	uint64_t n;

	if (!str_field(rest, ' ', &word) || !str_u64(word, UINT16_MAX, &n) ||
	    n == 0)
		return false;
	*out = (uint16_t)n;
	return true;
}

static bool take_kind(struct str *rest, enum ask_kind *out)
{
	static const char *const words[] = {"conn", "hello", "request"};
	struct str word;

	if (!str_field(rest, ' ', &word))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!str_is(word, words[i]))
			continue;
		*out = (enum ask_kind)i;
		return true;
	}
	return false;
}

static bool take_scheme(struct str *rest, bool *out_tls)
{
	struct str word;

	if (!str_field(rest, ' ', &word))
		return false;
	*out_tls = str_is(word, "https");
	return *out_tls || str_is(word, "http");
}

static bool take_rest(struct str *rest, struct ask_line *l)
{
	switch (l->kind) {
	case ASK_CONN:
		return true;
	case ASK_HELLO:
		return take_text(rest, l->name, sizeof(l->name));
	case ASK_REQUEST:
		return take_text(rest, l->token, sizeof(l->token)) &&
		       take_text(rest, l->name, sizeof(l->name)) &&
		       take_scheme(rest, &l->tls) &&
		       take_text(rest, l->method, sizeof(l->method)) &&
		       take_text(rest, l->path, sizeof(l->path));
	}
	return false;
}

bool ask_line_parse(struct str text, struct ask_line *out)
{
	struct ask_line l = {0};
	struct str addr;

	if (text.n == 0 || text.p[text.n - 1] == ' ' ||
	    !take_kind(&text, &l.kind) || !str_field(&text, ' ', &addr) ||
	    !addr_parse(addr, &l.addr) || !take_port(&text, &l.port) ||
	    !take_port(&text, &l.sport) || !take_rest(&text, &l) || text.n)
		return false;
	*out = l;
	return true;
}
