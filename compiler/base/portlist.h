/*
 * Port lists as artefacts write them: "tcp/443,tcp/8000-8999,udp/53".
 *
 * Pure. The compiler writes them from its own kinds (compiler/ir/text.h); this
 * is for whoever reads what it wrote.
 */
#ifndef COMPILER_BASE_PORTLIST_H
#define COMPILER_BASE_PORTLIST_H

#include "compiler/base/str.h"

/* Is that all of it: one range or more, none of them upside down? */
bool portlist_ok(struct str list);
/* Has it this port of "tcp" or "udp"? What is not understood has none. */
bool portlist_has(struct str list, const char *proto, uint16_t port);

#endif
