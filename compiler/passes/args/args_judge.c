#include "compiler/passes/args/args_judge.h"

#include "compiler/base/ascii.h"
#include "compiler/ir/docker_mount.h"
#include "compiler/passes/args/parts.h"

#include <stdlib.h>
#include <string.h>

static const struct args_option table[] = {
#define OPTION(id, home, judge, why)                                           \
	[DOCKER_RUN_##id] = {ARG_##home, ARGS_JUDGE_##judge, why},
#include "compiler/passes/args/docker_options.def"
#undef OPTION
};

/* A second line for an option is a warning: as many lines are all options. */
static const char judged[] = {
#define OPTION(id, home, judge, why) 0,
#include "compiler/passes/args/docker_options.def"
#undef OPTION
};
_Static_assert(
	ARRAY_LEN(judged) == DOCKER_RUN_IDS,
	"each option of grammar/docker-run.def has its line in docker_options.def");

const struct args_option *args_option(enum docker_run_id id)
{
	return &table[id];
}

/* --- verdicts ------------------------------------------------------------ */

static struct args_verdict harmless_verdict(void)
{
	return (struct args_verdict){.class = ARG_HARMLESS};
}

static struct args_verdict widening_verdict(void)
{
	return (struct args_verdict){.class = ARG_WIDENING};
}

static struct args_verdict undoing_verdict(const char *why)
{
	return (struct args_verdict){.class = ARG_UNDOING, .why = why};
}

static struct args_verdict ours_verdict(const char *why)
{
	return (struct args_verdict){.class = ARG_OURS, .why = why};
}

static struct args_verdict fault_verdict(enum diag_id id, const char *why)
{
	return (struct args_verdict){
		.class = ARG_OURS, .fault = id, .why = why};
}

static struct args_verdict worse_verdict(struct args_verdict a,
					 struct args_verdict b)
{
	if (b.fault)
		return a.fault ? a : b;
	return b.class > a.class ? b : a;
}

static bool is_unknown(struct str value)
{
	return str_find(value, ARGS_UNKNOWN[0], 0) < value.n;
}

/* --- paths --------------------------------------------------------------- */

static bool has_segment(struct str path, const char *name)
{
	struct str part;

	while (str_field(&path, '/', &part))
		if (str_is(part, name))
			return true;
	return false;
}

static struct str base_name(struct str path)
{
	size_t i = path.n;

	while (i > 0 && path.p[i - 1] != '/')
		i--;
	return str_slice(path, i, path.n);
}

static bool is_engine_socket(struct str path)
{
	static const char *const engines[] = {"docker", "containerd", "podman",
					      "crio", "buildkit"};
	struct str base = base_name(path);

	if (!str_ends(base, STR(".sock")))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(engines); i++)
		if (memmem(base.p, base.n, engines[i], strlen(engines[i])))
			return true;
	return false;
}

/* A folder that holds somebody's home, or is one: ~/.membrane is in it. */
static bool holds_a_home(struct str path)
{
	static const char *const homes[] = {"/home", "/Users", "/var/home"};

	if (str_is(path, "/root") || str_is(path, "/var"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		struct str home = str_of(homes[i]);

		if (docker_mount_within(path, home) &&
		    str_find(path, '/', home.n + 1) >= path.n)
			return true;
	}
	return false;
}

static struct str known_place(struct arena *a, struct str place)
{
	return place.n ? docker_mount_clean(a, place) : place;
}

static const struct hot {
	const char *path;
	const char *why;
} hot[] = {
	{"/proc", "through it the agent reaches the host's processes"},
	{"/sys", "through it the agent reaches the host's kernel settings"},
	{"/dev", "it holds the host's devices"},
	{"/run", "it holds the sockets of the host's services"},
	{"/var/run", "it holds the sockets of the host's services"},
	{"/var/lib/docker", "it holds every container's files"},
	{"/var/lib/containerd", "it holds every container's files"},
	{"/boot", "it holds the host's kernel"},
};

/* As a whole; what lies in them is told apart by whoever approves it. */
static const struct hot whole[] = {
	{"/etc", "it holds the host's configuration and its secrets"},
	{"/usr", "it holds the programs of the host"},
	{"/bin", "it holds the programs of the host"},
	{"/sbin", "it holds the programs of the host"},
	{"/lib", "it holds the programs of the host"},
	{"/lib64", "it holds the programs of the host"},
	{"/tmp", "it holds sockets and files of the host's programs"},
	{"/var/lib", "it holds what the host's services keep"},
	{"/var/spool", "it holds what the host's services will run"},
};

/* A user's own runtime folder holds sockets that are often handed in. */
static bool in_user_runtime(struct str path)
{
	static const char *const roots[] = {"/run/user/", "/var/run/user/"};

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		struct str root = str_of(roots[i]);

		if (str_starts(path, root) &&
		    str_find(path, '/', root.n) < path.n)
			return true;
	}
	return false;
}

