#include "compiler/base/sha256.h"

#include "compiler/base/ascii.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <stdlib.h>

/* Finding the algorithm costs more than hashing a short text: once is enough.
 * It lives as long as the program. */
static const EVP_MD *algorithm(void)
{
	static const EVP_MD *found;

	if (!found)
		found = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (!found)
		abort();
	return found;
}

const char *sha256_hex(struct str data, char out[SHA256_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char md[SHA256_DIGEST_LENGTH];

	if (!EVP_Digest(data.p, data.n, md, NULL, algorithm(), NULL))
		abort();
	for (size_t i = 0; i < sizeof(md); i++) {
		out[2 * i] = digits[md[i] >> 4];
		out[2 * i + 1] = digits[md[i] & 15];
	}
	out[2 * sizeof(md)] = '\0';
	return out;
}

bool sha256_is_hex(struct str s)
{
	return s.n == SHA256_HEX_MAX - 1 && ascii_is_hex(s);
}
