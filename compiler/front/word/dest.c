#include "compiler/front/word/dest.h"

#include "compiler/front/word/dest_parser.h"
#include "grammar/destination.tab.h"

#define YYSTYPE DESTINATION_STYPE
#define YYLTYPE DESTINATION_LTYPE
#include "grammar/destination.lex.h"

#include <string.h>

static struct str part_of(const struct dest_parser *p, struct span part)
{
	return str_slice(p->text.s, part.beg, part.end);
}

/* What people write for a port, and its number. */
static const struct {
	const char *name;
	unsigned port;
} services[] = {
	{"http", 80},  {"https", 443}, {"ssh", 22},	   {"dns", 53},
	{"git", 9418}, {"ntp", 123},   {"postgres", 5432}, {"smtp", 25},
};

static void odd_word(struct dest_parser *p, struct span part)
{
	struct str s = part_of(p, part);

	dest_fail(p, DIAG_PORT, part, "'%s' is not a port number",
		  dest_quote(p, s));
	for (size_t i = 0; i < ARRAY_LEN(services); i++)
		if (str_is(s, services[i].name)) {
			dest_help(p, "write '%u'", services[i].port);
			return;
		}
	dest_help(p, "a port is 1 to 65535, a range, or either with '/udp'");
}

static void odd_userinfo(struct dest_parser *p, struct span part)
{
	struct str rest = str_slice(p->text.s, part.end, p->text.s.n);
	size_t colon = str_find(rest, ':', 0);

	dest_fail(p, DIAG_USERINFO, part, "a user name in a destination");
	if (!p->is_url && colon < rest.n)
		dest_help(p, "write '%s:22' for git over ssh",
			  dest_quote(p, str_slice(rest, 0, colon)));
	else
		dest_help(p, "leave '%s' out; secrets go under 'credentials'",
			  dest_quote(p, part_of(p, part)));
}

static void odd_dot(struct dest_parser *p, struct span part)
{
	dest_fail(p, DIAG_LABEL, part, "an empty label");
	if (part.beg == 0 && p->text.s.n > 1)
		dest_help(p, "for every name below it write '**%s'",
			  dest_quote(p, p->text.s));
	else
		dest_help(p, "one dot between two labels");
}

static void odd_path(struct dest_parser *p, struct span part)
{
	/* In a URL, its scheme is before. */
	if (p->is_url && p->text.s.p[part.beg - 1] == ':') {
		dest_fail(p, DIAG_PORT, part, "no port behind the ':'");
		dest_help(p, "without the ':' it is the scheme's own");
	} else if (p->is_url) {
		dest_fail(p, DIAG_DEST, part, "a URL without a host");
		dest_help(p, "as in 'https://example.com/api/'");
	} else {
		dest_fail(p, DIAG_DEST, part,
			  "a path where a destination belongs");
		dest_help(p, "as in 'https://example.com%s'",
			  dest_quote(p, part_of(p, part)));
	}
}

static void odd_other(struct dest_parser *p, struct span part,
		      const char *const *want, unsigned n)
{
	struct buf b;

	if (part_of(p, part).n == 0)
		dest_fail(p, DIAG_DEST, part,
			  "a destination that ends too early");
	else
		dest_fail(p, DIAG_DEST, part, "unexpected '%s'",
			  dest_quote(p, part_of(p, part)));
	if (str_is(part_of(p, part), ",")) {
		dest_help(p, "one per item");
		return;
	}
	/* None, which wraps around, or more than anybody reads. */
	if (n - 1 >= 3)
		return;
	buf_init(&b, p->c->a);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "%s%s", i ? " or " : "", want[i]);
	dest_help(p, "expected %s", b.p);
}

void dest_unexpected(struct dest_parser *p, enum dest_odd odd, struct span part,
		     const char *const *want, unsigned n)
{
	switch (odd) {
	case DEST_ODD_USERINFO:
		odd_userinfo(p, part);
		return;
	case DEST_ODD_QUERY:
		dest_fail(p, DIAG_QUERY, part, "a query in a destination");
		dest_help(p, "leave it out: rules look at the path alone");
		return;
	case DEST_ODD_FRAGMENT:
		dest_fail(p, DIAG_FRAGMENT, part,
			  "a fragment in a destination");
		dest_help(p, "leave it out: it never leaves the client");
		return;
	case DEST_ODD_BLANK:
		dest_fail(p, DIAG_DEST, part, "a blank in a destination");
		dest_help(p, "one destination per item");
		return;
	case DEST_ODD_DOT:
		odd_dot(p, part);
		return;
	case DEST_ODD_STAR:
		dest_fail(p, DIAG_PORT, part, "a '*' for a port");
		dest_help(
			p,
			"leave the port out for any TCP port, or write '1-65535'");
		return;
	case DEST_ODD_WORD:
		odd_word(p, part);
		return;
	case DEST_ODD_ZONE:
		dest_fail(p, DIAG_IPV6, part, "a zone in an address");
		dest_help(p, "link-local addresses cannot be granted");
		return;
	case DEST_ODD_PATH:
		odd_path(p, part);
		return;
	case DEST_ODD_END:
	case DEST_ODD_OTHER:
		odd_other(p, part, want, n);
		return;
	}
}

void *dest_room(struct dest_parser *p, size_t size)
{
	char *at = (char *)p->room + p->used;

	if (size > sizeof(p->room) - p->used)
		return arena_alloc(p->c->a, size);
	p->used += (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
		   sizeof(max_align_t);
	return at;
}

static bool run_parser(struct dest_parser *p, int first)
{
	struct str s = p->text.s;
	yyscan_t scanner = NULL;
	int rc;

	p->first = first;
	p->is_plain = str_find(s, '@', 0) == s.n && !memmem(s.p, s.n, "://", 3);
	p->labels.v = p->few;
	p->labels.cap = ARRAY_LEN(p->few);
	destination_lex_init_extra(p, &scanner);
	destination__scan_bytes(s.p, (int)s.n, scanner);
	rc = destination_parse(p, scanner);
	destination_lex_destroy(scanner);
	return rc == 0;
}

/* Nothing to parse: the grammar would only say that it ends too early. */
static bool is_blank(struct dest_parser *p, const char *what)
{
	if (str_trim(p->text.s).n)
		return false;
	diag_error(p->c->diags, DIAG_DEST, p->text.at, "an empty %s", what);
	return true;
}

bool dest_parse(struct pass_ctx *c, const struct text *text,
		struct ir_dest *out)
{
	struct dest_parser p = {.c = c, .text = *text};
	bool ok = !is_blank(&p, "destination") &&
		  run_parser(&p, DEST_T_FIRST_DEST);

	if (!ok)
		p.dest = (struct ir_dest){.kind = IR_DEST_POISON};
	*out = p.dest;
	out->at = text->at;
	return ok;
}

bool dest_parse_port(struct pass_ctx *c, const struct text *text,
		     struct ir_port *out)
{
	struct dest_parser p = {.c = c, .text = *text};

	if (is_blank(&p, "port") || !run_parser(&p, DEST_T_FIRST_PORT))
		return false;
	*out = p.port;
	return true;
}
