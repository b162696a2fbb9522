/* The Engine API client against a small server of canned answers. */
#include "runtime/launch/docker/docker_events.h"

#include "runtime/launch/docker/docker_info.h"
#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/docker/hosts.h"
#include "runtime/launch/prepare.h"
#include "runtime/launch/reap.h"
#include "tests/check.h"
#include "tests/unit/docker_standin.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct standin_answer table[] = {
	{"GET /_ping", 200, "OK"},
	{"GET /v1.48/images/here/json", 200, "{}"},
	{"GET /v1.48/images/reg.test%3A5000/a/b%3Atag/json", 200, "{}"},
	{"GET /v1.48/images/", 404, "{\"message\":\"No such image\"}"},
	{"GET /v1.48/info", 200,
	 "{\"ServerVersion\":\"27.1\",\"Driver\":\"overlay2\","
	 "\"CgroupVersion\":"
	 "\"2\",\"CgroupDriver\":\"systemd\",\"KernelVersion\":\"6.1\","
	 "\"MemoryLimit\":true,\"PidsLimit\":false,\"SecurityOptions\":["
	 "\"name=seccomp,profile=builtin\",\"name=rootless\",7,\"name="
	 "selinux\",\"name=userns\"],"
	 "\"Runtimes\":{\"runc\":{},\"sysbox-runc\":{}}}"},
	{"GET /v1.48/version", 200,
	 "{\"ApiVersion\":\"1.99\",\"Components\":[{\"Name\":\"Engine\"},"
	 "{\"Name\":\"runc\",\"Version\":\"1.2.8\"}]}"},
	{"GET /v1.48/containers/json?all=1&filters=%7B%22label%22%3A%5B%22"
	 "membrane.session%3D0123%22%5D%7D ",
	 200,
	 "[{\"Id\":\"abc\",\"Names\":[\"/membrane-gate-0123\"],\"Labels\":"
	 "{\"membrane.session\":\"0123\"}},{\"Id\":\"d\"}]"},
	{"GET /v1.48/containers/json?all=1&filters=%7B%22label%22%3A%5B%22"
	 "membrane.session%3D0456%22%5D%7D ",
	 200,
	 "[{\"Id\":\"gone\",\"Labels\":{\"membrane.session\":\"0456\"}},"
	 "{\"Id\":\"up\",\"Labels\":{\"membrane.session\":\"0456\"}}]"},
	{"GET /v1.48/containers/json?all=1&filters=%7B%22label%22%3A%5B%22"
	 "membrane.session%3D0789%22%5D%7D ",
	 200,
	 "[{\"Id\":\"going\",\"Labels\":{\"membrane.session\":\"0789\"}},"
	 "{\"Id\":\"up\",\"Labels\":{\"membrane.session\":\"0789\"}}]"},
	{"POST /v1.48/containers/gone/kill?signal=SIGTERM", 404,
	 "{\"message\":\"No such container: gone\"}"},
	{"POST /v1.48/containers/new/kill", 409,
	 "{\"message\":\"not running\"}"},
	{"POST /v1.48/containers/up/kill", 204, ""},
	{"DELETE /v1.48/containers/up?force=1&v=1", 204, ""},
	{"DELETE /v1.48/containers/going", 409,
	 "{\"message\":\"in progress\"}"},
	{"DELETE /v1.48/containers/gone", 404, "{\"message\":\"none\"}"},
	{"DELETE /v1.48/containers/", 500,
	 "{\"message\":\"disk \\\"full\\\"\"}"},
	{"GET /v1.48/networks ", 200,
	 "[{\"Id\":\"n\",\"Name\":\"bridge\",\"IPAM\":{\"Config\":[{\"Subnet\":"
	 "\"172.17.0.0/16\",\"Gateway\":\"172.17.0.1\"},{\"Subnet\":"
	 "\"fd01::/64\",\"Gateway\":\"fd01::1/64\"}]}},{\"Id\":\"m\",\"Name\":"
	 "\"none\",\"IPAM\":{\"Config\":[]}},{\"Id\":\"o\",\"Name\":\"own\","
	 "\"IPAM\":{\"Config\":[{\"Subnet\":\"10.9.0.0/24\"}]}}]"},
	{"GET /v1.48/networks?filters=%7B%22label%22%3A%5B%22"
	 "membrane.session%3D0456",
	 200, "[]"},
	{"GET /v1.48/networks?filters=%7B%22label%22%3A%5B%22"
	 "membrane.session%3D0789",
	 200, "[]"},
	{"GET /v1.48/networks?filters=", 200, "{\"a\":{\"Id\":\"n\"}}"},
	{"POST /v1.48/networks/create", 403,
	 "{\"message\":\"Pool overlaps with other one\"}"},
	{"GET /v1.48/events?filters=", 200,
	 "{\"Action\":\"start\",\"Actor\":{\"Attributes\":"
	 "{\"membrane.role\":\"agent\"}}}\n"
	 "nonsense\n{\"Action\":\"die\",\"Actor\":{\"Attributes\":"
	 "{\"membrane.role\":\"gate\"}}}\n{\"Action\":\"x\"}\n"},
};

