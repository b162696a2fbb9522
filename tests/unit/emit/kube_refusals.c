/*
 * What a Pod cannot hold: which lines of a policy are refused for it, by
 * everything that it could be run as; and what stands beside those and is held.
 */
#include "tests/unit/emit/kube.h"

static struct arena *a;

static void check_refused(struct kube_rig *t, const char *of,
			  unsigned lines_before, const char *places)
{
	bool ok = kube_check(&t->c.in);

	CHECK_MSG(ok == !*places, "%s", of);
	check_same(of, compiled_errors(&t->c, lines_before), places);
	/* each is said once, however many ask */
	CHECK(kube_check(&t->c.in) == ok);
	check_same(of, compiled_errors(&t->c, lines_before), places);
}

struct row {
	const char *policy, *places;
};

static void check_rows(const struct row *rows, size_t n, enum kube_topology top,
		       enum kube_work work)
{
	for (size_t i = 0; i < n; i++) {
		struct kube_rig t;

		kube_rig_body(&t, a, rows[i].policy);
		t.options.topology = top;
		t.options.work = work;
		check_refused(&t, rows[i].policy, KUBE_HEAD_LINES,
			      rows[i].places);
		kube_rig_done(&t);
	}
}

/* --- the machine, and what there is in its place ---------------------------
 */

static const struct row machine[] = {
	{"", ""},
	{"visible: [/srv/data, ~/x]\n", "1:11 1:22"},
	{"ssh_agent: true\n", "1:12"},
	{"ssh_agent: false\n", ""},
	{"protect: [{files: [~/.t], by: t}]\n", "1:11"},
	{"home: shared\n", "1:7"},
	{"home: workspace\n", "1:7"},
	{"home: none\n", ""},
	{"masks: hold\n", "1:8"},
	{"masks: start\n", ""},
	/* which takes a view, and so asks for one */
	{"masks: {fast: [target/, out/]}\n", "1:1 1:16 1:25"},
	{"runtime: kata\n", "1:10"},
	{"runtime: runc\n", ""},
	{"trace: {required: true}\n", "1:19"},
	{"trace: {required: false}\n", ""},
	{"upstream: http://proxy.example.com:3128\n", "1:11"},
	{"upstream_ca: /etc/roots.pem\n", "1:14"},
	{"uplink: isolated\n", "1:9"},
	{"allow: [\"host:80\"]\n", "1:9"},
	{"deny: [\"host:80\"]\n", ""},
	{"allow: [a.example.com:80]\n", ""},
};

static const struct row rights[] = {
	{"hardening: {capabilities: [NET_RAW, KILL]}\n", "1:28 1:37"},
	{"hardening: {no_new_privileges: false}\n", "1:32"},
	{"hardening: {no_new_privileges: true}\n", ""},
	{"hardening: {read_only: false}\n", "1:24"},
	{"hardening: {read_only: true}\n", ""},
	{"hardening: {user_namespaces: true}\n", "1:30"},
	{"hardening: {user_namespaces: false}\n", ""},
	{"hardening: {seccomp: unconfined}\n", "1:22"},
	{"hardening: {seccomp: default}\n", ""},
	{"hardening: {seccomp: docker}\n", ""},
	{"hardening: {user: \"0\"}\n", "1:19"},
	{"hardening: {user: \"1\"}\n", ""},
	{"hardening: {user: \"1:0\"}\n", "1:19"},
	{"hardening: {user: \"1:1\"}\n", ""},
	{"hardening: {user: \"0:1\"}\n", "1:19"},
	{"hardening: {user: \"2147483647:2147483647\"}\n", ""},
	{"hardening: {user: \"2147483648\"}\n", "1:19"},
	{"hardening: {user: \"1:2147483648\"}\n", "1:19"},
};

static const struct row resources[] = {
	{"hardening: {pids: 100}\n", "1:19"},
	{"hardening: {memory: 6291456}\n", ""},
	{"hardening: {memory: 6291455}\n", "1:21"},
	{"hardening: {cpus: 0.001}\n", ""},
	{"hardening: {tmpfs: [/a, \"/b:exec\", \"/c:size=1m\", /proc]}\n",
	 "1:25 1:50"},
	{"args: [--init, --env, A, --env=B=c]\n", "1:8 1:23"},
	{"ports: [8080, 9090, 127.0.0.1:7000:7000]\n", ""},
	{"ports: [3000:5173, 8080]\n", "1:9"},
	/* one number at two addresses: the second by its text */
	{"ports: [8080, 127.0.0.2:8080:8080]\n", "1:9"},
	{"ports: [1, 2, 127.0.0.2:1:1, 127.0.0.2:2:2]\n", "1:12 1:15"},
};

