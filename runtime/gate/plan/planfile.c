#include "runtime/gate/plan/planfile.h"

#include "compiler/base/limits.h"
#include "compiler/base/sha256.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/kubernetes_json.h"
#include "compiler/plan/plan.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The kubelet's link to what it wrote last. */
#define LINK_NOW "..data"

static int read_all(int fd, char *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(fd, p + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		done += (size_t)got;
	}
	p[n] = '\0';
	return 0;
}

static int open_file(const char *dir, const char *name, size_t *out_n,
		     struct err *err)
{
	auto_fd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int fd = -1;
	struct stat st;
	int got;

	if (at < 0)
		return err_set(err, -errno, "%s: %s", dir, strerror(errno));
	fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, -errno, "%s/%s: %s", dir, name,
			       strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > LIMIT_PLAN_BYTES)
		return err_set(err, -EFBIG, "%s/%s: not a file of that kind",
			       dir, name);
	*out_n = (size_t)st.st_size;
	got = fd;
	fd = -1;
	return got;
}

int planfile_read(const char *dir, const char *name, struct str *out,
		  struct err *err)
{
	size_t n = 0;
	auto_fd int fd = open_file(dir, name, &n, err);
	char *p;
	int rc;

	if (fd < 0)
		return fd;
	p = malloc(n + 1);
	if (!p)
		return err_set(err, -ENOMEM, "%s: out of memory", name);
	rc = read_all(fd, p, n);
	if (rc == 0 && memchr(p, '\0', n))
		rc = -EINVAL;
	if (rc < 0) {
		free(p);
		return err_set(err, rc, "%s/%s: %s", dir, name, strerror(-rc));
	}
	*out = (struct str){p, n};
	return 0;
}

void planfile_free(struct str text)
{
	free((void *)(uintptr_t)text.p);
}

int planfile_folder(const char *dir, char out[PLANFILE_PATH_MAX],
		    struct err *err)
{
	char path[PLANFILE_PATH_MAX], to[128];
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/" LINK_NOW, dir) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", dir);
	n = readlink(path, to, sizeof(to));
	if (n < 0 && errno == ENOENT) {
		snprintf(out, PLANFILE_PATH_MAX, "%s", dir);
		return 0;
	}
	if (n < 0)
		return err_errno(err, path);
	/* "..2026_11_28_12_00_00.123456789": a folder beside the link. */
	if (n <= 2 || n == sizeof(to) || memchr(to, '/', (size_t)n) ||
	    memcmp(to, "..", 2) != 0 ||
	    snprintf(out, PLANFILE_PATH_MAX, "%s/%.*s", dir, (int)n, to) >=
		    (int)PLANFILE_PATH_MAX)
		return err_set(err, -EPROTO, "%s: no link of the kubelet's",
			       path);
	return 0;
}

int planfile_sealed(const char *dir, struct str sha256, struct err *err)
{
	struct arena *a = arena_new();
	char hex[SHA256_HEX_MAX];
	struct plan plan;
	int rc = plan_read(a, dir, &plan, err);

	if (rc == 0 &&
	    !str_eq(str_of(sha256_hex(plan_manifest(a, &plan), hex)), sha256))
		rc = err_set(
			err, -EPROTO,
			"%s: another plan, whose manifest has the digest %s",
			dir, hex);
	arena_free(a);
	return rc;
}

static int read_link(const cJSON *tree, enum planfile_link *out,
		     struct err *err)
{
	const cJSON *link =
		cJSON_GetObjectItemCaseSensitive(tree, DOCKER_JSON_LINK);

	if (!cJSON_IsString(link))
		return err_set(err, -EPROTO, "docker.json: no link");
	if (strcmp(link->valuestring, DOCKER_JSON_VETH) == 0)
		*out = PLANFILE_VETH;
	else if (strcmp(link->valuestring, DOCKER_JSON_BRIDGE) == 0)
		*out = PLANFILE_BRIDGE;
	else if (strcmp(link->valuestring, DOCKER_JSON_WIRE) == 0)
		*out = PLANFILE_WIRE;
	else if (strcmp(link->valuestring, DOCKER_JSON_APART) == 0)
		*out = PLANFILE_APART;
	else
		return err_set(err, -EPROTO, "docker.json: unknown link");
	return 0;
}

/* member: of each item that is an object; NULL: they are ports themselves. */
static int read_ports(const cJSON *tree, const char *key, const char *member,
		      struct planfile_ports *out, struct err *err)
{
	const cJSON *o, *list = cJSON_GetObjectItemCaseSensitive(tree, key);

	cJSON_ArrayForEach(o, list) {
		const cJSON *p =
			member ? cJSON_GetObjectItemCaseSensitive(o, member)
			       : o;

		if (out->n == LIMIT_MACHINE_PORTS || !cJSON_IsNumber(p) ||
		    p->valueint < 1 || p->valueint > UINT16_MAX)
			return err_set(err, -EPROTO, "docker.json: no ports");
		out->v[out->n++] = (uint16_t)p->valueint;
	}
	return 0;
}

/* There has to be one where the gate is called by it. */
static int read_door(const cJSON *tree, struct planfile_vectors *out,
		     struct err *err)
{
	const cJSON *o, *list = cJSON_GetObjectItemCaseSensitive(
				tree, KUBERNETES_JSON_ADDRESSES);

	cJSON_ArrayForEach(o, list) {
		if (out->n_door == PLANFILE_DOORS || !cJSON_IsString(o) ||
		    !addr_parse(str_of(o->valuestring),
				&out->door[out->n_door]))
			return err_set(err, -EPROTO,
				       "kubernetes.json: no addresses");
		out->n_door++;
	}
	return (out->link == PLANFILE_APART) == (out->n_door > 0)
		       ? 0
		       : err_set(err, -EPROTO,
				 "kubernetes.json: no addresses");
}

static int by_number(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

void planfile_ports_sort(struct planfile_ports *ports)
{
	uint32_t n = 0;

	qsort(ports->v, ports->n, sizeof(*ports->v), by_number);
	for (uint32_t i = 0; i < ports->n; i++)
		if (n == 0 || ports->v[i] != ports->v[n - 1])
			ports->v[n++] = ports->v[i];
	ports->n = n;
}

int planfile_vectors(const char *dir, struct planfile_vectors *out,
		     struct err *err)
{
	struct str text;
	int rc = planfile_read(dir, PLAN_DOCKER, &text, err);
	cJSON *tree;

	*out = (struct planfile_vectors){.link = PLANFILE_VETH};
	if (rc == -ENOENT)
		rc = planfile_read(dir, PLAN_NATIVE, &text, err);
	if (rc == -ENOENT)
		rc = planfile_read(dir, PLAN_KUBERNETES, &text, err);
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	tree = cJSON_ParseWithLength(text.p, text.n);
	rc = read_link(tree, &out->link, err);
	if (rc == 0)
		rc = read_ports(tree, DOCKER_JSON_HOST_PORTS, NULL, &out->host,
				err);
	if (rc == 0)
		rc = read_ports(tree, DOCKER_JSON_PUBLISHED, DOCKER_JSON_TO,
				&out->published, err);
	if (rc == 0)
		rc = read_door(tree, out, err);
	cJSON_Delete(tree);
	planfile_free(text);
	return rc;
}
