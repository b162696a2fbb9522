/*
 * gate.cfg and the files beside it: what HAProxy decides.
 *
 * Two TCP frontends look at the first bytes of what the packet filter
 * redirects: GATE_PORT_RAW where other protocols may pass, GATE_PORT_HTTP where
 * only HTTP and TLS may. TLS goes to a backend that reads the ClientHello and
 * splices what is granted through untouched, or hands it to the inner frontend,
 * which decrypts; HTTP in the clear goes there too. One table of rules decides
 * each request. The rules speak of profiles (profiles.h); hosts.map leads from
 * names to those.
 */
#ifndef COMPILER_EMIT_GATE_GATE_CFG_H
#define COMPILER_EMIT_GATE_GATE_CFG_H

#include "compiler/emit/emit.h"

/* Whether the policy needs HAProxy at all; whether it decrypts anything. */
bool gate_cfg_wanted(const struct ir_policy *p);
bool gate_cfg_decrypts(const struct ir_policy *p);

bool gate_cfg_emit(const struct emit_in *in, struct buf *out);

/* hosts.map and addr.map: names and networks, and their tokens. */
bool gate_maps_hosts(const struct emit_in *in, struct buf *out);
bool gate_maps_addrs(const struct emit_in *in, struct buf *out);
/* profiles.map: from a token and a name to the grant, for the records. */
bool gate_maps_profiles(const struct emit_in *in, struct buf *out);
/* crt.lst: the leaf certificates that are made before the start. */
bool gate_maps_leaves(const struct emit_in *in, struct buf *out);
/* gate.lua: the same for every policy. */
bool gate_lua_emit(const struct emit_in *in, struct buf *out);

#endif
