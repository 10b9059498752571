#include <libavutil/md5.h>
#include <libavutil/mem.h>
