/*
 * Environment variables that steer programs, whatever these are.
 *
 * A variable like LD_PRELOAD or NODE_OPTIONS makes every program of the image
 * run code that somebody chose, in the agent's name and with what the agent
 * was lent; one like GIT_SSL_NO_VERIFY turns off a check of theirs. To set
 * such a one widens. Others are for programs that look for them by name.
 */
#include "compiler/passes/args/parts.h"

#include <string.h>
#include <strings.h>

/* A '*' at the end stands for anything. */
static const char *const steering[] = {
	/* loaders: ld.so(8), dyld(1) */
	"LD_*",
	"DYLD_*",
	"GLIBC_TUNABLES",
	"GCONV_PATH",
	"LOCPATH",
	"MALLOC_*",
	/* interpreters: options and code that they take from there */
	"NODE_*",
	"BUN_*",
	"DENO_*",
	"PYTHON*",
	"PERL5*",
	"PERLLIB",
	"RUBY*",
	"GEM_*",
	"BUNDLE_*",
	"JAVA_TOOL_OPTIONS",
	"_JAVA_OPTIONS",
	"JDK_JAVA_OPTIONS",
	"CLASSPATH",
	"LUA_*",
	"PHP_*",
	"PHPRC",
	"DOTNET_*",
	"COMPLUS_*",
	"CORECLR_*",
	"GODEBUG",
	"R_PROFILE*",
	"JULIA_*",
	/* shells */
	"BASH_*",
	"ENV",
	"ZDOTDIR",
	"SHELLOPTS",
	"PROMPT_COMMAND",
	"PS4",
	"IFS",
	"PATH",
	"HOME",
	"SHELL",
	"FPATH",
	/* build tools and version control: commands that they run */
	"GIT_*",
	"SSH_*",
	"MAKEFLAGS",
	"GNUMAKEFLAGS",
	"RUSTC*",
	"CARGO_*",
	"GOFLAGS",
	"GOPROXY",
	"GONOSUMDB",
	"GONOSUMCHECK",
	"GOINSECURE",
	"npm_config_*",
	"PIP_*",
	"UV_*",
	"MAVEN_*",
	"GRADLE_*",
	"LESSOPEN",
	"LESSCLOSE",
	/* certificates: the session's own are told by some of these */
	"SSL_*",
	"CURL_CA_BUNDLE",
	"REQUESTS_CA_BUNDLE",
	"AWS_CA_BUNDLE",
	"OPENSSL_*",
	/* where requests go, and whose they are */
	"http_proxy",
	"https_proxy",
	"all_proxy",
	"ftp_proxy",
	"no_proxy",
};

/* Proxy variables are read in both cases; the others are near enough. */
bool args_env_steers(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(steering); i++) {
		size_t n = strlen(steering[i]);
		bool begins = steering[i][n - 1] == '*';

		n -= begins;
		if ((begins ? name.n >= n : name.n == n) &&
		    strncasecmp(name.p, steering[i], n) == 0)
			return true;
	}
	return false;
}
