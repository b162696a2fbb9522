#include "runtime/gate/ask/asking.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* --- how a question ends --------------------------------------------------- */

static const char *const ends[] = {
	[ASKING_ONCE] = "once",	      [ASKING_YES] = "yes",
	[ASKING_NO] = "no",	      [ASKING_NONE] = "none",
	[ASKING_TIMEOUT] = "timeout", [ASKING_GONE] = "gone",
	[ASKING_DECIDED] = "decided",
};

const char *asking_end_text(enum asking_end e)
{
	return ends[e];
}

bool asking_end_parse(struct str text, enum asking_end *out)
{
	for (size_t i = 0; i <= ASKING_NONE; i++) {
		if (!str_is(text, ends[i]))
			continue;
		*out = (enum asking_end)i;
		return true;
	}
	return false;
}

/* What a question is after that, and what those are told who waited. */
static enum question_state state_after(enum asking_end e, enum reason *out_why)
{
	switch (e) {
	case ASKING_ONCE:
		*out_why = REASON_ANSWERED;
		return QUESTION_ONCE;
	case ASKING_YES:
		*out_why = REASON_ANSWERED;
		return QUESTION_YES;
	case ASKING_NO:
		*out_why = REASON_ANSWERED_NO;
		return QUESTION_NO;
	case ASKING_NONE:
		*out_why = REASON_NOT_ASKED;
		return QUESTION_FREE;
	case ASKING_TIMEOUT:
	case ASKING_GONE:
	case ASKING_DECIDED:
		break;
	}
	*out_why = REASON_NOT_ANSWERED;
	return QUESTION_FREE;
}

/* --- clients --------------------------------------------------------------- */

int asking_open(struct asking *a, const char *path, struct err *err)
{
	int rc;

	if (a->open)
		return 0;
	for (size_t i = 0; i < ASKING_CLIENTS; i++)
		a->slots[i].text = a->texts[i];
	a->clients.v = a->slots;
	a->clients.size = ASKING_CLIENTS;
	a->clients.room = ASK_LINE_MAX;
	/* The question has its own time. */
	a->clients.wait_ms = INT32_MAX;
	rc = clients_open(&a->clients, path, err);
	a->open = rc == 0;
	return rc;
}

static struct client *client_of(struct asking *a, const struct waiter *w)
{
	return &a->slots[w - a->waiters];
}

/* Its slot may be somebody else's by now. */
static bool is_there(struct asking *a, const struct waiter *w)
{
	const struct client *c = client_of(a, w);

	return c->fd >= 0 && c->id == w->id;
}

/* The last that it is told. */
static void send_last(struct asking *a, struct waiter *w, const char *text)
{
	struct client *c = client_of(a, w);

	/* A socket takes that at once, or its client is none. */
	if (is_there(a, w)) {
		ignore(send(c->fd, text, strlen(text),
			    MSG_DONTWAIT | MSG_NOSIGNAL));
		clients_drop(c);
	}
	w->state = WAITER_FREE;
}

static void send_no(struct asking *a, struct waiter *w, enum reason why)
{
	char text[64];

	snprintf(text, sizeof(text), "no %s\n",
		 w->line.kind == ASK_HELLO ? "-" : reason_name(why));
	send_last(a, w, text);
}

/* On it goes, to that address. */
static void send_yes(struct asking *a, struct waiter *w,
		     const struct addr *addr)
{
	char text[ADDR_TEXT_MAX + 48], to[ADDR_TEXT_MAX];
	struct asked_conn *conn = &a->conns[w->line.sport];

	addr_text(addr, to);
	if (w->line.kind == ASK_CONN) {
		*conn = (struct asked_conn){w->question, w->id, false};
		snprintf(text, sizeof(text), "yes %s %s %u\n",
			 w->strict ? "strict" : "raw", to, w->id);
	} else {
		snprintf(text, sizeof(text), "yes %s\n", to);
	}
	send_last(a, w, text);
}

/* --- names ----------------------------------------------------------------- */

static const char *stand_in_name(const struct asking *a,
				 const struct addr *addr)
{
	return a->dns->standins ? standins_name(a->dns->standins, addr) : NULL;
}

/*
 * What is asked about the address that a connection goes to, and the name that
 * led there; out_name stays as it is where none did.
 */
