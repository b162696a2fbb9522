#include "runtime/gate/generation.h"

#include "compiler/plan/files.h"
#include "runtime/gate/plan/planfile.h"

#include <errno.h>

/* Of the host's resolver: /etc/resolv.conf names no ports. */
#define GENERATION_DNS_PORT 53

static int load_names(const char *dir, struct names_map *out, struct err *err)
{
	struct str text;
	int rc = planfile_read(dir, PLAN_NAMES, &text, err);

	if (rc < 0)
		return rc;
	rc = names_parse(text, out, err);
	planfile_free(text);
	return rc < 0 ? err_while(err, PLAN_NAMES) : 0;
}

static int set_upstream(const struct addr *host, struct names_map *names,
			struct err *err)
{
	if (!names->upstream_host)
		return 0;
	if (!host)
		return err_set(
			err, -EPROTO,
			"the plan asks the host's resolver, and this session was started without");
	names->upstream_addr = *host;
	names->upstream_port = GENERATION_DNS_PORT;
	return 0;
}

static int load_provenance(const char *dir, struct provenance *out,
			   struct err *err)
{
	struct str text;
	int rc = planfile_read(dir, PLAN_PROVENANCE, &text, err);

	if (rc < 0)
		return rc;
	rc = provenance_parse(text, out, err);
	planfile_free(text);
	return rc < 0 ? err_while(err, PLAN_PROVENANCE) : 0;
}

int generation_load(const char *plan, bool filters, const struct addr *host,
		    struct generation *out, struct l7_plan *l7, struct err *err)
{
	int rc = filters ? planfile_read(plan, PLAN_RULESET, &out->ruleset, err)
			 : 0;

	if (rc == 0)
		rc = load_names(plan, &out->names, err);
	if (rc == 0)
		rc = set_upstream(host, &out->names, err);
	if (rc == 0)
		rc = load_provenance(plan, &out->provenance, err);
	if (rc == 0)
		rc = l7_load(l7, plan, err);
	if (rc < 0) {
		generation_free(out);
		return rc;
	}
	out->number = 1;
	return 0;
}

void generation_free(struct generation *g)
{
	planfile_free(g->ruleset);
	names_free(&g->names);
	provenance_free(&g->provenance);
	*g = (struct generation){0};
}
