#include "COpenSSL.h"

int inlet_tls_no_passphrase(char *buffer, int size, int is_writing, void *data) {
    (void)buffer, (void)size, (void)is_writing, (void)data;
    return -1;
}

// Uses the first certificate as the server's, and all others as intermediate certificates.
static bool use_certificates(SSL_CTX *context, BIO *text) {
    X509 *own = inlet_openssl.PEM_read_bio_X509_AUX(text, NULL, inlet_tls_no_passphrase, NULL);
    if (!own) return false;
    int is_used = inlet_openssl.SSL_CTX_use_certificate(context, own);
    inlet_openssl.X509_free(own);
    if (is_used != 1) return false;
    X509 *next;
    while ((next = inlet_openssl.PEM_read_bio_X509(text, NULL, inlet_tls_no_passphrase, NULL))) {
        // The context owns it if this succeeds.
        if (inlet_openssl.SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 0, next) != 1) {
            inlet_openssl.X509_free(next);
            return false;
        }
    }
    // Any error other than the end of the text is a failure.
    unsigned long code = inlet_openssl.ERR_peek_last_error();
    if (ERR_GET_LIB(code) != ERR_LIB_PEM || ERR_GET_REASON(code) != PEM_R_NO_START_LINE) return false;
    inlet_openssl.ERR_clear_error();
    return true;
}

SSL_CTX *inlet_tls_server_context(
    const void *certificate, int certificate_count, const void *key, int key_count, enum inlet_tls_fault *fault) {
    inlet_openssl.ERR_clear_error();
    SSL_CTX *context = inlet_openssl.SSL_CTX_new(inlet_openssl.TLS_server_method());
    BIO *certificates = inlet_openssl.BIO_new_mem_buf(certificate, certificate_count);
    BIO *keys = inlet_openssl.BIO_new_mem_buf(key, key_count);
    EVP_PKEY *pair = NULL;
    *fault = INLET_TLS_NO_MEMORY;
    if (!context || !certificates || !keys) goto end;
    inlet_openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    inlet_openssl.SSL_CTX_ctrl(
        context, SSL_CTRL_MODE, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS, NULL);
    // Without this, a client could request one handshake after another, which costs the server far more than the
    // client. Tickets contain the state of a session, so that the server keeps none.
    inlet_openssl.SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION);
    inlet_openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
    *fault = INLET_TLS_BAD_CERTIFICATE;
    if (!use_certificates(context, certificates)) goto end;
    *fault = INLET_TLS_BAD_KEY;
    pair = inlet_openssl.PEM_read_bio_PrivateKey(keys, NULL, inlet_tls_no_passphrase, NULL);
    if (!pair) goto end;
    *fault = INLET_TLS_NO_PAIR;
    if (inlet_openssl.SSL_CTX_use_PrivateKey(context, pair) != 1) goto end;
    if (inlet_openssl.SSL_CTX_check_private_key(context) != 1) goto end;
    *fault = INLET_TLS_NO_FAULT;
end:
    if (pair) inlet_openssl.EVP_PKEY_free(pair);
    if (keys) inlet_openssl.BIO_free(keys);
    if (certificates) inlet_openssl.BIO_free(certificates);
    if (*fault == INLET_TLS_NO_FAULT) return context;
    if (context) inlet_openssl.SSL_CTX_free(context);
    return NULL;
}

SSL *inlet_tls_server_connection(SSL_CTX *context, BIO **incoming, BIO **outgoing) {
    SSL *tls = inlet_tls_in_memory(context, incoming, outgoing);
    if (tls) inlet_openssl.SSL_set_accept_state(tls);
    return tls;
}
