/*
 * provenance.json: from the id of a grant or a denial to where it was written.
 *
 * Pure. The text is that of compiler/plan/provenance_json.h.
 */
#ifndef RUNTIME_GATE_RECORD_PROVENANCE_H
#define RUNTIME_GATE_RECORD_PROVENANCE_H

#include "compiler/base/err.h"
#include "runtime/gate/wire/packet.h"

#include <cjson/cJSON.h>

struct provenance_rule {
	const char *id, *source;
	uint32_t line;
	/* Of grants and denials that the packet filter decides by itself. */
	bool is_any, is_net;
	struct cidr net;
	struct str ports; /* "tcp/22,udp/8000-8999" */
};

struct provenance {
	cJSON *tree;		       /* what the strings point into; owned */
	struct provenance_rule *rules; /* sorted by id */
	uint32_t n;
};

/* -EPROTO for another version, a missing field or a trailing byte. */
must_check int provenance_parse(struct str text, struct provenance *out,
				struct err *err);
void provenance_free(struct provenance *p);
/* NULL when there is no such rule. */
const struct provenance_rule *provenance_find(const struct provenance *p,
					      struct str id);
/*
 * The rule for packets that holds this flow, the narrowest network first and
 * then '*'; NULL: there is none. kind: 'g' or 'd', as ids begin.
 */
const struct provenance_rule *provenance_packet(const struct provenance *p,
						char kind,
						const struct packet *packet);

#endif
