#include "runtime/launch/docker/docker_info.h"

#include "compiler/base/json.h"
#include "runtime/launch/docker/docker_parts.h"

#include <string.h>

static const char *image_path(struct docker *d, const char *ref)
{
	/* a reference may hold slashes, and Docker wants them as they are */
	struct buf path;
	struct str rest = str_of(ref), part;

	buf_init(&path, d->a);
	buf_adds(&path, "/images");
	while (str_field(&rest, '/', &part))
		buf_addf(&path, "/%s",
			 docker_escaped(d, arena_cstr(d->a, part)));
	buf_adds(&path, "/json");
	return path.p;
}

int docker_has_image(struct docker *d, const char *ref, struct err *err)
{
	int rc = docker_request(d, "GET", image_path(d, ref), NULL, 404, NULL,
				err);

	return rc < 0 ? rc : rc == 200;
}

static void read_command(struct docker *d, const cJSON *list, docker_words *out)
{
	const cJSON *w;

	cJSON_ArrayForEach(w, list)
		if (cJSON_IsString(w))
			*vec_push(d->a, out) =
				arena_cstr(d->a, str_of(w->valuestring));
}

int docker_image_command(struct docker *d, const char *ref,
			 struct docker_command *out, struct err *err)
{
	cJSON *root = NULL;
	const cJSON *config;
	int rc = docker_request(d, "GET", image_path(d, ref), NULL, 0, &root,
				err);

	if (rc < 0)
		return rc;
	config = cJSON_GetObjectItemCaseSensitive(root, "Config");
	read_command(d, cJSON_GetObjectItemCaseSensitive(config, "Entrypoint"),
		     &out->entrypoint);
	read_command(d, cJSON_GetObjectItemCaseSensitive(config, "Cmd"),
		     &out->command);
	cJSON_Delete(root);
	return 0;
}

static void add_tags(struct docker *d, const cJSON *image, struct str front,
		     docker_tags *out)
{
	const cJSON *tag;

	cJSON_ArrayForEach(
		tag, cJSON_GetObjectItemCaseSensitive(image, "RepoTags")) {
		struct str text = cJSON_IsString(tag) ? str_of(tag->valuestring)
						      : (struct str){0};

		if (str_starts(text, front))
			*vec_push(d->a, out) = arena_cstr(
				d->a, str_slice(text, front.n, text.n));
	}
}

int docker_image_tags(struct docker *d, const char *repository,
		      docker_tags *out, struct err *err)
{
	struct str front = arena_fmt(d->a, "%s:", repository);
	cJSON *filter = json_object(), *names = json_array(), *root = NULL;
	const cJSON *image;
	const char *path;
	int rc;

	json_push_str(names, str_of(repository));
	json_put(filter, "reference", names);
	path = arena_fmt(d->a, "/images/json?filters=%s",
			 docker_escaped(d, json_compact(d->a, filter).p))
		       .p;
	rc = docker_request_list(d, path, &root, err);
	if (rc < 0)
		return rc;
	cJSON_ArrayForEach(image, root)
		add_tags(d, image, front, out);
	cJSON_Delete(root);
	return 0;
}

int docker_has_runtime(struct docker *d, const char *name, struct err *err)
{
	cJSON *root = NULL;
	int rc = docker_request(d, "GET", "/info", NULL, 0, &root, err);

	if (rc < 0)
		return rc;
	rc = cJSON_GetObjectItemCaseSensitive(
		     cJSON_GetObjectItemCaseSensitive(root, "Runtimes"),
		     name) != NULL;
	cJSON_Delete(root);
	return rc;
}

/* "name=seccomp,profile=default"; before Docker 1.13 "seccomp". */
static void read_option(struct docker *d, const char *text,
			struct docker_info *out)
{
	struct str rest = str_of(text), part, name = {0}, profile = {0};

	while (str_field(&rest, ',', &part)) {
		if (str_starts(part, STR("name=")))
			name = str_slice(part, 5, part.n);
		else if (str_starts(part, STR("profile=")))
			profile = str_slice(part, 8, part.n);
	}
	if (str_is(name, "rootless"))
		out->rootless = true;
	else if (str_is(name, "userns"))
		out->remapped = true;
	else if (str_is(name, "seccomp"))
		out->seccomp =
			arena_cstr(d->a, profile.n ? profile : STR("default"));
	else if (str_is(name, "apparmor") || str_is(name, "selinux"))
		out->mac = arena_cstr(d->a, name);
}

static void read_info(struct docker *d, const cJSON *root,
		      struct docker_info *out)
{
	const cJSON *o;
	struct buf names;

	out->version = docker_text(d, root, "ServerVersion");
	out->kernel = docker_text(d, root, "KernelVersion");
	out->storage = docker_text(d, root, "Driver");
	out->cgroup_driver = docker_text(d, root, "CgroupDriver");
	/* Docker has it from 20.10 on; before, there was only one. */
	out->cgroup_version = docker_text(d, root, "CgroupVersion");
	out->limits_memory = json_find_true(root, "MemoryLimit");
	out->limits_pids = json_find_true(root, "PidsLimit");
	out->seccomp = out->mac = "";
	cJSON_ArrayForEach(
		o, cJSON_GetObjectItemCaseSensitive(root, "SecurityOptions"))
		if (cJSON_IsString(o))
			read_option(d, o->valuestring, out);
	buf_init(&names, d->a);
	cJSON_ArrayForEach(o,
			   cJSON_GetObjectItemCaseSensitive(root, "Runtimes"))
		buf_addf(&names, "%s%s", names.n ? ", " : "", o->string);
	out->runtimes = names.n ? names.p : "";
}

int docker_info(struct docker *d, struct docker_info *out, struct err *err)
{
	cJSON *root = NULL;
	const cJSON *o;
	struct docker_info info = {0};
	int rc = docker_request(d, "GET", "/info", NULL, 0, &root, err);

	if (rc < 0)
		return rc;
	read_info(d, root, &info);
	cJSON_Delete(root);
	rc = docker_request(d, "GET", "/version", NULL, 0, &root, err);
	if (rc < 0)
		return rc;
	info.api = docker_text(d, root, "ApiVersion");
	info.runc = "";
	cJSON_ArrayForEach(o,
			   cJSON_GetObjectItemCaseSensitive(root, "Components"))
		if (strcmp(docker_text(d, o, "Name"), "runc") == 0)
			info.runc = docker_text(d, o, "Version");
	cJSON_Delete(root);
	*out = info;
	return 0;
}
