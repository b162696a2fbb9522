/* The command line of membrane-gate: what it takes, and what it does not. */
#include "runtime/gate/options.h"
#include "tests/check.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static struct options got;

static bool parse(const char *line)
{
	static char text[512];
	static char name[] = "membrane-gate";
	char *argv[16] = {name}, *rest = NULL;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	for (char *w = strtok_r(text, " ", &rest); w;
	     w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	got = (struct options){.args = {.plan = "/plan"}};
	optind = 0; /* getopt(3): from the beginning, and forget the last */
	opterr = 0;
	return options_parse(argc, argv, &got);
}

int main(void)
{
	const char *digest =
		"--link wire --digest "
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

	CHECK(parse("") && got.act == OPTIONS_GATE &&
	      got.args.uplink == UPLINK_THERE && !got.args.broker &&
	      !got.args.resolver && strcmp(got.args.plan, "/plan") == 0);
	CHECK(parse("--plan /p --resolver 192.0.2.1") && got.args.resolver &&
	      strcmp(got.args.plan, "/p") == 0);
	CHECK(!parse("--resolver resolver.test"));
	CHECK(parse("--await-uplink") && got.args.uplink == UPLINK_AWAITED);
	CHECK(parse("--sockets") && got.args.uplink == UPLINK_SOCKETS &&
	      got.args.broker > 2);
	CHECK(parse("--link wire --secrets /s --roots /r") &&
	      got.args.uplink == UPLINK_POD &&
	      strcmp(got.args.secrets, "/s") == 0 &&
	      strcmp(got.args.roots, "/r") == 0);
	CHECK(parse("--link apart --plan /p") &&
	      got.args.uplink == UPLINK_APART);
	CHECK(!parse("--link apart --secrets /s") &&
	      !parse("--link apart --roots /r"));
	CHECK(!parse("--link veth") && !parse("--link") && !parse("--link="));
	CHECK(!parse("--secrets /s") && !parse("--roots /r"));
	CHECK(parse(digest) && got.args.sha256);
	CHECK(!parse("--digest e3b0") && !parse("--digest"));
	CHECK(parse("--check --plan /p") && got.act == OPTIONS_CHECK);
	CHECK(parse("--relay 192.0.2.1 443") && got.act == OPTIONS_RELAY &&
	      strcmp(got.words[1], "443") == 0);
	CHECK(!parse("--relay 192.0.2.1") && !parse("word"));
	CHECK(parse("--fence") && got.act == OPTIONS_FENCE);
	CHECK(!parse("--fence word"));
	CHECK(parse("--ready") && got.act == OPTIONS_READY);
	CHECK(parse("--help word") && got.act == OPTIONS_HELP);
	CHECK(parse("--version word") && got.act == OPTIONS_VERSION);
	CHECK(!parse("--no-such-word"));
	return check_status();
}
