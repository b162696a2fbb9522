#include "runtime/gate/plan/planfile.h"

#include "compiler/base/limits.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int link_of(struct str text, enum planfile_link *out, struct err *err)
{
	cJSON *tree = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *link =
		cJSON_GetObjectItemCaseSensitive(tree, DOCKER_JSON_LINK);
	int rc = 0;

	if (!cJSON_IsString(link))
		rc = err_set(err, -EPROTO, "docker.json: no link");
	else if (strcmp(link->valuestring, DOCKER_JSON_VETH) == 0)
		*out = PLANFILE_VETH;
	else if (strcmp(link->valuestring, DOCKER_JSON_BRIDGE) == 0)
		*out = PLANFILE_BRIDGE;
	else
		rc = err_set(err, -EPROTO, "docker.json: unknown link");
	cJSON_Delete(tree);
	return rc;
}

/* member: of each item that is an object; NULL: they are ports themselves. */
static int ports_of(struct str text, const char *key, const char *member,
		    struct planfile_ports *out, struct err *err)
{
	cJSON *tree = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *o, *list = cJSON_GetObjectItemCaseSensitive(tree, key);
	int rc = 0;

	cJSON_ArrayForEach(o, list) {
		const cJSON *p =
			member ? cJSON_GetObjectItemCaseSensitive(o, member)
			       : o;

		if (out->n == LIMIT_MACHINE_PORTS || !cJSON_IsNumber(p) ||
		    p->valueint < 1 || p->valueint > UINT16_MAX) {
			rc = err_set(err, -EPROTO, "docker.json: no ports");
			break;
		}
		out->v[out->n++] = (uint16_t)p->valueint;
	}
	cJSON_Delete(tree);
	return rc;
}

/* Whichever engine runs the gate: both say the same of what is read here. */
static int read_vectors(const char *dir, struct str *out, struct err *err)
{
	int rc = planfile_read(dir, PLAN_DOCKER, out, err);

	return rc == -ENOENT ? planfile_read(dir, PLAN_NATIVE, out, err) : rc;
}

static int read_ports(const char *dir, const char *key, const char *member,
		      struct planfile_ports *out, struct err *err)
{
	struct str text;
	int rc = read_vectors(dir, &text, err);

	*out = (struct planfile_ports){0};
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	rc = ports_of(text, key, member, out, err);
	planfile_free(text);
	return rc;
}

int planfile_host_ports(const char *dir, struct planfile_ports *out,
			struct err *err)
{
	return read_ports(dir, DOCKER_JSON_HOST_PORTS, NULL, out, err);
}

int planfile_published(const char *dir, struct planfile_ports *out,
		       struct err *err)
{
	return read_ports(dir, DOCKER_JSON_PUBLISHED, DOCKER_JSON_TO, out, err);
}

int planfile_link(const char *dir, enum planfile_link *out, struct err *err)
{
	struct str text;
	int rc = read_vectors(dir, &text, err);

	*out = PLANFILE_VETH;
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	rc = link_of(text, out, err);
	planfile_free(text);
	return rc;
}
