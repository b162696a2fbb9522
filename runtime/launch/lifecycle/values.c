/*
 * What the vectors of the plan are filled with: who the agent is, where it
 * works, what it is given.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/native_json.h"
#include "runtime/launch/home.h"
#include "runtime/launch/inside/inside.h"
#include "runtime/launch/resolvers.h"
#include "runtime/launch/session/metadata.h"
#include "runtime/launch/tokens/tokens.h"
#include "runtime/launch/workspace/workspaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *from_environment(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

int values_read_plan(struct launch *l, struct err *err)
{
	const char *name = l->o.native ? PLAN_NATIVE : PLAN_DOCKER;
	const struct plan_file *f = plan_file(l->o.plan, name);

	if (!f)
		return err_set(err, -EPROTO, "the plan has no %s", name);
	return vectors_parse(l->a, f->data, &l->vectors, err);
}

static bool has_terminal(const struct launch *l)
{
	return l->o.keeper ? l->o.keeper->stage.tty
			   : isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

const char *values_engine(const struct launch *l)
{
	return l->vectors.native ? NATIVE_JSON_NATIVE : DOCKER_JSON_DOCKER;
}

int values_note(const struct launch *l, const char *also, struct err *err)
{
	const struct keeper *k = l->o.keeper;
	struct metadata_streams streams = {
		.kept = k != NULL,
		.tty = has_terminal(l),
		.input = !k || k->stage.tty || k->stage.input,
	};

	struct metadata_found found = {
		.engine = values_engine(l),
		.resolver = l->values.resolver,
		.roots = l->roots.path,
		.n_roots = l->roots.n,
		.digest = l->roots.digest,
	};

	return metadata_write(l->a, &l->session, l->o.workspace, l->o.command,
			      also, &found, &streams, err);
}

/* The same all through the session, whatever becomes of the host's file. */
static int pin_resolver(struct launch *l, struct err *err)
{
	return vectors_asks_host(&l->vectors)
		       ? resolvers_find(l->a, getenv(RESOLVERS_ENV), "",
					&l->values.resolver, err)
		       : 0;
}

/* Roots beside the system's: as the file is now, for all of the session. */
static int pin_roots(struct launch *l, struct err *err)
{
	int rc;

	if (!l->vectors.upstream_ca)
		return 0;
	rc = roots_read(l->a, l->vectors.upstream_ca, getenv("HOME"), &l->roots,
			err);
	if (rc == 0)
		rc = roots_place(&l->roots, l->session.dir, err);
	return rc < 0 ? err_while(err, "'upstream_ca', %.200s",
				  l->vectors.upstream_ca)
		      : 0;
}

int values_set(struct launch *l, struct err *err)
{
	struct tokens_homes homes = {.user = getenv("HOME")};
	char *real = realpath(l->o.workspace, NULL);
	int rc;

	if (!real)
		return err_set(err, -errno, "%s: %s", l->o.workspace,
			       strerror(errno));
	l->o.workspace = arena_cstr(l->a, str_of(real));
	free(real);
	rc = mounts_open(&l->mounts, l->o.workspace, err);
	if (rc == 0)
		rc = workspaces_note(l->a, l->o.state, l->o.workspace, err);
	if (rc < 0)
		return rc;
	rc = pin_resolver(l, err);
	if (rc == 0)
		rc = pin_roots(l, err);
	if (rc == 0)
		rc = values_note(l, NULL, err);
	if (rc == 0)
		rc = prepare_owner(l->a, &l->o, l->mounts.root,
				   home_path(l->a, l->vectors.home, l->o.state,
					     &l->session, l->o.workspace),
				   &l->owner, err);
	if (rc < 0)
		return rc;
	if (l->vectors.native)
		prepare_alone(l->a, &l->owner);
	homes.agent = l->owner.home;
	l->values = (struct vectors_values){
		.session = l->session.id,
		.workspace = l->o.workspace,
		.home = l->owner.home,
		.state = l->o.state,
		.user_home = homes.user,
		.resolver = l->values.resolver,
		.roots = l->roots.pem,
		.owner = l->owner.text,
		.tty = has_terminal(l),
		.readonly = scan_is_readonly(l->o.workspace),
		.command = l->o.command,
		.env = from_environment,
	};
	l->values.environment =
		inside_environment(l->a, l->values.tty, from_environment, NULL);
	rc = secrets_read(l->a, &l->vectors, &l->values, homes.user,
			  &l->secrets, err);
	if (rc == 0)
		rc = proxy_find(l->a, &l->vectors, &l->values, homes.user,
				&l->proxy, err);
	return rc < 0 ? rc
		      : tokens_place(l->a, &l->vectors, &homes, &l->secrets,
				     err);
}

int values_binds(struct launch *l, bind_list *out, struct err *err)
{
	static char *const no_command[] = {NULL};
	struct vectors_values values = l->values;
	char **argv;
	int rc;

	values.command = no_command;
	rc = vectors_expand(l->a, &l->vectors.agent, &values, &argv, err);
	if (rc == 0)
		binds_read(l->a, argv, out);
	return rc;
}
