#include "runtime/gate/l7/signer.h"

#include "runtime/gate/l7/admin.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int signer_open(struct signer *s, const char *path, struct err *err)
{
	for (size_t i = 0; i < SIGNER_CLIENTS; i++)
		s->slots[i].text = s->lines[i];
	s->clients.v = s->slots;
	s->clients.size = SIGNER_CLIENTS;
	s->clients.room = sizeof(s->lines[0]);
	s->clients.wait_ms = SIGNER_IDLE_MS;
	return clients_open(&s->clients, path, err);
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
	struct str said;
	size_t n = 0;
	int rc = admin_ask(s->admin, text, answer, &n, err);

	if (rc < 0)
		return rc;
	answer[n] = '\0';
	if (strstr(answer, wanted))
		return 0;
	said = (struct str){answer, n};
	while (str_ends(said, STR("\n")) || str_ends(said, STR(".")))
		said.n--;
	return err_set(err, -EPROTO, "HAProxy says '%.*s'",
		       STR_ARG(str_slice(said, 0, 200)));
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
	ignore(ask_haproxy(s, (struct str){text, (size_t)n}, "deleted",
			   &ignored));
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
	       (names_match(s->names, name, &match) || match.ask ||
		profiles_minds(s->profiles, name));
}

/* --- clients ------------------------------------------------------------- */

struct step {
	struct signer *signer;
	struct err *err;
	int rc;
};

static void answer_client(struct step *step, struct client *c)
{
	struct signer *s = step->signer;
	struct str name = {c->text, c->n - 1};
	bool ok = may_sign(s, name);

	if (ok && !has_leaf(s, name)) {
		ok = make_leaf(s, name, step->err) == 0;
		if (!ok)
			step->rc = -1;
	}
	ignore(send(c->fd, ok ? "ok\n" : "no\n", 3,
		    MSG_DONTWAIT | MSG_NOSIGNAL));
	clients_drop(c);
}

static void hear_client(void *data, struct client *c)
{
	struct step *step = data;

	if (c->text[c->n - 1] == '\n')
		answer_client(step, c);
	else if (c->n == step->signer->clients.room)
		clients_drop(c);
}

void signer_poll(const struct signer *s, struct pollfd *p)
{
	clients_poll(&s->clients, p);
}

int signer_step(struct signer *s, const struct pollfd *p, int64_t now_ms,
		struct err *err)
{
	struct step step = {.signer = s, .err = err};

	clients_step(&s->clients, p, now_ms, hear_client, &step);
	return step.rc;
}
