/*
 * What becomes of events in a policy, one a line: its filters behind it, and a
 * '?' where it is optional; and what is said of them.
 */
#include "compiler/base/limits.h"
#include "tests/unit/layered.h"

#define LONG_MAX_BYTES 256

/* The keys of 'trace', and that. */
static const struct {
	const char *text, *want;
} list[] = {
	/* sets and patterns */
	{"events: [\"security_socket_*\"]", "security_socket_accept\n"
					    "security_socket_bind\n"
					    "security_socket_connect\n"
					    "security_socket_listen\n"},
	{"events: [\"*_socket_bind\"]", "security_socket_bind\n"},
	{"events: [\"security_*_bind\"]", "security_socket_bind\n"},
	{"events: [\"sec*ket_b*\"]", "security_socket_bind\n"},
	{"events: [\"**_socket_bind\"]", "security_socket_bind\n"},
	{"events: [\"security_socket_bind*\"]", "security_socket_bind\n"},
	{"events: [\"security_socket_bin\"]",
	 "17-38 E600 unknown event 'security_socket_bin' | did you mean 'security_socket_bind'?\n"},
	{"events: [\"security_socket_bindx*\"]",
	 "17-41 E600 no event matches 'security_socket_bindx*'\n"},
	{"events: [\"x*security_socket_bind\"]",
	 "17-41 E600 no event matches 'x*security_socket_bind'\n"},
	{"events: [\"socket_bind*\"]",
	 "17-31 E600 no event matches 'socket_bind*'\n"},
	{"events: [\"execv*ve\"]",
	 "17-27 E600 no event matches 'execv*ve'\n"},
	{"events: [\"*ssocket_bind\"]",
	 "17-32 E600 no event matches '*ssocket_bind'\n"},
	{"events: [asked]", "execve\n"
			    "execveat\n"
			    "link\n"
			    "linkat\n"
			    "mknod\n"
			    "mknodat\n"
			    "net_packet_dns_response\n"
			    "rmdir\n"
			    "sched_process_exec\n"
			    "security_file_open\n"
			    "security_inode_rename\n"
			    "security_inode_symlink\n"
			    "security_inode_unlink\n"
			    "security_socket_bind\n"
			    "security_socket_connect\n"
			    "security_socket_listen\n"
			    "truncate\n"},
	{"engine: tracee, events: [asked]",
	 "33-38 E600 unknown event 'asked' | did you mean 'lseek'?\n"},
	{"engine: tracee, events: [\"net_packet_dns*\"]",
	 "net_packet_dns\n"
	 "net_packet_dns_request\n"
	 "net_packet_dns_response\n"},
	{"engine: tracee, events: [\"nothing_*\"]",
	 "33-44 E600 no event matches 'nothing_*'\n"},
	{"events: [\"nothing_*\"]",
	 "17-28 E600 no event matches 'nothing_*'\n"},
	{"events: [-openat]",
	 "17-24 E600 unknown event '-openat' | leaving events out of a set is for Tracee's command line; name those that are wanted\n"},
	{"events: [sched_process_exc]",
	 "17-34 E600 unknown event 'sched_process_exc' | did you mean 'sched_process_exec'?\n"},
	{"events: [nothing_at_all]",
	 "17-31 E600 unknown event 'nothing_at_all' | 'membrane help events' lists those of the built-in tracer\n"},
	{"events: [commit_creds]",
	 "17-29 E609 the built-in tracer cannot record 'commit_creds' | 'engine: tracee' can, where Tracee runs\n"},
	{"events: [openat]",
	 "17-23 E609 the built-in tracer cannot record 'openat' | it has 'security_file_open' for that\n"},
	{"engine: tracee, events: [openatt]",
	 "33-40 E600 unknown event 'openatt' | did you mean 'openat'?\n"},
	{"engine: tracee, events: [hooked_syscalls]",
	 "33-48 E606 Tracee 0.24.1 has no event 'hooked_syscalls'\n"
	 "config.yaml:1:34: note: it was there before\n"},
	{"engine: tracee, version: 0.22.0, events: [sched_process_exec]",
	 "sched_process_exec\n"},
	{"engine: tracee, version: 0.23.0, events: [chmod_common]",
	 "chmod_common\n"},
	{"engine: tracee, version: 0.22.9, events: [chmod_common]",
	 "50-62 E606 Tracee 0.22.9 has no event 'chmod_common'\n"
	 "config.yaml:1:34: note: it came later\n"},
	{"engine: tracee, version: 0.22.9, events: [\"chmod_com*\"]",
	 "50-62 E600 no event matches 'chmod_com*'\n"},
	{"engine: tracee, version: 0.23.2, events: [hidden_inodes]",
	 "hidden_inodes\n"},
	{"engine: tracee, version: 0.23.3, events: [hidden_inodes]",
	 "50-63 E606 Tracee 0.23.3 has no event 'hidden_inodes'\n"
	 "config.yaml:1:34: note: it was there before\n"},
	{"events: [{event: default, filters: [data.pathname=/a]}]",
	 "44-60 E602 'sched_process_exit' has no field 'pathname' | its fields are exit_code, signal_code, process_group_exit\n"},
	{"engine: tracee, version: 0.24.99, events: [chmod_common]",
	 "chmod_common\n"},
	{"engine: tracee, version: 0.20.0, events: [sched_process_exec]",
	 "sched_process_exec\n"},
	{"engine: tracee, version: 0.25.0",
	 "33-39 E606 Tracee '0.25.0' is not known here | releases from 0.20.0 to 0.24 are, written whole; without 'version' it is 0.24.1\n"},
	{"engine: tracee, version: 0.25.0, events: [nothing_at_all]",
	 "33-39 E606 Tracee '0.25.0' is not known here | releases from 0.20.0 to 0.24 are, written whole; without 'version' it is 0.24.1\n"},
	{"engine: tracee, version: 0.19.9",
	 "33-39 E606 Tracee '0.19.9' is not known here | releases from 0.20.0 to 0.24 are, written whole; without 'version' it is 0.24.1\n"},
	{"engine: tracee, version: \"1\"",
	 "33-36 E606 Tracee '1' is not known here | releases from 0.20.0 to 0.24 are, written whole; without 'version' it is 0.24.1\n"},
	{"engine: native, version: 0.24.1, events: [sched_process_exec]",
	 "sched_process_exec\n"
	 "33-39 W608 'version' changes nothing: it is Tracee's, and this is the built-in tracer | 'engine: tracee' records with that\n"},

	/* one entry of each event */
	{"events: [sched_process_exec, sched_process_exec]",
	 "sched_process_exec\n"},
	{"events: [{event: sched_process_exec, filters: [comm=a]}, sched_process_exec]",
	 "sched_process_exec\n"
	 "25-43 W608 the filters of 'sched_process_exec' change nothing: it is traced whole\n"
	 "config.yaml:1:66: note: because of this\n"},
	{"events: [sched_process_exec, {event: sched_process_exec, filters: [comm=a]}]",
	 "sched_process_exec\n"
	 "45-63 W608 the filters of 'sched_process_exec' change nothing: it is traced whole\n"
	 "config.yaml:1:18: note: because of this\n"},
	{"events: [{event: sched_process_exec, filters: [comm=a]}, {event: sched_process_exec, filters: [comm=b]}]",
	 "73-91 E605 'sched_process_exec' has other filters elsewhere | write one entry with the filters of both, or without\n"
	 "config.yaml:1:26: note: here; Tracee has one rule per event\n"},
	{"events: [{event: sched_process_exec, filters: [comm=b, comm=a]}, {event: sched_process_exec, filters: [comm=a, comm=b, comm=a]}]",
	 "sched_process_exec comm=a comm=b\n"},
	{"events: [{event: cap_capable, optional: true}]", "cap_capable ?\n"},
	{"events: [{event: cap_capable, optional: true}, cap_capable]",
	 "cap_capable\n"},
	{"events: [cap_capable, {event: cap_capable, optional: true}]",
	 "cap_capable\n"},
	{"events: [{event: sched_process_exec, optional: true}]",
	 "sched_process_exec\n"},
	{"engine: tracee, events: [{event: cap_capable, optional: true}]",
	 "cap_capable\n"},

	/* paths to leave out */
	{"exclude: [/a], events: [sched_process_exec]", "sched_process_exec\n"},
	{"exclude: [/], events: [sched_process_exec]",
	 "18-19 E604 '/': not a path below the root | as in '/usr'\n"},
	{"exclude: [\"/a,b\"], events: [sched_process_exec]",
	 "18-24 E604 '/a,b': Tracee divides values at commas, and cannot say it | as in '/usr'\n"},
	{"exclude: [\"/a*\"], events: [sched_process_exec]",
	 "18-23 E604 '/a*': a path stands for all below it, and has no '*' | as in '/usr'\n"},
	{"engine: tracee, exclude: [/usr], events: [{event: security_file_open, filters: [data.pathname=/x]}]",
	 "88-104 E603 'data.pathname=/x': with 'exclude' there are = and != on one field, and Tracee looks at = alone | what is not under the path is left out already: drop 'exclude', or filter by another field\n"
	 "config.yaml:1:35: note: 'exclude' is here\n"},
	{"engine: tracee, exclude: [/usr], events: [{event: security_file_open, filters: [args.pathname=/x]}]",
	 "88-104 E603 'args.pathname=/x': with 'exclude' there are = and != on one field, and Tracee looks at = alone | what is not under the path is left out already: drop 'exclude', or filter by another field\n"
	 "config.yaml:1:35: note: 'exclude' is here\n"},
	{"engine: tracee, exclude: [/usr], events: [{event: security_file_open, filters: [data.pathname!=/x]}]",
	 "security_file_open data.pathname!=/x\n"},
	{"engine: tracee, exclude: [/usr], events: [{event: security_file_open, filters: [data.flags=1]}]",
	 "security_file_open data.flags=1\n"},
	{"exclude: [/usr], events: [{event: security_file_open, filters: [data.pathname=/x]}]",
	 "security_file_open data.pathname=/x\n"},

	/* what a filter is */
	{"events: [{event: sched_process_exec, filters: [comm]}]",
	 "55-59 E601 'comm': a filter without an operator | write NAME=VALUE or NAME!=VALUE\n"},
	{"events: [{event: sched_process_exec, filters: [=a]}]",
	 "55-57 E601 '=a': blanks around name or value | write NAME=VALUE without blanks\n"},
	{"events: [{event: sched_process_exec, filters: [\"!=a\"]}]",
	 "55-60 E601 '!=a': blanks around name or value | write NAME=VALUE without blanks\n"},
	{"events: [{event: sched_process_exec, filters: [comm=]}]",
	 "55-60 E601 'comm=': no value | write NAME=VALUE\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm!a\"]}]",
	 "55-63 E601 'comm!a': a '!' without its '=' | write NAME!=VALUE\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm!=a\"]}]",
	 "sched_process_exec comm!=a\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm!\"]}]",
	 "55-62 E601 'comm!': a '!' without its '=' | write NAME!=VALUE\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm =a\"]}]",
	 "55-64 E601 'comm =a': blanks around name or value | write NAME=VALUE without blanks\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm= a\"]}]",
	 "55-64 E601 'comm= a': blanks around name or value | write NAME=VALUE without blanks\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=a,\"]}]",
	 "55-64 E601 'comm=a,': an empty value behind the last comma | values are divided at commas; one with a comma cannot be written\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm==a\"]}]",
	 "sched_process_exec comm==a\n"},
	{"events: [{event: sched_process_exec, filters: [\"pid>=5\", \"pid<=9\"]}]",
	 "sched_process_exec pid<=9 pid>=5\n"},
	{"events: [{event: sched_process_exec, filters: [\"pid>5\", \"tid<9\"]}]",
	 "sched_process_exec pid>5 tid<9\n"},
	{"events: [{event: sched_process_exec, filters: [\"pid==5\"]}]",
	 "55-63 E601 'pid==5': not a number | filters compare the raw value: write the number, as 32768 for O_LARGEFILE\n"},
	{"events: [{event: sched_process_exec, filters: [\"uid=-1\"]}]",
	 "sched_process_exec uid=-1\n"},
	{"events: [{event: sched_process_exec, filters: [\"uid=-\"]}]",
	 "55-62 E601 'uid=-': not a number | filters compare the raw value: write the number, as 32768 for O_LARGEFILE\n"},
	{"events: [{event: sched_process_exec, filters: [\"uid=1,,2\"]}]",
	 "55-65 E601 'uid=1,,2': not a number | filters compare the raw value: write the number, as 32768 for O_LARGEFILE\n"},
	{"events: [{event: sched_process_exec, filters: [\"uid=18446744073709551615\"]}]",
	 "sched_process_exec uid=18446744073709551615\n"},
	{"events: [{event: sched_process_exec, filters: [\"uid=18446744073709551616\"]}]",
	 "55-81 E601 'uid=18446744073709551616': not a number | filters compare the raw value: write the number, as 32768 for O_LARGEFILE\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm>a\"]}]",
	 "55-63 E601 'comm>a': text is compared with = and != alone\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=a,,b\"]}]",
	 "55-66 E601 'comm=a,,b': an empty value between commas | values are divided at commas; one with a comma cannot be written\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=*\"]}]",
	 "55-63 E601 'comm=*': a pattern that matches everything | leave the filter out\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=**\"]}]",
	 "55-64 E601 'comm=**': a pattern that matches everything | leave the filter out\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=a*b\"]}]",
	 "55-65 E601 'comm=a*b': a '*' inside a value | write an exact value, prefix*, *suffix or *contains*\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=*a*\"]}]",
	 "sched_process_exec comm=*a*\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=***\"]}]",
	 "55-65 E601 'comm=***': a '*' inside a value | write an exact value, prefix*, *suffix or *contains*\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=fifteen_bytes_x\"]}]",
	 "sched_process_exec comm=fifteen_bytes_x\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=sixteen_bytes_xy\"]}]",
	 "55-78 E603 'comm=sixteen_bytes_xy': the kernel keeps 15 bytes of a command's name | write the first 15 bytes of it\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=*fifteen_bytes_x*,b\"]}]",
	 "sched_process_exec comm=*fifteen_bytes_x*,b\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=b,*sixteen_bytes_xy\"]}]",
	 "55-81 E603 'comm=b,*sixteen_bytes_xy': the kernel keeps 15 bytes of a command's name | write the first 15 bytes of it\n"},
	{"events: [{event: sched_process_exec, filters: [\"syscall=sixteen_bytes_xy\"]}]",
	 "sched_process_exec syscall=sixteen_bytes_xy\n"},
	{"engine: tracee, events: [{event: afs, filters: [data.x=1]}]",
	 "56-64 E602 'afs' has no field 'x' | it has no fields\n"},
	{"engine: tracee, events: [{event: openat, filters: [processName=sixteen_bytes_xy]}]",
	 "59-87 E603 'processName=sixteen_bytes_xy': the kernel keeps 15 bytes of a command's name | write the first 15 bytes of it\n"},
	{"engine: tracee, events: [{event: openat, filters: [containr=a]}]",
	 "59-69 E602 filters have no 'containr' | a field of the event is 'data.FIELD'\n"},
	{"engine: tracee, events: [{event: kill, filters: [pid=1, data.pid!=2]}]",
	 "kill data.pid!=2 pid=1\n"},
	{"engine: tracee, events: [{event: kill, filters: [data.pid=1, pid!=2]}]",
	 "kill data.pid=1 pid!=2\n"},
	{"events: [{event: sched_process_exec, filters: [\"retval<1\"]}]",
	 "55-65 E601 'retval<1': in a policy, retval knows =, !=, <= and >= | write retval<=N with one less\n"},
	{"events: [{event: sched_process_exec, filters: [\"retval>1\"]}]",
	 "55-65 E601 'retval>1': in a policy, retval knows =, !=, <= and >= | write retval>=N with one more\n"},
	{"events: [{event: sched_process_exec, filters: [\"retval=x\"]}]", "55-65 E601 'retval=x': retval takes one whole number | an error is a negative one, as -2 for ENOENT\n"},
	{"events: [{event: sched_process_exec, filters: [\"retval>=1\", \"retval!=2\"]}]",
	 "sched_process_exec retval!=2 retval>=1\n"},
	{"events: [{event: sched_process_exec, filters: [\"hostName=a\"]}]",
	 "55-67 E603 'hostName=a': only Tracee compares this | the built-in tracer has comm, uid, pid, tid, ppid, mntns, pidns, syscall and retval\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"hostName=a\"]}]",
	 "sched_process_exec hostName=a\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"containerName=a\"]}]",
	 "71-88 E603 'containerName=a': Tracee asks Docker for this, and gets no socket of it | leave it out: only the agent's containers are recorded\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"container=a\"]}]",
	 "71-84 E603 'container=a': a filter that filters nothing | its value is ignored by Tracee, and only the agent's containers are recorded in any case\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"hostParentProcessId=1\"]}]",
	 "71-94 E603 'hostParentProcessId=1': a filter that filters nothing | Tracee compares another number with it; write parentProcessId=\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"podSandbox=a\"]}]",
	 "71-85 E603 'podSandbox=a': a filter that filters nothing | Tracee never evaluates it\n"},
	{"events: [{event: sched_process_exec, filters: [\"scope.comm=a\"]}]",
	 "55-69 E602 filters have no 'scope.comm' | that is for Tracee's command line; in a policy the name stands alone, as in 'comm=git'\n"},
	{"events: [{event: sched_process_exec, filters: [\"context.comm=a\"]}]",
	 "55-71 E602 filters have no 'context.comm' | that is for Tracee's command line; in a policy the name stands alone, as in 'comm=git'\n"},
	{"events: [{event: sched_process_exec, filters: [\".comm=a\"]}]",
	 "55-64 E602 filters have no '.comm' | that is for Tracee's command line; in a policy the name stands alone, as in 'comm=git'\n"},
	{"events: [{event: sched_process_exec, filters: [\"pathname=a\"]}]",
	 "55-67 E602 filters have no 'pathname' | a field of the event is 'data.pathname'\n"},
	{"events: [{event: sched_process_exec, filters: [\"com=a\"]}]",
	 "55-62 E602 filters have no 'com' | did you mean 'comm'?\n"},
	{"events: [{event: sched_process_exec, filters: [\"podNam=a\"]}]",
	 "55-65 E602 filters have no 'podNam' | a field of the event is 'data.FIELD'\n"},
	{"events: [{event: sched_process_exec, filters: [\"nothinglikeit=a\"]}]",
	 "55-72 E602 filters have no 'nothinglikeit' | a field of the event is 'data.FIELD'\n"},

	/* fields of an event */
	{"events: [{event: sched_process_exec, filters: [\"data.pathname=/a\"]}]",
	 "sched_process_exec data.pathname=/a\n"},
	{"events: [{event: sched_process_exec, filters: [\"data.pathname>/a\"]}]",
	 "55-73 E601 'data.pathname>/a': fields are compared with = and != alone\n"},
	{"events: [{event: sched_process_exec, filters: [\"data.pathnam=/a\"]}]",
	 "55-72 E602 'sched_process_exec' has no field 'pathnam' | did you mean 'data.pathname'?\n"},
	{"events: [{event: sched_process_exec, filters: [\"data.nothinglikeit=/a\"]}]",
	 "55-78 E602 'sched_process_exec' has no field 'nothinglikeit' | its fields are cmdpath, pathname, dev, inode, ctime, inode_mode, interpreter_pathname, interpreter_dev, interpreter_inode, interpreter_ctime, argv, interp, stdin_type, stdin_path, invoked_from_kernel, prev_comm, env, pwd\n"},
	{"events: [{event: sched_process_exec, filters: [\"data.argv=a\"]}]",
	 "55-68 E603 'data.argv=a': the built-in tracer compares texts and numbers, and this is a record | leave this filter out\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=a\"]}]",
	 "71-84 E603 'data.argv=a': the value is a record, and is compared as its whole text | write what it contains, as in *sin_addr:10.0.0.5 *\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=*a\"]}]",
	 "71-85 E603 'data.argv=*a': the value is a record, and is compared as its whole text | write what it contains, as in *sin_addr:10.0.0.5 *\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=*a*\"]}]",
	 "sched_process_exec data.argv=*a*\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=**\"]}]",
	 "71-85 E603 'data.argv=**': the value is a record, and is compared as its whole text | write what it contains, as in *sin_addr:10.0.0.5 *\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=*a*b*\"]}]",
	 "71-88 E601 'data.argv=*a*b*': a '*' inside a value | write an exact value, prefix*, *suffix or *contains*\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=*a*,b\"]}]",
	 "71-88 E603 'data.argv=*a*,b': the value is a record, and is compared as its whole text | write what it contains, as in *sin_addr:10.0.0.5 *\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=*ab\"]}]",
	 "71-86 E603 'data.argv=*ab': the value is a record, and is compared as its whole text | write what it contains, as in *sin_addr:10.0.0.5 *\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.argv=ab*\"]}]", "71-86 E603 'data.argv=ab*': the value is a record, and is compared as its whole text | write what it contains, as in *sin_addr:10.0.0.5 *\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.sha256=a\"]}]",
	 "71-86 E603 'data.sha256=a': this field is there only with an option, and no policy can filter it\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.invoked_from_kernel=true\"]}]",
	 "sched_process_exec data.invoked_from_kernel=true\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.invoked_from_kernel=false\"]}]",
	 "sched_process_exec data.invoked_from_kernel=false\n"},
	{"engine: tracee, events: [{event: sched_process_exec, filters: [\"data.invoked_from_kernel=1\"]}]",
	 "71-99 E601 'data.invoked_from_kernel=1': neither true nor false\n"},
	{"engine: tracee, events: [{event: security_file_open, filters: [\"data.pathname=*x*\"]}]",
	 "71-90 E601 'data.pathname=*x*': this path is compared in the kernel, which does not look inside | write an exact path, prefix* or *suffix\n"},
	{"engine: tracee, events: [{event: security_file_open, filters: [\"data.pathname=*x\"]}]",
	 "security_file_open data.pathname=*x\n"},
	{"engine: tracee, events: [{event: security_file_open, filters: [\"data.pathname=x*\"]}]",
	 "security_file_open data.pathname=x*\n"},
	{"events: [{event: security_file_open, filters: [\"data.pathname=*x*\"]}]",
	 "security_file_open data.pathname=*x*\n"},
	{"engine: tracee, events: [{event: security_inode_rename, filters: [\"data.old_path=/workspace/x\"]}]",
	 "74-102 E603 'data.old_path=/workspace/x': this path is the one in its file system, without where that is mounted | write the end of the path, as in */src/main.c\n"},
	{"engine: tracee, events: [{event: security_inode_rename, filters: [\"data.old_path=a,/home/agent/x\"]}]",
	 "74-105 E603 'data.old_path=a,/home/agent/x': this path is the one in its file system, without where that is mounted | write the end of the path, as in */src/main.c\n"},
	{"engine: tracee, events: [{event: security_inode_rename, filters: [\"data.old_path=/srv/x\"]}]",
	 "security_inode_rename data.old_path=/srv/x\n"},
	{"events: [{event: security_inode_rename, filters: [\"data.old_path=/workspace/x\"]}]",
	 "security_inode_rename data.old_path=/workspace/x\n"},
	{"engine: tracee, events: [{event: process_execute_failed, filters: [\"data.binary.path=/x\"]}]",
	 "75-96 E603 'data.binary.path=/x': Tracee cannot filter a field with a dot in its name\n"},
	{"engine: tracee, events: [{event: anti_debugging, filters: [\"data.anything=x\"]}]",
	 "anti_debugging data.anything=x\n"},
	{"engine: tracee, events: [{event: anti_debugging, filters: [\"data.anything=a*b\"]}]",
	 "67-86 E601 'data.anything=a*b': a '*' inside a value | write an exact value, prefix*, *suffix or *contains*\n"},
	{"engine: tracee, events: [{event: security_socket_connect, filters: [\"data.remote_addr=10.0.0.5\"]}]",
	 "76-103 E603 'data.remote_addr=10.0.0.5': the value is a record, and is compared as its whole text | write what it contains, as in *sin_addr:10.0.0.5 *\n"},
	{"engine: tracee, version: 0.23.0, events: [{event: sched_process_exit, filters: [data.nothinglikeit=9]}]",
	 "88-108 E602 'sched_process_exit' has no field 'nothinglikeit' | its fields are exit_code, signal_code, process_group_exit\n"},
	{"engine: tracee, version: 0.22.9, events: [{event: sched_process_exit, filters: [data.nothinglikeit=9]}]",
	 "88-108 E602 'sched_process_exit' has no field 'nothinglikeit' | its fields are exit_code, process_group_exit\n"},
	{"engine: tracee, version: 0.21.0, events: [{event: sched_process_fork, filters: [data.nothinglikeit=9]}]",
	 "88-108 E602 'sched_process_fork' has no field 'nothinglikeit' | its fields are parent_tid, parent_ns_tid, parent_pid, parent_ns_pid, parent_start_time, child_tid, child_ns_tid, child_pid, child_ns_pid, start_time, leader_tid, leader_ns_tid, leader_pid, leader_ns_pid, leader_start_time, up_parent_tid, up_parent_ns_tid, up_parent_pid, up_parent_ns_pid, up_parent_start_time\n"},
	{"engine: tracee, version: 0.21.1, events: [{event: sched_process_fork, filters: [data.nothinglikeit=9]}]",
	 "88-108 E602 'sched_process_fork' has no field 'nothinglikeit' | its fields are parent_tid, parent_ns_tid, parent_pid, parent_ns_pid, parent_start_time, child_tid, child_ns_tid, child_pid, child_ns_pid, start_time, leader_tid, leader_ns_tid, leader_pid, leader_ns_pid, leader_start_time\n"},
	{"engine: tracee, version: 0.22.0, events: [{event: sched_process_exit, filters: [\"data.signal_code=9\"]}]",
	 "88-108 E602 'sched_process_exit' has no field 'signal_code' | its fields are exit_code, process_group_exit\n"},
	{"engine: tracee, events: [{event: sched_process_exit, filters: [\"data.signal_code=9\"]}]",
	 "sched_process_exit data.signal_code=9\n"},

	/* two filters of one field */
	{"engine: tracee, events: [{event: openat, filters: [\"comm=a\", \"comm!=b\"]}]",
	 "69-78 E603 'comm!=b': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"comm=a\", \"comm=b\"]}]",
	 "openat comm=a comm=b\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"comm!=a\", \"comm!=b\"]}]",
	 "openat comm!=a comm!=b\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"comm!=a\", \"processName=b\"]}]",
	 "70-85 E603 'processName=b': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"pid>1\", \"pid<9\"]}]",
	 "openat pid<9 pid>1\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"p=1\", \"pid!=9\"]}]",
	 "66-74 E603 'pid!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"pid=1\", \"processId!=9\"]}]",
	 "68-82 E603 'processId!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"tid=1\", \"threadId!=9\"]}]",
	 "68-81 E603 'threadId!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"ppid=1\", \"parentProcessId!=9\"]}]",
	 "69-89 E603 'parentProcessId!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"hostTid=1\", \"hostThreadId!=9\"]}]",
	 "72-89 E603 'hostThreadId!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"uid=1\", \"userId!=9\"]}]",
	 "68-79 E603 'userId!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"mntns=1\", \"mountNamespace!=9\"]}]",
	 "70-89 E603 'mountNamespace!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"pidns=1\", \"pidNamespace!=9\"]}]",
	 "70-87 E603 'pidNamespace!=9': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"uid=1\", \"pid!=9\"]}]",
	 "openat pid!=9 uid=1\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"data.pathname=/a\", \"args.pathname!=/b\"]}]",
	 "79-98 E603 'args.pathname!=/b': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"data.pathname=/a\", \"args.flags!=1\"]}]",
	 "openat args.flags!=1 data.pathname=/a\n"},
	{"engine: tracee, events: [{event: openat, filters: [\"hostName=a\", \"hostName!=b\"]}]",
	 "73-86 E603 'hostName!=b': with = and another operator on one field, Tracee looks at = alone | keep one of the two\n"
	 "config.yaml:1:60: note: the other is here\n"},
	{"events: [{event: sched_process_exec, filters: [\"comm=a\", \"comm!=b\"]}]",
	 "sched_process_exec comm!=b comm=a\n"},
};

