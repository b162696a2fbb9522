/* Files of a plan as the gate reads them, and what it wants of docker.json. */
#include "runtime/gate/plan/planfile.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
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

static int link_of(const char *json, enum planfile_link *out)
{
	put(json, strlen(json));
	return planfile_link(top, out, &err);
}

static void links(void)
{
	enum planfile_link link = PLANFILE_BRIDGE;

	CHECK(planfile_link(top, &link, &err) == 0 && link == PLANFILE_VETH);
	CHECK(link_of("{\"link\":\"bridge\"}", &link) == 0 &&
	      link == PLANFILE_BRIDGE);
	CHECK(link_of("{\"link\":\"veth\"}", &link) == 0 &&
	      link == PLANFILE_VETH);
	CHECK(says(link_of("{\"link\":\"wire\"}", &link), -EPROTO, "unknown"));
	CHECK(says(link_of("{\"link\":1}", &link), -EPROTO, "no link"));
	CHECK(says(link_of("not JSON", &link), -EPROTO, "no link"));
	CHECK(planfile_link("/nowhere/at/all", &link, &err) == 0);
	CHECK(unlinkat(dir, "docker.json", 0) == 0);
	CHECK(mkdirat(dir, "docker.json", 0700) == 0);
	CHECK(planfile_link(top, &link, &err) < 0);
	CHECK(unlinkat(dir, "docker.json", AT_REMOVEDIR) == 0);
}

static int ports_of(const char *list, struct planfile_ports *out)
{
	char json[1024];
	int n = snprintf(json, sizeof(json), "{\"host_ports\":%s}", list);

	put(json, (size_t)n);
	return planfile_host_ports(top, out, &err);
}

static void ports(void)
{
	struct planfile_ports got = {.n = 1};
	char many[512] = "[1";

	CHECK(planfile_host_ports(top, &got, &err) == 0 && got.n == 0);
	CHECK(ports_of("[1,65535]", &got) == 0);
	CHECK(got.n == 2 && got.v[0] == 1 && got.v[1] == 65535);
	CHECK(ports_of("[]", &got) == 0 && got.n == 0);
	CHECK(says(ports_of("[0]", &got), -EPROTO, "no ports"));
	CHECK(says(ports_of("[65536]", &got), -EPROTO, "no ports"));
	CHECK(says(ports_of("[\"80\"]", &got), -EPROTO, "no ports"));
	for (unsigned i = 1; i < LIMIT_MACHINE_PORTS; i++)
		strcat(many, ",1");
	CHECK(ports_of(strcat(many, "]"), &got) == 0 &&
	      got.n == LIMIT_MACHINE_PORTS);
	many[strlen(many) - 1] = '\0';
	CHECK(ports_of(strcat(many, ",1]"), &got) == -EPROTO);
	CHECK(unlinkat(dir, "docker.json", 0) == 0);
	CHECK(mkdirat(dir, "docker.json", 0700) == 0);
	CHECK(planfile_host_ports(top, &got, &err) < 0);
	CHECK(unlinkat(dir, "docker.json", AT_REMOVEDIR) == 0);
}

int main(void)
{
	CHECK(mkdtemp(top));
	dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0);
	files();
	CHECK(unlinkat(dir, "docker.json", 0) == 0);
	links();
	ports();
	CHECK(unlinkat(dir, "other", 0) == 0 && unlinkat(dir, "pipe", 0) == 0);
	CHECK(close(dir) == 0 && rmdir(top) == 0);
	return check_status();
}
