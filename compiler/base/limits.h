/*
 * Every bound on what comes from outside, in one place.
 *
 * Checked before arithmetic; a policy beyond one of them is refused with the
 * number in the message.
 */
#ifndef COMPILER_BASE_LIMITS_H
#define COMPILER_BASE_LIMITS_H

#define LIMIT_SOURCE_BYTES  (1u << 20) /* one policy or ignore file */
#define LIMIT_SOURCES	    64u	       /* files and presets in one compile */
#define LIMIT_EXTENDS_DEPTH 8u	       /* presets that extend presets */
#define LIMIT_YAML_DEPTH    16u	       /* nesting of one document */
#define LIMIT_YAML_NODES    200000u    /* per file, aliases counted expanded */
#define LIMIT_SCALAR_BYTES  4096u      /* one YAML scalar, one flag value */
#define LIMIT_GRANTS	    20000u     /* allow and deny, all layers */
#define LIMIT_PORTS	    64u	       /* port ranges in one grant */
#define LIMIT_VISIBLE	    256u       /* items of 'visible', all layers */
#define LIMIT_PUBLISHED	    64u	       /* items of 'ports', all layers */
#define LIMIT_MACHINE_PORTS 64u	       /* of 'host', all grants */
#define LIMIT_FIELDS	    8u	       /* of a credential's file */
#define LIMIT_HTTP_RULES    256u       /* rules in one grant */
#define LIMIT_PATTERNS	    4096u      /* ignore plus readonly, all layers */
#define LIMIT_DIRECT	    256u       /* items of upstream.direct */
#define LIMIT_FAST	    64u	       /* folders of masks.fast, all layers */
#define LIMIT_ARGS	    512u       /* docker arguments, all layers */
#define LIMIT_TRACE_EVENTS  1024u      /* events after expansion */
#define LIMIT_CLASSES	    256u       /* distinct port lists */
#define LIMIT_NAME_CLASSES  262144u    /* sets of names that rules tell apart */
#define LIMIT_PAIRS	    262144u /* names and networks looked at together */
/* sets of paths that patterns tell apart; fuzz targets take fewer, as their
 * instruments make a step forty times as long */
#ifndef LIMIT_FILE_STATES
#define LIMIT_FILE_STATES 131072u
#endif
/* places in patterns, for those */
#ifndef LIMIT_FILE_STEPS
#define LIMIT_FILE_STEPS (1u << 27)
#endif
/* of seccomp profiles: entries about one call, and sets of arguments */
#define LIMIT_CALLS_RULES 64u
#define LIMIT_CALLS_STEPS (1u << 22)
#define LIMIT_WITNESSES	  (1u << 23) /* rules looked at to try what is shown */
/* mounts made from one scan: some 0.2 ms each, argv is 6 MiB */
#define LIMIT_MASKS	  24576u
#define LIMIT_PATH_BYTES  4096u	      /* PATH_MAX */
#define LIMIT_NAME_BYTES  253u	      /* RFC 1035, without the last dot */
#define LIMIT_LABEL_BYTES 63u	      /* RFC 1035 */
#define LIMIT_PLAN_FILES  32u	      /* artefacts in one plan */
#define LIMIT_PLAN_BYTES  (64u << 20) /* one artefact */
/* policy.json, which is a policy again: longer than what people write */
#define LIMIT_DERIVED_BYTES (16u << 20)
#define LIMIT_DERIVED_NODES 1000000u
/* what kubectl printed of a cluster: a thousand Pods are some 20 MB */
#define LIMIT_CLUSTER_BYTES (64u << 20)
/* all that a policy is compiled and compared in; a runner may have 512 MiB */
#define LIMIT_MEMORY_BYTES  (384u << 20)
#define LIMIT_HOOK_WORDS    64u	  /* of on_refusal */
#define LIMIT_WAIVERS	    1024u /* of allow_lint, or refused_on_purpose, all layers */
#define LIMIT_TRUST_ENTRIES 512u  /* approvals that are remembered */
#define LIMIT_TRUST_ADDS    64u	  /* texts kept of one of them, twice */
#define LIMIT_TRUST_TEXT    160u  /* bytes kept of one text */
/* all of trust.json: more than the three together can be */
#define LIMIT_TRUST_BYTES (128u << 20)
#define LIMIT_ERRORS	  20u /* diagnostics of error rank shown */
#define LIMIT_WARNINGS	  20u /* and of warnings */

#endif
