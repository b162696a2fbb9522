#include "runtime/launch/mounts/journal.h"

#include "compiler/base/sys/fileio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

/* It holds a line or two per hold. */
#define JOURNAL_BYTES (4u << 20)

void journal_add_path(struct buf *b, struct str path)
{
	for (size_t i = 0; i < path.n; i++) {
		uint8_t c = (uint8_t)path.p[i];

		if (c <= 0x20 || c == '%' || c == 0x7f)
			buf_addf(b, "%%%02x", c);
		else
			buf_addc(b, (char)c);
	}
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

bool journal_read_path(struct arena *a, struct str text, struct str *out)
{
	char *p = arena_alloc(a, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		int hi, lo;

		p[n++] = text.p[i];
		if (text.p[i] != '%')
			continue;
		if (text.n - i < 3)
			return false;
		hi = hex_digit(text.p[i + 1]);
		lo = hex_digit(text.p[i + 2]);
		if (hi < 0 || lo < 0 || (hi == 0 && lo == 0))
			return false;
		p[n - 1] = (char)(hi << 4 | lo);
		i += 2;
	}
	*out = (struct str){p, n};
	return n > 0;
}

static bool read_record(struct arena *a, struct str line,
			struct journal_record *r)
{
	struct str word = STR(""), type, number;

	str_field(&line, ' ', &word);
	r->made = str_is(word, "made");
	if (!r->made && !str_is(word, "intent"))
		return false;
	if (!str_field(&line, ' ', &type))
		return false;
	r->is_dir = str_is(type, "dir");
	if (!r->is_dir && !str_is(type, "file"))
		return false;
	if (!str_field(&line, ' ', &number) ||
	    !str_u64(number, UINT64_MAX, r->made ? &r->dev : &r->at))
		return false;
	if (r->made && (!str_field(&line, ' ', &number) ||
			!str_u64(number, UINT64_MAX, &r->ino)))
		return false;
	return journal_read_path(a, line, &r->path);
}

static bool parse_journal(struct arena *a, struct str text, struct journal *j)
{
	struct str line, prefix = STR("workspace ");

	/* A line that a kill cut short announces nothing that was done. */
	while (text.n && text.p[text.n - 1] != '\n')
		text.n--;
	if (text.n == 0)
		return true;
	if (!str_line(&text, &line) || !str_is(line, "membrane-journal 1"))
		return false;
	if (text.n == 0)
		return true;
	if (!str_line(&text, &line) || !str_starts(line, prefix) ||
	    !journal_read_path(a, str_slice(line, prefix.n, line.n),
			       &j->workspace) ||
	    j->workspace.p[0] != '/')
		return false;
	while (str_line(&text, &line)) {
		struct journal_record r = {0};

		if (!read_record(a, line, &r))
			return false;
		*vec_push(a, &j->records) = r;
	}
	return true;
}

const char *journal_path(struct arena *a, const char *state,
			 const char *session)
{
	return arena_fmt(a, "%s/sessions/%s/journal", state, session).p;
}

int journal_load(struct arena *a, const char *path, struct journal *out,
		 struct err *err)
{
	struct str text;
	int rc = fileio_read(a, AT_FDCWD, path, JOURNAL_BYTES, &text, err);

	if (rc < 0)
		return rc;
	if (!parse_journal(a, text, out))
		return err_set(err, -EPROTO, "%s: not a journal", path);
	return 0;
}

static int append_line(struct placeholders *h, struct str line, struct err *err)
{
	const char *path = journal_path(h->a, h->state, h->session);
	struct buf b;

	buf_init(&b, h->a);
	if (h->fd < 0) {
		h->fd = fileio_create(AT_FDCWD, path,
				      O_WRONLY | O_EXCL | O_APPEND, 0600);
		if (h->fd < 0)
			return err_errno(err, path);
		buf_adds(&b, "membrane-journal 1\nworkspace ");
		journal_add_path(&b, h->root_path);
		buf_addc(&b, '\n');
	}
	buf_add(&b, line);
	if (fileio_write_all(h->fd, buf_str(&b), err) < 0)
		return err_while(err, "%s", path);
	return 0;
}

int journal_intent(struct placeholders *h, struct str path, bool is_dir,
		   struct err *err)
{
	struct buf b;

	buf_init(&b, h->a);
	buf_addf(&b, "intent %s %lld ", is_dir ? "dir" : "file",
		 (long long)time(NULL));
	journal_add_path(&b, path);
	buf_addc(&b, '\n');
	return append_line(h, buf_str(&b), err);
}

int journal_made(struct placeholders *h, struct str path, const struct stat *st,
		 struct err *err)
{
	struct buf b;

	buf_init(&b, h->a);
	buf_addf(
		&b, "made %s %llu %llu ", S_ISDIR(st->st_mode) ? "dir" : "file",
		(unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
	journal_add_path(&b, path);
	buf_addc(&b, '\n');
	return append_line(h, buf_str(&b), err);
}

int journal_each_other(struct arena *a, const char *state, const char *session,
		       journal_use *use, void *ctx, struct err *err)
{
	const char *path = arena_fmt(a, "%s/sessions", state).p;
	DIR *dir = opendir(path);
	const struct dirent *e;
	int rc = 0;

	if (!dir)
		return err_errno(err, path);
	while (rc == 0 && (e = readdir(dir))) {
		struct journal j = {0};

		if (e->d_name[0] == '.' || strcmp(e->d_name, session) == 0)
			continue;
		rc = journal_load(a, journal_path(a, state, e->d_name), &j,
				  err);
		/* -EACCES: another user's, as all of that session */
		if (rc == -ENOENT || rc == -ENOTDIR || rc == -EACCES)
			rc = 0;
		else if (rc == 0)
			rc = use(ctx, &j, err);
	}
	closedir(dir);
	return rc;
}
