#include "runtime/launch/facts.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/mounts/place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#define FACT_MAX 4096u

/* The first word of a small file, or NULL. */
static const char *word_of(struct arena *a, const char *path)
{
	struct str text;
	struct err ignored;

	if (fileio_read(a, AT_FDCWD, path, FACT_MAX, &text, &ignored) < 0)
		return NULL;
	return arena_cstr(
		a, str_trim(str_slice(text, 0, str_find(text, '\n', 0))));
}

static enum fact is_there(const char *path)
{
	if (access(path, F_OK) == 0)
		return FACT_YES;
	return errno == ENOENT || errno == ENOTDIR ? FACT_NO : FACT_UNKNOWN;
}

static enum fact user_namespaces(struct arena *a)
{
	const char *max = word_of(a, "/proc/sys/user/max_user_namespaces");
	const char *debian =
		word_of(a, "/proc/sys/kernel/unprivileged_userns_clone");
	const char *ubuntu = word_of(
		a, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns");

	if (!max)
		return FACT_NO;
	return strcmp(max, "0") == 0 || (debian && *debian == '0') ||
			       (ubuntu && *ubuntu == '1')
		       ? FACT_NO
		       : FACT_YES;
}

/* Does the kernel have it now? A module is loaded when it is opened first. */
static bool has_fuse(struct arena *a)
{
	struct str text;
	struct err ignored;

	return fileio_read(a, AT_FDCWD, "/proc/filesystems", FACT_MAX, &text,
			   &ignored) == 0 &&
	       memmem(text.p, text.n, "\tfuse\n", strlen("\tfuse\n"));
}

/* Its mode says little: udev, systemd and Docker each have a word. */
static void find_fuse(struct arena *a, struct facts *out)
{
	auto_fd int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	int why = errno;

	out->opens_fuse = fd >= 0;
	/* who may not open it can still have a Docker that may */
	if (fd >= 0 || (why == EACCES && has_fuse(a))) {
		out->fuse = FACT_YES;
		return;
	}
	out->fuse = why == EACCES || why == EPERM ? FACT_UNKNOWN : FACT_NO;
	out->fuse_why = arena_fmt(a, "/dev/fuse: %s", strerror(why)).p;
}

/* Yama's last step is for everybody, and for good. */
static enum fact find_traces(struct arena *a)
{
	const char *scope = word_of(a, "/proc/sys/kernel/yama/ptrace_scope");

	return scope && strcmp(scope, "3") == 0 ? FACT_NO : FACT_YES;
}

/* Open it, or the nearest folder above. */
static int open_nearest(struct arena *a, const char *folder)
{
	char *path = arena_cstr(a, str_of(folder));
	int fd = -1;

	while (fd < 0 && *path == '/') {
		char *slash = strrchr(path, '/');

		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT || slash[1] == '\0')
			return fd;
		slash[slash == path] = '\0';
	}
	return fd;
}

void facts_mount(struct arena *a, const char *folder, struct facts_mount *out)
{
	auto_fd int fd = open_nearest(a, folder);
	const struct mountinfo_mount *m;
	mountinfo_list own = {0};
	struct err ignored;

	*out = (struct facts_mount){.shared = FACT_UNKNOWN};
	if (fd < 0 || place_mounts(a, "self", &own, &ignored) < 0)
		return;
	m = place_mount(a, &own, fd);
	if (!m)
		return;
	out->shared = m->heard ? FACT_YES : FACT_NO;
	out->at = arena_cstr(a, m->at);
}

void facts_read(struct arena *a, struct facts *out)
{
	struct utsname name;

	*out = (struct facts){.kernel = ""};
	if (uname(&name) == 0)
		out->kernel = arena_cstr(a, str_of(name.release));
	out->lsms = word_of(a, "/sys/kernel/security/lsm");
	out->kprobes = is_there("/sys/bus/event_source/devices/kprobe");
	out->btf = is_there("/sys/kernel/btf/vmlinux");
	out->bridge_netfilter =
		is_there("/proc/sys/net/bridge/bridge-nf-call-iptables");
	out->user_namespaces = user_namespaces(a);
	out->traces = find_traces(a);
	find_fuse(a, out);
}
