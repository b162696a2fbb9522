#include "runtime/launch/ports/hostports.h"

#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "runtime/forward/forward.h"
#include "runtime/launch/ports/parts.h"

#include <unistd.h>

static void run_server(int listen, const uint16_t *ports, uint32_t n,
		       pid_t parent)
{
	int fds[LIMIT_MACHINE_PORTS], gate;
	struct err ignored;

	proc_close_others(listen, -1);
	gate = ports_await(listen, parent);
	close(listen);
	if (gate >= 0 && forward_take(gate, fds, n, &ignored) == 0)
		forward_serve(fds, ports, n);
	_exit(1);
}

int hostports_start(const char *dir, const uint16_t *ports, uint32_t n,
		    struct hostports *out, struct err *err)
{
	auto_fd int listen = -1;
	pid_t self = getpid(), pid;
	int rc;

	if (n == 0)
		return 0;
	rc = ports_listen(dir, DOCKER_JSON_PORTS_SOCKET, &listen, err);
	if (rc < 0)
		return rc;
	pid = fork();
	if (pid == 0)
		run_server(listen, ports, n, self);
	if (pid < 0)
		return err_errno(err, "fork");
	out->pid = pid;
	return 0;
}

void hostports_stop(struct hostports *h)
{
	ports_end(&h->pid);
}
