/*
 * What the gate is told of secrets is nowhere in its memory but where it
 * belongs, and not there any more when it is forgotten.
 */
#include "tests/unit/gate/secrets.h"
#include "runtime/gate/l7/hello.h"
#include "runtime/gate/l7/tokens.h"
#include "tests/unit/gate/administrator.h"

#include <errno.h>

#define WORD   "hush-0123456789ab"
#define WORDS  200u
#define DIGITS "0123456789abcdef01234567"

static struct err err;
static struct hello_credentials creds;
static struct names_hosts hosts;
static char folder[] = "/tmp/membrane-secrets-XXXXXX";

static bool is_known(void)
{
	return is_in_memory(WORD, sizeof(WORD) - 1);
}

/* Between these words it is so often that no part of it goes by chance. */
static size_t put_secret(char *to, const char *before, const char *after)
{
	size_t n = (size_t)sprintf(to, "%s", before);

	for (unsigned i = 0; i < WORDS; i++)
		n += (size_t)sprintf(to + n, "%s", WORD);
	return n + (size_t)sprintf(to + n, "%s", after);
}

/* Of the launcher, in that place of its line. */
static int hear(const char *before, const char *after)
{
	static char line[WORDS * sizeof(WORD) + 200];
	size_t n = put_secret(line, before, after);
	int rc;

	hosts = (struct names_hosts){0};
	rc = hello_parse((struct str){line, n}, &hosts, &creds, &err);
	explicit_bzero(line, sizeof(line));
	return rc;
}

#define LINE(more) "{\"version\":1,\"host\":[]," more

static const struct {
	const char *before, *after;
	int rc;
} lines[] = {
	{LINE("\"credentials\":{\"1\":\""), "\"}}", 0},
	{LINE("\"credentials\":{\"2:" DIGITS "\":\""), "\"}}", 0},
	/* in vain, and not where it belongs */
	{LINE("\"credentials\":{\"1\":\""), "\\n\"}}", -EPROTO},
	{LINE("\"credentials\":{\"1\":7,\"2\":\""), "\"}}", -EPROTO},
	{LINE("\"proxy\":{\"addr\":\"10.0.0.9\",\"port\":1,\"login\":\"x:"),
	 "\"}}", -EPROTO},
};

static void heard(void)
{
	size_t before = 0;

	CHECK(!is_known());
	for (unsigned round = 0; round < 20; round++) {
		for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
			CHECK(hear(lines[i].before, lines[i].after) ==
			      lines[i].rc);
			/* where it stays it is found */
			if (round == 0)
				CHECK(is_known() ==
				      (lines[i].rc == 0 && !STEPS_SANITIZED));
			hello_forget(&creds);
			if (round == 0)
				CHECK_MSG(!is_known(), "line %zu", i);
		}
		if (round == 9)
			before = memory_held();
	}
	CHECK_MSG(memory_held() == before, "%zu, %zu", before, memory_held());
}

/* A login is shorter. */
static void login(void)
{
	hosts = (struct names_hosts){0};
	CHECK(hello_parse(
		      STR(LINE("\"proxy\":{\"addr\":\"10.0.0.9\",\"port\":1,"
			       "\"login\":\"a-proxy-s-login-is:" WORD "\"}}")),
		      &hosts, &creds, &err) == 0);
	CHECK(is_known() == !STEPS_SANITIZED);
	hello_forget(&creds);
	CHECK(!is_known());
}

/* --- of a Pod ------------------------------------------------------------- */

static void write_secret(const char *name, const char *after)
{
	char path[64], text[WORDS * sizeof(WORD) + 8];
	size_t n = put_secret(text, "", after);
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(write(fd, text, n) == (ssize_t)n);
	close(fd);
	explicit_bzero(text, sizeof(text));
}

static void take_secret(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	CHECK(unlink(path) == 0);
}

static int hear_pod(void)
{
	hosts = (struct names_hosts){0};
	return hello_pod(folder, &hosts, &creds, &err);
}

static void of_a_pod(void)
{
	size_t before = 0;
	int fd = -1;

	setenv(HELLO_POD_SESSION, "a", 1);
	setenv(HELLO_POD_HOSTS, "10.0.0.1", 1);
	CHECK(mkdtemp(folder) != NULL);
	write_secret("7", "\n");
	for (unsigned round = 0; round < 20; round++) {
		CHECK(hear_pod() == 0 && creds.n == 1);
		hello_forget(&creds);
		if (round == 0)
			CHECK(!is_known());
		if (round == 9) {
			before = memory_held();
			fd = dup(0);
			close(fd);
		}
	}
	/* nothing is kept of what was read, and nothing stays open */
	CHECK_MSG(memory_held() == before, "%zu, %zu", before, memory_held());
	CHECK(dup(0) == fd && close(fd) == 0);
	write_secret("none", "");
	CHECK(hear_pod() == -EPROTO);
	hello_forget(&creds);
	CHECK(!is_known());
	take_secret("7");
	take_secret("none");
	CHECK(rmdir(folder) == 0);
}

/* --- on its way to HAProxy ------------------------------------------------ */

static void tokens(void)
{
	char file[64];

	CHECK(hear(LINE("\"credentials\":{\"2:" DIGITS "\":\""), "\"}}") == 0);
	snprintf(file, sizeof(file), "%s.map", administrator_path);
	CHECK(tokens_file(&creds, file, &err) == 0 && unlink(file) == 0);
	hello_forget(&creds);
	CHECK(!is_known());
	CHECK(hear(LINE("\"credentials\":{\"2:" DIGITS "\":\""), "\"}}") == 0);
	ANSWERS("\n");
	CHECK(tokens_tell(&creds, administrator_path, &err) == 0);
	hello_forget(&creds);
	CHECK(!is_known());
}

int main(void)
{
	administrator_start();
	heard();
	login();
	of_a_pod();
	tokens();
	administrator_end();
	return check_status();
}
