#pragma once

// libjpeg-turbo's own interface. The functions that Inlet uses exist in versions 1.4 to 3.
#include <turbojpeg.h>
