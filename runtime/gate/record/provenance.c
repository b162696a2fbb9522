#include "runtime/gate/record/provenance.h"

#include "compiler/base/json.h"
#include "compiler/base/portlist.h"
#include "compiler/plan/provenance_json.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
	const struct provenance_rule *x = a, *y = b;

	return str_cmp(str_of(x->id), str_of(y->id));
}

/*
 * "10.0.0.0/8 tcp/22" or "* udp/53 private"; of names, URLs and what has rules
 * of http the packet filter knows nothing.
 */
static void take_flows(const cJSON *text, struct provenance_rule *out)
{
	struct str rest = str_of(cJSON_IsString(text) ? text->valuestring : "");
	struct str dest, ports;

	if (!str_field(&rest, ' ', &dest) || !str_field(&rest, ' ', &ports) ||
	    str_starts(rest, STR("http")))
		return;
	out->ports = ports;
	out->is_any = str_is(dest, "*");
	out->is_net = !out->is_any && cidr_parse(dest, &out->net) == CIDR_OK;
}

static bool take_rule(const cJSON *item, struct provenance_rule *out)
{
	const cJSON *source =
		cJSON_GetObjectItemCaseSensitive(item, PROVENANCE_SOURCE);
	uint64_t line;

	if (!cJSON_IsString(source) ||
	    !json_get_u64(item, PROVENANCE_LINE, INT32_MAX, &line))
		return false;
	out->id = item->string;
	out->source = source->valuestring;
	out->line = (uint32_t)line;
	take_flows(cJSON_GetObjectItemCaseSensitive(item, PROVENANCE_TEXT),
		   out);
	return true;
}

static int take_rules(struct provenance *p, struct err *err)
{
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(
		p->tree, PROVENANCE_VERSION_KEY);
	const cJSON *rules =
		cJSON_GetObjectItemCaseSensitive(p->tree, PROVENANCE_RULES);
	const cJSON *item;

	if (!cJSON_IsNumber(version) || version->valueint != PROVENANCE_VERSION)
		return err_set(err, -EPROTO, "unknown version");
	if (!cJSON_IsObject(rules))
		return err_set(err, -EPROTO, "no rules");
	p->rules = calloc((size_t)cJSON_GetArraySize(rules) + 1,
			  sizeof(*p->rules));
	if (!p->rules)
		return err_set(err, -ENOMEM, "out of memory");
	cJSON_ArrayForEach(item, rules)
		if (!take_rule(item, &p->rules[p->n++]))
			return err_set(err, -EPROTO, "rule '%.32s'",
				       item->string);
	qsort(p->rules, p->n, sizeof(*p->rules), by_id);
	return 0;
}

int provenance_parse(struct str text, struct provenance *out, struct err *err)
{
	struct provenance p = {0};
	const char *end = NULL;
	int rc;

	p.tree = cJSON_ParseWithLengthOpts(text.p, text.n, &end, 0);
	if (!p.tree)
		return err_set(err, -EPROTO, "not JSON");
	while (end < text.p + text.n && (*end == '\n' || *end == ' '))
		end++;
	rc = end == text.p + text.n
		     ? take_rules(&p, err)
		     : err_set(err, -EPROTO, "bytes after the end");
	if (rc < 0) {
		provenance_free(&p);
		return rc;
	}
	*out = p;
	return 0;
}

void provenance_free(struct provenance *p)
{
	cJSON_Delete(p->tree);
	free(p->rules);
	*p = (struct provenance){0};
}

const struct provenance_rule *provenance_find(const struct provenance *p,
					      struct str id)
{
	uint32_t lo = 0, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = str_cmp(str_of(p->rules[mid].id), id);

		if (c == 0)
			return &p->rules[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static bool has_port(struct str ports, const struct packet *packet)
{
	char buf[8];

	return packet->has_port &&
	       portlist_has(ports, packet_proto_text(packet->proto, buf),
			    packet->dport);
}

const struct provenance_rule *provenance_packet(const struct provenance *p,
						char kind,
						const struct packet *packet)
{
	const struct provenance_rule *best = NULL;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct provenance_rule *r = &p->rules[i];

		if (r->id[0] != kind || !(r->is_any || r->is_net) ||
		    (r->is_net && !cidr_has(&r->net, &packet->dst)) ||
		    (best && best->is_net && r->net.bits <= best->net.bits) ||
		    !has_port(r->ports, packet))
			continue;
		best = r;
	}
	return best;
}
