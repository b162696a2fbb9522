/*
 * The session's own certificate authority, and the leaves it signs.
 *
 * ECDSA P-256 throughout. The CA's key is made here and never written: only
 * the leaves' keys are, which HAProxy needs. Names go into the SAN alone, so
 * that none is too long for a common name (64 characters: X.520); the subject
 * says whose certificate it is. Profile: RFC 5280; what clients insist on
 * (extended key usage, key identifiers, at most 397 days) is there.
 */
#ifndef RUNTIME_GATE_L7_CA_H
#define RUNTIME_GATE_L7_CA_H

#include "compiler/base/err.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

#define CA_DAYS	     365
#define CA_NAMES_MAX 100u /* in one leaf */
#define CA_CERT_MAX  2048u
/* A leaf with its key: names are twice as long in base64 at most. */
#define CA_LEAF_MAX (4096u + CA_NAMES_MAX * 400u)

struct ca {
	EVP_PKEY *key;
	X509 *cert;
};

/* A new key and a certificate of its own. Zeroed by the caller. */
must_check int ca_new(struct ca *ca, struct err *err);
void ca_done(struct ca *ca);
/* The certificate in PEM, with a NUL. */
must_check int ca_pem(const struct ca *ca, char out[CA_CERT_MAX],
		      struct err *err);
/*
 * A leaf for 1 to CA_NAMES_MAX names (host names, or with "*" as the first
 * label), and its new key, both in PEM, with a NUL behind *out_n bytes.
 */
must_check int ca_leaf(const struct ca *ca, const struct str *names, size_t n,
		       char out[CA_LEAF_MAX], size_t *out_n, struct err *err);

#endif
