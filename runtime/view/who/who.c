#include "runtime/view/who/who.h"

#include "compiler/base/err.h"
#include "runtime/view/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_MAX 8192
#define ANSWER_MS  5000
#define OF_ROOT	   "/proc/version" /* of the machine's, in each namespace */
/* Of a command line: an interpreter, an option of its, the script. */
#define WORDS 3

/* --- what a status says --------------------------------------------------- */

/* What stands behind the name of a line, or NULL. */
static const char *line_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, name, n) == 0)
			return text + n;
	}
	return NULL;
}

/* The numbers of a line, at most max; how many there are. */
static size_t read_numbers(const char *text, const char *name, int base,
			   unsigned long long *out, size_t max)
{
	const char *at = line_of(text, name);
	char *end;
	size_t n = 0;

	while (at && *at && *at != '\n' && n < max) {
		out[n] = strtoull(at, &end, base);
		if (end == at)
			return n;
		n++;
		for (at = end; *at == ' ' || *at == '\t'; at++)
			;
	}
	return n;
}

static bool are_one(const unsigned long long v[4])
{
	return v[0] == v[1] && v[0] == v[2] && v[0] == v[3];
}

bool who_read_status(const char *text, struct who_status *out)
{
	unsigned long long process, of[4], caps, number[3];
	struct who_status s = {0};

	if (read_numbers(text, "Tgid:", 10, &process, 1) != 1)
		return false;
	s.process = (pid_t)process;
	/* Here, and in the one namespace of processes below; no more. */
	if (read_numbers(text, "NStgid:", 10, number, 3) == 2 &&
	    number[0] == process && number[1] > 1)
		s.number = (pid_t)number[1];
	if (read_numbers(text, "Uid:", 10, of, 4) != 4)
		return false;
	s.has_one_user = are_one(of);
	s.uid = (uid_t)of[0];
	if (read_numbers(text, "Gid:", 10, of, 4) != 4)
		return false;
	s.has_one_group = are_one(of);
	s.gid = (gid_t)of[0];
	if (read_numbers(text, "CapPrm:", 16, &caps, 1) != 1)
		return false;
	s.has_rights = caps != 0;
	*out = s;
	return true;
}

/* --- the supervisor ------------------------------------------------------- */

static bool look_at(pid_t thread, struct who_status *out)
{
	char path[64], text[STATUS_MAX];
	auto_fd int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return who_read_status(text, out);
}

/* What is root's as it is seen here, where a namespace of users may have no
 * number for the machine's: then it is nobody's. */
static bool is_roots(uid_t uid)
{
	struct stat st;

	return uid == 0 || (lstat(OF_ROOT, &st) == 0 && st.st_uid == uid);
}

/*
 * The kernel gives what is sealed to root in /proc, which tells it from a
 * user's. Of a process of root's, or of who is as nobody here, whether another
 * one of the same user, without a right beyond that, is refused: us.
 */
static bool is_sealed(const char *exe, const struct who_status *s)
{
	struct stat st;
	char text[8];
	bool refused;

	if (!s->has_one_user || !s->has_one_group || s->has_rights)
		return false;
	if (!is_roots(s->uid))
		return lstat(exe, &st) == 0 && is_roots(st.st_uid);
	if (!rights_are_of(s->uid, s->gid) || !rights_use(false))
		return false;
	refused = readlink(exe, text, sizeof(text)) < 0 && errno == EACCES;
	return rights_use(true) && refused;
}

bool who_is_named(const char *line, size_t n, struct str program)
{
	size_t at = 0;

	for (int i = 0; i < WORDS && at < n && program.n; i++) {
		struct str word = {line + at, strnlen(line + at, n - at)};
		const char *slash = memrchr(word.p, '/', word.n);

		at += word.n + 1;
		if (slash)
			word = str_slice(word, (size_t)(slash + 1 - word.p),
					 word.n);
		if (str_eq(word, program))
			return true;
	}
	return false;
}

