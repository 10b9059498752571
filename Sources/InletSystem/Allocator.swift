#if os(Linux)
    import CLinux
#endif

/// The C library's allocator.
package enum Allocator {
    /// Has all threads of this process share two arenas, unless `MALLOC_ARENA_MAX` or `GLIBC_TUNABLES` is set. Called
    /// early, as arenas that were made remain.
    ///
    /// glibc makes up to eight for each processor, and what was freed in one is of no use to the threads of another: a
    /// process whose threads come and go by the hundred grows for hours.
    package static func shareArenas() {
        #if os(Linux)
            inlet_limit_arenas(2)
        #endif
    }
}
