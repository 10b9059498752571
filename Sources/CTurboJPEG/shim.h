#pragma once

// libjpeg-turbo's own interface, of which the functions here are in versions 1.4 to 3.
#include <turbojpeg.h>
