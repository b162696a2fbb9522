/*
 * Words of native.json: each that the engine knows, and none besides.
 */
#include "runtime/launch/native/words.h"

#include "tests/check.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>

static struct arena *a;
static struct err err;

static const char *home(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "HOME") == 0 ? "/home/me" : NULL;
}

/* "native run IMAGE /bin/sh" */
static int read_image(const char *image, struct words *out)
{
	char *all[] = {arena_cstr(a, STR("native")), arena_cstr(a, STR("run")),
		       arena_cstr(a, str_of(image)),
		       arena_cstr(a, STR("/bin/sh")), NULL};

	return words_read(a, all, home, NULL, out, &err);
}

static void test_root(void)
{
	struct words w;

	CHECK(read_image("host", &w) == 0 && !w.root);
	CHECK(read_image("dir:/srv/root", &w) == 0 &&
	      strcmp(w.root, "/srv/root") == 0 && w.argv.n == 2);
	CHECK(read_image("dir:srv", &w) == -EPROTO);
	CHECK(read_image("dir:", &w) == -EPROTO);
	CHECK(read_image("theirs:1", &w) == -EPROTO);
}

/* Between "native run" and "host PROGRAM": up to eight words. */
static int read_some(const char *const words[8], struct words *out)
{
	char *all[13] = {arena_cstr(a, STR("native")),
			 arena_cstr(a, STR("run"))};
	size_t n = 2;

	for (size_t i = 0; i < 8 && words[i]; i++)
		all[n++] = arena_cstr(a, str_of(words[i]));
	all[n++] = arena_cstr(a, STR("host"));
	all[n++] = arena_cstr(a, STR("/bin/true"));
	all[n] = NULL;
	return words_read(a, all, home, NULL, out, &err);
}

static int read_one(const char *word, struct words *out)
{
	return read_some((const char *const[8]){word}, out);
}

static void test_places(void)
{
	struct words w;

	CHECK(read_one(
		      "--mount=type=bind,source=/a,target=/b/c,readonly,optional",
		      &w) == 0);
	CHECK(w.places.n == 1 && w.places.v[0].kind == WORDS_BIND &&
	      strcmp(w.places.v[0].source, "/a") == 0 &&
	      strcmp(w.places.v[0].target, "/b/c") == 0 &&
	      w.places.v[0].readonly && w.places.v[0].optional &&
	      !w.places.v[0].shared);
	CHECK(read_one(
		      "--mount=type=bind,\"source=/a,b\",target=/b,bind-propagation=rshared",
		      &w) == 0);
	CHECK(strcmp(w.places.v[0].source, "/a,b") == 0 &&
	      w.places.v[0].shared && !w.places.v[0].readonly);
	CHECK(read_one("--volume=/a:/b:ro", &w) == 0 && w.places.v[0].readonly);
	CHECK(read_one("--volume=/a:/b", &w) == 0 && !w.places.v[0].readonly);
	CHECK(read_one("--mount=type=tmpfs,target=/b", &w) == 0 &&
	      w.places.v[0].kind == WORDS_TMPFS && w.places.v[0].mode == 01777);
	CHECK(read_one("--tmpfs=/b", &w) == 0 && !w.places.v[0].exec);
	CHECK(read_one("--tmpfs=/b:exec,nosuid,mode=770,uid=7,gid=8,size=64m",
		       &w) == 0);
	CHECK(w.places.v[0].exec && w.places.v[0].mode == 0770 &&
	      w.places.v[0].uid == 7 && w.places.v[0].gid == 8 &&
	      strcmp(w.places.v[0].size, "64m") == 0);
}

