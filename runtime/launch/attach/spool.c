#include "runtime/launch/attach/spool.h"

#include "compiler/base/sys/fileio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define HEAD	  8u
#define NAME_SIZE 16u

static void name_of(uint32_t segment, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%u", segment);
}

/* --- writing -------------------------------------------------------------- */

static int begin_segment(struct spool *s, uint32_t segment)
{
	char name[NAME_SIZE];
	int fd;

	name_of(segment, name);
	fd = fileio_create(s->dir_fd, name, O_WRONLY | O_EXCL, 0600);
	if (fd < 0)
		return -1;
	fd_close(&s->fd);
	s->fd = fd;
	s->end = (struct spool_place){segment, 0};
	if (segment > SPOOL_SEGMENTS) {
		name_of(segment - SPOOL_SEGMENTS, name);
		unlinkat(s->dir_fd, name, 0);
	}
	return 0;
}

int spool_open(struct spool *s, const char *dir, struct err *err)
{
	auto_fd int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*s = (struct spool){.dir_fd = -1, .fd = -1};
	if (top < 0)
		return err_errno(err, dir);
	if (fileio_mkdir(top, SPOOL_FOLDER, 0700, err) < 0)
		return err_while(err, "the folder for the output");
	s->dir_fd =
		openat(top, SPOOL_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0 || begin_segment(s, 1) < 0)
		return err_errno(err, "the record of the output");
	return 0;
}

static void write_frame(struct spool *s, enum spool_stream stream,
			struct str bytes)
{
	unsigned char head[HEAD] = {(unsigned char)stream};
	struct iovec parts[] = {{head, HEAD},
				{(void *)(uintptr_t)bytes.p, bytes.n}};
	ssize_t wrote;

	for (unsigned i = 0; i < 4; i++)
		head[4 + i] = (unsigned char)(bytes.n >> (24 - 8 * i));
	do
		wrote = pwritev(s->fd, parts, 2, (off_t)s->end.at);
	while (wrote < 0 && errno == EINTR);
	if (wrote == (ssize_t)(HEAD + bytes.n)) {
		s->end.at += HEAD + bytes.n;
		return;
	}
	/* Half a frame is none: the next one is written over it. */
	s->unwritten += bytes.n;
	if (ftruncate(s->fd, (off_t)s->end.at) < 0)
		return;
}

void spool_add(struct spool *s, enum spool_stream stream, struct str bytes)
{
	if (s->end.at + HEAD + bytes.n > SPOOL_SEGMENT &&
	    begin_segment(s, s->end.segment + 1) < 0) {
		s->unwritten += bytes.n;
		return;
	}
	write_frame(s, stream, bytes);
}

void spool_done(struct spool *s)
{
	fd_close(&s->fd);
	fd_close(&s->dir_fd);
	s->fd = s->dir_fd = -1;
}

/* --- reading -------------------------------------------------------------- */

/* The first segment that is kept; 0: none is. */
static uint32_t oldest_segment(const struct spool_reader *r)
{
	int fd = dup(r->dir_fd);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	uint32_t least = 0;
	uint64_t n;

	if (!dir) {
		fd_close(&fd);
		return 0;
	}
	rewinddir(dir);
	while ((e = readdir(dir)))
		if (str_u64(str_of(e->d_name), UINT32_MAX, &n) && n > 0 &&
		    (least == 0 || n < least))
			least = (uint32_t)n;
	closedir(dir);
	return least;
}

static bool segment_exists(const struct spool_reader *r, uint32_t segment)
{
	char name[NAME_SIZE];

	name_of(segment, name);
	return faccessat(r->dir_fd, name, F_OK, 0) == 0;
}

void spool_seek(struct spool_reader *r, struct spool_place to)
{
	if (r->place.segment != to.segment)
		fd_close(&r->fd);
	if (r->place.segment != to.segment)
		r->fd = -1;
	r->place = to;
}

int spool_reader_open(struct spool_reader *r, const char *dir, struct err *err)
{
	auto_fd int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	r->dir_fd = r->fd = -1;
	r->skipped = false;
	r->place = (struct spool_place){0};
	if (top < 0)
		return err_errno(err, dir);
	r->dir_fd =
		openat(top, SPOOL_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir_fd < 0)
		return err_errno(err, "the record of the output");
	r->place.segment = oldest_segment(r);
	if (r->place.segment == 0)
		r->place.segment = 1;
	r->skipped = r->place.segment > 1;
	return 0;
}

