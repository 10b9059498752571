#pragma once

// curl's type checks work only for constant options. The options of the functions below are variables.
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>
#include <stdbool.h>

// The functions of libcurl that are called. They are found when it is loaded, by `inlet_curl_load`.
#define INLET_CURL_FUNCTIONS(X)                                                                             \
    X(global_init) X(easy_init) X(easy_cleanup) X(easy_pause) X(easy_setopt) X(easy_getinfo) X(free)        \
    X(multi_init) X(multi_cleanup) X(multi_add_handle) X(multi_remove_handle) X(multi_perform)              \
    X(multi_poll) X(multi_info_read) X(multi_setopt) X(share_init) X(share_cleanup) X(share_setopt)         \
    X(slist_append) X(slist_free_all) X(url) X(url_cleanup) X(url_get) X(url_set)

#define INLET_CURL_DECLARE(name) __typeof__(curl_##name) *name;
struct inlet_curl_functions { INLET_CURL_FUNCTIONS(INLET_CURL_DECLARE) };
#undef INLET_CURL_DECLARE
extern struct inlet_curl_functions inlet_curl;

// Loads libcurl, once per process. Safe on any thread.
//
// Returns false if it is not installed, is too old, or could not be initialised. The functions below that create
// something then return NULL, and the others need what these create.
bool inlet_curl_load(void);

static inline CURL *inlet_curl_easy_init(void) { return inlet_curl_load() ? inlet_curl.easy_init() : NULL; }
static inline CURLM *inlet_curl_multi_init(void) { return inlet_curl_load() ? inlet_curl.multi_init() : NULL; }
static inline CURLSH *inlet_curl_share_init(void) { return inlet_curl_load() ? inlet_curl.share_init() : NULL; }
static inline CURLU *inlet_curl_url(void) { return inlet_curl_load() ? inlet_curl.url() : NULL; }

static inline struct curl_slist *inlet_curl_slist_append(struct curl_slist *list, const char *text) {
    return inlet_curl_load() ? inlet_curl.slist_append(list, text) : NULL;
}

static inline void inlet_curl_slist_free_all(struct curl_slist *list) {
    if (list) inlet_curl.slist_free_all(list);
}

static inline void inlet_curl_free(void *memory) { inlet_curl.free(memory); }
static inline void inlet_curl_easy_cleanup(CURL *easy) { inlet_curl.easy_cleanup(easy); }
static inline CURLcode inlet_curl_easy_pause(CURL *easy, int what) { return inlet_curl.easy_pause(easy, what); }
static inline CURLMcode inlet_curl_multi_cleanup(CURLM *multi) { return inlet_curl.multi_cleanup(multi); }
static inline CURLSHcode inlet_curl_share_cleanup(CURLSH *share) { return inlet_curl.share_cleanup(share); }
static inline void inlet_curl_url_cleanup(CURLU *url) { inlet_curl.url_cleanup(url); }

static inline CURLMcode inlet_curl_multi_add_handle(CURLM *multi, CURL *easy) {
    return inlet_curl.multi_add_handle(multi, easy);
}

static inline CURLMcode inlet_curl_multi_remove_handle(CURLM *multi, CURL *easy) {
    return inlet_curl.multi_remove_handle(multi, easy);
}

static inline CURLMcode inlet_curl_multi_perform(CURLM *multi, int *running) {
    return inlet_curl.multi_perform(multi, running);
}

static inline CURLMcode inlet_curl_multi_poll(
    CURLM *multi, struct curl_waitfd *others, unsigned count, int milliseconds, int *ready) {
    return inlet_curl.multi_poll(multi, others, count, milliseconds, ready);
}

static inline CURLUcode inlet_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags) {
    return inlet_curl.url_get(url, part, text, flags);
}

static inline CURLUcode inlet_curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned flags) {
    return inlet_curl.url_set(url, part, text, flags);
}

// Variadic functions, which Swift cannot call. libcurl copies the texts of options.
static inline CURLcode inlet_curl_set_number(CURL *easy, CURLoption option, long value) {
    return inlet_curl.easy_setopt(easy, option, value);
}

static inline CURLcode inlet_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return inlet_curl.easy_setopt(easy, option, value);
}

static inline CURLcode inlet_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return inlet_curl.easy_setopt(easy, option, value);
}

static inline CURLMcode inlet_curl_set_multi_number(CURLM *multi, CURLMoption option, long value) {
    return inlet_curl.multi_setopt(multi, option, value);
}

static inline CURLSHcode inlet_curl_share_cookies(CURLSH *share) {
    return inlet_curl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
}

static inline long inlet_curl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return inlet_curl.easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

// Valid until the next transfer of the handle; NULL if there is no such text.
static inline const char *inlet_curl_text(CURL *easy, CURLINFO info) {
    char *value = NULL;
    return inlet_curl.easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

// Returns the value of CURLOPT_PRIVATE.
static inline void *inlet_curl_owner(CURL *easy) {
    void *owner = NULL;
    return inlet_curl.easy_getinfo(easy, CURLINFO_PRIVATE, &owner) == CURLE_OK ? owner : NULL;
}

// Callbacks of a transfer. All are called on the thread that drives the transfer.
struct inlet_curl_callbacks {
    size_t (*header)(char *bytes, size_t size, size_t count, void *owner);
    size_t (*body)(char *bytes, size_t size, size_t count, void *owner);
    curl_socket_t (*open_socket)(void *owner, curlsocktype purpose, struct curl_sockaddr *address);
    int (*before_request)(void *owner, char *remote, char *local, int remote_port, int local_port);
};

static inline void inlet_curl_set_callbacks(CURL *easy, const struct inlet_curl_callbacks *callbacks, void *owner) {
    inlet_curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, callbacks->header);
    inlet_curl.easy_setopt(easy, CURLOPT_HEADERDATA, owner);
    inlet_curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, callbacks->body);
    inlet_curl.easy_setopt(easy, CURLOPT_WRITEDATA, owner);
    inlet_curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callbacks->open_socket);
    inlet_curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, owner);
    inlet_curl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, callbacks->before_request);
    inlet_curl.easy_setopt(easy, CURLOPT_PREREQDATA, owner);
}

// Restricts a handle to HTTP and HTTPS. If this fails, all protocols of libcurl are allowed.
__attribute__((warn_unused_result)) static inline CURLcode inlet_curl_allow_http(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    // The library may be older than its header.
    if (inlet_curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK) return CURLE_OK;
#endif
    return inlet_curl.easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}

// Prevents a hanging name service from delaying the end of a transfer.
static inline void inlet_curl_exit_quickly(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    inlet_curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static inline curl_socket_t inlet_curl_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Returns a completed transfer and its result, or NULL if no transfer has completed.
static inline CURL *inlet_curl_take_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = inlet_curl.multi_info_read(multi, &left))) {
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
