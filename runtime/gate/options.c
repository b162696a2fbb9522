#include "runtime/gate/options.h"

#include "compiler/base/sha256.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/kubernetes_json.h"

#include <getopt.h>
#include <string.h>

void options_usage(FILE *to)
{
	fputs("usage: membrane-gate [--check] [--plan DIR] [--resolver ADDR]\n"
	      "                     [--await-uplink | --sockets]\n"
	      "       membrane-gate --link wire [--plan DIR] [--digest SHA256]\n"
	      "                     [--resolver ADDR] [--secrets DIR] [--roots DIR]\n"
	      "       membrane-gate --link apart [--plan DIR] [--digest SHA256]\n"
	      "                     [--resolver ADDR]\n"
	      "       membrane-gate --fence | --ready\n"
	      "       membrane-gate --relay ADDR PORT\n",
	      to);
}

enum word {
	WORD_AWAIT,
	WORD_SOCKETS,
	WORD_LINK,
	WORD_PLAN,
	WORD_DIGEST,
	WORD_RESOLVER,
	WORD_SECRETS,
	WORD_ROOTS,
	WORD_ACT, /* and behind that: enum options_act */
};

static const struct option words[] = {
	{"await-uplink", no_argument, NULL, WORD_AWAIT},
	{"sockets", no_argument, NULL, WORD_SOCKETS},
	{"link", required_argument, NULL, WORD_LINK},
	{"plan", required_argument, NULL, WORD_PLAN},
	{"digest", required_argument, NULL, WORD_DIGEST},
	{"resolver", required_argument, NULL, WORD_RESOLVER},
	{"secrets", required_argument, NULL, WORD_SECRETS},
	{"roots", required_argument, NULL, WORD_ROOTS},
	{"check", no_argument, NULL, WORD_ACT + OPTIONS_CHECK},
	{"relay", no_argument, NULL, WORD_ACT + OPTIONS_RELAY},
	{"fence", no_argument, NULL, WORD_ACT + OPTIONS_FENCE},
	{"ready", no_argument, NULL, WORD_ACT + OPTIONS_READY},
	{"help", no_argument, NULL, WORD_ACT + OPTIONS_HELP},
	{"version", no_argument, NULL, WORD_ACT + OPTIONS_VERSION},
	{0},
};

static bool take_link(const char *value, enum uplink_kind *out)
{
	*out = strcmp(value, KUBERNETES_JSON_APART) == 0 ? UPLINK_APART
							 : UPLINK_POD;
	return *out == UPLINK_APART || strcmp(value, KUBERNETES_JSON_WIRE) == 0;
}

static bool take_word(int word, const char *value, struct options *out)
{
	struct worker_args *args = &out->args;

	switch ((enum word)word) {
	case WORD_AWAIT:
		args->uplink = UPLINK_AWAITED;
		return true;
	case WORD_SOCKETS:
		args->uplink = UPLINK_SOCKETS;
		args->broker = GATE_BROKER_FD;
		return true;
	case WORD_LINK:
		return take_link(value, &args->uplink);
	case WORD_PLAN:
		args->plan = value;
		return true;
	case WORD_DIGEST:
		args->sha256 = value;
		return sha256_is_hex(str_of(value));
	case WORD_RESOLVER:
		args->resolver = &out->resolver;
		return addr_parse(str_of(value), &out->resolver);
	case WORD_SECRETS:
		args->secrets = value;
		return true;
	case WORD_ROOTS:
		args->roots = value;
		return true;
	case WORD_ACT:
		break;
	}
	out->act = (enum options_act)(word - WORD_ACT);
	return true;
}

bool options_parse(int argc, char **argv, struct options *out)
{
	const struct worker_args *args = &out->args;
	int c;

	while ((c = getopt_long(argc, argv, "", words, NULL)) >= 0) {
		if (c == '?' || !take_word(c, optarg, out))
			return false;
		if (out->act == OPTIONS_HELP || out->act == OPTIONS_VERSION)
			return true;
	}
	out->words = argv + optind;
	/* What is a Pod's. */
	if (args->uplink != UPLINK_POD && (args->secrets || args->roots))
		return false;
	return argc - optind == (out->act == OPTIONS_RELAY ? 2 : 0);
}
