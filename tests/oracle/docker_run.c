/*
 * The docker client as judge of ir/docker_run.h: random words of `docker run`,
 * read by our reader and by docker. What docker made of them is the request
 * with which it would create the container, caught by an engine of ours on a
 * unix socket. What our reader made of them is written down again, one option
 * a word, the image behind "--"; docker must make the same request of that,
 * or refuse it in the same words. Where our reader finds an unknown option or
 * no value, docker must refuse.
 *
 *	build/tests/oracle/docker_run [TRIALS [SEED]]
 */
#include "compiler/base/arena.h"
#include "compiler/base/buf.h"
#include "compiler/ir/docker_run.h"
#include "tests/check.h"
#include "tests/oracle/scaled.h"
#include "tests/rng.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIALS	  SCALED(400, 2)
#define WORDS_MAX 64
#define TEXT_MAX  (1u << 20)

static char dir[] = "/tmp/membrane-docker-run-XXXXXX";
static struct rng rng = {1};
static int terminal;
static unsigned created, refused, unread;

/* --- the engine ---------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	int fd;
	char create[TEXT_MAX]; /* request line and body; empty: none came */
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void answer(int fd, const char *status, const char *body)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "HTTP/1.1 %s\r\nApi-Version: 1.50\r\nOSType: linux\r\n"
			 "Docker-Experimental: false\r\nConnection: close\r\n"
			 "Content-Type: application/json\r\n"
			 "Content-Length: %zu\r\n\r\n%s",
			 status, strlen(body), body);

	if (write(fd, text, (size_t)n) < 0)
		perror("engine");
}

static void serve(int fd)
{
	static char in[TEXT_MAX];
	size_t n = 0, want = 0;
	char *body = NULL, *length;
	ssize_t got;

	while (n + 1 < sizeof(in) && (!body || n < want)) {
		got = read(fd, in + n, sizeof(in) - 1 - n);
		if (got <= 0)
			break;
		in[n += (size_t)got] = '\0';
		if (body || !(body = strstr(in, "\r\n\r\n")))
			continue;
		body += 4;
		length = strcasestr(in, "\r\nContent-Length:");
		want = (size_t)(body - in);
		if (length && length < body)
			want += strtoul(length + 17, NULL, 10);
	}
	if (!body)
		return;
	if (strncmp(in, "POST ", 5) == 0 && strstr(in, "/containers/create")) {
		pthread_mutex_lock(&engine.lock);
		snprintf(engine.create, sizeof(engine.create), "%.*s\n%s",
			 (int)strcspn(in, "\r"), in, body);
		pthread_mutex_unlock(&engine.lock);
		answer(fd, "400 Bad Request", "{\"message\":\"seen\"}");
	} else {
		answer(fd, "200 OK", "{\"OSType\":\"linux\"}");
	}
}

static void *engine_run(void *ignored)
{
	int fd;

	while ((fd = accept(engine.fd, NULL, NULL)) >= 0) {
		serve(fd);
		close(fd);
	}
	return ignored;
}

