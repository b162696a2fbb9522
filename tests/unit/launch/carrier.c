#include "runtime/launch/tell/carrier.h"

#include "compiler/base/sys/clock.h"
#include "runtime/launch/tell/margin.h"
#include "tests/check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define WAIT_MS 10000

/* --- where a line begins -------------------------------------------------- */

static const struct {
	const char *printed;
	bool is_free;
} margins[] = {
	{"", true},
	{"a", false},
	{"a\n", true},
	{"a\r\n", true},
	{"a\n\r", true},
	{"45%\r", false},
	{"\xc3\xa9", false},
	{"\a", true},
	{"\t", false},
	{"\n\033[0m", true},
	{"\033[1;31mred\033[0m\n\033[K", true},
	{"\n\033[?25l", true},
	{"\n\033[2A", false},
	{"\n\0338", false},
	{"\n\033M", false},
	{"\n\033(B", true},
	{"\n\033]0;a title\a", true},
	{"\n\033]0;a\ntitle\033\\", true},
	{"\n\033]0;a title", false},
	{"\n\033]0;a\033b", false},
	{"\n\033]0;a\033\033\\", true}, /* what ended it began again */
	{"\n\033[", false},
	{"\n\033", false},
	{"a\033[\n", false},
};

static bool is_free_after(struct str text, size_t cut)
{
	struct margin m = {0};

	CHECK(margin_take(&m, str_slice(text, 0, cut), false) == cut);
	CHECK(margin_take(&m, str_slice(text, cut, text.n), false) ==
	      text.n - cut);
	return margin_is_free(&m);
}

/* Cut in every place: what is printed comes in pieces. */
static void check_margins(void)
{
	for (size_t i = 0; i < ARRAY_LEN(margins); i++) {
		struct str text = str_of(margins[i].printed);

		for (size_t cut = 0; cut <= text.n; cut++)
			CHECK_MSG(is_free_after(text, cut) ==
					  margins[i].is_free,
				  "case %zu, cut %zu", i, cut);
	}
}

static void check_one_line(void)
{
	struct str text = STR("a\033]0;\n\ab\nc\n");
	struct margin m = {0};

	CHECK(margin_take(&m, text, true) == text.n - 2);
	CHECK(margin_is_free(&m));
	CHECK(margin_take(&m, STR("d"), true) == 1);
	CHECK(!margin_is_free(&m));
	margin_set_free(&m);
	CHECK(margin_is_free(&m));
}

/* --- the process ---------------------------------------------------------- */

/* A session of which this test is the command, the launcher and the reader. */
struct stand {
	struct carrier carrier;
	struct proc_opts o;
	int seen;	/* what is printed in the end */
	int out, error; /* what 1 and 2 were */
	size_t n;
	char text[1 << 16];
};

static void open_stand(struct stand *s, int line_ms, bool one_place)
{
	struct err err;
	int fds[2];

	memset(s, 0, sizeof(*s));
	s->o.out = s->o.err = -1;
	s->out = fcntl(1, F_DUPFD_CLOEXEC, 3);
	s->error = fcntl(2, F_DUPFD_CLOEXEC, 3);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	s->seen = fds[0];
	dup2(fds[1], 2);
	if (one_place)
		dup2(fds[1], 1);
	close(fds[1]);
	carrier_init(&s->carrier);
	s->carrier.line_ms = line_ms;
	CHECK(carrier_fits(false) && !carrier_fits(true));
	CHECK(carrier_start(&s->carrier, &s->o, &err) == 0);
	dup2(s->error, 2);
	dup2(s->out, 1);
	close(s->error);
	close(s->out);
}

static void print_to(int fd, const char *text)
{
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void tell(struct stand *s, const char *line)
{
	CHECK(send(s->carrier.told, line, strlen(line), 0) > 0);
}

/* Until that has been printed. */
static void await_text(struct stand *s, const char *wanted)
{
	struct pollfd p = {s->seen, POLLIN, 0};

	while (s->n < strlen(wanted) && poll(&p, 1, WAIT_MS) > 0) {
		ssize_t n = read(s->seen, s->text + s->n,
				 sizeof(s->text) - 1 - s->n);

		if (n <= 0)
			break;
		s->n += (size_t)n;
	}
	s->text[s->n] = '\0';
	CHECK_MSG(strcmp(s->text, wanted) == 0, "'%s' for '%s'", s->text,
		  wanted);
}

static bool end_stand(struct stand *s)
{
	bool in_line;

	fd_close(&s->o.err);
	fd_close(&s->o.out);
	in_line = carrier_end(&s->carrier);
	CHECK(read(s->seen, s->text, 1) == 0); /* and nothing more */
	close(s->seen);
	return in_line;
}

/* The end of a line that is begun is waited for. */
static void check_waits(struct stand *s)
{
	open_stand(s, WAIT_MS, false);
	tell(s, "told 1\n");
	await_text(s, "told 1\n");
	print_to(s->o.err, "one ");
	await_text(s, "told 1\none ");
	tell(s, "told 2\ntold 3\n");
	print_to(s->o.err, "line\nnext");
	await_text(s, "told 1\none line\ntold 2\ntold 3\nnext");
	CHECK(end_stand(s));
}

/* No longer than that: a prompt. */
static void check_prompt(struct stand *s)
{
	int64_t from_ms;

	open_stand(s, CARRIER_LINE_MS, false);
	print_to(s->o.err, "name? ");
	await_text(s, "name? ");
	from_ms = clock_ms();
	tell(s, "told\n");
	await_text(s, "name? \ntold\n");
	CHECK(clock_ms() - from_ms >= CARRIER_LINE_MS - 1);
	print_to(s->o.err, "again\n");
	await_text(s, "name? \ntold\nagain\n");
	CHECK(!end_stand(s));
}

/* Stdout that leads to the same place has its lines there, too; another one
 * is the command's own. */
static void check_one_place(struct stand *s)
{
	open_stand(s, WAIT_MS, false);
	CHECK(s->o.out < 0);
	CHECK(!end_stand(s));
	open_stand(s, WAIT_MS, true);
	print_to(s->o.out, "out ");
	print_to(s->o.err, "err ");
	await_text(s, "out err ");
	tell(s, "told\n");
	print_to(s->o.out, "both\n");
	await_text(s, "out err both\ntold\n");
	CHECK(!end_stand(s));
}

/* What was told last is there, and the command's last word before it. */
static void check_end(struct stand *s)
{
	open_stand(s, WAIT_MS, false);
	print_to(s->o.err, "last");
	tell(s, "told\n");
	fd_close(&s->o.err);
	s->o.err = -1;
	await_text(s, "last\ntold\n");
	CHECK(!end_stand(s));
}

/* Who printed hears that nobody reads any more, as without us. */
static void check_no_reader(struct stand *s)
{
	struct pollfd p;

	open_stand(s, WAIT_MS, false);
	fd_close(&s->seen);
	print_to(s->o.err, "x");
	p = (struct pollfd){s->o.err, 0, 0};
	CHECK(poll(&p, 1, WAIT_MS) == 1 && p.revents & POLLERR);
	tell(s, "told\n");
	fd_close(&s->o.err);
	CHECK(!carrier_end(&s->carrier));
}

int main(void)
{
	static struct stand s;

	signal(SIGPIPE, SIG_IGN);
	check_margins();
	check_one_line();
	check_waits(&s);
	check_prompt(&s);
	check_one_place(&s);
	check_end(&s);
	check_no_reader(&s);
	return check_status();
}
