#include "runtime/gate/l7/l7.h"

#include "compiler/base/sys/clock.h"
#include "compiler/plan/files.h"
#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/crtlist.h"
#include "runtime/gate/l7/reader_probe.h"
#include "runtime/gate/l7/tokens.h"
#include "runtime/gate/plan/planfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_MS 1000

/* --- set-up -------------------------------------------------------------- */

/* 1 when it is there, 0 when not. */
static int read_optional(const char *plan, const char *name, struct str *out,
			 struct err *err)
{
	int rc = planfile_read(plan, name, out, err);

	return rc == -ENOENT ? 0 : rc < 0 ? rc : 1;
}

static int load_profiles(struct l7_plan *p, const char *plan, struct err *err)
{
	struct str text;
	int rc = planfile_read(plan, PLAN_PROFILES, &text, err);

	if (rc < 0)
		return rc;
	rc = profiles_parse(text, &p->profiles, err);
	planfile_free(text);
	return rc < 0 ? err_while(err, PLAN_PROFILES) : 0;
}

int l7_load(struct l7_plan *out, const char *plan, struct err *err)
{
	struct l7_plan p = {.generation = 1};
	int rc = read_optional(plan, PLAN_GATE, &p.config, err);

	if (rc > 0) {
		p.wanted = true;
		snprintf(p.path, sizeof(p.path), "%s/gate.cfg", plan);
		rc = load_profiles(&p, plan, err);
		if (rc == 0)
			rc = read_optional(plan, PLAN_LEAVES, &p.crtlist, err);
		p.decrypts = rc > 0;
	}
	if (rc < 0)
		l7_plan_free(&p);
	else
		*out = p;
	return rc < 0 ? rc : 0;
}

void l7_plan_free(struct l7_plan *p)
{
	planfile_free(p->config);
	planfile_free(p->crtlist);
	profiles_free(&p->profiles);
	*p = (struct l7_plan){0};
}

void l7_init(struct l7 *l)
{
	l->haproxy = l->next = haproxy_none();
	for (size_t i = 0; i < L7_PAST; i++)
		l->past[i].haproxy = haproxy_none();
	l->log.fd = l->signer.clients.listener = l->renewal.clients.listener =
		-1;
	pins_init(&l->pins, GATE_PINS);
}