size_t who_read_line(pid_t process, char line[WHO_LINE_MAX])
{
	char path[64];
	auto_fd int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, line, WHO_LINE_MAX);
	return n > 0 ? (size_t)n : 0;
}

static bool runs_program(pid_t process, struct str program)
{
	char line[WHO_LINE_MAX];

	return who_is_named(line, who_read_line(process, line), program);
}

static bool is_main(const struct who *w, const struct who_status *s)
{
	return w->main && s->number && s->process == w->main;
}

bool who_is_main(struct who *w, pid_t thread)
{
	struct who_status s;
	struct stat program;
	char exe[64];

	if (thread <= 0 || !look_at(thread, &s) || !is_main(w, &s))
		return false;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", s.process);
	if (stat(exe, &program) < 0)
		return false;
	if (!is_sealed(exe, &s)) {
		w->is_open |= runs_program(s.process, w->program);
		return false;
	}
	if (!w->known) {
		if (!runs_program(s.process, w->program))
			return false;
		w->known = true;
		w->process = s.process;
		w->dev = program.st_dev;
		w->ino = program.st_ino;
	}
	return w->process == s.process && w->dev == program.st_dev &&
	       w->ino == program.st_ino;
}

static enum who_said begin_main(struct who *w, pid_t thread)
{
	struct who_status s;

	if (w->main || thread <= 0 || !look_at(thread, &s) || !s.number ||
	    s.process != thread)
		return WHO_NO;
	w->main = s.process;
	return WHO_YES;
}

/* Once, and before it is a program that asks for files. */
static enum who_said begin_sealing(struct who *w, pid_t thread)
{
	struct who_status s;

	if (w->sealing.begun || w->known || thread <= 0 ||
	    !look_at(thread, &s) || !is_main(w, &s) || s.process != thread)
		return WHO_NO;
	if (sealing_begin(&w->sealing, s.process, &w->err) == 0)
		return WHO_YES;
	w->failed = true;
	return WHO_FAILED;
}

static enum who_said answer(struct who *w, const struct who_question *q)
{
	switch (q->what) {
	case WHO_IS_IT:
		return who_is_main(w, q->thread) ? WHO_YES : WHO_NO;
	case WHO_IS_MAIN:
		return begin_main(w, q->thread);
	case WHO_TO_SEAL:
		return begin_sealing(w, q->thread);
	}
	abort();
}

bool who_answer(struct who *w, int fd)
{
	struct who_question q;
	ssize_t n = read(fd, &q, sizeof(q));
	char said;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n != sizeof(q))
		return false;
	said = (char)answer(w, &q);
	return write(fd, &said, 1) == 1;
}

void who_step(struct who *w)
{
	if (!w->failed && sealing_step(&w->sealing, w->program, &w->err) < 0)
		w->failed = true;
}

/* --- the server ----------------------------------------------------------- */

static enum who_said ask(int fd, const struct who_question *q)
{
	struct pollfd p = {fd, POLLIN, 0};
	char said = WHO_NO;

	/* An answer that comes late would be the next question's. */
	if (fd < 0 || write(fd, q, sizeof(*q)) != sizeof(*q))
		return WHO_NO;
	if (poll(&p, 1, ANSWER_MS) != 1 || read(fd, &said, 1) != 1)
		abort();
	return (enum who_said)said;
}

bool who_ask(int fd, pid_t thread)
{
	return ask(fd, &(struct who_question){.thread = thread}) == WHO_YES;
}

int who_ask_to_be_main(int fd, pid_t thread)
{
	struct who_question q = {.thread = thread, .what = WHO_IS_MAIN};

	return ask(fd, &q) == WHO_YES ? 0 : ENODATA;
}

int who_ask_to_seal(int fd, pid_t thread)
{
	enum who_said said =
		ask(fd, &(struct who_question){.thread = thread,
					       .what = WHO_TO_SEAL});

	switch (said) {
	case WHO_YES:
		return 0;
	case WHO_NO:
		return ENODATA;
	case WHO_FAILED:
		break;
	}
	return EPERM;
}
