#pragma once

// GStreamer's own headers, for CGStreamerPeer, CRestream and tests.
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
