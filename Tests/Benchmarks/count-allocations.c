// Counts allocations of at least 64 KiB, because only pictures and packets are that large. Load it with LD_PRELOAD.
// When the process ends, it writes one JSON object to the file named by COUNT_ALLOCATIONS:
// {"big_allocations":N,"big_bytes":N}.
//
// COUNT_ALLOCATIONS_FROM sets another minimum size in bytes.
//
// It counts malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign and anonymous mmap of the program and its
// libraries. malloc's own mmap for a large block is inside the C library and not counted twice.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t big = 64 * 1024;
static atomic_ulong allocations, bytes;

// glibc exports these next to malloc and similar functions, so the first allocation needs no symbol lookup.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count(size_t size) {
    if (size < big) return;
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    size_t total;
    if (!__builtin_mul_overflow(number, size, &total)) count(total);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count(size);
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *result = aligned_alloc(alignment, size);
    if (!result) return 12; // ENOMEM
    *memory = result;
    return 0;
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (!next) next = dlsym(RTLD_NEXT, "mmap");
    // Thread stacks are not memory for pictures.
    if ((flags & MAP_ANONYMOUS) && !(flags & MAP_STACK)) count(length);
    return next(address, length, protection, flags, descriptor, offset);
}

__attribute__((constructor)) static void choose(void) {
    const char *least = getenv("COUNT_ALLOCATIONS_FROM");
    if (least) big = strtoul(least, NULL, 10);
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("COUNT_ALLOCATIONS");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : STDERR_FILENO;
    dprintf(file, "{\"big_allocations\":%lu,\"big_bytes\":%lu}\n", atomic_load(&allocations), atomic_load(&bytes));
    if (path) close(file);
}
