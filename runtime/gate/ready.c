#include "runtime/gate/ready.h"

#include "compiler/plan/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* fcntl_locking(2): of the process, not of those that it forks; so nothing may
 * open that file again and close it. */
int ready_hold(struct err *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(GATE_READY, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		      0600);

	if (fd < 0 || fcntl(fd, F_SETLK, &whole) < 0)
		return err_set(err, -errno, GATE_READY ": %s", strerror(errno));
	return 0;
}

bool ready_held(void)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	auto_fd int fd = open(GATE_READY, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && fcntl(fd, F_GETLK, &whole) == 0 &&
	       whole.l_type != F_UNLCK;
}
