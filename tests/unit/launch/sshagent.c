/* What passes to an ssh-agent, and what does not: by a stand-in that tells. */
#include "runtime/launch/sshagent.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/session/local.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LONGEST (4 + SSHAGENT_BYTES_MAX)

static char top[] = "/tmp/membrane-ssh.XXXXXX";
static char path[64];

/* --- frames --------------------------------------------------------------- */

static bool read_all(int fd, uint8_t *to, size_t n)
{
	for (ssize_t got; n > 0; to += got, n -= (size_t)got) {
		got = read(fd, to, n);
		if (got <= 0)
			return false;
	}
	return true;
}

static void set_length(uint8_t *b, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(n >> (24 - 8 * i));
}

static bool write_frame(int fd, uint8_t type, uint32_t n)
{
	uint8_t *b = calloc(1, LONGEST + 8);
	bool ok;

	set_length(b, n);
	b[4] = type;
	ok = send(fd, b, 4 + n, MSG_NOSIGNAL) == (ssize_t)(4 + n);
	free(b);
	return ok;
}

/* Its type, 0 at the end; *n is its length. */
static uint8_t read_frame(int fd, uint32_t *n)
{
	uint8_t head[4], *b;
	uint8_t type = 0;

	if (!read_all(fd, head, 4))
		return 0;
	*n = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 |
	     (uint32_t)head[2] << 8 | head[3];
	b = calloc(1, *n + 1);
	if (read_all(fd, b, *n))
		type = b[0];
	free(b);
	return type;
}

/* --- a stand-in ----------------------------------------------------------- */

static struct {
	int listen;
	unsigned asked[256];
	uint8_t says; /* instead of what is right; 0: that */
	uint32_t bytes;
	bool hangs_up;
} agent;

static void *answer_all(void *unused)
{
	int fd;

	(void)unused;
	while ((fd = accept(agent.listen, NULL, NULL)) >= 0) {
		uint32_t n;
		uint8_t type;

		while ((type = read_frame(fd, &n)) && !agent.hangs_up) {
			agent.asked[type]++;
			if (!write_frame(fd,
					 agent.says ? agent.says
						    : (uint8_t)(type + 1),
					 agent.bytes))
				break;
		}
		close(fd);
	}
	return NULL;
}

static pthread_t agent_start(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	pthread_t t;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	agent.listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	agent.bytes = 9;
	CHECK(bind(agent.listen, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(agent.listen, 4) == 0);
	CHECK(pthread_create(&t, NULL, answer_all, NULL) == 0);
	return t;
}

static void agent_end(pthread_t t)
{
	shutdown(agent.listen, SHUT_RDWR);
	pthread_join(t, NULL);
	close(agent.listen);
	unlink(path);
}

/* --- a connection --------------------------------------------------------- */

struct served {
	int fd;
	struct sshagent_counts counts;
};

static void *serve_one(void *ctx)
{
	struct served *s = ctx;

	sshagent_serve(s->fd, path, &s->counts);
	close(s->fd);
	return NULL;
}

static struct served served;
static pthread_t server;

static int connect_to_it(void)
{
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	served = (struct served){.fd = ends[1]};
	CHECK(pthread_create(&server, NULL, serve_one, &served) == 0);
	return ends[0];
}

static void close_it(int fd)
{
	close(fd);
	pthread_join(server, NULL);
}

/* The type of the answer. */
static uint8_t ask(int fd, uint8_t type, uint32_t n)
{
	uint32_t got = 0;

	CHECK(write_frame(fd, type, n));
	return read_frame(fd, &got);
}

static void two_pass_and_nothing_else(void)
{
	pthread_t t = agent_start();
	int fd = connect_to_it();

	CHECK(ask(fd, 11, 1) == 12 && ask(fd, 13, 100) == 14);
	CHECK(ask(fd, 13, SSHAGENT_BYTES_MAX) == 14);
	for (unsigned type = 0; type < 256; type++)
		if (type != 11 && type != 13)
			CHECK(ask(fd, (uint8_t)type, 5) == 5);
	CHECK(ask(fd, 11, 1) == 12);
	close_it(fd);
	for (unsigned type = 0; type < 256; type++)
		CHECK(agent.asked[type] == (type == 11 || type == 13 ? 2 : 0));
	CHECK(served.counts.asked == 2 && served.counts.signatures == 2 &&
	      served.counts.refused == 254 && served.counts.unanswered == 0);
	agent_end(t);
}

static void frames_are_bounded(void)
{
	static const uint32_t lengths[] = {0, SSHAGENT_BYTES_MAX + 1,
					   UINT32_MAX};
	uint32_t n;

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		int fd = connect_to_it();
		uint8_t head[4];

		set_length(head, lengths[i]);
		CHECK(write(fd, head, 4) == 4 && read_frame(fd, &n) == 0);
		close_it(fd);
	}
}

