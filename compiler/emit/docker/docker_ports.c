/*
 * Ports in docker.json that the launcher opens ways to: those of the machine
 * that runs membrane, 'host', and those inside that it publishes.
 */
#include "compiler/emit/docker/parts.h"

#include "compiler/base/limits.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/published.h"
#include "compiler/ir/text.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/gate.h"

#include <stdlib.h>

static ir_ports machine_ports(const struct emit_in *in)
{
	ir_ports all = {0};

	vec_each(g, &in->policy->allow)
		if (ir_dest_machine(&g->dest))
			vec_each(p, &g->ports)
				*vec_push(in->a, &all) = *p;
	ports_normalise(&all);
	return all;
}

/* The gate listens there on all of its addresses: HAProxy does. */
static bool is_gate_port(const struct emit_in *in, const struct ir_port *p)
{
	static const uint16_t own[] = {GATE_PORT_RAW, GATE_PORT_HTTP,
				       GATE_PORT_NETS, GATE_PORT_ASK};

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		if (own[i] < p->lo || own[i] > p->hi)
			continue;
		diag_error(in->diags, DIAG_MACHINE, p->at,
			   "port %u of 'host' is one of the gate's own",
			   own[i]);
		diag_help(in->diags, "let the program listen at another port");
		return true;
	}
	return false;
}

/* The way in is by the namespace that gate and agent share then. */
static bool check_published(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;

	if (p->ports.n == 0 || ir_runtime_is_runc(p))
		return true;
	diag_error(
		in->diags, DIAG_PUBLISHED, p->ports.v[0].from.at,
		"'ports' needs the runtime 'runc': with '%s' the agent's loopback is out of reach",
		ir_runtime_name(p->runtime.v));
	diag_help(
		in->diags,
		"let the program listen on all addresses, and write 'args: [--publish, \"127.0.0.1:PORT:PORT\"]'");
	return false;
}

bool docker_ports_check(const struct emit_in *in)
{
	ir_ports all = machine_ports(in);
	uint32_t n = 0;

	if (!check_published(in))
		return false;
	vec_each(p, &all) {
		if (is_gate_port(in, p))
			return false;
		n += p->hi - p->lo + 1u;
		if (n <= LIMIT_MACHINE_PORTS)
			continue;
		diag_error(in->diags, DIAG_MACHINE, p->at,
			   "more than %u ports of 'host'", LIMIT_MACHINE_PORTS);
		diag_help(in->diags, "grant those that are used");
		return false;
	}
	return true;
}

void docker_ports_mount(struct argv *w)
{
	if (machine_ports(w->in).n)
		argv_put(
			w,
			"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_PORTS_SOCKET
			",target=" GATE_PORTS ",readonly");
	if (w->in->policy->ports.n)
		argv_put(
			w,
			"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_PUBLISHED_SOCKET
			",target=" GATE_PUBLISHED ",readonly");
}

static void put_published(const struct emit_in *in, cJSON *root)
{
	cJSON *list;

	if (in->policy->ports.n == 0)
		return;
	list = json_array();
	vec_each(t, &in->policy->ports) {
		char text[ADDR_TEXT_MAX];
		struct ir_published p;
		cJSON *o = json_object();

		if (published_parse(t->s, &p))
			abort(); /* bound, or of a policy.json that was */
		json_put_cstr(o, DOCKER_JSON_ADDR, addr_text(&p.addr, text));
		json_put(o, DOCKER_JSON_PORT, cJSON_CreateNumber(p.port));
		json_put(o, DOCKER_JSON_TO, cJSON_CreateNumber(p.to));
		json_push(list, o);
	}
	json_put(root, DOCKER_JSON_PUBLISHED, list);
}

void docker_ports_put(const struct emit_in *in, cJSON *root)
{
	ir_ports all = machine_ports(in);
	cJSON *list;

	put_published(in, root);
	if (all.n == 0)
		return;
	list = json_array();
	vec_each(p, &all)
		for (unsigned n = p->lo; n <= p->hi; n++)
			json_push(list, cJSON_CreateNumber(n));
	json_put(root, DOCKER_JSON_HOST_PORTS, list);
}
