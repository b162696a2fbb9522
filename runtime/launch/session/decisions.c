#include "runtime/launch/session/decisions.h"

#include "compiler/base/sys/fileio.h"

#include <fcntl.h>
#include <unistd.h>

void decisions_init(struct decisions *d)
{
	*d = (struct decisions){.fd = -1, .copy = -1};
}

const char *decisions_path(struct arena *a, const char *dir, unsigned part)
{
	return part ? arena_fmt(a, "%s/decisions.%u.jsonl", dir, part).p
		    : arena_fmt(a, "%s/decisions.jsonl", dir).p;
}

const char *decisions_lost_word(enum decisions_lost of)
{
	switch (of) {
	case DECISIONS_LOST_EVENTS:
		return "trace";
	case DECISIONS_LOST_LINES:
		return "decisions";
	case DECISIONS_LOST_REFUSALS:
		return "refusals";
	case DECISIONS_LOST_KINDS:
		break;
	}
	return "";
}

static int open_part(struct decisions *d, struct err *err)
{
	struct arena *a = arena_new();
	const char *path = decisions_path(a, d->dir, d->part);
	int rc = 0;

	d->bytes = 0;
	d->fd = fileio_create(AT_FDCWD, path, O_WRONLY | O_APPEND, 0600);
	if (d->fd < 0)
		rc = err_errno(err, path);
	arena_free(a);
	return rc;
}

int decisions_open(struct decisions *d, const char *dir, struct err *err)
{
	d->dir = dir;
	return open_part(d, err);
}

/* The old part is closed once the new one is there. */
static int next_part(struct decisions *d, struct err *err)
{
	int old = d->fd, rc;

	d->part++;
	rc = open_part(d, err);
	fd_close(&old);
	return rc;
}

static bool is_too_much(struct decisions *d, size_t n, enum decisions_kind kind)
{
	switch (kind) {
	case DECISIONS_PERMITTED:
		return false;
	case DECISIONS_REFUSED:
		if (d->refused_bytes + n > DECISIONS_REFUSED_MAX)
			return true;
		d->refused_bytes += n;
		return false;
	case DECISIONS_REFUSED_NEW:
		d->refused_bytes += n;
		return false;
	}
	return false;
}

int decisions_add(struct decisions *d, struct str line,
		  enum decisions_kind kind, struct err *err)
{
	int rc = 0;

	if (is_too_much(d, line.n, kind)) {
		d->unwritten++;
		return 0;
	}
	if (d->bytes && d->bytes + line.n > DECISIONS_PART)
		rc = next_part(d, err);
	if (rc == 0)
		rc = fileio_write_all(d->fd, line, err);
	d->bytes += line.n;
	if (rc == 0 && d->copy >= 0)
		rc = fileio_write_all(d->copy, line, err);
	return rc;
}

void decisions_done(struct decisions *d)
{
	fd_close(&d->fd);
	fd_close(&d->copy);
	d->fd = d->copy = -1;
}
