#include "runtime/launch/docker/endpoint.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sha256.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *name, *value;
} table[8];

static const char *env(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].name && strcmp(table[i].name, name) == 0)
			return table[i].value;
	return NULL;
}

static void set(size_t i, const char *name, const char *value)
{
	table[i].name = name;
	table[i].value = value;
}

static struct endpoint found;
static struct err err;

static int find(struct arena *a)
{
	found = (struct endpoint){0};
	return endpoint_find(a, env, &found, &err);
}

static void check_hosts(struct arena *a)
{
	static const struct {
		const char *host, *socket, *base;
		int code;
	} cases[] = {
		{"unix:///x/y.sock", "/x/y.sock", "http://localhost", 0},
		{"tcp://10.0.0.1:2375", NULL, "http://10.0.0.1:2375", 0},
		{"tcp://[::1]:2375/", NULL, "http://[::1]:2375", 0},
		{"https://h:1", NULL, "https://h:1", 0},
		{"ssh://me@h", NULL, NULL, -ENOTSUP},
		{"npipe:////./pipe/docker", NULL, NULL, -ENOTSUP},
		{"unix://", NULL, NULL, -EINVAL},
		{"tcp://", NULL, NULL, -EINVAL},
		{"10.0.0.1", NULL, NULL, -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		set(1, "DOCKER_HOST", cases[i].host);
		CHECK_MSG(find(a) == cases[i].code, "%s", cases[i].host);
		if (cases[i].code)
			continue;
		CHECK_MSG(strcmp(found.base, cases[i].base) == 0, "%s",
			  found.base);
		CHECK(!cases[i].socket == !found.socket);
		if (cases[i].socket)
			CHECK(strcmp(found.socket, cases[i].socket) == 0);
	}
	set(1, "DOCKER_HOST", "tcp://h:2376");
	set(2, "DOCKER_TLS_VERIFY", "1");
	set(3, "DOCKER_CERT_PATH", "/certs");
	CHECK(find(a) == 0 && strcmp(found.base, "https://h:2376") == 0);
	CHECK(found.tls_verify && strcmp(found.ca, "/certs/ca.pem") == 0);
	CHECK(strcmp(found.key, "/certs/key.pem") == 0);
	set(2, NULL, NULL);
	set(3, NULL, NULL);
	set(1, "DOCKER_HOST", "");
}

static void write_text(const char *path, struct str text)
{
	CHECK(fileio_write(AT_FDCWD, path, text, 0600, &err) == 0);
}

static void make_context(struct arena *a, const char *dir, const char *name,
			 const char *host)
{
	char hex[SHA256_HEX_MAX];
	const char *meta;

	sha256_hex(str_of(name), hex);
	meta = arena_fmt(a, "%s/contexts/meta/%s", dir, hex).p;
	CHECK(fileio_mkdirs(meta, 0700, &err) == 0);
	write_text(arena_fmt(a, "%s/meta.json", meta).p,
		   arena_fmt(a,
			     "{\"Name\":\"%s\",\"Endpoints\":{\"docker\":"
			     "{\"Host\":\"%s\",\"SkipTLSVerify\":false}}}",
			     name, host));
}

static void check_contexts(struct arena *a)
{
	char dir[] = "/tmp/membrane-endpoint-XXXXXX";
	const char *config;

	CHECK(mkdtemp(dir) != NULL);
	config = arena_fmt(a, "%s/config.json", dir).p;
	set(0, "DOCKER_CONFIG", dir);
	/* nothing there: the default socket */
	CHECK(find(a) == 0 &&
	      strcmp(found.socket, "/var/run/docker.sock") == 0);
	make_context(a, dir, "rootless", "unix:///run/user/1/docker.sock");
	make_context(a, dir, "far", "ssh://far");
	write_text(config,
		   STR("{\"auths\":{},\"currentContext\":\"rootless\"}"));
	CHECK(find(a) == 0 &&
	      strcmp(found.socket, "/run/user/1/docker.sock") == 0);
	set(4, "DOCKER_CONTEXT", "default");
	CHECK(find(a) == 0 &&
	      strcmp(found.socket, "/var/run/docker.sock") == 0);
	set(4, "DOCKER_CONTEXT", "far");
	CHECK(find(a) == -ENOTSUP);
	set(4, "DOCKER_CONTEXT", "missing");
	CHECK(find(a) == -ENOENT && strstr(err.text, "'missing'"));
	/* the docker command prefers the host, too */
	set(1, "DOCKER_HOST", "unix:///h.sock");
	CHECK(find(a) == 0 && strcmp(found.socket, "/h.sock") == 0);
	set(1, NULL, NULL);
	set(4, NULL, NULL);
	write_text(config, STR("{"));
	CHECK(find(a) == -EINVAL);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

int main(void)
{
	struct arena *a = arena_new();

	set(0, "DOCKER_CONFIG", "/nonexistent");
	check_hosts(a);
	check_contexts(a);
	arena_free(a);
	return check_status();
}
