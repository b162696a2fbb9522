/*
 * provenance.json: from the id of a grant or a denial to where it was written.
 * And from a line of mounts.plan: by the word that it begins with, in the order
 * of those that do. Written by compiler/emit/provenance.c, read by
 * runtime/gate/record/provenance.c, runtime/launch/view/written.c, and by
 * places.c of the emitters.
 *
 *	{"version": 1, "rules": {"g-0123456789": {"text": …, "layer": …,
 *	 "source": ".membrane.yaml", "line": 3, "column": 5}, …},
 *	 "files": {"ignore": ["builtin:29:6", …], "readonly": […], "hold": […],
 *	 "protect": […] where there are any},
 *	 "fields": {"pod.yaml": {"spec.containers[0].image":
 *	  [".membrane.yaml:2:8", …], …}, …} of Kubernetes' manifests: each that a
 *	  line of the policy or an option ("--gate-image") made; what is below
 *	  it is by the same}
 */
#ifndef COMPILER_PLAN_PROVENANCE_JSON_H
#define COMPILER_PLAN_PROVENANCE_JSON_H

#define PROVENANCE_VERSION_KEY "version"
#define PROVENANCE_VERSION     1
#define PROVENANCE_RULES       "rules"
#define PROVENANCE_FILES       "files"
#define PROVENANCE_FIELDS      "fields"
#define PROVENANCE_TEXT	       "text"
#define PROVENANCE_LAYER       "layer"
#define PROVENANCE_SOURCE      "source"
#define PROVENANCE_LINE	       "line"
#define PROVENANCE_COLUMN      "column"

#endif
