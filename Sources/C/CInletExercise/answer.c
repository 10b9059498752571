#include "exercise.h"

#include <inlet_plugin_protocol.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

char remark_text[256];
static inlet_result opening_result;
static atomic_flag is_answered = ATOMIC_FLAG_INIT;

void remark(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(remark_text, sizeof remark_text, format, arguments);
    va_end(arguments);
}

_Noreturn void end_with(enum outcome outcome, const char *format, ...) {
    static const inlet_result results[] = {
        [PASSED] = INLET_OK, [FAILED] = INLET_ERROR_INTERNAL, [LATE] = INLET_ERROR_TIMED_OUT,
        [NOT_APPLICABLE] = INLET_ERROR_UNSUPPORTED, [NOT_OPENED] = INLET_ERROR_NOT_FOUND};
    /* The first thread that answers ends the process. */
    if (atomic_flag_test_and_set(&is_answered))
        for (;;) pause();
    inlet_wire_result answer = {
        .type = INLET_MESSAGE_RESULT, .result = results[outcome], .native_code = opening_result};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(answer.message, sizeof answer.message, format, arguments);
    va_end(arguments);
    /* The message may contain text of the plug-in, and must not end within a character. */
    size_t length = strlen(answer.message);
    if (length == sizeof answer.message - 1)
        while (length > 0 && ((uint8_t)answer.message[length] & 0xc0) != 0x00 && (answer.message[length - 1] & 0x80))
            answer.message[--length] = 0;
    struct pollfd socket = {.fd = INLET_CHILD_SOCKET, .events = POLLOUT};
    while (send(INLET_CHILD_SOCKET, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        if (poll(&socket, 1, 1000) <= 0 || socket.revents & (POLLHUP | POLLERR)) break;
    _exit(0);
}

_Noreturn void cannot_open(const char *function, inlet_result result, const char *message) {
    if (rounds_of && rounds_done > 0)
        FAIL("%s leaks a limited resource: in round %d, %s failed with %d for the first time: %.200s There "
             "are %d descriptors and %d threads now.",
            rounds_of, rounds_done + 1, function, result, message, take_facts().descriptors, take_facts().threads);
    opening_result = result;
    end_with(NOT_OPENED, "%s failed with %d: %.300s", function, result, message);
}

static const struct {
    const char *name;
    void (*run)(void);
    int needs_kind; /* 0 any, 1 a source, 2 a sink */
} exercises[] = {
    {"symbols", exercise_symbols, 0},
    {"interfaces", exercise_interfaces, 0},
    {"init", exercise_init, 0},
    {"items", exercise_items, 1},
    {"few-items", exercise_few_items, 1},
    {"cancellation", exercise_cancellation, 1},
    {"deadline", exercise_deadline, 1},
    {"pause", exercise_pause, 1},
    {"errors", exercise_errors, 1},
    {"leaks", exercise_leaks, 1},
    {"lending", exercise_lending, 1},
    {"threads", exercise_threads, 1},
    {"output", exercise_output, 1},
    {"sink", exercise_sink, 2},
    {"sink-leaks", exercise_sink_leaks, 2},
};

_Noreturn void inlet_exercise_run(const inlet_exercise *wanted) {
    exercise = wanted;
    is_caller = 1;
    watch_calls();
    for (size_t i = 0; i < sizeof exercises / sizeof *exercises; i++) {
        if (strcmp(exercises[i].name, wanted->name)) continue;
        if (exercises[i].needs_kind && exercises[i].needs_kind != (wanted->is_sink ? 2 : 1))
            end_with(NOT_APPLICABLE, "Only for %s.", wanted->is_sink ? "sources" : "sinks");
        exercises[i].run();
        end_with(PASSED, "%s", remark_text);
    }
    end_with(NOT_APPLICABLE, "This inlet-plugin-host has no exercise '%s'.", wanted->name);
}