/* Of each kind: a header with a key of a Secret is what there can be. */
static const struct row credentials[] = {
	{"allow: [a.example.com:443]\n"
	 "credentials:\n"
	 "  - {host: a.example.com, header: X, from_env: T, format: \"{}\"}\n",
	 ""},
	{"allow: [a.example.com:443]\n"
	 "credentials:\n"
	 "  - {host: a.example.com, header: X, from_file: ~/t, format: \"{}\"}\n",
	 "3:49"},
	{"allow: [a.example.com:443]\n"
	 "credentials:\n"
	 "  - {host: a.example.com, file: ~/t, fields: [a.access]}\n",
	 "3:33"},
	{"allow: [a.example.com:443]\n"
	 "credentials:\n"
	 "  - {host: a.example.com, file: ~/t, fields: [a.access, a.refresh], refresh: https://a.example.com/t}\n",
	 "3:33"},
};

/* --- files -----------------------------------------------------------------
 */

static const struct row empty_files[] = {
	{"ignore: [.env, \"*.key\"]\n", ""},
	{"readonly: [/a, /b/]\n", "1:12 1:16"},
};
static const struct row cloned_files[] = {
	{"ignore: [.env, \"*.key\"]\n", ""},
	{"readonly: [/a, /b/]\n", ""},
	{"readonly: [\"*.lock\", /a/*, b, \"!/a\"]\n", "1:12 1:22 1:28 1:31"},
};
static const struct row claimed_files[] = {
	{"ignore: [.env, \"*.key\"]\n", "1:10 1:16"},
	{"readonly: [/a, b]\n", "1:16"},
};

/* --- apart of its gate -----------------------------------------------------
 */

static const struct row apart[] = {
	{"", ""},
	{"allow: [a.example.com:443, \"*.example.com:80\"]\n", ""},
	{"allow: [192.0.2.7:443, \"*:443\"]\n", "1:9 1:24"},
	/* a port that shows a name, or what says that one does */
	{"allow: [a.example.com:22]\n", "1:9"},
	{"allow: [a.example.com]\n", "1:9"},
	{"allow: [{dest: a.example.com, ports: [443-444]}]\n", "1:16"},
	{"allow: [{dest: a.example.com, ports: [79-80]}]\n", "1:16"},
	{"allow: [{dest: a.example.com, ports: [8443], tls: verify}]\n", ""},
	{"allow: [\"http://a.example.com:8080/\"]\n", ""},
	{"allow: [\"http://192.0.2.7:8080/\"]\n", "1:9"},
	/* TCP, and not the resolver's port */
	{"allow: [{dest: a.example.com, ports: [443/udp]}]\n", "1:16"},
	{"allow: [\"http://a.example.com:53/\"]\n", "1:9"},
	{"allow: [{dest: a.example.com, ports: [50-52], tls: verify}]\n", ""},
	{"allow: [{dest: a.example.com, ports: [54-60], tls: verify}]\n", ""},
	{"allow: [{dest: a.example.com, ports: [50-53], tls: verify}]\n",
	 "1:16"},
	{"allow: [{dest: a.example.com, ports: [53-60], tls: verify}]\n",
	 "1:16"},
	/* sixteen in a row */
	{"allow: [{dest: a.example.com, ports: [8000-8015], tls: verify}]\n",
	 ""},
	{"allow: [{dest: a.example.com, ports: [8000-8016], tls: verify}]\n",
	 "1:16"},
	/* one error for a grant, whichever of its ports it is */
	{"allow: [{dest: a.example.com, ports: [22, 53/udp]}]\n", "1:16"},
	{"allow: [{dest: a.example.com, ports: [80, 22]}]\n", "1:16"},
	/* nothing is decrypted */
	{"allow: [\"https://a.example.com/\"]\n", "1:9"},
	{"allow: [{dest: a.example.com, ports: [443], tls: inspect}]\n",
	 "1:16"},
	{"allow: [a.example.com:443]\n"
	 "deny: [\"https://a.example.com/b\"]\n",
	 "2:8"},
	{"deny: [a.example.com, 192.0.2.0/24, \"*\"]\n", ""},
	{"allow: [a.example.com:443]\n"
	 "deny: [{dest: \"*\", ports: [8443]}]\n",
	 "2:15"},
	/* nor asked, or published */
	{"ask: [a.example.com:443]\n", "1:7"},
	{"ports: [8080]\n", "1:9"},
	{"allow: [a.example.com:443]\n"
	 "credentials:\n"
	 "  - {host: a.example.com, header: X, from_env: T, format: \"{}\"}\n",
	 "3:5"},
};

