/*
 * Claude Code's settings.json: permissions by tool, and its sandbox, whose
 * members srt has, too.
 */
#include "compiler/cli/init/parts.h"

#define COMMANDS "a policy knows no commands: what they reach is decided"

/* "Tool(what)"; what is empty for the tool alone. */
static struct str tool_of(struct str rule, struct str *what)
{
	size_t open = str_find(rule, '(', 0);

	*what = STR("");
	if (open < rule.n && rule.p[rule.n - 1] == ')')
		*what = str_slice(rule, open + 1, rule.n - 1);
	return str_slice(rule, 0, open);
}

static void take_fetch(struct from *f, enum proposal_key key, struct str rule,
		       struct str what, struct str where)
{
	struct str domain = STR("domain:");

	if (str_starts(what, domain))
		from_domain(f, key, str_slice(what, domain.n, what.n), where);
	else
		from_unsaid(f, where, rule, "it names no domain");
}

static void take_allowed(struct from *f, struct str text, struct str where)
{
	struct str what, tool = tool_of(text, &what);

	if (str_is(tool, "WebFetch"))
		take_fetch(f, PROPOSAL_ALLOW, text, what, where);
	else if (str_is(tool, "Read") || str_is(tool, "Edit") ||
		 str_is(tool, "Write"))
		from_unsaid(
			f, where, text,
			"the workspace's files are there, but for 'ignore' and 'readonly'");
	else
		from_unsaid(f, where, text, COMMANDS);
}

static void take_denied(struct from *f, struct str text, struct str where)
{
	struct str what, tool = tool_of(text, &what);
	bool writes = str_is(tool, "Edit") || str_is(tool, "Write") ||
		      str_is(tool, "MultiEdit");

	if (str_is(tool, "WebFetch"))
		take_fetch(f, PROPOSAL_DENY, text, what, where);
	else if ((writes || str_is(tool, "Read")) && what.n)
		from_path(f, writes ? PROPOSAL_READONLY : PROPOSAL_IGNORE,
			  FROM_GITIGNORE, what, where);
	else
		from_unsaid(f, where, text, COMMANDS);
}

static void take_asked(struct from *f, struct str text, struct str where)
{
	struct str what, tool = tool_of(text, &what);

	if (str_is(tool, "WebFetch"))
		take_fetch(f, PROPOSAL_ASK, text, what, where);
	else
		from_unsaid(f, where, text, COMMANDS);
}

static void take_folder(struct from *f, struct str text, struct str where)
{
	from_unsaid(f, where, text,
		    "'args: [--volume=SRC:DST:ro]' mounts a folder");
}

static void take_domain(struct from *f, struct str text, struct str where)
{
	from_domain(f, PROPOSAL_ALLOW, text, where);
}

static void take_denied_domain(struct from *f, struct str text,
			       struct str where)
{
	from_domain(f, PROPOSAL_DENY, text, where);
}

static void take_unread(struct from *f, struct str text, struct str where)
{
	from_path(f, PROPOSAL_IGNORE, FROM_PLAIN, text, where);
}

static void take_unwritten(struct from *f, struct str text, struct str where)
{
	from_path(f, PROPOSAL_READONLY, FROM_PLAIN, text, where);
}

#define WRITABLE                                                               \
	"the workspace can be written, but for 'readonly', and of the host nothing else"
#define SOCKETS                                                                \
	"of the host's sockets there is the ssh-agent's alone: 'ssh_agent: true'"
#define PROXY "the gate is the only way out, and decides by itself"

/* One name for each of its members: the sandbox of Claude Code and srt. */
#define SANDBOX(in)                                                            \
	{in "network.allowedDomains", take_domain, NULL},                      \
		{in "network.deniedDomains", take_denied_domain, NULL},        \
		{in "network.allowUnixSockets", NULL, SOCKETS},                \
		{in "network.allowAllUnixSockets", NULL, SOCKETS},             \
		{in "network.allowLocalBinding", NULL,                         \
		 "a session listens as it likes; '-p' shows a port"},          \
		{in "network.httpProxyPort", NULL, PROXY},                     \
		{in "network.socksProxyPort", NULL, PROXY},                    \
		{in "filesystem.denyRead", take_unread, NULL},                 \
		{in "filesystem.denyWrite", take_unwritten, NULL},             \
		{in "filesystem.allowWrite", NULL, WRITABLE},                  \
	{                                                                      \
		in "filesystem.allowRead", NULL, WRITABLE                      \
	}

const struct from_row from_srt_rows[] = {
	SANDBOX(""),
	{"$schema", NULL, NULL},
	{NULL, NULL, NULL},
};

const struct from_row from_claude_rows[] = {
	{"permissions.allow", take_allowed, NULL},
	{"permissions.deny", take_denied, NULL},
	{"permissions.ask", take_asked, NULL},
	{"permissions.additionalDirectories", take_folder, NULL},
	SANDBOX("sandbox."),
	{"sandbox.enabled", NULL, NULL},
	{"env", NULL, "values stay out of a policy: 'args: [--env=NAME]'"},
	{"$schema", NULL, NULL},
	{NULL, NULL, NULL},
};
