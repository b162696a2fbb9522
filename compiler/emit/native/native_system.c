/*
 * What of the host's files is there inside: a list of what is shown, and never
 * of what is not. No home, no key, no socket, no mount of anybody's is in it.
 */
#include "compiler/emit/native/native.h"
#include "compiler/emit/native/parts.h"
#include "compiler/ir/docker_mount.h"

/* A bind, or the link that is there; what is not there is none. */
static void put_shown(struct argv *w, const char *path)
{
	argv_put(
		w,
		arena_fmt(
			w->in->a,
			"--mount=type=bind,source=%s,target=%s,readonly,optional",
			path, path)
			.p);
}

/* Most are links into /usr. Of /etc only what the dynamic loader reads, what
 * names translate to, and what servers are verified by. */
static const char *const programs[] = {
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/nix/store",
	"/gnu/store",
	"/etc/ld.so.cache",
	"/etc/ssl/certs",
	"/etc/ssl/cert.pem",
	"/etc/ssl/openssl.cnf",
	"/etc/pki/ca-trust",
	"/etc/pki/tls/certs",
	"/etc/pki/tls/cert.pem",
	"/etc/pki/tls/openssl.cnf",
	"/etc/services",
};

void native_programs(struct argv *w)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		put_shown(w, programs[i]);
}

static const struct {
	const char *path, *why;
} settings[] = {
	{"/etc/alternatives", "links to the chosen of some programs"},
	{"/etc/bash.bashrc", "shells begin with it"},
	{"/etc/profile", "shells of a login do"},
	{"/etc/profile.d", "and with these"},
	{"/etc/inputrc", "keys at a terminal"},
	{"/etc/ca-certificates", "java and others build from it"},
	{"/etc/crypto-policies", "OpenSSL's and GnuTLS's, on Fedora"},
	{"/etc/debian_version", "build systems ask"},
	{"/etc/redhat-release", "likewise"},
	{"/etc/os-release", "likewise"},
	{"/etc/lsb-release", "likewise"},
	{"/etc/default/locale", "which language"},
	{"/etc/locale.alias", "likewise"},
	{"/etc/locale.conf", "likewise"},
	{"/etc/localtime", "which time"},
	{"/etc/timezone", "likewise"},
	{"/etc/fonts", "browsers draw with them"},
	{"/etc/gai.conf", "which address first"},
	{"/etc/host.conf", "how names are looked up"},
	{"/etc/nsswitch.conf", "likewise; users are those of a file"},
	{"/etc/networks", "names of networks"},
	{"/etc/rpc", "numbers of services"},
	{"/etc/protocols", "numbers of protocols"},
	{"/etc/ethertypes", "likewise"},
	{"/etc/ld.so.conf", "where libraries are"},
	{"/etc/ld.so.conf.d", "likewise"},
	{"/etc/magic", "file(1)"},
	{"/etc/mime.types", "what a file is"},
	{"/etc/java", "Java's own settings"},
	{"/etc/maven", "likewise"},
	{"/etc/perl", "Perl's"},
	{"/etc/python3", "Python's"},
	{"/etc/R", "R's"},
	{"/etc/node", "Node's"},
	{"/etc/emacs", "editors"},
	{"/etc/nanorc", "likewise"},
	{"/etc/vim", "likewise"},
	{"/etc/terminfo", "terminals that the system adds"},
	{"/etc/xattr.conf", "which attributes are copied"},
	{"/etc/ssh/ssh_config", "how ssh connects; no key is there"},
	{"/etc/ssh/ssh_known_hosts", "whom it knows"},
};

void native_settings(struct argv *w)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		put_shown(w, settings[i].path);
}

bool native_shows(struct str path)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (docker_mount_within(path, str_of(programs[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (docker_mount_within(path, str_of(settings[i].path)))
			return true;
	return false;
}
