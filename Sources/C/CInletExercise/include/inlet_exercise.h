/*
 * inlet_exercise.h: calls a plug-in's library through its C interface and checks its behaviour, for `inlet plugins
 * verify`.
 *
 * Each exercise runs in a separate process, so that a plug-in that crashes or hangs affects nothing else.
 */
#ifndef INLET_EXERCISE_H
#define INLET_EXERCISE_H

#include <inlet_plugin.h>

/*
 * One plane of a picture in memory: the bytes of pixels in a row, the number of rows, and the bytes from one row to the
 * next.
 */
typedef struct inlet_exercise_plane {
    uint64_t row_bytes;
    uint64_t rows;
    uint64_t stride;
} inlet_exercise_plane;

/*
 * An exercise. All pointers stay valid until the process ends.
 *
 * The answer is sent to INLET_CHILD_SOCKET as an inlet_wire_result, whose message is one sentence. Its result is
 * INLET_OK if the plug-in passes, INLET_ERROR_INTERNAL if it breaks its contract, INLET_ERROR_TIMED_OUT if it was too
 * slow, INLET_ERROR_UNSUPPORTED if the exercise does not apply to it, and INLET_ERROR_NOT_FOUND if it could not be
 * opened.
 */
typedef struct inlet_exercise {
    /* The name of the exercise, such as "items". */
    const char *name;
    /* The path of the library. Must contain a slash. */
    const char *library;
    /* The source or sink to open. */
    const inlet_configuration *configuration;
    /* Not 0 for a sink, 0 for a source. */
    int32_t is_sink;
    /*
     * Lays out a picture in at most four planes. Returns the number of planes, -1 for an unknown format, or -2 for an
     * impossible size.
     */
    int32_t (*layout)(const char *format, uint32_t width, uint32_t height, inlet_exercise_plane *planes);
} inlet_exercise;

/* Runs an exercise on the calling thread, answers, and ends the process. */
_Noreturn void inlet_exercise_run(const inlet_exercise *exercise);

#endif
