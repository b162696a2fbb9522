#include "runtime/gate/change.h"

#include "compiler/plan/files.h"
#include "runtime/gate/l7/l7_next.h"
#include "runtime/gate/packet/conntrack.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/ruleset.h"

#include <errno.h>

/* --- its beginning ------------------------------------------------------- */

static void forget_next(struct change *c)
{
	generation_free(&c->next);
	l7_plan_free(&c->next_l7);
	c->state = CHANGE_NONE;
}

static int start_next(struct change *c, struct err *err)
{
	int rc;

	if (c->cut && (rc = conntrack_check(err)) < 0)
		return rc;
	if (c->next_l7.wanted && !c->l7->plan.wanted && c->dns->ipv6 &&
	    (rc = link_tproxy_up(err)) < 0)
		return rc;
	if ((rc = ruleset_check_next(c->next.ruleset, err)) < 0)
		return err_while(err, PLAN_RULESET);
	return l7_next_start(c->l7, &c->next_l7, err);
}

int change_begin(struct change *c, uint32_t number, bool cut, int64_t now_ms,
		 struct err *err)
{
	int rc;

	if (c->state != CHANGE_NONE)
		return err_set(err, -EBUSY, "another change is under way");
	rc = generation_load(c->plan, true, c->resolver, &c->next, &c->next_l7,
			     err);
	if (rc < 0)
		return rc;
	c->next.number = c->next_l7.generation = number;
	c->cut = cut;
	rc = start_next(c, err);
	if (rc < 0) {
		forget_next(c);
		return rc;
	}
	c->state = CHANGE_STARTING;
	c->begun_ms = now_ms;
	c->deadline_ms = now_ms + HAPROXY_WAIT_MS;
	return 0;
}

void change_drop(struct change *c)
{
	l7_next_drop(c->l7);
	forget_next(c);
}

/* --- its effect ---------------------------------------------------------- */

/* HAProxy goes past the proxy for as long as an address is a name's: pins.h. */
static int64_t ends_ms(const struct pin *pin, unsigned class)
{
	return class == NAMES_CLASS_PAST ? pin->until_ms
					 : pin->until_ms - PINS_GRACE_MS;
}

/* Open for what a name led to what that name is granted by these tables. */
static void note_pin(struct change *c, const struct names_map *names,
		     const struct pin *pin, int64_t now_ms)
{
	struct names_classes classes;
	struct names_match match;

	if (names_denied(names, str_of(pin->name)))
		return;
	(void)names_match(names, str_of(pin->name), &match);
	/* One that stands in for the name leads nowhere but to a question. */
	if ((!names->proxied || match.past) && c->dns->standins &&
	    standins_name(c->dns->standins, &pin->addr))
		names_only_asked(&match);
	if ((!match.n_lines && !match.ask) ||
	    names_judge(names, &match, c->dns->hosts, &pin->addr, &classes) !=
		    NAMES_OPEN)
		return;
	for (unsigned k = names_class_next(&classes, 1); k;
	     k = names_class_next(&classes, k + 1)) {
		int64_t until_ms = ends_ms(pin, k);

		if (until_ms > now_ms && !nftset_note(c->dns->sets, &pin->addr,
						      (uint16_t)k, until_ms))
			return;
	}
}

/* The packet filter of a plan, with its sets filled. */
static int fill_filter(struct change *c, const struct generation *g,
		       int64_t now_ms, struct err *err)
{
	const struct pins *pins = &c->l7->pins;
	struct arena *a = arena_new();
	struct buf elements;
	int rc;

	nftset_next(c->dns->sets);
	for (uint32_t i = 0; i < pins->n_ever; i++)
		if (pins->v[i].name[0])
			note_pin(c, &g->names, &pins->v[i], now_ms);
	buf_init(&elements, a);
	ruleset_hosts_text(g->ruleset, c->dns->hosts, &elements);
	nftset_text(c->dns->sets, now_ms, &elements);
	rc = ruleset_replace(g->ruleset, buf_str(&elements), err);
	if (rc == 0)
		nftset_take(c->dns->sets);
	arena_free(a);
	return rc < 0 ? err_while(err, PLAN_RULESET) : 0;
}

/* -ECANCELED: nothing has changed. */
static int swap_filter(struct change *c, int64_t now_ms, struct err *err)
{
	struct err why;
	int rc = fill_filter(c, &c->next, now_ms, err);

	if (rc == 0)
		return 0;
	/* Where there are no rules any more, the old ones again. */
	if (rc != -EINVAL && fill_filter(c, c->now, now_ms, &why) < 0) {
		err_while(&why, "after '%s': the rules before", err->text);
		*err = why;
		return rc == -ECANCELED ? -EPROTO : rc;
	}
	return -ECANCELED;
}

static int apply_next(struct change *c, int64_t now_ms, struct err *err)
{
	int rc = c->settle(c->data, err);

	if (rc == 0)
		rc = swap_filter(c, now_ms, err);
	if (rc < 0)
		return rc;
	generation_free(c->now);
	*c->now = c->next;
	c->next = (struct generation){0};
	dns_gate_changed(c->dns);
	l7_next_take(c->l7, &c->next_l7, c->cut, now_ms);
	c->state = CHANGE_CUTTING;
	c->on_applied(c->data, now_ms);
	return 0;
}

static int cancel_change(struct change *c, struct err *err)
{
	change_drop(c);
	err->code = -ECANCELED;
	return -ECANCELED;
}

static int try_apply(struct change *c, int64_t now_ms, struct err *err)
{
	int rc = l7_next_ready(c->l7, &c->next_l7, err);

	if (rc == 0 && now_ms >= c->deadline_ms)
		rc = err_set(err, -ETIMEDOUT, "HAProxy does not begin");
	if (rc < 0)
		return cancel_change(c, err);
	if (rc == 0)
		return 0;
	rc = apply_next(c, now_ms, err);
	return rc == -ECANCELED ? cancel_change(c, err) : rc;
}

int change_step(struct change *c, int64_t now_ms, struct err *err)
{
	int rc;

	switch (c->state) {
	case CHANGE_NONE:
		return 0;
	case CHANGE_STARTING:
		rc = try_apply(c, now_ms, err);
		if (c->state != CHANGE_CUTTING)
			return rc;
		break;
	case CHANGE_CUTTING:
		break;
	}
	if (l7_next_cutting(c->l7))
		return 0;
	/* Now: the clients of HAProxy have heard of the end of theirs. */
	if (c->cut && (rc = conntrack_forget(err)) < 0)
		return rc;
	c->state = CHANGE_NONE;
	return 1;
}

int change_wait_ms(const struct change *c)
{
	return c->state == CHANGE_NONE ? -1 : CHANGE_POLL_MS;
}
