/*
 * inlet_exercise.h: drives a plug-in's library through its C interface and watches what it does, for
 * `inlet plugins verify`.
 *
 * It runs in a process of its own, which ends with the exercise: a plug-in that crashes or hangs costs nothing else.
 */
#ifndef INLET_EXERCISE_H
#define INLET_EXERCISE_H

#include <inlet_plugin.h>

/* One plane of a picture in memory: bytes of pixels in a row, rows, and bytes from row to row. */
typedef struct inlet_exercise_plane {
    uint64_t row_bytes;
    uint64_t rows;
    uint64_t stride;
} inlet_exercise_plane;

/*
 * What is to be done. All pointers stay valid until the process ends.
 *
 * The answer is sent to INLET_CHILD_SOCKET as an inlet_wire_result, whose message is one sentence. Its result is
 * INLET_OK if the plug-in passes, INLET_ERROR_INTERNAL if it breaks its contract, INLET_ERROR_TIMED_OUT if it was
 * slower than it may be, INLET_ERROR_UNSUPPORTED if the exercise does not apply to it, and INLET_ERROR_NOT_FOUND if it
 * could not be opened.
 */
typedef struct inlet_exercise {
    /* Such as "items". */
    const char *name;
    /* The path of the library, with a slash. */
    const char *library;
    /* What is opened. */
    const inlet_configuration *configuration;
    /* Not 0 for a sink, 0 for a source. */
    int32_t is_sink;
    /*
     * Lays out a picture in at most four planes. Returns their number, -1 for a format that is not known, -2 for a size
     * that is not possible.
     */
    int32_t (*layout)(const char *format, uint32_t width, uint32_t height, inlet_exercise_plane *planes);
} inlet_exercise;

/* Runs an exercise on the calling thread, answers, and ends the process. */
_Noreturn void inlet_exercise_run(const inlet_exercise *exercise);

#endif
