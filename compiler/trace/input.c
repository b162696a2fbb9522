#include "compiler/trace/input.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CHUNK (256u << 10)
#define MAGIC 3u /* bytes that a member begins with, RFC 1952 */

enum state {
	AT_BEGINNING, /* plain or gzip: not known yet */
	IN_PLAIN,
	BEFORE_MEMBER,
	IN_MEMBER,
	IN_DAMAGE, /* looking for the next member */
};

struct input {
	int fd;
	enum state state;
	bool untold; /* of damage: its place was not handed on */
	z_stream z;
	unsigned char buf[CHUNK]; /* z.next_in, z.avail_in are what is left */
};

static const unsigned char magic[MAGIC] = {0x1f, 0x8b, 8};

int input_open(const char *path, struct input **out, struct err *err)
{
	struct input *in = calloc(1, sizeof(*in));
	int rc;

	if (!in || inflateInit2(&in->z, 15 + 16) != Z_OK) {
		free(in);
		return err_set(err, -ENOMEM, "no memory");
	}
	in->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
					: open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0) {
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
		input_close(in);
		return rc;
	}
	*out = in;
	return 0;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	fd_close(&in->fd);
	inflateEnd(&in->z);
	free(in);
}

/* At least `least` bytes in the buffer: 1. 0: there are not so many yet. */
static int have_bytes(struct input *in, unsigned least, struct err *err)
{
	ssize_t n;

	while (in->z.avail_in < least) {
		if (in->z.avail_in)
			memmove(in->buf, in->z.next_in, in->z.avail_in);
		in->z.next_in = in->buf;
		do
			n = read(in->fd, in->buf + in->z.avail_in,
				 CHUNK - in->z.avail_in);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return err_set(err, -errno, "%s", strerror(errno));
		if (n == 0)
			return 0;
		in->z.avail_in += (unsigned)n;
	}
	return 1;
}

static void skip_bytes(struct input *in, size_t n)
{
	in->z.next_in += n;
	in->z.avail_in -= (unsigned)n;
}

static int begin_member(struct input *in, struct err *err)
{
	int rc = have_bytes(in, 1, err);

	if (rc > 0 && in->z.next_in[0] == magic[0])
		rc = have_bytes(in, 2, err);
	if (rc <= 0)
		return rc;
	in->state = in->z.next_in[0] == magic[0] && in->z.next_in[1] == magic[1]
			    ? BEFORE_MEMBER
			    : IN_PLAIN;
	return 1;
}

static void note_damage(struct input *in)
{
	in->state = IN_DAMAGE;
	in->untold = true;
}

/* Zeros may fill up what lies behind a member, as gzip(1) has it. */
static int next_member(struct input *in, struct err *err)
{
	int rc = have_bytes(in, 1, err);

	if (rc > 0 && in->z.next_in[0] == 0) {
		skip_bytes(in, 1);
		return 1;
	}
	if (rc > 0)
		rc = have_bytes(in, MAGIC, err);
	if (rc <= 0)
		return rc;
	if (memcmp(in->z.next_in, magic, MAGIC) != 0 ||
	    inflateReset(&in->z) != Z_OK)
		note_damage(in);
	else
		in->state = IN_MEMBER;
	return 1;
}

static int find_member(struct input *in, struct err *err)
{
	int rc = have_bytes(in, MAGIC, err);
	const unsigned char *at;

	if (rc <= 0)
		return rc;
	at = memmem(in->z.next_in, in->z.avail_in, magic, MAGIC);
	/* the last two may be the beginning of one */
	skip_bytes(in, at ? (size_t)(at - in->z.next_in)
			  : in->z.avail_in - (MAGIC - 1));
	if (at)
		in->state = BEFORE_MEMBER;
	return 1;
}

/* Bytes for z.next_out, until that is full. */
static int read_member(struct input *in, struct err *err)
{
	int rc = have_bytes(in, 1, err);

	if (rc <= 0)
		return rc;
	rc = inflate(&in->z, Z_NO_FLUSH);
	if (rc == Z_STREAM_END)
		in->state = BEFORE_MEMBER;
	else if (rc == Z_MEM_ERROR)
		return err_set(err, -ENOMEM, "no memory");
	else if (rc != Z_OK && rc != Z_BUF_ERROR)
		note_damage(in);
	return 1;
}

static int read_plain(struct input *in, char *to, unsigned n, struct err *err)
{
	int rc = have_bytes(in, 1, err);

	if (rc <= 0)
		return rc;
	n = n < in->z.avail_in ? n : in->z.avail_in;
	memcpy(to, in->z.next_in, n);
	skip_bytes(in, n);
	return (int)n;
}

static int read_step(struct input *in, struct err *err)
{
	switch (in->state) {
	case AT_BEGINNING:
		return begin_member(in, err);
	case BEFORE_MEMBER:
		return next_member(in, err);
	case IN_MEMBER:
		return read_member(in, err);
	case IN_DAMAGE:
		return find_member(in, err);
	case IN_PLAIN:
		break;
	}
	abort();
}

int input_read(struct input *in, char *to, unsigned n, struct err *err)
{
	int rc = 1;

	in->z.next_out = (unsigned char *)to;
	in->z.avail_out = n;
	while (rc > 0 && in->z.avail_out == n && !in->untold) {
		if (in->state == IN_PLAIN)
			return read_plain(in, to, n, err);
		rc = read_step(in, err);
	}
	if (rc < 0)
		return rc;
	if (in->z.avail_out < n)
		return (int)(n - in->z.avail_out);
	if (!in->untold)
		return 0;
	in->untold = false;
	return -EBADMSG;
}

bool input_is_cut(const struct input *in)
{
	return in->state == IN_MEMBER ||
	       (in->state == BEFORE_MEMBER && in->z.avail_in > 0);
}
