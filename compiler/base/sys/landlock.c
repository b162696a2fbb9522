#include "compiler/base/sys/landlock.h"

#include "compiler/base/err.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As newer headers have it; the one that is here may be older. */
struct ruleset {
	uint64_t files, net, scoped;
};
#define NET_BIND_TCP 1u /* ABI 4 */
#define SCOPE_ALL    3u /* abstract UNIX sockets, signals; ABI 6 */

/* How many rights to files there are, by ABI, each one bit. */
static const unsigned char files_of[] = {0, 13, 14, 15, 15, 16};

static uint64_t rights_of(int abi)
{
	size_t last = sizeof(files_of) - 1;

	return (UINT64_C(1) << files_of[(size_t)abi < last ? (size_t)abi
							   : last]) -
	       1;
}

static int make_ruleset(int abi)
{
	struct ruleset r = {.files = rights_of(abi)};

	if (abi >= 4)
		r.net = NET_BIND_TCP;
	if (abi >= 6)
		r.scoped = SCOPE_ALL;
	return (int)syscall(SYS_landlock_create_ruleset, &r,
			    abi >= 6   ? sizeof(r)
			    : abi >= 4 ? offsetof(struct ruleset, scoped)
				       : offsetof(struct ruleset, net),
			    0);
}

static int permit(int rules, int beneath, uint64_t rights)
{
	struct landlock_path_beneath_attr at = {.allowed_access = rights,
						.parent_fd = beneath};

	return beneath < 0 ? 0
			   : (int)syscall(SYS_landlock_add_rule, rules,
					  LANDLOCK_RULE_PATH_BENEATH, &at, 0);
}

int landlock_confine(int beneath)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	auto_fd int rules = -1;

	if (abi < 1) /* there is none, or it is off */
		return 0;
	rules = make_ruleset(abi);
	if (rules < 0 || permit(rules, beneath, rights_of(abi)) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		return errno;
	return 0;
}
