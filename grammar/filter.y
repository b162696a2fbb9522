/* Expressions over trace records: compiler/trace/filter.h. */
%code requires {
#include "compiler/trace/filter_parser.h"
}
%code {
#define YYSTYPE FILTERS_STYPE
#define YYLTYPE FILTERS_LTYPE
#include "grammar/filter.lex.h"

#define YYLLOC_DEFAULT(cur, rhs, n)                                            \
	((cur) = (n) ? (struct span){YYRHSLOC(rhs, 1).beg,                     \
				     YYRHSLOC(rhs, n).end}                     \
		     : (struct span){YYRHSLOC(rhs, 0).end,                     \
				     YYRHSLOC(rhs, 0).end})

/* What it is that does not fit, is seen from its place. */
static void filters_error(const struct span *at, struct filter_parser *p,
			  void *scanner, const char *text)
{
	(void)scanner;
	(void)text;
	filter_unexpected(p, *at);
}

/* Actions that report return NULL. */
#define MADE(x) do { if (!(x)) YYABORT; } while (0)
}

%define api.pure full
%define api.prefix {filters_}
%define api.location.type {struct span}
%define api.token.prefix {FILTER_T_}
%define parse.lac full
%locations
%expect 0
%parse-param {struct filter_parser *p}
%param {void *scanner}
%initial-action { @$ = (struct span){0, 0}; }

%union {
	enum filter_op op;
	struct filter_node *node;
	struct filter_value *value;
}

%token YYEOF 0 "the end"
%token AND OR NOT IN WORD QUOTED JUNK
%token <op> OP
%type <node> either both one
%type <value> value values set

%%

input:
	either		{ p->out->root = $1; }
;

either:
	both
|	either OR both	{ MADE($$ = filter_pair(p, FILTER_OR, $1, $3)); }
;

both:
	one
|	both AND one	{ MADE($$ = filter_pair(p, FILTER_AND, $1, $3)); }
;

one:
	NOT one		{ MADE($$ = filter_pair(p, FILTER_NOT, $2, NULL)); }
|	'(' either ')'	{ $$ = $2; }
|	WORD		{ MADE($$ = filter_test(p, @1, FILTER_HAS, NULL)); }
|	WORD OP value	{ MADE($$ = filter_test(p, @1, $2, $3)); }
|	WORD IN set	{ MADE($$ = filter_test(p, @1, FILTER_IN, $3)); }
;

value:
	WORD		{ MADE($$ = filter_value(p, @1, false)); }
|	QUOTED		{ $$ = filter_value(p, @1, true); }
;

set:
	value
|	'[' values ']'	{ $$ = $2; }
;

values:
	value
|	value ',' values	{ $$ = $1; $$->next = $3; }
;