/* --- images and the resolver -----------------------------------------------
 */

static void heads(void)
{
	static const struct row rows[] = {
		{"resolver: 10.0.0.1\nimage: debian@sha256:0123456789abcdef0123456789abcdef\n",
		 ""},
		{"resolver: 10.0.0.1\nimage: a/b:1\n", ""},
		{"resolver: 10.0.0.1\nimage: membrane-agent\n", "2:8"},
		{"resolver: 10.0.0.1\nimage: dir:/srv/root\n", "2:8"},
		{"resolver: 10.0.0.1\nimage: \"Debian\"\n", "2:8"},
		{"image: a\nresolver: host\n", "2:11"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kube_rig t;

		kube_rig_init(&t, rows[i].policy);
		check_refused(&t, rows[i].policy, 0, rows[i].places);
		kube_rig_done(&t);
	}
}

/* What is in the policy.json of a plan nobody asks for: it has it all. */
static void derived(void)
{
	struct kube_rig t;

	kube_rig_body(
		&t, a,
		"home: shared\nmasks: hold\nruntime: kata\n"
		"hardening: {read_only: false, pids: 9, seccomp: unconfined}\n");
	CHECK(!kube_check(&t.c.in));
	vec_each(s, &t.c.front.sources.list)
		s->derived |= str_is(s->name, "test");
	diags_init(&t.c.front.diags, t.c.a, &t.c.front.sources);
	CHECK(kube_check(&t.c.in));
	kube_rig_done(&t);
}

/* A file with tokens is told from any other. */
static void tokens(void)
{
	struct diag_view v;
	struct kube_rig t;

	kube_rig_body(
		&t, a,
		"allow: [a.example.com:443]\ncredentials:\n"
		"  - {host: a.example.com, file: ~/t, fields: [a.access]}\n");
	CHECK(!kube_check(&t.c.in) && diags_get(t.c.in.diags, 0, &v));
	CHECK(str_ends(v.text,
		       STR("tokens that are renewed is the launcher's")));
	kube_rig_done(&t);
}

/* One error at each place: at another one, or of another kind, it is new. */
static void once(void)
{
	const struct span at = {10, 20}, less = {10, 19}, later = {11, 20};
	struct kube_rig t;
	struct diags *d;

	kube_rig_body(&t, a, "allow: [a.example.com:443]\n");
	d = t.c.in.diags;
	diag_error(d, DIAG_IMAGE, at, "of another kind");
	CHECK(!kube_refuse(&t.c.in, at, "a", "b") && d->errors == 2);
	CHECK(!kube_refuse(&t.c.in, at, "c", "d") && d->errors == 2);
	CHECK(!kube_refuse(&t.c.in, less, "a", "b") && d->errors == 3);
	CHECK(!kube_refuse(&t.c.in, later, "a", "b") && d->errors == 4);
	CHECK(!kube_refuse(&t.c.in, less, "c", "d") && d->errors == 4);
	kube_rig_done(&t);
}

int main(void)
{
	a = arena_new();
	check_rows(machine, ARRAY_LEN(machine), KUBE_WIRE, KUBE_WORK_EMPTY);
	check_rows(rights, ARRAY_LEN(rights), KUBE_WIRE, KUBE_WORK_EMPTY);
	check_rows(resources, ARRAY_LEN(resources), KUBE_WIRE, KUBE_WORK_EMPTY);
	check_rows(credentials, ARRAY_LEN(credentials), KUBE_WIRE,
		   KUBE_WORK_EMPTY);
	check_rows(empty_files, ARRAY_LEN(empty_files), KUBE_WIRE,
		   KUBE_WORK_EMPTY);
	check_rows(cloned_files, ARRAY_LEN(cloned_files), KUBE_WIRE,
		   KUBE_WORK_GIT);
	check_rows(claimed_files, ARRAY_LEN(claimed_files), KUBE_WIRE,
		   KUBE_WORK_CLAIM);
	check_rows(apart, ARRAY_LEN(apart), KUBE_APART, KUBE_WORK_EMPTY);
	heads();
	derived();
	tokens();
	once();
	arena_free(a);
	return check_status();
}