void spool_reader_done(struct spool_reader *r)
{
	fd_close(&r->fd);
	fd_close(&r->dir_fd);
	r->fd = r->dir_fd = -1;
}

/* False when there is nothing at this place, nor behind it. */
static bool open_segment(struct spool_reader *r)
{
	char name[NAME_SIZE];
	uint32_t least;

	while (r->fd < 0) {
		name_of(r->place.segment, name);
		r->fd = openat(r->dir_fd, name, O_RDONLY | O_CLOEXEC);
		if (r->fd >= 0)
			return true;
		least = oldest_segment(r);
		if (least <= r->place.segment)
			return false;
		r->place = (struct spool_place){least, 0};
		r->skipped = true;
	}
	return true;
}

static ssize_t read_at(const struct spool_reader *r, void *p, size_t n,
		       uint64_t at)
{
	ssize_t got;

	do
		got = pread(r->fd, p, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got;
}

/* 1: a whole frame; 0: not all of it is there. */
static int read_frame(struct spool_reader *r, enum spool_stream *out_stream,
		      struct str *out, struct err *err)
{
	unsigned char head[HEAD];
	size_t n = 0;
	ssize_t got = read_at(r, head, HEAD, r->place.at);

	if (got < 0)
		return err_errno(err, "the record of the output");
	if (got < (ssize_t)HEAD)
		return 0;
	for (unsigned i = 4; i < HEAD; i++)
		n = n << 8 | head[i];
	if ((head[0] != SPOOL_OUT && head[0] != SPOOL_ERR) || head[1] ||
	    head[2] || head[3] || n == 0 || n > SPOOL_FRAME_MAX)
		return err_set(err, -EPROTO,
			       "the record of the output is damaged");
	got = read_at(r, r->bytes, n, r->place.at + HEAD);
	if (got < 0)
		return err_errno(err, "the record of the output");
	if ((size_t)got < n)
		return 0;
	r->place.at += HEAD + n;
	*out_stream = (enum spool_stream)head[0];
	*out = (struct str){r->bytes, n};
	return 1;
}

int spool_next(struct spool_reader *r, enum spool_stream *out_stream,
	       struct str *out, struct err *err)
{
	while (open_segment(r)) {
		/* Asked first: then nothing more comes into this one. */
		bool done = segment_exists(r, r->place.segment + 1) ||
			    !segment_exists(r, r->place.segment);
		int rc = read_frame(r, out_stream, out, err);

		if (rc != 0 || !done)
			return rc;
		spool_seek(r, (struct spool_place){r->place.segment + 1, 0});
	}
	return 0;
}

static uint64_t count_lines(struct str s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

/* All of it: how many lines, and whether the last has no end. */
static int count_all(struct spool_reader *r, uint64_t *out_lines,
		     struct err *err)
{
	enum spool_stream stream;
	bool open = false;
	struct str s;
	int rc;

	*out_lines = 0;
	while ((rc = spool_next(r, &stream, &s, err)) > 0) {
		*out_lines += count_lines(s);
		open = s.p[s.n - 1] != '\n';
	}
	*out_lines += open;
	return rc;
}

int spool_tail(struct spool_reader *r, uint64_t lines, size_t *out_within,
	       struct err *err)
{
	struct spool_place from = r->place, at = from;
	enum spool_stream stream;
	uint64_t all = 0;
	struct str s;
	int rc = count_all(r, &all, err);

	*out_within = 0;
	if (rc < 0 || all < lines) {
		spool_seek(r, from);
		return rc;
	}
	r->skipped = false; /* what is gone was not asked for */
	if (lines == 0)
		return 0;
	spool_seek(r, from);
	for (uint64_t skip = all - lines; skip;) {
		uint64_t here;

		at = r->place;
		rc = spool_next(r, &stream, &s, err);
		if (rc <= 0)
			return rc;
		here = count_lines(s);
		if (here < skip) {
			skip -= here;
			continue;
		}
		for (size_t i = 0; i < s.n && skip; i++, ++*out_within)
			skip -= s.p[i] == '\n';
	}
	/* In the next segment, should this frame have been its first. */
	if (r->place.segment != at.segment)
		at = (struct spool_place){r->place.segment, 0};
	spool_seek(r, at);
	return 0;
}
