/*
 * The session's authority where its library fails, each call in its turn, and
 * what is in a certificate where it does not. What is called of the library
 * comes here first: nothing is handed over that is not there, nothing is called
 * behind what has failed, and all memory is given back.
 */
#include "runtime/gate/l7/ca.h"

#include "tests/check.h"
#include "tests/unit/gate/pieces.h"

#include <dlfcn.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct err err;
static int failing = -1; /* after so many calls; below 0: none does */
static bool has_failed;
static enum { AS_IT_IS, EMPTY, FULL } room; /* what a text reads as */
static int first_byte = -1; /* of random ones; below 0: as it comes */

/* The library calls itself, too, which is nothing of this test's. */
static bool is_ours(const char *from)
{
	extern const char __executable_start, etext;

	return from >= &__executable_start && from < &etext;
}

static bool fails_now(const char *from)
{
	if (failing < 0 || !is_ours(from) || failing--)
		return false;
	has_failed = true;
	/* one that is told, and one more */
	ERR_raise(ERR_LIB_X509, ERR_R_INTERNAL_ERROR);
	ERR_raise(ERR_LIB_X509, ERR_R_DISABLED);
	return true;
}

/* What is begun beside another, whatever becomes of that. */
static bool is_beside(const char *name)
{
	return strcmp(name, "BIO_new") == 0 ||
	       strcmp(name, "GENERAL_NAME_new") == 0;
}

static void check_call(const char *from, const char *name, bool there)
{
	if (is_ours(from))
		CHECK_MSG(there && (!has_failed || is_beside(name)),
			  "%s is called, %s", name,
			  there ? "after a failure" : "with nothing");
}

/* As the library has it, but that it answers `none` when its turn comes. there:
 * what it works on. */
#define FAILS(type, none, name, there, parameters, ...)                        \
	type name parameters                                                   \
	{                                                                      \
		const char *from = __builtin_return_address(0);                \
		static type(*real) parameters;                                 \
                                                                               \
		if (!real)                                                     \
			*(void **)&real = dlsym(RTLD_NEXT, #name);             \
		check_call(from, #name, there);                                \
		return fails_now(from) ? (none) : real(__VA_ARGS__);           \
	}

FAILS(X509 *, NULL, X509_new, true, (void))
FAILS(int, 0, X509_set_version, c, (X509 * c, long v), c, v)
FAILS(BIGNUM *, NULL, BN_bin2bn, p, (const unsigned char *p, int n, BIGNUM *to),
      p, n, to)
FAILS(ASN1_INTEGER *, NULL, BN_to_ASN1_INTEGER, n &&to,
      (const BIGNUM *n, ASN1_INTEGER *to), n, to)
FAILS(ASN1_TIME *, NULL, X509_gmtime_adj, t, (ASN1_TIME * t, long s), t, s)
FAILS(int, 0, X509_set_pubkey, c &&key, (X509 * c, EVP_PKEY *key), c, key)
FAILS(int, 0, X509_set_issuer_name, c &&n, (X509 * c, const X509_NAME *n), c, n)
FAILS(int, 0, X509_NAME_add_entry_by_txt, n,
      (X509_NAME * n, const char *field, int type, const unsigned char *text,
       int size, int at, int set),
      n, field, type, text, size, at, set)
FAILS(X509_EXTENSION *, NULL, X509V3_EXT_conf_nid, ctx,
      (LHASH_OF(CONF_VALUE) * conf, X509V3_CTX *ctx, int nid,
       const char *value),
      conf, ctx, nid, value)
FAILS(int, 0, X509_add_ext, c &&e, (X509 * c, X509_EXTENSION *e, int at), c, e,
      at)
FAILS(int, 0, X509_sign, c &&key, (X509 * c, EVP_PKEY *key, const EVP_MD *md),
      c, key, md)
FAILS(BIO *, NULL, BIO_new, m, (const BIO_METHOD *m), m)
FAILS(int, 0, PEM_write_bio_X509, b &&c, (BIO * b, const X509 *c), b, c)
FAILS(int, 0, PEM_write_bio_PrivateKey, b &&key,
      (BIO * b, const EVP_PKEY *key, const EVP_CIPHER *by,
       const unsigned char *word, int n, pem_password_cb *ask, void *data),
      b, key, by, word, n, ask, data)
FAILS(ASN1_IA5STRING *, NULL, ASN1_IA5STRING_new, true, (void))
FAILS(GENERAL_NAME *, NULL, GENERAL_NAME_new, true, (void))
FAILS(int, 0, ASN1_STRING_set, s, (ASN1_STRING * s, const void *p, int n), s, p,
      n)
FAILS(int, 0, OPENSSL_sk_push, s &&p, (OPENSSL_STACK * s, const void *p), s, p)
FAILS(OPENSSL_STACK *, NULL, OPENSSL_sk_new_null, true, (void))
FAILS(int, 0, X509_add1_ext_i2d, c &&value,
      (X509 * c, int nid, void *value, int critical, unsigned long flags), c,
      nid, value, critical, flags)

int RAND_bytes(unsigned char *p, int n)
{
	static int (*real)(unsigned char *, int);
	int rc;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "RAND_bytes");
	check_call(__builtin_return_address(0), "RAND_bytes", p);
	if (fails_now(__builtin_return_address(0)))
		return 0;
	rc = real(p, n);
	if (first_byte >= 0)
		p[0] = (unsigned char)first_byte;
	return rc;
}

/* A text that fills all the room is cut, perhaps. */
int BIO_read(BIO *b, void *to, int n)
{
	static int (*real)(BIO *, void *, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "BIO_read");
	check_call(__builtin_return_address(0), "BIO_read", b);
	if (fails_now(__builtin_return_address(0)))
		return -1;
	return room == AS_IT_IS ? real(b, to, n) : room == FULL ? n : 0;
}

EVP_PKEY *EVP_PKEY_Q_keygen(OSSL_LIB_CTX *ctx, const char *query,
			    const char *type, ...)
{
	static EVP_PKEY *(*real)(OSSL_LIB_CTX *, const char *, const char *,
				 ...);
	va_list more;
	char *curve;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "EVP_PKEY_Q_keygen");
	va_start(more, type);
	curve = va_arg(more, char *);
	va_end(more);
	check_call(__builtin_return_address(0), "EVP_PKEY_Q_keygen", curve);
	return fails_now(__builtin_return_address(0))
		       ? NULL
		       : real(ctx, query, type, curve);
}

