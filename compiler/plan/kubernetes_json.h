/*
 * kubernetes.json: what the gate of a Pod reads in the place of docker.json,
 * with the words of that; and the words of its command line there. Written by
 * compiler/emit/kubernetes/, read by runtime/gate/plan/planfile.c.
 *
 *	{"version": 1, "engine": "kubernetes", "link": "wire",
 *	 "published": [{"to": 8080}, …] where there are any}
 *
 * or, where the gate is in a Pod of its own, "link": "apart" and
 *
 *	 "addresses": ["10.96.0.53", …], one of each family at most: the gate's,
 *	              which granted names lead to
 */
#ifndef COMPILER_PLAN_KUBERNETES_JSON_H
#define COMPILER_PLAN_KUBERNETES_JSON_H

#define KUBERNETES_JSON_ENGINE "kubernetes"

/* The label of all that belongs to one plan: the first part of its digest. */
#define KUBE_PLAN_LABEL "membrane/plan"

#define KUBERNETES_JSON_GATE	"/membrane-gate"
#define KUBERNETES_JSON_FENCE	"--fence"
#define KUBERNETES_JSON_READY	"--ready"
#define KUBERNETES_JSON_LINK	"--link"
#define KUBERNETES_JSON_WIRE	"wire"
#define KUBERNETES_JSON_APART	"apart"
#define KUBERNETES_JSON_ADDRESSES "addresses"
#define KUBERNETES_JSON_PLAN	"--plan"
#define KUBERNETES_JSON_DIGEST	"--digest"
#define KUBERNETES_JSON_SECRETS "--secrets"
#define KUBERNETES_JSON_ROOTS	"--roots"
#define KUBERNETES_JSON_SESSION "MEMBRANE_SESSION"
#define KUBERNETES_JSON_HOSTS	"MEMBRANE_HOSTS"

#endif
