/* What a launcher's first line says, in a Pod, where there is no launcher: from
 * the environment and from files with one secret each. */
#include "runtime/gate/l7/hello.h"

#include "compiler/plan/hello.h"
#include "runtime/gate/plan/planfile.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MAX 64u

/* Out of memory: as a line that is not whole. */
static bool add_text(cJSON *to, const char *key, const char *value)
{
	return cJSON_AddStringToObject(to, key, value);
}

/* "10.0.0.1,fd00::1", as the downward API writes status.hostIPs. */
static int add_hosts(cJSON *line, struct err *err)
{
	const char *text = getenv(HELLO_POD_HOSTS);
	cJSON *list = cJSON_AddArrayToObject(line, HELLO_HOST);
	struct str rest = str_of(text ? text : "");
	char addr[ADDR_TEXT_MAX];

	if (!rest.n)
		return err_set(err, -EPROTO,
			       HELLO_POD_HOSTS ": no addresses of the node");
	if (!list)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t at = 0; at <= rest.n;) {
		size_t end = str_find(rest, ',', at);

		/* hello_parse() says what is no address. */
		snprintf(addr, sizeof(addr), "%.*s",
			 STR_ARG(str_slice(rest, at, end)));
		if (!cJSON_AddItemToArray(list, cJSON_CreateString(addr)))
			return err_set(err, -ENOMEM, "out of memory");
		at = end + 1;
	}
	return 0;
}

/* What ends many a Secret that was made with an editor. */
static void cut_line_feed(struct str *value)
{
	if (str_ends(*value, STR("\n")))
		((char *)(uintptr_t)value->p)[--value->n] = '\0';
}

static int add_secret(cJSON *list, const char *dir, const char *name,
		      struct err *err)
{
	struct str value;
	int rc = planfile_read(dir, name, &value, err);

	if (rc < 0)
		return rc;
	cut_line_feed(&value);
	if (!add_text(list, name, value.p))
		rc = err_set(err, -ENOMEM, "out of memory");
	explicit_bzero((void *)(uintptr_t)value.p, value.n);
	planfile_free(value);
	return rc;
}

static int add_secrets(cJSON *line, const char *secrets, struct err *err)
{
	cJSON *list = cJSON_AddObjectToObject(line, HELLO_CREDENTIALS);
	char folder[PLANFILE_PATH_MAX];
	const struct dirent *e;
	DIR *dir;
	int rc = planfile_folder(secrets, folder, err);

	if (rc < 0)
		return rc;
	dir = opendir(folder);
	if (!dir)
		return err_errno(err, folder);
	while (rc == 0 && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			rc = add_secret(list, folder, e->d_name, err);
	closedir(dir);
	return rc;
}

const char *hello_pod_session(void)
{
	return getenv(HELLO_POD_SESSION);
}

/* A UID of Kubernetes', or what else names things there. */
static bool is_session(const char *text)
{
	size_t n = text ? strlen(text) : 0;

	for (size_t i = 0; i < n; i++)
		if (!(text[i] >= 'a' && text[i] <= 'z') &&
		    !(text[i] >= '0' && text[i] <= '9') && text[i] != '-')
			return false;
	return n > 0 && n <= SESSION_MAX;
}

static int write_line(cJSON *line, const char *secrets, char *room, int size,
		      struct err *err)
{
	const char *session = hello_pod_session();
	int rc;

	if (!is_session(session))
		return err_set(
			err, -EPROTO,
			HELLO_POD_SESSION
			": not 1 to %u lower-case letters, digits and '-'",
			SESSION_MAX);
	if (!cJSON_AddNumberToObject(line, HELLO_VERSION_KEY, HELLO_VERSION) ||
	    !add_text(line, HELLO_SESSION, session))
		return err_set(err, -ENOMEM, "out of memory");
	rc = add_hosts(line, err);
	if (rc == 0 && secrets)
		rc = add_secrets(line, secrets, err);
	if (rc == 0 && !cJSON_PrintPreallocated(line, room, size, 0))
		rc = err_set(err, -E2BIG, "too many secrets");
	return rc;
}

int hello_pod(const char *secrets, struct names_hosts *hosts,
	      struct hello_credentials *out, struct err *err)
{
	static char room[HELLO_BYTES_MAX];
	cJSON *line = cJSON_CreateObject();
	int rc = write_line(line, secrets, room, sizeof(room), err);

	if (rc == 0)
		rc = hello_parse(str_of(room), hosts, out, err);
	explicit_bzero(room, sizeof(room));
	hello_wipe(line);
	cJSON_Delete(line);
	return rc < 0 ? err_while(err, "what the Pod says") : 0;
}
