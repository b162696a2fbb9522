#include "compiler/cli/traces/trace_flows.h"

#include "compiler/base/hash.h"
#include "compiler/base/json.h"

#include <stdio.h>
#include <stdlib.h>

#define SLOTS	 4096u /* one that is taken twice forgets the first */
#define PORTS	 (UINT16_MAX + 1u)
#define KEY_MAX	 320u /* a name and a port */

/* Whose address one is: what a resolver said of it last. */
struct named {
	struct kept addr, name;
	unsigned port; /* that somebody went to, before it had a name; 0 */
};

/* Who had a port of its own last, and to which it went. */
struct owner {
	struct flow by;
	unsigned port; /* 0: nobody */
};

struct flows {
	struct named named[SLOTS];
	struct flow flow[SLOTS];
	struct owner owner[PORTS];
};

struct flows *flows_new(void)
{
	struct flows *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	return f;
}

static void done_flow(struct flow *x)
{
	kept_done(&x->to);
	kept_done(&x->comm);
}

void flows_free(struct flows *f)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		kept_done(&f->named[i].addr);
		kept_done(&f->named[i].name);
		done_flow(&f->flow[i]);
	}
	for (unsigned i = 0; i < PORTS; i++)
		done_flow(&f->owner[i].by);
	free(f);
}

/* --- names ---------------------------------------------------------------- */

static unsigned named_at(struct str addr)
{
	return (unsigned)(hash64_bytes(HASH64_SEED, addr.p, addr.n) % SLOTS);
}

/* The next of " 192.0.2.1  192.0.2.2 ". */
static bool next_address(struct str *rest, struct str *out)
{
	do
		if (!str_field(rest, ' ', out))
			return false;
	while (out->n == 0);
	return true;
}

struct str flows_name(const struct flows *f, struct str addresses)
{
	const struct named *n;
	struct str addr;

	if (!next_address(&addresses, &addr))
		return STR("");
	n = &f->named[named_at(addr)];
	return str_eq(kept_str(&n->addr), addr) ? kept_str(&n->name) : STR("");
}

/* --- by where it goes ----------------------------------------------------- */

static unsigned flow_at(struct str whom, unsigned port)
{
	uint64_t h = hash64_bytes(HASH64_SEED, whom.p, whom.n);

	return (unsigned)(hash64_step(h, port) % SLOTS);
}

static struct str flow_key(struct str whom, unsigned port, char buf[KEY_MAX])
{
	int n = snprintf(buf, KEY_MAX, "%.*s %u", STR_ARG(whom), port);

	return (struct str){buf, n > 0 && n < (int)KEY_MAX ? (size_t)n : 0};
}

static bool goes_to(const struct flow *x, struct str whom, unsigned port)
{
	char buf[KEY_MAX];
	struct str key = flow_key(whom, port, buf);

	return key.n && str_eq(kept_str(&x->to), key);
}

static void set_flow(struct flow *x, struct str whom, unsigned port,
		     const struct flow *by)
{
	char buf[KEY_MAX];

	kept_set(&x->to, flow_key(whom, port, buf));
	kept_set(&x->comm, kept_str(&by->comm));
	x->pid = by->pid;
	x->host_pid = by->host_pid;
	x->depth = by->depth;
}

static void learn_flow(struct flows *f, struct str whom, unsigned port,
		       const struct flow *by)
{
	struct flow *x = &f->flow[flow_at(whom, port)];

	if (x != by)
		set_flow(x, whom, port, by);
}

/* An answer may be told after what was done with it. */
void flows_learn_names(struct flows *f, struct str name, struct str addresses)
{
	struct str addr;

	while (next_address(&addresses, &addr)) {
		struct named *n = &f->named[named_at(addr)];
		const struct flow *from = &f->flow[flow_at(addr, n->port)];

		if (n->port && str_eq(kept_str(&n->addr), addr) &&
		    goes_to(from, addr, n->port))
			learn_flow(f, name, n->port, from);
		kept_set(&n->addr, addr);
		kept_set(&n->name, name);
		n->port = 0;
	}
}

static void learn_by_name(struct flows *f, struct str addr, unsigned port,
			  const struct flow *by)
{
	struct named *n = &f->named[named_at(addr)];

	if (n->name.n && str_eq(kept_str(&n->addr), addr)) {
		learn_flow(f, kept_str(&n->name), port, by);
		return;
	}
	kept_set(&n->addr, addr);
	kept_set(&n->name, STR(""));
	n->port = port;
}

void flows_learn(struct flows *f, const struct trace_event *e, struct str comm,
		 unsigned depth)
{
	struct trace_object o = trace_object(e);
	struct flow by = {.pid = e->pid, .host_pid = e->host_pid,
			  .depth = depth};
	int64_t own = trace_number(e, "local_port", 0);

	if (o.port == 0)
		return;
	kept_set(&by.comm, comm);
	if (own > 0 && own < (int64_t)PORTS) {
		set_flow(&f->owner[own].by, o.addr, o.port, &by);
		f->owner[own].port = o.port;
	}
	learn_flow(f, o.addr, o.port, &by);
	learn_by_name(f, o.addr, o.port, &by);
	done_flow(&by);
}

/* --- whom a decision is about --------------------------------------------- */

const struct flow *flows_find(const struct flows *f, const cJSON *d)
{
	unsigned port = (unsigned)json_find_u64(d, "port", UINT16_MAX);
	uint64_t own = json_find_u64(d, "sport", UINT16_MAX);
	const struct str ends[] = {json_find_str(d, "addr"),
				   json_find_str(d, "name")};

	if (port && own && f->owner[own].port == port)
		return &f->owner[own].by;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const struct flow *x = &f->flow[flow_at(ends[i], port)];

		if (port && ends[i].n && goes_to(x, ends[i], port))
			return x;
	}
	return NULL;
}