static struct args_verdict judge_path(struct arena *a, struct str path,
				      const struct args_places *places)
{
	struct str home = known_place(a, places->home);
	struct str state = known_place(a, places->state);
	struct str workspace = known_place(a, places->workspace);

	if (str_is(path, "/"))
		return undoing_verdict("it is the whole host");
	if (is_engine_socket(path))
		return undoing_verdict(
			"whoever has that socket is root on the host");
	if (docker_mount_within(path, state) ||
	    docker_mount_within(state, path) ||
	    docker_mount_within(home, path) || has_segment(path, ".membrane") ||
	    holds_a_home(path))
		return undoing_verdict(
			"it holds membrane's own folder, and with it the policy of the next session");
	if (docker_mount_within(path, workspace) ||
	    docker_mount_within(workspace, path) ||
	    !strchr("/" ARGS_HOME ARGS_PWD ARGS_STATE, path.p[0]))
		return undoing_verdict(
			"it shows the workspace a second time, without what 'ignore' and 'readonly' say");
	for (size_t i = 0; i < ARRAY_LEN(hot); i++) {
		struct str at = str_of(hot[i].path);

		if (docker_mount_within(at, path) ||
		    (docker_mount_within(path, at) && !in_user_runtime(path)))
			return undoing_verdict(hot[i].why);
	}
	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (str_is(path, whole[i].path))
			return undoing_verdict(whole[i].why);
	return widening_verdict();
}

static struct args_verdict judge_source(struct arena *a, struct str source,
					const struct args_places *places)
{
	struct args_verdict v =
		judge_path(a, docker_mount_clean(a, source), places);

	if (places->resolve)
		v = worse_verdict(
			v, judge_path(a,
				      docker_mount_clean(
					      a, places->resolve(a, source)),
				      places));
	return v;
}

static struct args_verdict judge_target(struct arena *a, struct str target)
{
	struct str path = docker_mount_clean(a, target);

	if (!is_unknown(path) && !(path.n && path.p[0] == '/'))
		return fault_verdict(
			DIAG_ARG_MOUNT,
			"the place in the container must be an absolute path");
	if (str_is(path, "/"))
		return fault_verdict(
			DIAG_ARG_MOUNT,
			"nothing can be mounted on the container's root");
	if (str_is(path, "/workspace") || str_is(path, "/home/agent") ||
	    str_is(path, "/etc/resolv.conf") ||
	    docker_mount_within(path, STR("/etc/membrane")))
		return ours_verdict("membrane mounts that place itself");
	/* Something else is there than in the workspace. */
	return docker_mount_within(path, STR("/workspace"))
		       ? widening_verdict()
		       : harmless_verdict();
}

/* --- mounts -------------------------------------------------------------- */

