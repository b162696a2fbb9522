/*
 * Codex's config.toml: the profile of permissions that it has chosen. A rule of
 * its files is a name with "read", "write" or "deny", one of its network a
 * domain with "allow" or "deny".
 */
#include "compiler/cli/init/parts.h"

#include <errno.h>

#define WRITABLE                                                               \
	"the workspace can be written, but for 'readonly', and of the host nothing else"
#define UNKNOWN "a policy has nothing that says it"

/* --- files ---------------------------------------------------------------- */

static void take_rule(struct from *f, const char *path, const cJSON *access,
		      struct str where)
{
	struct str text = arena_str(f->d->a, str_of(path)), word = STR("");

	if (cJSON_IsString(access))
		word = str_of(access->valuestring);
	if (str_is(word, "deny") || str_is(word, "none"))
		from_path(f, PROPOSAL_IGNORE, FROM_PLAIN, text, where);
	else if (str_is(word, "read"))
		from_path(f, PROPOSAL_READONLY, FROM_PLAIN, text, where);
	else if (str_is(word, "write") && !str_is(text, "."))
		from_unsaid(f, where, text, WRITABLE);
	else if (!str_is(word, "write"))
		from_unsaid(f, where, text,
			    "neither 'read', 'write' nor 'deny'");
}

static void take_rules(struct from *f, const cJSON *rules, struct str where)
{
	const cJSON *rule;

	cJSON_ArrayForEach(rule, rules)
		take_rule(f, rule->string, rule, where);
}

static void take_files(struct from *f, const cJSON *files)
{
	struct str where = STR("filesystem");
	const cJSON *m;

	cJSON_ArrayForEach(m, files) {
		struct str name = arena_str(f->d->a, str_of(m->string));
		bool roots = str_is(name, ":workspace_roots") ||
			     str_is(name, ":project_roots");

		if (roots && cJSON_IsObject(m))
			take_rules(f, m, STR("filesystem.:workspace_roots"));
		else if (roots)
			take_rule(f, ".", m, where);
		else if (str_starts(name, STR(":")))
			from_unsaid(
				f, where, name,
				"the image has files of its own, and of the host there is the workspace alone");
		else if (str_starts(name, STR("/")) ||
			 str_starts(name, STR("~")))
			take_rule(f, m->string, m, where);
		else
			from_unsaid(f, where, name, UNKNOWN);
	}
}

/* --- network -------------------------------------------------------------- */

/* "**.a.test" is that name, and all below it. */
static void take_pattern(struct from *f, enum proposal_key key, struct str text,
			 struct str where)
{
	bool both = str_starts(text, STR("**."));

	if (both)
		from_domain(f, key, str_slice(text, 3, text.n), where);
	from_domain(f, key, both ? str_slice(text, 1, text.n) : text, where);
}

static void take_domains(struct from *f, const cJSON *domains, bool on)
{
	struct str where = STR("network.domains");
	const cJSON *m;

	cJSON_ArrayForEach(m, domains) {
		struct str text = arena_str(f->d->a, str_of(m->string)),
			   word = STR("");

		if (cJSON_IsString(m))
			word = str_of(m->valuestring);
		if (str_is(word, "deny"))
			take_pattern(f, PROPOSAL_DENY, text, where);
		else if (!str_is(word, "allow"))
			from_unsaid(f, where, text,
				    "neither 'allow' nor 'deny'");
		else if (on)
			take_pattern(f, PROPOSAL_ALLOW, text, where);
		else
			from_unsaid(f, where, text,
				    "the network of this profile is off");
	}
}

