/*
 * How the artefacts of a plan are called; manifest.h has the manifest's name.
 * One whose reader lives apart from its emitter has a header here, too, with
 * its version and its words.
 */
#ifndef COMPILER_PLAN_FILES_H
#define COMPILER_PLAN_FILES_H

#define PLAN_ADDRS	    "addr.map"
#define PLAN_ADMISSION	    "admission.yaml"
#define PLAN_CONFIGMAP	    "configmap.yaml"
#define PLAN_DOCKER	    "docker.json"
#define PLAN_GATE	    "gate.cfg"
#define PLAN_GATE_POD	    "gate.yaml"
#define PLAN_GIT	    "git.config"
#define PLAN_GIT_ATTRIBUTES "git.attributes"
#define PLAN_GIT_EXCLUDE    "git.exclude"
#define PLAN_HOSTS	    "hosts.map"
#define PLAN_KNOWN_HOSTS    "known_hosts"
#define PLAN_KUBERNETES	    "kubernetes.json"
#define PLAN_KUSTOMIZATION  "kustomization.yaml"
#define PLAN_LEAVES	    "crt.lst"
#define PLAN_LUA	    "gate.lua"
#define PLAN_MOUNTS	    "mounts.plan"
#define PLAN_NAMES	    "names.map"
#define PLAN_NATIVE	    "native.json"
#define PLAN_CILIUM	    "ciliumnetworkpolicy.yaml"
#define PLAN_NETWORKPOLICY  "networkpolicy.yaml"
#define PLAN_POD	    "pod.yaml"
#define PLAN_POLICY	    "policy.json"
#define PLAN_PROFILES	    "profiles.map"
#define PLAN_PROVENANCE	    "provenance.json"
#define PLAN_README	    "README"
#define PLAN_RULESET	    "ruleset.nft"
#define PLAN_SECCOMP	    "seccomp.json"
#define PLAN_TRACE	    "trace.json"
#define PLAN_TRACEE	    "tracee.yaml"

#endif
