/*
 * The lists that a native session has in the place of the machine's own, and
 * where its programs are looked for.
 */
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/native_json.h"
#include "runtime/broker/broker.h"
#include "runtime/launch/native/native.h"
#include "runtime/launch/native/parts.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena *a;
static struct err err;
static char dir[] = "/tmp/membrane-native-XXXXXX";

static bool has(const char *name, const char *text)
{
	const char *path = arena_fmt(a, "%s/%s", dir, name).p;
	struct str got;

	return fileio_read(a, AT_FDCWD, path, 4096, &got, &err) == 0 &&
	       str_is(got, text);
}

static bool has_line(const char *name, const char *line)
{
	const char *path = arena_fmt(a, "%s/%s", dir, name).p;
	struct str got;

	return fileio_read(a, AT_FDCWD, path, 4096, &got, &err) == 0 &&
	       strstr(arena_cstr(a, got), line);
}

static bool is_readable(const char *name)
{
	struct stat st;

	return stat(arena_fmt(a, "%s/%s", dir, name).p, &st) == 0 &&
	       (st.st_mode & 07777) == 0644;
}

static void test_lists(void)
{
	/* whatever it is: the agent reads them as another user */
	umask(077);
	CHECK(native_write_files(a, dir, 1000, 100, &err) == 0);
	CHECK(has(NATIVE_JSON_USERS, "root:x:0:0::/root:/bin/sh\n"
				     "agent:x:1000:100::/home/agent:/bin/sh\n"
				     "nobody:x:65534:65534::/:/bin/false\n"));
	CHECK(has(NATIVE_JSON_GROUPS,
		  "root:x:0:\nagent:x:100:\ntty:x:5:\nnogroup:x:65534:\n"));
	CHECK(is_readable(NATIVE_JSON_USERS) &&
	      is_readable(NATIVE_JSON_GROUPS) &&
	      is_readable(NATIVE_JSON_HOSTS) &&
	      is_readable(NATIVE_JSON_PROTOCOLS));
	CHECK(has_line(NATIVE_JSON_PROTOCOLS, "tcp\t6\tTCP\n"));
	/* root's own: there is one name for one number */
	CHECK(native_write_files(a, dir, 0, 0, &err) == 0);
	CHECK(has(NATIVE_JSON_USERS, "root:x:0:0::/home/agent:/bin/sh\n"
				     "nobody:x:65534:65534::/:/bin/false\n"));
	CHECK(has(NATIVE_JSON_GROUPS,
		  "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n"));
}

static void test_refused(void)
{
	const char *folder = NULL;
	const char *nowhere = arena_fmt(a, "%s/nowhere", dir).p;

	CHECK(native_write_files(a, nowhere, 1000, 100, &err) == -ENOENT);
	CHECK(strstr(err.text, "nowhere/" NATIVE_JSON_USERS));
	/* beside this test there is no gate */
	CHECK(native_programs_folder(a, &folder, &err) == -ENOENT);
	CHECK(!folder && strstr(err.text, NATIVE_JSON_GATE));
}

/* It is found and can be run, or both say that it is not here. */
static void test_uplink(void)
{
	const char *program = native_uplink_program(a);
	struct native_place place = {.dir = dir};
	struct uplink u;
	int rc = uplink_find(a, &place, &u, &err);

	if (program)
		CHECK(access(program, X_OK) == 0 && *program == '/');
	else
		CHECK(rc == -ENOENT && strstr(err.text, "passt"));
	if (rc == 0)
		CHECK(strcmp(u.program, program) == 0 && u.pid == 0);
	else
		CHECK(strstr(err.text, "'engine: docker'"));
}

static bool has_word(const char *const words[], const char *word)
{
	for (size_t i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

/* Neither leads to this machine's loopback, or takes a port of it. */
static void test_tap(void)
{
	const char *words[TAP_WORDS];

	tap_words("/usr/bin/pasta", false, words);
	CHECK(has_word(words, "--no-map-gw") &&
	      has_word(words, "--tcp-ns=none") &&
	      has_word(words, "/proc/self/fd/0") &&
	      has_word(words, "/proc/self/fd/1") && !has_word(words, "--runas"));
	tap_words("/usr/bin/pasta", true, words);
	CHECK(has_word(words, "--runas"));
	tap_words("/usr/bin/slirp4netns", true, words);
	CHECK(has_word(words, "--disable-host-loopback") &&
	      has_word(words, "--userns-path=/proc/self/fd/0") &&
	      has_word(words, "/proc/self/fd/1"));
}

/* Needs no program; ends with us, and says so once when it was ended. */
static void test_broker(void)
{
	struct native_place place = {.dir = dir, .sockets = true};
	struct uplink u;
	bool ipv6;
	int channel = -1;

	CHECK(uplink_find(a, &place, &u, &err) == 0 && u.pid == 0);
	CHECK(uplink_broker(&u, &channel, &err) == 0 && u.pid > 0);
	CHECK(broker_ipv6(channel, &ipv6));
	/* it has no use for a network */
	CHECK(uplink_start(&u, -1, -1, &err) == 0);
	CHECK(uplink_check(&u, &err) == 0);
	kill(u.pid, SIGKILL);
	CHECK(!broker_ipv6(channel, &ipv6));
	CHECK(waitid(P_PID, (id_t)u.pid, &(siginfo_t){0}, WEXITED | WNOWAIT) ==
	      0);
	CHECK(uplink_check(&u, &err) == -ENETDOWN &&
	      strstr(err.text, "killed by signal 9"));
	CHECK(uplink_check(&u, &err) == 0);
	uplink_end(&u);
	close(channel);
	u = (struct uplink){.log = -1};
	CHECK(uplink_broker(&u, &channel, &err) == 0 && channel == -1);
}

static void remove_lists(void)
{
	static const char *const names[] = {
		NATIVE_JSON_USERS, NATIVE_JSON_GROUPS, NATIVE_JSON_HOSTS,
		NATIVE_JSON_PROTOCOLS};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK(unlink(arena_fmt(a, "%s/%s", dir, names[i]).p) == 0);
	CHECK(rmdir(dir) == 0);
}

int main(void)
{
	a = arena_new();
	CHECK(mkdtemp(dir));
	test_lists();
	test_refused();
	test_uplink();
	test_broker();
	test_tap();
	remove_lists();
	arena_free(a);
	return check_status();
}
