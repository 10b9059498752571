import CLinux

/// The C library's allocator.
package enum Allocator {
    /// Configures glibc's allocator for a process that runs for weeks while its threads and large blocks come and go:
    /// resident memory then follows the memory in use. Call it early, because existing arenas remain.
    /// `MALLOC_ARENA_MAX`, `MALLOC_MMAP_THRESHOLD_` and `glibc.malloc.` in `GLIBC_TUNABLES` take precedence; other
    /// allocators are not changed.
    ///
    /// By default glibc makes up to eight arenas for each processor, and the threads of one arena cannot use memory
    /// freed in another; here all threads share two. It also raises, with each large block that is freed, the size from
    /// which a block has separate pages, up to 32 MB. Blocks below that size reuse pages that have been written to, so
    /// that a buffer of which only the beginning is ever used is resident as a whole; here the size stays at the
    /// initial 128 KB.
    package static func keepFlat() {
        inlet_set_allocator(2, 128 << 10)
    }
}
