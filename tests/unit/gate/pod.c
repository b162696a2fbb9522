/* What a gate in a Pod takes along with its interface, the tables by which
 * ports lead inside, and what it is told without a launcher. */
#include "runtime/gate/l7/hello.h"
#include "runtime/gate/l7/roots.h"
#include "runtime/gate/packet/podports.h"
#include "runtime/gate/wire/link_copy.h"
#include "tests/check.h"
#include "tests/unit/gate/secrets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err err;
static uint64_t room[128];
static struct link_copy copy;
static const uint8_t addr[16] = {10, 244, 0, 7, [15] = 9};
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};

/* --- messages of the kernel's --------------------------------------------- */

static void add_address(unsigned index, uint8_t family, uint32_t flags)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));

	h->nlmsg_type = RTM_NEWADDR;
	ifa->ifa_family = family;
	ifa->ifa_index = index;
	ifa->ifa_prefixlen = 24;
	ifa->ifa_flags = IFA_F_PERMANENT;
	mnl_attr_put(h, IFA_ADDRESS, family == AF_INET ? 4 : 16, addr);
	mnl_attr_put_strz(h, IFA_LABEL, "eth0");
	mnl_attr_put_u32(h, IFA_FLAGS, flags);
	link_copy_add(&copy, h);
}

struct route {
	unsigned index;
	uint8_t table, type, protocol, bits;
	uint32_t flags;
	bool gateway;
};

static void add_route(struct route r)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct rtmsg *rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));

	h->nlmsg_type = RTM_NEWROUTE;
	rt->rtm_family = AF_INET;
	rt->rtm_table = r.table ? r.table : RT_TABLE_MAIN;
	rt->rtm_type = r.type ? r.type : RTN_UNICAST;
	rt->rtm_protocol = r.protocol ? r.protocol : RTPROT_BOOT;
	rt->rtm_dst_len = r.bits;
	rt->rtm_flags = r.flags;
	mnl_attr_put_u32(h, RTA_TABLE, rt->rtm_table);
	if (r.gateway)
		mnl_attr_put(h, RTA_GATEWAY, 4, addr);
	else
		mnl_attr_put(h, RTA_DST, 4, addr);
	mnl_attr_put_u32(h, RTA_OIF, r.index);
	link_copy_add(&copy, h);
}

static void add_neighbour(int index, uint8_t family, uint16_t state)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ndmsg *nd = mnl_nlmsg_put_extra_header(h, sizeof(*nd));

	h->nlmsg_type = RTM_NEWNEIGH;
	nd->ndm_family = family;
	nd->ndm_ifindex = index;
	nd->ndm_state = state;
	mnl_attr_put(h, NDA_DST, 4, addr);
	mnl_attr_put(h, NDA_LLADDR, 6, mac);
	mnl_attr_put_u32(h, NDA_PROBES, 1);
	link_copy_add(&copy, h);
}

static unsigned count(enum link_copy_kind kind)
{
	const struct nlmsghdr *h = NULL;
	unsigned n = 0;

	while ((h = link_copy_next(&copy, kind, h)))
		n++;
	return n;
}

static const struct nlattr *attr_of(const struct nlmsghdr *h, size_t head,
				    unsigned type)
{
	const char *at = (const char *)h + NLMSG_LENGTH(head);

	while (at < (const char *)h + h->nlmsg_len) {
		const struct nlattr *a = (const void *)at;

		if (mnl_attr_get_type(a) == type)
			return a;
		at += MNL_ALIGN(a->nla_len);
	}
	return NULL;
}

/* --- what is kept --------------------------------------------------------- */

static void addresses(void)
{
	const struct addr has = {.family = ADDR_V4, .b = {10, 244, 0, 7}},
			  has_not = {.family = ADDR_V4, .b = {10, 244, 0, 8}};
	const struct nlmsghdr *h;
	struct nlmsghdr *out = (void *)room;

	copy = (struct link_copy){.index = 3};
	add_address(4, AF_INET, 0);
	add_address(3, AF_PACKET, 0);
	add_address(3, AF_INET6, IFA_F_TEMPORARY);
	add_address(3, AF_INET6, IFA_F_DADFAILED);
	CHECK(copy.n == 0);
	add_address(3, AF_INET, IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE);
	add_address(3, AF_INET6, IFA_F_PERMANENT);
	CHECK(count(LINK_COPY_ADDRESS) == 2 && !copy.full);
	CHECK(link_copy_has(&copy, &has) && !link_copy_has(&copy, &has_not));
	h = link_copy_next(&copy, LINK_COPY_ADDRESS, NULL);
	link_copy_write(h, 77, room);
	CHECK(out->nlmsg_type == RTM_NEWADDR && out->nlmsg_len == h->nlmsg_len);
	CHECK(((struct ifaddrmsg *)mnl_nlmsg_get_payload(out))->ifa_index ==
	      77);
	CHECK(mnl_attr_get_u32(attr_of(out, sizeof(struct ifaddrmsg),
				       IFA_FLAGS)) == IFA_F_NOPREFIXROUTE);
	CHECK(!attr_of(out, sizeof(struct ifaddrmsg), IFA_LABEL));
	h = link_copy_next(&copy, LINK_COPY_ADDRESS, h);
	CHECK(mnl_attr_get_u32(attr_of(h, sizeof(struct ifaddrmsg),
				       IFA_FLAGS)) == IFA_F_NODAD);
}