/* --- each call ------------------------------------------------------------ */

static struct ca authority;
static const struct str names[] = {STR_INIT("a.test"), STR_INIT("*.b.test")};
static char leaf[CA_LEAF_MAX];

static int make_authority(void)
{
	struct ca ca = {0};
	int rc = ca_new(&ca, &err);

	CHECK((rc == 0) == (ca.key && ca.cert));
	ca_done(&ca);
	CHECK(!ca.key && !ca.cert);
	return rc;
}

static int make_leaf(void)
{
	size_t n = 7;
	int rc;

	memset(leaf, 'x', sizeof(leaf));
	rc = ca_leaf(&authority, names, 2, leaf, &n, &err);

	/* what it is to say is untouched where it fails */
	CHECK(rc < 0 ? n == 7 : n == strnlen(leaf, sizeof(leaf)));
	return rc;
}

static int write_authority(void)
{
	char pem[CA_CERT_MAX];
	int rc;

	memset(pem, 'x', sizeof(pem));
	rc = ca_pem(&authority, pem, &err);
	CHECK(rc < 0 ||
	      strcmp(pem + strnlen(pem, sizeof(pem) - 1) - 5, "----\n") == 0);
	return rc;
}

/* None is failing: so much memory is kept for the next time. */
static void each_call(int (*make)(void), const char *what, int least)
{
	long before;
	int n = 0, rc;

	CHECK(make() == 0);
	before = pieces_held;
	for (;; n++) {
		failing = n;
		has_failed = false;
		err.text[0] = '\0';
		rc = make();
		failing = -1;
		/* nothing of an error is left for who comes next */
		CHECK_MSG(pieces_held == before && ERR_peek_error() == 0,
			  "%s: call %d: %ld pieces", what, n,
			  pieces_held - before);
		if (!has_failed)
			break;
		CHECK_MSG(rc == -EIO &&
				  strncmp(err.text, what, strlen(what)) == 0 &&
				  strstr(err.text, "internal error"),
			  "%s: call %d: %d %s", what, n, rc, err.text);
	}
	CHECK(rc == 0);
	CHECK_MSG(n >= least, "%s: %d", what, n);
}

static void rooms(void)
{
	for (room = EMPTY; room <= FULL; room++)
		CHECK(write_authority() == -EIO && make_leaf() == -EIO);
	room = AS_IT_IS;
}

/* --- what is in it -------------------------------------------------------- */

static X509 *parse(const char *pem)
{
	BIO *b = BIO_new_mem_buf(pem, -1);
	X509 *c = PEM_read_bio_X509(b, NULL, NULL, NULL);

	BIO_free(b);
	return c;
}