static void put_events(struct buf *b, const struct ir_trace *t)
{
	vec_each(e, &t->events) {
		buf_add(b, e->name);
		vec_each(f, &e->filters)
			buf_addf(b, " %.*s", STR_ARG(f->s));
		buf_adds(b, e->optional.v ? " ?\n" : "\n");
	}
}

static void check_trace(const char *keys, const char *want)
{
	struct layered l;
	char yaml[512];
	struct buf got;
	bool ok;

	snprintf(yaml, sizeof(yaml), "trace: {%s}", keys);
	layered_two(&l, yaml, NULL);
	buf_init(&got, l.r.a);
	ok = layered_normalise(&l);
	CHECK_MSG(ok == (l.r.diags.errors == 0), "%s", yaml);
	if (ok)
		put_events(&got, &l.p.trace);
	buf_add(&got, rig_said(&l.r));
	CHECK_MSG(str_is(buf_str(&got), want), "%s\n%.*s", yaml,
		  STR_ARG(buf_str(&got)));
	layered_done(&l);
}

/* A value of n bytes, and whether it is taken. */
static bool takes_long(const char *keys, unsigned n)
{
	char yaml[LONG_MAX_BYTES + 128], value[LONG_MAX_BYTES + 1] = "";
	struct layered l;
	bool ok;

	memset(value, 'a', n - 1);
	snprintf(yaml, sizeof(yaml), "trace: {%s/%s]}%s", keys, value,
		 strchr(keys, '{') ? "]}" : "");
	layered_two(&l, yaml, NULL);
	ok = layered_normalise(&l);
	CHECK(ok || l.r.diags.errors == 1);
	layered_done(&l);
	return ok;
}

