/*
 * What a Docker daemon has and can do: its images, its runtimes, its host.
 *
 * Errors are those of a request: see docker.h.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_DOCKER_INFO_H
#define RUNTIME_LAUNCH_DOCKER_DOCKER_INFO_H

#include "runtime/launch/docker/docker.h"

/* What the daemon says of itself and its host; "" for what it does not say. */
struct docker_info {
	const char *version, *api; /* "20.10.24", "1.41": the newest it has */
	const char *runc, *kernel, *storage;
	const char *cgroup_version, *cgroup_driver;
	const char *seccomp;  /* the profile's name or path */
	const char *mac;      /* "apparmor", "selinux" */
	const char *runtimes; /* "kata, runc" */
	bool rootless, limits_memory, limits_pids;
	bool remapped; /* 'userns-remap': users of containers are others here */
};

must_check int docker_info(struct docker *d, struct docker_info *out,
			   struct err *err);
/* 1, or 0 when there is none. */
must_check int docker_has_image(struct docker *d, const char *ref,
				struct err *err);
/* What a container of the image runs: both may be empty. Appends. */
typedef VEC(const char *) docker_words;
struct docker_command {
	docker_words entrypoint, command;
};
must_check int docker_image_command(struct docker *d, const char *ref,
				    struct docker_command *out,
				    struct err *err);
/* The tags that images of a repository have here: "0.24.1". Appends. */
typedef VEC(const char *) docker_tags;
must_check int docker_image_tags(struct docker *d, const char *repository,
				 docker_tags *out, struct err *err);
/* 1, or 0 when there is none. */
must_check int docker_has_runtime(struct docker *d, const char *name,
				  struct err *err);

#endif
