// The parts of the system's OpenSSL 3 that TLS clients and servers need. OpenSSL is loaded on first use, because most
// processes have no TLS connection of this kind.
#pragma once

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

// The functions of libssl and libcrypto that Inlet calls, found when the libraries are loaded.
#define INLET_SSL_FUNCTIONS(X)                                                                              \
    X(TLS_client_method) X(SSL_CTX_new) X(SSL_CTX_free) X(SSL_CTX_ctrl) X(SSL_CTX_set_verify)               \
    X(SSL_CTX_set_default_verify_paths) X(SSL_CTX_load_verify_file) X(SSL_new) X(SSL_free) X(SSL_set_fd)    \
    X(SSL_set_connect_state) X(SSL_do_handshake) X(SSL_read) X(SSL_write) X(SSL_pending) X(SSL_get_error)   \
    X(SSL_ctrl) X(SSL_set1_host) X(SSL_get0_param) X(SSL_get_verify_result) X(SSL_get1_peer_certificate)    \
    X(SSL_shutdown) X(SSL_set_bio) X(TLS_server_method) X(SSL_CTX_set_options) X(SSL_CTX_use_certificate)    \
    X(SSL_CTX_use_PrivateKey) X(SSL_CTX_check_private_key) X(SSL_set_accept_state)
#define INLET_CRYPTO_FUNCTIONS(X)                                                                           \
    X(OPENSSL_init_crypto)                                                                                  \
    X(ERR_clear_error) X(ERR_peek_last_error) X(ERR_reason_error_string) X(X509_digest) X(X509_free)        \
    X(EVP_sha256) X(X509_VERIFY_PARAM_set1_ip_asc) X(X509_verify_cert_error_string)              \
    X(BIO_new) X(BIO_s_mem) X(BIO_free) X(BIO_read) X(BIO_write) X(BIO_new_mem_buf)                         \
    X(PEM_read_bio_X509_AUX) X(PEM_read_bio_X509) X(PEM_read_bio_PrivateKey) X(EVP_PKEY_free)

#define INLET_DECLARE(name) __typeof__(name) *name;
struct inlet_openssl_functions {
    INLET_SSL_FUNCTIONS(INLET_DECLARE)
    INLET_CRYPTO_FUNCTIONS(INLET_DECLARE)
};
#undef INLET_DECLARE
extern struct inlet_openssl_functions inlet_openssl;

// Loads OpenSSL, once per process. Unless another library has initialised OpenSSL before, exit() does not release its
// memory. Safe on any thread. Returns false if it is not installed or older than 3.0; the functions below must not be
// called then.
bool inlet_openssl_load(void);

