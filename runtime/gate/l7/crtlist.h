/*
 * crt.lst: HAProxy's list of certificates, and so the gate's list of leaves.
 *
 * Pure. One line for each leaf: GATE_LEAVES, "FILE NAME...", where FILE is
 * made of letters, digits, '-' and '.', and a NAME is a host name, or has "*"
 * as its first label. Single spaces, LF, at most CA_NAMES_MAX names.
 */
#ifndef RUNTIME_GATE_L7_CRTLIST_H
#define RUNTIME_GATE_L7_CRTLIST_H

#include "compiler/base/err.h"
#include "runtime/gate/l7/ca.h"

#define CRTLIST_FILE_MAX 64u /* bytes of FILE */

struct crtlist_line {
	struct str path; /* whole */
	struct str names[CA_NAMES_MAX];
	size_t n_names;
};

/* Take the next line off *rest: 1, 0 at the end, -EPROTO. */
must_check int crtlist_next(struct str *rest, struct crtlist_line *out,
			    struct err *err);

#endif
