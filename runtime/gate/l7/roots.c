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
		rc = err_set(err, -ENOSPC, GATE_ROOTS ": no room");
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
