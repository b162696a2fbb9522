/*
 * What a session did, held against a policy: what that would refuse, and which
 * of its grants nothing used.
 */
#ifndef COMPILER_CLI_ACCOUNT_REPLAY_H
#define COMPILER_CLI_ACCOUNT_REPLAY_H

#include "compiler/cli/account/activity.h"
#include "compiler/cli/explain/explain_model.h"
#include "compiler/cli/text/view.h"

/* Deeds alike: one destination, or one path, and one reason. */
struct replay_item {
	struct str text;	/* "api.x.test:443", "POST https://…" */
	enum reason reason;	/* now, or then for what is lifted */
	const struct act *deed; /* the first of them */
	uint64_t n;
	bool has_rule;
	struct explain_rule rule; /* what decides it, or came nearest */
};
typedef VEC(struct replay_item) replay_items;

struct replay {
	struct arena *a;
	struct compilation *c;	    /* the policy */
	struct str policy, session; /* as people call them; cleaned */
	const struct activity *deeds;
	replay_items refused; /* done then, and would not be any more */
	replay_items lifted;  /* refused then, and would be permitted */
	replay_items asked;   /* neither: somebody would be asked */
	uint64_t permitted, still_refused; /* different ones */
	VEC(const struct ir_grant *) unused;
};

/* r->a, c, policy, session and deeds (sorted) are set; c->ok. */
void replay_make(struct replay *r);
void replay_view(const struct view *v, const struct replay *r);
struct str replay_json(const struct replay *r);

#endif