static const struct names_ask *find_ask(struct asking *a,
					const struct ask_line *l,
					char out_name[LIMIT_NAME_BYTES + 1])
{
	struct resolved_name *names[ASKING_NAMES];
	const char *own = stand_in_name(a, &l->addr);
	unsigned n = 0;

	if (own) {
		snprintf(out_name, LIMIT_NAME_BYTES + 1, "%s", own);
		return names_asked(a->names, str_of(own), l->port);
	}
	n = resolved_names_of(a->dns->seen, &l->addr, names, ASKING_NAMES);
	for (unsigned i = 0; i < n; i++) {
		const struct names_ask *ask = names_asked(
			a->names, str_of(names[i]->name), l->port);
		struct names_match m;

		/* The agent has addresses of what is granted somewhere. */
		if (!ask ||
		    !names_match(a->names, str_of(names[i]->name), &m))
			continue;
		snprintf(out_name, LIMIT_NAME_BYTES + 1, "%s", names[i]->name);
		return ask;
	}
	return names_asked_addr(a->names, &l->addr, l->port);
}

static bool is_resolving(const struct waiter *w, const char *name,
			 bool private_ok)
{
	return w->state == WAITER_RESOLVES && w->private_ok == private_ok &&
	       strcmp(w->name, name) == 0;
}

/*
 * It may go on: to the address that it called, or, where that only stands in
 * for a name, to one that the name has. ask: what permits it; NULL: a grant.
 */
static void let_go(struct asking *a, struct waiter *w, const char *name,
		   const struct names_ask *ask, int64_t now_ms)
{
	struct names_match match = {0};

	/* By a proxy names have no other addresses. */
	if (names_by_proxy(a->names, str_of(name)) ||
	    !stand_in_name(a, &w->line.addr)) {
		send_yes(a, w, &w->line.addr);
		return;
	}
	if (ask) {
		match.private_ok = ask->line.private_ok;
		names_match_past(a->names, str_of(name), &match);
	} else {
		(void)names_match(a->names, str_of(name), &match);
	}
	w->state = WAITER_RESOLVES;
	w->private_ok = match.private_ok;
	snprintf(w->name, sizeof(w->name), "%s", name);
	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		const struct waiter *x = &a->waiters[i];

		if (x != w && is_resolving(x, w->name, w->private_ok))
			return; /* that is on its way */
	}
	dns_gate_find(a->dns, w->name, &match, now_ms);
}

void asking_found(struct asking *a, const char *name, bool private_ok,
		  const struct addr *addr)
{
	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		struct waiter *w = &a->waiters[i];

		if (!is_resolving(w, name, private_ok))
			continue;
		if (addr)
			send_yes(a, w, addr);
		else
			send_no(a, w, REASON_UPSTREAM);
	}
}

/* --- questions ------------------------------------------------------------- */

static void key_of(struct question_key *key, const struct names_ask *ask,
		   const char *name, const struct ask_line *l)
{
	*key = (struct question_key){.port = l->port};
	snprintf(key->rule, sizeof(key->rule), "%.*s", STR_ARG(ask->line.id));
	/* Of a network it is the address, whatever is called there. */
	if (ask->line.name.n)
		snprintf(key->name, sizeof(key->name), "%s", name);
	else
		key->addr = l->addr;
}

static unsigned count_waiting(const struct asking *a)
{
	unsigned n = 0;

	for (size_t i = 0; i < ASKING_CLIENTS; i++)
		n += a->waiters[i].state != WAITER_FREE;
	return n;
}

static void end_question(struct asking *a, struct question *x,
			 enum asking_end end)
{
	enum reason ignored;

	questions_settle(x, state_after(end, &ignored));
	a->on_answered(a->data, x->number, end);
}

