/*
 * `check --cluster-state`: what runs in a cluster, by what kubectl printed,
 * held against the manifests that the policy compiles to. What an API server
 * adds by itself is known, with its values (defaults.def); all else that is
 * not the plan's is a difference.
 */
#ifndef COMPILER_CLI_CLUSTER_CLUSTER_H
#define COMPILER_CLI_CLUSTER_CLUSTER_H

#include "compiler/cli/frame/options.h"
#include "compiler/driver.h"

/* Is it wanted? Then what does not go with it is complained of. */
must_check bool cluster_wanted(const struct options *o, bool *out_fault);
/* The exit status; c is ok, and for Kubernetes. */
must_check int cluster_check(const struct options *o,
			     const struct compilation *c);

#endif
