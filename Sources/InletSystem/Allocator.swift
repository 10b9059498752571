#if os(Linux)
    import CLinux
#endif

/// The C library's allocator.
package enum Allocator {
    /// Sets glibc's allocator up for a process that runs for weeks while its threads and large blocks come and go:
    /// resident memory then follows what is in use. Called early, as arenas that were made remain. `MALLOC_ARENA_MAX`,
    /// `MALLOC_MMAP_THRESHOLD_` and `glibc.malloc.` in `GLIBC_TUNABLES` come first; other allocators are left alone.
    ///
    /// By itself glibc makes up to eight arenas for each processor, and what was freed in one is of no use to the
    /// threads of another; here all threads share two. It also raises, with each large block that is freed, the size
    /// from which a block has pages of its own, up to 32 MB. Blocks below that size reuse pages that have been written
    /// to, so that a buffer of which only the beginning is ever used is resident as a whole; here the size stays at the
    /// 128 KB of the beginning.
    package static func keepFlat() {
        #if os(Linux)
            inlet_set_allocator(2, 128 << 10)
        #endif
    }
}
