/*
 * Where programs are looked for in a session: the user's own folders that are
 * mounted, and behind them the system's.
 */
#include "runtime/launch/native/native.h"

#include "tests/check.h"

#include <string.h>

#define SYSTEM "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static struct arena *a;

static const char *found(const char *path)
{
	bind_list binds = {0};

	*vec_push(a, &binds) = (struct bind){"/usr", "/usr", true};
	*vec_push(a, &binds) = (struct bind){"/bin", "/bin", true};
	*vec_push(a, &binds) =
		(struct bind){"/data/nvm", "/home/me/.nvm", true};
	*vec_push(a, &binds) =
		(struct bind){"/home/me/.npm", "/home/me/.npm", false};
	*vec_push(a, &binds) =
		(struct bind){"/home/me/.membrane/sessions/1/view/workspace",
			      "/srv/x", false};
	return native_path(a, path, &binds, "/home/me/.membrane", NULL);
}

static void is_those_that_are_mounted(void)
{
	CHECK(strcmp(found(NULL), SYSTEM) == 0);
	CHECK(strcmp(found(""), SYSTEM) == 0);
	CHECK(strcmp(found("/home/me/.nvm/v22/bin:/home/me/bin"),
		     "/home/me/.nvm/v22/bin:" SYSTEM) == 0);
	CHECK(strcmp(found("/home/me/.nvmrc:/home/me/.nvm"),
		     "/home/me/.nvm:" SYSTEM) == 0);
	CHECK(strcmp(found("/home/me/.npm/bin/:/home/me/.npm/bin"),
		     "/home/me/.npm/bin:" SYSTEM) == 0);
	/* in the user's own order, each once */
	CHECK(strcmp(found("/usr/bin:/home/me/.nvm/bin:/bin"),
		     "/usr/bin:/home/me/.nvm/bin:/bin:/usr/local/sbin:"
		     "/usr/local/bin:/usr/sbin:/sbin") == 0);
}

static void is_nothing_that_the_agent_writes(void)
{
	CHECK(strcmp(found("/srv/x/node_modules/.bin"), SYSTEM) == 0);
	CHECK(strcmp(found(".:bin:node_modules/.bin::"), SYSTEM) == 0);
	CHECK(strcmp(found("/usr/x\ny:/usr/\xff"), SYSTEM) == 0);
}

int main(void)
{
	a = arena_new();
	is_those_that_are_mounted();
	is_nothing_that_the_agent_writes();
	arena_free(a);
	return check_status();
}
