/*
 * Destinations and ports: doc/semantics.md, section 2.
 *
 * The grammar knows the shape alone; what a name, a number or a path may be,
 * and every message, is compiler/front/word/dest_parser.h's. A location is a pair
 * of offsets into the string that is parsed.
 */
%code requires {
#include "compiler/front/word/dest_parser.h"
}
%code {
#include "grammar/destination.lex.h"

#define YYLLOC_DEFAULT(cur, rhs, n)                                            \
	((cur) = (n) ? (struct span){YYRHSLOC(rhs, 1).beg,                     \
				     YYRHSLOC(rhs, n).end}                     \
		     : (struct span){YYRHSLOC(rhs, 0).end,                     \
				     YYRHSLOC(rhs, 0).end})

/* Unreached: only a full stack comes this way, and no destination nests. */
static void destination_error(const struct span *at, struct dest_parser *p,
		       void *scanner, const char *text)
{
	(void)scanner;
	dest_fail(p, DIAG_DEST, *at, "%s", text);
}
}

%define api.pure full
%define api.prefix {destination_}
%define api.location.type {struct span}
%define api.value.type {struct str}
%define api.token.prefix {DEST_T_}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%parse-param {struct dest_parser *p}
%param {void *scanner}
%initial-action { @$ = (struct span){0, 0}; }

%token YYEOF 0 "the end"
%token FIRST_DEST FIRST_PORT
%token LABEL "a name" STAR "'*'" GLOBSTAR "'**'" PARTIAL "a partial wildcard"
%token DOT "'.'" COLON "':'" DASH "'-'" OPEN "'['" CLOSE "']'"
%token ADDR6 "an IPv6 address" ZONE "a zone"
%token SCHEME "a scheme" PATH "a path" TAIL "'/'"
%token NUMBER "a port number" WORD "a word"
%token USERINFO "a user name" QUERY "a query" FRAGMENT "a fragment"
%token BLANK "a blank" JUNK "a character"

%%

input:
	FIRST_DEST dest
|	FIRST_PORT port
;

dest:
	host
|	host COLON port				{ dest_port_moves(p); }
|	url
;

host:
	name			{ if (!dest_name(p, @1)) YYABORT; }
|	name TAIL		{ if (!dest_network(p, @1, $2, @2)) YYABORT; }
|	ADDR6			{ if (!dest_addr6(p, $1, @1)) YYABORT; }
|	ADDR6 TAIL		{ if (!dest_network6(p, $1, @1, $2, @2))
						YYABORT; }
|	OPEN ADDR6 CLOSE	{ if (!dest_addr6(p, $2, @2)) YYABORT; }
|	OPEN ADDR6 CLOSE TAIL	{ dest_bracketed_network(p, $2, $4, @$);
						YYABORT; }
;

url:
	scheme url_host url_port url_path
;

url_port:
	%empty
|	COLON port		{ if (!dest_url_port(p, @2)) YYABORT; }
;

url_path:
	%empty			{ dest_url_root(p, @$); }
|	PATH			{ if (!dest_url_path(p, $1, @1)) YYABORT; }
;

scheme:
	SCHEME			{ if (!dest_scheme(p, $1, @1)) YYABORT; }
;

url_host:
	name			{ if (!dest_url_name(p, @1)) YYABORT; }
|	OPEN ADDR6 CLOSE	{ if (!dest_addr6(p, $2, @2)) YYABORT; }
|	ADDR6			{ dest_bare_addr6(p, $1, @1); YYABORT; }
;

name:
	labels
|	labels DOT
;

labels:
	label
|	labels DOT label
;

label:
	LABEL			{ dest_label(p, DEST_LABEL_TEXT, $1, @1); }
|	STAR			{ dest_label(p, DEST_LABEL_STAR, $1, @1); }
|	GLOBSTAR		{ dest_label(p, DEST_LABEL_GLOBSTAR, $1, @1); }
|	PARTIAL			{ dest_label(p, DEST_LABEL_PARTIAL, $1, @1); }
;

port:
	range
|	range TAIL		{ if (!dest_proto(p, $2, @2)) YYABORT; }
;

range:
	NUMBER			{ if (!dest_range(p, $1, @1, $1, @1)) YYABORT; }
|	NUMBER DASH NUMBER	{ if (!dest_range(p, $1, @1, $3, @3)) YYABORT; }
;

%%

/* What stands where it must not, as far as messages tell it apart. */
static enum dest_odd odd_of(yysymbol_kind_t kind)
{
	switch ((int)kind) {
	case YYSYMBOL_YYEOF:
		return DEST_ODD_END;
	case YYSYMBOL_USERINFO:
		return DEST_ODD_USERINFO;
	case YYSYMBOL_QUERY:
		return DEST_ODD_QUERY;
	case YYSYMBOL_FRAGMENT:
		return DEST_ODD_FRAGMENT;
	case YYSYMBOL_BLANK:
		return DEST_ODD_BLANK;
	case YYSYMBOL_DOT:
		return DEST_ODD_DOT;
	case YYSYMBOL_STAR:
		return DEST_ODD_STAR;
	case YYSYMBOL_WORD:
		return DEST_ODD_WORD;
	case YYSYMBOL_ZONE:
		return DEST_ODD_ZONE;
	case YYSYMBOL_PATH:
	case YYSYMBOL_TAIL:
		return DEST_ODD_PATH;
	}
	return DEST_ODD_OTHER;
}

static int yyreport_syntax_error(const yypcontext_t *ctx,
				 struct dest_parser *p, void *scanner)
{
	yysymbol_kind_t want[DEST_WANT_MAX];
	int n = yypcontext_expected_tokens(ctx, want, DEST_WANT_MAX);
	const char *names[DEST_WANT_MAX];

	(void)scanner;
	for (int i = 0; i < n; i++)
		names[i] = yysymbol_name(want[i]);
	/* No help for a negative n, an error: that is too many. */
	dest_unexpected(p, odd_of(yypcontext_token(ctx)),
			*yypcontext_location(ctx), names, (unsigned)n);
	return 0;
}