/* Hold one against what was answered; wait where nothing was. */
static void put_question(struct asking *a, struct waiter *w,
			 const struct question_key *key,
			 const struct names_ask *ask, const char *name,
			 int64_t now_ms)
{
	struct question *x;
	bool is_new = false;
	enum reason why;

	/* The rest is for who is answered at once. */
	if (count_waiting(a) >= ASKING_WAITERS) {
		send_no(a, w, REASON_TOO_MANY);
		return;
	}
	why = questions_ask(&a->questions, key, ask->wait_s, now_ms, &x,
			    &is_new);
	if (is_new && !a->on_question(a->data, x, w->line.sport, ask->wait_s)) {
		questions_settle(x, QUESTION_FREE);
		why = REASON_NOT_ASKED;
	}
	if (why == REASON_ANSWERED) {
		w->question = x->number;
		let_go(a, w, name, ask, now_ms);
	} else if (why == REASON_ASK) {
		w->state = WAITER_ASKS;
		w->question = x->number;
		w->beat_ms = now_ms + ASKING_BEAT_MS;
	} else {
		send_no(a, w, why);
	}
}

/* The question by which a connection was permitted that is about this name or
 * this address; NULL: none. */
static struct question *answered_for(struct asking *a, const struct ask_line *l)
{
	const struct asked_conn *conn = &a->conns[l->sport];
	struct question *x =
		conn->over ? NULL
			   : questions_find(&a->questions, conn->question);

	if (x && (x->state == QUESTION_ONCE || x->state == QUESTION_YES) &&
	    x->key.port == l->port &&
	    (x->key.name[0] ? strcmp(x->key.name, l->name) == 0
			    : addr_eq(&x->key.addr, &l->addr)))
		return x;
	return questions_answered(&a->questions, l->name, &l->addr, l->port);
}

/* The same, as long as the plan asks about it at all. */
static const struct names_ask *permitted_by(struct asking *a,
					    const struct ask_line *l,
					    struct question **out)
{
	struct question *x = answered_for(a, l);

	*out = x;
	return x ? names_ask_of(a->names, str_of(x->key.rule), str_of(l->name),
				&l->addr)
		 : NULL;
}

/* --- what HAProxy asks ----------------------------------------------------- */

static void take_conn(struct asking *a, struct waiter *w, int64_t now_ms)
{
	char name[LIMIT_NAME_BYTES + 1] = "";
	const struct names_ask *ask = find_ask(a, &w->line, name);
	struct question_key key;
	bool opens;

	/* Whoever had that port before is gone. */
	a->conns[w->line.sport] = (struct asked_conn){0};
	w->strict = false;
	if (names_denied(a->names, str_of(name))) {
		send_no(a, w, REASON_DENIED);
		return;
	}
	opens = name[0] && names_opens(a->names, str_of(name), w->line.port,
				       &w->strict);
	if (opens) {
		let_go(a, w, name, NULL, now_ms);
	} else if (!ask) {
		send_no(a, w, REASON_NO_GRANT);
	} else if (ask->http) {
		w->strict = true;
		send_yes(a, w, &w->line.addr);
	} else {
		key_of(&key, ask, name, &w->line);
		put_question(a, w, &key, ask, name, now_ms);
	}
}

static void take_hello(struct asking *a, struct waiter *w)
{
	struct question *x;
	const struct names_ask *ask = permitted_by(a, &w->line, &x);
	char text[64];
	uint32_t generation;
	struct str token = {0};

	if (ask)
		token = profiles_token(
			l7_profiles_of(a->l7, w->pid, &generation),
			ask->line.id, str_of(w->line.name), &w->line.addr);
	if (!token.n) {
		send_no(a, w, REASON_NOT_ASKED);
		return;
	}
	snprintf(text, sizeof(text), "yes %.*s\n", STR_ARG(token));
	send_last(a, w, text);
}

static void take_request(struct asking *a, struct waiter *w, int64_t now_ms)
{
	const struct ask_line *l = &w->line;
	uint32_t generation;
	struct str id = profiles_find(
		l7_profiles_of(a->l7, w->pid, &generation), str_of(l->token),
		str_of(l->name), &l->addr);
	const struct names_ask *ask =
		names_ask_of(a->names, id, str_of(l->name), &l->addr);
	const struct names_ask *whole;
	struct question_key key;
	struct question *x;
	bool strict = false;

	if (names_denied(a->names, str_of(l->name))) {
		send_no(a, w, REASON_DENIED);
		return;
	}
	/* Of an HAProxy that has the plan before this one. */
	if (names_opens(a->names, str_of(l->name), l->port, &strict) &&
	    !strict) {
		let_go(a, w, l->name, NULL, now_ms);
		return;
	}
	whole = permitted_by(a, l, &x);
	if (whole) {
		w->question = x->number;
		let_go(a, w, l->name, whole, now_ms);
		return;
	}
	if (!ask) {
		send_no(a, w, REASON_NO_GRANT);
		return;
	}
	key_of(&key, ask, l->name, l);
	if (questions_refused(&a->questions, &key)) {
		send_no(a, w, REASON_ANSWERED_NO);
		return;
	}
	key.tls = l->tls;
	memcpy(key.method, l->method, sizeof(key.method));
	memcpy(key.path, l->path, sizeof(key.path));
	put_question(a, w, &key, ask, l->name, now_ms);
}

