/*
 * Would HAProxy take the plan? For `membrane-gate --check`.
 *
 * The configuration says /plan and /run/gate, wherever the plan lies, and wants
 * its leaf certificates there: so that a child tries it (`haproxy -c`) in a
 * mount namespace of its own, in a root that has both, and nothing is left
 * behind. Needs root, or user namespaces.
 */
#ifndef RUNTIME_GATE_L7_HAPROXY_CHECK_H
#define RUNTIME_GATE_L7_HAPROXY_CHECK_H

#include "runtime/gate/l7/l7.h"

/*
 * p: l7_load() of that plan; does nothing when it has no gate.cfg.
 *   -EPROTO  HAProxy refuses it: *err has its first complaint
 *   other    it could not be tried
 */
must_check int haproxy_check_plan(const struct l7_plan *p, const char *plan,
				  struct err *err);

#endif
