#include "runtime/gate/l7/signer.h"

#include "runtime/gate/l7/admin.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG 64

int signer_open(struct signer *s, const char *path, struct err *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	auto_fd int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	for (size_t i = 0; i < SIGNER_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->listener = fd;
	fd = -1;
	return 0;
}

static void drop_client(struct signer_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* --- leaves -------------------------------------------------------------- */

static bool has_leaf(const struct signer *s, struct str name)
{
	for (size_t i = 0; i < SIGNER_LEAVES; i++)
		if (str_is(name, s->leaves[i]))
			return true;
	return false;
}

/* One command, which says what it did in words of its own. */
static int ask_haproxy(const struct signer *s, struct str text,
		       const char *wanted, struct err *err)
{
	char answer[ADMIN_ANSWER_MAX + 1];
	size_t n = 0;
	int rc = admin_ask(s->admin, text, answer, &n, err);

	if (rc < 0)
		return rc;
	answer[n] = '\0';
	if (strstr(answer, wanted))
		return 0;
	while (n && (answer[n - 1] == '\n' || answer[n - 1] == '.'))
		answer[--n] = '\0';
	return err_set(err, -EPROTO, "HAProxy says '%.200s'", answer);
}

#define FILE_ARGS s->dir, STR_ARG(name)
#define FILE_FMT  "%.80sgen-%.*s.pem"

static int install_leaf(const struct signer *s, struct str name,
			const char *leaf, struct err *err)
{
	char text[ADMIN_BATCH_MAX];
	int n, rc;

	n = snprintf(text, sizeof(text), "new ssl cert " FILE_FMT "\n",
		     FILE_ARGS);
	rc = ask_haproxy(s, (struct str){text, (size_t)n}, "New empty", err);
	if (rc < 0)
		return rc;
	n = snprintf(text, sizeof(text), "set ssl cert " FILE_FMT " <<\n%s\n",
		     FILE_ARGS, leaf);
	if (n >= (int)sizeof(text))
		return err_set(err, -EMSGSIZE, "a leaf too long");
	rc = ask_haproxy(s, (struct str){text, (size_t)n}, "Transaction", err);
	explicit_bzero(text, sizeof(text));
	if (rc < 0)
		return rc;
	n = snprintf(text, sizeof(text), "commit ssl cert " FILE_FMT "\n",
		     FILE_ARGS);
	rc = ask_haproxy(s, (struct str){text, (size_t)n}, "Success", err);
	if (rc < 0)
		return rc;
	n = snprintf(text, sizeof(text),
		     "add ssl crt-list %.80s " FILE_FMT "\n", s->list,
		     FILE_ARGS);
	return ask_haproxy(s, (struct str){text, (size_t)n}, "Success", err);
}

static void remove_leaf(const struct signer *s, struct str name)
{
	char text[ADMIN_BATCH_MAX];
	struct err ignored;
	int n = snprintf(text, sizeof(text),
			 "del ssl crt-list %.80s " FILE_FMT
			 ";del ssl cert " FILE_FMT "\n",
			 s->list, FILE_ARGS, FILE_ARGS);

	/* Should it stay, it is still a good leaf for that name. */
	if (ask_haproxy(s, (struct str){text, (size_t)n}, "deleted", &ignored) <
	    0)
		return;
}

static int make_leaf(struct signer *s, struct str name, struct err *err)
{
	char leaf[CA_LEAF_MAX];
	char *slot = s->leaves[s->next];
	size_t n;
	int rc = ca_leaf(s->ca, &name, 1, leaf, &n, err);

	if (rc == 0)
		rc = install_leaf(s, name, leaf, err);
	explicit_bzero(leaf, sizeof(leaf));
	if (rc < 0) {
		remove_leaf(s, name);
		return err_while(err, "a certificate for '%.*s'",
				 STR_ARG(name));
	}
	if (slot[0])
		remove_leaf(s, str_of(slot));
	memcpy(slot, name.p, name.n);
	slot[name.n] = '\0';
	s->next = (s->next + 1) % SIGNER_LEAVES;
	return 0;
}

/*
 * A host name: no pattern, nothing that a command could end in. To addresses
 * that are granted as such, names are decrypted for the sake of denials alone,
 * and to those with rules of http, whatever the name.
 */
static bool may_sign(const struct signer *s, struct str name)
{
	struct names_match match;

	return names_pattern(name) && !memchr(name.p, '*', name.n) &&
	       !names_denied(s->names, name) &&
	       (names_match(s->names, name, &match) ||
		profiles_minds(s->profiles, name));
}

/* --- clients ------------------------------------------------------------- */

static int answer_client(struct signer *s, struct signer_client *c,
			 struct err *err)
{
	struct str name = {c->line, c->n - 1};
	bool ok = may_sign(s, name);
	int rc = 0;

	if (ok && !has_leaf(s, name)) {
		rc = make_leaf(s, name, err);
		ok = rc == 0;
	}
	ignore(send(c->fd, ok ? "ok\n" : "no\n", 3,
		    MSG_DONTWAIT | MSG_NOSIGNAL));
	drop_client(c);
	return rc;
}

static int read_client(struct signer *s, struct signer_client *c,
		       struct err *err)
{
	ssize_t n = recv(c->fd, c->line + c->n, sizeof(c->line) - c->n,
			 MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		drop_client(c);
		return 0;
	}
	c->n += (size_t)n;
	if (c->line[c->n - 1] == '\n')
		return answer_client(s, c, err);
	if (c->n == sizeof(c->line))
		drop_client(c);
	return 0;
}

static void take_client(struct signer *s, int64_t now_ms)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; i < SIGNER_CLIENTS; i++) {
		struct signer_client *c = &s->clients[i];

		if (c->fd >= 0)
			continue;
		c->fd = fd;
		c->n = 0;
		c->deadline_ms = now_ms + SIGNER_IDLE_MS;
		return;
	}
	close(fd);
}

void signer_poll(const struct signer *s, struct pollfd *p)
{
	bool room = false;

	for (size_t i = 0; i < SIGNER_CLIENTS; i++) {
		p[1 + i] = (struct pollfd){s->clients[i].fd, POLLIN, 0};
		room |= s->clients[i].fd < 0;
	}
	p[0] = (struct pollfd){room ? s->listener : -1, POLLIN, 0};
}

int signer_step(struct signer *s, const struct pollfd *p, int64_t now_ms,
		struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < SIGNER_CLIENTS; i++) {
		struct signer_client *c = &s->clients[i];

		if (c->fd < 0 || p[1 + i].fd != c->fd)
			continue;
		if (p[1 + i].revents) {
			if (read_client(s, c, err) < 0)
				rc = -1;
		} else if (now_ms >= c->deadline_ms) {
			drop_client(c);
		}
	}
	if (p[0].revents)
		take_client(s, now_ms);
	return rc;
}
