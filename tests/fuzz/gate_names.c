/* names.map: parsed whole or refused; each exact name matches itself. */
#include "runtime/gate/plan/names.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct addr a = {ADDR_V4, {8, 8, 8, 8}};
	struct names_hosts hosts = {0};
	struct names_classes classes;
	struct names_match match;
	struct names_map map;
	struct err err = {0};

	if (names_parse((struct str){(const char *)data, size}, &map, &err) <
	    0) {
		if (!err.code || !err.text[0])
			abort();
		return 0;
	}
	for (uint32_t i = 0; i < map.n_exact; i++)
		if (!names_match(&map, map.exact[i].name, &match))
			abort();
	names_match(&map, STR("a.b.test"), &match);
	(void)names_judge(&map, &match, &hosts, &a, &classes);
	for (uint32_t i = 0; i < match.n_lines && i < NAMES_MATCH_MAX; i++)
		(void)names_permits(&map, match.lines[i], "tcp", 443);
	names_free(&map);
	return 0;
}
