#include "compiler/emit/docker/docker.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/emit/mounts.h"
#include "compiler/emit/names.h"
#include "compiler/emit/nft/nft.h"
#include "compiler/emit/policy_json.h"
#include "compiler/emit/provenance.h"
#include "compiler/emit/trace/trace_json.h"
#include "compiler/emit/trace/tracee.h"

static const struct emitter emitters[] = {
	{"addrs", "addr.map", gate_maps_addrs, gate_cfg_wanted, false},
	{"certificates", "crt.lst", gate_maps_leaves, gate_cfg_decrypts, false},
	{"docker", "docker.json", docker_emit, docker_wanted, false},
	{"gate", "gate.cfg", gate_cfg_emit, gate_cfg_wanted, false},
	{"hosts", "hosts.map", gate_maps_hosts, gate_cfg_wanted, false},
	{"lua", "gate.lua", gate_lua_emit, gate_cfg_wanted, false},
	{"mounts", "mounts.plan", mounts_emit, NULL, false},
	{"names", "names.map", names_emit, NULL, false},
	{"nft", "ruleset.nft", nft_emit, NULL, false},
	{"policy", "policy.json", policy_json_emit, NULL, true},
	{"profiles", "profiles.map", gate_maps_profiles, gate_cfg_wanted,
	 false},
	{"provenance", "provenance.json", provenance_emit, NULL, true},
	{"seccomp", SECCOMP_FILE, seccomp_emit, seccomp_wanted, true},
	{"trace", "trace.json", trace_json_emit, trace_json_wanted, false},
	{"tracee", "tracee.yaml", tracee_emit, tracee_wanted, false},
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

		if ((e->wanted && !e->wanted(in->policy)) ||
		    (e->takes_all && in->unwritten))
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
