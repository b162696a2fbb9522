#include "runtime/launch/attach/spool.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static struct err err;

static void new_folder(char path[32])
{
	snprintf(path, 32, "/tmp/spool-XXXXXX");
	CHECK(mkdtemp(path) != NULL);
}

static void add(struct spool *s, enum spool_stream stream, const char *text)
{
	spool_add(s, stream, str_of(text));
}

static bool next_is(struct spool_reader *r, enum spool_stream stream,
		    const char *text)
{
	enum spool_stream is;
	struct str got;

	return spool_next(r, &is, &got, &err) == 1 && is == stream &&
	       str_is(got, text);
}

static bool is_at_end(struct spool_reader *r)
{
	enum spool_stream is;
	struct str got;

	return spool_next(r, &is, &got, &err) == 0;
}

static void check_grows(void)
{
	static struct spool_reader r, late;
	struct spool s;
	char dir[32];

	new_folder(dir);
	CHECK(spool_reader_open(&r, dir, &err) == -ENOENT);
	CHECK(spool_open(&s, dir, &err) == 0);
	CHECK(spool_reader_open(&r, dir, &err) == 0);
	CHECK(is_at_end(&r));
	add(&s, SPOOL_OUT, "one\n");
	add(&s, SPOOL_ERR, "two\n");
	CHECK(next_is(&r, SPOOL_OUT, "one\n"));
	CHECK(next_is(&r, SPOOL_ERR, "two\n"));
	CHECK(is_at_end(&r));
	CHECK(spool_reader_open(&late, dir, &err) == 0);
	spool_seek(&late, s.end);
	CHECK(is_at_end(&late));
	add(&s, SPOOL_OUT, "three");
	CHECK(next_is(&r, SPOOL_OUT, "three"));
	CHECK(next_is(&late, SPOOL_OUT, "three"));
	CHECK(!r.skipped && !late.skipped && s.unwritten == 0);
	spool_reader_done(&r);
	spool_reader_done(&late);
	spool_done(&s);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

/* Frames carry their number: none may come twice, none be torn. */
static void check_rotates(void)
{
	enum { FRAME = 60000, FRAMES = 900 };
	static struct spool_reader fast, slow;
	static char bytes[FRAME];
	enum spool_stream is;
	struct str got;
	struct spool s;
	char dir[32];
	int first = -1, n = 0;

	new_folder(dir);
	CHECK(spool_open(&s, dir, &err) == 0);
	CHECK(spool_reader_open(&fast, dir, &err) == 0);
	CHECK(spool_reader_open(&slow, dir, &err) == 0);
	for (int i = 0; i < FRAMES; i++) {
		memset(bytes, 'x', FRAME);
		memcpy(bytes, &i, sizeof(i));
		spool_add(&s, SPOOL_OUT, (struct str){bytes, FRAME});
		CHECK(spool_next(&fast, &is, &got, &err) == 1);
		CHECK(got.n == FRAME && memcmp(got.p, &i, sizeof(i)) == 0);
	}
	CHECK(is_at_end(&fast) && !fast.skipped);
	CHECK(s.end.segment == 14);
	while (spool_next(&slow, &is, &got, &err) == 1) {
		int at;

		memcpy(&at, got.p, sizeof(at));
		CHECK(got.n == FRAME);
		if (first < 0)
			first = at;
		CHECK(at == first + n);
		n++;
	}
	CHECK(slow.skipped && first + n == FRAMES);
	CHECK((size_t)n * FRAME > (SPOOL_SEGMENTS - 2) * SPOOL_SEGMENT &&
	      (size_t)n * FRAME < SPOOL_SEGMENTS * SPOOL_SEGMENT);
	spool_reader_done(&fast);
	spool_reader_done(&slow);
	spool_done(&s);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

static void check_tail(void)
{
	static const struct {
		uint64_t lines;
		const char *text; /* of stdout and stderr, joined */
	} t[] = {
		{0, ""},
		{1, "six"},
		{2, "five\nsix"},
		{3, "four\nfive\nsix"},
		{5, "two\nthree\nfour\nfive\nsix"},
		{6, "one\ntwo\nthree\nfour\nfive\nsix"},
		{99, "one\ntwo\nthree\nfour\nfive\nsix"},
	};
	static struct spool_reader r;
	struct spool s;
	char dir[32];

	new_folder(dir);
	CHECK(spool_open(&s, dir, &err) == 0);
	add(&s, SPOOL_OUT, "one\ntwo\nth");
	add(&s, SPOOL_OUT, "ree\n");
	add(&s, SPOOL_ERR, "four\n");
	add(&s, SPOOL_OUT, "five\nsix");
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char all[64] = "";
		enum spool_stream is;
		size_t within;
		struct str got;

		CHECK(spool_reader_open(&r, dir, &err) == 0);
		CHECK(spool_tail(&r, t[i].lines, &within, &err) == 0);
		while (spool_next(&r, &is, &got, &err) == 1) {
			got = str_slice(got, within, got.n);
			within = 0;
			strncat(all, got.p, got.n);
		}
		CHECK(strcmp(all, t[i].text) == 0);
		spool_reader_done(&r);
	}
	spool_done(&s);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

/* A disk without room: nothing is torn, what is missing is counted. */
static void check_full(void)
{
	static struct spool_reader r;
	struct spool s;
	char dir[32], part[64];
	int fd;

	new_folder(dir);
	CHECK(spool_open(&s, dir, &err) == 0);
	add(&s, SPOOL_OUT, "whole");
	fd = s.fd;
	s.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	add(&s, SPOOL_OUT, "no room");
	CHECK(s.unwritten == 7);
	fd_close(&s.fd);
	s.fd = fd;
	snprintf(part, sizeof(part), "%s/" SPOOL_FOLDER "/1", dir);
	add(&s, SPOOL_OUT, "again");
	CHECK(spool_reader_open(&r, dir, &err) == 0);
	CHECK(next_is(&r, SPOOL_OUT, "whole"));
	CHECK(next_is(&r, SPOOL_OUT, "again"));
	spool_reader_done(&r);
	/* half a frame is not there yet; nonsense never is */
	fd = open(part, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK(write(fd, "\1\0\0\0\0\0\0\3ab", 10) == 10);
	CHECK(spool_reader_open(&r, dir, &err) == 0);
	CHECK(next_is(&r, SPOOL_OUT, "whole"));
	CHECK(next_is(&r, SPOOL_OUT, "again"));
	CHECK(is_at_end(&r));
	CHECK(write(fd, "c\1\0\0\1\0\0\0\1x", 10) == 10);
	CHECK(next_is(&r, SPOOL_OUT, "abc"));
	{
		enum spool_stream is;
		struct str got;

		CHECK(spool_next(&r, &is, &got, &err) == -EPROTO);
	}
	fd_close(&fd);
	spool_reader_done(&r);
	spool_done(&s);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

/* Whatever its first bytes are: it is no record then. */
static void check_damaged(void)
{
	static const char heads[][8 + 1] = {
		"\0\0\0\0\0\0\0\1",	    "\3\0\0\0\0\0\0\1",
		"\1\1\0\0\0\0\0\1",	    "\1\0\1\0\0\0\0\1",
		"\1\0\0\1\0\0\0\1",	    "\1\0\0\0\0\0\0\0",
		"\2\0\0\0\377\377\377\377",
	};
	static struct spool_reader r;
	enum spool_stream is;
	struct str got;
	struct spool s;
	char dir[32], part[64];

	new_folder(dir);
	CHECK(spool_open(&s, dir, &err) == 0);
	snprintf(part, sizeof(part), "%s/" SPOOL_FOLDER "/1", dir);
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		CHECK(fileio_write(AT_FDCWD, part, (struct str){heads[i], 8},
				   0600, &err) == 0);
		CHECK(spool_reader_open(&r, dir, &err) == 0);
		CHECK(spool_next(&r, &is, &got, &err) == -EPROTO);
		spool_reader_done(&r);
	}
	spool_done(&s);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	CHECK(spool_open(&s, dir, &err) == -ENOENT);
	CHECK(spool_reader_open(&r, dir, &err) == -ENOENT);
	/* where a file is */
	CHECK(fileio_mkdirs(dir, 0700, &err) == 0);
	snprintf(part, sizeof(part), "%s/" SPOOL_FOLDER, dir);
	CHECK(fileio_write(AT_FDCWD, part, STR("x"), 0600, &err) == 0);
	CHECK(spool_open(&s, dir, &err) < 0);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

int main(void)
{
	check_damaged();
	check_grows();
	check_rotates();
	check_tail();
	check_full();
	return check_status();
}
