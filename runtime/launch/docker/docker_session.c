#include "runtime/launch/docker/docker_session.h"

#include "compiler/base/agent_link.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/docker_parts.h"

#include <errno.h>

static void read_writes(struct docker *d, const cJSON *mounts,
			struct docker_container *c)
{
	const cJSON *m;

	cJSON_ArrayForEach(m, mounts) {
		const char *at = docker_text(d, m, "Destination");

		if (strcmp(docker_text(d, m, "Type"), "bind") == 0 &&
		    cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(m, "RW")) &&
		    !str_starts(str_of(at), STR("/workspace/")))
			*vec_push(d->a, &c->writes) =
				docker_text(d, m, "Source");
	}
}

static int list_containers(struct docker *d, const char *query,
			   docker_containers *out, struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/json?%s", query).p;
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
		c->session = docker_text(d, labels, DOCKER_JSON_LABEL_SESSION);
		c->role = docker_text(d, labels, DOCKER_JSON_LABEL_ROLE);
		c->state = docker_text(d, o, "State");
		c->name = "";
		if (cJSON_IsString(name)) /* "/membrane-gate-…" */
			c->name = arena_cstr(
				d->a, str_of(name->valuestring +
					     (name->valuestring[0] == '/')));
		read_writes(d, cJSON_GetObjectItemCaseSensitive(o, "Mounts"),
			    c);
	}
	cJSON_Delete(root);
	return 0;
}

int docker_list(struct docker *d, const char *session, docker_containers *out,
		struct err *err)
{
	const char *query = arena_fmt(d->a, "all=1&filters=%s",
				      docker_label_filter(d, session, false))
				    .p;

	return list_containers(d, query, out, err);
}

/* What an agent writes through a view, the view's container writes. */
static void add_viewed(struct docker *d, const docker_containers *all,
		       struct docker_container *agent)
{
	vec_each(c, all)
		if (strcmp(c->role, DOCKER_JSON_VIEW) == 0 &&
		    strcmp(c->session, agent->session) == 0)
			vec_each(path, &c->writes)
				*vec_push(d->a, &agent->writes) = *path;
}

int docker_list_agents(struct docker *d, docker_containers *out,
		       struct err *err)
{
	const char *filter =
		docker_escaped(d, "{\"label\":[\"" DOCKER_JSON_LABEL_SESSION
				  "\"],\"status\":[\"running\",\"paused\"]}");
	docker_containers all = {0};
	int rc = list_containers(d, arena_fmt(d->a, "filters=%s", filter).p,
				 &all, err);

	vec_each(c, &all) {
		if (strcmp(c->role, DOCKER_JSON_AGENT) != 0)
			continue;
		add_viewed(d, &all, c);
		*vec_push(d->a, out) = *c;
	}
	return rc;
}

/* "pause", "unpause": 409 and 500 do not say which of several it is. */
static int set_paused(struct docker *d, const char *container, bool paused,
		      struct err *err)
{
	const char *name = docker_escaped(d, container);
	const char *path = arena_fmt(d->a, "/containers/%s/%s", name,
				     paused ? "pause" : "unpause")
				   .p;
	int rc = docker_request(d, "POST", path, NULL, 0, NULL, err);
	const cJSON *state;
	cJSON *root = NULL;
	struct err ignored;

	if (rc != -EREMOTEIO)
		return rc < 0 ? rc : 0;
	path = arena_fmt(d->a, "/containers/%s/json", name).p;
	if (docker_request(d, "GET", path, NULL, 0, &root, &ignored) < 0)
		return ignored.code == -ENOENT ? -ENOENT : rc;
	state = cJSON_GetObjectItemCaseSensitive(root, "State");
	if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(state, "Running")))
		rc = -ENOENT;
	else if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(
			 state, "Paused")) == paused)
		rc = -EALREADY;
	cJSON_Delete(root);
	return rc;
}

int docker_pause(struct docker *d, const char *container, struct err *err)
{
	return set_paused(d, container, true, err);
}

int docker_unpause(struct docker *d, const char *container, struct err *err)
{
	return set_paused(d, container, false, err);
}

int docker_pid(struct docker *d, const char *container, int64_t *out,
	       struct err *err)
{
	const char *path = arena_fmt(d->a, "/containers/%s/json",
				     docker_escaped(d, container))
				   .p;
	cJSON *root = NULL;
	int rc = docker_request(d, "GET", path, NULL, 0, &root, err);
	const cJSON *pid;

	if (rc < 0 && rc != -ENOENT)
		return rc;
	pid = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(root, "State"), "Pid");
	*out = cJSON_IsNumber(pid) && pid->valuedouble > 0
		       ? (int64_t)pid->valuedouble
		       : 0;
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

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	return rc == 409;
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
			DOCKER_JSON_LABEL_SESSION),
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
	json_put_cstr(labels, DOCKER_JSON_LABEL_SESSION, session);
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
