// Loads libcurl when it is first needed. It brings OpenSSL and a dozen other libraries with it, which a process that
// reads no HTTP would otherwise load, relocate and keep in memory.

#include "CCurl.h"
#include <dlfcn.h>
#include <pthread.h>

struct inlet_curl_functions inlet_curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
#define INLET_CURL_FIND(name)                                                        \
    inlet_curl.name = (__typeof__(inlet_curl.name))dlsym(library, "curl_" #name);    \
    if (!inlet_curl.name) return;
    INLET_CURL_FUNCTIONS(INLET_CURL_FIND)
    is_loaded = inlet_curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

bool inlet_curl_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}
