/*
 * Where connections wait until a person was asked, in gate.cfg. Where requests
 * do is in gate_requests.c, between the blocks and the verdict.
 */
#include "compiler/emit/gate/gate_ask.cfg.inc"
#include "compiler/emit/gate/gate_marks.h"

void gate_ask_put(struct gate *g)
{
	cfg_text(&g->c, asking);
	gate_marks_list(g, &g->p->ask, MARKS_RAW, MARKS_FOR(ASK));
	cfg_text(&g->c, waiting);
}
