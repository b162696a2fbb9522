/* What HAProxy logs and answers, and the plan's lists for it. */
#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/crtlist.h"
#include "runtime/gate/plan/profiles.h"
#include "runtime/gate/record/logline.h"
#include "runtime/gate/record/record.h"

#include <netinet/in.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the agent put into its request: one line, and nothing behind it. */
static void log_line(struct str text)
{
	struct packet packet = {.proto = IPPROTO_TCP};
	char buf[RECORD_MAX];
	struct logline l;
	struct record r = {.kind = RECORD_REQUEST, .flow = &l, .n_names = 1};
	size_t n;

	if (!logline_parse(text, &l))
		return;
	packet.dst = l.addr;
	r.packet = l.has_addr ? &packet : NULL;
	r.reason = l.reason;
	r.names[0] = l.name;
	n = record_decision(&r, buf);
	if (n && (buf[n - 1] != '\n' ||
		  str_find((struct str){buf, n}, '\n', 0) != n - 1))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data + 1, size ? size - 1 : 0};
	static struct crtlist_line line;
	struct profiles p;
	struct str said;
	struct err err;

	if (size == 0)
		return 0;
	switch (data[0] % 4) {
	case 0:
		log_line(text);
		break;
	case 1:
		(void)admin_done(text, data[0] / 4u, "Key not found.", &said);
		break;
	case 2:
		while (crtlist_next(&text, &line, &err) > 0)
			;
		break;
	case 3:
		if (profiles_parse(text, &p, &err) < 0)
			break;
		(void)profiles_find(&p, STR("1"), STR("a.b.test"),
				    &(struct addr){ADDR_V4, {10}});
		profiles_free(&p);
		break;
	}
	return 0;
}