static void what_the_users_says_is_judged_too(void)
{
	pthread_t t = agent_start();
	int fd = connect_to_it();

	agent.says = 28; /* SSH_AGENT_EXTENSION_RESPONSE, of a later draft */
	CHECK(ask(fd, 13, 9) == 5 && served.counts.signatures == 0);
	agent.says = 12;
	CHECK(ask(fd, 13, 9) == 5 && ask(fd, 11, 1) == 12);
	agent.says = 5;
	CHECK(ask(fd, 13, 9) == 5 && served.counts.unanswered == 0);
	agent.says = 0;
	agent.bytes = SSHAGENT_BYTES_MAX + 1;
	CHECK(ask(fd, 11, 1) == 5 && served.counts.unanswered == 1);
	agent.bytes = 9;
	CHECK(ask(fd, 13, 9) == 14);
	close_it(fd);
	agent_end(t);
}

static void it_may_come_and_go(void)
{
	int fd = connect_to_it();
	pthread_t t;

	CHECK(ask(fd, 11, 1) == 5 && served.counts.unanswered == 1);
	t = agent_start();
	CHECK(ask(fd, 11, 1) == 12);
	agent.hangs_up = true;
	CHECK(ask(fd, 11, 1) == 5);
	agent.hangs_up = false;
	CHECK(ask(fd, 11, 1) == 12);
	CHECK(served.counts.unanswered == 2);
	close_it(fd);
	agent_end(t);
}

static void the_users_has_to_be_there(void)
{
	char longer[200];
	struct err err;
	pthread_t t;

	CHECK(sshagent_check(NULL, &err) == -ENOENT);
	CHECK(sshagent_check("", &err) == -ENOENT &&
	      strstr(err.text, "SSH_AUTH_SOCK is not set"));
	CHECK(sshagent_check(path, &err) == -ENOENT &&
	      strstr(err.text, "nobody answers"));
	CHECK(sshagent_check("/etc/passwd", &err) == -ECONNREFUSED);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK(sshagent_check(longer, &err) == -ENAMETOOLONG);
	t = agent_start();
	CHECK(sshagent_check(path, &err) == 0);
	agent_end(t);
}

static void its_keys_are_counted(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	pthread_t t = agent_start();
	uint32_t n = 99;
	struct err err;
	int silent;

	CHECK(sshagent_keys(path, 5000, &n, &err) == 0 && n == 0);
	agent.bytes = 4; /* an answer without a number */
	CHECK(sshagent_keys(path, 5000, &n, &err) == -EPROTO);
	agent.bytes = 9;
	agent.says = 5;
	CHECK(sshagent_keys(path, 5000, &n, &err) == -EPROTO &&
	      strstr(err.text, "lists no keys"));
	agent.says = 0;
	agent.hangs_up = true;
	CHECK(sshagent_keys(path, 5000, &n, &err) == -EPROTO &&
	      strstr(err.text, "no ssh-agent"));
	agent.hangs_up = false;
	agent_end(t);
	CHECK(sshagent_keys(path, 5000, &n, &err) == -ENOENT);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	silent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(silent, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(silent, 4) == 0);
	CHECK(sshagent_keys(path, 20, &n, &err) == -ETIMEDOUT);
	close(silent);
	unlink(path);
	CHECK(n == 0);
}

