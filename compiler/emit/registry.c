/* The table of emitters, one for each artefact. */
#include "compiler/emit/docker/docker.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/emit/git/git_files.h"
#include "compiler/emit/git/known_hosts.h"
#include "compiler/emit/native/native.h"
#include "compiler/emit/kubernetes/kube.h"
#include "compiler/emit/nft/nft.h"
#include "compiler/emit/parts.h"
#include "compiler/emit/trace/trace_json.h"
#include "compiler/emit/trace/tracee.h"
#include "compiler/plan/files.h"

#include <stdlib.h>

static const struct emitter emitters[] = {
	{"addrs", PLAN_ADDRS, gate_maps_addrs, gate_cfg_wanted, false,
	 EMIT_FOR_ALL},
	{"admission", PLAN_ADMISSION, kube_admission_emit, NULL, false,
	 EMIT_FOR_WIRE},
	{"certificates", PLAN_LEAVES, gate_maps_leaves, gate_cfg_decrypts,
	 false, EMIT_FOR_ALL},
	{"ciliumnetworkpolicy", PLAN_CILIUM, kube_cilium_emit, NULL, false,
	 EMIT_FOR_CILIUM},
	{"configmap", PLAN_CONFIGMAP, kube_configmap_emit, NULL, false,
	 EMIT_FOR_PLAN},
	{"docker", PLAN_DOCKER, docker_emit, docker_wanted, false,
	 EMIT_FOR_MACHINE},
	{"gate", PLAN_GATE, gate_cfg_emit, gate_cfg_wanted, false,
	 EMIT_FOR_ALL},
	{"gate-pod", PLAN_GATE_POD, kube_gate_emit, NULL, false,
	 EMIT_FOR_APART},
	{"git", PLAN_GIT, git_config_emit, NULL, true, EMIT_FOR_MACHINE},
	{"git-attributes", PLAN_GIT_ATTRIBUTES, git_attributes_emit,
	 git_files_wanted, true, EMIT_FOR_MACHINE},
	{"git-exclude", PLAN_GIT_EXCLUDE, git_exclude_emit, git_files_wanted,
	 true, EMIT_FOR_MACHINE},
	{"hosts", PLAN_HOSTS, gate_maps_hosts, gate_cfg_wanted, false,
	 EMIT_FOR_ALL},
	{"known-hosts", PLAN_KNOWN_HOSTS, known_hosts_emit, known_hosts_wanted,
	 true, EMIT_FOR_MACHINE},
	{"kubernetes", PLAN_KUBERNETES, kube_json_emit, NULL, false,
	 EMIT_FOR_KUBERNETES},
	{"kustomization", PLAN_KUSTOMIZATION, kube_kustomization_emit, NULL,
	 false, EMIT_FOR_PLAN},
	{"lua", PLAN_LUA, gate_lua_emit, gate_cfg_wanted, false, EMIT_FOR_ALL},
	{"mounts", PLAN_MOUNTS, mounts_emit, NULL, false, EMIT_FOR_MACHINE},
	{"names", PLAN_NAMES, names_emit, NULL, false, EMIT_FOR_ALL},
	{"native", PLAN_NATIVE, native_emit, native_wanted, false,
	 EMIT_FOR_MACHINE},
	{"networkpolicy", PLAN_NETWORKPOLICY, kube_network_emit, NULL, false,
	 EMIT_FOR_PLAN},
	{"nft", PLAN_RULESET, nft_emit, NULL, false, EMIT_FOR_FILTER},
	{"pod", PLAN_POD, kube_pod_emit, NULL, false, EMIT_FOR_PLAN},
	{"policy", PLAN_POLICY, policy_json_emit, NULL, true, EMIT_FOR_ALL},
	{"profiles", PLAN_PROFILES, gate_maps_profiles, gate_cfg_wanted, false,
	 EMIT_FOR_ALL},
	{"provenance", PLAN_PROVENANCE, provenance_emit, NULL, true,
	 EMIT_FOR_ALL},
	{"readme", PLAN_README, readme_emit, NULL, true, EMIT_FOR_ALL},
	{"seccomp", PLAN_SECCOMP, seccomp_emit, seccomp_wanted, true,
	 EMIT_FOR_ALL},
	{"trace", PLAN_TRACE, trace_json_emit, trace_json_wanted, false,
	 EMIT_FOR_MACHINE},
	{"tracee", PLAN_TRACEE, tracee_emit, tracee_wanted, false,
	 EMIT_FOR_MACHINE},
};

const struct emitter *emitter_at(size_t i)
{
	return i < ARRAY_LEN(emitters) ? &emitters[i] : NULL;
}

/* Those that read what the others wrote come behind them. */
static bool is_due(const struct emit_in *in, const struct emitter *e, bool late)
{
	if ((e->wanted && !e->wanted(in->policy)) ||
	    (e->takes_all && in->unwritten))
		return false;
	switch (e->target) {
	case EMIT_FOR_ALL:
		return !late;
	case EMIT_FOR_FILTER:
		return !late && !in->apart;
	case EMIT_FOR_MACHINE:
		return !late && !in->kubernetes;
	case EMIT_FOR_KUBERNETES:
		return !late && in->kubernetes;
	case EMIT_FOR_PLAN:
		return late && in->kubernetes;
	case EMIT_FOR_WIRE:
		return late && in->kubernetes && !in->apart;
	case EMIT_FOR_APART:
		return late && in->apart;
	case EMIT_FOR_CILIUM:
		return late && in->kubernetes && in->kubernetes->cilium;
	}
	abort();
}

static bool emit_due(struct emit_in *in, struct plan *out, bool late)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_LEN(emitters); i++) {
		const struct emitter *e = &emitters[i];
		struct buf text;

		if (!is_due(in, e, late))
			continue;
		buf_init(&text, in->a);
		if (in->marks)
			in->marks->file = e->file;
		if (e->emit(in, &text))
			plan_add(in->a, out, str_of(e->file), buf_str(&text));
		else
			ok = false;
	}
	return ok;
}

bool emit_all(const struct emit_in *in, struct plan *out)
{
	struct emit_memo memo = {0};
	struct emit_in with = *in;

	with.memo = &memo;
	with.made = out;
	with.apart = kube_apart(in);
	return emit_due(&with, out, false) && emit_due(&with, out, true);
}