/* HAProxy has read the one that may be there, and does not do it again. */
static int write_leaf(const char *path, struct str leaf, struct err *err)
{
	auto_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t n = fd < 0 ? -1 : write(fd, leaf.p, leaf.n);

	if (n < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	return (size_t)n == leaf.n ? 0
				   : err_set(err, -ENOSPC, "%s: no room", path);
}

/* One leaf for each line of the list. */
static int make_leaves(struct l7 *l, const struct l7_plan *p, struct err *err)
{
	static struct crtlist_line line;
	static char leaf[CA_LEAF_MAX];
	struct str rest = p->crtlist;
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
	return rc < 0 ? err_while(err, PLAN_LEAVES) : 0;
}

int l7_failures(struct err *err)
{
	auto_fd int fd = open(GATE_FAILURES,
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd < 0 || fchmod(fd, 0644) < 0
		       ? err_set(err, -errno, GATE_FAILURES ": %s",
				 strerror(errno))
		       : 0;
}

int l7_authority(struct l7 *l, struct err *err)
{
	return l->ca.key ? 0 : ca_new(&l->ca, err);
}

int l7_leaves(struct l7 *l, const struct l7_plan *p, struct err *err)
{
	int rc = l7_authority(l, err);

	if (rc < 0)
		return rc;
	if (mkdir(GATE_LEAVES, 0755) < 0 && errno != EEXIST)
		return err_set(err, -errno, GATE_LEAVES ": %s",
			       strerror(errno));
	return make_leaves(l, p, err);
}

static int open_signer(struct l7 *l, const struct l7_plan *p, struct err *err)
{
	int rc = l7_leaves(l, p, err);

	if (rc < 0 || l->signer.clients.listener >= 0)
		return rc;
	l->signer.ca = &l->ca;
	l->signer.names = l->names;
	l->signer.profiles = &l->plan.profiles;
	l->signer.admin = GATE_ADMIN;
	l->signer.list = L7_CRTLIST;
	l->signer.dir = GATE_LEAVES;
	return signer_open(&l->signer, GATE_SIGNER, err);
}

static bool keep_lines(void *data)
{
	return l7log_keep(data);
}

int l7_prepare(struct l7 *l, const struct l7_plan *p, struct err *err)
{
	int rc;

	if (!hello_covers(&l->credentials, p->config))
		return err_set(err, -ENOENT,
			       "a credential of the plan was not given");
	if (p->decrypts && (rc = open_signer(l, p, err)) < 0)
		return rc;
	if (l->log.fd < 0 && (rc = l7log_open(&l->log, GATE_LOG, err)) < 0)
		return rc;
	admin_meanwhile(l->log.fd, keep_lines, &l->log);
	rc = pins_file(&l->pins, GATE_PINS, err);
	if (rc == 0)
		rc = tokens_file(&l->credentials, GATE_TOKENS, err);
	if (rc == 0 && l->credentials.n_tokens &&
	    l->renewal.clients.listener < 0)
		rc = renewal_open(&l->renewal, GATE_RENEWAL, err);
	return rc < 0 ? rc : haproxy_listen(&l->ports, err);
}

int l7_start(struct l7 *l, struct err *err)
{
	int rc;

	if (!l->plan.wanted)
		return 0;
	rc = l7_prepare(l, &l->plan, err);
	if (rc < 0)
		return rc;
	planfile_free(l->plan.config);
	l->plan.config = (struct str){0};
	return 0;
}

/* reader_probe.h, for what a plan has sockets for. */
static int prove(const struct l7_plan *p, struct err *err)
{
	static struct crtlist_line line;
	struct str rest = p->crtlist;
	int rc = access(GATE_L7_PLAIN, F_OK) == 0
			 ? reader_probe_plain(GATE_L7_PLAIN, err)
			 : 0;

	if (rc < 0 || access(GATE_L7_TLS, F_OK) < 0)
		return rc;
	/* Without a line leaves are made when they are asked for. */
	rc = crtlist_next(&rest, &line, err);
	return rc > 0 ? reader_probe_tls(GATE_L7_TLS, line.names[0], err) : rc;
}

/* It serves by the plan: proved, and told what was learned and renewed since it
 * read its own. */
static int bring_up(struct l7 *l, const struct l7_plan *p, struct err *err)
{
	int rc = prove(p, err);

	if (rc == 0)
		rc = pins_follow(&l->pins, GATE_ADMIN, err);
	return rc == 0 ? tokens_tell(&l->credentials, GATE_ADMIN, err) : rc;
}

/* A failure counts where HAProxy still answers behind it: of one that died
 * meanwhile there is only to say that it ended, and its descriptor does. */
int l7_answers(struct l7 *l, struct haproxy *h, const struct l7_plan *p,
	       struct err *err)
{
	struct err why;
	int rc = haproxy_ready(h, GATE_ADMIN, GATE_PINS, err), failed;

	if (rc <= 0 || (failed = bring_up(l, p, &why)) == 0)
		return rc;
	rc = haproxy_ready(h, GATE_ADMIN, GATE_PINS, err);
	if (rc <= 0)
		return rc;
	*err = why;
	return failed;
}

int l7_begin(struct l7 *l, struct err *err)
{
	if (!l->plan.wanted)
		return 0;
	l->begun_ms = clock_ms();
	return haproxy_start(&l->haproxy, &l->ports, l->plan.path,
			     &l->credentials, err);
}

/* A step towards serving; 1 once it does. */
static int begin_serving(struct l7 *l, int64_t now_ms, struct err *err)
{
	int rc;

	if (l->serves || !l->plan.wanted)
		return 1;
	if (!l->haproxy.pid)
		return l7_begin(l, err);
	rc = l7_answers(l, &l->haproxy, &l->plan, err);
	if (rc == 0 && now_ms >= l->begun_ms + HAPROXY_WAIT_MS)
		return err_set(err, -ETIMEDOUT, "HAProxy does not begin");
	if (rc <= 0 || (rc = haproxy_open(&l->haproxy, err)) < 0)
		return rc;
	l->serves = true;
	return 1;
}

int l7_wait(struct l7 *l, struct err *err)
{
	int rc;

	while ((rc = begin_serving(l, clock_ms(), err)) == 0)
		haproxy_pause(&l->haproxy);
	return rc < 0 ? rc : 0;
}

/* --- the loop ------------------------------------------------------------ */

void l7_poll(const struct l7 *l, struct pollfd *p)
{
	for (size_t i = 0; i < L7_POLL; i++)
		p[i] = (struct pollfd){-1, POLLIN, 0};
	p[L7_SLOT_LOG].fd = l->log.fd;
	if (!l->plan.wanted)
		return;
	p[L7_SLOT_END].fd = l->haproxy.pidfd;
	p[L7_SLOT_WORDS].fd = l->haproxy.words;
	if (l->plan.decrypts)
		signer_poll(&l->signer, p + L7_SLOT_SIGNER);
	renewal_poll(&l->renewal, p + L7_SLOT_RENEWAL);
}

/* Lines that HAProxy could not send are records that are missing. */
static int count_dropped(struct l7 *l, const char *admin, struct err *err)
{
	static const char key[] = "\nDroppedLogs: ";
	char answer[ADMIN_ANSWER_MAX + 1];
	uint64_t dropped = 0;
	const char *at;
	size_t n = 0;
	int rc = admin_ask(admin, STR("show info\n"), answer, &n, err);

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

void l7_count_dropped(struct l7 *l, const char *admin)
{
	struct err err;

	if (count_dropped(l, admin, &err) < 0)
		l->on_error(l->data, err.text);
}

/* Those that have ended, or have to. */
static void sweep_past(struct l7 *l, int64_t now_ms)
{
	for (size_t i = 0; i < L7_PAST; i++) {
		struct l7_past *p = &l->past[i];

		if (!p->haproxy.pid)
			continue;
		haproxy_read(&p->haproxy);
		if (!haproxy_ended(&p->haproxy) &&
		    (!p->kill_ms || now_ms < p->kill_ms))
			continue;
		haproxy_end(&p->haproxy);
		(void)l7log_read(&l->log, l->on_line, l->data);
		profiles_free(&p->profiles);
	}
}

static void on_time(struct l7 *l, int64_t now_ms)
{
	struct err err;
	int rc = 0;

	sweep_past(l, now_ms);
	/* What is about to start begins with the pins that there are. */
	if (now_ms >= l->sweep_ms && !l->next.pid) {
		rc = pins_sweep(&l->pins, now_ms, &err);
		l->sweep_ms = now_ms + SWEEP_MS;
	}
	if (rc == 0 && l->serves && now_ms >= l->count_ms) {
		rc = count_dropped(l, l->pins.admin, &err);
		l->count_ms = now_ms + L7_COUNT_MS;
	}
	if (rc < 0)
		l->on_error(l->data, err.text);
}

int l7_step(struct l7 *l, const struct pollfd *p, int64_t now_ms,
	    struct err *err)
{
	struct err why;

	if (p[L7_SLOT_LOG].revents || l->log.kept)
		(void)l7log_read(&l->log, l->on_line, l->data);
	if (p[L7_SLOT_WORDS].revents)
		haproxy_read(&l->haproxy);
	if (p[L7_SLOT_END].revents) {
		haproxy_read(&l->haproxy);
		return err_set(err, -EPIPE, "HAProxy ended: %s",
			       haproxy_words(&l->haproxy));
	}
	if (begin_serving(l, now_ms, err) < 0)
		return err->code;
	if (signer_step(&l->signer, p + L7_SLOT_SIGNER, now_ms, &why) < 0)
		l->on_error(l->data, why.text);
	renewal_step(&l->renewal, p + L7_SLOT_RENEWAL, now_ms, l->on_renewal,
		     l->data);
	on_time(l, now_ms);
	return 0;
}

static int take_renewed(struct l7 *l, uint32_t id, const cJSON *o,
			struct err *err)
{
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(o, "status");
	const cJSON *body = cJSON_GetObjectItemCaseSensitive(o, "body");
	const cJSON *values = cJSON_GetObjectItemCaseSensitive(o, "values");
	int rc;

	if (!cJSON_IsNumber(status) || status->valueint < 200 ||
	    status->valueint > 599 || !cJSON_IsString(body))
		return err_set(err, -EPROTO, "a malformed renewal");
	rc = tokens_renew(&l->credentials, values, err);
	if (rc == 0 && values && l->serves)
		rc = tokens_tell(&l->credentials, l->pins.admin, err);
	if (rc == 0)
		renewal_answer(&l->renewal, id, (unsigned)status->valueint,
			       str_of(body->valuestring));
	return rc;
}

int l7_renewed(struct l7 *l, struct str line, struct err *err)
{
	const char *end = NULL;
	cJSON *o, *item;
	struct str word;
	uint64_t id;
	int rc;

	if (!str_field(&line, ' ', &word) || !str_u64(word, UINT32_MAX, &id))
		return err_set(err, -EPROTO, "a renewal without a number");
	o = cJSON_ParseWithLengthOpts(line.p, line.n, &end, false);
	rc = end == line.p + line.n
		     ? take_renewed(l, (uint32_t)id, o, err)
		     : err_set(err, -EPROTO, "a malformed renewal");
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(o, "values"))
		if (cJSON_IsString(item))
			explicit_bzero(item->valuestring,
				       strlen(item->valuestring));
	cJSON_Delete(o);
	return rc;
}

int l7_wait_ms(const struct l7 *l, int64_t now_ms)
{
	int64_t until_ms = l->log.kept ? now_ms : l->sweep_ms;

	if (l->plan.wanted && !l->serves)
		return HAPROXY_RETRY_MS;
	for (size_t i = 0; i < L7_PAST; i++)
		if (l->past[i].haproxy.pid && l->past[i].kill_ms &&
		    l->past[i].kill_ms < until_ms)
			until_ms = l->past[i].kill_ms;
	return until_ms < now_ms ? 0 : (int)(until_ms - now_ms);
}

const struct profiles *l7_profiles_of(const struct l7 *l, pid_t pid,
				      uint32_t *out_generation)
{
	for (size_t i = 0; i < L7_PAST; i++) {
		if (!pid || l->past[i].haproxy.pid != pid)
			continue;
		*out_generation = l->past[i].generation;
		return &l->past[i].profiles;
	}
	*out_generation = l->plan.generation;
	return &l->plan.profiles;
}

/* --- the end ------------------------------------------------------------- */

/* The next of "show servers conn": BACKEND/SERVER, and the words behind it. */
static bool next_server(struct str *answer, struct str *server,
			struct str *words)
{
	while (str_line(answer, words))
		if (!str_starts(*words, STR("#")) &&
		    str_field(words, ' ', server))
			return true;
	return false;
}

int l7_shut_down(const char *admin, struct err *err)
{
	char answer[ADMIN_ANSWER_MAX], text[ADMIN_BATCH_MAX];
	struct str rest, server, words;
	size_t n = 0, at = 0;
	unsigned servers = 0;
	int rc = admin_ask(admin, STR("show servers conn\n"), answer, &n, err);

	rest = (struct str){answer, n};
	while (next_server(&rest, &server, &words)) {
		if (at + server.n + 64 > sizeof(text))
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "shutdown sessions server %.*s;",
				       STR_ARG(server));
		servers++;
	}
	if (servers == 0)
		return rc;
	text[at - 1] = '\n';
	return admin_do(admin, (struct str){text, at}, servers, NULL, err);
}

/* What HAProxy has in hand, by a look at its streams. */
struct in_hand {
	unsigned streams;   /* of clients */
	unsigned to_server; /* of those: connected, or about to be */
	unsigned shut;	    /* of those: ended by text */
	char text[ADMIN_BATCH_MAX];
	size_t n;
};

/* Of a line of "show sess": whose it is, and its number; or nobody's. */
static bool read_stream(struct str line, struct str *id, bool *to_server)
{
	struct str word;

	*to_server = false;
	if (!str_field(&line, ':', id) || !str_starts(*id, STR("0x")))
		return false;
	while (str_field(&line, ' ', &word)) {
		if (str_eq(word, STR("fe=GLOBAL")))
			return false; /* who asks */
		if (str_starts(word, STR("srv=")))
			*to_server = !str_eq(word, STR("srv=<none>"));
	}
	return true;
}

/*
 * By stream, and not by server: a request that may be repeated was just then,
 * when its connection ended (to_tls_again), and no server's list has it any
 * more.
 */
static int look_in_hand(const char *admin, struct in_hand *out, struct err *err)
{
	char answer[ADMIN_ANSWER_MAX];
	struct str rest, line, id;
	bool to_server;
	size_t n = 0;
	int rc = admin_ask_some(admin, STR("show sess\n"), answer, &n, err);

	out->streams = out->to_server = out->shut = 0;
	out->n = 0;
	rest = (struct str){answer, n};
	while (str_line(&rest, &line)) {
		if (!read_stream(line, &id, &to_server))
			continue;
		out->streams++;
		out->to_server += to_server;
		if (!to_server || out->n + id.n + 32 > sizeof(out->text))
			continue;
		out->n += (size_t)snprintf(
			out->text + out->n, sizeof(out->text) - out->n,
			"shutdown session %.*s;", STR_ARG(id));
		out->shut++;
	}
	return rc;
}

static int shut_in_hand(const char *admin, struct in_hand *h, struct err *err)
{
	if (h->shut == 0)
		return 0;
	h->text[h->n - 1] = '\n';
	return admin_do(admin, (struct str){h->text, h->n}, h->shut,
			"No such session (use 'show sess').", err);
}

/*
 * A stream is logged before it is gone from the list, so where there is none
 * all was said. A client's that goes to no server may wait for its client.
 */
void l7_hear_out(struct l7 *l, const char *admin)
{
	struct pollfd p = {l->log.fd, POLLIN, 0};
	int64_t deadline_ms = clock_ms() + L7_CLOSE_MS;
	struct in_hand h;
	struct err err;
	bool speaks;

	do {
		if (look_in_hand(admin, &h, &err) < 0 ||
		    shut_in_hand(admin, &h, &err) < 0)
			return;
		speaks = poll(&p, 1, h.streams ? L7_SETTLE_MS : 0) > 0;
		(void)l7log_read(&l->log, l->on_line, l->data);
	} while ((h.to_server || speaks) && clock_ms() < deadline_ms);
}

static void end_others(struct l7 *l)
{
	haproxy_end(&l->next);
	for (size_t i = 0; i < L7_PAST; i++)
		haproxy_end(&l->past[i].haproxy);
}

void l7_end(struct l7 *l)
{
	struct err err;

	end_others(l);
	if (l->serves) {
		if (l7_shut_down(GATE_ADMIN, &err) == 0)
			l7_hear_out(l, GATE_ADMIN);
		/* it has ended: nobody to ask */
		ignore(count_dropped(l, GATE_ADMIN, &err));
	}
	haproxy_end(&l->haproxy);
	(void)l7log_read(&l->log, l->on_line, l->data);
	hello_forget(&l->credentials);
	ca_done(&l->ca);
}
