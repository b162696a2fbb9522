#include "compiler/base/sha256.h"

#include "compiler/base/ascii.h"

/*
 * The functions of old, which need no provider: to read a configuration and to
 * find an algorithm by its name takes longer than all else of a short run.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>

static void take_digest(struct str data, unsigned char md[SHA256_DIGEST_LENGTH])
{
	SHA256_CTX c;

	SHA256_Init(&c);
	SHA256_Update(&c, data.p, data.n);
	SHA256_Final(md, &c);
}

const char *sha256_base64(struct str data, char out[SHA256_BASE64_MAX])
{
	unsigned char md[SHA256_DIGEST_LENGTH];

	take_digest(data, md);
	EVP_EncodeBlock((unsigned char *)out, md, sizeof(md));
	return out;
}

const char *sha256_hex(struct str data, char out[SHA256_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char md[SHA256_DIGEST_LENGTH];

	take_digest(data, md);
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
