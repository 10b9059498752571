#pragma once

// The checks of types are for options that are constants, as those of the functions below are not.
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

// Variadic functions, which Swift cannot call. The texts of options are copied by libcurl.
static inline CURLcode inlet_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode inlet_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode inlet_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLMcode inlet_curl_set_multi_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode inlet_curl_share_cookies(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
}

static inline long inlet_curl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

// Valid until the next transfer of the handle; NULL where there is none.
static inline const char *inlet_curl_text(CURL *easy, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

// What CURLOPT_PRIVATE was set to.
static inline void *inlet_curl_owner(CURL *easy) {
    void *owner = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &owner) == CURLE_OK ? owner : NULL;
}

// What a transfer asks its owner. Each is called on the thread that drives the transfer.
struct inlet_curl_callbacks {
    size_t (*header)(char *bytes, size_t size, size_t count, void *owner);
    size_t (*body)(char *bytes, size_t size, size_t count, void *owner);
    curl_socket_t (*open_socket)(void *owner, curlsocktype purpose, struct curl_sockaddr *address);
    int (*before_request)(void *owner, char *remote, char *local, int remote_port, int local_port);
};

static inline void inlet_curl_set_callbacks(CURL *easy, const struct inlet_curl_callbacks *callbacks, void *owner) {
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callbacks->header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, owner);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callbacks->body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, owner);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callbacks->open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, owner);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callbacks->before_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, owner);
}

// Only HTTP and HTTPS, whatever else libcurl speaks.
static inline CURLcode inlet_curl_allow_http(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

// A name service that hangs must not hold up the end of a transfer.
static inline void inlet_curl_exit_quickly(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static inline curl_socket_t inlet_curl_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// What is done, or NULL.
static inline CURL *inlet_curl_take_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

// Macros that Swift cannot import.
static const long inlet_curl_basic = (long)CURLAUTH_BASIC;
static const long inlet_curl_digest = (long)CURLAUTH_DIGEST;
static const size_t inlet_curl_pause = CURL_WRITEFUNC_PAUSE;
static const curl_socket_t inlet_curl_no_socket = CURL_SOCKET_BAD;
