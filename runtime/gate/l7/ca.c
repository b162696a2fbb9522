#include "runtime/gate/l7/ca.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

#define HOUR_S	     3600
#define SERIAL_BYTES 16

static void key_free(EVP_PKEY **k)
{
	EVP_PKEY_free(*k);
}
static void cert_free(X509 **c)
{
	X509_free(*c);
}
static void bio_free(BIO **b)
{
	BIO_free(*b);
}
#define auto_key  __attribute__((cleanup(key_free)))
#define auto_cert __attribute__((cleanup(cert_free)))
#define auto_bio  __attribute__((cleanup(bio_free)))

static int fail_openssl(struct err *err, const char *what)
{
	char text[160];

	ERR_error_string_n(ERR_get_error(), text, sizeof(text));
	ERR_clear_error();
	return err_set(err, -EIO, "%s: %s", what, text);
}

static bool add_name(X509_NAME *name, const char *field, const char *text)
{
	return X509_NAME_add_entry_by_txt(name, field, MBSTRING_ASC,
					  (const unsigned char *)text, -1, -1,
					  0) == 1;
}

static bool set_serial(X509 *c)
{
	unsigned char bytes[SERIAL_BYTES];
	BIGNUM *n;
	bool ok;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	bytes[0] = (bytes[0] & 0x3f) | 0x40; /* positive, and never short */
	n = BN_bin2bn(bytes, sizeof(bytes), NULL);
	ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(c));
	BN_free(n);
	return ok;
}

/* An hour back, for a client whose clock is late. */
static X509 *begin_certificate(EVP_PKEY *key)
{
	X509 *c = X509_new();

	if (c && X509_set_version(c, 2) == 1 && set_serial(c) &&
	    X509_gmtime_adj(X509_getm_notBefore(c), -HOUR_S) &&
	    X509_gmtime_adj(X509_getm_notAfter(c), CA_DAYS * 24L * HOUR_S) &&
	    X509_set_pubkey(c, key) == 1)
		return c;
	X509_free(c);
	return NULL;
}

static bool add_extension(X509 *c, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *e;
	X509V3_CTX ctx;
	bool ok;

	X509V3_set_ctx(&ctx, issuer, c, NULL, NULL, 0);
	X509V3_set_ctx_nodb(&ctx);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = e && X509_add_ext(c, e, -1) == 1;
	X509_EXTENSION_free(e);
	return ok;
}

int ca_new(struct ca *ca, struct err *err)
{
	auto_key EVP_PKEY *key = EVP_EC_gen("P-256");
	auto_cert X509 *c = key ? begin_certificate(key) : NULL;
	X509_NAME *name = c ? X509_get_subject_name(c) : NULL;

	if (!name || !add_name(name, "O", "membrane") ||
	    !add_name(name, "CN", "membrane session CA") ||
	    X509_set_issuer_name(c, name) != 1 ||
	    !add_extension(c, c, NID_basic_constraints,
			   "critical,CA:TRUE,pathlen:0") ||
	    !add_extension(c, c, NID_key_usage,
			   "critical,keyCertSign,cRLSign") ||
	    !add_extension(c, c, NID_subject_key_identifier, "hash") ||
	    X509_sign(c, key, EVP_sha256()) == 0)
		return fail_openssl(err, "making the session's CA");
	*ca = (struct ca){key, c};
	key = NULL;
	c = NULL;
	return 0;
}

void ca_done(struct ca *ca)
{
	EVP_PKEY_free(ca->key);
	X509_free(ca->cert);
	*ca = (struct ca){0};
}

int ca_pem(const struct ca *ca, char out[CA_CERT_MAX], struct err *err)
{
	auto_bio BIO *b = BIO_new(BIO_s_mem());
	int n = -1;

	if (b && PEM_write_bio_X509(b, ca->cert) == 1)
		n = BIO_read(b, out, CA_CERT_MAX - 1);
	if (n <= 0 || n == CA_CERT_MAX - 1)
		return fail_openssl(err, "writing the session's CA");
	out[n] = '\0';
	return 0;
}

/* Built, not parsed from text: no name can mean anything but itself. */
static bool add_names(X509 *c, const struct str *names, size_t n)
{
	GENERAL_NAMES *list = sk_GENERAL_NAME_new_null();
	bool ok = list != NULL;

	for (size_t i = 0; ok && i < n; i++) {
		ASN1_IA5STRING *text = ASN1_IA5STRING_new();
		GENERAL_NAME *g = GENERAL_NAME_new();

		ok = text && g &&
		     ASN1_STRING_set(text, names[i].p, (int)names[i].n) == 1;
		if (ok) {
			GENERAL_NAME_set0_value(g, GEN_DNS, text);
			text = NULL;
			ok = sk_GENERAL_NAME_push(list, g) > 0;
		}
		ASN1_IA5STRING_free(text);
		if (!ok)
			GENERAL_NAME_free(g);
	}
	ok = ok && X509_add1_ext_i2d(c, NID_subject_alt_name, list, 0, 0) == 1;
	GENERAL_NAMES_free(list);
	return ok;
}

static X509 *sign_leaf(const struct ca *ca, EVP_PKEY *key,
		       const struct str *names, size_t n)
{
	X509 *c = begin_certificate(key);

	if (c && add_name(X509_get_subject_name(c), "O", "membrane") &&
	    add_name(X509_get_subject_name(c), "CN", "membrane session") &&
	    X509_set_issuer_name(c, X509_get_subject_name(ca->cert)) == 1 &&
	    add_extension(c, ca->cert, NID_basic_constraints,
			  "critical,CA:FALSE") &&
	    add_extension(c, ca->cert, NID_key_usage,
			  "critical,digitalSignature") &&
	    add_extension(c, ca->cert, NID_ext_key_usage, "serverAuth") &&
	    add_extension(c, ca->cert, NID_subject_key_identifier, "hash") &&
	    add_extension(c, ca->cert, NID_authority_key_identifier,
			  "keyid:always") &&
	    add_names(c, names, n) && X509_sign(c, ca->key, EVP_sha256()) > 0)
		return c;
	X509_free(c);
	return NULL;
}

int ca_leaf(const struct ca *ca, const struct str *names, size_t n,
	    char out[CA_LEAF_MAX], size_t *out_n, struct err *err)
{
	auto_key EVP_PKEY *key = EVP_EC_gen("P-256");
	auto_cert X509 *c = NULL;
	auto_bio BIO *b = BIO_new(BIO_s_mem());
	int got = -1;

	if (n == 0 || n > CA_NAMES_MAX)
		return err_set(err, -EINVAL, "%zu names in one certificate", n);
	if (key && b)
		c = sign_leaf(ca, key, names, n);
	if (c && PEM_write_bio_X509(b, c) == 1 &&
	    PEM_write_bio_PrivateKey(b, key, NULL, NULL, 0, NULL, NULL) == 1)
		got = BIO_read(b, out, CA_LEAF_MAX - 1);
	if (got <= 0 || got == CA_LEAF_MAX - 1)
		return fail_openssl(err, "making a certificate");
	out[got] = '\0';
	*out_n = (size_t)got;
	return 0;
}
