/* Roots beside the system's: what a file of them may hold. */
#include "runtime/launch/docker/roots.h"

#include "runtime/launch/docker/libcrypto.h"
#include "tests/check.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *a;
static struct err err;

static void extend(X509 *x, int nid, const char *value)
{
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	CHECK(e && X509_add_ext(x, e, -1) == 1);
	X509_EXTENSION_free(e);
}

/* A certificate in PEM, of an authority or of a server. */
static const char *certificate(const char *name, bool authority)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	BIO *out = BIO_new(BIO_s_mem());
	const char *text;
	char *p;
	long n;

	CHECK(key && x && X509_set_version(x, 2));
	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), 0);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
				   (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	X509_set_pubkey(x, key);
	extend(x, NID_basic_constraints,
	       authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
	CHECK(X509_sign(x, key, EVP_sha256()) > 0);
	CHECK(PEM_write_bio_X509(out, x) == 1);
	n = BIO_get_mem_data(out, &p);
	text = arena_cstr(a, (struct str){p, (size_t)n});
	BIO_free(out);
	X509_free(x);
	EVP_PKEY_free(key);
	return text;
}

static int parse(struct str text, struct roots *out)
{
	*out = (struct roots){0};
	return roots_parse(a, text, out, &err);
}

/* Refused, and that is why. */
static bool is_refused(struct str text, const char *why)
{
	struct roots r;

	return parse(text, &r) == -EINVAL && strstr(err.text, why) &&
	       r.n == 0 && !r.pem.p;
}

static void what_is_taken(void)
{
	const char *one = certificate("one", true),
		   *two = certificate("two", true);
	char digest[SHA256_HEX_MAX];
	struct roots r, again;

	CHECK(parse(str_of(one), &r) == 0 && r.n == 1 && str_is(r.pem, one));
	CHECK(strcmp(r.digest, sha256_hex(r.pem, digest)) == 0);
	/* Words between them are left out, and lines end as ours do. */
	CHECK(parse(arena_fmt(a, "# Corp\r\n\n%s\n  one more:\n%s", one, two),
		    &again) == 0);
	CHECK(again.n == 2 &&
	      str_eq(again.pem, arena_fmt(a, "%s%s", one, two)));
	CHECK(strcmp(r.digest, again.digest) != 0);
}

static void what_is_refused(void)
{
	const char *one = certificate("one", true);
	struct str text = str_of(one);

	CHECK(is_refused(STR(""), "no certificate"));
	CHECK(is_refused(STR("what is PEM?\n"), "no certificate"));
	CHECK(is_refused((struct str){"\x30\x82\x01\0x", 5}, "no certificate"));
	CHECK(is_refused(str_of(certificate("server", false)), "of a server"));
	CHECK(is_refused(
		arena_fmt(a, "\n%s\n%s", one, certificate("server", false)),
		"line "));
	/* The end is missing. */
	CHECK(is_refused(str_slice(text, 0, text.n - 30), "line 1: not PEM"));
	CHECK(is_refused(arena_fmt(a, "x\n-----BEGIN CERTIFICATE-----\n"
				      "AAAA\n-----END CERTIFICATE-----\n"),
			 "line 2: not a certificate"));
	CHECK(is_refused(arena_fmt(a,
				   "%s-----BEGIN PRIVATE KEY-----\n"
				   "AAAA\n-----END PRIVATE KEY-----\n",
				   one),
			 "'PRIVATE KEY'"));
	CHECK(is_refused(arena_fmt(a, "-----BEGIN X509 CRL-----\n"
				      "AAAA\n-----END X509 CRL-----\n"),
			 "'X509 CRL'"));
}

static struct str read_back(const char *path)
{
	static char text[65536];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text), f) : 0;

	if (f)
		fclose(f);
	return (struct str){text, n};
}

static void files(void)
{
	char top[] = "/tmp/membrane-roots-XXXXXX";
	const char *one = certificate("one", true);
	struct roots r;
	struct stat st;
	FILE *f;

	CHECK(mkdtemp(top) != NULL);
	f = fopen(arena_fmt(a, "%s/corp.pem", top).p, "w");
	CHECK(f && fputs(one, f) >= 0 && fclose(f) == 0);
	CHECK(roots_read(a, "~/corp.pem", top, &r, &err) == 0 && r.n == 1);
	CHECK(strcmp(r.path, "~/corp.pem") == 0);
	CHECK(roots_read(a, arena_fmt(a, "%s/corp.pem", top).p, NULL, &r,
			 &err) == 0);
	CHECK(roots_read(a, "~/corp.pem", NULL, &r, &err) == -ENOENT);
	CHECK(roots_read(a, "~/none.pem", top, &r, &err) == -ENOENT);
	CHECK(roots_read(a, "~/", top, &r, &err) < 0);
	CHECK(roots_place(&r, top, &err) == 0);
	CHECK(stat(arena_fmt(a, "%s/upstream-ca.pem", top).p, &st) == 0 &&
	      (st.st_mode & 0777) == 0644);
	CHECK(str_is(read_back(arena_fmt(a, "%s/upstream-ca.pem", top).p),
		     one));
	CHECK(roots_place(&r, arena_fmt(a, "%s/none", top).p, &err) == -ENOENT);
	CHECK(unlink(arena_fmt(a, "%s/corp.pem", top).p) == 0 &&
	      unlink(arena_fmt(a, "%s/upstream-ca.pem", top).p) == 0 &&
	      rmdir(top) == 0);
}

int main(void)
{
	a = arena_new();
	/* what libcrypto calls of itself leads through here, in this program */
	CHECK(libcrypto_open(&err) == 0);
	what_is_taken();
	what_is_refused();
	files();
	arena_free(a);
	return check_status();
}
