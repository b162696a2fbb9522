/* Trace events: what expands to what, and which filters are refused. */
#include "compiler/ir/tracee.h"
#include "compiler/passes/trace/trace.h"
#include "tests/check.h"
#include "tests/unit/policy.h"

static struct arena *a;
static struct test_policy t;

static void start(void)
{
	test_policy_init(&t, a, LAYER_GLOBAL);
	t.doc.trace.engine.set = true;
	t.doc.trace.engine.v = IR_TRACE_TRACEE;
}

/* An event; the filters, divided by blanks that no filter here has. */
static void event(const char *name, const char *filters)
{
	struct ir_text at = test_policy_text(&t, name);
	struct ir_trace_event *e = vec_push(a, &t.doc.trace.events);
	struct str rest = str_of(filters), f;

	t.doc.trace.has_events = true;
	e->from = at.from;
	e->name = at.s;
	while (str_field(&rest, '|', &f))
		*vec_push(a, &e->filters) =
			test_policy_text(&t, arena_cstr(a, f));
}

static void exclude(const char *path)
{
	*vec_push(a, &t.doc.trace.exclude) = test_policy_text(&t, path);
}

static void version(const char *v)
{
	struct ir_text text = test_policy_text(&t, v);

	t.doc.trace.version = (ir_opt_str){true, text.from, text.s};
}

static enum diag_id first_id(void)
{
	struct diag_view v;

	return diags_get(&t.diags, 0, &v) ? v.id : 0;
}

static bool done(void)
{
	bool ok = test_policy_done(&t);

	if (!ok)
		test_policy_show(&t);
	return ok;
}

static uint32_t count(const char *name)
{
	start();
	event(name, "");
	return done() ? t.policy.trace.events.n : 0;
}

static void expansion(void)
{
	start();
	CHECK(done());
	CHECK(t.policy.trace.events.n == 9);
	for (uint32_t i = 0; i < t.policy.trace.events.n; i++)
		CHECK(tracee_event_named(t.policy.trace.events.v[i].name));
	CHECK(count("sched_process_exec") == 1);
	CHECK(count("security_socket_*") >= 5);
	CHECK(count("*") > 500 && count("*") < 584);
	CHECK(count("fs") > 50);
	CHECK(count("net_packet_dns*") == 3);
	start();
	event("security_socket_*", "");
	event("security_socket_bind", "");
	event("lsm_hooks", "");
	CHECK(done());
	for (uint32_t i = 1; i < t.policy.trace.events.n; i++)
		CHECK(str_cmp(t.policy.trace.events.v[i - 1].name,
			      t.policy.trace.events.v[i].name) < 0);
	/* The whole event is wanted somewhere: filters elsewhere are void. */
	start();
	event("security_socket_*", "");
	event("security_socket_bind", "comm=nginx");
	CHECK(done() && first_id() == DIAG_TRACE_VOID);
	vec_each(e, &t.policy.trace.events)
		CHECK(e->filters.n == 0);
	start();
	event("openat", "comm=b|comm=a|comm=b");
	event("openat", "comm=a|comm=b");
	CHECK(done() && t.policy.trace.events.n == 1);
	CHECK(t.policy.trace.events.v[0].filters.n == 2);
	CHECK(str_is(t.policy.trace.events.v[0].filters.v[0].s, "comm=a"));
	/* No events at all is not the same as saying nothing. */
	start();
	t.doc.trace.has_events = true;
	CHECK(done() && t.policy.trace.events.n == 0);
}

static uint32_t count_native(const char *name)
{
	start();
	t.doc.trace.engine.v = IR_TRACE_NATIVE;
	event(name, "");
	return done() ? t.policy.trace.events.n : 0;
}

static bool optional(const char *first, const char *second)
{
	start();
	t.doc.trace.engine.v = IR_TRACE_NATIVE;
	event(first, "");
	if (second)
		event(second, "");
	if (!done())
		return false;
	vec_each(e, &t.policy.trace.events)
		if (str_is(e->name, "cap_capable"))
			return e->optional.v;
	return false;
}