static struct err err;

static void check_images(struct docker *d)
{
	struct vectors v = {.runtime = "runc",
			    .gate = {.image = "here"},
			    .agent = {.image = "here"}};

	CHECK(docker_has_image(d, "here", &err) == 1);
	CHECK(docker_has_image(d, "reg.test:5000/a/b:tag", &err) == 1);
	CHECK(docker_has_image(d, "away", &err) == 0);
	CHECK(docker_has_runtime(d, "sysbox-runc", &err) == 1);
	CHECK(docker_has_runtime(d, "kata", &err) == 0);
	CHECK(prepare_docker(d, &v, true, &err) == 0);
	v.agent.image = "away";
	CHECK(prepare_docker(d, &v, false, &err) == 0); /* docker pulls it */
	CHECK(prepare_docker(d, &v, true, &err) == -ENOENT &&
	      strstr(err.text, "--no-update"));
	v.agent.image = "membrane-agent"; /* never pulled */
	CHECK(prepare_docker(d, &v, false, &err) == -ENOENT &&
	      strstr(err.text, "membrane images"));
	v.agent.image = "here";
	v.runtime = "kata";
	CHECK(prepare_docker(d, &v, false, &err) == -ENOENT &&
	      strstr(err.text, "'kata'"));
	v.runtime = "sysbox-runc";
	CHECK(prepare_docker(d, &v, false, &err) == 0);
}

static void check_info(struct docker *d)
{
	struct docker_info i;

	CHECK(docker_info(d, &i, &err) == 0);
	CHECK(strcmp(i.version, "27.1") == 0 && strcmp(i.api, "1.99") == 0);
	CHECK(strcmp(i.storage, "overlay2") == 0 &&
	      strcmp(i.kernel, "6.1") == 0);
	CHECK(strcmp(i.cgroup_version, "2") == 0 &&
	      strcmp(i.cgroup_driver, "systemd") == 0);
	CHECK(i.rootless && i.remapped && i.limits_memory && !i.limits_pids);
	CHECK(strcmp(i.seccomp, "builtin") == 0 &&
	      strcmp(i.mac, "selinux") == 0);
	CHECK(strcmp(i.runtimes, "runc, sysbox-runc") == 0);
	CHECK(strcmp(i.runc, "1.2.8") == 0);
}

/* Somebody listens, and nobody ever answers. */
static void check_silence(struct arena *a, const char *dir)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct endpoint mute = {.base = "http://localhost",
				.socket = arena_fmt(a, "%s/mute", dir).p,
				.timeout_ms = 50};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	struct docker *d = NULL;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", mute.socket);
	CHECK(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(listener, 16) == 0);
	CHECK(docker_open(a, &mute, &d, &err) == -ETIMEDOUT && !d);
	close(listener);
	unlink(mute.socket);
}

