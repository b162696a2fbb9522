#include "runtime/launch/resolvers.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>

#define ETC	 "/etc/resolv.conf"
#define FILE_MAX (64u << 10)

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct str next_word(struct str *line)
{
	size_t beg = 0, end;
	struct str word;

	while (beg < line->n && is_space(line->p[beg]))
		beg++;
	for (end = beg; end < line->n && !is_space(line->p[end]); end++)
		;
	word = str_slice(*line, beg, end);
	*line = str_slice(*line, end, line->n);
	return word;
}

static void take_server(struct resolvers *r, const struct addr *a)
{
	if (!addr_may_resolve(a)) {
		if (!r->local.family)
			r->local = *a;
	} else if (!r->first.family ||
		   (r->first.family == ADDR_V6 && a->family == ADDR_V4)) {
		r->first = *a;
	}
}

void resolvers_parse(struct str text, struct resolvers *out)
{
	*out = (struct resolvers){0};
	for (size_t at = 0, end; at < text.n; at = end + 1) {
		struct str line;
		struct addr a;

		end = str_find(text, '\n', at);
		line = str_slice(text, at, end);
		if (str_is(next_word(&line), "nameserver") &&
		    addr_parse(next_word(&line), &a))
			take_server(out, &a);
	}
}

static int read_servers(struct arena *a, struct str path, struct resolvers *out,
			struct err *err)
{
	struct str text;
	int rc = fileio_read(a, AT_FDCWD, path.p, FILE_MAX, &text, err);

	if (rc == 0)
		resolvers_parse(text, out);
	return rc;
}

static int say_none(const struct resolvers *r, struct err *err)
{
	char text[ADDR_TEXT_MAX];

	if (!r->local.family)
		return err_set(
			err, -EADDRNOTAVAIL,
			ETC
			" names no resolver: write 'dns_resolver: ADDR', one that this network has");
	return err_set(
		err, -EADDRNOTAVAIL,
		"the host's resolver %s serves the host alone: write 'dns_resolver: ADDR', the one that it asks",
		addr_text(&r->local, text));
}

int resolvers_find(struct arena *a, const char *own_path, const char *root,
		   const char **out, struct err *err)
{
	/* Where stubs say what they ask. */
	static const char *const behind[] = {
		"/run/systemd/resolve/resolv.conf",
		"/run/NetworkManager/no-stub-resolv.conf",
	};
	struct resolvers own = {0}, next;
	struct err absent;
	int rc = read_servers(
		a, own_path ? str_of(own_path) : arena_fmt(a, "%s" ETC, root),
		&own, err);

	if (rc < 0 && rc != -ENOENT)
		return rc;
	if (rc < 0) /* resolv.conf(5): as if it said 127.0.0.1 */
		addr_parse(STR("127.0.0.1"), &own.local);
	next = own;
	for (size_t i = 0;
	     own.local.family && !next.first.family && i < ARRAY_LEN(behind);
	     i++)
		if (read_servers(a, arena_fmt(a, "%s%s", root, behind[i]),
				 &next, &absent) < 0)
			next.first.family = 0;
	if (!next.first.family)
		return say_none(&own, err);
	*out = addr_text(&next.first, arena_alloc(a, ADDR_TEXT_MAX));
	return 0;
}
