#pragma once

// PipeWire's SPA, which is headers alone, for CScreenCast: its flags are what this module is for.
