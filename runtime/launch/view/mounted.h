/*
 * A view's mount as the host has it: {state}/sessions/ID/view/workspace, from
 * the moment that the view is ready until it detaches. Whoever kills parts of a
 * session may leave it there: it is taken away before anything else of the
 * session's folder is.
 */
#ifndef RUNTIME_LAUNCH_VIEW_MOUNTED_H
#define RUNTIME_LAUNCH_VIEW_MOUNTED_H

#include "runtime/launch/session/session.h"

/*
 * {state}/sessions/ID/view, with the folder in it that is mounted on. The view
 * walks through it as the workspace's owner, who may be another than we. With
 * shares it is a mount of its own, in which what others mount appears: where we
 * are in the namespaces of a rootless Docker, nothing passes that on by itself.
 */
must_check int mounted_prepare(struct arena *a, const struct session *s,
			       bool shares, struct err *err);
/* The same for the home, where that is viewed, too. */
must_check int mounted_prepare_home(struct arena *a, const struct session *s,
				    struct err *err);
/*
 * The root of a view, by its identity alone (O_PATH); point: its folder there,
 * of compiler/plan/docker_json.h.
 *   -ENOTSUP  it is not to be seen here; *err says what to do
 */
must_check int mounted_open(struct arena *a, const char *folder,
			    const char *point, int *out_fd, struct err *err);
/*
 * Nothing is mounted there afterwards, and the folder is gone; that there is
 * none is no error. Who may not take mounts away has Docker do it.
 *   -EBUSY  something still is
 */
must_check int mounted_remove(struct arena *a, const struct session *s,
			      struct err *err);

#endif
