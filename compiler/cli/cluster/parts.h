/*
 * What the files of this room share: a cluster's objects, as kubectl printed
 * them, held against the manifests of a plan as trees.
 */
#ifndef COMPILER_CLI_CLUSTER_PARTS_H
#define COMPILER_CLI_CLUSTER_PARTS_H

#include "compiler/base/json.h"
#include "compiler/cli/text/view.h"
#include "compiler/emit/kubernetes/kube.h"

/* --- defaults.c ----------------------------------------------------------- */

/* The place below a key of a map, or (key "[]") of a list's items. */
const char *default_below(struct arena *a, const char *place, const char *key);
/* May that field be there, with that value, where a plan has none? */
bool default_holds(const char *place, const cJSON *member);
/* Is there a row of a map's fields, or of maps in it? */
bool default_known(const char *place);
/* Does a server leave that out: for it is nothing, or not known there yet? */
bool default_left_out(const char *place, const struct kube_node *node);
/* The member by which a list's items are told apart; NULL: by their order. */
const char *default_items(const char *place);

/* --- compare.c ------------------------------------------------------------ */

#define CLUSTER_SHOWN 240u /* columns of a value that is shown */

/* One place at which they are not the same. */
struct cluster_diff {
	struct str path;
	struct str cluster, plan; /* JSON, cut; empty: there is nothing */
	uint32_t line;		  /* of a text of many, else 0 */
	const struct kube_node *by; /* that with causes; NULL: no line says it */
};
typedef VEC(struct cluster_diff) cluster_diffs;

/* root: the place of the object: its kind, "made" or "pooled". */
void cluster_compare(struct arena *a, const struct kube_node *plan,
		     const cJSON *object, const char *root, cluster_diffs *out);

/* --- state.c -------------------------------------------------------------- */

typedef VEC(const cJSON *) cluster_items;

struct cluster_state {
	VEC(cJSON *) documents;
	cluster_items items; /* each object, out of its list */
};
/* Documents of JSON, each an object or a List. -EINVAL: why. state_done() in
 * any case. */
must_check int state_parse(struct arena *a, struct str text,
			   struct cluster_state *out, struct err *err);
void state_done(struct cluster_state *s);
/* Of what state_parse() took: its kind and name are there. */
struct str state_kind(const cJSON *object);
struct str state_name(const cJSON *object);
struct str state_namespace(const cJSON *object);
struct str state_label(const cJSON *object, const char *label);

/* --- made.c --------------------------------------------------------------- */

struct cluster;

/* One object of the plan's, and what comes of it. */
struct cluster_part {
	const struct kube_node *object;
	/* The Pods that come of it, as one; itself, where it is one; NULL: none
	 * do. */
	const struct kube_node *pod;
	/* Of a pool's template, its sandboxes, as one; else NULL. */
	const struct kube_node *sandbox;
};
/* In c->parts, what is in c->plan; and of a pool's sandboxes, which are there. */
void made_begin(struct cluster *c, const struct cluster_state *s);
/* The part that a Pod or a Sandbox comes of, by its owner; or NULL. */
const struct cluster_part *made_of(const struct cluster *c, const cJSON *o);
/* As what it is to be held against then, and the place of that. */
const struct kube_node *made_as(const struct cluster_part *part,
				const cJSON *o, const char **out_root);
struct str part_kind(const struct cluster_part *part);
struct str part_name(const struct cluster_part *part);
struct str part_label(const struct kube_node *object, const char *label);

/* --- besides.c ------------------------------------------------------------ */

/* Is it a NetworkPolicy, or Cilium's, that lets something through, and may be
 * about this plan's Pods? They add up. */
bool besides_widens(const struct cluster *c, const cJSON *o);

/* --- find.c --------------------------------------------------------------- */

enum cluster_end {
	CLUSTER_SAME,
	CLUSTER_DIFFERS,
	CLUSTER_MISSING,
	CLUSTER_STRAY, /* it says that it is of this, and is not */
};

struct cluster_object {
	enum cluster_end end;
	struct str kind, ns, name;
	const char *why; /* of a stray */
	cluster_diffs diffs;
	/* Of a Pod, else NULL: what its gate does, and how many of its
	 * containers run an image whose digest is known, or is not. */
	const char *gate;
	uint32_t proved, unproved;
};

struct cluster {
	struct arena *a;
	struct str state; /* whose name, for people */
	struct str name;  /* --name */
	struct kube_objects plan;
	VEC(struct cluster_part) parts;
	/* A pool's, that are there, as "NAMESPACE/NAME", sorted. */
	VEC(struct str) sandboxes;
	VEC(struct cluster_object) objects;
	uint32_t pods; /* of the plan's, that are there */
	bool same;
};
/* c->a, name and plan are there. */
void cluster_find(struct cluster *c, const struct cluster_state *s);

/* --- status.c ------------------------------------------------------------- */

/* What the node says of a Pod that runs, and of its images. */
void cluster_status(struct arena *a, const struct kube_node *spec,
		    const cJSON *pod, struct cluster_object *out);

/* --- cluster_view.c ------------------------------------------------------- */

void cluster_view(const struct view *v, const struct cluster *c);
struct str cluster_json(const struct cluster *c);

#endif