static void processes_end(void)
{
	struct sshagent_told told = {0};
	pthread_t t = agent_start();
	struct sshagent s = {0};
	struct err err;
	char byte;
	int fd = -1;

	CHECK(sshagent_start(top, path, &s, &err) == 0 && s.pid > 0);
	CHECK(local_connect(top, DOCKER_JSON_SSH_SOCKET, &fd, &err) == 0);
	CHECK(ask(fd, 11, 1) == 12 && ask(fd, 13, 9) == 14 &&
	      ask(fd, 19, 1) == 5);
	CHECK(s.counts->signatures == 1 && s.counts->refused == 1);
	CHECK(sshagent_stop(&s, true, &told) && told.asked == 1 &&
	      told.signatures == 1 && told.refused == 1 &&
	      told.unanswered == 0);
	CHECK(s.pid == 0 && read(fd, &byte, 1) == 0);
	close(fd);
	CHECK(local_connect(top, DOCKER_JSON_SSH_SOCKET, &fd, &err) < 0);
	told.asked = 7;
	CHECK(!sshagent_stop(&s, true, &told) && told.asked == 7); /* none */
	agent_end(t);
}

/* What is said of these counts at the end. */
static const char *said_of(const struct sshagent_told *counts, bool quiet)
{
	static char text[512];
	struct sshagent_told got = {0};
	struct sshagent s;
	struct err err;
	FILE *said = tmpfile();
	int was = dup(STDERR_FILENO);
	size_t n;

	CHECK(said && was >= 0);
	snprintf(text, sizeof(text), "%s/" DOCKER_JSON_SSH_SOCKET, top);
	unlink(text); /* of the one before */
	CHECK(sshagent_start(top, path, &s, &err) == 0);
	s.counts->signatures = counts->signatures;
	s.counts->refused = counts->refused;
	s.counts->unanswered = counts->unanswered;
	CHECK(dup2(fileno(said), STDERR_FILENO) == STDERR_FILENO);
	CHECK(sshagent_stop(&s, quiet, &got));
	fflush(stderr);
	CHECK(dup2(was, STDERR_FILENO) == STDERR_FILENO);
	close(was);
	CHECK(got.signatures == counts->signatures &&
	      got.refused == counts->refused &&
	      got.unanswered == counts->unanswered);
	rewind(said);
	n = fread(text, 1, sizeof(text) - 1, said);
	text[n] = '\0';
	fclose(said);
	return text;
}

static void the_end_says_what_was_asked(void)
{
	static const struct {
		struct sshagent_told counts;
		const char *text;
	} rows[] = {
		{{0}, ""},
		{{.signatures = 1},
		 "membrane: your ssh-agent made 1 signature\n"},
		{{.signatures = 2, .refused = 1},
		 "membrane: your ssh-agent made 2 signatures; 1 request for something else was refused\n"},
		{{.refused = 3, .unanswered = 1},
		 "membrane: your ssh-agent made 0 signatures; 3 requests for something else were refused; it did not answer 1 request\n"},
		{{.unanswered = 2},
		 "membrane: your ssh-agent made 0 signatures; it did not answer 2 requests\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = said_of(&rows[i].counts, false);

		CHECK_MSG(strcmp(text, rows[i].text) == 0, "%s", text);
		CHECK(strcmp(said_of(&rows[i].counts, true), "") == 0);
	}
}

/* Nobody is served where its socket cannot be. */
static void a_folder_has_to_be_there(void)
{
	struct sshagent s = {0};
	struct err err;

	CHECK(sshagent_start("/nowhere", path, &s, &err) == -ENOENT);
	CHECK(s.pid == 0 && s.counts == NULL);
}

int main(void)
{
	struct err err;

	if (!mkdtemp(top))
		return 1;
	snprintf(path, sizeof(path), "%s/users", top);
	the_users_has_to_be_there();
	two_pass_and_nothing_else();
	frames_are_bounded();
	what_the_users_says_is_judged_too();
	it_may_come_and_go();
	its_keys_are_counted();
	processes_end();
	the_end_says_what_was_asked();
	a_folder_has_to_be_there();
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	return check_status();
}
