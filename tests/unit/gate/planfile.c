/* Files of a plan as the gate reads them, and what it wants of docker.json. */
#include "runtime/gate/plan/planfile.h"

#include "compiler/base/sha256.h"
#include "compiler/plan/plan.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/membrane-planfile-XXXXXX";
static struct err err;
static int dir = -1;

static void put(const char *text, size_t n)
{
	int fd = openat(dir, "docker.json", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n && close(fd) == 0);
}

static void put_size(off_t n)
{
	int fd = openat(dir, "docker.json", O_WRONLY);

	CHECK(fd >= 0 && ftruncate(fd, n) == 0 && close(fd) == 0);
}

static bool says(int rc, int want, const char *word)
{
	return rc == want && strstr(err.text, word);
}

static void files(void)
{
	struct str text;

	CHECK(planfile_read("/nowhere/at/all", "x", &text, &err) == -ENOENT);
	CHECK(planfile_read(top, "docker.json", &text, &err) == -ENOENT);
	put("ab", 2);
	CHECK(planfile_read(top, "docker.json", &text, &err) == 0);
	CHECK(str_is(text, "ab") && text.p[2] == '\0');
	planfile_free(text);
	put("a\0b", 3);
	CHECK(planfile_read(top, "docker.json", &text, &err) == -EINVAL);
	CHECK(symlinkat("docker.json", dir, "other") == 0);
	CHECK(planfile_read(top, "other", &text, &err) == -ELOOP);
	CHECK(mkfifoat(dir, "pipe", 0600) == 0);
	CHECK(says(planfile_read(top, "pipe", &text, &err), -EFBIG, "pipe"));
	put_size(LIMIT_PLAN_BYTES + 1);
	CHECK(planfile_read(top, "docker.json", &text, &err) == -EFBIG);
}

/* A file that ends before it is as long as it was said to be: as /sys has. */
static void short_files(void)
{
	static const int before[] = {0, EINTR}; /* whatever went wrong then */
	struct str text;

	for (size_t i = 0; i < ARRAY_LEN(before); i++) {
		int rc;

		errno = before[i];
		rc = planfile_read("/sys/kernel", "uevent_seqnum", &text, &err);
		CHECK(rc == -EIO ||
		      (rc == -ENOENT && access("/sys/kernel", F_OK) < 0));
	}
}

/* Descriptor 0 is one like any other. */
static void without_input(void)
{
	struct str text;

	put("ab", 2);
	CHECK(close(STDIN_FILENO) == 0);
	CHECK(planfile_read(top, "docker.json", &text, &err) == 0 &&
	      str_is(text, "ab"));
	planfile_free(text);
	CHECK(open("/dev/null", O_RDONLY) == STDIN_FILENO);
}

static struct planfile_vectors got;

static int read_vectors(const char *json)
{
	put(json, strlen(json));
	return planfile_vectors(top, &got, &err);
}

static void links(void)
{
	static const char *const no_door[] = {
		"{\"link\":\"apart\"}",
		"{\"link\":\"apart\",\"addresses\":[]}",
		"{\"link\":\"apart\",\"addresses\":[\"gate.test\"]}",
		"{\"link\":\"apart\",\"addresses\":[1]}",
		"{\"link\":\"apart\",\"addresses\":[\"10.96.0.53\",1]}",
		"{\"link\":\"apart\",\"addresses\":[\"1.2.3.4\",\"1.2.3.5\","
		"\"1.2.3.6\"]}",
		"{\"link\":\"wire\",\"addresses\":[\"10.96.0.53\"]}",
	};

	CHECK(planfile_vectors(top, &got, &err) == 0 &&
	      got.link == PLANFILE_VETH);
	CHECK(read_vectors("{\"link\":\"bridge\"}") == 0 &&
	      got.link == PLANFILE_BRIDGE);
	CHECK(read_vectors("{\"link\":\"veth\"}") == 0 &&
	      got.link == PLANFILE_VETH);
	CHECK(read_vectors("{\"link\":\"wire\"}") == 0 &&
	      got.link == PLANFILE_WIRE);
	CHECK(read_vectors("{\"link\":\"apart\",\"addresses\":"
			   "[\"10.96.0.53\",\"fd00::53\"]}") == 0 &&
	      got.link == PLANFILE_APART && got.n_door == 2 &&
	      got.door[1].family == ADDR_V6);
	for (size_t i = 0; i < ARRAY_LEN(no_door); i++)
		CHECK(says(read_vectors(no_door[i]), -EPROTO, "no addresses"));
	CHECK(says(read_vectors("{\"link\":\"wires\"}"), -EPROTO, "unknown"));
	CHECK(says(read_vectors("{\"link\":1}"), -EPROTO, "no link"));
	CHECK(says(read_vectors("not JSON"), -EPROTO, "no link"));
	CHECK(planfile_vectors("/nowhere/at/all", &got, &err) == 0);
	/* of the other engine, where the plan is for that */
	CHECK(read_vectors("{\"link\":\"bridge\"}") == 0);
	CHECK(renameat(dir, "docker.json", dir, "native.json") == 0);
	CHECK(planfile_vectors(top, &got, &err) == 0 &&
	      got.link == PLANFILE_BRIDGE);
	CHECK(read_vectors("{\"link\":\"veth\"}") == 0 &&
	      got.link == PLANFILE_VETH);
	CHECK(unlinkat(dir, "native.json", 0) == 0);
	CHECK(read_vectors("{\"link\":\"wire\"}") == 0);
	CHECK(renameat(dir, "docker.json", dir, "kubernetes.json") == 0);
	CHECK(planfile_vectors(top, &got, &err) == 0 &&
	      got.link == PLANFILE_WIRE);
	CHECK(unlinkat(dir, "kubernetes.json", 0) == 0);
	CHECK(read_vectors("{\"link\":\"veth\"}") == 0);
	CHECK(unlinkat(dir, "docker.json", 0) == 0);
	CHECK(mkdirat(dir, "docker.json", 0700) == 0);
	CHECK(planfile_vectors(top, &got, &err) < 0);
	CHECK(unlinkat(dir, "docker.json", AT_REMOVEDIR) == 0);
}

