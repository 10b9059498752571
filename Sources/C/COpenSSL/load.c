#include "COpenSSL.h"
#include <dlfcn.h>
#include <pthread.h>

struct inlet_openssl_functions inlet_openssl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

#define FIND(library, name)                                                          \
    inlet_openssl.name = (__typeof__(inlet_openssl.name))dlsym(library, #name);      \
    if (!inlet_openssl.name) return;

static void load(void) {
    void *ssl = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
    void *crypto = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!ssl || !crypto) return;
#define FIND_SSL(name) FIND(ssl, name)
#define FIND_CRYPTO(name) FIND(crypto, name)
    INLET_SSL_FUNCTIONS(FIND_SSL)
    INLET_CRYPTO_FUNCTIONS(FIND_CRYPTO)
    // Otherwise exit() releases memory that threads of libraries may still use, for example a WebRTC pipeline that is
    // creating its certificate.
    inlet_openssl.OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    is_loaded = true;
}

bool inlet_openssl_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}