static void check_containers(struct docker *d)
{
	docker_containers list = {0};
	docker_networks nets = {0};

	CHECK(docker_list(d, "0123", &list, &err) == 0 && list.n == 2);
	CHECK(strcmp(list.v[0].name, "membrane-gate-0123") == 0 &&
	      strcmp(list.v[0].session, "0123") == 0);
	CHECK(strcmp(list.v[1].name, "") == 0 &&
	      strcmp(list.v[1].session, "") == 0);
	CHECK(docker_list_networks(d, "0123", &nets, &err) == -EPROTO &&
	      nets.n == 0);
	CHECK(docker_signal(d, "up", "SIGTERM", &err) == 0);
	CHECK(docker_signal(d, "gone", "SIGTERM", &err) == -ENOENT);
	CHECK(docker_signal(d, "new", "SIGTERM", &err) == -ENOENT);
	CHECK(docker_remove(d, "up", &err) == 0);
	CHECK(docker_remove(d, "gone", &err) == 0);
	CHECK(docker_remove(d, "going", &err) == 1);
	CHECK(docker_remove(d, "stuck", &err) == -EREMOTEIO &&
	      strcmp(err.text, "docker: disk \"full\"") == 0);
	CHECK(docker_make_link(d, "membrane-0123", "0123", &err) < 0 &&
	      strstr(err.text, "Pool overlaps"));
}

/*
 * Docker may keep a line of a container that is gone. One that it is just
 * removing is still there: should that fail, somebody has to ask again.
 */
static void check_reap(struct docker *d, const char *dir)
{
	struct session gone = {.id = "0456", .dir = dir, .lock_fd = -1};
	struct session going = {.id = "0789", .dir = dir, .lock_fd = -1};

	CHECK(reap_session(d, dir, &gone, &err) == 0);
	CHECK(reap_session(d, dir, &going, &err) == -EBUSY);
}

static void check_hosts(struct arena *a, struct docker *d)
{
	struct secret two[] = {{7, (char[]){"a\"b"}, NULL},
			       {8, (char[]){"c"}, "0123456789abcdef01234567"}};
	secrets none = {0}, some = {.v = two, .n = 2};
	struct str line;
	hosts h = {0};

	CHECK(hosts_find(a, d, &h, &err) == 0);
	line = hosts_hello(a, "0123", &h, &none, NULL);
	CHECK(str_starts(line, STR("{\"version\":1,\"session\":\"0123\","
				   "\"host\":[\"")));
	CHECK(line.p[line.n - 1] == '\n');
	CHECK(strstr(line.p, "\"172.17.0.1\"") &&
	      strstr(line.p, "\"fd01::1\""));
	CHECK(strstr(line.p, "\"10.9.0.1\"")); /* Docker's first address */
	CHECK(!strstr(line.p, "\"127.0.0.1\""));
	for (uint32_t i = 1; i < h.n; i++)
		CHECK(addr_cmp(&h.v[i - 1], &h.v[i]) < 0);
	CHECK(!strstr(line.p, "credentials") && !strstr(line.p, "trial"));
	CHECK(str_ends(hosts_hello_trial(a, "0123", &h),
		       STR("],\"trial\":true}\n")));
	line = hosts_hello(a, "0123", &h, &some, NULL);
	CHECK(str_ends(line, STR(",\"credentials\":{\"7\":\"a\\\"b\","
				 "\"8:0123456789abcdef01234567\":\"c\"}}\n")));
}