static void take_line(struct asking *a, struct waiter *w, int64_t now_ms)
{
	switch (w->line.kind) {
	case ASK_CONN:
		take_conn(a, w, now_ms);
		return;
	case ASK_HELLO:
		take_hello(a, w);
		return;
	case ASK_REQUEST:
		take_request(a, w, now_ms);
		return;
	}
}

/* --- the loop -------------------------------------------------------------- */

struct step {
	struct asking *a;
	int64_t now_ms;
};

static pid_t peer_of(int fd)
{
	struct ucred from = {0};
	socklen_t n = sizeof(from);

	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &from, &n);
	return from.pid;
}

static void hear_client(void *data, struct client *c)
{
	struct step *step = data;
	struct asking *a = step->a;
	struct waiter *w = &a->waiters[c - a->slots];
	struct ask_line line;

	if (c->id || c->n == a->clients.room) {
		clients_drop(c); /* it has asked, and says more; or too much */
		return;
	}
	if (c->text[c->n - 1] != '\n')
		return;
	if (!ask_line_parse((struct str){c->text, c->n - 1}, &line)) {
		clients_drop(c);
		return;
	}
	if (++a->last_id == 0)
		a->last_id = 1;
	c->id = a->last_id;
	*w = (struct waiter){
		.id = c->id, .pid = peer_of(c->fd), .line = line};
	take_line(a, w, step->now_ms);
}

/* Whose client is gone, and what nobody waits for then. */
static void forget_gone(struct asking *a)
{
	uint32_t number;

	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		struct waiter *w = &a->waiters[i];
		struct question *x;
		bool waits = false;

		if (is_there(a, w))
			continue;
		number = w->state == WAITER_ASKS ? w->question : 0;
		w->state = WAITER_FREE;
		for (size_t k = 0; number && k < ASKING_CLIENTS; k++)
			waits |= a->waiters[k].state == WAITER_ASKS &&
				 a->waiters[k].question == number;
		x = waits ? NULL : questions_find(&a->questions, number);
		if (x)
			end_question(a, x, ASKING_GONE);
	}
}

/* A connection's client is looked for each time: gate.lua. */
static void send_beats(struct asking *a, int64_t now_ms)
{
	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		struct waiter *w = &a->waiters[i];

		if (w->state != WAITER_ASKS || w->line.kind != ASK_CONN ||
		    w->beat_ms > now_ms)
			continue;
		ignore(send(client_of(a, w)->fd, "wait\n", 5,
			    MSG_DONTWAIT | MSG_NOSIGNAL));
		w->beat_ms = now_ms + ASKING_BEAT_MS;
	}
}

/* Those who wait for a question that has its answer, or none. */
static void tell_waiters(struct asking *a, const struct question *x,
			 enum asking_end end, int64_t now_ms)
{
	enum reason why;

	(void)state_after(end, &why);
	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		struct waiter *w = &a->waiters[i];
		const struct names_ask *ask;

		if (w->state != WAITER_ASKS || w->question != x->number)
			continue;
		ask = names_ask_of(a->names, str_of(x->key.rule),
				   str_of(x->key.name), &x->key.addr);
		if (why == REASON_ANSWERED && ask)
			let_go(a, w, x->key.name, ask, now_ms);
		else
			send_no(a, w, ask ? why : REASON_NO_GRANT);
	}
}

