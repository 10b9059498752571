import Glibc

/// The names of system calls, by what they are for.
enum SystemCallLists {
    /// The rules for every plug-in.
    static let always: [SystemCallRule] = {
        var rules: [SystemCallRule] = [
            .init(.allow, memory), .init(.allow, threads), .init(.allow, clocks), .init(.allow, descriptors),
            .init(.allow, lookups), .init(.allow, facts), .init(.refuse(EPERM), refused), .init(.kill, attacks),
            // CLONE_THREAD, and no namespaces (CLONE_NEW...), CLONE_VFORK or CLONE_PTRACE; from linux/sched.h. clone3
            // is in no list: its flags are in memory, which a filter cannot read. The C library then calls clone.
            .init(.ask, "clone", .masked(0, 0x7E03_6000, 0x1_0000)),
            .init(.refuse(EPERM), "clone", .masked(0, 0x1_0000, 0)),
            // A pair that cannot be sent anywhere else: of the type of streams or of SOCK_SEQPACKET.
            .init(.allow, "socketpair", .equal(0, 1), .masked(1, 0xF, 1)),
            .init(.allow, "socketpair", .equal(0, 1), .masked(1, 0xF, 5)),
        ]
        for command in controls { rules.append(.init(.allow, "fcntl", .equal(1, command))) }
        for request in requests { rules.append(.init(.allow, "ioctl", .equal(1, request))) }
        for option in processControls { rules.append(.init(.allow, "prctl", .equal(0, option))) }
        rules += families([1, 3, 4, 5, 9, 17, 38, 40, 44], .refuse(EPERM))
        return rules
    }()

    private static let memory = """
        brk mmap munmap mprotect mremap madvise mincore msync mlock mlock2 munlock mlockall munlockall membarrier
        pkey_alloc pkey_free pkey_mprotect arch_prctl get_mempolicy set_mempolicy mbind
        """

    private static let threads = """
        futex futex_waitv set_robust_list get_robust_list set_tid_address rseq gettid getpid sched_yield
        sched_getaffinity sched_getparam sched_getscheduler sched_getattr sched_get_priority_max
        sched_get_priority_min sched_rr_get_interval exit exit_group restart_syscall
        rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigpending rt_sigtimedwait sigaltstack pause
        """

    private static let clocks = """
        clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time alarm getitimer setitimer
        timer_create timer_settime timer_gettime timer_getoverrun timer_delete
        timerfd_create timerfd_settime timerfd_gettime
        """

    // The connection to Inlet is a socket: sending and receiving is for all.
    private static let descriptors = """
        read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek close close_range
        dup dup2 dup3 pipe pipe2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait
        epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4 sendfile splice tee copy_file_range
        fsync fdatasync sync_file_range fadvise64 readahead flock
        sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown getsockopt getsockname getpeername
        """

    // Landlock decides about the files that may be opened.
    private static let lookups = """
        open openat openat2 access faccessat faccessat2 stat lstat fstat newfstatat statx statfs fstatfs
        readlink readlinkat getdents getdents64 getcwd chdir fchdir umask
        """

    private static let facts = """
        getuid geteuid getgid getegid getgroups getresuid getresgid getppid getpgrp getpgid getsid getpriority
        getrlimit setrlimit getrusage times uname sysinfo getcpu getrandom capget
        """

    /// Calls that programs try but can do without. memfd_create and the older kinds of shared memory would bypass the
    /// memory limit. Landlock has no right for modes, owners, times and attributes of files.
    private static let refused = """
        fork vfork wait4 waitid tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal
        memfd_create memfd_secret shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl
        mq_open mq_unlink chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimesat
        setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr mknod mknodat
        inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_init fanotify_mark
        setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid setpgid setsid
        capset setpriority ioprio_set sched_setaffinity sched_setscheduler sched_setparam sched_setattr
        io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_destroy io_getevents
        perf_event_open userfaultfd keyctl add_key request_key personality seccomp
        listen accept accept4 kcmp syslog vmsplice migrate_pages move_pages sync syncfs
        """

