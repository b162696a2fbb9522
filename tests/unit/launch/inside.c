/* What of ours is inside: its files, its words, and the init at work. */
#include "runtime/launch/inside/inside.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/init_words.h"
#include "runtime/launch/inside/host_words.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/membrane-inside.XXXXXX";
static struct arena *a;
static struct err err;

static const char *at(const char *name)
{
	return arena_fmt(a, "%s/%s", dir, name).p;
}

/* --- files and words ------------------------------------------------------ */

static void check_file(const char *name, struct str bytes)
{
	struct str text;
	struct stat st;

	CHECK(fileio_read(a, AT_FDCWD, at(name), 1u << 20, &text, &err) == 0);
	CHECK(stat(at(name), &st) == 0 && (st.st_mode & 07777) == 0755);
	CHECK(str_eq(text, bytes) && str_starts(text, STR("\177ELF")));
}

static void check_files(void)
{
	struct statvfs fs;

	umask(077);
	for (int i = 0; i < 2; i++)
		CHECK(inside_write(dir, &err) == 0 &&
		      inside_write_seal(dir, &err) == 0);
	check_file(DOCKER_JSON_INIT, inside_init());
	check_file(DOCKER_JSON_SEAL, inside_seal());
	CHECK(inside_write("/nowhere", &err) < 0);
	CHECK(inside_write_seal("/nowhere", &err) < 0);
	/* where no program runs from */
	if (statvfs("/proc", &fs) == 0 && fs.f_flag & ST_NOEXEC)
		CHECK(inside_write("/proc", &err) == -ENOEXEC &&
		      strstr(err.text, "MEMBRANE_HOME"));
}

static void check_begun(void)
{
	char byte;
	struct stat st;
	int fd = -1, said;

	CHECK(inside_listen("/nowhere", &fd, &err) < 0 && fd == -1);
	CHECK(inside_listen(dir, &fd, &err) == 0);
	CHECK(stat(at(DOCKER_JSON_BEGUN), &st) == 0 && S_ISFIFO(st.st_mode) &&
	      (st.st_mode & 07777) == 0222);
	said = open(at(DOCKER_JSON_BEGUN), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(said >= 0 && write(said, "-", 1) == 1);
	close(said);
	CHECK(read(fd, &byte, 1) == 1 && byte == '-');
	CHECK(read(fd, &byte, 1) == 0);
	close(fd);
	CHECK(inside_listen(dir, &fd, &err) < 0);
}

static void check_sealed(void)
{
	char one[] = "claude", two[] = "-p";
	char *const command[] = {one, two, NULL};
	char *const *all = inside_sealed(a, "i", command);

	CHECK(strcmp(all[0], DOCKER_JSON_INIT_AT) == 0 &&
	      strcmp(all[1], INIT_SEAL) == 0 &&
	      strcmp(all[2], INIT_IMAGE "i") == 0 &&
	      strcmp(all[3], INIT_END) == 0 && all[4] == one && all[5] == two &&
	      !all[6]);
}

/* --- variables of the host ------------------------------------------------ */

static const char *said;

static const char *get(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "EMPTY") == 0 ? "" : said;
}

static bool passes(const char *name, const char *value)
{
	said = value;
	return host_word(name, true, get, NULL) == value;
}

static void check_host_words(void)
{
	static const char *const good[][2] = {
		{"TERM", "xterm-256color"},
		{"TERM", "tmux-direct"},
		{"COLORTERM", "truecolor"},
		{"LANG", "de_DE.UTF-8@euro"},
		{"LANG", "C"},
		{"TZ", "America/Port-au-Prince"},
		{"TZ", "<+03>-3"},
		{"TZ", "CET-1CEST,M3.5.0,M10.5.0/3"},
	};
	static const char *const bad[][2] = {
		{"TERM", ""},		{"TERM", "x y"},
		{"TERM", "a/../b"},	{"TERM", "/tmp/x"},
		{"TERM", "x\n"},	{"TERM", "-x"},
		{"LANG", "de_DE\x1b"},	{"LANG", "a=b"},
		{"TZ", ":/etc/shadow"}, {"TZ", "/etc/passwd"},
		{"TZ", "../../x"},	{"TZ", "a;b"},
		{"PATH", "x"},		{"TERM", NULL},
	};
	char longest[HOST_WORD_MAX + 2];

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		CHECK_MSG(passes(good[i][0], good[i][1]), "%s", good[i][1]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		said = bad[i][1];
		CHECK_MSG(!host_word(bad[i][0], true, get, NULL), "%s",
			  bad[i][1] ? bad[i][1] : "unset");
	}
	memset(longest, 'a', sizeof(longest));
	longest[HOST_WORD_MAX + 1] = '\0';
	CHECK(!passes("TERM", longest));
	longest[HOST_WORD_MAX] = '\0';
	CHECK(passes("TERM", longest));
	CHECK(!host_word("TERM", false, get, NULL) &&
	      !host_word("COLORTERM", false, get, NULL));
}

