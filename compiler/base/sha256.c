#include "compiler/base/sha256.h"

#include "compiler/base/ascii.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <stdlib.h>

/* Finding the algorithm costs more than hashing a short text, and so does a
 * context: once is enough. They live as long as the program. */
static EVP_MD_CTX *context(void)
{
	static EVP_MD_CTX *made;
	const EVP_MD *found;

	if (made)
		return made;
	found = EVP_MD_fetch(NULL, "SHA256", NULL);
	made = EVP_MD_CTX_new();
	if (!found || !made || !EVP_DigestInit_ex(made, found, NULL))
		abort();
	return made;
}

const char *sha256_hex(struct str data, char out[SHA256_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char md[SHA256_DIGEST_LENGTH];
	EVP_MD_CTX *c = context();

	/* without an algorithm it is the last one, anew */
	if (!EVP_DigestInit_ex(c, NULL, NULL) ||
	    !EVP_DigestUpdate(c, data.p, data.n) ||
	    !EVP_DigestFinal_ex(c, md, NULL))
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
