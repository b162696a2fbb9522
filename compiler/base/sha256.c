#include "compiler/base/sha256.h"

#include "compiler/base/ascii.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

static void take_digest(struct str data, uint8_t md[SHA256_DIGEST_SIZE])
{
	struct sha256_ctx c;

	sha256_init(&c);
	sha256_update(&c, data.n, (const uint8_t *)data.p);
	sha256_digest(&c, SHA256_DIGEST_SIZE, md);
}

const char *sha256_base64(struct str data, char out[SHA256_BASE64_MAX])
{
	uint8_t md[SHA256_DIGEST_SIZE];

	take_digest(data, md);
	base64_encode_raw(out, sizeof(md), md);
	out[SHA256_BASE64_MAX - 1] = '\0';
	return out;
}

const char *sha256_hex(struct str data, char out[SHA256_HEX_MAX])
{
	uint8_t md[SHA256_DIGEST_SIZE];

	take_digest(data, md);
	ascii_put_hex(md, sizeof(md), out);
	return out;
}

bool sha256_is_hex(struct str s)
{
	return s.n == SHA256_HEX_MAX - 1 && ascii_is_hex(s);
}
