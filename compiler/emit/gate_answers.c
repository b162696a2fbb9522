#include "compiler/emit/gate_answers.cfg.inc"
#include "compiler/emit/gate_parts.h"

void gate_answers_verdict(struct cfg *c)
{
	cfg_text(c, verdict);
}

void gate_answers_refusals(struct cfg *c)
{
	cfg_text(c, refusals);
}

void gate_answers_failures(struct cfg *c)
{
	cfg_text(c, failures);
}
