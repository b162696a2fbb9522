/* What is applied to try something, as JSON: cJSON writes all texts. */
#include "compiler/cli/preflight/parts.h"

#define ROLE_LABEL   "app.kubernetes.io/component"
#define DOCTOR_LABEL "membrane/doctor"
#define CONFIG	     "membrane/haproxy"
#define CONFIG_AT    "/etc/doctor"
#define USER	     1000 /* any that is not root: as an agent's */

const char *probes_name(const struct visit *v, const char *role)
{
	return arena_fmt(v->a, PROBES_NAME "-%s%s%s", v->id, role ? "-" : "",
			 role ? role : "")
		.p;
}

static cJSON *put_map(cJSON *in, const char *key)
{
	cJSON *o = json_object();

	json_put(in, key, o);
	return o;
}

static cJSON *put_list(cJSON *in, const char *key)
{
	cJSON *list = json_array();

	json_put(in, key, list);
	return list;
}

static cJSON *push_map(cJSON *list)
{
	cJSON *o = json_object();

	json_push(list, o);
	return o;
}

static cJSON *new_object(const char *api, const char *kind)
{
	cJSON *root = json_object();

	json_put_cstr(root, "apiVersion", api);
	json_put_cstr(root, "kind", kind);
	return root;
}

static void put_labels(const struct visit *v, cJSON *in, const char *role)
{
	cJSON *l = put_map(in, "labels");

	json_put_cstr(l, KUBE_MANAGER_LABEL, KUBE_MANAGER);
	json_put_cstr(l, KUBE_NAME_LABEL, PROBES_NAME);
	json_put_cstr(l, DOCTOR_LABEL, v->id);
	if (role)
		json_put_cstr(l, ROLE_LABEL, role);
}

/* --- rights ----------------------------------------------------------------- */

struct str probes_reviews(const struct visit *v,
			  const struct answers_right *rights, size_t n)
{
	struct buf out;

	buf_init(&out, v->a);
	for (size_t i = 0; i < n; i++) {
		cJSON *root = new_object("authorization.k8s.io/v1",
					 "SelfSubjectAccessReview");
		cJSON *r = put_map(put_map(root, "spec"), "resourceAttributes");

		json_put_str(r, "namespace", v->at.ns);
		json_put_cstr(r, "verb", rights[i].verb);
		json_put_cstr(r, "group", rights[i].group);
		json_put_cstr(r, "resource", rights[i].resource);
		json_put_cstr(r, "subresource", rights[i].subresource);
		json_add(&out, root);
	}
	return buf_str(&out);
}

/* --- a restricted Pod ------------------------------------------------------- */

static void put_rights(cJSON *container)
{
	cJSON *s = put_map(container, "securityContext");

	json_put_bool(s, "allowPrivilegeEscalation", false);
	json_push_str(put_list(put_map(s, "capabilities"), "drop"), STR("ALL"));
	json_put_bool(s, "readOnlyRootFilesystem", true);
	json_put_bool(s, "runAsNonRoot", true);
	json_put_u64(s, "runAsUser", USER);
	json_put_cstr(put_map(s, "seccompProfile"), "type", "RuntimeDefault");
}

static cJSON *put_container(const struct visit *v, cJSON *list, const char *name)
{
	cJSON *c = push_map(list), *limits;

	json_put_cstr(c, "name", name);
	json_put_str(c, "image", v->with->gate_image.n ? v->with->gate_image
						       : STR(PROBES_NO_IMAGE));
	json_put_cstr(c, "imagePullPolicy", "IfNotPresent");
	limits = put_map(put_map(c, "resources"), "limits");
	json_put_cstr(limits, "cpu", "200m");
	json_put_cstr(limits, "memory", "128Mi");
	put_rights(c);
	return c;
}

/* role: NULL for a dry run. *out_spec: its containers are the caller's. */
static cJSON *new_pod(const struct visit *v, const char *role, cJSON **out_meta,
		      cJSON **out_spec)
{
	cJSON *root = new_object("v1", "Pod"), *spec;

	*out_meta = put_map(root, "metadata");
	json_put_cstr(*out_meta, "name", probes_name(v, role));
	put_labels(v, *out_meta, role);
	spec = put_map(root, "spec");
	json_put_u64(spec, "activeDeadlineSeconds", PROBES_DEADLINE_S);
	json_put_bool(spec, "automountServiceAccountToken", false);
	json_put_bool(spec, "enableServiceLinks", false);
	json_put_cstr(spec, "restartPolicy", "Never");
	json_put_u64(spec, "terminationGracePeriodSeconds", 1);
	*out_spec = spec;
	return root;
}

struct str probes_pod(const struct visit *v, enum probes_form form)
{
	cJSON *meta, *spec, *root = new_pod(v, NULL, &meta, &spec);

