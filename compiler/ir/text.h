/*
 * Requests as text, and lists of texts; the other canonical texts are declared
 * in ir.h.
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

void ir_texts_sort(ir_texts *list);
/* A sorted copy without repetitions. */
ir_texts ir_texts_sorted(struct arena *a, const ir_texts *in);
/* The same texts in the same order. */
bool ir_texts_same(const ir_texts *x, const ir_texts *y);

/* "/usr/bin/tell-me -v", "webhook https://…", "nothing". r: set. */
struct str ir_on_refusal_text(struct arena *a, const struct ir_on_refusal *r);

#endif
