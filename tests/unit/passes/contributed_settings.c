/* What a workspace adds and cuts: the proxy, settings, credentials, the trace.
 */
#include "tests/unit/layered.h"

static const struct {
	const char *global, *workspace, *adds, *cuts;
} list[] = {
	/* the proxy */
	{"", "upstream: http://p.test:3128", "upstream http://p.test:3128\n",
	 ""},
	{"upstream: http://p.test:3128", "upstream: http://p.test:3128", "",
	 ""},
	{"upstream: http://p.test:3128", "upstream: http://q.test:3128",
	 "upstream http://q.test:3128\n", ""},
	{"upstream: http://p.test:3128",
	 "upstream: {proxy: \"http://p.test:3128\", direct: [a.test, 10.0.0.0/8]}",
	 "upstream http://p.test:3128, direct 'a.test' '10.0.0.0/8'\n", ""},
	{"",
	 "upstream: {proxy: \"http://p.test:3128\", from_env: A, direct: [a.test]}",
	 "upstream http://p.test:3128 as $A, direct 'a.test'\n", ""},
	{"", "upstream: {proxy: \"http://p.test:3128\", from_file: ~/a}",
	 "upstream http://p.test:3128 as in the file ~/a\n", ""},

	/* settings */
	{"", "tls: verify", "", ""},
	{"", "tls: inspect", "", "tls inspect\n"},
	{"tls: inspect", "tls: verify", "tls verify\n", ""},
	{"tls: inspect", "tls: inspect", "", ""},
	{"", "ssl_insecure: true", "ssl_insecure true\n", ""},
	{"", "ssl_insecure: false", "", ""},
	{"ssl_insecure: true", "ssl_insecure: true", "", ""},
	{"ssl_insecure: true", "ssl_insecure: false", "",
	 "ssl_insecure false\n"},
	{"", "ssh_agent: true", "ssh_agent true\n", ""},
	{"", "ssh_agent: false", "", ""},
	{"ssh_agent: true", "ssh_agent: false", "", "ssh_agent false\n"},
	{"ssh_agent: false", "ssh_agent: true", "ssh_agent true\n", ""},
	{"", "home: shared", "", ""},
	{"", "home: workspace", "", "home workspace\n"},
	{"", "home: none", "", "home none\n"},
	{"home: workspace", "home: shared", "home shared\n", ""},
	{"home: none", "home: workspace", "home workspace\n", ""},
	{"home: none", "home: none", "", ""},
	{"", "engine: docker", "engine docker\n", ""},
	{"", "engine: auto", "", ""},
	{"engine: docker", "engine: native", "engine native\n", ""},
	{"", "runtime: kata", "runtime kata\n", ""},
	{"", "runtime: runc", "", ""},
	{"", "image: x", "image x\n", ""},
	{"image: x", "image: y", "image y\n", ""},
	{"", "uplink: net", "uplink net\n", ""},
	{"", "upstream_ca: /a/b", "upstream_ca /a/b\n", ""},
	{"", "resolver: 9.9.9.9", "dns_resolver 9.9.9.9:53\n", ""},
	{"", "resolver: host", "", ""},
	{"resolver: 9.9.9.9", "resolver: \"9.9.9.9:53\"", "", ""},
	{"resolver: 9.9.9.9", "resolver: host", "dns_resolver host\n", ""},
	{"resolver: 9.9.9.9", "resolver: \"[2620:fe::fe]:54\"",
	 "dns_resolver [2620:fe::fe]:54\n", ""},

	/* what a workspace does not speak of */
	{"tls: inspect\nhome: none\nengine: docker\nruntime: kata\nmasks: start\n"
	 "hardening: {pids: 1, memory: 1k, cpus: 0.5, read_only: true}\n"
	 "trace: {engine: tracee, reads: true, required: true}",
	 "readonly: [a]", "", ""},
	{"tls: verify\nhome: shared\nssl_insecure: true\nssh_agent: true\n"
	 "masks: start\nhardening: {user_namespaces: true}",
	 "readonly: [a]", "", ""},

	/* grants, patterns, settings, credentials, arguments */
	{"ignore: [x]",
	 "args: [--rm]\nimage: a\nignore: ['!x']\nallow: [z.test]\n"
	 "credentials: [{host: a.test, header: X, from_env: T}]",
	 "allow z.test tcp/1-65535\nignore !x\nimage a\n"
	 "credentials a.test: X '{}' from $T\nargs --rm\n",
	 ""},

	/* hardening */
	{"",
	 "hardening: {read_only: true, no_new_privileges: true, user_namespaces: false, pids: 4096, memory: 1k, cpus: 1}",
	 "",
	 "hardening.cpus, in thousandths, 1000\n"
	 "hardening.memory 1024\n"
	 "hardening.read_only true\n"},
	{"",
	 "hardening: {read_only: false, no_new_privileges: false, user_namespaces: true, pids: 4097}",
	 "hardening.no_new_privileges false\n"
	 "hardening.pids 4097\n"
	 "hardening.user_namespaces true\n",
	 ""},
	{"", "hardening: {pids: 4095}", "", "hardening.pids 4095\n"},
	{"hardening: {read_only: true}", "hardening: {read_only: false}",
	 "hardening.read_only false\n", ""},
	{"hardening: {memory: 1k, cpus: 1.5}",
	 "hardening: {memory: 1025, cpus: 1.501}",
	 "hardening.cpus 1.501\n"
	 "hardening.memory 1025\n",
	 ""},
	{"hardening: {memory: 1k, cpus: 1.5}",
	 "hardening: {memory: 1024, cpus: 1.5}", "", ""},
	{"hardening: {memory: 1k, cpus: 1.5}",
	 "hardening: {memory: 1023, cpus: 1.499}", "",
	 "hardening.cpus, in thousandths, 1499\n"
	 "hardening.memory 1023\n"},
	{"",
	 "hardening: {tmpfs: [/b, /a, /a], capabilities: [KILL], user: \"1:2\", seccomp: docker}",
	 "hardening.capabilities KILL\n"
	 "hardening.seccomp docker\n"
	 "hardening.tmpfs /a\n"
	 "hardening.tmpfs /b\n"
	 "hardening.user 1:2\n",
	 ""},
	{"hardening: {tmpfs: [/a], capabilities: [KILL], user: \"1\", seccomp: docker}",
	 "hardening: {tmpfs: [/a], capabilities: [KILL], user: \"1\", seccomp: docker}",
	 "hardening.capabilities KILL\n"
	 "hardening.tmpfs /a\n",
	 ""},

	/* credentials, and who protects files */
	{"", "credentials: [{host: a.test, header: X-A, from_env: T}]",
	 "credentials a.test: X-A '{}' from $T\n", ""},
	{"",
	 "credentials: [{host: \"a.test:8443\", header: X-A, from_file: ~/t, format: \"Bearer {}\"}]",
	 "credentials a.test:8443: X-A 'Bearer {}' from the file ~/t\n", ""},
	{"", "credentials: [{host: a.test, file: ~/a, fields: [x, y.z]}]",
	 "credentials a.test: 'x' 'y.z' of ~/a\n", ""},
	{"",
	 "credentials: [{host: \"a.test:444\", file: ~/a, fields: [access, refresh], refresh: \"https://r.test/t\"}]",
	 "allow https://r.test/t tcp/443 http [POST *]\n"
	 "credentials a.test:444: 'access' 'refresh' of ~/a, renewed at https://r.test/t\n",
	 ""},
	{"", "protect: [{files: [~/a, ~/b], by: git}]", "",
	 "protect ~/a for git\n"
	 "protect ~/b for git\n"},

	/* what is recorded */
	{"", "trace: {engine: native, reads: true, required: true}", "",
	 "trace.reads true\n"
	 "trace.required true\n"},
	{"", "trace: {engine: \"off\", reads: false, required: false}",
	 "trace.engine off\n"
	 "trace.reads false\n",
	 ""},
	{"", "trace: {engine: tracee, version: 0.24.1}",
	 "trace.engine tracee\n"
	 "trace.version 0.24.1\n",
	 ""},
	{"trace: {engine: tracee, reads: true, required: true}",
	 "trace: {engine: tracee, reads: false, required: false}",
	 "trace.reads false\n"
	 "trace.required false\n",
	 ""},
	{"trace: {reads: true, required: true}",
	 "trace: {reads: true, required: true}", "", ""},
	{"",
	 "trace: {events: [execve, {event: openat, filters: [a=b, c=d]}, {event: x, optional: true}], exclude: [/b, /a]}",
	 "trace.events execve\n"
	 "trace.events openat where 'a=b' 'c=d'\n"
	 "trace.events x, optional\n"
	 "trace.exclude /a\n"
	 "trace.exclude /b\n",
	 ""},
	{"", "trace: {rotate: {size: 1k, age: 2m, keep: 3, total: 4k}}",
	 "trace.rotate.age 120 seconds\n"
	 "trace.rotate.keep 3 files\n"
	 "trace.rotate.size 1024 bytes\n"
	 "trace.rotate.total 4096 bytes\n",
	 ""},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		check_contributed(list[i].global, list[i].workspace,
				  list[i].adds, list[i].cuts);
	return check_status();
}