static struct args_verdict judge_volume(struct arena *a, struct str value,
					const struct args_places *places)
{
	struct args_verdict v = harmless_verdict();
	struct str rest = value, source = {0}, target, option;
	bool bind;

	str_field(&rest, ':', &source);
	if (source.n == value.n) /* an anonymous volume */
		return judge_target(a, value);
	if (!str_field(&rest, ':', &target))
		return fault_verdict(
			DIAG_ARG_MOUNT,
			"no place in the container behind the ':'");
	/* An unknown variable can hold a ':', and anything behind it. */
	if (is_unknown(source))
		return widening_verdict();
	bind = source.n &&
	       strchr("/.~" ARGS_HOME ARGS_PWD ARGS_STATE, source.p[0]);
	if (source.n && source.p[0] == '~')
		return fault_verdict(DIAG_ARG_MOUNT,
				     "docker does not know '~'; write $HOME");
	v = worse_verdict(v, judge_target(a, target));
	/* A volume with a name outlives the session, and has other users. */
	v = worse_verdict(v, bind ? judge_source(a, source, places)
				  : widening_verdict());
	while (str_field(&rest, ',', &option))
		if (docker_mount_shared(option))
			v = worse_verdict(
				v,
				undoing_verdict(
					"a mount made inside would appear on the host"));
	return v;
}

static struct args_verdict judge_mount(struct arena *a, struct str value,
				       const struct args_places *places)
{
	struct args_verdict v;
	struct docker_mount m;

	/* docker reads the first record of several; here there is one. */
	if (str_find(value, '\n', 0) < value.n)
		return fault_verdict(DIAG_ARG_MOUNT, "a line end");
	if (!docker_mount_parse(a, value, &m))
		return fault_verdict(
			DIAG_ARG_MOUNT,
			"not a list of key=value with commas between");
	if (m.strange)
		return fault_verdict(DIAG_ARG_MOUNT,
				     "a key that mounts do not have");
	if (!m.target.n)
		return fault_verdict(DIAG_ARG_MOUNT, "no target");
	v = judge_target(a, m.target);
	if (m.has_driver)
		v = worse_verdict(
			v, undoing_verdict(
				   "a volume driver mounts what it likes"));
	if (m.shared)
		v = worse_verdict(
			v,
			undoing_verdict(
				"a mount made inside would appear on the host"));
	if (is_unknown(value))
		return worse_verdict(v, widening_verdict());
	if (ASCII_IS_ANY(m.type, "bind") && !m.source.n)
		return fault_verdict(DIAG_ARG_MOUNT, "no source");
	if (ASCII_IS_ANY(m.type, "bind"))
		return worse_verdict(v, judge_source(a, m.source, places));
	if (ASCII_IS_ANY(m.type, "tmpfs") ||
	    (ASCII_IS_ANY(m.type, "volume") && !m.source.n))
		return v;
	if (ASCII_IS_ANY(m.type, "volume", "image"))
		return worse_verdict(v, widening_verdict());
	return worse_verdict(
		v, fault_verdict(
			   DIAG_ARG_MOUNT,
			   "a type that is not bind, volume, tmpfs or image"));
}

static struct args_verdict judge_tmpfs(struct arena *a, struct str value)
{
	struct str target = value;

	str_field(&value, ':', &target);
	return judge_target(a, target);
}

/* --- other values -------------------------------------------------------- */

static struct args_verdict judge_security_opt(struct str value)
{
	struct str rest = value, key = {0};
	bool on = true;

	if (is_unknown(value))
		return undoing_verdict(
			"what a variable holds is not known here");
	/* docker takes the old ':' where there is no '=' */
	str_field(&rest, str_find(value, '=', 0) < value.n ? '=' : ':', &key);
	if (str_is(key, "no-new-privileges")) {
		if (rest.n && !docker_run_bool(rest, &on))
			return fault_verdict(DIAG_ARG_VALUE,
					     "neither true nor false");
		return on ? harmless_verdict()
			  : undoing_verdict(
				    "set-user-ID programs would raise the agent's privileges");
	}
	if (str_is(key, "seccomp"))
		return (struct args_verdict){
			.class = ARG_UNDOING,
			.why = "it replaces the filter of system calls",
			.help = "write 'seccomp' under 'hardening'"};
	if (str_is(key, "apparmor") && str_is(rest, "docker-default"))
		return harmless_verdict();
	return undoing_verdict(
		"it lifts what the host's kernel holds against the container");
}

