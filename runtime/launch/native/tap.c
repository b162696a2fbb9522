/*
 * Programs with a tap device in the gate's network, which make its connections
 * here, as the user. Neither has any of the host's ports, nor a way to the
 * host's loopback. The first that is here is taken.
 *   https://passt.top/passt/about/#pasta-pack-a-subtle-tap-abstraction
 *   https://github.com/rootless-containers/slirp4netns
 */
#include "runtime/launch/native/native.h"
#include "runtime/launch/native/parts.h"

#include <string.h>
#include <unistd.h>

#define PASTA "pasta"
#define SLIRP "slirp4netns"

/* As its stdin and stdout. Those of another process are looked up with a right
 * over that process, and AppArmor's profile for pasta in Debian 12 has no rule
 * that gives one. Above them pasta closes what it was given. */
#define USERS "/proc/self/fd/0"
#define NET   "/proc/self/fd/1"

/* Beside PATH: a user's often has none of the system's folders. */
static const char *const folders[] = {"/usr/bin", "/usr/sbin", "/bin",
				      "/usr/local/bin"};

static const char *find_program(struct arena *a, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const char *path = arena_fmt(a, "%s/%s", folders[i], name).p;

		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

const char *native_uplink_program(struct arena *a)
{
	const char *pasta = find_program(a, PASTA);

	return pasta ? pasta : find_program(a, SLIRP);
}

static void put(const char *const from[], const char *to[TAP_WORDS])
{
	size_t n = 0;

	for (; from[n]; n++)
		to[n] = from[n];
	to[n] = NULL;
}

void tap_words(const char *program, bool root, const char *out[TAP_WORDS])
{
	const char *const pasta[] = {
		PASTA, "--foreground", "--quiet", "--config-net",
		"--tcp-ports=none", "--udp-ports=none", "--tcp-ns=none",
		"--udp-ns=none", "--no-map-gw", "--no-dhcp", "--no-dhcpv6",
		"--no-ra", "--no-netns-quit", "--userns", USERS, "--netns", NET,
		/* root would be nobody, who may not look at the
		 * session; anybody else is who they are */
		root ? "--runas" : NULL, "0", NULL};
	const char *const slirp[] = {SLIRP,
				     "--configure",
				     "--mtu=65520",
				     "--disable-host-loopback",
				     "--disable-dns",
				     "--enable-seccomp",
				     "--userns-path=" USERS,
				     "--netns-type=path",
				     NET,
				     "tap0",
				     NULL};
	const char *name = strrchr(program, '/');

	put(name && strcmp(name + 1, SLIRP) == 0 ? slirp : pasta, out);
}
