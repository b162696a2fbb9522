/*
 * Privileges, which only shrink.
 */
#include "runtime/gate/parts.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

static void caps_free(cap_t *c)
{
	if (*c)
		cap_free(*c);
}
#define auto_caps __attribute__((cleanup(caps_free)))

static const cap_value_t kept[] = {CAP_NET_ADMIN, CAP_KILL, CAP_SETUID,
				   CAP_SETGID};

static bool keeps_cap(int n, cap_value_t c)
{
	for (int i = 0; i < n; i++)
		if (kept[i] == c)
			return true;
	return false;
}

static int drop_bounds(int n, struct err *err)
{
	for (cap_value_t c = 0; c < cap_max_bits(); c++) {
		if (keeps_cap(n, c))
			continue;
		if (cap_get_bound(c) > 0 && cap_drop_bound(c) < 0 &&
		    errno != EPERM)
			return err_set(err, -errno, "bounding set: %s",
				       strerror(errno));
	}
	return 0;
}

int caps_drop(enum caps_keep keep, struct err *err)
{
	int n = keep == CAPS_GATE ? (int)ARRAY_LEN(kept) : 0;
	auto_caps cap_t caps = cap_init();
	int rc;

	if (!caps)
		return err_set(err, -ENOMEM, "capabilities: out of memory");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, -errno, "no_new_privs: %s",
			       strerror(errno));
	rc = drop_bounds(n, err);
	if (rc < 0)
		return rc;
	if (cap_reset_ambient() < 0 && errno != EINVAL)
		return err_set(err, -errno, "ambient set: %s", strerror(errno));
	if (n && (cap_set_flag(caps, CAP_PERMITTED, n, kept, CAP_SET) < 0 ||
		  cap_set_flag(caps, CAP_EFFECTIVE, n, kept, CAP_SET) < 0))
		return err_set(err, -errno, "capabilities: %s",
			       strerror(errno));
	if (cap_set_proc(caps) < 0)
		return err_set(err, -errno, "dropping capabilities: %s",
			       strerror(errno));
	return 0;
}