/* Of an older API, if so asked; never a path of one's own. */
static void check_version(struct arena *a, const struct endpoint *at)
{
	static const char *const bad[] = {"1.41/../..", "1.",
					  "x",		"v1.41",
					  "1.41.2",	"1.100000000000000"};
	struct docker *d = NULL;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		setenv("DOCKER_API_VERSION", bad[i], 1);
		CHECK_MSG(docker_open(a, at, &d, &err) == -EINVAL && !d, "%s",
			  bad[i]);
	}
	setenv("DOCKER_API_VERSION", "1.41", 1);
	CHECK(docker_open(a, at, &d, &err) == 0 && docker_minor(d) == 48);
	CHECK(d && docker_has_image(d, "here", &err) == -EREMOTEIO &&
	      strstr(err.text, "not canned"));
	docker_close(d);
	unsetenv("DOCKER_API_VERSION");
}

static char seen[200];

static void on_event(void *ctx, const struct engine_event *e)
{
	(void)ctx;
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s %s;",
		 e->role, e->action);
}

static void check_events(struct docker *d)
{
	CHECK(docker_follow(d, "0123", on_event, NULL, &err) == 0);
	for (int i = 0; i < 50 && !strstr(seen, "die"); i++)
		CHECK(docker_poll(d, NULL, 0, 100, &err) == 0);
	CHECK(strcmp(seen, "agent start;gate die;") == 0);
}

/* Nobody listens at it. */
static void leave_socket(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	close(fd);
}

/* Is that in what somebody without rights is told, where a terminal shows it?
 */
static bool is_told(struct arena *a, const struct endpoint *at,
		    const char *what)
{
	struct docker *d = NULL;
	int status = 1;
	pid_t pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && (setgroups(0, NULL) < 0 ||
				       setresgid(65534, 65534, 65534) < 0 ||
				       setresuid(65534, 65534, 65534) < 0))
			_exit(2);
		_exit(docker_open(a, at, &d, &err) != -ECONNREFUSED ||
		      !strstr(err.text, what));
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status == 0;
}

#define USUAL "membrane: docker at /var/run/docker.sock "

/* The cause and the next step, for one who is not in the group, and where the
 * daemon is not running; with the usual socket's name either is read whole. */
static void check_faults(struct arena *a, const char *dir)
{
	static const char closed[] =
		"refuses you: sudo usermod -aG docker $USER, log in anew";
	static const char silent[] =
		"does not answer: no listener; sudo systemctl start docker";
	const struct endpoint at = {.base = "http://localhost",
				    .tls_verify = true,
				    .socket = arena_fmt(a, "%s/left", dir).p};

	leave_socket(at.socket);
	CHECK(chmod(dir, 0755) == 0 && chmod(at.socket, 0666) == 0);
	CHECK(is_told(a, &at, silent));
	CHECK(chmod(at.socket, 0) == 0);
	CHECK(is_told(a, &at, closed));
	CHECK(chmod(dir, 0700) == 0);
	CHECK(strlen(USUAL) + strlen(closed) <= 100);
	CHECK(strlen(USUAL) + strlen(silent) <= 100);
	unlink(at.socket);
}

int main(void)
{
	char dir[] = "/tmp/membrane-docker-XXXXXX";
	struct arena *a = arena_new();
	struct endpoint at = {.base = "http://localhost", .tls_verify = true};
	struct docker *d = NULL;
	pid_t server;

	signal(SIGPIPE, SIG_IGN);
	unsetenv("DOCKER_API_VERSION");
	CHECK(mkdtemp(dir) != NULL);
	at.socket = arena_fmt(a, "%s/sock", dir).p;
	CHECK(docker_open(a, &at, &d, &err) == -ECONNREFUSED &&
	      strstr(err.text, at.socket));
	CHECK(strstr(err.text, "no such socket"));
	server = standin_start(at.socket, table, ARRAY_LEN(table));
	CHECK(docker_open(a, &at, &d, &err) == 0);
	if (d) {
		check_images(d);
		check_info(d);
		check_containers(d);
		check_reap(d, dir);
		check_hosts(a, d);
		check_events(d);
	}
	docker_close(d);
	check_silence(a, dir);
	check_faults(a, dir);
	check_version(a, &at);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	unlink(at.socket);
	rmdir(dir);
	arena_free(a);
	return check_status();
}