// Makes a context for a client of TLS 1.2 or later.
//
// authorities: a PEM file with certificate authorities; NULL for the system's.
// Returns NULL if there is no memory, or the file holds no certificate.
static inline SSL_CTX *inlet_tls_context(bool verifies, const char *authorities) {
    SSL_CTX *context = inlet_openssl.SSL_CTX_new(inlet_openssl.TLS_client_method());
    if (!context) return NULL;
    inlet_openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    inlet_openssl.SSL_CTX_ctrl(
        context, SSL_CTRL_MODE,
        SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS, NULL);
    inlet_openssl.SSL_CTX_set_verify(context, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    int found = authorities ? inlet_openssl.SSL_CTX_load_verify_file(context, authorities)
                            : inlet_openssl.SSL_CTX_set_default_verify_paths(context);
    if (verifies && found != 1) {
        inlet_openssl.SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

// Sets the name or numeric address that the certificate must be issued for. Returns whether this succeeded.
static inline bool inlet_tls_set_host(SSL *tls, const char *host, bool is_address) {
    if (is_address) return inlet_openssl.X509_VERIFY_PARAM_set1_ip_asc(inlet_openssl.SSL_get0_param(tls), host);
    // The server name of RFC 6066 is never an address.
    return inlet_openssl.SSL_set1_host(tls, host)
        && inlet_openssl.SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)host);
}

// Makes a client's connection over a socket, which the caller continues to own.
//
// host: the name or numeric address that the certificate must be issued for.
static inline SSL *inlet_tls_connection(SSL_CTX *context, int descriptor, const char *host, bool is_address) {
    SSL *tls = inlet_openssl.SSL_new(context);
    if (!tls) return NULL;
    if (!inlet_tls_set_host(tls, host, is_address) || inlet_openssl.SSL_set_fd(tls, descriptor) != 1) {
        inlet_openssl.SSL_free(tls);
        return NULL;
    }
    inlet_openssl.SSL_set_connect_state(tls);
    return tls;
}

// Makes a connection whose encrypted bytes are in memory: received bytes are put into `incoming`, and bytes to send are
// taken from `outgoing`. Both are freed with the connection.
static inline SSL *inlet_tls_in_memory(SSL_CTX *context, BIO **incoming, BIO **outgoing) {
    SSL *tls = inlet_openssl.SSL_new(context);
    if (!tls) return NULL;
    *incoming = inlet_openssl.BIO_new(inlet_openssl.BIO_s_mem());
    *outgoing = inlet_openssl.BIO_new(inlet_openssl.BIO_s_mem());
    if (!*incoming || !*outgoing) {
        if (*incoming) inlet_openssl.BIO_free(*incoming);
        if (*outgoing) inlet_openssl.BIO_free(*outgoing);
        inlet_openssl.SSL_free(tls);
        return NULL;
    }
    inlet_openssl.SSL_set_bio(tls, *incoming, *outgoing);
    return tls;
}

// Makes a client's connection in memory, as inlet_tls_in_memory does.
//
// host: the name or numeric address that the certificate must be issued for.
static inline SSL *inlet_tls_connection_in_memory(
    SSL_CTX *context, const char *host, bool is_address, BIO **incoming, BIO **outgoing) {
    SSL *tls = inlet_tls_in_memory(context, incoming, outgoing);
    if (!tls) return NULL;
    if (!inlet_tls_set_host(tls, host, is_address)) {
        inlet_openssl.SSL_free(tls);
        return NULL;
    }
    inlet_openssl.SSL_set_connect_state(tls);
    return tls;
}

// The reason why a server's context could not be made.
enum inlet_tls_fault {
    INLET_TLS_NO_FAULT, INLET_TLS_NO_MEMORY, INLET_TLS_BAD_CERTIFICATE, INLET_TLS_BAD_KEY, INLET_TLS_NO_PAIR,
};

// Returns an empty passphrase. By default OpenSSL would ask for one on the terminal.
int inlet_tls_no_passphrase(char *buffer, int size, int is_writing, void *data);

// Makes a context for a server of TLS 1.2 or later.
//
// certificate: PEM of the certificate, followed by the intermediate certificates. key: PEM of its private key. Returns
// NULL and the fault if they cannot be used.
SSL_CTX *inlet_tls_server_context(
    const void *certificate, int certificate_count, const void *key, int key_count, enum inlet_tls_fault *fault);

// Makes a server's connection in memory, as inlet_tls_in_memory does.
SSL *inlet_tls_server_connection(SSL_CTX *context, BIO **incoming, BIO **outgoing);

// Puts received encrypted bytes into memory. Returns their number: all, unless there is no memory.
static inline int inlet_tls_put(BIO *incoming, const void *bytes, int count) {
    return inlet_openssl.BIO_write(incoming, bytes, count);
}

// Takes encrypted bytes to send. Returns their number, which is 0 or less if there are no bytes.
static inline int inlet_tls_take(BIO *outgoing, void *bytes, int count) {
    return inlet_openssl.BIO_read(outgoing, bytes, count);
}

static inline void inlet_tls_free_context(SSL_CTX *context) { inlet_openssl.SSL_CTX_free(context); }
static inline void inlet_tls_free(SSL *tls) { inlet_openssl.SSL_free(tls); }

// The following functions return the result of a call. SSL_ERROR_WANT_READ and SSL_ERROR_WANT_WRITE mean that the call
// must be repeated later.
static inline int inlet_tls_handshake(SSL *tls) {
    inlet_openssl.ERR_clear_error();
    int result = inlet_openssl.SSL_do_handshake(tls);
    return result == 1 ? SSL_ERROR_NONE : inlet_openssl.SSL_get_error(tls, result);
}

static inline int inlet_tls_read(SSL *tls, void *bytes, int count, int *done) {
    inlet_openssl.ERR_clear_error();
    int result = inlet_openssl.SSL_read(tls, bytes, count);
    *done = result > 0 ? result : 0;
    return result > 0 ? SSL_ERROR_NONE : inlet_openssl.SSL_get_error(tls, result);
}

static inline int inlet_tls_write(SSL *tls, const void *bytes, int count, int *done) {
    inlet_openssl.ERR_clear_error();
    int result = inlet_openssl.SSL_write(tls, bytes, count);
    *done = result > 0 ? result : 0;
    return result > 0 ? SSL_ERROR_NONE : inlet_openssl.SSL_get_error(tls, result);
}

static inline int inlet_tls_pending(SSL *tls) { return inlet_openssl.SSL_pending(tls); }

// Tells the other side that no data follows. Does not wait for its answer.
static inline void inlet_tls_shut_down(SSL *tls) {
    inlet_openssl.ERR_clear_error();
    inlet_openssl.SSL_shutdown(tls);
}

// The reason why the certificate is not trusted; NULL if it is trusted or was not checked.
static inline const char *inlet_tls_distrust(SSL *tls) {
    long result = inlet_openssl.SSL_get_verify_result(tls);
    return result == X509_V_OK ? NULL : inlet_openssl.X509_verify_cert_error_string(result);
}

// OpenSSL's text for the reason of the last failure; NULL if it has no reason.
static inline const char *inlet_tls_reason(void) {
    return inlet_openssl.ERR_reason_error_string(inlet_openssl.ERR_peek_last_error());
}

// Writes the SHA-256 of the server's certificate, 32 bytes. Returns false if the server sent no certificate.
static inline bool inlet_tls_fingerprint(SSL *tls, unsigned char *digest) {
    X509 *certificate = inlet_openssl.SSL_get1_peer_certificate(tls);
    if (!certificate) return false;
    unsigned count = 0;
    int is_made = inlet_openssl.X509_digest(certificate, inlet_openssl.EVP_sha256(), digest, &count);
    inlet_openssl.X509_free(certificate);
    return is_made == 1 && count == 32;
}