static void routes(void)
{
	struct nlmsghdr *out = (void *)room;
	const struct nlmsghdr *h;

	copy = (struct link_copy){.index = 3};
	add_route((struct route){.index = 4, .gateway = true});
	add_route((struct route){.index = 3, .table = RT_TABLE_LOCAL});
	add_route((struct route){.index = 3, .type = RTN_BROADCAST});
	add_route((struct route){.index = 3, .flags = RTM_F_CLONED});
	add_route((struct route){.index = 3, .protocol = RTPROT_KERNEL});
	add_route((struct route){.index = 3, .protocol = RTPROT_REDIRECT});
	CHECK(copy.n == 0 && !copy.has_default);
	add_route((struct route){.index = 3, .bits = 32});
	CHECK(!copy.has_default);
	add_route((struct route){.index = 3,
				 .gateway = true,
				 .flags = RTNH_F_ONLINK | RTNH_F_LINKDOWN});
	CHECK(copy.has_default);
	CHECK(count(LINK_COPY_DIRECT) == 1 && count(LINK_COPY_ROUTE) == 1);
	h = link_copy_next(&copy, LINK_COPY_ROUTE, NULL);
	link_copy_write(h, 77, room);
	CHECK(((struct rtmsg *)mnl_nlmsg_get_payload(out))->rtm_flags ==
	      RTNH_F_ONLINK);
	CHECK(mnl_attr_get_u32(attr_of(out, sizeof(struct rtmsg), RTA_OIF)) ==
	      77);
	CHECK(attr_of(out, sizeof(struct rtmsg), RTA_GATEWAY) &&
	      !attr_of(out, sizeof(struct rtmsg), RTA_TABLE));
}

static void neighbours(void)
{
	struct nlmsghdr *out = (void *)room;
	const struct nlmsghdr *h;

	copy = (struct link_copy){.index = 3};
	add_neighbour(4, AF_INET, NUD_PERMANENT);
	add_neighbour(3, AF_INET, NUD_REACHABLE);
	add_neighbour(3, AF_BRIDGE, NUD_PERMANENT);
	CHECK(copy.n == 0);
	add_neighbour(3, AF_INET, NUD_PERMANENT);
	h = link_copy_next(&copy, LINK_COPY_NEIGHBOUR, NULL);
	link_copy_write(h, 77, room);
	CHECK(((struct ndmsg *)mnl_nlmsg_get_payload(out))->ndm_ifindex == 77);
	CHECK(attr_of(out, sizeof(struct ndmsg), NDA_LLADDR) &&
	      !attr_of(out, sizeof(struct ndmsg), NDA_PROBES));
}

/* More than fits is said, and not written past the end. */
static void too_many(void)
{
	unsigned n = 0;

	copy = (struct link_copy){.index = 3};
	while (!copy.full && n < LINK_COPY_BYTES) {
		add_route((struct route){.index = 3, .bits = 32});
		n++;
	}
	CHECK(copy.full && n > 300 && copy.n <= sizeof(copy.room));
	CHECK(count(LINK_COPY_DIRECT) == n - 1);
}

/* A short message is nothing. */
static void short_ones(void)
{
	static const uint16_t types[] = {RTM_NEWADDR, RTM_NEWROUTE,
					 RTM_NEWNEIGH};

	copy = (struct link_copy){.index = 0};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct nlmsghdr *h = mnl_nlmsg_put_header(room);

		h->nlmsg_type = types[i];
		mnl_nlmsg_put_extra_header(h, 4);
		link_copy_add(&copy, h);
	}
	CHECK(copy.n == 0);
}

/* --- ports ---------------------------------------------------------------- */

static bool has(struct buf *b, const char *text)
{
	struct str s = buf_str(b);

	return memmem(s.p, s.n, text, strlen(text)) != NULL;
}

