/*
 * What the actions of grammar/destination.y call: the meaning of the parts of
 * a destination, and every message about them.
 *
 * Spans are offsets into the text that is parsed. An action that returns false
 * has reported; the grammar then stops.
 */
#ifndef COMPILER_FRONT_WORD_DEST_PARSER_H
#define COMPILER_FRONT_WORD_DEST_PARSER_H

#include "compiler/front/word/dest.h"

enum dest_label_kind {
	DEST_LABEL_TEXT,
	DEST_LABEL_STAR,     /* one label */
	DEST_LABEL_GLOBSTAR, /* one or more */
	DEST_LABEL_PARTIAL,  /* "foo*": refused */
};

struct dest_label {
	enum dest_label_kind kind;
	struct str s;
	struct span part;
};

struct dest_parser {
	struct pass_ctx *c;
	struct text text;
	struct ir_dest dest;
	struct ir_port port;
	VEC(struct dest_label) labels;
	/* of the scanner */
	uint32_t offset;
	int first;     /* token to hand out before the text */
	bool is_plain; /* it has no user name, and is no URL */
	bool is_url;
	/* Of most texts all there is has room here. */
	struct dest_label few[8];
	size_t used; /* of room, in bytes */
	max_align_t room[32];
};

enum dest_odd {
	DEST_ODD_END,
	DEST_ODD_USERINFO,
	DEST_ODD_QUERY,
	DEST_ODD_FRAGMENT,
	DEST_ODD_BLANK,
	DEST_ODD_DOT,
	DEST_ODD_STAR,
	DEST_ODD_WORD,
	DEST_ODD_ZONE,
	DEST_ODD_PATH,
	DEST_ODD_OTHER,
};

#define DEST_WANT_MAX 8

/* Memory for the scanner. */
void *dest_room(struct dest_parser *p, size_t size);
void dest_label(struct dest_parser *p, enum dest_label_kind kind, struct str s,
		struct span part);
/* The labels are the whole destination: any, host, pattern or address. */
must_check bool dest_name(struct dest_parser *p, struct span part);
/* The labels are the host of a URL. */
must_check bool dest_url_name(struct dest_parser *p, struct span part);
must_check bool dest_network(struct dest_parser *p, struct span part,
			     struct str tail, struct span tail_part);
must_check bool dest_addr6(struct dest_parser *p, struct str s,
			   struct span part);
must_check bool dest_network6(struct dest_parser *p, struct str s,
			      struct span part, struct str tail,
			      struct span tail_part);
/* These two only report. */
void dest_bracketed_network(struct dest_parser *p, struct str s,
			    struct str tail, struct span part);
void dest_bare_addr6(struct dest_parser *p, struct str s, struct span part);

must_check bool dest_scheme(struct dest_parser *p, struct str s,
			    struct span part);
/* The last of a URL: its path, or "/", with which nothing is wrong. */
must_check bool dest_url_path(struct dest_parser *p, struct str path,
			      struct span part);
void dest_url_root(struct dest_parser *p, struct span part);
must_check bool dest_url_port(struct dest_parser *p, struct span part);

/* Of TCP, until dest_proto(). */
must_check bool dest_range(struct dest_parser *p, struct str lo,
			   struct span lo_part, struct str hi,
			   struct span hi_part);
/* tail: "/tcp", "/udp" or whatever stands there. */
must_check bool dest_proto(struct dest_parser *p, struct str tail,
			   struct span part);
void dest_port_moves(struct dest_parser *p);

/* The parser met what it did not expect; want are names of what it did. */
void dest_unexpected(struct dest_parser *p, enum dest_odd odd, struct span part,
		     const char *const *want, unsigned n);

#define dest_fail(p, id, part, ...)                                            \
	diag_error((p)->c->diags, (id), text_at(&(p)->text, (part)),           \
		   __VA_ARGS__)
#define dest_help(p, ...) diag_help((p)->c->diags, __VA_ARGS__)
#define dest_quote(p, s)  diag_quote((p)->c->diags, (s))

#endif
