#include "runtime/launch/view/seal.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

__asm__(".section .rodata\n"
	".balign 16\n"
	"membrane_seal: .incbin \"" SEAL_OBJECT "\"\n"
	"membrane_seal_end:\n"
	".previous\n");
extern const char membrane_seal[], membrane_seal_end[];

struct str seal_bytes(void)
{
	return (struct str){membrane_seal,
			    (size_t)(membrane_seal_end - membrane_seal)};
}

int seal_write(const char *folder, struct err *err)
{
	auto_fd int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (dir < 0)
		return err_errno(err, folder);
	rc = fileio_write(dir, DOCKER_JSON_SEAL, seal_bytes(), 0755, err);
	/* the agent's user reads and runs it, whatever our umask is */
	if (rc == 0 && fchmodat(dir, DOCKER_JSON_SEAL, 0755, 0) < 0)
		rc = err_errno(err, DOCKER_JSON_SEAL);
	return rc;
}

char *const *seal_command(struct arena *a, char *const *command)
{
	size_t n = 0;
	char **out;

	while (command[n])
		n++;
	out = arena_array(a, n + 2, sizeof(*out));
	out[0] = arena_cstr(a, STR(DOCKER_JSON_SEAL_AT));
	memcpy(out + 1, command, (n + 1) * sizeof(*out));
	return out;
}
