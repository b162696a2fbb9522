#include "compiler/cli/preflight/preflight.h"

#include "compiler/base/ascii.h"
#include "compiler/cli/preflight/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/status.h"

#include <errno.h>
#include <sys/random.h>

/* As a session's: 12 digits of what nobody guesses. */
static int choose_id(struct visit *v, struct err *err)
{
	uint8_t bytes[(PROBES_ID_MAX - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_errno(err, "getrandom");
	ascii_put_hex(bytes, sizeof(bytes), v->id);
	return 0;
}

static int try_all(struct visit *v, struct err *err)
{
	if (!asking_cluster(v))
		return 0;
	asking_rights(v);
	asking_admitted(v);
	return trying_pods(v, err);
}

int preflight_cluster(struct arena *a, const struct options *o,
		      const struct kubectl *at, const struct kube_options *with)
{
	struct visit v = {.a = a, .o = o, .at = *at, .with = with};
	struct err err;
	int rc = inputs_find(a, o, &v.in, &err), status = STATUS_IO;

	if (rc == 0)
		rc = choose_id(&v, &err);
	if (rc == 0)
		rc = try_all(&v, &err);
	findings_tell(&v, NULL);
	if (rc != -EINTR && v.of[CHECK_KUBECTL].detail)
		status = findings_print(&v);
	if (rc == 0)
		return status;
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return STATUS_IO;
}