/* Behind the last there is none: where they end memory ends. */
static void last_in_memory(struct buf *b)
{
	static const uint16_t two[] = {80, 8080};
	const size_t page = 65536; /* at least one */
	char *p = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	uint16_t *last = (void *)(p + page - sizeof(two));

	CHECK(p != MAP_FAILED &&
	      mprotect(p, page, PROT_READ | PROT_WRITE) == 0);
	memcpy(last, two, sizeof(two));
	b->n = 0;
	podports_flows(last, 2, b);
	CHECK(has(b, " masquerade to :8081-65535\n"));
	CHECK(munmap(p, 2 * page) == 0);
}

static void ports(void)
{
	static const uint16_t two[] = {80, 8080};
	/* of two that are as wide the first */
	static const struct {
		uint16_t ports[3];
		uint32_t n;
		const char *rule;
	} ranges[] = {
		{{80}, 1, "\t\ttcp sport 80 masquerade to :1024-65535\n"},
		{{1023}, 1, " masquerade to :1024-65535\n"},
		{{1024}, 1, " masquerade to :1025-65535\n"},
		{{30000},
		 1,
		 "\t\ttcp sport 30000 masquerade to :30001-65535\n"},
		{{33279}, 1, " masquerade to :33280-65535\n"},
		{{33280}, 1, " masquerade to :1024-33279\n"},
		{{60000}, 1, " masquerade to :1024-59999\n"},
		{{65535}, 1, " masquerade to :1024-65534\n"},
		{{1024, 65535}, 2, " masquerade to :1025-65534\n"},
		{{20000, 50000}, 2, " masquerade to :20001-49999\n"},
		{{20000, 20001, 50000}, 3, " masquerade to :20002-49999\n"},
		{{23000, 44977}, 2, " masquerade to :1024-22999\n"},
		{{23000, 44978}, 2, " masquerade to :23001-44977\n"},
	};
	struct arena *a = arena_new();
	struct buf b;

	buf_init(&b, a);
	podports_frames(two, 2, &b);
	CHECK(str_is(
		buf_str(&b),
		"table netdev ports {\n"
		"	chain in {\n"
		"		type filter hook ingress device \"eth0\" priority filter; policy accept;\n"
		"		tcp dport { 80, 8080 } fwd to \"ports0\"\n"
		"		arp operation reply dup to \"ports0\"\n"
		"		icmp type destination-unreachable dup to \"ports0\"\n"
		"		icmpv6 type { packet-too-big, nd-neighbor-advert } dup to \"ports0\"\n"
		"	}\n"
		"\n"
		"	chain out {\n"
		"		type filter hook ingress device \"ports0\" priority filter; policy drop;\n"
		"		tcp sport { 80, 8080 } fwd to \"eth0\"\n"
		"		arp operation request fwd to \"eth0\"\n"
		"		icmpv6 type nd-neighbor-solicit fwd to \"eth0\"\n"
		"	}\n"
		"}\n"));
	buf_init(&b, a);
	podports_flows(two, 2, &b);
	CHECK(str_is(
		buf_str(&b),
		"table inet ports {\n"
		"	chain postrouting {\n"
		"		type nat hook postrouting priority srcnat - 10; policy accept;\n"
		"		oifname != \"eth0\" accept\n"
		"		tcp sport { 80, 8080 } masquerade to :8081-65535\n"
		"	}\n"
		"}\n"));
	buf_init(&b, a);
	podports_frames(two, 1, &b);
	CHECK(has(&b, "\t\ttcp dport 80 fwd to \"ports0\"\n"));
	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		buf_init(&b, a);
		podports_flows(ranges[i].ports, ranges[i].n, &b);
		CHECK_MSG(has(&b, ranges[i].rule), "%zu: %.*s", i,
			  STR_ARG(buf_str(&b)));
	}
	last_in_memory(&b);
	arena_free(a);
}

/* --- what the Pod says ---------------------------------------------------- */

static char top[] = "/tmp/membrane-pod-XXXXXX";
static struct hello_credentials creds;
static struct names_hosts hosts;

static int hear(const char *session, const char *nodes, const char *secrets)
{
	hosts = (struct names_hosts){0};
	hello_forget(&creds);
	unsetenv(HELLO_POD_SESSION);
	unsetenv(HELLO_POD_HOSTS);
	if (session)
		setenv(HELLO_POD_SESSION, session, 1);
	if (nodes)
		setenv(HELLO_POD_HOSTS, nodes, 1);
	return hello_pod(secrets, &hosts, &creds, &err);
}

