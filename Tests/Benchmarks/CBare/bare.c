#define _GNU_SOURCE
#include "CBare.h"

#include <dirent.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Uses ppoll, like the capture thread.
static void sleep_until(long long deadline) {
    for (long long left; (left = deadline - now()) > 0;) {
        struct timespec timeout = {left / 1000000000LL, left % 1000000000LL};
        ppoll(NULL, 0, &timeout, NULL);
    }
}

struct pace {
    int seconds, rate;
};

static void *sleeper(void *argument) {
    struct pace *pace = argument;
    long long start = now();
    for (int frame = 1; frame <= pace->seconds * pace->rate; frame++)
        sleep_until(start + frame * 1000000000LL / pace->rate);
    return NULL;
}

void bare_sleepers(int threads, int seconds, int rate) {
    struct pace pace = {seconds, rate};
    pthread_t *all = calloc(threads, sizeof *all);
    for (int index = 0; index < threads; index++) pthread_create(&all[index], NULL, sleeper, &pace);
    for (int index = 0; index < threads; index++) pthread_join(all[index], NULL);
    free(all);
}

struct slot {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    long long sent;
    int is_full, is_over, count;
    long long *nanoseconds;
};

static void *consumer(void *argument) {
    struct slot *slot = argument;
    for (;;) {
        pthread_mutex_lock(&slot->mutex);
        while (!slot->is_full && !slot->is_over) pthread_cond_wait(&slot->condition, &slot->mutex);
        int is_full = slot->is_full;
        long long sent = slot->sent;
        slot->is_full = 0;
        pthread_mutex_unlock(&slot->mutex);
        if (!is_full) return NULL;
        slot->nanoseconds[slot->count++] = now() - sent;
    }
}

int bare_handoff(int frames, long long interval, long long *nanoseconds) {
    struct slot slot = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0, nanoseconds};
    pthread_t thread;
    pthread_create(&thread, NULL, consumer, &slot);
    long long start = now();
    for (int frame = 1; frame <= frames + 1; frame++) {
        sleep_until(start + frame * interval);
        long long sent = now();
        pthread_mutex_lock(&slot.mutex);
        slot.sent = sent;
        slot.is_full = frame <= frames;
        slot.is_over = frame > frames;
        pthread_cond_signal(&slot.condition);
        pthread_mutex_unlock(&slot.mutex);
    }
    pthread_join(thread, NULL);
    return slot.count;
}

long long bare_heap_bytes(void) { return (long long)mallinfo2().uordblks; }

int bare_threads_named(const char *prefix) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        if (fgets(name, sizeof name, file) && !strncmp(name, prefix, strlen(prefix))) count++;
        fclose(file);
    }
    closedir(folder);
    return count;
}
