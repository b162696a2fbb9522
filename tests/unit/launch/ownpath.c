/* When the workspace is at its own path in the session, too. */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define JSON(more, view)                                                           \
	"{\"version\":1,\"engine\":\"docker\",\"runtime\":\"runc\",\"link\":"      \
	"\"veth\",\"gate\":{\"image\":\"g\",\"argv\":[\"docker\",\"run\",\"g\"]}," \
	"\"agent\":{\"image\":\"i\",\"argv\":[\"docker\",\"run\","                 \
	"\"--mount=type=bind,source=/s,target=/workspace\"," more                  \
	"\"{own-path}\",\"i\",\"{command}\"]}" view "}"
#define VIEW ",\"view\":{\"image\":\"v\",\"argv\":[\"docker\",\"run\",\"v\"]}"

static struct arena *a;
static char dir[] = "/tmp/membrane-ownpath-XXXXXX";
static struct err err;

static const char *no_variable(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return NULL;
}

/* What the agent's words become, one after the other; "": nothing is added. */
static const char *words_of(const char *json, const char *workspace)
{
	static char *const command[] = {NULL};
	struct launch *l = arena_new_of(a, struct launch);
	struct buf b;

	l->a = a;
	l->o.workspace = workspace;
	l->o.command = command;
	l->session.dir = dir;
	CHECK_MSG(vectors_parse(a, str_of(json), &l->vectors, &err) == 0, "%s",
		  err.text);
	l->values = (struct vectors_values){.session = "0123456789ab",
					    .workspace = workspace,
					    .home = "/h",
					    .state = "/st",
					    .owner = "1:1",
					    .command = command,
					    .env = no_variable};
	CHECK_MSG(ownpath_prepare(l, &err) == 0, "%s", err.text);
	CHECK((l->mounts.own != NULL) == (l->values.own_path != NULL));
	buf_init(&b, a);
	for (const char *const *w = l->values.own_path; w && *w; w++)
		buf_addf(&b, "%s%s", b.n ? " " : "", *w);
	return b.n ? buf_str(&b).p : "";
}

static void it_is_in_a_view(void)
{
	struct str text;

	CHECK(strcmp(words_of(JSON("", VIEW), "/home/me/p"),
		     arena_fmt(a,
			       "--mount=type=bind,\"source=%s/view/workspace\","
			       "\"target=/home/me/p\" --workdir=/home/me/p",
			       dir)
			     .p) == 0);
	CHECK(fileio_read(a, AT_FDCWD, arena_fmt(a, "%s/session.json", dir).p,
			  1 << 16, &text, &err) == 0);
	CHECK(strstr(text.p, "\"/workspace\"") &&
	      strstr(text.p, "\"/home/me/p\""));
	CHECK(strstr(words_of(JSON("", VIEW), "/a,b"),
		     "\"target=/a,b\" --workdir=/a,b"));
	CHECK(strstr(words_of(JSON("", VIEW), "/tmp/\xc3\xbc"),
		     "=/tmp/\xc3\xbc"));
}

static void elsewhere_it_is_not(void)
{
	static const char *const paths[] = {
		"/usr/src/p", "/home/agent/p", "/workspace", "/etc",
		"/a\nb",      "/a\x7f",	       "/a\xff",     "/",
	};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		CHECK_MSG(*words_of(JSON("", VIEW), paths[i]) == '\0', "%s",
			  paths[i]);
	CHECK(*words_of(JSON("", ""), "/home/me/p") == '\0');
	/* a folder of the policy's is there, or above */
	CHECK(*words_of(JSON("\"--mount=type=bind,source=/x,target=/home/me\",",
			     VIEW),
			"/home/me/p") == '\0');
	CHECK(*words_of(JSON("\"--volume=/x:/home/me/p:ro\",", VIEW),
			"/home/me/p") == '\0');
	/* beside it, or below */
	CHECK(*words_of(JSON("\"--volume=/x:/home/me/p/q\",", VIEW),
			"/home/me/p"));
	CHECK(*words_of(JSON("\"--volume=/x:/home/m\",", VIEW), "/home/me/p"));
}

int main(void)
{
	a = arena_new();
	CHECK(mkdtemp(dir) != NULL);
	it_is_in_a_view();
	elsewhere_it_is_not();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