static void put_secret(const char *name, const char *value, size_t n)
{
	int at = open(top, O_PATH | O_DIRECTORY);
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(write(fd, value, n) == (ssize_t)n && close(fd) == 0 &&
	      close(at) == 0);
}

static void take_secret(const char *name)
{
	int at = open(top, O_PATH | O_DIRECTORY);

	CHECK(unlinkat(at, name, 0) == 0 && close(at) == 0);
}

static void nodes(void)
{
	CHECK(hear("a", "10.0.0.1", NULL) == 0 && hosts.n == 1);
	CHECK(hear("a", "10.0.0.1,fd00::1", NULL) == 0 && hosts.n == 2);
	CHECK(hear("a", NULL, NULL) == -EPROTO &&
	      strstr(err.text, HELLO_POD_HOSTS ": no addresses of the node"));
	CHECK(hear("a", "", NULL) == -EPROTO &&
	      strstr(err.text, HELLO_POD_HOSTS ": no addresses of the node"));
	CHECK(hear("a", "10.0.0.1,", NULL) == -EPROTO);
	CHECK(hear("a", "10.0.0.1 ", NULL) == -EPROTO);
	CHECK(hear("a", "node", NULL) == -EPROTO);
	CHECK(hear(NULL, "10.0.0.1", NULL) == -EPROTO);
	CHECK(hear("", "10.0.0.1", NULL) == -EPROTO);
	CHECK(hear("a b", "10.0.0.1", NULL) == -EPROTO);
	CHECK(hear("0bz-a9", "10.0.0.1", NULL) == 0 &&
	      strcmp(hello_pod_session(), "0bz-a9") == 0);
	for (const char *c = "/:`{"; *c; c++)
		CHECK(hear((char[]){*c, '\0'}, "10.0.0.1", NULL) == -EPROTO);
	for (unsigned more = 0; more < 2; more++) {
		char name[80];

		snprintf(name, sizeof(name), "%0*u", 64 + (int)more, 1u);
		CHECK(hear(name, "10.0.0.1", NULL) == (more ? -EPROTO : 0));
	}
}

static unsigned pieces_left; /* of memory; the last one is not there */

static unsigned pieces_held;

static void *some_memory(size_t n)
{
	bool none = pieces_left && --pieces_left == 0;

	pieces_held += !none;
	return none ? NULL : malloc(n);
}

static void give_memory(void *p)
{
	pieces_held -= p != NULL;
	free(p);
}

/* Of a line that is not whole nothing is heard. */
static void without_memory(void)
{
	cJSON_Hooks hooks = {some_memory, give_memory};
	unsigned n = 1;
	int rc;

	cJSON_InitHooks(&hooks);
	for (;; n++) {
		pieces_left = n;
		rc = hear("a", "10.0.0.1", top);
		CHECK_MSG(pieces_held == 0, "piece %u: %u are held", n,
			  pieces_held);
		if (pieces_left)
			break;
		CHECK_MSG(rc < 0 && (strstr(err.text, "out of memory") ||
				     strstr(err.text, "not one JSON object")),
			  "piece %u: %d %s", n, rc, err.text);
	}
	CHECK(rc == 0 && n > 15);
	cJSON_InitHooks(NULL);
}

/* Which of the two is read first. */
static const char *first_of(const char *a, const char *b)
{
	DIR *dir = opendir(top);
	const char *first = NULL;
	struct dirent *e;

	while (!first && (e = readdir(dir)))
		first = strcmp(e->d_name, a) == 0   ? a
			: strcmp(e->d_name, b) == 0 ? b
						    : NULL;
	closedir(dir);
	return first;
}

/* What cannot be read is said, and nothing is read behind it. */
static void unreadable(void)
{
	char path[64], want[128];

	for (const char *name = "5\0006\0"; *name; name += 2) {
		snprintf(path, sizeof(path), "%s/%s", top, name);
		CHECK(mkdir(path, 0700) == 0);
	}
	CHECK(hear("a", "10.0.0.1", top) == -EFBIG);
	snprintf(want, sizeof(want), "%s/%s:", top, first_of("5", "6"));
	CHECK_MSG(strstr(err.text, want), "%s", err.text);
	for (const char *name = "5\0006\0"; *name; name += 2) {
		snprintf(path, sizeof(path), "%s/%s", top, name);
		CHECK(rmdir(path) == 0);
	}
	snprintf(path, sizeof(path), "%s/..data", top);
	CHECK(symlink("/etc", path) == 0);
	CHECK(hear("a", "10.0.0.1", top) == -EPROTO &&
	      strstr(err.text, "no link of the kubelet's"));
	CHECK(unlink(path) == 0);
}

