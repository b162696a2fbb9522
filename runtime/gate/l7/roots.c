#include "runtime/gate/l7/roots.h"

#include "compiler/plan/gate.h"
#include "runtime/gate/plan/planfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool roots_added(void)
{
	return access(GATE_UPSTREAM_CA, F_OK) == 0;
}

static int append_file(int to, const char *dir, const char *name,
		       struct err *err)
{
	struct str text;
	int rc = planfile_read(dir, name, &text, err);

	if (rc < 0)
		return rc;
	if (write(to, text.p, text.n) != (ssize_t)text.n)
		rc = err_set(err, -ENOSPC, "%s: no room for it", name);
	planfile_free(text);
	return rc;
}

int roots_write(bool added, struct err *err)
{
	auto_fd int fd = open(GATE_ROOTS,
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int rc;

	if (fd < 0 || fchmod(fd, 0644) < 0)
		return err_set(err, -errno, GATE_ROOTS ": %s", strerror(errno));
	rc = append_file(fd, ROOTS_DIR, ROOTS_FILE, err);
	if (rc == 0 && added)
		rc = append_file(fd, "/", GATE_UPSTREAM_CA + 1, err);
	return rc;
}

/* Anybody may read it; bundle: the roots before the CA. */
static int share_file(const char *dir, const char *name, bool bundle,
		      const char *ca, struct err *err)
{
	auto_fd int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int fd = -1;
	int rc = 0;

	if (at < 0)
		return err_errno(err, dir);
	fd = openat(at, name,
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0 || fchmod(fd, 0644) < 0)
		return err_set(err, -errno, "%s/%s: %s", dir, name,
			       strerror(errno));
	if (bundle)
		rc = append_file(fd, ROOTS_DIR, ROOTS_FILE, err);
	if (rc == 0 && write(fd, ca, strlen(ca)) != (ssize_t)strlen(ca))
		rc = err_set(err, -ENOSPC, "%s/%s: no room", dir, name);
	return rc;
}

int roots_share(const char *dir, const struct ca *ca, struct err *err)
{
	char pem[CA_CERT_MAX];
	int rc;

	if (!ca->cert)
		return err_set(
			err, -EINVAL,
			"%s: the plan decrypts nothing, so there is no CA to share",
			dir);
	if ((rc = ca_pem(ca, pem, err)) < 0 ||
	    (rc = share_file(dir, "ca.pem", false, pem, err)) < 0)
		return rc;
	return share_file(dir, "bundle.pem", true, pem, err);
}
