#include "compiler/cli/workspace/installed.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "prefix/between/name", when that holds the file. */
static const char *folder_with(struct arena *a, struct str prefix,
			       const char *between, const char *name,
			       const char *file)
{
	const char *dir =
		arena_fmt(a, "%.*s%s%s", STR_ARG(prefix), between, name).p;
	struct stat st;

	return lstat(arena_fmt(a, "%s/%s", dir, file).p, &st) == 0 ? dir : NULL;
}

/* Beside this program. */
static const char *folder_beside(struct arena *a, const char *name,
				 const char *file)
{
	static const char build[] = "/build/", bin[] = "/bin/";
	char self[PATH_MAX], *end;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *dir = NULL;

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	end = strstr(self, build);
	for (char *next = end; next; next = strstr(next + 1, build))
		end = next;
	if (end)
		dir = folder_with(a, (struct str){self, (size_t)(end - self)},
				  "/", name, file);
	end = strrchr(self, '/');
	if (dir || !end || end - self < (ptrdiff_t)sizeof(bin) - 2)
		return dir;
	end -= sizeof(bin) - 2;
	if (strncmp(end, bin, sizeof(bin) - 1) != 0)
		return NULL;
	return folder_with(a, (struct str){self, (size_t)(end - self)},
			   "/share/membrane/", name, file);
}

const char *installed_folder(struct arena *a, const char *name,
			     const char *file)
{
	const char *dir = folder_beside(a, name, file);

	return dir ? dir
		   : arena_fmt(a, "%s/share/membrane/%s", MEMBRANE_PREFIX, name)
			       .p;
}