static void take_network(struct from *f, const cJSON *network)
{
	bool on = cJSON_IsTrue(
		cJSON_GetObjectItemCaseSensitive(network, "enabled"));
	bool named = false;
	const cJSON *m;

	cJSON_ArrayForEach(m, network) {
		struct str name = arena_str(f->d->a, str_of(m->string));

		if (str_is(name, "domains") && cJSON_IsObject(m)) {
			named = true;
			take_domains(f, m, on);
		} else if (str_is(name, "allow_local_binding")) {
			from_unsaid(
				f, STR("network"), name,
				"a session listens as it likes; '-p' shows a port");
		} else if (!str_is(name, "enabled")) {
			from_unsaid(f, STR("network"), name, UNKNOWN);
		}
	}
	if (on && !named)
		from_unsaid(f, STR("network.enabled"), STR(""),
			    "everything: name what is needed");
}

/* --- the profile ---------------------------------------------------------- */

static void take_base(struct from *f, const cJSON *m)
{
	struct str text = STR("");

	if (cJSON_IsString(m))
		text = arena_str(f->d->a, str_of(m->valuestring));
	if (!str_is(text, ":workspace"))
		from_unsaid(
			f, STR("extends"), text,
			str_starts(text, STR(":"))
				? WRITABLE
				: "what it says is not read: add it yourself");
}

static void take_profile(struct from *f, const cJSON *profile)
{
	const cJSON *m;

	cJSON_ArrayForEach(m, profile) {
		struct str name = arena_str(f->d->a, str_of(m->string));

		if (str_is(name, "filesystem") && cJSON_IsObject(m))
			take_files(f, m);
		else if (str_is(name, "network") && cJSON_IsObject(m))
			take_network(f, m);
		else if (str_is(name, "extends"))
			take_base(f, m);
		else if (!str_is(name, "description"))
			from_unsaid(f, name, STR(""), UNKNOWN);
	}
}

/* *out: the chosen one, or the only one; NULL: there is none of this file's. */
static int find_profile(struct from *f, const cJSON *o, const cJSON *all,
			const cJSON **out, struct err *err)
{
	const cJSON *named =
		cJSON_GetObjectItemCaseSensitive(o, "default_permissions");

	*out = all ? all->child : NULL;
	if (!cJSON_IsString(named))
		return *out && (*out)->next
			       ? err_set(err, -EINVAL,
					 "several profiles of permissions, and 'default_permissions' names none")
			       : 0;
	if (named->valuestring[0] == ':') {
		from_unsaid(f, STR("default_permissions"),
			    arena_str(f->d->a, str_of(named->valuestring)),
			    WRITABLE);
		*out = NULL;
		return 0;
	}
	*out = cJSON_GetObjectItemCaseSensitive(all, named->valuestring);
	return *out ? 0
		    : err_set(err, -EINVAL,
			      "there is no profile '%s', which 'default_permissions' names",
			      named->valuestring);
}

int from_codex_profile(struct from *f, const cJSON *o, struct err *err)
{
	const cJSON *all = cJSON_GetObjectItemCaseSensitive(o, "permissions");
	const cJSON *profile, *m;
	int rc;

	if (all && !cJSON_IsObject(all))
		return err_set(err, -EINVAL, "'permissions' is no table");
	rc = find_profile(f, o, all, &profile, err);
	if (rc < 0)
		return rc;
	if (profile && !cJSON_IsObject(profile))
		return err_set(err, -EINVAL,
			       "the profile of permissions is no table");
	take_profile(f, profile);
	cJSON_ArrayForEach(m, all)
		if (m != profile)
			from_unsaid(f, STR("permissions"),
				    arena_str(f->d->a, str_of(m->string)),
				    "not the profile that is chosen");
	return 0;
}

const struct from_row from_codex_rows[] = {
	{"permissions", NULL, NULL},
	{"default_permissions", NULL, NULL},
	{"sandbox_mode", NULL, WRITABLE},
	{"sandbox_workspace_write.network_access", NULL,
	 "it names no domain: name what is needed in 'allow'"},
	{"sandbox_workspace_write.writable_roots", NULL,
	 "'args: [--volume=SRC:DST]' mounts a folder"},
	{"approval_policy", NULL,
	 "'ask' names the destinations that a person is asked about"},
	{NULL, NULL, NULL},
};
