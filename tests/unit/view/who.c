/* Who asks: what /proc says of a thread, and of us. */
#include "runtime/view/who/who.h"

#include "compiler/base/err.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS(ns, uid, caps)                                                  \
	"Name:\tnode\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t500\n"        \
	"Ngid:\t0\nPid:\t502\nPPid:\t480\nTracerPid:\t0\nUid:\t" uid           \
	"\nGid:\t100\t100\t100\t100\nFDSize:\t64\nGroups:\t100 \nNStgid:\t" ns \
	"\nNSpid:\t502\t3\nCapInh:\t0000000000000000\nCapPrm:\t" caps          \
	"\nCapEff:\t0000000000000000\n"
#define ONE_USER "1000\t1000\t1000\t1000"
#define NO_CAPS	 "0000000000000000"

static struct who_status read_text(const char *text)
{
	struct who_status s = {0};

	CHECK(who_read_status(text, &s));
	return s;
}

static void number_is_told(void)
{
	struct who_status s = read_text(STATUS("500\t2", ONE_USER, NO_CAPS));

	CHECK(s.process == 500 && s.number == 2 && s.has_one_user &&
	      s.has_one_group && s.uid == 1000 && s.gid == 100 &&
	      !s.has_rights);
	/* The container's init. */
	CHECK(!read_text(STATUS("500\t1", ONE_USER, NO_CAPS)).number);
	/* The second of a namespace that the container's own made. */
	CHECK(!read_text(STATUS("500\t17\t2", ONE_USER, NO_CAPS)).number);
	CHECK(!read_text(STATUS("500\t2\t2", ONE_USER, NO_CAPS)).number);
	/* The host's, and its first. */
	CHECK(!read_text(STATUS("500", ONE_USER, NO_CAPS)).number);
	CHECK(!read_text(STATUS("1", ONE_USER, NO_CAPS)).number);
}

static void others_are_told(void)
{
	static const char *const none[] = {"", "Name:\tx\n", "Tgid:\n",
					   "Tgid:\tx\n",
					   "Tgid:\t1\nUid:\t1\t2\n"};
	struct who_status s;

	CHECK(!read_text(STATUS("500\t2", "1000\t0\t1000\t1000", NO_CAPS))
		       .has_one_user);
	CHECK(read_text(STATUS("500\t2", ONE_USER, "0000000000080000"))
		      .has_rights);
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		CHECK(!who_read_status(none[i], &s));
	/* A name is no line. */
	CHECK(!who_read_status("Name:\tTgid:\t1\n", &s));
}

#define NAMED(line, name) who_is_named(line, sizeof(line) - 1, STR(name))

static void programs_are_named(void)
{
	CHECK(NAMED("/usr/bin/claude\0--resume\0", "claude"));
	CHECK(NAMED("node\0/usr/local/bin/claude\0x\0", "claude"));
	CHECK(NAMED("node\0--no-warnings\0/opt/claude\0", "claude"));
	CHECK(NAMED("claude", "claude"));
	CHECK(!NAMED("cat\0/home/agent/x\0", "claude"));
	CHECK(!NAMED("a\0b\0c\0claude\0", "claude"));
	CHECK(!NAMED("/usr/bin/claude/\0", "claude"));
	CHECK(!NAMED("claudes\0", "claude"));
	CHECK(!NAMED("\0\0", ""));
	CHECK(!NAMED("", "claude"));
}

/* We are the first of no container, sealed or not. */
static void we_are_not(void)
{
	struct who w = {.program = STR("who")};

	CHECK(!who_is_main(&w, getpid()));
	CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
	CHECK(!who_is_main(&w, getpid()));
	/* The host's own is in no container, whatever it says. */
	CHECK(who_ask_to_be_main(-1, getpid()) == ENODATA && !w.main);
	CHECK(!who_is_main(&w, 0) && !who_is_main(&w, -1));
	CHECK(!w.known);
}

static void answers_come(void)
{
	struct who w = {.program = STR("who")};
	int s[2], status;
	pid_t child;

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) == 0);
	child = fork();
	if (child == 0) {
		close(s[0]);
		_exit(who_ask(s[1], getpid()) ? 1 : 0);
	}
	close(s[1]);
	CHECK(who_answer(&w, s[0]));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(!who_answer(&w, s[0])); /* it is gone */
	close(s[0]);
	CHECK(!who_ask(-1, 1));
	CHECK(who_ask_to_seal(-1, 1) == ENODATA);
}

/* What is no main process is not traced, and told so. */
static void others_are_not_sealed(void)
{
	struct who w = {.program = STR("who")};
	int s[2], status;
	pid_t child;

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) == 0);
	child = fork();
	if (child == 0) {
		close(s[0]);
		_exit(who_ask_to_be_main(s[1], getpid()) == ENODATA
			      ? who_ask_to_seal(s[1], getpid())
			      : 0);
	}
	close(s[1]);
	CHECK(who_answer(&w, s[0]) && who_answer(&w, s[0]) && !w.main);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	      WEXITSTATUS(status) == ENODATA);
	CHECK(!w.sealing.begun && !w.failed);
	who_step(&w);
	CHECK(!w.failed);
	close(s[0]);
}

int main(void)
{
	number_is_told();
	others_are_told();
	programs_are_named();
	we_are_not();
	answers_come();
	others_are_not_sealed();
	return check_status();
}