static void end_due(struct asking *a, int64_t now_ms)
{
	struct question *x;

	while ((x = questions_due(&a->questions, now_ms))) {
		enum asking_end end =
			x->decided ? ASKING_DECIDED : ASKING_TIMEOUT;

		tell_waiters(a, x, end, now_ms);
		end_question(a, x, end);
	}
}

void asking_poll(const struct asking *a, struct pollfd *p)
{
	for (size_t i = 0; !a->open && i < ASKING_POLL; i++)
		p[i] = (struct pollfd){-1, POLLIN, 0};
	if (a->open)
		clients_poll(&a->clients, p);
}

void asking_step(struct asking *a, const struct pollfd *p, int64_t now_ms)
{
	struct step step = {a, now_ms};

	if (!a->open)
		return;
	clients_step(&a->clients, p, now_ms, hear_client, &step);
	forget_gone(a);
	end_due(a, now_ms);
	send_beats(a, now_ms);
}

int asking_wait_ms(const struct asking *a, int64_t now_ms)
{
	int64_t until_ms = questions_next_ms(&a->questions);

	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		const struct waiter *w = &a->waiters[i];

		if (w->state == WAITER_ASKS && w->line.kind == ASK_CONN &&
		    (until_ms < 0 || w->beat_ms < until_ms))
			until_ms = w->beat_ms;
	}
	if (until_ms < 0)
		return -1;
	return until_ms < now_ms ? 0 : (int)(until_ms - now_ms);
}

void asking_listens(struct asking *a, bool on)
{
	a->questions.on = on;
}

void asking_answer(struct asking *a, uint32_t number, enum asking_end end,
		   int64_t now_ms)
{
	struct question *x = questions_find(&a->questions, number);

	if (!x || x->state != QUESTION_OPEN)
		return;
	tell_waiters(a, x, end, now_ms);
	end_question(a, x, end);
}

/*
 * Whoever answers for more than once puts another plan in force and says so
 * then: the question stays for that, though nobody waits any more.
 */
static void decide_question(struct asking *a, uint32_t number, int64_t now_ms)
{
	struct question *x = questions_find(&a->questions, number);

	if (!x || x->state != QUESTION_OPEN)
		return;
	x->decided = true;
	if (x->deadline_ms > now_ms + ASKING_GRACE_MS)
		x->deadline_ms = now_ms + ASKING_GRACE_MS;
}

/* What was permitted, and waits for its address: by the plan that there is. */
static void resume_waiter(struct asking *a, struct waiter *w, int64_t now_ms)
{
	struct question *x = questions_find(&a->questions, w->question);
	const struct names_ask *ask = NULL;
	char name[LIMIT_NAME_BYTES + 1];

	memcpy(name, w->name, sizeof(name));
	if (x)
		ask = names_ask_of(a->names, str_of(x->key.rule), str_of(name),
				   &w->line.addr);
	if (!x || names_denied(a->names, str_of(name)))
		take_line(a, w, now_ms);
	else if (ask)
		let_go(a, w, name, ask, now_ms);
	else
		send_no(a, w, REASON_NO_GRANT);
}

void asking_changed(struct asking *a, int64_t now_ms)
{
	enum waiter_state was[ASKING_CLIENTS];

	/* None of them is on its way any more: see let_go(). */
	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		struct waiter *w = &a->waiters[i];

		was[i] = w->state;
		w->state = was[i] == WAITER_RESOLVES ? WAITER_FREE : w->state;
	}
	for (size_t i = 0; i < ASKING_CLIENTS; i++) {
		struct waiter *w = &a->waiters[i];
		uint32_t number = w->question;

		if (was[i] == WAITER_RESOLVES)
			resume_waiter(a, w, now_ms);
		if (was[i] != WAITER_ASKS)
			continue;
		w->state = WAITER_FREE;
		take_line(a, w, now_ms);
		if (w->state != WAITER_ASKS || w->question != number)
			decide_question(a, number, now_ms);
	}
}

void asking_closed(struct asking *a, uint16_t sport, uint32_t serial)
{
	if (a->conns[sport].serial == serial)
		a->conns[sport].over = true;
}

const struct question *asking_question_of(struct asking *a, uint16_t sport,
					  uint16_t port)
{
	const struct question *x =
		questions_find(&a->questions, a->conns[sport].question);

	return x && x->key.port == port ? x : NULL;
}
