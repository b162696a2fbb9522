/*
 * docker.json and its placeholders: whatever is read expands or is refused.
 */
#include "runtime/launch/docker/vectors.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *env(void *ctx, const char *name)
{
	(void)ctx;
	return strlen(name) % 2 ? NULL : "a,\"b\"{x}\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const masks[] = {"--mount", "type=bind"};
	static char word[] = "{session}";
	static char *const command[] = {word, NULL};
	struct vectors_values values = {
		.session = "0123456789ab",
		.workspace = "/w, \"x\"",
		.home = "/h",
		.state = "/s",
		.owner = "1:1",
		.tty = size % 2,
		.git = size % 3,
		.masks = masks,
		.n_masks = 2,
		.command = command,
		.env = env,
	};
	struct arena *a = arena_new();
	struct vectors v;
	struct err err;
	char **argv;

	if (vectors_parse(a, (struct str){(const char *)data, size}, &v,
			  &err) == 0) {
		if (vectors_expand(a, &v.gate, &values, &argv, &err) == 0 &&
		    strcmp(argv[0], "docker") != 0)
			__builtin_trap();
		if (vectors_expand(a, &v.agent, &values, &argv, &err) == 0 &&
		    strcmp(argv[1], "run") != 0)
			__builtin_trap();
	}
	arena_free(a);
	return 0;
}
