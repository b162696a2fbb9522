/*
 * compare.h, of settings: for each what is more, what is less, what is neither,
 * which of two lines is responsible, and what is said of it unchanged.
 */
#include "compiler/algebra/compare/parts.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
	/* Looser is more; a default that comes back is laid to what is gone. */
	{"hardening: {pids: 100}\n", "hardening: {pids: 8192}\n",
	 "+ hardening.pids 100 -> 8192\n"
	 "\tnew '8192'\n"},
	{"hardening: {pids: 8192}\n", "",
	 "- hardening.pids 8192 -> 4096\n"
	 "\told '8192'\n"},
	{"", "hardening: {pids: 4096}\n", ""},
	{"hardening: {memory: 1g}\n", "hardening: {memory: 2g}\n",
	 "+ hardening.memory 1073741824 -> 2147483648\n"
	 "\tnew '2g'\n"},
	{"hardening: {memory: 1g}\n", "",
	 "+ hardening.memory 1073741824 -> none\n"
	 "\told '1g'\n"},
	{"", "hardening: {cpus: 1.5}\n",
	 "- hardening.cpus, in thousandths, none -> 1500\n"
	 "\tnew '1.5'\n"},
	{"hardening: {cpus: 1.5}\n", "hardening: {cpus: 1.5}\n",
	 "= hardening.cpus, in thousandths, 1500\n"
	 "\tnew '1.5'\n"},
	{"hardening: {read_only: true, no_new_privileges: false}\n",
	 "hardening: {read_only: false, no_new_privileges: true}\n",
	 "+ hardening.read_only true -> false\n"
	 "\tnew 'false'\n"
	 "- hardening.no_new_privileges false -> true\n"
	 "\tnew 'true'\n"},
	{"", "hardening: {user_namespaces: true}\n",
	 "+ hardening.user_namespaces false -> true\n"
	 "\tnew 'true'\n"},
	{"hardening: {user: \"1000\"}\n", "hardening: {user: \"1000:1001\"}\n",
	 "~ hardening.user 1000 -> 1000:1001\n"
	 "\tnew '\"1000:1001\"'\n"},
	{"", "hardening: {user: \"1000\"}\n",
	 "~ hardening.user the workspace's owner -> 1000\n"
	 "\tnew '\"1000\"'\n"},
	{"hardening: {capabilities: [NET_ADMIN, CHOWN]}\n",
	 "hardening: {capabilities: [CHOWN, KILL]}\n",
	 "+ hardening.capabilities + KILL\n"
	 "\tnew 'KILL'\n"
	 "- hardening.capabilities - NET_ADMIN\n"
	 "\told 'NET_ADMIN'\n"
	 "= hardening.capabilities CHOWN\n"
	 "\tnew 'CHOWN'\n"},
	/* Docker's profile is looser than ours; what somebody's own is nobody
	   knows. */
	{"hardening: {seccomp: docker}\n", "hardening: {seccomp: unconfined}\n",
	 "+ hardening.seccomp docker -> unconfined\n"
	 "\tnew 'unconfined'\n"},
	{"hardening: {seccomp: docker}\n", "",
	 "- hardening.seccomp docker -> default\n"
	 "\told 'docker'\n"},
	{"hardening: {seccomp: /etc/a.json}\n",
	 "hardening: {seccomp: /etc/b.json}\n",
	 "~ hardening.seccomp /etc/a.json -> /etc/b.json\n"
	 "\tnew '/etc/b.json'\n"},
	{"hardening: {seccomp: /etc/a.json}\n",
	 "hardening: {seccomp: default}\n",
	 "~ hardening.seccomp /etc/a.json -> default\n"
	 "\tnew 'default'\n"},
	{"hardening: {seccomp: /etc/a.json}\n",
	 "hardening: {seccomp: docker}\n",
	 "~ hardening.seccomp /etc/a.json -> docker\n"
	 "\tnew 'docker'\n"},
	{"hardening: {seccomp: docker}\n",
	 "hardening: {seccomp: /etc/a.json}\n",
	 "~ hardening.seccomp docker -> /etc/a.json\n"
	 "\tnew '/etc/a.json'\n"},
	{"hardening: {seccomp: /etc/a.json}\n",
	 "hardening: {seccomp: unconfined}\n",
	 "+ hardening.seccomp /etc/a.json -> unconfined\n"
	 "\tnew 'unconfined'\n"},
	{"hardening: {seccomp: unconfined}\n",
	 "hardening: {seccomp: /etc/a.json}\n",
	 "- hardening.seccomp unconfined -> /etc/a.json\n"
	 "\tnew '/etc/a.json'\n"},
	{"hardening: {seccomp: unconfined}\n", "hardening: {seccomp: docker}\n",
	 "- hardening.seccomp unconfined -> docker\n"
	 "\tnew 'docker'\n"},
	/* Folders of memory that lie on nothing of the workspace. */
	{"hardening: {tmpfs: [/var/a, /var/b]}\n",
	 "hardening: {tmpfs: [/var/b, /var/c]}\n",
	 "~ hardening.tmpfs - /var/a\n"
	 "\told '/var/a'\n"
	 "~ hardening.tmpfs + /var/c\n"
	 "\tnew '/var/c'\n"
	 "= hardening.tmpfs /var/b\n"
	 "\tnew '/var/b'\n"},
	/* And on something of it. */
	{"", "hardening: {tmpfs: [/workspace/cache]}\n",
	 "- read /cache, which hardening.tmpfs /workspace/cache covers\n"
	 "\tnew '/workspace/cache'\n"
	 "- write /cache, which hardening.tmpfs /workspace/cache covers\n"
	 "\tnew '/workspace/cache'\n"},
	{"hardening: {tmpfs: [/workspace/cache]}\n", "",
	 "+ read /cache, which hardening.tmpfs /workspace/cache covered\n"
	 "\told '/workspace/cache'\n"
	 "+ write /cache, which hardening.tmpfs /workspace/cache covered\n"
	 "\told '/workspace/cache'\n"},
	{"image: a\n", "image: b\n",
	 "~ image a -> b\n"
	 "\tnew 'b'\n"},
	{"", "image: a\n",
	 "~ image membrane-agent -> a\n"
	 "\tnew 'a'\n"},
	{"uplink: one\n", "uplink: two\n",
	 "~ uplink one -> two\n"
	 "\tnew 'two'\n"},
	{"", "uplink: isolated\n",
	 "~ uplink docker's bridge -> isolated\n"
	 "\tnew 'isolated'\n"},
	{"ssl_insecure: true\n", "ssl_insecure: false\n",
	 "- ssl_insecure true -> false\n"
	 "\tnew 'false'\n"},
	{"", "ssh_agent: true\n",
	 "+ ssh_agent false -> true\n"
	 "\tnew 'true'\n"},
	{"ssh_agent: true\n", "ssh_agent: true\n",
	 "= ssh_agent true\n"
	 "\tnew 'true'\n"},
	{"dns_resolver: 9.9.9.9\n", "dns_resolver: 9.9.9.9:5353\n",
	 "~ dns_resolver 9.9.9.9:53 -> 9.9.9.9:5353\n"
	 "\tnew '9.9.9.9:5353'\n"},
	{"", "dns_resolver: 9.9.9.9\n",
	 "~ dns_resolver host -> 9.9.9.9:53\n"
	 "\tnew '9.9.9.9'\n"},
	{"engine: docker\n", "engine: native\n",
	 "~ engine docker -> native\n"
	 "\tnew 'native'\n"},
	{"runtime: runc\n", "runtime: sysbox-runc\n",
	 "~ runtime runc -> sysbox-runc\n"
	 "\tnew 'sysbox-runc'\n"
	 "+ masks hold -> start\n"
	 "\tnew 'sysbox-runc'\n"},
	{"tls: inspect\n", "tls: verify\n",
	 "+ tls inspect -> verify\n"
	 "\tnew 'verify'\n"},
	{"", "tls: inspect\n",
	 "- tls verify -> inspect\n"
	 "\tnew 'inspect'\n"},
	{"masks: start\n", "masks: hold\n",
	 "- masks start -> hold\n"
	 "\tnew 'hold'\n"},
	{"", "masks: start\n",
	 "+ masks hold -> start\n"
	 "\tnew 'start'\n"},
	{"home: workspace\n", "home: shared\n",
	 "+ home workspace -> shared\n"
	 "\tnew 'shared'\n"},
	{"home: workspace\n", "home: none\n",
	 "- home workspace -> none\n"
	 "\tnew 'none'\n"},
	{"", "home: shared\n", ""},
	/* A file of roots more, less, another. */
	{"", "upstream_ca: /etc/ca.pem\n",
	 "+ upstream_ca the system's roots -> /etc/ca.pem\n"
	 "\tnew '/etc/ca.pem'\n"},
	{"upstream_ca: /etc/ca.pem\n", "",
	 "- upstream_ca /etc/ca.pem -> the system's roots\n"
	 "\told '/etc/ca.pem'\n"},
	{"upstream_ca: /etc/ca.pem\n", "upstream_ca: /etc/other.pem\n",
	 "~ upstream_ca /etc/ca.pem -> /etc/other.pem\n"
	 "\tnew '/etc/other.pem'\n"},
	{"", "upstream: http://proxy.test:3128\n",
	 "~ upstream none -> http://proxy.test:3128\n"
	 "\tnew 'http://proxy.test:3128'\n"},
	{"upstream: http://proxy.test:3128\n",
	 "upstream: http://other.test:3128\n",
	 "~ upstream http://proxy.test:3128 -> http://other.test:3128\n"
	 "\tnew 'http://other.test:3128'\n"},
	{"upstream: {proxy: \"http://proxy.test:3128\", direct: [a.test, b.test]}\n",
	 "upstream: {proxy: \"http://proxy.test:3128\", direct: [b.test, 10.0.0.0/8]}\n",
	 "+ upstream.direct + 10.0.0.0/8\n"
	 "\tnew '10.0.0.0/8'\n"
	 "- upstream.direct - a.test\n"
	 "\told 'a.test'\n"
	 "= upstream http://proxy.test:3128\n"
	 "\tnew '\"http://proxy.test:3128\"'\n"
	 "= upstream.direct b.test\n"
	 "\tnew 'b.test'\n"},
	{"upstream: {proxy: \"http://proxy.test:3128\", direct: [a.test]}\n",
	 "",
	 "~ upstream http://proxy.test:3128 -> none\n"
	 "\told '\"http://proxy.test:3128\"'\n"},
	{"workspace_trust: never\n", "workspace_trust: ask\n",
	 "+ workspace_trust never -> ask\n"
	 "\tnew 'ask'\n"},
	{"workspace_trust: always\n", "workspace_trust: ask\n",
	 "- workspace_trust always -> ask\n"
	 "\tnew 'ask'\n"},
	{"", "workspace_trust: ask\n", ""},
	{"on_refusal: [/bin/a]\n", "on_refusal: [/bin/b]\n",
	 "~ on_refusal /bin/a -> /bin/b\n"
	 "\tnew 'on_refusal'\n"},
	{"", "on_refusal: [/bin/b]\n",
	 "~ on_refusal as usual -> /bin/b\n"
	 "\tnew 'on_refusal'\n"},
	{"trace: {engine: native}\n", "trace: {engine: off}\n",
	 "+ trace.engine native -> off\n"
	 "\tnew 'off'\n"},
	{"trace: {engine: off}\n", "trace: {engine: native}\n",
	 "- trace.engine off -> native\n"
	 "\tnew 'native'\n"},
	{"trace: {engine: native, events: [mkdir]}\n",
	 "trace: {engine: tracee, events: [mkdir]}\n",
	 "~ trace.engine native -> tracee\n"
	 "\tnew 'tracee'\n"
	 "+ trace.reads true -> false\n"
	 "\told 'mkdir'\n"},
	/* What would be traced where nothing is, is nothing. */
	{"trace: {engine: off, reads: true}\n",
	 "trace: {engine: native, reads: false}\n",
	 "- trace.engine off -> native\n"
	 "\tnew 'native'\n"},
	{"trace: {engine: off, reads: true}\n",
	 "trace: {engine: off, reads: false}\n", ""},
	/* Records that are the same are no access, and not said. */
	{"trace: {events: [sched_process_exec], required: true}\n"
	 "hardening: {pids: 5}\n",
	 "trace: {events: [sched_process_exec], required: true}\n"
	 "hardening: {pids: 5}\n",
	 "= hardening.pids 5\n"
	 "\tnew '5'\n"},
	{"trace: {events: [mkdir, rmdir]}\n",
	 "trace: {events: [rmdir, setns]}\n",
	 "- trace.events + setns\n"
	 "\tnew 'setns'\n"
	 "+ trace.events - mkdir\n"
	 "\told 'mkdir'\n"},
	{"trace: {events: [{event: mkdir, filters: [data.pathname=/etc/*, comm=sh]}]}\n",
	 "trace: {events: [{event: mkdir, filters: [data.pathname=/etc/*]}]}\n",
	 "- trace.events + mkdir where data.pathname=/etc/*\n"
	 "\tnew 'mkdir'\n"
	 "+ trace.events - mkdir where comm=sh, data.pathname=/etc/*\n"
	 "\told 'mkdir'\n"},
	{"trace: {events: [cap_capable]}\n",
	 "trace: {events: [{event: cap_capable, optional: true}]}\n",
	 "- trace.events + cap_capable, optional\n"
	 "\tnew 'cap_capable'\n"
	 "+ trace.events - cap_capable\n"
	 "\told 'cap_capable'\n"},
	{"trace: {exclude: [/a, /b]}\n", "trace: {exclude: [/b, /c]}\n",
	 "+ trace.exclude + /c\n"
	 "\tnew '/c'\n"
	 "- trace.exclude - /a\n"
	 "\told '/a'\n"},
	{"trace: {rotate: {size: 1m, age: 1h, keep: 3, total: 10m}}\n",
	 "trace: {rotate: {size: 2m, age: 2h, keep: 4, total: 9m}}\n",
	 "~ trace.rotate.size 1048576 -> 2097152\n"
	 "\tnew '2m'\n"
	 "~ trace.rotate.age 3600 -> 7200\n"
	 "\tnew '2h'\n"
	 "- trace.rotate.keep 3 -> 4\n"
	 "\tnew '4'\n"
	 "+ trace.rotate.total 10485760 -> 9437184\n"
	 "\tnew '9m'\n"},
	{"trace: {rotate: {keep: 3}}\n", "",
	 "- trace.rotate.keep 3 -> none\n"
	 "\told '3'\n"},
	{"trace: {reads: false, required: false}\n",
	 "trace: {reads: true, required: true}\n",
	 "- trace.reads false -> true\n"
	 "\tnew 'true'\n"
	 "- trace.required false -> true\n"
	 "\tnew 'true'\n"},
	{"trace: {engine: tracee, version: 0.24.0}\n",
	 "trace: {engine: tracee, version: 0.24.1}\n",
	 "~ trace.version 0.24.0 -> 0.24.1\n"
	 "\tnew '0.24.1'\n"},
	{"credentials: [{host: a.test, header: Authorization, from_env: TOKEN}]\n",
	 "credentials: [{host: a.test, header: Authorization, from_env: OTHER}]\n",
	 "+ credentials + Authorization for a.test from $OTHER\n"
	 "\tnew '{'\n"
	 "- credentials - Authorization for a.test from $TOKEN\n"
	 "\told '{'\n"},
	{"credentials: [{host: a.test, header: X-Key, from_env: TOKEN, format: \"Bearer {}\"}]\n",
	 "credentials: [{host: a.test, header: X-Key, from_file: /etc/token, format: \"{}\"}]\n",
	 "+ credentials + X-Key for a.test from file /etc/token\n"
	 "\tnew '{'\n"
	 "- credentials - X-Key for a.test from $TOKEN as Bearer {}\n"
	 "\told '{'\n"},
	{"credentials: [{host: \"a.test:8443\", header: X-Key, from_env: TOKEN}]\n",
	 "credentials: [{host: \"a.test:8443\", header: X-Key, from_env: TOKEN}]\n",
	 "= credentials X-Key for a.test:8443 from $TOKEN\n"
	 "\tnew '{'\n"},
	{"credentials: [{host: a.test, file: ~/.app/auth.json, fields: [a.access, c]}]\n",
	 "credentials: [{host: a.test, file: ~/.app/auth.json, fields: [a.access, a.refresh], refresh: https://login.test/token}]\n",
	 "+ credentials + a.access, a.refresh of ~/.app/auth.json for a.test, renewed at https://login.test/token\n"
	 "\tnew '{'\n"
	 "- credentials - a.access, c of ~/.app/auth.json for a.test\n"
	 "\told '{'\n"},
	{"ports: [3000, \"8080:80\"]\n",
	 "ports: [\"8080:80\", \"0.0.0.0:9090:90\"]\n",
	 "+ ports + 0.0.0.0:9090:90\n"
	 "\tnew '\"0.0.0.0:9090:90\"'\n"
	 "- ports - 3000\n"
	 "\told '3000'\n"
	 "= ports 8080:80\n"
	 "\tnew '\"8080:80\"'\n"},
	{"visible: [~/.nvm]\n", "visible: [{path: ~/.nvm, mode: write}]\n",
	 "+ write ~/.nvm\n"
	 "\tnew '~/.nvm'\n"},
	{"visible: [{path: /srv/models, mode: write}]\n",
	 "visible: [/srv/models]\n",
	 "- write /srv/models\n"
	 "\tnew '/srv/models'\n"},
	{"visible: [/srv/models, ~/.nvm]\n", "visible: [/srv/other, ~/.nvm]\n",
	 "+ read /srv/other\n"
	 "\tnew '/srv/other'\n"
	 "- read /srv/models\n"
	 "\told '/srv/models'\n"
	 "= read ~/.nvm\n"
	 "\tnew '~/.nvm'\n"},
	/* A folder around it, and one inside of it. */
	{"visible: [/srv/models/a]\n", "visible: [/srv/models]\n",
	 "+ read /srv/models\n"
	 "\tnew '/srv/models'\n"
	 "= read /srv/models/a\n"
	 "\tnew '/srv/models'\n"},
	{"visible: [{path: /srv/models, mode: write}]\n",
	 "visible: [{path: /srv/models, mode: write}, /srv/models/a]\n",
	 "- write /srv/models/a\n"
	 "\tnew '/srv/models/a'\n"
	 "= write /srv/models\n"
	 "\tnew '/srv/models'\n"},
	{"visible: [{path: /srv/models, mode: write}, /srv/models/a]\n",
	 "visible: [{path: /srv/models, mode: write}]\n",
	 "+ write /srv/models/a\n"
	 "\told '/srv/models/a'\n"
	 "= write /srv/models\n"
	 "\tnew '/srv/models'\n"},
	{"visible: [/srv/nvm]\n", "visible: [~/srv/nvm]\n",
	 "+ read ~/srv/nvm\n"
	 "\tnew '~/srv/nvm'\n"
	 "- read /srv/nvm\n"
	 "\told '/srv/nvm'\n"},
	{"protect: [{files: [~/.netrc], by: git}]\n",
	 "protect: [{files: [~/.netrc, ~/.key], by: git}]\n",
	 "- protect + ~/.key for git\n"
	 "\tnew '~/.key'\n"
	 "= protect ~/.netrc for git\n"
	 "\tnew '~/.netrc'\n"},
	{"protect: [{files: [~/.netrc], by: git}]\n",
	 "protect: [{files: [~/.netrc], by: ssh}]\n",
	 "- protect + ~/.netrc for ssh\n"
	 "\tnew '~/.netrc'\n"
	 "+ protect - ~/.netrc for git\n"
	 "\told '~/.netrc'\n"},
	/* How long a request waits; of entries that differ in nothing else the
	   longest. */
	{"ask: [{dest: a.test, wait: 10s}]\n",
	 "ask: [{dest: a.test, wait: 20s}]\n",
	 "+ wait of a.test tcp/1-65535 for=session 10s -> 20s\n"
	 "\tnew '20s'\n"},
	{"ask: [{dest: a.test, wait: 10s}]\n", "ask: [a.test]\n",
	 "+ wait of a.test tcp/1-65535 for=session 10s -> 1m\n"
	 "\told '10s'\n"},
	{"ask: [a.test]\n", "ask: [{dest: a.test, wait: 2m}]\n",
	 "+ wait of a.test tcp/1-65535 for=session 1m -> 2m\n"
	 "\tnew '2m'\n"},
	{"ask: [{dest: a.test, wait: 10s}]\n",
	 "ask: [{dest: a.test, wait: 10s}]\n",
	 "= wait of a.test tcp/1-65535 for=session 10s\n"
	 "\tnew '10s'\n"},
	{"ask: [a.test]\n", "ask: [a.test]\n", ""},
	{"ask: [{dest: a.test, wait: 10s}, {dest: b.test, wait: 10s}, {dest: d.test, wait: 10s}]\n",
	 "ask: [{dest: b.test, wait: 20s}, {dest: c.test, wait: 10s}, {dest: d.test, wait: 9s}]\n",
	 "+ wait of b.test tcp/1-65535 for=session 10s -> 20s\n"
	 "\tnew '20s'\n"
	 "- wait of d.test tcp/1-65535 for=session 10s -> 9s\n"
	 "\tnew '9s'\n"},
	{"ask: [{dest: a.test, wait: 10s}, {dest: a.test, wait: 30s}, {dest: a.test, wait: 20s}]\n",
	 "ask: [{dest: a.test, wait: 25s}, {dest: a.test, wait: 5s}]\n",
	 "- wait of a.test tcp/1-65535 for=session 30s -> 25s\n"
	 "\tnew '25s'\n"},
	{"ask: [{dest: a.test, wait: 10s, for: once}]\n",
	 "ask: [{dest: a.test, wait: 20s, for: always}]\n", ""},
	/* As long as is usual, written by one of the two alone. */
	{"ask: [{dest: a.test, wait: 60s}]\n", "ask: [a.test]\n", ""},
	{"ask: [a.test]\n", "ask: [{dest: a.test, wait: 60s}]\n", ""},
	{"home: shared\n", "", ""},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read_yaml, true,
		       settings_compare);
	return check_status();
}
