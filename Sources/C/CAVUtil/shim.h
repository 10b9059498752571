#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <libavutil/sha.h>
