#include "exercise.h"

#include <errno.h>
#include <inlet_plugin_protocol.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLERS = 8, SIGNAL_STACK = 64 << 10 };

static struct {
    _Atomic(const char *) function;
    atomic_llong until, limit;
    int64_t begin;
} calls[CALLERS];
static atomic_int callers;
static _Thread_local int caller = -1;

static struct {
    const uint8_t *start;
    size_t length;
    const char *what;
} guards[GUARDS];

int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

void sleep_for(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / SECOND, nanoseconds % SECOND};
    while (nanosleep(&time, &time) < 0 && errno == EINTR) continue;
}

_Thread_local int64_t excuse;
static _Thread_local int64_t delay_before, host_time;

/*
 * The time that this thread has waited for a processor (Documentation/scheduler/sched-stats.rst); 0 if the system does
 * not count it.
 */
static int64_t run_delay(void) {
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    if (!file) return 0;
    long long running, waiting;
    int64_t delay = fscanf(file, "%lld %lld", &running, &waiting) == 2 ? waiting : 0;
    fclose(file);
    return delay;
}

void excuse_host(int64_t nanoseconds) { host_time += nanoseconds; }

void enter(const char *function, int64_t limit) {
    host_time = 0;
    delay_before = run_delay();
    if (caller < 0) caller = atomic_fetch_add(&callers, 1) % CALLERS;
    atomic_store(&calls[caller].function, function);
    atomic_store(&calls[caller].limit, limit);
    calls[caller].begin = now();
    atomic_store(&calls[caller].until, calls[caller].begin + limit);
}

int64_t leave(void) {
    int64_t duration = now() - calls[caller].begin;
    excuse = run_delay() - delay_before + host_time;
    atomic_store(&calls[caller].until, INT64_MAX);
    atomic_store(&calls[caller].function, NULL);
    return duration;
}

void name_guard(int index, const void *start, size_t length, const char *what) {
    if (index < 0 || index >= GUARDS) return;
    guards[index].start = start;
    guards[index].length = length;
    guards[index].what = what;
}

static const char *name_of(int number) {
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGABRT: return "SIGABRT";
    case SIGTRAP: return "SIGTRAP";
    case SIGPIPE: return "SIGPIPE";
    default: return "a signal";
    }
}

/*
 * Reports a crash. It calls functions that a signal handler should not call, but the process could only end otherwise.
 */
static void crashed(int number, siginfo_t *facts, void *context) {
    (void)context;
    const char *function = caller >= 0 ? atomic_load(&calls[caller].function) : NULL;
    const uint8_t *address = facts->si_addr;
    const char *what = NULL;
    for (int i = 0; (number == SIGSEGV || number == SIGBUS) && i < GUARDS; i++)
        if (guards[i].length && address >= guards[i].start && address < guards[i].start + guards[i].length)
            what = guards[i].what;
    char place[96];
    if (function) snprintf(place, sizeof place, "%s", function);
    else if (caller >= 0) snprintf(place, sizeof place, "the plug-in, between two calls of its functions,");
    else snprintf(place, sizeof place, "one of the plug-in's own threads");
    if (what) FAIL("%s crashed (%s): it touched memory %s.", place, name_of(number), what);
    FAIL("%s crashed (%s) at the address %p. Run it in a debugger with inlet run --in-process.", place, name_of(number),
        (const void *)address);
}

static void exited(void) {
    const char *function = caller >= 0 ? atomic_load(&calls[caller].function) : NULL;
    FAIL("%s ended the process with exit(). Return an error instead.", function ? function : "One of the "
         "plug-in's own threads");
}

static void give_signal_stack(void) {
    stack_t stack = {.ss_sp = malloc(SIGNAL_STACK), .ss_size = SIGNAL_STACK};
    if (stack.ss_sp) sigaltstack(&stack, NULL);
}

static void *watch(void *data) {
    (void)data;
    struct pollfd socket = {.fd = INLET_CHILD_SOCKET};
    for (;;) {
        /* With no requested events, poll reports only that the other end was closed. */
        if (poll(&socket, 1, 50) > 0) _exit(76);
        for (int i = 0; i < CALLERS; i++) {
            if (now() <= atomic_load(&calls[i].until)) continue;
            const char *function = atomic_load(&calls[i].function);
            if (!function) continue;
            FAIL("%s did not return within %.1f s. Respect its deadline and wake_fd, and never wait without a time "
                 "limit.",
                function, (double)atomic_load(&calls[i].limit) / 1e9);
        }
    }
}

void watch_calls(void) {
    for (int i = 0; i < CALLERS; i++) atomic_store(&calls[i].until, INT64_MAX);
    give_signal_stack();
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
        sigaction(numbers[i], &action, NULL);
    }
    atexit(exited);
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL)) end_with(NOT_APPLICABLE, "Not enough memory for a thread.");
}

struct thread_start {
    void *(*body)(void *);
    void *data;
};

static void *run_thread(void *data) {
    struct thread_start start = *(struct thread_start *)data;
    free(data);
    give_signal_stack();
    is_caller = 1;
    return start.body(start.data);
}

pthread_t start_thread(void *(*body)(void *), void *data) {
    struct thread_start *start = malloc(sizeof *start);
    pthread_t thread;
    if (start) *start = (struct thread_start){body, data};
    if (!start || pthread_create(&thread, NULL, run_thread, start))
        end_with(NOT_APPLICABLE, "Not enough memory for a thread.");
    return thread;
}