static bool engine_start(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	pthread_t thread;
	char host[128];

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/sock", dir);
	snprintf(host, sizeof(host), "unix://%s", at.sun_path);
	setenv("DOCKER_HOST", host, 1);
	setenv("DOCKER_CONFIG", dir, 1);
	unsetenv("DOCKER_API_VERSION");
	unsetenv("DOCKER_CONTEXT");
	unsetenv("DOCKER_CONTENT_TRUST");
	engine.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(engine.fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	       listen(engine.fd, 16) == 0 &&
	       pthread_create(&thread, NULL, engine_run, NULL) == 0;
}

/* --- docker -------------------------------------------------------------- */

struct outcome {
	bool created;
	struct str text; /* the request, or the first line of the refusal */
};

static int by_value(const void *a, const void *b)
{
	return strcmp((*(cJSON *const *)a)->valuestring,
		      (*(cJSON *const *)b)->valuestring);
}

/* docker takes the variables out of a map of Go's: in any order. */
static struct str settled(struct arena *a, const char *request)
{
	size_t line = strcspn(request, "\n") + 1;
	cJSON *json = cJSON_Parse(request + line);
	cJSON *env = cJSON_GetObjectItem(json, "Env"), *list[WORDS_MAX];
	struct str out;
	int n = 0;
	char *text;

	while (n < WORDS_MAX && cJSON_GetArraySize(env))
		list[n++] = cJSON_DetachItemFromArray(env, 0);
	qsort(list, (size_t)n, sizeof(list[0]), by_value);
	for (int i = 0; i < n; i++)
		cJSON_AddItemToArray(env, list[i]);
	text = cJSON_PrintUnformatted(json);
	out = arena_fmt(a, "%.*s%s", (int)line, request, text ? text : "");
	cJSON_free(text);
	cJSON_Delete(json);
	return out;
}

static struct outcome docker(struct arena *a, const char *const *words,
			     uint32_t n)
{
	char *argv[WORDS_MAX * 2 + 8], *said = arena_alloc(a, TEXT_MAX);
	struct outcome out = {0};
	uint32_t argc = 0;
	size_t have = 0;
	ssize_t got;
	int fds[2];
	pid_t pid;

	argv[argc++] = arena_cstr(a, STR("docker"));
	argv[argc++] = arena_cstr(a, STR("run"));
	for (uint32_t i = 0; i < n; i++)
		argv[argc++] = arena_cstr(a, str_of(words[i]));
	argv[argc] = NULL;
	pthread_mutex_lock(&engine.lock);
	engine.create[0] = '\0';
	pthread_mutex_unlock(&engine.lock);
	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return out;
	if (pid == 0) {
		dup2(terminal, 0);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		if (chdir(dir) == 0)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	while ((got = read(fds[0], said + have, TEXT_MAX - 1 - have)) > 0)
		have += (size_t)got;
	close(fds[0]);
	waitpid(pid, NULL, 0);
	pthread_mutex_lock(&engine.lock);
	out.created = engine.create[0] != '\0';
	out.text = out.created ? settled(a, engine.create)
			       : (struct str){said, have};
	pthread_mutex_unlock(&engine.lock);
	if (!out.created)
		out.text.n = str_find(out.text, '\n', 0);
	return out;
}

/* --- words --------------------------------------------------------------- */

/* Values that get as far as the request; by default any text does. */
static const char *const samples[][2] = {
	{"add-host", "a:1.2.3.4"},
	{"annotation", "a=b"},
	{"attach", "stdout"},
	{"blkio-weight-device", "/dev/x:100"},
	{"blkio-weight", "100"},
	{"cgroupns", "private"},
	{"cpu-rt-period", "1"},
	{"cpus", "1.5"},
	{"detach-keys", "ctrl-a"},
	{"device", "/dev/null:/dev/x:r"},
	{"device-cgroup-rule", "c 1:3 r"},
	{"device-read-bps", "/dev/x:1mb"},
	{"device-read-iops", "/dev/x:10"},
	{"device-write-bps", "/dev/x:1mb"},
	{"device-write-iops", "/dev/x:10"},
	{"disable-content-trust", "true"},
	{"dns", "1.1.1.1"},
	{"env-file", "env"},
	{"expose", "80"},
	{"gpus", "all"},
	{"health-interval", "2s"},
	{"health-start-interval", "2s"},
	{"health-start-period", "2s"},
	{"health-timeout", "2s"},
	{"help", "false"},
	{"io-maxbandwidth", "1m"},
	{"ip", "10.0.0.5"},
	{"ip6", "fd00::5"},
	{"kernel-memory", "1g"},
	{"label-file", "env"},
	{"link-local-ip", "169.254.1.1"},
	{"log-opt", "a=b"},
	{"mac-address", "92:d0:c6:0a:29:33"},
	{"memory", "1g"},
	{"memory-reservation", "1g"},
	{"memory-swap", "2g"},
	{"memory-swappiness", "10"},
	{"mount", "type=tmpfs,target=/x"},
	{"net", "bridge"},
	{"network", "bridge"},
	{"pid", "host"},
	{"platform", "linux/amd64"},
	{"publish", "1:2/udp"},
	{"pull", "missing"},
	{"restart", "always"},
	{"rm", "false"},
	{"security-opt", "no-new-privileges"},
	{"shm-size", "1g"},
	{"storage-opt", "size=1g"},
	{"sysctl", "net.x=1"},
	{"ulimit", "nofile=10"},
	{"userns", "host"},
	{"uts", "host"},
	{"volume", "/a:/x"},
};

/* What looks like something else. */
static const char *const odd[] = {
	"--privileged", "-it",	   "--",  "-",	    "",	     "=",    "=x",
	"a=b=c",	"-v=/:/x", "x",	  "--rm=1", "false", "true", "0",
	"--env",	"-e",	   "--x", "a b",    "-",     "'\"$", "\xc3\xa9",
};

static const char *const letters = "deihlmpqtuvwcPa";

#define PICK(list) list[rng_below(&rng, ARRAY_LEN(list))]

static const char *sample(const struct docker_run_option *o)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		if (strcmp(samples[i][0], o->name) == 0)
			return samples[i][1];
	switch (o->type) {
	case DOCKER_RUN_FLAG:
		return rng_below(&rng, 2) ? "false" : "T";
	case DOCKER_RUN_NUMBER:
		return "12";
	case DOCKER_RUN_WORD:
		return rng_below(&rng, 3) ? "some" : PICK(odd);
	}
	abort();
}

struct words {
	struct arena *a;
	const char *v[WORDS_MAX];
	uint32_t n;
};

static void add(struct words *w, const char *word)
{
	if (w->n < WORDS_MAX)
		w->v[w->n++] = word;
}

#define ADDF(w, ...) add((w), arena_fmt((w)->a, __VA_ARGS__).p)

/* Several letters in one word, the last of them with its value or without. */
static void add_letters(struct words *w)
{
	struct buf b;

	buf_init(&b, w->a);
	buf_addc(&b, '-');
	for (unsigned n = 1 + rng_below(&rng, 3); n; n--)
		buf_addc(&b, "iqtqit"[rng_below(&rng, 6)]);
	buf_addc(&b, letters[rng_below(&rng, 15)]);
	if (rng_below(&rng, 2))
		buf_addf(&b, "%s%s", rng_below(&rng, 2) ? "=" : "",
			 rng_below(&rng, 3) ? "some" : PICK(odd));
	add(w, b.p);
	if (rng_below(&rng, 2))
		add(w, PICK(odd));
}

static void add_option(struct words *w)
{
	const struct docker_run_option *o = docker_run_option(
		(enum docker_run_id)rng_below(&rng, DOCKER_RUN_IDS));
	const char *value = sample(o);

	switch (rng_below(&rng, o->letter ? 6 : 3)) {
	case 0:
		ADDF(w, "--%s=%s", o->name, value);
		break;
	case 1:
	case 2:
		ADDF(w, "--%s", o->name);
		if (o->type != DOCKER_RUN_FLAG)
			add(w, value);
		break;
	case 3:
		ADDF(w, "-%c%s", o->letter, value);
		break;
	case 4:
		ADDF(w, "-%c=%s", o->letter, value);
		break;
	case 5:
		ADDF(w, "-%c", o->letter);
		if (o->type != DOCKER_RUN_FLAG)
			add(w, value);
		break;
	}
}

static void generate(struct words *w)
{
	for (unsigned n = 1 + rng_below(&rng, 5); n; n--) {
		unsigned kind = rng_below(&rng, 24);

		if (kind < 3)
			add_letters(w);
		else if (kind == 3)
			add(w, PICK(odd));
		else if (kind == 4)
			ADDF(w, "--%s", PICK(odd));
		else
			add_option(w);
	}
	if (rng_below(&rng, 4) == 0)
		add(w, "--");
	add(w, "image.example/a");
	for (unsigned n = rng_below(&rng, 3); n; n--)
		add(w, PICK(odd));
}

/* --- ours ---------------------------------------------------------------- */

static struct str word_at(const void *ctx, uint32_t i)
{
	return str_of(((const struct words *)ctx)->v[i]);
}

/* The same, one option a word; false when there is one that is none. */
static bool rewrite(const struct words *w, struct words *out)
{
	struct docker_run_reader r = {.word = word_at, .ctx = w, .n = w->n};
	struct docker_run_found f;

	for (;;) {
		switch (docker_run_read(&r, &f)) {
		case DOCKER_RUN_TAKEN:
			ADDF(out, "--%s%s%.*s", f.option->name,
			     f.has_value ? "=" : "", STR_ARG(f.value));
			continue;
		case DOCKER_RUN_UNKNOWN:
		case DOCKER_RUN_ALONE:
			return false;
		case DOCKER_RUN_IMAGE:
		case DOCKER_RUN_END:
			break;
		}
		add(out, "--");
		while (r.next < w->n)
			add(out, w->v[r.next++]);
		return true;
	}
}

static void show(const char *what, const struct words *w)
{
	printf("%s:", what);
	for (uint32_t i = 0; i < w->n; i++)
		printf(" '%s'", w->v[i]);
	putchar('\n');
}

static void trial(void)
{
	struct arena *a = arena_new();
	struct words w = {.a = a}, again = {.a = a};
	struct outcome of, as;
	bool same;

	generate(&w);
	of = docker(a, w.v, w.n);
	if (!rewrite(&w, &again)) {
		unread++;
		CHECK(!of.created);
		if (of.created)
			show("docker takes", &w);
		arena_free(a);
		return;
	}
	as = docker(a, again.v, again.n);
	same = of.created == as.created && str_eq(of.text, as.text);
	CHECK(same);
	if (!same) {
		show("docker gets", &w);
		show("we read", &again);
		printf("%.*s\n%.*s\n", STR_ARG(of.text), STR_ARG(as.text));
	}
	created += of.created;
	refused += !of.created;
	arena_free(a);
}

/* What the request must hold whatever else was said, seen by docker alone. */
static void check_engine(void)
{
	static const char *const words[] = {"-itv=/a:/b", "-eA=b",
					    "--init=false", "image", "--rm"};
	struct arena *a = arena_new();
	struct outcome o = docker(a, words, ARRAY_LEN(words));
	static const char *const want[] = {
		"\"Binds\":[\"/a:/b\"]", "\"Env\":[\"A=b\"]",
		"\"Tty\":true",		 "\"Init\":false",
		"\"Image\":\"image\"",	 "\"Cmd\":[\"--rm\"]"};

	CHECK(o.created);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_MSG(memmem(o.text.p, o.text.n, want[i], strlen(want[i])),
			  "%s in %.*s", want[i], STR_ARG(o.text));
	arena_free(a);
}

int main(int argc, char **argv)
{
	unsigned trials = argc > 1 ? (unsigned)atoi(argv[1]) : TRIALS;
	char path[64];
	int fd, master;

	if (system("docker --version >/dev/null 2>&1") != 0) {
		puts("skipped: no docker client");
		return 77;
	}
	if (argc > 2)
		rng.state = strtoull(argv[2], NULL, 10);
	if (!mkdtemp(dir) || openpty(&master, &terminal, NULL, NULL, NULL) < 0)
		return 1;
	snprintf(path, sizeof(path), "%s/env", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "A=1\n", 4) != 4 || !engine_start())
		return 1;
	close(fd);
	check_engine();
	for (unsigned i = 0; i < trials && check_failed < 5; i++)
		trial();
	CHECK(trials < TRIALS || created > trials / 4);
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	if (system(path) != 0)
		return 1;
	printf("%u created, %u refused alike, %u not read\n", created, refused,
	       unread);
	return check_status();
}
