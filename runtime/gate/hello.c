#include "runtime/gate/hello.h"

#include <cjson/cJSON.h>
#include <errno.h>

static int take(const cJSON *tree, struct names_hosts *hosts, struct err *err)
{
	const cJSON *version =
		cJSON_GetObjectItemCaseSensitive(tree, "version");
	const cJSON *host = cJSON_GetObjectItemCaseSensitive(tree, "host");
	const cJSON *item;

	if (!cJSON_IsNumber(version) || version->valueint != HELLO_VERSION)
		return err_set(err, -EPROTO, "unknown version");
	if (!cJSON_IsArray(host))
		return err_set(err, -EPROTO, "no addresses of the host");
	cJSON_ArrayForEach(item, host)
	{
		struct addr a;

		if (!cJSON_IsString(item) ||
		    !addr_parse(str_of(item->valuestring), &a))
			return err_set(err, -EPROTO, "not an address");
		if (!names_hosts_add(hosts, &a))
			return err_set(err, -EPROTO,
				       "more than %u addresses of the host",
				       NAMES_HOSTS_MAX);
	}
	return 0;
}

int hello_parse(struct str line, struct names_hosts *hosts, struct err *err)
{
	const char *end = NULL;
	cJSON *tree = cJSON_ParseWithLengthOpts(line.p, line.n, &end, 0);
	int rc = tree && end == line.p + line.n
			 ? take(tree, hosts, err)
			 : err_set(err, -EPROTO, "not one JSON object");

	cJSON_Delete(tree);
	return rc;
}
