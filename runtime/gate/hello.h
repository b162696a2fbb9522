/*
 * The launcher's first line: {"version":1,"session":"ID","host":["ADDR",...]}.
 *
 * Pure.
 */
#ifndef RUNTIME_GATE_HELLO_H
#define RUNTIME_GATE_HELLO_H

#include "runtime/gate/names.h"

#define HELLO_VERSION	1
#define HELLO_BYTES_MAX 16384u /* of the line */

/*
 * Add the host's addresses to *hosts. -EPROTO for anything else than the line
 * above, an address that does not parse included.
 */
must_check int hello_parse(struct str line, struct names_hosts *hosts,
			   struct err *err);

#endif
