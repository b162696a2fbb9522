/*
 * profiles.map: from what HAProxy says about a decision to the id of the grant
 * or denial behind it.
 *
 * Pure. The text is that of compiler/plan/profiles_map.h. Nothing is permitted
 * or refused by this.
 */
#ifndef RUNTIME_GATE_PLAN_PROFILES_H
#define RUNTIME_GATE_PLAN_PROFILES_H

#include "compiler/base/addr.h"
#include "compiler/base/err.h"

struct profiles_line {
	struct str token, pattern, id;
	struct cidr net;
	bool is_net;
};

struct profiles {
	struct profiles_line *v; /* sorted by token, else in their order */
	uint32_t n;
	char *text; /* what they point into; owned */
};

/* -EPROTO for anything else than the text above; nothing is left allocated. */
must_check int profiles_parse(struct str text, struct profiles *out,
			      struct err *err);
void profiles_free(struct profiles *p);
/*
 * Could requests under that name be looked at though nothing grants it? One of
 * the denials is about it, or something is said of addresses, whoever is called
 * there.
 */
bool profiles_minds(const struct profiles *p, struct str name);
/* Empty when no line fits; addr may be NULL. */
struct str profiles_find(const struct profiles *p, struct str token,
			 struct str name, const struct addr *addr);
/* The other way: the token of a rule that is about that name or address. */
struct str profiles_token(const struct profiles *p, struct str id,
			  struct str name, const struct addr *addr);

#endif
