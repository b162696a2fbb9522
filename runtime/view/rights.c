#include "runtime/view/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int rights_to_look(uid_t uid, gid_t gid, struct err *err)
{
	setfsgid(gid);
	setfsuid(uid);
	/* They say what it was, whether it is another now or not. */
	if ((gid_t)setfsgid(gid) != gid || (uid_t)setfsuid(uid) != uid)
		return err_set(err, -EPERM, "cannot look as %u:%u", uid, gid);
	return 0;
}

static int keep_caps(uint32_t kept, struct err *err)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {
		{.effective = kept, .permitted = kept}};

	if (syscall(SYS_capset, &head, data) < 0)
		return err_errno(err, "capset");
	return 0;
}

/* While there is the right to: it needs CAP_SETPCAP, and without that what is
 * left in the set is nobody's to take. */
static void empty_bounds(void)
{
	for (int cap = 0; cap < 64; cap++)
		ignore(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0));
}

/* Where one user alone is mapped the kernel lets nobody leave a group. */
static bool keeps_groups(void)
{
	char text[8] = "";
	int fd = open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 && strncmp(text, "deny", 4) == 0;
}

int rights_of_owner(uid_t uid, gid_t gid, pid_t parent, struct err *err)
{
	empty_bounds();
	if ((setgroups(0, NULL) < 0 && !keeps_groups()) ||
	    setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_errno(err, "becoming the workspace's owner");
	if (keep_caps(0, err) < 0)
		return err->code;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_errno(err, "prctl");
	if (getppid() != parent)
		return err_set(err, -ESRCH, "the supervisor is gone");
	return 0;
}

int rights_alone(struct err *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return err_errno(err, "unshare");
	if (mount(NULL, "/proc", NULL, MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc",
		  MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) < 0)
		return err_errno(err, "mounting /proc");
	return 0;
}

static uint32_t looking(bool looks)
{
	return looks ? 1u << CAP_SYS_PTRACE : 0;
}

int rights_to_unmount(bool looks, struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, "prctl");
	return keep_caps(1u << CAP_SYS_ADMIN | looking(looks), err);
}

int rights_to_look_on(bool looks, struct err *err)
{
	return keep_caps(looking(looks), err);
}

bool rights_use(bool use)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	data[0].effective = use ? data[0].permitted : 0;
	return syscall(SYS_capset, &head, data) == 0;
}

bool rights_are_of(uid_t uid, gid_t gid)
{
	/* They say what it is, and -1 changes nothing. */
	return (uid_t)setfsuid((uid_t)-1) == uid &&
	       (gid_t)setfsgid((gid_t)-1) == gid;
}
