/*
 * What the actions of grammar/request.y call. Spans are offsets into the text;
 * an action that returns false has reported, and the grammar then stops.
 */
#ifndef COMPILER_FRONT_WORD_REQUEST_PARSER_H
#define COMPILER_FRONT_WORD_REQUEST_PARSER_H

#include "compiler/front/word/request.h"

struct request_parser {
	struct pass_ctx *c;
	struct text text;
	struct ir_request out; /* its kind is the scanner's to set */
	uint32_t offset;       /* of the scanner */
	bool has_proto;	       /* "tcp" or "udp" was written */
};

void request_proto(struct request_parser *p, struct str name);
/* port: a word of its own; name: what the address was resolved from. Both may
 * be NULL. */
must_check bool request_to(struct request_parser *p, struct span to,
			   const struct span *port, const struct span *name);
must_check bool request_http(struct request_parser *p, struct str method,
			     struct span url);
/* Where the name of the URL leads, or where it is sent without that. */
must_check bool request_at(struct request_parser *p, struct span addr,
			   bool unresolved);
/* type may be NULL. */
must_check bool request_resolve(struct request_parser *p, struct span name,
				const struct span *type);
must_check bool request_path(struct request_parser *p, struct span path);
void request_arg(struct request_parser *p, struct str arg);
void request_unexpected(struct request_parser *p, struct span part);

#endif