	put_container(v, put_list(spec, "containers"), "agent");
	switch (form) {
	case PROBES_PLAIN:
		break;
	case PROBES_SIDECAR:
		json_put_cstr(put_container(v, put_list(spec, "initContainers"),
					    "gate"),
			      "restartPolicy", "Always");
		break;
	case PROBES_OWN_USERS:
		json_put_bool(spec, "hostUsers", false);
		break;
	}
	return json_text(v->a, root);
}

/* --- two that speak to each other ------------------------------------------- */

/* Its own annotation as a file: no ConfigMap has to be made. */
static void put_config(cJSON *spec, cJSON *container)
{
	cJSON *volume = push_map(put_list(spec, "volumes")), *item, *mount;

	json_put_cstr(volume, "name", "config");
	item = push_map(put_list(put_map(volume, "downwardAPI"), "items"));
	json_put_cstr(item, "path", "haproxy.cfg");
	json_put_cstr(put_map(item, "fieldRef"), "fieldPath",
		      "metadata.annotations['" CONFIG "']");
	mount = push_map(put_list(container, "volumeMounts"));
	json_put_cstr(mount, "name", "config");
	json_put_cstr(mount, "mountPath", CONFIG_AT);
	json_put_bool(mount, "readOnly", true);
}

static void put_address(cJSON *container)
{
	cJSON *one = push_map(put_list(container, "env"));

	json_put_cstr(one, "name", "POD_IP");
	json_put_cstr(put_map(put_map(one, "valueFrom"), "fieldRef"),
		      "fieldPath", "status.podIP");
}

/* The gate's image has no shell; it has HAProxy. */
static struct str new_speaker(const struct visit *v, const char *role,
			      struct str config)
{
	cJSON *meta, *spec, *root = new_pod(v, role, &meta, &spec), *c, *list;

	json_put_str(put_map(meta, "annotations"), CONFIG, config);
	c = put_container(v, put_list(spec, "containers"), "agent");
	list = put_list(c, "command");
	json_push_str(list, STR("/usr/sbin/haproxy"));
	json_push_str(list, STR("-f"));
	json_push_str(list, STR(CONFIG_AT "/haproxy.cfg"));
	put_address(c);
	put_config(spec, c);
	return json_text(v->a, root);
}

#define TIMES                                                                  \
	"global\n"                                                             \
	"  maxconn 64\n"                                                       \
	"  log stdout format raw local0\n"                                     \
	"defaults\n"                                                           \
	"  mode tcp\n"                                                         \
	"  log global\n"                                                       \
	"  timeout client 2s\n"                                                \
	"  timeout server 2s\n"                                                \
	"  timeout connect 1s\n"                                               \
	"  timeout check 1s\n"

struct str probes_listener(const struct visit *v)
{
	return new_speaker(v, PROBES_LISTENER,
			   arena_fmt(v->a,
				     TIMES "frontend listener\n"
					   "  bind \"${POD_IP}:%u\"\n",
				     PROBES_PORT));
}

/* A connection of its own each time: what is open already may stay so. */
struct str probes_client(const struct visit *v, const struct addr *to)
{
	char text[ADDR_TEXT_MAX];

	return new_speaker(
		v, PROBES_CLIENT,
		arena_fmt(v->a,
			  TIMES
			  "  option log-health-checks\n"
			  "listen probe\n"
			  "  bind 127.0.0.1:%u\n"
			  "  server listener ipv%d@%s:%u check inter 500ms rise 1 fall 3\n",
			  PROBES_PORT + 1, (int)to->family, addr_text(to, text),
			  PROBES_PORT));
}

static void put_both(const struct visit *v, cJSON *in)
{
	json_put_cstr(put_map(put_map(in, "podSelector"), "matchLabels"),
		      DOCTOR_LABEL, v->id);
}

/* "ingress", "from", and the like: with each other. */
static void put_way(const struct visit *v, cJSON *spec, const char *way,
		    const char *peers)
{
	put_both(v, push_map(put_list(push_map(put_list(spec, way)), peers)));
}

struct str probes_network(const struct visit *v, bool shut)
{
	cJSON *root = new_object("networking.k8s.io/v1", "NetworkPolicy");
	cJSON *meta = put_map(root, "metadata"), *spec, *types;

	json_put_cstr(meta, "name", probes_name(v, PROBES_POLICY));
	put_labels(v, meta, NULL);
	spec = put_map(root, "spec");
	if (shut)
		put_list(spec, "egress");
	else
		put_way(v, spec, "egress", "to");
	put_way(v, spec, "ingress", "from");
	put_both(v, spec);
	types = put_list(spec, "policyTypes");
	json_push_str(types, STR("Ingress"));
	json_push_str(types, STR("Egress"));
	return json_text(v->a, root);
}