/* Where the kernel compares, it keeps so many bytes. */
static void check_long(void)
{
	const char *kernel =
		"engine: tracee, events: [{event: security_file_open, filters: [data.pathname=";
	const char *own =
		"events: [{event: security_file_open, filters: [data.pathname=";

	CHECK(takes_long("exclude: [", 253) && !takes_long("exclude: [", 254));
	CHECK(takes_long(kernel, 255) && !takes_long(kernel, 256));
	CHECK(takes_long(own, 255) && takes_long(own, 256));
}

/* Whether files that are only read are recorded with these events. */
static bool reads(const char *keys)
{
	struct layered l;
	char yaml[128];
	bool on;

	snprintf(yaml, sizeof(yaml), "trace: {%s}", keys);
	layered_two(&l, yaml, NULL);
	CHECK(layered_normalise(&l) && l.p.trace.reads.set);
	on = l.p.trace.reads.v;
	layered_done(&l);
	return on;
}

static void check_reads(void)
{
	CHECK(!reads("required: false"));
	CHECK(!reads("events: [default]") && !reads("events: [asked]"));
	CHECK(!reads("events: [default, asked]"));
	CHECK(reads("events: [full]") && reads("events: [default, execve]"));
	CHECK(reads("events: [security_file_open, default]"));
	CHECK(!reads("events: [full], reads: false"));
	CHECK(reads("reads: true"));
}

