// The part of libavfilter that filters pictures. It is loaded when a picture is first filtered, because loading it
// takes a tenth of a second and most processes filter nothing.
#pragma once

#include <stdbool.h>

// Loads libavfilter, once a process. Safe on any thread. Returns false if it is not installed, or not in the version
// that this was compiled for: nothing below may be called then.
bool inlet_avfilter_load(void);

// Whether libavfilter was built with a filter.
bool inlet_avfilter_has(const char *name);

// A line of filters for pictures of one format and size. Confined to one thread at a time; it starts no thread.
struct inlet_filter;

// Makes a line of filters, in the syntax of ffmpeg's option -vf, for pictures such as `first`, an AVFrame. Returns 0 or
// an AVERROR code. The line is to be released by `inlet_filter_close`.
int inlet_filter_open(struct inlet_filter **filter, const char *filters, const void *first);

// Puts a picture in: an AVFrame with reference-counted buffers, to which the line adds references. NULL is the end.
// Returns 0 or an AVERROR code.
int inlet_filter_send(struct inlet_filter *filter, void *frame);

// Moves the next picture into an empty AVFrame. Returns 0, AVERROR(EAGAIN) if another picture must be put in first,
// AVERROR_EOF after the last one, or another AVERROR code.
int inlet_filter_receive(struct inlet_filter *filter, void *frame);

// Releases a line and the pictures that it holds. Does nothing for NULL.
void inlet_filter_close(struct inlet_filter *filter);
