/*
 * The roots that servers are verified by: the image's own, and those that the
 * launcher hands over beside them (GATE_UPSTREAM_CA), which it has read.
 */
#ifndef RUNTIME_GATE_L7_ROOTS_H
#define RUNTIME_GATE_L7_ROOTS_H

#include "compiler/base/err.h"
#include "runtime/gate/l7/ca.h"

#define ROOTS_DIR  "/etc/ssl/certs"
#define ROOTS_FILE "ca-certificates.crt"

/* Has the launcher handed some over? */
bool roots_added(void);
/* GATE_ROOTS: with those where added, else the image's own alone. */
must_check int roots_write(bool added, struct err *err);
/*
 * In folder dir, what an agent trusts in a session that decrypts: "ca.pem" has
 * the session's CA, "bundle.pem" the image's roots and that one. As a launcher
 * writes them where there is one.
 *   -EINVAL  there is no CA: nothing is decrypted
 */
must_check int roots_share(const char *dir, const struct ca *ca,
			   struct err *err);

#endif
