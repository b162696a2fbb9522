/*
 * Requests: doc/semantics.md, section 6. Hosts, ports and URLs within one are
 * words here; grammar/destination.y takes them apart.
 */
%code requires {
#include "compiler/front/word/request_parser.h"
}
%code {
#define YYSTYPE REQUESTS_STYPE
#define YYLTYPE REQUESTS_LTYPE
#include "grammar/request.lex.h"

#define YYLLOC_DEFAULT(cur, rhs, n)                                            \
	((cur) = (n) ? (struct span){YYRHSLOC(rhs, 1).beg,                     \
				     YYRHSLOC(rhs, n).end}                     \
		     : (struct span){YYRHSLOC(rhs, 0).end,                     \
				     YYRHSLOC(rhs, 0).end})

/* What it is that does not fit, is seen from its place. */
static void requests_error(const struct span *at, struct request_parser *p,
			   void *scanner, const char *text)
{
	(void)scanner;
	(void)text;
	request_unexpected(p, *at);
}
}

%define api.pure full
%define api.prefix {requests_}
%define api.location.type {struct span}
%define api.value.type {struct str}
%define api.token.prefix {REQUEST_T_}
%define parse.lac full
%locations
%expect 0
%parse-param {struct request_parser *p}
%param {void *scanner}
%initial-action { @$ = (struct span){0, 0}; }

%token YYEOF 0 "the end"
%token CONNECT PROTO RESOLVE FILE ARG METHOD AT UNRESOLVED WORD NUMBER REST JUNK

%%

input:
	connect
|	url
|	url AT WORD		{ if (!request_at(p, @3, false)) YYABORT; }
|	url AT WORD UNRESOLVED	{ if (!request_at(p, @3, true)) YYABORT; }
|	RESOLVE WORD		{ if (!request_resolve(p, @2, NULL)) YYABORT; }
|	RESOLVE WORD WORD	{ if (!request_resolve(p, @2, &@3)) YYABORT; }
|	FILE REST		{ if (!request_path(p, @2)) YYABORT; }
|	ARG REST		{ request_arg(p, $2); }
;

url:
	METHOD WORD		{ if (!request_http(p, $1, @2)) YYABORT; }
;

connect:
	how WORD		{ if (!request_to(p, @2, NULL, NULL)) YYABORT; }
|	how WORD NUMBER		{ if (!request_to(p, @2, &@3, NULL)) YYABORT; }
|	how WORD WORD		{ if (!request_to(p, @2, NULL, &@3)) YYABORT; }
|	how WORD NUMBER WORD	{ if (!request_to(p, @2, &@3, &@4)) YYABORT; }
;

how:
	proto
|	CONNECT proto
;

proto:
	%empty
|	PROTO			{ request_proto(p, $1); }
;