static struct args_verdict judge_ipc(struct str value)
{
	if (ASCII_IS_ANY(value, "none", "private", "shareable"))
		return harmless_verdict();
	return undoing_verdict("it shares memory with processes outside");
}

static struct args_verdict judge_label(struct str value)
{
	if (is_unknown(value) || str_starts(value, STR("membrane.")) ||
	    str_is(value, "membrane"))
		return ours_verdict(
			"labels named membrane.* say which session a container belongs to");
	return widening_verdict(); /* programs on the host act on labels */
}

static struct args_verdict judge_sysctl(struct str value)
{
	if (str_starts(value, STR("net.")) || is_unknown(value))
		return ours_verdict(
			"the network namespace is the gate's, and so are its settings");
	return harmless_verdict();
}

static struct args_verdict judge_env(struct str value)
{
	size_t equals = str_find(value, '=', 0);

	/* A bare name takes the host's value along. */
	if (equals == value.n || args_env_steers(str_slice(value, 0, equals)))
		return widening_verdict();
	return harmless_verdict();
}

/* docker reads the file on the host, in the workspace or anywhere. */
static struct args_verdict judge_env_file(struct arena *a, struct str value,
					  const struct args_places *places)
{
	if (value.n == 0)
		return fault_verdict(DIAG_ARG_VALUE, "no file");
	return is_unknown(value) ? widening_verdict()
				 : judge_source(a, value, places);
}

/* A number that is not 0 in any spelling; names are the image's to map. */
static bool plain_id(struct str id)
{
	uint64_t n;

	return id.n && id.p[0] != '0' && str_u64(id, UINT32_MAX, &n);
}

static struct args_verdict judge_user(struct str value)
{
	struct str name = {0};
	bool has_group = str_find(value, ':', 0) < value.n;

	str_field(&value, ':', &name);
	if (!plain_id(name) || (has_group && !plain_id(value)))
		return widening_verdict();
	return harmless_verdict();
}

static struct args_verdict judge_own_lookups(void)
{
	struct args_verdict v = harmless_verdict();

	v.warning =
		"this is for the gate's own lookups: the agent's only resolver is membrane's";
	v.help = "for the agent write 'dns_resolver'";
	return v;
}

struct args_verdict args_judge(struct arena *a, const struct args_option *o,
			       struct str value,
			       const struct args_places *places)
{
	switch (o->judge) {
	case ARGS_JUDGE_HARMLESS:
	case ARGS_JUDGE_read_only: /* its value: args.c */
		return harmless_verdict();
	case ARGS_JUDGE_WIDENING:
	case ARGS_JUDGE_publish: /* taken apart in args.c */
		return widening_verdict();
	case ARGS_JUDGE_UNDOING:
		return undoing_verdict(o->why);
	case ARGS_JUDGE_OURS:
		return ours_verdict(o->why);
	case ARGS_JUDGE_host_or_private:
		return ASCII_IS_ANY(value, "private") ? harmless_verdict()
						      : undoing_verdict(o->why);
	case ARGS_JUDGE_own_lookups:
		return judge_own_lookups();
	case ARGS_JUDGE_env:
		return judge_env(value);
	case ARGS_JUDGE_env_file:
		return judge_env_file(a, value, places);
	case ARGS_JUDGE_ipc:
		return judge_ipc(value);
	case ARGS_JUDGE_label:
		return judge_label(value);
	case ARGS_JUDGE_mount:
		return judge_mount(a, value, places);
	case ARGS_JUDGE_security_opt:
		return judge_security_opt(value);
	case ARGS_JUDGE_sysctl:
		return judge_sysctl(value);
	case ARGS_JUDGE_tmpfs:
		return judge_tmpfs(a, value);
	case ARGS_JUDGE_user:
		return judge_user(value);
	case ARGS_JUDGE_volume:
		return judge_volume(a, value, places);
	}
	abort();
}
