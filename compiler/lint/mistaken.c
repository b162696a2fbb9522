/*
 * Patterns that are well formed, and are written as other tools have them.
 */
#include "compiler/lint/parts.h"

#include "compiler/base/ascii.h"

/* Where the workspace is in a session. */
#define INSIDE "/workspace/"

/* Folders at the top of a host; a workspace seldom has them. */
static const char *const host_folders[] = {
	"/home/", "/Users/", "/root/", "/etc/",	 "/var/", "/usr/",
	"/opt/",  "/mnt/",   "/srv/",  "/proc/", "/tmp/",
};

/* "{pem,key}": a shell's, or an editor's. */
static bool has_braces(struct str line)
{
	size_t open = str_find(line, '{', 0);
	size_t shut = str_find(line, '}', open);

	return shut < line.n && str_find(line, ',', open) < shut;
}

/* "src\\app": a backslash before what it makes no other. */
static bool has_backslash(struct str line)
{
	for (size_t i = 0; i + 1 < line.n; i++)
		if (line.p[i] == '\\' &&
		    (ascii_is_alnum(line.p[i + 1]) || line.p[i + 1] == '.'))
			return true;
	return false;
}

/* Below a folder of the host: as it is from there. */
static struct str rooted(struct arena *a, struct str line, struct str folder)
{
	return arena_fmt(a, "from the top of the workspace it is '%.*s'",
			 STR_ARG(str_slice(line, folder.n, line.n)));
}

struct mistaken mistaken_pattern(struct arena *a, struct str line,
				 struct str workspace)
{
	if (has_braces(line))
		return (struct mistaken){"gitignore has no braces",
					 STR("write one pattern for each")};
	if (has_backslash(line))
		return (struct mistaken){"a backslash divides no folders",
					 STR("write '/' between folders")};
	if (str_starts(line, STR("~")))
		return (struct mistaken){
			"patterns are about the workspace, not your home",
			STR("what is outside the workspace is not there for a session")};
	if (str_starts(line, STR(INSIDE)))
		return (struct mistaken){
			"patterns begin at the workspace",
			rooted(a, line,
			       str_slice(STR(INSIDE), 0, sizeof(INSIDE) - 2))};
	if (workspace.n > 1 && str_starts(line, workspace) &&
	    line.n > workspace.n && line.p[workspace.n] == '/')
		return (struct mistaken){"patterns begin at the workspace",
					 rooted(a, line, workspace)};
	for (size_t i = 0; i < ARRAY_LEN(host_folders); i++)
		if (str_starts(line, str_of(host_folders[i])))
			return (struct mistaken){
				"patterns begin at the workspace, not at '/'",
				STR("what is outside the workspace is not there for a session")};
	return (struct mistaken){0};
}
