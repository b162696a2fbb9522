/*
 * `membrane doctor --target kubernetes`: what a cluster takes, permits and
 * enforces of what `run` and `compile` make for it, found by trying.
 *
 * Everything is asked by the user's own kubectl. What is made for a trial has a
 * name of its own, and a process that deletes it, whatever becomes of this one.
 */
#ifndef COMPILER_CLI_PREFLIGHT_PREFLIGHT_H
#define COMPILER_CLI_PREFLIGHT_PREFLIGHT_H

#include "compiler/cli/frame/options.h"
#include "compiler/emit/kubernetes/kube.h"
#include "runtime/launch/kubernetes/kubectl.h"

/*
 * The exit status. at: borrowed, as the command line has it.
 *
 * with  of the target's options: gate_image may be empty, which leaves out what
 *       a Pod would have to run for
 */
must_check int preflight_cluster(struct arena *a, const struct options *o,
				 const struct kubectl *at,
				 const struct kube_options *with);

#endif
