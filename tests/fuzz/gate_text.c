/*
 * The other texts and bytes that the gate reads: the launcher's line,
 * provenance.json, a log record's prefix and packet, the ruleset's listing.
 * The first byte chooses.
 */
#include "runtime/gate/l7/hello.h"
#include "runtime/gate/packet/ruleset.h"
#include "runtime/gate/record/record.h"
#include "runtime/gate/wire/packet.h"

#include <netinet/in.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void listing(struct str text)
{
	struct str left = STR(""), right = text, want, have;
	unsigned line = 0;

	(void)str_field(&right, '\1', &left);
	(void)ruleset_same(left, right, &line, &want, &have);
	(void)ruleset_has_set(text, "host4");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data + 1, size ? size - 1 : 0};
	static struct hello_credentials credentials;
	struct names_hosts hosts = {0};
	struct provenance provenance;
	struct record_prefix prefix;
	struct packet packet;
	struct err err;

	if (size == 0)
		return 0;
	switch (data[0] % 5) {
	case 0:
		credentials.n = 0;
		ignore(hello_parse(text, &hosts, &credentials, &err));
		break;
	case 1:
		if (provenance_parse(text, &provenance, &err) < 0)
			break;
		packet = (struct packet){.proto = IPPROTO_TCP,
					 .has_port = true,
					 .dport = 443,
					 .dst = {ADDR_V4, {10}}};
		(void)provenance_packet(&provenance, 'g', &packet);
		provenance_free(&provenance);
		break;
	case 2:
		(void)record_prefix(text, &prefix);
		break;
	case 3:
		(void)packet_parse(data + 1, size - 1, &packet);
		break;
	case 4:
		listing(text);
		break;
	}
	return 0;
}
