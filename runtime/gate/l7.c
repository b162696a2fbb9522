#include "runtime/gate/l7.h"

#include "runtime/gate/admin.h"
#include "runtime/gate/clock.h"
#include "runtime/gate/crtlist.h"
#include "runtime/gate/planfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define SWEEP_MS 1000

/* --- set-up -------------------------------------------------------------- */

/* 1 when it is there, 0 when not. */
static int read_optional(const char *plan, const char *name, struct str *out,
			 struct err *err)
{
	int rc = planfile_read(plan, name, out, err);

	return rc == -ENOENT ? 0 : rc < 0 ? rc : 1;
}

static int load_profiles(struct l7 *l, const char *plan, struct err *err)
{
	struct str text;
	int rc = planfile_read(plan, "profiles.map", &text, err);

	if (rc < 0)
		return rc;
	rc = profiles_parse(text, &l->profiles, err);
	planfile_free(text);
	return rc < 0 ? err_while(err, "profiles.map") : 0;
}

int l7_load(struct l7 *l, const char *plan, struct err *err)
{
	int rc = read_optional(plan, "gate.cfg", &l->config, err);

	if (rc <= 0)
		return rc;
	l->wanted = true;
	l->log = -1;
	snprintf(l->path, sizeof(l->path), "%s/gate.cfg", plan);
	if ((rc = load_profiles(l, plan, err)) < 0)
		return rc;
	rc = read_optional(plan, "crt.lst", &l->crtlist, err);
	l->decrypts = rc > 0;
	return rc < 0 ? rc : 0;
}