/* Who names an event counts on it; a set may lack one. */
static void counted_on(void)
{
	CHECK(optional("full", NULL) && optional("default", NULL));
	CHECK(optional("cap_*", NULL));
	CHECK(!optional("cap_capable", NULL));
	CHECK(!optional("full", "cap_capable"));
	CHECK(!optional("cap_capable", "default"));
}

/* The built-in tracer: its own sets, and never what it cannot record. */
static void native(void)
{
	uint32_t full = count_native("full"), usual = count_native("default");

	CHECK(usual > 20 && full > usual);
	CHECK(count_native("*") == full);
	CHECK(count_native("security_socket_*") == 4);
	CHECK(t.policy.trace.reads.set && t.policy.trace.reads.v);
	start();
	t.doc.trace.engine.v = IR_TRACE_NATIVE;
	CHECK(done() && t.policy.trace.events.n == usual);
	CHECK(t.policy.trace.reads.set && !t.policy.trace.reads.v);
	start();
	t.doc.trace.engine.v = IR_TRACE_NATIVE;
	event("commit_creds", "");
	CHECK(!test_policy_done(&t) && first_id() == DIAG_TRACE_NATIVE);
	start();
	t.doc.trace.engine.v = IR_TRACE_NATIVE;
	event("sched_process_exec", "containerId=abc");
	CHECK(!test_policy_done(&t));
	/* What Tracee cannot compare and we can. */
	start();
	t.doc.trace.engine.v = IR_TRACE_NATIVE;
	event("security_inode_unlink", "data.pathname=/workspace/x");
	CHECK(done());
}

static void takes(const char *name, const char *filters)
{
	start();
	event(name, filters);
	CHECK(done());
}

static void refuses(enum diag_id id, const char *name, const char *filters)
{
	start();
	event(name, filters);
	if (!test_policy_done(&t) && first_id() == id) {
		check_passed++;
		return;
	}
	check_failed++;
	printf("%s '%s', wanted E%d:\n", name, filters, id);
	test_policy_show(&t);
}