static bool is_named(const X509_NAME *name, const char *want)
{
	char text[200];

	X509_NAME_oneline(name, text, sizeof(text));
	return strcmp(text, want) == 0;
}

/* As `openssl x509 -ext` shows it. */
static bool has_extension(X509 *c, int nid, bool critical, const char *want)
{
	int at = X509_get_ext_by_NID(c, nid, -1);
	X509_EXTENSION *e = at < 0 ? NULL : X509_get_ext(c, at);
	BIO *b = BIO_new(BIO_s_mem());
	char text[400] = "";
	bool ok = e && X509V3_EXT_print(b, e, 0, 0) == 1 &&
		  BIO_read(b, text, sizeof(text) - 1) > 0 &&
		  X509_EXTENSION_get_critical(e) == critical &&
		  (!want || strcmp(text, want) == 0) &&
		  X509_get_ext_by_NID(c, nid, at) < 0;

	if (!ok)
		fprintf(stderr, "%s\n", text);
	BIO_free(b);
	return ok;
}

/* From an hour ago, give or take what this test has taken. */
static bool lasts(X509 *c)
{
	int days, secs, since_days, since_secs;

	return ASN1_TIME_diff(&days, &secs, X509_get0_notBefore(c),
			      X509_get0_notAfter(c)) == 1 &&
	       days == CA_DAYS && secs >= 3600 && secs < 3700 &&
	       ASN1_TIME_diff(&since_days, &since_secs, X509_get0_notBefore(c),
			      NULL) == 1 &&
	       since_days == 0 && since_secs >= 3600 && since_secs < 3700;
}

/* Positive, and as long as any other, whatever the random bytes are. */
static void serials(void)
{
	for (first_byte = 0; first_byte <= 0xc0; first_byte += 0x40) {
		X509 *c;

		CHECK(make_leaf() == 0);
		c = parse(leaf);
		CHECK(ASN1_STRING_length(X509_get0_serialNumber(c)) == 16 &&
		      ASN1_STRING_get0_data(X509_get0_serialNumber(c))[0] ==
			      0x40);
		X509_free(c);
	}
	first_byte = -1;
}

static void contents(void)
{
	char pem[CA_CERT_MAX];
	X509 *ca, *c;

	CHECK(ca_pem(&authority, pem, &err) == 0 && make_leaf() == 0);
	ca = parse(pem);
	c = parse(leaf);
	CHECK(is_named(X509_get_subject_name(ca),
		       "/O=membrane/CN=membrane session CA") &&
	      is_named(X509_get_issuer_name(ca),
		       "/O=membrane/CN=membrane session CA"));
	CHECK(is_named(X509_get_subject_name(c),
		       "/O=membrane/CN=membrane session") &&
	      is_named(X509_get_issuer_name(c),
		       "/O=membrane/CN=membrane session CA"));
	CHECK(X509_get_version(ca) == 2 && X509_get_version(c) == 2);
	CHECK(lasts(ca) && lasts(c));
	CHECK(has_extension(ca, NID_basic_constraints, true,
			    "CA:TRUE, pathlen:0"));
	CHECK(has_extension(ca, NID_key_usage, true,
			    "Certificate Sign, CRL Sign"));
	CHECK(has_extension(ca, NID_subject_key_identifier, false, NULL));
	CHECK(has_extension(c, NID_basic_constraints, true, "CA:FALSE"));
	CHECK(has_extension(c, NID_key_usage, true, "Digital Signature"));
	CHECK(has_extension(c, NID_ext_key_usage, false,
			    "TLS Web Server Authentication"));
	CHECK(has_extension(c, NID_subject_key_identifier, false, NULL));
	CHECK(has_extension(c, NID_authority_key_identifier, false, NULL));
	CHECK(has_extension(c, NID_subject_alt_name, false,
			    "DNS:a.test, DNS:*.b.test"));
	CHECK(ASN1_INTEGER_cmp(X509_get0_serialNumber(ca),
			       X509_get0_serialNumber(c)) != 0);
	X509_free(ca);
	X509_free(c);
}

int main(void)
{
	CHECK(CRYPTO_set_mem_functions(pieces_take, pieces_change,
				       pieces_give) == 1);
	CHECK(ca_new(&authority, &err) == 0);
	each_call(make_authority, "making the session's CA", 15);
	each_call(make_leaf, "making a certificate", 20);
	each_call(write_authority, "writing the session's CA", 3);
	rooms();
	serials();
	contents();
	ca_done(&authority);
	return check_status();
}