static int ports_of(const char *list)
{
	char json[1024];

	snprintf(json, sizeof(json), "{\"link\":\"veth\",\"host_ports\":%s}",
		 list);
	return read_vectors(json);
}

static void ports(void)
{
	const struct planfile_ports *host = &got.host;
	char many[512] = "[1";

	got.host.n = 1;
	CHECK(planfile_vectors(top, &got, &err) == 0 && host->n == 0);
	CHECK(ports_of("[1,65535]") == 0);
	CHECK(host->n == 2 && host->v[0] == 1 && host->v[1] == 65535);
	CHECK(ports_of("[]") == 0 && host->n == 0);
	CHECK(says(ports_of("[0]"), -EPROTO, "no ports"));
	CHECK(says(ports_of("[65536]"), -EPROTO, "no ports"));
	CHECK(says(ports_of("[\"80\"]"), -EPROTO, "no ports"));
	for (unsigned i = 1; i < LIMIT_MACHINE_PORTS; i++)
		strcat(many, ",1");
	CHECK(ports_of(strcat(many, "]")) == 0 &&
	      host->n == LIMIT_MACHINE_PORTS);
	many[strlen(many) - 1] = '\0';
	CHECK(ports_of(strcat(many, ",1]")) == -EPROTO);
	CHECK(read_vectors("{\"link\":\"veth\",\"published\":"
			   "[{\"to\":8080},{\"to\":9}]}") == 0 &&
	      got.published.n == 2 && got.published.v[0] == 8080);
	CHECK(says(read_vectors("{\"link\":\"veth\",\"published\":[8080]}"),
		   -EPROTO, "no ports"));
	CHECK(unlinkat(dir, "docker.json", 0) == 0);
}

/* Of what was read nothing stays. */
static void leaves_nothing(const char *place, const char *hex)
{
	static const char link[] = "{\"link\":\"bridge\"}";
	static char text[2000];
	size_t before = mallinfo2().uordblks;

	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, link, sizeof(link) - 1);
	put(text, sizeof(text) - 1);
	for (unsigned i = 0; i < 200; i++)
		CHECK(planfile_vectors(top, &got, &err) == 0 &&
		      planfile_sealed(place, str_of(hex), &err) == 0);
	CHECK(mallinfo2().uordblks < before + 16384);
	CHECK(unlinkat(dir, "docker.json", 0) == 0);
}

static void sorted_ports(void)
{
	struct planfile_ports p = {.v = {443, 80, 443, 80, 1}, .n = 5};

	planfile_ports_sort(&p);
	CHECK(p.n == 3 && p.v[0] == 1 && p.v[1] == 80 && p.v[2] == 443);
	p.n = 0;
	planfile_ports_sort(&p);
	CHECK(p.n == 0);
}

/* What the kubelet's link says, or a link that it did not make. */
static int folder_of(const char *to)
{
	static char out[PLANFILE_PATH_MAX];
	int rc;

	CHECK(symlinkat(to, dir, "..data") == 0);
	rc = planfile_folder(top, out, &err);
	CHECK(unlinkat(dir, "..data", 0) == 0);
	return rc == 0 && strcmp(out + strlen(top) + 1, to) == 0 ? 0 : rc;
}