static void filters(void)
{
	takes("security_file_open", "data.pathname=/workspace/*,/home/agent/*");
	takes("security_file_open", "args.pathname!=*.so");
	takes("security_file_open", "data.flags=32768");
	takes("security_file_open", "comm=*fifteen_bytes_x*");
	refuses(DIAG_TRACE_TRAP, "openat", "comm=a|processName!=b");
	refuses(DIAG_TRACE_TRAP, "openat", "p!=2|processId=1");
	takes("net_packet_dns", "data.src=10.*|hostName!=b");
	takes("security_file_open", "data.flags!=-1,2");
	takes("security_file_open", "comm=git,vim|uid=1000|pid>5|retval<=0");
	takes("security_socket_connect",
	      "data.remote_addr=*sin_addr:10.0.0.5 *");
	takes("security_inode_unlink", "data.pathname=*/src/main.c");
	takes("sched_process_exec", "data.invoked_from_kernel=true");
	takes("anti_debugging", "data.anything=x");
	takes("sched_process_exec", "data.pathname=*git*");

	refuses(DIAG_TRACE_EVENT, "sched_process_exc", "");
	refuses(DIAG_TRACE_EVENT, "nonsense_*", "");
	refuses(DIAG_TRACE_EVENT, "-openat", "");
	refuses(DIAG_TRACE_EVENT, "SYSCALLS", "");
	refuses(DIAG_TRACE_FILTER, "openat", "comm");
	refuses(DIAG_TRACE_FILTER, "openat", "=x");
	refuses(DIAG_TRACE_FILTER, "openat", "comm=");
	refuses(DIAG_TRACE_FILTER, "openat", "comm!x");
	refuses(DIAG_TRACE_FILTER, "openat", "comm = x");
	refuses(DIAG_TRACE_FILTER, "openat", "comm=x,,y");
	refuses(DIAG_TRACE_FILTER, "openat", "comm=x,");
	refuses(DIAG_TRACE_FILTER, "openat", "uid=1,");
	refuses(DIAG_TRACE_FILTER, "openat", "uid=1,,2");
	refuses(DIAG_TRACE_FILTER, "openat", "comm>x");
	refuses(DIAG_TRACE_FILTER, "openat", "comm=*");
	refuses(DIAG_TRACE_FILTER, "openat", "comm=a*b");
	refuses(DIAG_TRACE_FILTER, "openat", "uid=root");
	refuses(DIAG_TRACE_FILTER, "openat", "data.flags=O_RDONLY");
	refuses(DIAG_TRACE_FILTER, "openat", "data.flags>1");
	refuses(DIAG_TRACE_FILTER, "openat", "data.pathname=**");
	refuses(DIAG_TRACE_FILTER, "openat", "retval<0");
	refuses(DIAG_TRACE_FILTER, "openat", "retval=1,2");
	refuses(DIAG_TRACE_FILTER, "security_file_open", "data.pathname=*x*");
	refuses(DIAG_TRACE_FILTER, "sched_process_exec",
		"data.invoked_from_kernel=1");
	refuses(DIAG_TRACE_FIELD, "openat", "data.pathnme=/x");
	refuses(DIAG_TRACE_FIELD, "openat", "pathname=/x");
	refuses(DIAG_TRACE_FIELD, "openat", "scope.comm=x");
	refuses(DIAG_TRACE_FIELD, "openat", "usr=1");
	refuses(DIAG_TRACE_TRAP, "openat", "container=x");
	refuses(DIAG_TRACE_TRAP, "openat", "hostParentProcessId=1");
	refuses(DIAG_TRACE_TRAP, "openat", "containerImageDigest=x");
	refuses(DIAG_TRACE_TRAP, "openat", "podSandbox=true");
	refuses(DIAG_TRACE_TRAP, "openat", "comm=a-name-that-is-long");
	refuses(DIAG_TRACE_TRAP, "openat", "comm=a|comm!=b");
	refuses(DIAG_TRACE_TRAP, "openat",
		"data.pathname=/a/*|args.pathname!=/a/b");
	refuses(DIAG_TRACE_TRAP, "sched_process_exec", "data.sha256=0");
	refuses(DIAG_TRACE_TRAP, "process_execute_failed",
		"data.binary.path=/x");
	refuses(DIAG_TRACE_TRAP, "security_inode_rename",
		"data.old_path=/workspace/x");
	refuses(DIAG_TRACE_TRAP, "security_socket_connect",
		"data.remote_addr=10.0.0.5");
}

static void releases(void)
{
	start();
	version("0.20.0");
	CHECK(done());
	start();
	version("0.25.0");
	CHECK(!test_policy_done(&t) && first_id() == DIAG_TRACE_VERSION);
	start();
	version("1");
	CHECK(!test_policy_done(&t) && first_id() == DIAG_TRACE_VERSION);
	/* Gone since 0.19. */
	refuses(DIAG_TRACE_VERSION, "hooked_syscalls", "");
	/* signal_code came with 0.23. */
	takes("sched_process_exit", "data.signal_code=9");
	start();
	version("0.22.0");
	event("sched_process_exit", "data.signal_code=9");
	CHECK(!test_policy_done(&t) && first_id() == DIAG_TRACE_FIELD);
}

static void not_excluded(const char *path)
{
	start();
	exclude(path);
	CHECK(!test_policy_done(&t) && first_id() == DIAG_TRACE_EXCLUDE);
}

static void excluding(void)
{
	start();
	exclude("/usr");
	exclude("/proc/");
	CHECK(done());
	start();
	exclude("/usr");
	event("security_file_open", "data.pathname=/workspace/*");
	CHECK(!test_policy_done(&t) && first_id() == DIAG_TRACE_TRAP);
	start();
	exclude("/usr");
	event("sched_process_exec", "data.pathname=/workspace/*");
	CHECK(done());
	not_excluded("/");
	not_excluded("usr");
	not_excluded("/a,b");
	not_excluded("/a/*");
}

static void twice(void)
{
	start();
	event("openat", "comm=a");
	event("openat", "comm=b");
	CHECK(!test_policy_done(&t) && first_id() == DIAG_TRACE_TWICE);
}

int main(void)
{
	a = arena_new();
	expansion();
	native();
	counted_on();
	filters();
	releases();
	excluding();
	twice();
	arena_free(a);
	return check_status();
}
