/*
 * Amounts as Kubernetes writes them: "500m", "0.5", "2Gi", "1e3". An API
 * server prints another spelling of the same amount than it was given.
 *
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
#ifndef COMPILER_CLI_CLUSTER_QUANTITY_H
#define COMPILER_CLI_CLUSTER_QUANTITY_H

#include "compiler/base/str.h"

/* Both are amounts, and the same. What is below a billionth, negative or past
 * 10^26 is none here, and equal to nothing. */
must_check bool quantity_same(struct str a, struct str b);

#endif
