#pragma once

// libyuv ships no pkg-config file; the module map links it by name.
#include <libyuv.h>
