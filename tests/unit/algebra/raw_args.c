/*
 * compare.h, of raw arguments and of what mounts lie on: which come as gained
 * or go as lost, and which only change something.
 */
#include "compiler/algebra/compare/parts.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
	/* Each option and value once; what adds goes as lost. */
	{"args: [--cap-add=CHOWN]\n",
	 "args: [--cap-add=CHOWN, --cap-add=KILL, --cap-add=KILL]\n",
	 "+ --cap-add=KILL | docker-arg --cap-add=KILL\n"
	 "\tnew '--cap-add=KILL': no-grant -> granted\n"
	 "= --cap-add=CHOWN | docker-arg --cap-add=CHOWN\n"
	 "\tnew '--cap-add=CHOWN': granted -> granted\n"},
	{"args: [--cap-add=CHOWN, --cap-add=CHOWN]\n", "",
	 "- --cap-add=CHOWN | docker-arg --cap-add=CHOWN\n"
	 "\told '--cap-add=CHOWN': granted -> no-grant\n"},
	{"args: [--env=A=1]\n", "args: [--env=A=2]\n",
	 "~ --env=A=2 | docker-arg --env=A=2\n"
	 "\tnew '--env=A=2': no-grant -> granted\n"
	 "~ --env=A=1 | docker-arg --env=A=1\n"
	 "\told '--env=A=1': granted -> no-grant\n"},
	{"args: [--privileged]\n", "args: [--privileged=false]\n",
	 "~ --privileged=false | docker-arg --privileged=false\n"
	 "\tnew '--privileged=false': no-grant -> granted\n"
	 "~ --privileged | docker-arg --privileged\n"
	 "\told '--privileged': granted -> no-grant\n"},
	/* Another of the same key is what docker takes: not less for it. */
	{"args: [--pid=host]\n", "args: [--pid=container:x]\n",
	 "~ --pid=container:x | docker-arg --pid=container:x\n"
	 "\tnew '--pid=container:x': no-grant -> granted\n"
	 "~ --pid=host | docker-arg --pid=host\n"
	 "\told '--pid=host': granted -> no-grant\n"},
	{"args: [--pid=host]\n", "",
	 "- --pid=host | docker-arg --pid=host\n"
	 "\told '--pid=host': granted -> no-grant\n"},
	{"args: [--security-opt, seccomp=unconfined]\n",
	 "args: [--security-opt, seccomp=/etc/a.json]\n",
	 "~ --security-opt=seccomp=/etc/a.json | docker-arg --security-opt=seccomp=/etc/a.json\n"
	 "\tnew '--security-opt': no-grant -> granted\n"
	 "~ --security-opt=seccomp=unconfined | docker-arg --security-opt=seccomp=unconfined\n"
	 "\told '--security-opt': granted -> no-grant\n"},
	{"args: [--security-opt, \"apparmor:unconfined\"]\n",
	 "args: [--security-opt, label=disable]\n",
	 "~ --security-opt=label=disable | docker-arg --security-opt=label=disable\n"
	 "\tnew '--security-opt': no-grant -> granted\n"
	 "- --security-opt=apparmor:unconfined | docker-arg --security-opt=apparmor:unconfined\n"
	 "\told '--security-opt': granted -> no-grant\n"},
	{"args: [--security-opt, \"seccomp:unconfined\"]\n",
	 "args: [--security-opt, \"seccomp:/etc/a.json\"]\n",
	 "~ --security-opt=seccomp:/etc/a.json | docker-arg --security-opt=seccomp:/etc/a.json\n"
	 "\tnew '--security-opt': no-grant -> granted\n"
	 "~ --security-opt=seccomp:unconfined | docker-arg --security-opt=seccomp:unconfined\n"
	 "\told '--security-opt': granted -> no-grant\n"},
	/* Both values in both: the last counts. */
	{"args: [--env=A=1, --env=A=2]\n", "args: [--env=A=2, --env=A=1]\n",
	 "~ the last of --env A=2 -> A=1\n"
	 "\tnew '--env=A=1'\n"
	 "= --env=A=2 | docker-arg --env=A=2\n"
	 "\tnew '--env=A=2': granted -> granted\n"
	 "= --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': granted -> granted\n"},
	{"args: [--env=A=1, --env=B=2]\n", "args: [--env=B=2, --env=A=1]\n",
	 "= --env=B=2 | docker-arg --env=B=2\n"
	 "\tnew '--env=B=2': granted -> granted\n"
	 "= --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': granted -> granted\n"},
	{"args: [--hostname=a, --hostname=b]\n", "args: [--hostname=b]\n",
	 "~ --hostname=a | docker-arg --hostname=a\n"
	 "\told '--hostname=a': granted -> no-grant\n"
	 "= --hostname=b | docker-arg --hostname=b\n"
	 "\tnew '--hostname=b': granted -> granted\n"},
	{"args: [--dns=1.1.1.1, --dns=2.2.2.2, --dns=3.3.3.3]\n",
	 "args: [--dns=2.2.2.2, --dns=1.1.1.1, --dns=4.4.4.4]\n",
	 "~ the order of --dns '1.1.1.1' '2.2.2.2' -> '2.2.2.2' '1.1.1.1'\n"
	 "\tnew '--dns=2.2.2.2'\n"
	 "~ --dns=4.4.4.4 | docker-arg --dns=4.4.4.4\n"
	 "\tnew '--dns=4.4.4.4': no-grant -> granted\n"
	 "~ --dns=3.3.3.3 | docker-arg --dns=3.3.3.3\n"
	 "\told '--dns=3.3.3.3': granted -> no-grant\n"
	 "= --dns=2.2.2.2 | docker-arg --dns=2.2.2.2\n"
	 "\tnew '--dns=2.2.2.2': granted -> granted\n"
	 "= --dns=1.1.1.1 | docker-arg --dns=1.1.1.1\n"
	 "\tnew '--dns=1.1.1.1': granted -> granted\n"},
	{"args: [--dns=1.1.1.1, --dns=2.2.2.2]\n",
	 "args: [--dns=1.1.1.1, --dns=3.3.3.3, --dns=2.2.2.2]\n",
	 "~ --dns=3.3.3.3 | docker-arg --dns=3.3.3.3\n"
	 "\tnew '--dns=3.3.3.3': no-grant -> granted\n"
	 "= --dns=1.1.1.1 | docker-arg --dns=1.1.1.1\n"
	 "\tnew '--dns=1.1.1.1': granted -> granted\n"
	 "= --dns=2.2.2.2 | docker-arg --dns=2.2.2.2\n"
	 "\tnew '--dns=2.2.2.2': granted -> granted\n"},
	{"args: [--add-host=a:1.1.1.1, --dns=1.1.1.1]\n",
	 "args: [--dns=1.1.1.1, --add-host=a:1.1.1.1]\n",
	 "= --dns=1.1.1.1 | docker-arg --dns=1.1.1.1\n"
	 "\tnew '--dns=1.1.1.1': granted -> granted\n"
	 "= --add-host=a:1.1.1.1 | docker-arg --add-host=a:1.1.1.1\n"
	 "\tnew '--add-host=a:1.1.1.1': granted -> granted\n"},
	{"args: [--device-read-bps=/dev/a:1, --device-read-bps=/dev/a:2]\n",
	 "args: [--device-read-bps=/dev/a:2, --device-read-bps=/dev/a:1]\n",
	 "~ the last of --device-read-bps /dev/a:2 -> /dev/a:1\n"
	 "\tnew '--device-read-bps=/dev/a:1'\n"
	 "= --device-read-bps=/dev/a:2 | docker-arg --device-read-bps=/dev/a:2\n"
	 "\tnew '--device-read-bps=/dev/a:2': granted -> granted\n"
	 "= --device-read-bps=/dev/a:1 | docker-arg --device-read-bps=/dev/a:1\n"
	 "\tnew '--device-read-bps=/dev/a:1': granted -> granted\n"},
	/* Mounts: on something of the image's, on the workspace, on what is
	   hidden there. */
	{"", "args: [-v, /srv/a:/data]\n",
	 "+ --volume=/srv/a:/data | docker-arg --volume=/srv/a:/data\n"
	 "\tnew '-v': no-grant -> granted\n"},
	{"args: [-v, /srv/a:/data]\n", "",
	 "~ --volume=/srv/a:/data | docker-arg --volume=/srv/a:/data\n"
	 "\told '-v': granted -> no-grant\n"},
	{"", "args: [-v, /srv/a:/workspace/a]\n",
	 "- read /a, which --volume=/srv/a:/workspace/a covers\n"
	 "\tnew '-v'\n"
	 "- write /a, which --volume=/srv/a:/workspace/a covers\n"
	 "\tnew '-v'\n"
	 "+ --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\tnew '-v': no-grant -> granted\n"},
	{"args: [-v, /srv/a:/workspace/a]\n", "",
	 "+ read /a, which --volume=/srv/a:/workspace/a covered\n"
	 "\told '-v'\n"
	 "+ write /a, which --volume=/srv/a:/workspace/a covered\n"
	 "\told '-v'\n"
	 "- --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\told '-v': granted -> no-grant\n"},
	{"ignore: [a]\n",
	 "ignore: [a]\n"
	 "args: [-v, /srv/a:/workspace/a]\n",
	 "+ --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\tnew '-v': no-grant -> granted\n"},
	{"readonly: [a]\n",
	 "readonly: [a]\n"
	 "args: [-v, /srv/a:/workspace/a]\n",
	 "- read /a, which --volume=/srv/a:/workspace/a covers\n"
	 "\tnew '-v'\n"
	 "+ --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\tnew '-v': no-grant -> granted\n"},
	{"ignore: [a]\n"
	 "args: [-v, /srv/a:/workspace/a]\n",
	 "ignore: [a]\n",
	 "- --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\told '-v': granted -> no-grant\n"},
	{"", "args: [--tmpfs, /workspace/a]\n",
	 "- read /a, which --tmpfs=/workspace/a covers\n"
	 "\tnew '--tmpfs'\n"
	 "- write /a, which --tmpfs=/workspace/a covers\n"
	 "\tnew '--tmpfs'\n"},
	{"args: [--tmpfs, \"/workspace/a:size=1m\"]\n", "",
	 "+ read /a, which --tmpfs=/workspace/a:size=1m covered\n"
	 "\told '--tmpfs'\n"
	 "+ write /a, which --tmpfs=/workspace/a:size=1m covered\n"
	 "\told '--tmpfs'\n"},
	{"", "args: [--tmpfs, /data]\n",
	 "~ --tmpfs=/data | docker-arg --tmpfs=/data\n"
	 "\tnew '--tmpfs': no-grant -> granted\n"},
	{"args: [--tmpfs, /data]\n", "",
	 "~ --tmpfs=/data | docker-arg --tmpfs=/data\n"
	 "\told '--tmpfs': granted -> no-grant\n"},
	{"ignore: [a]\n",
	 "ignore: [a]\n"
	 "args: [--tmpfs, /workspace/a]\n",
	 "~ --tmpfs=/workspace/a | docker-arg --tmpfs=/workspace/a\n"
	 "\tnew '--tmpfs': no-grant -> granted\n"},
	/* One on another, which hides it already. */
	{"args: [-v, /srv/a:/workspace/a]\n",
	 "args: [-v, /srv/a:/workspace/a, -v, /srv/b:/workspace/a/b]\n",
	 "+ --volume=/srv/b:/workspace/a/b | docker-arg --volume=/srv/b:/workspace/a/b\n"
	 "\tnew '-v': no-grant -> granted\n"
	 "= --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\tnew '-v': granted -> granted\n"},
	{"hardening: {tmpfs: [/workspace/a]}\n",
	 "hardening: {tmpfs: [/workspace/a]}\n"
	 "args: [-v, /srv/b:/workspace/a/b]\n",
	 "+ --volume=/srv/b:/workspace/a/b | docker-arg --volume=/srv/b:/workspace/a/b\n"
	 "\tnew '-v': no-grant -> granted\n"},
	{"args: [-v, /srv/a:/workspace/a]\n",
	 "args: [-v, /srv/a:/workspace/a, -v, /srv/b:/workspace/ab]\n",
	 "- read /ab, which --volume=/srv/b:/workspace/ab covers\n"
	 "\tnew '-v'\n"
	 "- write /ab, which --volume=/srv/b:/workspace/ab covers\n"
	 "\tnew '-v'\n"
	 "+ --volume=/srv/b:/workspace/ab | docker-arg --volume=/srv/b:/workspace/ab\n"
	 "\tnew '-v': no-grant -> granted\n"
	 "= --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\tnew '-v': granted -> granted\n"},
	{"", "args: [-v, /workspace/cache]\n",
	 "- read /cache, which --volume=/workspace/cache covers\n"
	 "\tnew '-v'\n"
	 "- write /cache, which --volume=/workspace/cache covers\n"
	 "\tnew '-v'\n"},
	{"", "args: [-v, \"/srv/a:$PLACE\"]\n",
	 "+ --volume=/srv/a:$PLACE | docker-arg --volume=/srv/a:$PLACE\n"
	 "\tnew '-v': no-grant -> granted\n"},
	{"args: [-v, \"/srv/a:$PLACE\"]\n", "",
	 "~ --volume=/srv/a:$PLACE | docker-arg --volume=/srv/a:$PLACE\n"
	 "\told '-v': granted -> no-grant\n"},
	{"", "args: [\"--mount=type=bind,src=/srv/a,dst=/workspace/a\"]\n",
	 "- read /a, which --mount=type=bind,src=/srv/a,dst=/workspace/a covers\n"
	 "\tnew '\"--mount=type=bind,src=/srv/a,dst=/workspace/a\"'\n"
	 "- write /a, which --mount=type=bind,src=/srv/a,dst=/workspace/a covers\n"
	 "\tnew '\"--mount=type=bind,src=/srv/a,dst=/workspace/a\"'\n"
	 "+ --mount=type=bind,src=/srv/a,dst=/workspace/a | docker-arg --mount=type=bind,src=/srv/a,dst=/workspace/a\n"
	 "\tnew '\"--mount=type=bind,src=/srv/a,dst=/workspace/a\"': no-grant -> granted\n"},
	{"", "args: [\"--mount=type=tmpfs,dst=/workspace/a\"]\n",
	 "- read /a, which --mount=type=tmpfs,dst=/workspace/a covers\n"
	 "\tnew '\"--mount=type=tmpfs,dst=/workspace/a\"'\n"
	 "- write /a, which --mount=type=tmpfs,dst=/workspace/a covers\n"
	 "\tnew '\"--mount=type=tmpfs,dst=/workspace/a\"'\n"},
	{"args: [--cap-add=CHOWN, --env=A=1]\n",
	 "args: [--env=A=1, --cap-add=CHOWN]\n",
	 "= --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': granted -> granted\n"
	 "= --cap-add=CHOWN | docker-arg --cap-add=CHOWN\n"
	 "\tnew '--cap-add=CHOWN': granted -> granted\n"},
	/* A folder of memory lies on a folder alone, a file of the machine on
	   either. */
	{"ignore: [a/]\n",
	 "ignore: [a/]\n"
	 "args: [--tmpfs, /workspace/a]\n",
	 "~ --tmpfs=/workspace/a | docker-arg --tmpfs=/workspace/a\n"
	 "\tnew '--tmpfs': no-grant -> granted\n"},
	{"ignore: [a/]\n",
	 "ignore: [a/]\n"
	 "args: [-v, /srv/a:/workspace/a]\n",
	 "- read /a, which --volume=/srv/a:/workspace/a covers\n"
	 "\tnew '-v'\n"
	 "- write /a, which --volume=/srv/a:/workspace/a covers\n"
	 "\tnew '-v'\n"
	 "+ --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\tnew '-v': no-grant -> granted\n"},
	{"readonly: [a]\n"
	 "args: [--tmpfs, /workspace/a]\n",
	 "readonly: [a]\n",
	 "+ read /a, which --tmpfs=/workspace/a covered\n"
	 "\told '--tmpfs'\n"},
	{"args: [--env=A=1, --env=A=2]\n", "args: [--env=A=1]\n",
	 "~ --env=A=2 | docker-arg --env=A=2\n"
	 "\told '--env=A=2': granted -> no-grant\n"
	 "= --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': granted -> granted\n"},
	{"args: [--env=A=2]\n", "args: [--env=A=2, --env=A=1]\n",
	 "~ --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': no-grant -> granted\n"
	 "= --env=A=2 | docker-arg --env=A=2\n"
	 "\tnew '--env=A=2': granted -> granted\n"},
	/* The same value of another option is another one. */
	{"args: [--hostname=a]\n", "args: [--domainname=a]\n",
	 "~ --domainname=a | docker-arg --domainname=a\n"
	 "\tnew '--domainname=a': no-grant -> granted\n"
	 "~ --hostname=a | docker-arg --hostname=a\n"
	 "\told '--hostname=a': granted -> no-grant\n"},
	{"args: [--cap-add=CHOWN]\n", "args: [--cap-drop=CHOWN]\n",
	 "~ --cap-drop=CHOWN | docker-arg --cap-drop=CHOWN\n"
	 "\tnew '--cap-drop=CHOWN': no-grant -> granted\n"
	 "- --cap-add=CHOWN | docker-arg --cap-add=CHOWN\n"
	 "\told '--cap-add=CHOWN': granted -> no-grant\n"},
	{"args: [--env=A=1, --dns=1.1.1.1, --dns=2.2.2.2]\n",
	 "args: [--env=A=1, --dns=2.2.2.2, --dns=1.1.1.1]\n",
	 "~ the order of --dns '1.1.1.1' '2.2.2.2' -> '2.2.2.2' '1.1.1.1'\n"
	 "\tnew '--dns=2.2.2.2'\n"
	 "= --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': granted -> granted\n"
	 "= --dns=2.2.2.2 | docker-arg --dns=2.2.2.2\n"
	 "\tnew '--dns=2.2.2.2': granted -> granted\n"
	 "= --dns=1.1.1.1 | docker-arg --dns=1.1.1.1\n"
	 "\tnew '--dns=1.1.1.1': granted -> granted\n"},
	/* No rival of another name; a hold that is lifted is one of its key. */
	{"args: [--pid=host]\n", "args: [--hostname=a]\n",
	 "~ --hostname=a | docker-arg --hostname=a\n"
	 "\tnew '--hostname=a': no-grant -> granted\n"
	 "- --pid=host | docker-arg --pid=host\n"
	 "\told '--pid=host': granted -> no-grant\n"},
	{"args: [--security-opt, seccomp=unconfined]\n", "",
	 "- --security-opt=seccomp=unconfined | docker-arg --security-opt=seccomp=unconfined\n"
	 "\told '--security-opt': granted -> no-grant\n"},
	/* No rivals: values of a set, and those that only '=' cuts. */
	{"args: [--cap-add=CHOWN]\n", "args: [--cap-add=KILL]\n",
	 "+ --cap-add=KILL | docker-arg --cap-add=KILL\n"
	 "\tnew '--cap-add=KILL': no-grant -> granted\n"
	 "- --cap-add=CHOWN | docker-arg --cap-add=CHOWN\n"
	 "\told '--cap-add=CHOWN': granted -> no-grant\n"},
	{"args: [\"--env=A:1\", \"--env=A:2\"]\n",
	 "args: [\"--env=A:2\", \"--env=A:1\"]\n",
	 "= --env=A:2 | docker-arg --env=A:2\n"
	 "\tnew '\"--env=A:2\"': granted -> granted\n"
	 "= --env=A:1 | docker-arg --env=A:1\n"
	 "\tnew '\"--env=A:1\"': granted -> granted\n"},
	/* The last of its own option alone, and no other than the last. */
	{"args: [--env=A=1, --env=A=2]\n", "args: [--env=A=1, --env=A=2]\n",
	 "= --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': granted -> granted\n"
	 "= --env=A=2 | docker-arg --env=A=2\n"
	 "\tnew '--env=A=2': granted -> granted\n"},
	{"args: [--hostname=a, --hostname=b, --domainname=x]\n",
	 "args: [--hostname=b, --hostname=a, --domainname=x]\n",
	 "~ the last of --hostname b -> a\n"
	 "\tnew '--hostname=a'\n"
	 "= --hostname=b | docker-arg --hostname=b\n"
	 "\tnew '--hostname=b': granted -> granted\n"
	 "= --hostname=a | docker-arg --hostname=a\n"
	 "\tnew '--hostname=a': granted -> granted\n"
	 "= --domainname=x | docker-arg --domainname=x\n"
	 "\tnew '--domainname=x': granted -> granted\n"},
	/* Of a set there is no last one, whatever is before it. */
	{"args: [--hostname=a, --cap-add=CHOWN, --cap-add=KILL]\n",
	 "args: [--hostname=a, --cap-add=KILL, --cap-add=CHOWN]\n",
	 "= --hostname=a | docker-arg --hostname=a\n"
	 "\tnew '--hostname=a': granted -> granted\n"
	 "= --cap-add=KILL | docker-arg --cap-add=KILL\n"
	 "\tnew '--cap-add=KILL': granted -> granted\n"
	 "= --cap-add=CHOWN | docker-arg --cap-add=CHOWN\n"
	 "\tnew '--cap-add=CHOWN': granted -> granted\n"},
	/* What mounts nothing, or elsewhere, hides nothing. */
	{"args: [-v, /srv/a:/workspace/a]\n", "args: [--env=A=1]\n",
	 "~ --env=A=1 | docker-arg --env=A=1\n"
	 "\tnew '--env=A=1': no-grant -> granted\n"
	 "+ read /a, which --volume=/srv/a:/workspace/a covered\n"
	 "\told '-v'\n"
	 "+ write /a, which --volume=/srv/a:/workspace/a covered\n"
	 "\told '-v'\n"
	 "- --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\told '-v': granted -> no-grant\n"},
	{"args: [-v, /srv/a:/workspace/a]\n", "args: [-v, /srv/b:/data]\n",
	 "+ --volume=/srv/b:/data | docker-arg --volume=/srv/b:/data\n"
	 "\tnew '-v': no-grant -> granted\n"
	 "+ read /a, which --volume=/srv/a:/workspace/a covered\n"
	 "\told '-v'\n"
	 "+ write /a, which --volume=/srv/a:/workspace/a covered\n"
	 "\told '-v'\n"
	 "- --volume=/srv/a:/workspace/a | docker-arg --volume=/srv/a:/workspace/a\n"
	 "\told '-v': granted -> no-grant\n"},
	{"hardening: {tmpfs: [/workspace/a]}\n"
	 "args: [-v, /srv/b:/workspace/a/b]\n",
	 "hardening: {tmpfs: [/data]}\n",
	 "+ read /a/b, which --volume=/srv/b:/workspace/a/b covered\n"
	 "\told '-v'\n"
	 "+ write /a/b, which --volume=/srv/b:/workspace/a/b covered\n"
	 "\told '-v'\n"
	 "- --volume=/srv/b:/workspace/a/b | docker-arg --volume=/srv/b:/workspace/a/b\n"
	 "\told '-v': granted -> no-grant\n"},
};

/* What is kept is said where that was asked for. */
static const struct compared_case plain[] = {
	{"args: [--cap-add=CHOWN]\n", "args: [--cap-add=CHOWN]\n", ""},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read_yaml, true,
		       raw_args_compare);
	compared_check(plain, ARRAY_LEN(plain), compared_read_yaml, false,
		       raw_args_compare);
	return check_status();
}