static void check_environment(void)
{
	const char *const *e;

	said = "C";
	e = inside_environment(a, true, get, NULL);
	CHECK(strcmp(e[0], "--env=TERM=C") == 0 &&
	      strcmp(e[1], "--env=COLORTERM=C") == 0 &&
	      strcmp(e[2], "--env=LANG=C") == 0 &&
	      strcmp(e[3], "--env=TZ=C") == 0 && !e[4]);
	e = inside_environment(a, false, get, NULL);
	CHECK(strcmp(e[0], "--env=LANG=C") == 0 && e[1] && !e[2]);
	said = NULL;
	CHECK(!inside_environment(a, true, get, NULL)[0]);
}

/* --- the init, as a child ------------------------------------------------- */

static char told[4096]; /* what it said on both streams */

/* -1: it did not begin. */
static pid_t begin(char **words, int *out_fd)
{
	struct proc_opts o = {.argv = words, .in = -1, .keep = -1};
	int ends[2];
	pid_t pid = -1;

	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	o.out = o.err = ends[1];
	CHECK(proc_spawn(&o, &pid, &err) == 0);
	close(ends[1]);
	*out_fd = ends[0];
	return pid;
}

static int end(pid_t pid, int fd)
{
	size_t n = 0;
	ssize_t got;
	int status = 0;

	while ((got = read(fd, told + n, sizeof(told) - 1 - n)) > 0)
		n += (size_t)got;
	told[n] = '\0';
	close(fd);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Words separated by spaces; the command's own last one is script. */
static int init_says(const char *words, const char *script)
{
	struct str rest = str_of(words), word;
	VEC(char *) argv = {0};
	pid_t pid;
	int fd;

	*vec_push(a, &argv) = arena_cstr(a, str_of(at(DOCKER_JSON_INIT)));
	while (str_field(&rest, ' ', &word))
		*vec_push(a, &argv) = arena_cstr(a, word);
	if (script)
		*vec_push(a, &argv) = arena_cstr(a, str_of(script));
	*vec_push(a, &argv) = NULL;
	pid = begin(argv.v, &fd);
	return end(pid, fd);
}

static void check_statuses(void)
{
	CHECK(init_says("-- sh -c", "echo out; exit 7") == 7);
	CHECK(strcmp(told, "out\n") == 0);
	CHECK(init_says("-- sh -c", "kill -TERM $$; sleep 60") == 143);
	CHECK(init_says("-- sh -c", "kill -KILL $$; sleep 60") == 137);
	/* what stops has nobody else that lets it go on */
	CHECK(init_says("-- sh -c", "kill -STOP $$; exit 3") == 3);
	/* a session of its own, and its number handed on */
	CHECK(init_says("-- sh -c",
			"set -- $(cut -d' ' -f1,5,6 /proc/$$/stat); "
			"[ $1 = $2 ] && [ $1 = $3 ]") == 0);
	/* nothing of ours is blocked in it, and no other may look into us */
	CHECK(init_says("-- sh -c", "grep -q '^SigBlk:.0*$' /proc/$$/status && "
				    "! ls /proc/$PPID/fd >/dev/null 2>&1 || "
				    "[ $(id -u) = 0 ]") == 0);
}

static void check_words(void)
{
	static const char *const wrong[] = {
		"",
		"x -- true",
		"--",
		"size=1 -- true",
		"size=1x70000 -- true",
		"size=x1 -- true",
		"size=1x2y -- true",
		"true",
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		CHECK_MSG(init_says(wrong[i], NULL) == INIT_FAILED, "%s",
			  wrong[i]);
	CHECK(init_says("size=5x6 image=i folder=/tmp -- pwd", NULL) == 0 &&
	      strcmp(told, "/tmp\n") == 0);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	CHECK(fileio_write(AT_FDCWD, at(name), str_of(text), mode, &err) == 0 &&
	      chmod(at(name), mode) == 0);
}

struct refusal {
	const char *command;
	int status;
	const char *says;
};

static void check_refusals(void)
{
	const struct refusal cases[] = {
		{"nosuch", 127, "the image i has no 'nosuch': name one that"},
		{"./nosuch", 127, "there is no './nosuch' in the sandbox"},
		{at("plain/x"), 127, "there is no '"},
		{at("plain"), 126, "nobody may execute it (chmod +x)"},
		{dir, 126, "' is a folder"},
		{at("script"), 126, "' needs '/no/such', and the image i"},
		{at("text"), 126, "no script whose first line names"},
		{"plain", 126, "nobody may execute it"},
		{"script", 126, "' needs '/no/such'"},
	};
	char *path = getenv("PATH");

	write_file("plain", "x", 0644);
	write_file("script", "#! /no/such -x\n", 0755);
	write_file("text", "x\n", 0755);
	setenv("PATH", arena_fmt(a, ":%s:%s", dir, path).p, 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK_MSG(init_says(arena_fmt(a, "image=i -- %s",
					      cases[i].command)
					    .p,
				    NULL) == cases[i].status,
			  "%s: %s", cases[i].command, told);
		CHECK_MSG(strstr(told, cases[i].says) &&
				  str_starts(str_of(told), STR("membrane: ")),
			  "%s", told);
	}
	CHECK(init_says("folder=/no/such -- true", NULL) == 126 &&
	      strstr(told, "no such folder"));
	/* what a file says is no control of a terminal */
	write_file("script", "#!/no/\x1b[31m\n", 0755);
	CHECK(init_says("-- script", NULL) == 126 && !strchr(told, '\x1b'));
}

static void check_fallbacks(void)
{
	const char *print = "echo $TERM $LANG";

	setenv("TERM", "membrane-none", 1);
	setenv("LANG", "C", 1);
	CHECK(init_says("TERM=membrane-none LANG=C -- sh -c", print) == 0 &&
	      strcmp(told, INIT_FALLBACK_TERM " C\n") == 0);
	/* the user's own word is another one */
	CHECK(init_says("TERM=other -- sh -c", print) == 0 &&
	      strcmp(told, "membrane-none C\n") == 0);
	if (access("/lib/terminfo/x/xterm", F_OK) == 0) {
		setenv("TERM", "xterm", 1);
		CHECK(init_says("TERM=xterm -- sh -c", print) == 0 &&
		      strcmp(told, "xterm C\n") == 0);
	}
	if (access("/usr/lib/locale/C.utf8", F_OK) == 0 &&
	    access("/usr/lib/locale/locale-archive", F_OK) != 0) {
		setenv("LANG", "xx_YY.UTF-8", 1);
		CHECK(init_says("LANG=xx_YY.UTF-8 -- sh -c", "echo $LANG") ==
			      0 &&
		      strcmp(told, INIT_FALLBACK_LANG "\n") == 0);
		setenv("LANG", "C.UTF-8", 1);
		CHECK(init_says("LANG=C.UTF-8 -- sh -c", "echo $LANG") == 0 &&
		      strcmp(told, "C.UTF-8\n") == 0);
	}
}

/* From outside: to the command; a terminal's to all of its group. */
static void check_signals(void)
{
	static const struct {
		int signo;
		const char *script;
		int status;
	} cases[] = {
		{SIGTERM,
		 "trap 'exit 9' TERM; echo up; while :; do sleep 0.01; done",
		 9},
		{SIGTERM, "echo up; exec sleep 60", 143},
		{SIGINT,
		 "trap 'exit 8' INT; echo up; while :; do sleep 0.01; done", 8},
		{SIGUSR2, "echo up; exec sleep 60", 128 + SIGUSR2},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *words[] = {arena_cstr(a, str_of(at(DOCKER_JSON_INIT))),
				 arena_cstr(a, STR("--")),
				 arena_cstr(a, STR("sh")),
				 arena_cstr(a, STR("-c")),
				 arena_cstr(a, str_of(cases[i].script)),
				 NULL};
		char up[3];
		int fd;
		pid_t pid = begin(words, &fd);

		CHECK(read(fd, up, sizeof(up)) == 3);
		CHECK(kill(pid, cases[i].signo) == 0);
		CHECK_MSG(end(pid, fd) == cases[i].status, "%s",
			  cases[i].script);
	}
}

static const char *nothing_set(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

/* Where the host's own programs are there, nothing is said of an image. */
static void check_host(void)
{
	char *command[] = {arena_cstr(a, STR("true")), NULL};
	char *none[] = {NULL};
	struct inside_size size = {30, 90};
	struct vectors_values v = {
		.tty = true, .command = command, .env = nothing_set};

	inside_host_words(a, NULL, "", &size, &v);
	CHECK(strcmp(v.init[0], INIT_SIZE "30x90") == 0 && !v.entrypoint[0]);
	for (size_t i = 0; v.init[i]; i++)
		CHECK(!strstr(v.init[i], INIT_IMAGE));
	v.command = none;
	inside_host_words(a, NULL, "", &size, &v);
	CHECK(strstr(v.entrypoint[0], "sh") && !v.entrypoint[1]);
	v.command = NULL;
	inside_host_words(a, NULL, "", &size, &v);
	CHECK(v.entrypoint[0]);
	inside_host_words(a, "/srv/root", "/nowhere", &size, &v);
	CHECK(strcmp(v.init[1], INIT_IMAGE "/srv/root") == 0);
	CHECK(strcmp(v.entrypoint[0], "/bin/sh") == 0);
}

int main(void)
{
	a = arena_new();
	/* what began us in the background may ignore it, and so would a shell
	 */
	signal(SIGINT, SIG_DFL);
	if (!mkdtemp(dir))
		return 2;
	check_files();
	check_begun();
	check_sealed();
	check_host_words();
	check_environment();
	check_statuses();
	check_words();
	check_refusals();
	check_fallbacks();
	check_host();
	check_signals();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
