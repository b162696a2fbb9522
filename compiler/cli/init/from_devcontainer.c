/* devcontainer.json: its image and the ports that it forwards. */
#include "compiler/cli/init/parts.h"

#include "compiler/base/ascii.h"

#include <stdint.h>
#include <string.h>

#define BUILD "build that image, then 'image: NAME'"
#define COMMANDS                                                               \
	"nothing here runs it: put it into the image, or let the session do it"
#define DOCKER                                                                 \
	"arguments of docker run go into 'args', one by one, once you have looked at them"
#define MOUNTS "'args: [--volume=SRC:DST:ro]' mounts a folder"
#define VALUES "values stay out of a policy: 'args: [--env=NAME]'"
#define USERS                                                                  \
	"a session runs as the workspace's owner: 'hardening: {user: UID}'"

static bool is_image(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) &&
		    (i == 0 || !memchr("._-/:@", s.p[i], 6)))
			return false;
	return s.n > 0;
}

static void take_image(struct from *f, struct str text, struct str where)
{
	if (is_image(text))
		proposal_add(f->d, PROPOSAL_IMAGE, text, where);
	else
		from_unsaid(f, where, text, "no name of an image");
}

static void take_port(struct from *f, struct str text, struct str where)
{
	uint64_t port;

	if (!str_u64(text, UINT16_MAX, &port) || port == 0) {
		from_unsaid(f, where, text,
			    "only a port of the session itself can be shown");
		return;
	}
	proposal_add(f->d, PROPOSAL_ARGS,
		     arena_fmt(f->d->a, "--publish=127.0.0.1:%u:%u",
			       (unsigned)port, (unsigned)port),
		     where);
}

static void take_argument(struct from *f, struct str text, struct str where)
{
	from_unsaid(f, where, text, DOCKER);
}

static void take_mount(struct from *f, struct str text, struct str where)
{
	from_unsaid(f, where, text, MOUNTS);
}

const struct from_row from_devcontainer_rows[] = {
	{"name", NULL, NULL},
	{"$schema", NULL, NULL},
	{"image", take_image, NULL},
	{"forwardPorts", take_port, NULL},
	{"appPort", take_port, NULL},
	{"build", NULL, BUILD},
	{"dockerFile", NULL, BUILD},
	{"context", NULL, BUILD},
	{"dockerComposeFile", NULL, BUILD},
	{"service", NULL,
	 "services of a compose file run beside a session: 'uplink: NETWORK'"},
	{"runServices", NULL,
	 "services of a compose file run beside a session: 'uplink: NETWORK'"},
	{"features", NULL, BUILD},
	{"initializeCommand", NULL, COMMANDS},
	{"onCreateCommand", NULL, COMMANDS},
	{"updateContentCommand", NULL, COMMANDS},
	{"postCreateCommand", NULL, COMMANDS},
	{"postStartCommand", NULL, COMMANDS},
	{"postAttachCommand", NULL, COMMANDS},
	{"waitFor", NULL, NULL},
	{"containerEnv", NULL, VALUES},
	{"remoteEnv", NULL, VALUES},
	{"userEnvProbe", NULL, NULL},
	{"containerUser", NULL, USERS},
	{"remoteUser", NULL, USERS},
	{"updateRemoteUserUID", NULL, NULL},
	{"mounts", take_mount, NULL},
	{"workspaceMount", NULL,
	 "the workspace is at its own place, and at /workspace"},
	{"workspaceFolder", NULL,
	 "the workspace is at its own place, and at /workspace"},
	/* which hold values of variables, too */
	{"runArgs", NULL, DOCKER},
	{"capAdd", take_argument, NULL},
	{"securityOpt", take_argument, NULL},
	{"privileged", NULL, DOCKER},
	{"init", NULL, NULL},
	{"overrideCommand", NULL, NULL},
	{"shutdownAction", NULL, NULL},
	{"portsAttributes", NULL, NULL},
	{"otherPortsAttributes", NULL, NULL},
	{"hostRequirements", NULL, "'hardening' bounds memory and processors"},
	{"customizations", NULL, "settings of editors are theirs"},
	{NULL, NULL, NULL},
};
