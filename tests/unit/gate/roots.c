/* What servers are verified by, and what an agent trusts, to the byte: in a
 * root of this test's own. */
#include "runtime/gate/l7/roots.h"
#include "tests/check.h"
#include "tests/unit/gate/rooms.h"
#include "tests/unit/gate/secrets.h"

#include <errno.h>
#include <stdlib.h>

#define ROOT  "/run/root"
#define OWN   ROOTS_DIR "/" ROOTS_FILE
#define SHARE "/share"

static struct err err;
static struct ca ca;
static char pem[CA_CERT_MAX];
static int outside; /* the root that there was */

static bool put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd >= 0 &&
		  write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* That and no more, for anybody. */
static bool has_file(const char *path, const char *first, const char *second)
{
	char got[CA_CERT_MAX + 100] = "", want[sizeof(got)];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, got, sizeof(got) - 1);
	struct stat st;
	bool ok;

	snprintf(want, sizeof(want), "%s%s", first, second);
	ok = n >= 0 && strcmp(got, want) == 0 && fstat(fd, &st) == 0 &&
	     (st.st_mode & 0777) == 0644;
	close(fd);
	return ok;
}

static bool enter_root(void)
{
	static const char *const folders[] = {
		ROOT,	     ROOT "/etc",   ROOT "/etc/ssl", ROOT ROOTS_DIR,
		ROOT "/run", ROOT GATE_DIR, ROOT SHARE};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (mkdir(folders[i], 0755) < 0)
			return false;
	outside = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return outside >= 0 && chroot(ROOT) == 0 && chdir("/") == 0;
}

static void written(void)
{
	umask(077);
	CHECK(!roots_added());
	CHECK(roots_write(false, &err) == -ENOENT && strstr(err.text, OWN));
	CHECK(put_file(OWN, "roots\n"));
	/* the first descriptor is one like any other */
	close(0);
	CHECK(roots_write(false, &err) == 0);
	CHECK(dup(1) == 0);
	CHECK(has_file(GATE_ROOTS, "roots\n", ""));
	CHECK(roots_write(true, &err) == -ENOENT &&
	      strstr(err.text, GATE_UPSTREAM_CA));
	CHECK(put_file(GATE_UPSTREAM_CA, "another\n") && roots_added());
	CHECK(roots_write(true, &err) == 0 &&
	      has_file(GATE_ROOTS, "roots\n", "another\n"));
	CHECK(roots_write(false, &err) == 0 &&
	      has_file(GATE_ROOTS, "roots\n", ""));
	CHECK(unlink(OWN) == 0 && roots_write(true, &err) == -ENOENT);
}

static void shared(void)
{
	size_t before = 0;

	/* not without the others */
	CHECK(roots_share(SHARE, &ca, &err) == -ENOENT &&
	      has_file(SHARE "/ca.pem", pem, "") &&
	      has_file(SHARE "/bundle.pem", "", ""));
	CHECK(put_file(OWN, "roots\n"));
	for (unsigned i = 0; i < 20; i++) {
		CHECK(roots_share(SHARE, &ca, &err) == 0);
		before = i == 9 ? memory_held() : before;
	}
	CHECK(memory_held() == before);
	CHECK(has_file(SHARE "/ca.pem", pem, "") &&
	      has_file(SHARE "/bundle.pem", "roots\n", pem));
	/* a link is not followed */
	CHECK(unlink(SHARE "/ca.pem") == 0 &&
	      symlink("/other", SHARE "/ca.pem") == 0 &&
	      roots_share(SHARE, &ca, &err) == -ELOOP &&
	      access("/other", F_OK) < 0);
}

int main(void)
{
	if (!enter_room() || !enter_root())
		return NOT_HERE;
	CHECK(ca_new(&ca, &err) == 0 && ca_pem(&ca, pem, &err) == 0);
	written();
	shared();
	ca_done(&ca);
	/* a sanitizer looks at /proc last */
	CHECK(fchdir(outside) == 0 && chroot(".") == 0);
	return check_status();
}
