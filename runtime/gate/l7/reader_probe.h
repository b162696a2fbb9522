/*
 * Proof that HAProxy's requests are read before it reads them: it is asked one
 * that the reader (runtime/reader) refuses and that HAProxy itself would mend,
 * in the clear and inside TLS, as the agent's will come.
 *
 * The library says by itself that it was loaded; this is for an HAProxy that
 * takes its bytes in by other functions than those that it stands in for.
 */
#ifndef RUNTIME_GATE_L7_READER_PROBE_H
#define RUNTIME_GATE_L7_READER_PROBE_H

#include "compiler/base/err.h"

#define PROBE_WAIT_S 2

/*
 * Ask at the socket on which requests in the clear arrive.
 *   -EPROTO  the answer is not the reader's
 */
must_check int reader_probe_plain(const char *path, struct err *err);
/* The same inside TLS, where a leaf for this name is. */
must_check int reader_probe_tls(const char *path, struct str name,
				struct err *err);

#endif
