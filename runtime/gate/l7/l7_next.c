#include "runtime/gate/l7/l7_next.h"

#include "runtime/gate/l7/tokens.h"
#include "runtime/gate/l7/user.h"
#include "runtime/gate/plan/planfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define KEEP_ADMIN L7_KEEP "admin.sock"
#define SOCKETS	   32u /* of HAProxy; it has four */
#define SOCKET_MAX 64u

/* --- the sockets of the old one ------------------------------------------ */

struct sockets {
	char names[SOCKETS][SOCKET_MAX];
	size_t n;
};

/* Those in a folder that are HAProxy's own. */
static void find_sockets(const char *dir, struct sockets *out)
{
	DIR *d = opendir(dir);
	uid_t user = user_there(GATE_UID);
	const struct dirent *e;
	struct stat st;

	out->n = 0;
	while (d && out->n < SOCKETS && (e = readdir(d))) {
		if (strlen(e->d_name) >= SOCKET_MAX ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		/* ours is the gate's, whoever HAProxy is */
		if (S_ISSOCK(st.st_mode) && st.st_uid == user &&
		    strcmp(e->d_name, &GATE_LOG[sizeof(GATE_DIR)]) != 0)
			snprintf(out->names[out->n++], SOCKET_MAX, "%.63s",
				 e->d_name);
	}
	if (d)
		closedir(d);
}

static void path_in(const char *dir, const char *name, char out[128])
{
	snprintf(out, 128, "%s%.63s", dir, name);
}

/*
 * Only the owner of a socket may link it; nothing else is done as that user,
 * and no capability is effective meanwhile.
 */
static int link_all(const struct sockets *s, struct err *err)
{
	uid_t own = geteuid();
	char from[128], to[128];
	int rc = 0;

	if (seteuid(user_there(GATE_UID)) < 0)
		return err_set(err, -errno, "keeping sockets: %s",
			       strerror(errno));
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		path_in(GATE_DIR "/", s->names[i], from);
		path_in(L7_KEEP, s->names[i], to);
		if (link(from, to) < 0)
			rc = err_set(err, -errno, "keeping %s: %s", from,
				     strerror(errno));
	}
	/* A change of user also forgets whose death is ours. */
	if (seteuid(own) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		rc = err_set(err, -errno, "keeping sockets: %s",
			     strerror(errno));
	return rc;
}

/* Forget what was kept. */
static void forget_sockets(void)
{
	struct sockets kept;
	char path[128];

	find_sockets(L7_KEEP, &kept);
	for (size_t i = 0; i < kept.n; i++) {
		path_in(L7_KEEP, kept.names[i], path);
		(void)unlink(path);
	}
}

static int keep_sockets(struct err *err)
{
	struct sockets s;

	if ((mkdir(L7_KEEP, 0700) < 0 && errno != EEXIST) ||
	    chmod(L7_KEEP, 0777) < 0)
		return err_set(err, -errno, L7_KEEP ": %s", strerror(errno));
	forget_sockets();
	find_sockets(GATE_DIR "/", &s);
	return link_all(&s, err);
}

static void put_back(void)
{
	struct sockets kept;
	char from[128], to[128];

	find_sockets(L7_KEEP, &kept);
	for (size_t i = 0; i < kept.n; i++) {
		path_in(L7_KEEP, kept.names[i], from);
		path_in(GATE_DIR "/", kept.names[i], to);
		(void)rename(from, to);
	}
}

/* Whom pins and leaves are told to: the one that runs, wherever it listens. */
static void reach_by(struct l7 *l, const char *admin)
{
	l->pins.admin = l->haproxy.pid ? admin : NULL;
	l->signer.admin = admin;
}

/* --- its start ----------------------------------------------------------- */

int l7_next_start(struct l7 *l, const struct l7_plan *p, struct err *err)
{
	int rc;

	if (p->decrypts && !l->ca.key)
		return err_set(
			err, -EOPNOTSUPP,
			"this session decrypts nothing: the agent trusts no CA of it");
	if (!p->wanted)
		return 0;
	if ((rc = l7_wait(l, err)) < 0)
		return rc;
	if (l->haproxy.pid && (rc = keep_sockets(err)) < 0) {
		forget_sockets();
		return rc;
	}
	reach_by(l, KEEP_ADMIN);
	rc = l7_prepare(l, p, err);
	if (rc == 0)
		rc = haproxy_start(&l->next, &l->ports, p->path,
				   &l->credentials, err);
	if (rc < 0)
		l7_next_drop(l);
	return rc;
}

int l7_next_ready(struct l7 *l, const struct l7_plan *p, struct err *err)
{
	return p->wanted ? l7_answers(l, &l->next, p, err) : 1;
}

void l7_next_drop(struct l7 *l)
{
	haproxy_end(&l->next);
	put_back();
	reach_by(l, GATE_ADMIN);
}

/* --- its turn ------------------------------------------------------------ */

/* A place among those that end; the oldest of them loses its own. */
static struct l7_past *past_new(struct l7 *l)
{
	struct l7_past *oldest = &l->past[0];

	for (size_t i = 0; i < L7_PAST; i++) {
		struct l7_past *p = &l->past[i];

		if (!p->haproxy.pid)
			return p;
		if (p->generation < oldest->generation)
			oldest = p;
	}
	haproxy_end(&oldest->haproxy);
	(void)l7log_read(&l->log, l->on_line, l->data);
	profiles_free(&oldest->profiles);
	return oldest;
}

/* What the one that goes has to say: it is reached where it was kept. */
static void take_leave(struct l7 *l, bool cut)
{
	struct err err;

	l7_count_dropped(l, KEEP_ADMIN);
	if (cut && l7_shut_down(KEEP_ADMIN, &err) < 0)
		l->on_error(l->data, err.text);
	else if (cut)
		l7_hear_out(l, KEEP_ADMIN);
	haproxy_finish(&l->haproxy);
}

static void retire_haproxy(struct l7 *l, bool cut, int64_t now_ms)
{
	struct l7_past *p;

	if (l->haproxy.pid) {
		/* Where nothing took its place, nothing was kept. */
		if (!l->next.pid)
			ignore(keep_sockets(&(struct err){0}));
		take_leave(l, cut);
		p = past_new(l);
		p->haproxy = l->haproxy;
		p->profiles = l->plan.profiles;
		p->generation = l->plan.generation;
		p->kill_ms = 0;
		l->plan.profiles = (struct profiles){0};
	}
	for (size_t i = 0; cut && i < L7_PAST; i++)
		if (!l->past[i].kill_ms)
			l->past[i].kill_ms = now_ms + L7_CUT_MS;
}

void l7_next_take(struct l7 *l, struct l7_plan *p, bool cut, int64_t now_ms)
{
	struct err err;

	if (haproxy_open(&l->next, &err) < 0)
		l->on_error(l->data, err.text);
	retire_haproxy(l, cut, now_ms);
	forget_sockets();
	l->haproxy = l->next;
	l->next = haproxy_none();
	l->serves = p->wanted;
	l7_plan_free(&l->plan);
	l->plan = *p;
	planfile_free(l->plan.config);
	l->plan.config = (struct str){0};
	*p = (struct l7_plan){0};
	/* It has only the leaves of its list, and has dropped nothing yet. */
	memset(l->signer.leaves, 0, sizeof(l->signer.leaves));
	l->dropped = 0;
	reach_by(l, GATE_ADMIN);
}

bool l7_next_cutting(const struct l7 *l)
{
	for (size_t i = 0; i < L7_PAST; i++)
		if (l->past[i].haproxy.pid && l->past[i].kill_ms)
			return true;
	return false;
}
