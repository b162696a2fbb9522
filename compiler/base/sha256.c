#include "compiler/base/sha256.h"

#include <openssl/sha.h>

const char *sha256_hex(struct str data, char out[SHA256_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char md[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)data.p, data.n, md);
	for (size_t i = 0; i < sizeof(md); i++) {
		out[2 * i] = digits[md[i] >> 4];
		out[2 * i + 1] = digits[md[i] & 15];
	}
	out[2 * sizeof(md)] = '\0';
	return out;
}