static void test_order(void)
{
	static const char *const want[] = {"/w", "/a/b", "/x/y", "/a/b/c"};
	struct words w;

	CHECK(read_some((const char *const[8]){"--tmpfs=/a/b/c",
					       "--mount=type=bind,source=/s,"
					       "target=/a/b",
					       "--tmpfs=/w",
					       "--volume=/s:/x/y"},
			&w) == 0);
	CHECK(w.places.n == ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_MSG(strcmp(w.places.v[i].target, want[i]) == 0, "%s",
			  w.places.v[i].target);
}

static void test_rights(void)
{
	struct words w;

	CHECK(read_some(
		      (const char *const[8]){
			      "--user", "7:8", "--cap-drop=ALL",
			      "--cap-add=NET_ADMIN", "--cap-add=SYS_ADMIN",
			      "--pids-limit=9", "--ulimit=nofile=20:20"},
		      &w) == 0);
	CHECK(w.has_user && w.uid == 7 && w.gid == 8 && w.processes == 9 &&
	      w.files == 20);
	CHECK(w.caps ==
	      (UINT64_C(1) << CAP_NET_ADMIN | UINT64_C(1) << CAP_SYS_ADMIN));
	CHECK(read_one("--security-opt=seccomp=/a b", &w) == 0 &&
	      strcmp(w.filter, "/a b") == 0);
	CHECK(read_one("--security-opt=no-new-privileges", &w) == 0 &&
	      !w.filter);
	CHECK(read_one("--sysctl=net.ipv4.ip_forward=1", &w) == 0 &&
	      strcmp(w.sysctls.v[0].path, "net/ipv4/ip_forward") == 0 &&
	      strcmp(w.sysctls.v[0].value, "1") == 0);
	CHECK(read_one("--network=none", &w) == 0 && w.network == WORDS_NONE);
	CHECK(read_one("--pid=container:membrane-view-x", &w) == 0 &&
	      w.within == WORDS_VIEWS);
	CHECK(read_one("--pid=container:membrane-asked-x", &w) == 0 &&
	      w.within == WORDS_ASKEDS && !w.is_asked);
	CHECK(read_one("--ask", &w) == 0 && w.is_asked && w.ask.n == 0);
	CHECK(read_one("--ask=openat:write,connect", &w) == 0 &&
	      w.ask.n == 2 && w.ask.v[0].nr == SYS_openat &&
	      w.ask.v[0].write && w.ask.v[1].nr == SYS_connect &&
	      !w.ask.v[1].write && !w.is_asked);
	CHECK(read_one("--ask=openat:read", &w) == -EPROTO);
	CHECK(read_one("--ask=", &w) == -EPROTO);
	CHECK(read_one("--ask=nothing", &w) == -EPROTO);
	CHECK(read_one("--pid=container:membrane-gate-x", &w) == -EPROTO);
	CHECK(read_one("--network=container:x", &w) == 0 &&
	      w.network == WORDS_AGENT);
	CHECK(read_one("--device=/dev/fuse", &w) == 0 && w.fuse &&
	      w.network == WORDS_UPLINK);
}

static void test_command(void)
{
	struct words w;

	CHECK(read_some((const char *const[8]){"--env=A=1", "--env=HOME",
					       "--env=NONE", "--tty",
					       "--interactive", "--workdir=/w",
					       "--hostname=h",
					       "--entrypoint=/init"},
			&w) == 0);
	CHECK(w.env.n == 2 && strcmp(w.env.v[0], "A=1") == 0 &&
	      strcmp(w.env.v[1], "HOME=/home/me") == 0);
	CHECK(w.tty && strcmp(w.folder, "/w") == 0 &&
	      strcmp(w.hostname, "h") == 0);
	CHECK(w.argv.n == 3 && strcmp(w.argv.v[0], "/init") == 0 &&
	      strcmp(w.argv.v[1], "/bin/true") == 0 && !w.argv.v[2]);
	/* the last holds, and none is one, too */
	CHECK(read_some((const char *const[8]){"--entrypoint=/a",
					       "--entrypoint="},
			&w) == 0 &&
	      w.argv.n == 2 && strcmp(w.argv.v[0], "/bin/true") == 0);
}

static void test_masks(void)
{
	struct words w;

	CHECK(read_some((const char *const[8]){
				"--masks=/state/empty", "--mask=is:1:2:/w",
				"--mask=hide:3:18446744073709551615:/w/a:b\n,c",
				"--mask=keep:5:6:/w/k", "--mask=pin:7:8:/w/p"},
			&w) == 0);
	CHECK(strcmp(w.empty, "/state/empty") == 0 && w.masks.n == 4);
	CHECK(w.masks.v[0].kind == WORDS_IS && w.masks.v[0].dev == 1 &&
	      w.masks.v[0].ino == 2);
	/* whatever is in a name, and in the order of the words */
	CHECK(w.masks.v[1].kind == WORDS_HIDE &&
	      w.masks.v[1].ino == UINT64_MAX &&
	      strcmp(w.masks.v[1].target, "/w/a:b\n,c") == 0);
	CHECK(w.masks.v[2].kind == WORDS_KEEP &&
	      w.masks.v[3].kind == WORDS_PIN);
}

/* What is not understood is not left out. */
static void test_refused(void)
{
	static const char *const words[] = {
		"--privileged",
		"--cap-add=SYS_RAWIO",
		"--cap-add=ALL",
		"--cap-drop=NET_RAW",
		"--device=/dev/kvm",
		"--network=host",
		"--pid=host",
		"--pid=container:x",
		"--pid=container:membrane-gate-x",
		"--pid=host",
		"--read-only=false",
		"--mount=type=bind,source=/a",
		"--mount=type=bind,target=/a",
		"--mount=type=bind,source=a,target=/a",
		"--mount=type=bind,source=/a,target=/",
		"--mount=type=bind,source=/a,target=/b/../c",
		"--mount=type=bind,source=/a,target=/b//c",
		"--mount=type=bind,source=/a,target=/b,readonly=false",
		"--mount=type=volume,source=/a,target=/b",
		"--mount=type=bind,source=/a,target=/b,bind-propagation=shared",
		"--mount=type=bind,\"source=/a,target=/b",
		"--volume=/a",
		"--volume=data:/b",
		"--volume=/a:/b:z",
		"--tmpfs=",
		"--tmpfs=/b:mode=8",
		"--tmpfs=/b:mode=77777",
		"--tmpfs=/b:size=64mb",
		"--tmpfs=/b:suid",
		"--sysctl=kernel.core_pattern=x",
		"--sysctl=net.x/../y=1",
		"--sysctl=net.x",
		"--security-opt=seccomp=",
		"--security-opt=apparmor=unconfined",
		"--ulimit=nofile=1:2",
		"--ulimit=core=0:0",
		"--memory=0",
		"--memory=2g",
		"--cpus=2",
		"--cpus=2.5",
		"--cpus=0.000",
		"--userns=container",
		"--pids-limit=0",
		"--pids-limit=-1",
		"--env==x",
		"--env",
		"--workdir=w",
		"--hostname=",
		"--masks=",
		"--masks=state",
		"--mask=hide:1:2:/w",
		"--mask=none:1:2:/w",
		"--mask=is:1:2",
		"--mask=is::2:/w",
		"--mask=is:1:x:/w",
		"--mask=is:1:2:w",
		"--mask=is:1:2:/",
		"--mask=is:1:2:/w/../x",
		"-v",
	};
	char *none[] = {arena_cstr(a, STR("docker")), arena_cstr(a, STR("run")),
			NULL};
	char *empty[] = {arena_cstr(a, STR("native")),
			 arena_cstr(a, STR("run")), arena_cstr(a, STR("host")),
			 NULL};
	char *image[] = {
		arena_cstr(a, STR("native")), arena_cstr(a, STR("run")),
		arena_cstr(a, STR("debian")), arena_cstr(a, STR("sh")), NULL};
	struct words w;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		CHECK_MSG(read_one(words[i], &w) == -EPROTO, "%s", words[i]);
	CHECK(read_some((const char *const[8]){"--user", "me"}, &w) == -EPROTO);
	CHECK(words_read(a, none, home, NULL, &w, &err) == -EPROTO);
	CHECK(words_read(a, empty, home, NULL, &w, &err) == -EPROTO);
	CHECK(words_read(a, image, home, NULL, &w, &err) == -EPROTO);
}

static void test_limits(void)
{
	struct words w;

	CHECK(read_some((const char *const[8]){"--memory=2147483648",
					       "--cpus=2.500"},
			&w) == 0);
	CHECK(w.memory == UINT64_C(2147483648) && w.cpus_milli == 2500);
	CHECK(read_one("--cpus=0.001", &w) == 0 && w.cpus_milli == 1 &&
	      w.memory == 0);
	CHECK(read_some((const char *const[8]){"--userns=host", "--cap-add=BPF",
					       "--cap-add=PERFMON"},
			&w) == 0);
	CHECK(w.host_users &&
	      w.caps == (UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON));
}

int main(void)
{
	a = arena_new();
	test_limits();
	test_places();
	test_order();
	test_rights();
	test_command();
	test_root();
	test_masks();
	test_refused();
	arena_free(a);
	return check_status();
}
