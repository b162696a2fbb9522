/* What the init is told to begin: what the image says, and the policy. */
#include "runtime/launch/inside/inside.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/init_words.h"
#include "tests/check.h"
#include "tests/unit/docker_standin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const struct standin_answer table[] = {
	{"GET /_ping", 200, "OK"},
	{"GET /v1.48/images/both/json", 200,
	 "{\"Config\":{\"Entrypoint\":[\"/e\",\"-x\"],\"Cmd\":[\"serve\"]}}"},
	{"GET /v1.48/images/plain/json", 200,
	 "{\"Config\":{\"Entrypoint\":null,\"Cmd\":null}}"},
	{"GET /v1.48/images/", 404, "{\"message\":\"No such image\"}"},
};

static struct arena *a;
static struct docker *docker;
static struct err err;

static const char *host_says(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "TERM") == 0   ? "xterm"
	       : strcmp(name, "LANG") == 0 ? "C.UTF-8"
					   : NULL;
}

/* The words of a list, by spaces. */
static const char *joined(const char *const *words)
{
	struct str all = STR("");

	for (; words && *words; words++)
		all = arena_fmt(a, "%.*s%s ", STR_ARG(all), *words);
	return arena_cstr(a, all);
}

/* command: NULL, or one word. */
static int ask(const char *image, const char *words, const char *command,
	       struct inside_size size, struct vectors_values *out)
{
	struct vector agent = {.image = image};
	struct str rest = str_of(words), word;
	char **given = arena_alloc(a, 2 * sizeof(*given));
	struct docker_command runs = {0};
	int rc;

	while (str_field(&rest, ' ', &word))
		*vec_push(a, &agent.words) = arena_cstr(a, word);
	given[0] = command ? arena_cstr(a, str_of(command)) : NULL;
	given[1] = NULL;
	*out = (struct vectors_values){
		.tty = true, .command = given, .env = host_says};
	rc = inside_begins_image(&agent)
		     ? docker_image_command(docker, image, &runs, &err)
		     : 0;
	return rc < 0 ? rc
		      : inside_words(a, &agent, image, &runs, &size, out,
				     &err);
}

#define ALL DOCKER_JSON_INIT_WORDS " -- " DOCKER_JSON_ENTRYPOINT

static void check_words(void)
{
	const struct inside_size size = {24, 80}, none = {0};
	struct vectors_values v;

	CHECK(ask("both", ALL, NULL, size, &v) == 0);
	CHECK(strcmp(joined(v.init),
		     INIT_SIZE "24x80 TERM=xterm LANG=C.UTF-8 " INIT_IMAGE
			       "both ") == 0);
	CHECK(strcmp(joined(v.entrypoint), "/e -x serve ") == 0);
	/* a command takes the place of the image's, and not of the entrypoint
	 */
	CHECK(ask("both", ALL, "sh", none, &v) == 0);
	CHECK(strcmp(joined(v.init),
		     "TERM=xterm LANG=C.UTF-8 " INIT_IMAGE "both ") == 0);
	CHECK(strcmp(joined(v.entrypoint), "/e -x ") == 0);
	CHECK(ask("plain", ALL, "sh", none, &v) == 0 && v.entrypoint &&
	      !v.entrypoint[0]);
	/* the policy says the entrypoint, or that there is to be no init */
	CHECK(ask("nosuch", DOCKER_JSON_INIT_WORDS " -- /p", NULL, none, &v) ==
		      0 &&
	      v.init && !v.entrypoint);
	CHECK(ask("nosuch", "{command}", NULL, none, &v) == 0 && !v.init);
}

static void check_refusals(void)
{
	const struct inside_size none = {0};
	struct vectors_values v;

	CHECK(ask("plain", ALL, NULL, none, &v) == -ENOENT &&
	      strstr(err.text, "the image 'plain' has no command of its own"));
	CHECK(ask("nosuch", ALL, "sh", none, &v) < 0 &&
	      strstr(err.text, "No such image"));
}

int main(void)
{
	struct endpoint at = {.base = "http://localhost", .tls_verify = true};
	char dir[] = "/tmp/membrane-entrypoint.XXXXXX";
	pid_t server;

	a = arena_new();
	if (!mkdtemp(dir))
		return 2;
	at.socket = arena_fmt(a, "%s/sock", dir).p;
	server = standin_start(at.socket, table, ARRAY_LEN(table));
	CHECK(docker_open(a, &at, &docker, &err) == 0);
	if (docker) {
		check_words();
		check_refusals();
	}
	docker_close(docker);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
