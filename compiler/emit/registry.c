#include "compiler/emit/docker.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/gate_cfg.h"
#include "compiler/emit/mounts.h"
#include "compiler/emit/names.h"
#include "compiler/emit/nft.h"
#include "compiler/emit/policy_json.h"
#include "compiler/emit/provenance.h"
#include "compiler/emit/trace_json.h"
#include "compiler/emit/tracee.h"

static const struct emitter emitters[] = {
	{"addrs", "addr.map", gate_maps_addrs, gate_cfg_wanted},
	{"certificates", "crt.lst", gate_maps_leaves, gate_cfg_decrypts},
	{"docker", "docker.json", docker_emit, docker_wanted},
	{"gate", "gate.cfg", gate_cfg_emit, gate_cfg_wanted},
	{"hosts", "hosts.map", gate_maps_hosts, gate_cfg_wanted},
	{"lua", "gate.lua", gate_lua_emit, gate_cfg_wanted},
	{"mounts", "mounts.plan", mounts_emit, NULL},
	{"names", "names.map", names_emit, NULL},
	{"nft", "ruleset.nft", nft_emit, NULL},
	{"policy", "policy.json", policy_json_emit, NULL},
	{"profiles", "profiles.map", gate_maps_profiles, gate_cfg_wanted},
	{"provenance", "provenance.json", provenance_emit, NULL},
	{"trace", "trace.json", trace_json_emit, trace_json_wanted},
	{"tracee", "tracee.yaml", tracee_emit, tracee_wanted},
};

const struct emitter *emitter_at(size_t i)
{
	return i < ARRAY_LEN(emitters) ? &emitters[i] : NULL;
}

bool emit_all(const struct emit_in *in, struct plan *out)
{
	struct emit_memo memo = {0};
	struct emit_in with = *in;
	bool ok = true;

	with.memo = &memo;
	for (size_t i = 0; i < ARRAY_LEN(emitters); i++) {
		const struct emitter *e = &emitters[i];
		struct buf text;

		if (e->wanted && !e->wanted(in->policy))
			continue;
		buf_init(&text, in->a);
		if (in->marks)
			in->marks->file = e->file;
		if (e->emit(&with, &text))
			plan_add(in->a, out, str_of(e->file), buf_str(&text));
		else
			ok = false;
	}
	return ok;
}
