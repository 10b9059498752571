// The part of libavfilter that filters pictures. It is loaded when a picture is first filtered, because loading it
// takes a tenth of a second and most processes filter nothing.
#pragma once

#include <stdbool.h>

// Loads libavfilter, once per process. Safe on any thread. Returns false if it is not installed, or is not the version
// that this file was compiled for. The functions below must not be called then.
bool inlet_avfilter_load(void);

// Whether libavfilter was built with a filter.
bool inlet_avfilter_has(const char *name);

// A chain of filters for pictures of one format and size. Confined to one thread at a time; it starts no thread.
struct inlet_filter;

// Makes a chain of filters, in the syntax of ffmpeg's option -vf, for pictures like `first`, an AVFrame. Returns 0 or
// an AVERROR code. Release the chain with `inlet_filter_close`.
int inlet_filter_open(struct inlet_filter **filter, const char *filters, const void *first);

// Sends a picture to the chain: an AVFrame with reference-counted buffers, to which the chain adds references. NULL
// marks the end. Returns 0 or an AVERROR code.
int inlet_filter_send(struct inlet_filter *filter, void *frame);

// Moves the next picture into an empty AVFrame. Returns 0, AVERROR(EAGAIN) if another picture must be sent first,
// AVERROR_EOF after the last one, or another AVERROR code.
int inlet_filter_receive(struct inlet_filter *filter, void *frame);

// Releases a chain and the pictures in it. Does nothing for NULL.
void inlet_filter_close(struct inlet_filter *filter);
