#include "runtime/view/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

int mount_open(int *out_fuse, struct err *err)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return err_set(
			err, -errno,
			"/dev/fuse: %s (%s; or 'masks: start' in the policy, which needs no view)",
			strerror(errno),
			errno == EACCES ? "chmod 666 /dev/fuse"
					: "modprobe fuse");
	*out_fuse = fd;
	return 0;
}

/*
 * default_permissions: the kernel judges each caller by the owner and the mode
 * that files have, as on the host. nosuid, nodev: nobody inside gains anything
 * by a file of the workspace.
 */
int mount_view(const char *at, int fuse, uid_t uid, gid_t gid, struct err *err)
{
	char options[160];

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,"
		 "allow_other,default_permissions",
		 fuse, uid, gid);
	if (mkdir(at, 0700) < 0 && errno != EEXIST)
		return err_errno(err, at);
	if (mount("membrane", at, "fuse.membrane", MS_NOSUID | MS_NODEV,
		  options) < 0)
		return err_set(
			err, -errno,
			"%s: %s (no file system of a program's can be mounted here: 'masks: start' in the policy needs none)",
			at, strerror(errno));
	return 0;
}

bool mount_remove(const char *at)
{
	return umount2(at, MNT_DETACH | UMOUNT_NOFOLLOW) == 0;
}