/* More than one line holds. */
static void too_long(void)
{
	static char nodes[2 * HELLO_BYTES_MAX];
	size_t n = 0;

	while (n < HELLO_BYTES_MAX)
		n += (size_t)sprintf(nodes + n, "%s10.0.0.1", n ? "," : "");
	CHECK(hear("a", nodes, NULL) == -E2BIG &&
	      strstr(err.text, "too many secrets"));
	CHECK(hear("a", nodes, "/none") == -ENOENT);
}

static void secrets(void)
{
	CHECK(mkdtemp(top));
	CHECK(hear("a", "10.0.0.1", top) == 0 && creds.n == 0);
	CHECK(hear("a", "", top) == -EPROTO);
	put_secret("1", "s\"cret\n", 7);
	put_secret("12", "other", 5);
	put_secret("..hidden", "\n", 1);
	CHECK(hear("a", "10.0.0.1", top) == 0 && creds.n == 2);
	CHECK(hello_covers(&creds, STR("MEMBRANE_CREDENTIAL_12")));
	CHECK(strcmp(creds.v[0][20] == '1' && creds.v[0][21] == '='
			     ? creds.v[0]
			     : creds.v[1],
		     "MEMBRANE_CREDENTIAL_1=s\"cret") == 0);
	CHECK(strcmp(creds.v[0][21] == '2' ? creds.v[0] : creds.v[1],
		     "MEMBRANE_CREDENTIAL_12=other") == 0);
	put_secret("12", "hush\n\n", 6);
	CHECK(hear("a", "10.0.0.1", top) == -EPROTO &&
	      !strstr(err.text, "hush"));
	put_secret("12", "\n", 1);
	CHECK(hear("a", "10.0.0.1", top) == -EPROTO);
	take_secret("12");
	put_secret("token", "x", 1);
	CHECK(hear("a", "10.0.0.1", top) == -EPROTO);
	take_secret("token");
	without_memory();
	unreadable();
	too_long();
	take_secret("1");
	take_secret("..hidden");
	CHECK(rmdir(top) == 0);
	CHECK(hear("a", "10.0.0.1", top) == -ENOENT);
}

/* --- what the agent trusts -------------------------------------------------
 */

static struct str read_shared(const char *name, char *to, size_t max)
{
	int at = open(top, O_PATH | O_DIRECTORY);
	int fd = openat(at, name, O_RDONLY);
	ssize_t n = read(fd, to, max);
	struct stat st;

	CHECK(n > 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0644);
	CHECK(close(fd) == 0 && close(at) == 0);
	return (struct str){to, n > 0 ? (size_t)n : 0};
}

static void roots(void)
{
	static char own[CA_CERT_MAX], all[4u << 20];
	struct str ca_text, bundle;
	struct ca ca = {0};
	char file[64];
	size_t before = 0;

	strcpy(top + strlen(top) - 6, "XXXXXX");
	CHECK(mkdtemp(top));
	snprintf(file, sizeof(file), "%s/ca.pem", top);
	CHECK(roots_share(top, &ca, &err) == -EINVAL &&
	      strstr(err.text, "decrypts nothing"));
	/* one that has no text */
	ca.cert = X509_new();
	CHECK(roots_share(top, &ca, &err) == -EIO && access(file, F_OK) < 0);
	ca_done(&ca);
	CHECK(ca_new(&ca, &err) == 0);
	CHECK(roots_share("/nowhere/at/all", &ca, &err) == -ENOENT);
	if (access(ROOTS_DIR "/" ROOTS_FILE, R_OK) < 0) {
		printf("no roots on this machine: not tried\n");
		ca_done(&ca);
		CHECK(rmdir(top) == 0);
		return;
	}
	close(0);
	for (unsigned i = 0; i < 6; i++) {
		CHECK(roots_share(top, &ca, &err) == 0);
		before = i == 2 ? memory_held() : before;
	}
	CHECK(memory_held() == before);
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) == 0);
	ca_text = read_shared("ca.pem", own, sizeof(own));
	bundle = read_shared("bundle.pem", all, sizeof(all));
	CHECK(str_starts(ca_text, STR("-----BEGIN CERTIFICATE-----")));
	CHECK(bundle.n > ca_text.n &&
	      str_eq(str_slice(bundle, bundle.n - ca_text.n, bundle.n),
		     ca_text));
	ca_done(&ca);
	take_secret("ca.pem");
	take_secret("bundle.pem");
	CHECK(rmdir(top) == 0);
}

int main(void)
{
	addresses();
	routes();
	neighbours();
	too_many();
	short_ones();
	ports();
	nodes();
	secrets();
	roots();
	return check_status();
}
