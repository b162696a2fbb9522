/*
 * Requests as text; the other canonical texts are declared in ir.h.
 */
#ifndef COMPILER_IR_TEXT_H
#define COMPILER_IR_TEXT_H

#include "compiler/base/buf.h"
#include "compiler/ir/ir.h"

/*
 * "github.com:22", "udp 192.0.2.1:53", "GET https://a.test/x", "read .env": as
 * grammar/request.y reads it back into the same request, whatever was written.
 */
struct str ir_request_text(struct arena *a, const struct ir_request *r);
/* Append ir_ports_text(). */
void ir_ports_put(struct buf *b, const ir_ports *ports);

#endif
