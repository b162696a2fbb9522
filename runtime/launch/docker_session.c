#include "runtime/launch/docker_session.h"

#include "compiler/base/agent_link.h"
#include "runtime/launch/docker_parts.h"

#include <errno.h>

int docker_list(struct docker *d, const char *session, docker_containers *out,
		struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/json?all=1&filters=%s",
				     docker_label_filter(d, session, false))
				   .p;
	cJSON *root = NULL;
	const cJSON *o;
	int rc = docker_request_list(d, path, &root, err);

	if (rc < 0)
		return rc;
	cJSON_ArrayForEach(o, root) {
		const cJSON *labels =
			cJSON_GetObjectItemCaseSensitive(o, "Labels");
		const cJSON *name = cJSON_GetArrayItem(
			cJSON_GetObjectItemCaseSensitive(o, "Names"), 0);
		struct docker_container *c = vec_push(d->a, out);

		c->id = docker_text(d, o, "Id");
		c->session = docker_text(d, labels, DOCKER_LABEL);
		c->role = docker_text(d, labels, "membrane.role");
		c->state = docker_text(d, o, "State");
		c->name = "";
		if (cJSON_IsString(name)) /* "/membrane-gate-…" */
			c->name = arena_cstr(
				d->a, str_of(name->valuestring +
					     (name->valuestring[0] == '/')));
	}
	cJSON_Delete(root);
	return 0;
}

int docker_signal(struct docker *d, const char *container, const char *signame,
		  struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/%s/kill?signal=%s",
				     docker_escaped(d, container), signame)
				   .p;
	int rc = docker_request(d, "POST", path, NULL, 409, NULL, err);

	if (rc == 409) /* created, and not running */
		return err_set(err, -ENOENT, "docker: %s does not run",
			       container);
	return rc < 0 ? rc : 0;
}

int docker_remove(struct docker *d, const char *container, struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/%s?force=1&v=1",
				     docker_escaped(d, container))
				   .p;
	/* 409: its removal is under way */
	int rc = docker_request(d, "DELETE", path, NULL, 409, NULL, err);

	return rc < 0 && rc != -ENOENT ? rc : 0;
}

static void read_network(struct docker *d, const cJSON *o, docker_networks *out)
{
	const cJSON *config = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(o, "IPAM"), "Config");
	const cJSON *c;
	struct docker_network base = {
		.id = docker_text(d, o, "Id"),
		.name = docker_text(d, o, "Name"),
		.session = docker_text(
			d, cJSON_GetObjectItemCaseSensitive(o, "Labels"),
			DOCKER_LABEL),
		.gateway = "",
		.subnet = "",
	};

	if (cJSON_GetArraySize(config) == 0)
		*vec_push(d->a, out) = base;
	cJSON_ArrayForEach(c, config) { /* one per family */
		base.gateway = docker_text(d, c, "Gateway");
		base.subnet = docker_text(d, c, "Subnet");
		*vec_push(d->a, out) = base;
	}
}

int docker_list_networks(struct docker *d, const char *session,
			 docker_networks *out, struct err *err)
{
	const char *path = "/networks";
	cJSON *root = NULL;
	const cJSON *o;
	int rc;

	if (session)
		path = arena_fmt(d->a, "/networks?filters=%s",
				 docker_label_filter(d, session, false))
			       .p;
	rc = docker_request_list(d, path, &root, err);
	if (rc < 0)
		return rc;
	cJSON_ArrayForEach(o, root)
		read_network(d, o, out);
	cJSON_Delete(root);
	return 0;
}

int docker_make_link(struct docker *d, const char *name, const char *session,
		     struct err *err)
{
	cJSON *root = json_object(), *options = json_object();
	cJSON *labels = json_object(), *ipam = json_object();
	cJSON *ranges = json_array(), *range = json_object();
	int rc;

	json_put_cstr(root, "Name", name);
	json_put_cstr(root, "Driver", "bridge");
	json_put_bool(root, "CheckDuplicate", true);
	json_put_cstr(options, "com.docker.network.bridge.inhibit_ipv4",
		      "true");
	json_put_cstr(options, "com.docker.network.bridge.enable_ip_masquerade",
		      "false");
	json_put(root, "Options", options);
	json_put_cstr(labels, DOCKER_LABEL, session);
	json_put(root, "Labels", labels);
	json_put_cstr(range, "Subnet", LINK_SUBNET_V4);
	json_put_cstr(range, "Gateway", LINK_GATE_V4);
	json_push(ranges, range);
	json_put(ipam, "Config", ranges);
	json_put(root, "IPAM", ipam);
	rc = docker_request(d, "POST", "/networks/create", root, 0, NULL, err);
	return rc < 0 ? rc : 0;
}

int docker_connect(struct docker *d, const char *network, const char *container,
		   struct err *err)
{
	const char *path = arena_fmt(d->a, "/networks/%s/connect",
				     docker_escaped(d, network))
				   .p;
	cJSON *root = json_object(), *end = json_object();
	cJSON *ipam = json_object();
	int rc;

	json_put_cstr(root, "Container", container);
	json_put_cstr(ipam, "IPv4Address", LINK_SPARE_V4);
	json_put(end, "IPAMConfig", ipam);
	json_put(root, "EndpointConfig", end);
	rc = docker_request(d, "POST", path, root, 0, NULL, err);
	return rc < 0 ? rc : 0;
}

int docker_remove_network(struct docker *d, const char *network,
			  struct err *err)
{
	const char *path =
		arena_fmt(d->a, "/networks/%s", docker_escaped(d, network)).p;
	int rc = docker_request(d, "DELETE", path, NULL, 404, NULL, err);

	return rc < 0 ? rc : 0;
}
