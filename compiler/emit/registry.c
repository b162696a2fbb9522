/* The table of emitters, one for each artefact. */
#include "compiler/emit/docker/docker.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/emit/git/git_files.h"
#include "compiler/emit/git/known_hosts.h"
#include "compiler/emit/native/native.h"
#include "compiler/emit/parts.h"
#include "compiler/emit/nft/nft.h"
#include "compiler/emit/trace/trace_json.h"
#include "compiler/emit/trace/tracee.h"
#include "compiler/plan/files.h"

static const struct emitter emitters[] = {
	{"addrs", PLAN_ADDRS, gate_maps_addrs, gate_cfg_wanted, false},
	{"certificates", PLAN_LEAVES, gate_maps_leaves, gate_cfg_decrypts,
	 false},
	{"docker", PLAN_DOCKER, docker_emit, docker_wanted, false},
	{"gate", PLAN_GATE, gate_cfg_emit, gate_cfg_wanted, false},
	{"git", PLAN_GIT, git_config_emit, NULL, true},
	{"git-attributes", PLAN_GIT_ATTRIBUTES, git_attributes_emit,
	 git_files_wanted, true},
	{"git-exclude", PLAN_GIT_EXCLUDE, git_exclude_emit, git_files_wanted,
	 true},
	{"hosts", PLAN_HOSTS, gate_maps_hosts, gate_cfg_wanted, false},
	{"known-hosts", PLAN_KNOWN_HOSTS, known_hosts_emit, known_hosts_wanted,
	 true},
	{"lua", PLAN_LUA, gate_lua_emit, gate_cfg_wanted, false},
	{"mounts", PLAN_MOUNTS, mounts_emit, NULL, false},
	{"names", PLAN_NAMES, names_emit, NULL, false},
	{"native", PLAN_NATIVE, native_emit, native_wanted, false},
	{"nft", PLAN_RULESET, nft_emit, NULL, false},
	{"policy", PLAN_POLICY, policy_json_emit, NULL, true},
	{"profiles", PLAN_PROFILES, gate_maps_profiles, gate_cfg_wanted, false},
	{"provenance", PLAN_PROVENANCE, provenance_emit, NULL, true},
	{"readme", PLAN_README, readme_emit, NULL, true},
	{"seccomp", PLAN_SECCOMP, seccomp_emit, seccomp_wanted, true},
	{"trace", PLAN_TRACE, trace_json_emit, trace_json_wanted, false},
	{"tracee", PLAN_TRACEE, tracee_emit, tracee_wanted, false},
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