static void folders(void)
{
	char out[PLANFILE_PATH_MAX], long_name[PLANFILE_PATH_MAX + 1];

	CHECK(planfile_folder(top, out, &err) == 0 && strcmp(out, top) == 0);
	CHECK(folder_of("..2026_11_28_12_00_00.123456789") == 0);
	CHECK(says(folder_of(".."), -EPROTO, "kubelet"));
	CHECK(says(folder_of("../.."), -EPROTO, "kubelet"));
	CHECK(says(folder_of("../plan"), -EPROTO, "kubelet"));
	CHECK(says(folder_of("/etc"), -EPROTO, "kubelet"));
	CHECK(says(folder_of("other"), -EPROTO, "kubelet"));
	memset(long_name, '.', sizeof(long_name));
	long_name[128] = '\0';
	CHECK(says(folder_of(long_name), -EPROTO, "kubelet"));
	memset(long_name, '/', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	CHECK(planfile_folder(long_name, out, &err) == -ENAMETOOLONG);
	put("", 0);
	CHECK(renameat(dir, "docker.json", dir, "..data") == 0);
	CHECK(planfile_folder(top, out, &err) == -EINVAL);
	CHECK(unlinkat(dir, "..data", 0) == 0);
}

/* As long as a path may be, and one byte longer. */
static void long_folders(void)
{
	char path[PLANFILE_PATH_MAX], name[64], out[PLANFILE_PATH_MAX];
	size_t n;

	for (int more = 0; more < 2; more++) {
		/* without a link, whether it is there or not */
		memset(path, '/', sizeof(path));
		n = sizeof(path) - sizeof("/..data") + (size_t)more;
		path[n] = '\0';
		CHECK(planfile_folder(path, out, &err) ==
		      (more ? -ENAMETOOLONG : 0));
	}
	snprintf(path, sizeof(path), "%s/", top);
	for (n = strlen(path); n < sizeof(path) - 40; n++)
		path[n] = n % 2 ? '/' : '.';
	path[n] = '\0';
	memset(name, '.', sizeof(name));
	for (int more = 0; more < 2; more++) {
		name[sizeof(path) - 2 - n + (size_t)more] = '\0';
		CHECK(symlinkat(name, dir, "..data") == 0);
		CHECK(planfile_folder(path, out, &err) == (more ? -EPROTO : 0));
		CHECK(more || strlen(out) == PLANFILE_PATH_MAX - 1);
		CHECK(unlinkat(dir, "..data", 0) == 0);
		name[sizeof(path) - 2 - n + (size_t)more] = '.';
	}
}

/* The plan that is meant, and what is under its name is as it says. */
static void seals(void)
{
	struct arena *a = arena_new();
	char hex[SHA256_HEX_MAX], other[SHA256_HEX_MAX];
	struct plan p = {0};
	const char *place = arena_fmt(a, "%s/plan", top).p;

	plan_add(a, &p, STR("names.map"), STR("membrane-names 2\n"));
	CHECK(plan_write(place, &p, &err) == 0);
	sha256_hex(plan_manifest(a, &p), hex);
	CHECK(planfile_sealed(place, str_of(hex), &err) == 0);
	leaves_nothing(place, hex);
	snprintf(other, sizeof(other), "%s", hex);
	other[0] = other[0] == '0' ? '1' : '0';
	CHECK(says(planfile_sealed(place, str_of(other), &err), -EPROTO, hex));
	CHECK(planfile_sealed(place, STR(""), &err) == -EPROTO);
	CHECK(planfile_sealed(top, str_of(hex), &err) == -ENOENT);
	/* altered, and of the digest that is meant */
	CHECK(truncate(arena_fmt(a, "%s/names.map", place).p, 3) == 0);
	CHECK(says(planfile_sealed(place, str_of(hex), &err), -EPROTO,
		   "names.map"));
	CHECK(unlink(arena_fmt(a, "%s/names.map", place).p) == 0 &&
	      unlink(arena_fmt(a, "%s/manifest.json", place).p) == 0 &&
	      rmdir(place) == 0);
	arena_free(a);
}

int main(void)
{
	/* what is allocated has something in it */
	(void)mallopt(M_PERTURB, 0x5a);
	CHECK(mkdtemp(top));
	dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0);
	files();
	short_files();
	without_input();
	CHECK(unlinkat(dir, "docker.json", 0) == 0);
	links();
	ports();
	sorted_ports();
	folders();
	long_folders();
	seals();
	CHECK(unlinkat(dir, "other", 0) == 0 && unlinkat(dir, "pipe", 0) == 0);
	CHECK(close(dir) == 0 && rmdir(top) == 0);
	return check_status();
}
