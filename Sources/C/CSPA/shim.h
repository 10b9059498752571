#pragma once

// PipeWire's SPA, which consists only of headers. This module provides its compiler flags to CScreenCast.
