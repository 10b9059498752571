/*
 * A source that performs the action of its option "action" in create, and reports the result by its error: "done", or
 * the name of the errno. The actions include those that a sandbox must prevent.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inlet_plugin.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const inlet_host *host;

static const char *option(const inlet_configuration *configuration, const char *name) {
    for (uint32_t i = 0; i < configuration->option_count; i++)
        if (!strcmp(configuration->options[i].name, name)) return configuration->options[i].value;
    return "";
}

static int connects(const char *port) {
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return -1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(s, (struct sockaddr *)&address, sizeof address);
}

static int connects_unix(const char *path) {
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (s < 0) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    return connect(s, (struct sockaddr *)&address, sizeof address);
}

static int reads(const char *path) {
    char byte;
    int file = open(path, O_RDONLY);
    if (file < 0) return -1;
    DIR *folder = fdopendir(file);
    if (folder) return readdir(folder) ? 0 : -1;
    return read(file, &byte, 1) < 0 ? -1 : 0;
}

static int writes(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0) return -1;
    return write(file, "x", 1) == 1 ? 0 : -1;
}

static void *idle(void *argument) { return argument; }

static int forks(void) {
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) _exit(0);
    return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int takes_memory(uint64_t bytes) {
    /* Written to, because memory that is not written uses nothing. */
    char *memory = malloc(bytes);
    if (!memory) return -1;
    for (uint64_t i = 0; i < bytes; i += 4096) ((volatile char *)memory)[i] = 1;
    free(memory);
    return 0;
}

static int opens_many(void) {
    for (int i = 0; i < 2000; i++)
        if (open("/dev/null", O_RDONLY) < 0) return -1;
    return 0;
}

static int starts_thread(void) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, idle, NULL);
    return errno || pthread_join(thread, NULL) ? -1 : 0;
}

static void *waits(void *argument) {
    for (;;) pause();
    return argument;
}

static int starts_threads(int count) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 32768);
    for (int i = 0; i < count && !errno; i++) {
        pthread_t thread;
        errno = pthread_create(&thread, &small, waits, NULL);
    }
    return errno ? -1 : 0;
}

static pthread_barrier_t together;

static void *multiplies(void *argument) {
    pthread_barrier_wait(&together);
    errno = 0;
    starts_threads(20);
    pthread_barrier_wait(&together);
    return waits(argument);
}

// Starts threads from a hundred threads at the same time. Fails with E2BIG if more than `most` run in the end.
static int multiplies_threads(int most) {
    enum { starters = 100 };
    pthread_barrier_init(&together, NULL, starters + 1);
    for (int i = 0; i < starters; i++) {
        pthread_t thread;
        if ((errno = pthread_create(&thread, NULL, multiplies, NULL))) return -1;
    }
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return -1;
    int count = 0;
    for (struct dirent *task; (task = readdir(tasks));) count += task->d_name[0] != '.';
    closedir(tasks);
    errno = E2BIG;
    return count > most ? -1 : 0;
}

static int grows_memfd(void) {
    int file = memfd_create("x", 0);
    return file < 0 ? -1 : ftruncate(file, 1 << 20);
}

static int act(const char *action, const char *value) {
    if (!strcmp(action, "read")) return reads(value);
    if (!strcmp(action, "open")) return open(value, O_RDWR | O_NONBLOCK);
    if (!strcmp(action, "write")) return writes(value);
    if (!strcmp(action, "connect")) return connects(value);
    if (!strcmp(action, "connect-unix")) return connects_unix(value);
    if (!strcmp(action, "netlink")) return socket(AF_NETLINK, SOCK_RAW, 0) < 0 ? -1 : 0;
    if (!strcmp(action, "fork")) return forks();
    if (!strcmp(action, "thread")) return starts_thread();
    if (!strcmp(action, "threads")) return errno = 0, starts_threads(atoi(value));
    if (!strcmp(action, "crowd")) return multiplies_threads(atoi(value));
    if (!strcmp(action, "memory")) return takes_memory(strtoull(value, NULL, 10));
    if (!strcmp(action, "memfd")) return grows_memfd();
    if (!strcmp(action, "descriptors")) return opens_many();
    if (!strcmp(action, "signal")) return kill(getppid(), 0);
    if (!strcmp(action, "ioctl")) return ioctl(0, _IOR('V', 0, char[104]), (char[104]){0});
    if (!strcmp(action, "type")) return ioctl(0, TIOCSTI, "x");
    if (!strcmp(action, "execute")) return execl("/bin/true", "true", (char *)NULL);
    if (!strcmp(action, "trace")) return (int)ptrace(PTRACE_TRACEME, 0, 0, 0);
    if (!strcmp(action, "abort")) abort();
    if (!strcmp(action, "exit")) exit(0);
    if (!strcmp(action, "hang")) for (;;) pause();
    if (!strcmp(action, "capabilities")) {
        struct { uint32_t version; int process; } header = {0x20080522, 0};
        struct { uint32_t effective, permitted, inheritable; } data[2];
        if (syscall(SYS_capget, &header, data)) return -1;
        errno = EPERM;
        return data[0].effective | data[0].permitted | data[1].effective | data[1].permitted ? 0 : -1;
    }
    if (!strcmp(action, "environment")) {
        extern char **environ;
        errno = ENOENT;
        for (char **entry = environ; *entry; entry++)
            if (!strncmp(*entry, value, strlen(value))) return 0;
        return -1;
    }
    if (!strcmp(action, "descriptor")) return fcntl(atoi(value), F_GETFD) < 0 ? -1 : 0;
    if (!strcmp(action, "log")) {
        for (int i = 0; i < 1000; i++) host->log(INLET_LOG_INFO, "line");
        return 0;
    }
    if (!strcmp(action, "check")) {
        const inlet_thread_check *check = host->get_extension(INLET_THREAD_CHECK_ID);
        errno = ESRCH;
        return check && check->is_control() && check->is_capture() && !host->get_extension("x") ? 0 : -1;
    }
    errno = ENOTSUP;
    return -1;
}

static inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *source_host, inlet_source **source,
    inlet_error *error) {
    (void)source_host, (void)source;
    int result = act(option(configuration, "action"), option(configuration, "value"));
    int number = errno;
    snprintf(error->message, sizeof error->message, "%s", result == 0 ? "done" : strerrorname_np(number));
    error->native_code = result == 0 ? 0 : number;
    return INLET_ERROR_UNSUPPORTED;
}

static inlet_result open_(inlet_source *s, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)s, (void)deadline, (void)stream, (void)error;
    return INLET_END;
}
static inlet_result next(inlet_source *s, int64_t deadline, inlet_item *item, inlet_error *error) {
    (void)s, (void)deadline, (void)item, (void)error;
    return INLET_END;
}
static void end(inlet_source *s) { (void)s; }

static const inlet_source_interface source = {
    .size = sizeof source, .create = create, .open = open_, .next = next, .close = end, .destroy = end};
static inlet_result init(const inlet_host *given, inlet_error *error) {
    (void)error;
    host = given;
    return INLET_OK;
}
static void deinit(void) {}
static const void *get_interface(const char *id) { return strcmp(id, INLET_SOURCE_ID) ? NULL : &source; }

const inlet_plugin inlet_plugin_entry = {
    sizeof(inlet_plugin), INLET_PLUGIN_MAGIC, INLET_PLUGIN_MAJOR, 0, 0, init, deinit, get_interface};
