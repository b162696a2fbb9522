/*
 * membrane-gate as whoever begins it has it: what it is told, what it prints
 * and how it ends, and what the kernel says of its processes.
 */
#ifndef TESTS_UNIT_GATE_SESSIONS_H
#define TESTS_UNIT_GATE_SESSIONS_H

#include "tests/unit/gate/plans.h"
#include "tests/unit/gate/program.h"

#include <arpa/inet.h>
#include <nftables/libnftables.h>
#include <signal.h>
#include <sys/wait.h>

struct gate {
	pid_t pid;
	int in, out;
	char line[4096];
};

/* Words with blanks between them. */
static inline struct gate start(const char *words)
{
	char text[200], *argv[12] = {program}, *save = NULL;
	struct gate g;
	int in[2], out[2], n = 1;

	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok_r(text, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	g.pid = fork();
	if (g.pid == 0) {
		if (dup2(in[0], 0) == 0 && dup2(out[1], 1) == 1 &&
		    dup2(out[1], 2) == 2)
			execv(program, argv);
		_exit(125);
	}
	close(in[0]);
	close(out[1]);
	g.in = in[1];
	g.out = out[0];
	return g;
}

static inline void tell(struct gate *g, const char *text)
{
	CHECK(write(g->in, text, strlen(text)) == (ssize_t)strlen(text));
}

/* Whatever comes before is passed over. */
static inline bool says(struct gate *g, const char *part)
{
	while (read_line(g->out, g->line, sizeof(g->line)))
		if (strstr(g->line, part))
			return true;
	fprintf(stderr, "not said: %s\n", part);
	return false;
}

static inline int end_of(struct gate *g)
{
	int status = -1;

	if (g->in >= 0)
		close(g->in);
	while (read_line(g->out, g->line, sizeof(g->line)))
		;
	close(g->out);
	CHECK(waitpid(g->pid, &status, 0) == g->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The same, without anybody's word. */
static inline int end_by_itself(struct gate *g)
{
	while (read_line(g->out, g->line, sizeof(g->line)))
		;
	return end_of(g);
}

/* Its status, and that it says so. */
static inline int run(const char *words, const char *part)
{
	struct gate g = start(words);

	close(g.in);
	g.in = -1;
	CHECK(says(&g, part));
	return end_of(&g);
}

static inline void refuses(const char *words, const char *hello,
			   const char *why)
{
	struct gate g = start(words);

	tell(&g, hello);
	close(g.in);
	g.in = -1;
	CHECK_MSG(says(&g, "\"event\":\"error\"") && strstr(g.line, why),
		  "%s not %s", g.line, why);
	CHECK(end_of(&g) == 1);
}

/* --- sockets ----------------------------------------------------------------
 */

static inline struct sockaddr_in loopback_at(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline bool comes(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, WAIT_MS) == 1;
}

/* --- what the kernel says --------------------------------------------------
 */

static inline unsigned long inode_of(pid_t pid, const char *space)
{
	char path[64], text[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, space);
	CHECK(readlink(path, text, sizeof(text) - 1) > 0);
	return strtoul(strchr(text, '[') + 1, NULL, 10);
}

/* The worker is the first; 0: there is none. */
static inline pid_t nth_child(pid_t pid, int n)
{
	char path[64], text[256] = "";
	const char *at = text;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	for (; at && n; n--)
		at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
	return at ? (pid_t)atoi(at) : 0;
}

static inline pid_t child_of(pid_t pid)
{
	return nth_child(pid, 0);
}

static inline void kill_child(pid_t pid)
{
	pid_t child = child_of(pid);

	CHECK(child > 0 && kill(child, SIGKILL) == 0);
}

static inline bool has_file(pid_t pid, const char *what)
{
	char path[64], text[64];

	for (int i = 0; i < 32; i++) {
		memset(text, 0, sizeof(text));
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, i);
		if (readlink(path, text, sizeof(text) - 1) > 0 &&
		    strcmp(text, what) == 0)
			return true;
	}
	return false;
}

/* What a descriptor is, as /proc says. */
static inline void read_file(pid_t pid, int fd, char what[64])
{
	char path[64];

	memset(what, 0, 64);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	CHECK(readlink(path, what, 63) > 0);
}

/* How many of its descriptors are of that kind. */
static inline unsigned count_files(pid_t pid, const char *kind)
{
	char path[64], text[64];
	unsigned n = 0;

	for (int i = 0; i < 64; i++) {
		memset(text, 0, sizeof(text));
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, i);
		n += readlink(path, text, sizeof(text) - 1) > 0 &&
		     strncmp(text, kind, strlen(kind)) == 0;
	}
	return n;
}

/* This network's. */
static inline bool forwards(void)
{
	int fd = open("/proc/sys/net/ipv4/ip_forward", O_RDONLY | O_CLOEXEC);
	char c = 0;

	CHECK(read(fd, &c, 1) == 1);
	close(fd);
	return c == '1';
}

static inline bool is_fenced(void)
{
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	bool yes;

	nft_ctx_buffer_output(ctx);
	nft_ctx_buffer_error(ctx);
	yes = nft_run_cmd_from_buffer(ctx, "list table inet fence") == 0;
	nft_ctx_free(ctx);
	return yes;
}

#endif
