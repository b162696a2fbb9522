/*
 * The requests of `tests` and of `membrane explain`: doc/semantics.md,
 * section 6. A method is any token (RFC 9110), but one that is known in
 * capitals is refused in other letters: a test that forbids "get" would forbid
 * nothing.
 *
 *	github.com:22            connect; "tcp" and "connect" may stand before
 *	udp 192.0.2.1:53         connect
 *	tcp 192.0.2.1:80 a.test  connect to an address under a name
 *	POST https://a.test/x    http
 *	GET http://a.test/ at 192.0.2.1             where the name leads
 *	GET http://a.test/ at 192.0.2.1 unresolved  where it does not
 *	resolve a.test TXT
 *	read .env
 *	write .git/hooks/x
 *	docker-arg --privileged
 */
#ifndef COMPILER_FRONT_WORD_REQUEST_H
#define COMPILER_FRONT_WORD_REQUEST_H

#include "compiler/base/text.h"
#include "compiler/ir/doc.h"

/* False after reporting. out->from.layer is the caller's to set. */
must_check bool request_parse(struct pass_ctx *c, const struct text *text,
			      struct ir_request *out);

#endif