    private static let attacks = """
        ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd execveat mount umount2 pivot_root chroot
        move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns bpf kexec_load
        kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct quotactl sethostname
        setdomainname settimeofday clock_settime clock_adjtime adjtimex iopl ioperm modify_ldt
        name_to_handle_at open_by_handle_at vhangup nfsservctl lookup_dcookie
        """

    // F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, the three F_OFD_..., F_DUPFD_CLOEXEC,
    // F_SETPIPE_SZ, F_GETPIPE_SZ, F_GET_SEALS. F_SETOWN would have signals sent to others.
    private static let controls: [UInt64] = [0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1034]

    // TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX of asm-generic/ioctls.h.
    private static let requests: [UInt64] = [0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451]

    // PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK,
    // PR_GET_NO_NEW_PRIVS, PR_SET_VMA of linux/prctl.h.
    private static let processControls: [UInt64] = [3, 15, 16, 23, 29, 30, 39, 0x5356_4D41]

    // MARK: Permissions

    /// The calls needed to write files, besides opening them. Landlock decides about each file.
    static let fileNames = """
        creat ftruncate fallocate rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink
        symlinkat
        """

    /// The calls that sockets need after they are made.
    static let socketNames = "connect bind setsockopt"
    static let sockets: [SystemCallRule] = [.init(.allow, socketNames)]

    /// AF_INET and AF_INET6.
    static let internetFamilies: [SystemCallRule] = families([2, 10], .allow)
    static let noInternetFamilies: [SystemCallRule] = families([2, 10], .refuse(EPERM))

    /// AF_NETLINK: the protocols NETLINK_ROUTE, by which the C library lists addresses, and NETLINK_KOBJECT_UEVENT.
    static func netlink(routes: Bool, devices: Bool) -> [SystemCallRule] {
        guard routes || devices else { return families([16], .refuse(EPERM)) }
        var rules: [SystemCallRule] = []
        if routes { rules.append(.init(.allow, "socket", .equal(0, 16), .equal(2, 0))) }
        if devices { rules.append(.init(.allow, "socket", .equal(0, 16), .equal(2, 15))) }
        return rules
    }

    // AF_UNIX is among the families that no plug-in gets, with or without the network. Landlock does not treat its
    // sockets in folders as files, and they lead to services of the user's session and of the machine, such as D-Bus or
    // a container engine, which could act beyond the plug-in's rights. The C library tries nscd and systemd-resolved in
    // this way, and then falls back to the name servers of /etc/resolv.conf.
    private static func families(_ numbers: [UInt64], _ verdict: SystemCallRule.Verdict) -> [SystemCallRule] {
        numbers.map { .init(verdict, "socket", .equal(0, $0)) }
    }

    /// Requests to devices by the type in their second byte. The list omits sockets and terminals, at which a request
    /// can type for the user: 0x07 I2C, A sound, H DMA heaps, U USB, V video, b DMA buffers, d DRM, k SPI, o DVB, u
    /// udmabuf, | media, 0xB4 GPIO. Other devices share these types, such as `uinput` with USB; Landlock keeps them
    /// from being opened.
    static let deviceRequests: [SystemCallRule] = {
        var types: [UInt64] = [0x07, 0xB4]
        for letter in "AHUVbdkou|".utf8 { types.append(UInt64(letter)) }
        // Serial lines, for the mounts of cameras: TCSETS, TCSETSW, TCSETSF, TCSBRK, TCXONC, TCFLSH, TIOCMGET,
        // TIOCMBIS, TIOCMBIC, TIOCMSET.
        let serial: [UInt64] = [0x5402, 0x5403, 0x5404, 0x5409, 0x540A, 0x540B, 0x5415, 0x5416, 0x5417, 0x5418]
        return types.map { SystemCallRule(.allow, "ioctl", .masked(1, 0xFF00, $0 << 8)) }
            + serial.map { SystemCallRule(.allow, "ioctl", .equal(1, $0)) }
    }()
}