/* So many events, those that are there twice counted. */
static void check_many(void)
{
	struct diag_view v = {0};
	struct layered l;
	struct buf b;

	layered_init(&l);
	buf_init(&b, l.r.a);
	buf_adds(&b, "trace: {events: [");
	for (unsigned i = 0; i < LIMIT_TRACE_EVENTS; i++)
		buf_adds(&b, i ? ",security_socket_*" : "security_socket_*");
	buf_adds(&b, "]}");
	layered_add(&l, LAYER_GLOBAL, "config.yaml", b.p);
	CHECK(layered_normalise(&l) && l.p.trace.events.n == 4);
	layered_add(&l, LAYER_WORKSPACE, ".membrane.yaml",
		    "trace: {events: [execve]}");
	CHECK(!layered_normalise(&l) && l.r.diags.errors == 1);
	CHECK(diags_get(&l.r.diags, 0, &v) &&
	      str_is(v.text, "more than 4096 events, repeated ones counted"));
	layered_done(&l);
}

/* A preset comes before the file that extends it, whose text was read first:
 * of two entries for an event the one that stands further on is complained
 * of. */
static void check_places(void)
{
	struct diag_view v = {0};
	struct layered l;
	struct doc first;

	layered_two(&l,
		    "trace: {events: [{event: openat, filters: [comm=a]}], engine: tracee}",
		    "trace: {events: [{event: openat, filters: [comm=b]}]}");
	first = l.docs.v[0];
	l.docs.v[0] = l.docs.v[1];
	l.docs.v[1] = first;
	CHECK(!layered_normalise(&l) && l.r.diags.errors == 1);
	CHECK(diags_get(&l.r.diags, 0, &v) && v.id == DIAG_TRACE_TWICE &&
	      sources_of(&l.r.sources, v.at) == &l.r.sources.list.v[1]);
	layered_done(&l);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		check_trace(list[i].text, list[i].want);
	check_long();
	check_many();
	check_reads();
	check_places();
	return check_status();
}