static int write_leaf(const char *path, struct str leaf, struct err *err)
{
	auto_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ssize_t n = fd < 0 ? -1 : write(fd, leaf.p, leaf.n);

	if (n < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	return (size_t)n == leaf.n ? 0
				   : err_set(err, -ENOSPC, "%s: no room", path);
}

/* One leaf for each line of the list. */
static int make_leaves(struct l7 *l, struct err *err)
{
	static struct crtlist_line line;
	static char leaf[CA_LEAF_MAX];
	struct str rest = l->crtlist;
	char path[128];
	size_t n = 0;
	int rc;

	while ((rc = crtlist_next(&rest, &line, err)) > 0) {
		snprintf(path, sizeof(path), "%.*s", STR_ARG(line.path));
		rc = ca_leaf(&l->ca, line.names, line.n_names, leaf, &n, err);
		if (rc == 0)
			rc = write_leaf(path, (struct str){leaf, n}, err);
		if (rc < 0)
			break;
	}
	explicit_bzero(leaf, sizeof(leaf));
	return rc < 0 ? err_while(err, "crt.lst") : 0;
}

int l7_leaves(struct l7 *l, struct err *err)
{
	int rc = ca_new(&l->ca, err);

	if (rc < 0)
		return rc;
	if (mkdir(L7_LEAVES, 0755) < 0 && errno != EEXIST)
		return err_set(err, -errno, L7_LEAVES ": %s", strerror(errno));
	return make_leaves(l, err);
}

static int open_signer(struct l7 *l, struct err *err)
{
	int rc = l7_leaves(l, err);

	if (rc < 0)
		return rc;
	l->signer.ca = &l->ca;
	l->signer.names = l->names;
	l->signer.admin = L7_ADMIN;
	l->signer.list = L7_CRTLIST;
	l->signer.dir = L7_LEAVES;
	return signer_open(&l->signer, L7_SIGNER, err);
}

int l7_start(struct l7 *l, struct err *err)
{
	int rc;

	if (!l->wanted)
		return 0;
	if (!hello_covers(&l->credentials, l->config))
		return err_set(err, -ENOENT,
			       "the launcher sent too few credentials");
	if (l->decrypts && (rc = open_signer(l, err)) < 0)
		return rc;
	l->log = l7log_open(L7_LOG, err);
	if (l->log < 0)
		return l->log;
	pins_init(&l->pins, L7_ADMIN, L7_PINS);
	rc = haproxy_start(&l->haproxy, l->path, &l->credentials, err);
	planfile_free(l->config);
	l->config = (struct str){0};
	return rc;
}

int l7_wait(struct l7 *l, struct err *err)
{
	return l->wanted ? haproxy_wait(&l->haproxy, L7_ADMIN, L7_PINS, err)
			 : 0;
}

/* --- the loop ------------------------------------------------------------ */

void l7_poll(const struct l7 *l, struct pollfd *p)
{
	for (size_t i = 0; i < L7_POLL; i++)
		p[i] = (struct pollfd){-1, POLLIN, 0};
	if (!l->wanted)
		return;
	p[L7_SLOT_END].fd = l->haproxy.pidfd;
	p[L7_SLOT_WORDS].fd = l->haproxy.words;
	p[L7_SLOT_LOG].fd = l->log;
	if (l->decrypts)
		signer_poll(&l->signer, p + L7_SLOT_SIGNER);
}

/* Lines that HAProxy could not send are records that are missing. */
static int count_dropped(struct l7 *l, struct err *err)
{
	static const char key[] = "\nDroppedLogs: ";
	char answer[ADMIN_ANSWER_MAX + 1];
	uint64_t dropped = 0;
	const char *at;
	size_t n = 0;
	int rc = admin_ask(L7_ADMIN, STR("show info\n"), answer, &n, err);

	if (rc < 0)
		return rc;
	answer[n] = '\0';
	at = strstr(answer, key);
	if (at) {
		at += sizeof(key) - 1;
		(void)str_u64((struct str){at, strcspn(at, "\n")}, UINT64_MAX,
			      &dropped);
	}
	if (dropped > l->dropped)
		l->on_lost(l->data, dropped - l->dropped);
	l->dropped = dropped;
	return 0;
}

static void on_time(struct l7 *l, int64_t now_ms)
{
	struct err err;
	int rc = 0;

	if (now_ms >= l->sweep_ms) {
		rc = pins_sweep(&l->pins, now_ms, &err);
		l->sweep_ms = now_ms + SWEEP_MS;
	}
	if (rc == 0 && now_ms >= l->count_ms) {
		rc = count_dropped(l, &err);
		l->count_ms = now_ms + L7_COUNT_MS;
	}
	if (rc < 0)
		l->on_error(l->data, err.text);
}

int l7_step(struct l7 *l, const struct pollfd *p, int64_t now_ms,
	    struct err *err)
{
	struct err why;

	if (!l->wanted)
		return 0;
	if (p[L7_SLOT_WORDS].revents)
		haproxy_read(&l->haproxy);
	if (p[L7_SLOT_LOG].revents)
		(void)l7log_read(l->log, l->on_line, l->data);
	if (p[L7_SLOT_END].revents) {
		haproxy_read(&l->haproxy);
		return err_set(err, -EPIPE, "HAProxy ended: %s",
			       haproxy_words(&l->haproxy));
	}
	if (l->decrypts &&
	    signer_step(&l->signer, p + L7_SLOT_SIGNER, now_ms, &why) < 0)
		l->on_error(l->data, why.text);
	on_time(l, now_ms);
	return 0;
}

int l7_wait_ms(const struct l7 *l, int64_t now_ms)
{
	int64_t left_ms = l->sweep_ms - now_ms;

	if (!l->wanted)
		return -1;
	return left_ms < 0 ? 0 : (int)left_ms;
}

/* --- the end ------------------------------------------------------------- */

/* Every server of "show servers conn": its first word is BACKEND/SERVER. */
static int shut_down(struct err *err)
{
	char answer[ADMIN_ANSWER_MAX], text[ADMIN_BATCH_MAX];
	struct str rest, line, server;
	size_t n = 0, at = 0;
	unsigned servers = 0;
	int rc = admin_ask(L7_ADMIN, STR("show servers conn\n"), answer, &n,
			   err);

	rest = (struct str){answer, n};
	while (rc == 0 && str_line(&rest, &line)) {
		if (line.n == 0 || line.p[0] == '#' ||
		    !str_field(&line, ' ', &server) ||
		    at + server.n + 64 > sizeof(text))
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "shutdown sessions server %.*s;",
				       STR_ARG(server));
		servers++;
	}
	if (rc < 0 || servers == 0)
		return rc;
	text[at - 1] = '\n';
	return admin_do(L7_ADMIN, (struct str){text, at}, servers, NULL, err);
}

void l7_end(struct l7 *l)
{
	struct pollfd p = {l->log, POLLIN, 0};
	int64_t deadline_ms = clock_ms() + L7_SETTLE_MS;
	struct err err;

	if (!l->wanted || !l->haproxy.pid)
		return;
	if (shut_down(&err) == 0)
		while (clock_ms() < deadline_ms &&
		       poll(&p, 1, L7_SETTLE_MS / 3) > 0)
			(void)l7log_read(l->log, l->on_line, l->data);
	if (count_dropped(l, &err) < 0)
		l->dropped = 0; /* it has ended already: nothing to ask */
	haproxy_end(&l->haproxy);
	(void)l7log_read(l->log, l->on_line, l->data);
	hello_forget(&l->credentials);
	ca_done(&l->ca);
}
