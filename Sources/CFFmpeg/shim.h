#pragma once

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

// Macros that Swift cannot import.
static const int inlet_averror_eof = AVERROR_EOF;
static const int inlet_averror_eagain = AVERROR(EAGAIN);
static const int inlet_averror_exit = AVERROR_EXIT;
static const int inlet_averror_invaliddata = AVERROR_INVALIDDATA;
static const int64_t inlet_av_nopts_value = AV_NOPTS_VALUE;
