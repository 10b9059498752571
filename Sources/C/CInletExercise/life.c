/* The exercises of many instances of a source: leaks, errors, threads, and lent memory. */
#include "exercise.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Overwrites memory when it is freed, and fills allocated memory with bytes other than zero. */
static void overwrite_freed_memory(void) {
    const int m_perturb = -6; /* M_PERTURB, which the C library honours without declaring it. */
    mallopt(m_perturb, 0x5a);
}

void exercise_errors(void) {
    load();
    overwrite_freed_memory();
    /* A source that is created but not opened. */
    struct instance instance;
    if (create_source(&instance, new_host()) != INLET_OK)
        end_with(NOT_OPENED, "create failed with %d: %.300s", instance.result, instance.error.value.message);
    destroy_source(&instance);
    /* A source that is cancelled before it opens is closed, whatever open returns. */
    if (create_source(&instance, new_host()) == INLET_OK) {
        cancel(instance.host);
        open_source(&instance, now() + 10 * SECOND);
        end_source(&instance);
    }
    /* A source whose deadline has passed. */
    if (create_source(&instance, new_host()) == INLET_OK) {
        open_source(&instance, now() - SECOND);
        end_source(&instance);
    }
    /* A source with an impossible address. */
    inlet_configuration configuration = *exercise->configuration;
    configuration.address = "//inlet.invalid/\xc3\xa4 %s%n";
    inlet_exercise changed = *exercise;
    changed.configuration = &configuration;
    const inlet_exercise *original = exercise;
    exercise = &changed;
    if (create_source(&instance, new_host()) == INLET_OK) {
        if (open_source(&instance, now() + 3 * SECOND) == INLET_OK) next_item(&instance, now() + 100 * MILLISECOND);
        if (instance.result == INLET_OK && instance.item.value.size) release_item(&instance.item.value);
        end_source(&instance);
    }
    exercise = original;
    begin_source(&instance, new_host());
    end_source(&instance);
}

/* The resources after a quarter, a half and all of the rounds. */
struct growth {
    const char *what;
    int rounds;
    struct facts facts[3];
};

static void check_growth(const struct growth *growth) {
    const struct facts *facts = growth->facts;
    int half = growth->rounds / 4, rest = growth->rounds - 2 * half;
    /* A resource that grows in both parts grows for ever. A cache that fills once does not. */
    int first = facts[1].descriptors - facts[0].descriptors, second = facts[2].descriptors - facts[1].descriptors;
    if (first >= (half + 3) / 4 && second >= (rest + 3) / 4)
        FAIL("%s leaves descriptors open: %d more after %d rounds. Close in close or destroy what open has opened.",
            growth->what, first + second, half + rest);
    first = facts[1].threads - facts[0].threads, second = facts[2].threads - facts[1].threads;
    if (first >= (half + 3) / 4 && second >= (rest + 3) / 4)
        FAIL("%s leaves threads running: %d more after %d rounds. End and join them in close.", growth->what,
            first + second, half + rest);
    if (growth->rounds < 40) return;
    int64_t early = facts[1].heap - facts[0].heap, late = facts[2].heap - facts[1].heap;
    if (early >= 8 * half && late >= 8 * rest)
        FAIL("%s leaks memory: %lld bytes in each of %d rounds. Free the memory of create in destroy, and that of open "
             "in close.",
            growth->what, (long long)(late / rest), half + rest);
    early = facts[1].pages - facts[0].pages, late = facts[2].pages - facts[1].pages;
    if (early >= half && late >= rest)
        FAIL("%s leaves memory mapped: %lld KiB more in each of %d rounds. Unmap it in close or destroy.", growth->what,
            (long long)(late * 4 / rest), half + rest);
}

const char *rounds_of;
int rounds_done;

int measure(const char *what, int most, int64_t limit, int (*round)(void)) {
    struct growth growth = {.what = what};
    rounds_of = what;
    rounds_done = 0;
    /* The first rounds measure the duration of a round. The resources that they leave are not counted. */
    int64_t begin = now();
    while (rounds_done < 8 && now() < begin + limit / 4) {
        if (!round()) goto end;
        rounds_done++;
    }
    int64_t each = (now() - begin) / (rounds_done ? rounds_done : 1);
    int64_t possible = each > 0 ? limit / each : most;
    growth.rounds = possible < most ? (int)possible : most;
    if (growth.rounds < 4) growth.rounds = 4;
    int64_t end = now() + 2 * limit;
    int quarter = growth.rounds / 4;
    for (int i = 0; i < growth.rounds; i++, rounds_done++) {
        if (i == quarter) growth.facts[0] = take_facts();
        if (i == 2 * quarter) growth.facts[1] = take_facts();
        if (!round() || now() > end) goto end;
    }
    growth.facts[2] = take_facts();
    check_growth(&growth);
end:
    rounds_of = NULL;
    return rounds_done;
}

static struct host *one_host;
static struct instance one;
static int64_t shortest_close = INT64_MAX;

static int open_and_close(void) {
    begin_source(&one, one_host);
    close_source(&one);
    if (one.duration < shortest_close) shortest_close = one.duration;
    destroy_source(&one);
    return 1;
}

static int create_and_destroy(void) {
    if (create_source(&one, one_host) != INLET_OK) return 0;
    destroy_source(&one);
    return 1;
}

static int read_one(void) {
    begin_source(&one, one_host);
    int has_item = wait_for_item(&one, 8 * SECOND);
    if (has_item) release_item(&one.item.value);
    end_source(&one);
    return has_item;
}

static int read_next(void) {
    if (!wait_for_item(&one, 8 * SECOND)) return 0;
    release_item(&one.item.value);
    return 1;
}

void exercise_leaks(void) {
    load();
    one_host = new_host();
    int created = measure("create and destroy", 1000, 2 * SECOND, create_and_destroy);
    int opened = measure("Opening and closing", 1000, 4 * SECOND, open_and_close);
    if (shortest_close > SECOND)
        end_with(LATE, "close took %.1f s. At most 1 s is allowed.", (double)shortest_close / 1e9);
    int read = measure("Opening, reading one item and closing", 200, 3 * SECOND, read_one);
    begin_source(&one, one_host);
    int items = measure("next", 1000, 3 * SECOND, read_next);
    end_source(&one);
    remark("%d times created, %d opened, %d read from, %d items", created, opened, read, items);
}

/* A lent item, and its original bytes. */
struct loan {
    inlet_item item;
    uint64_t checksum;
};

static void check_loan(const struct loan *loan, const char *when) {
    enter("Reading the memory that next has lent, before its release,", 5 * SECOND);
    uint64_t present = checksum(&loan->item);
    leave();
    if (present != loan->checksum)
        FAIL("The memory that next has lent changed %s, before it was released. Keep it unchanged until release, which "
             "may come after destroy.",
            when);
}

static void *release_elsewhere(void *data) {
    release_item(&((struct loan *)data)->item);
    return NULL;
}

void exercise_lending(void) {
    load();
    overwrite_freed_memory();
    enum { HELD = 2 };
    struct loan loans[HELD];
    struct instance instance;
    begin_source(&instance, new_host());
    int held = 0;
    for (int i = 0; i < 6; i++) {
        if (!wait_for_item(&instance, 8 * SECOND)) break;
        const inlet_item *item = &instance.item.value;
        int is_lent = item->is_packet || !item->picture.is_in_slot;
        if (!is_lent && !held) end_with(NOT_APPLICABLE, "The source fills slots and lends no memory.");
        if (is_lent && held < HELD && item->release) loans[held++] = (struct loan){*item, checksum(item)};
        else release_item(item);
        for (int k = 0; k < held; k++) check_loan(&loans[k], "while next was called again");
    }
    if (!held) end_with(NOT_APPLICABLE, "The source lends no memory that must be released.");
    close_source(&instance);
    for (int k = 0; k < held; k++) check_loan(&loans[k], "when its source was closed");
    /* One item is released on another thread after close, another after destroy. */
    pthread_join(start_thread(release_elsewhere, &loans[--held]), NULL);
    destroy_source(&instance);
    for (int k = 0; k < held; k++) check_loan(&loans[k], "when its source was destroyed");
    while (held > 0) pthread_join(start_thread(release_elsewhere, &loans[--held]), NULL);
    sleep_for(20 * MILLISECOND);
    remark("held past destroy, released on another thread");
}

/* Reads an item, whose sequence number must not depend on other instances. */
static void read_in_order(struct instance *instance, uint64_t *sequence, int is_first) {
    if (!wait_for_item(instance, 8 * SECOND)) return;
    uint64_t next = instance->item.value.sequence;
    if (!is_first && next <= *sequence)
        FAIL("next gave the sequence number %llu after %llu while two instances ran. Instances share nothing: keep all "
             "state in the instance.",
            (unsigned long long)next, (unsigned long long)*sequence);
    *sequence = next;
    release_item(&instance->item.value);
}

static void *run_instance(void *data) {
    struct instance instance;
    begin_source(&instance, data);
    uint64_t sequence = 0;
    for (int i = 0; i < 10; i++) read_in_order(&instance, &sequence, i == 0);
    end_source(&instance);
    return NULL;
}

/* Whether a second instance opens while one runs: some cameras allow only one user. */
static int allows_two(void) {
    struct instance first, second;
    uint64_t sequence = 0, other = 0;
    begin_source(&first, new_host());
    for (int i = 0; i < 3; i++) read_in_order(&first, &sequence, i == 0);
    int allows = create_source(&second, new_host()) == INLET_OK;
    if (allows) {
        allows = open_source(&second, now() + 10 * SECOND) == INLET_OK;
        if (!allows && second.result != INLET_ERROR_BUSY && second.result != INLET_ERROR_RESOURCE_EXHAUSTED
            && second.result != INLET_ERROR_NO_BANDWIDTH && second.result != INLET_ERROR_SERVER_UNAVAILABLE)
            FAIL("open of a second instance failed with %d while one ran: %.200s. Return INLET_ERROR_BUSY where only "
                 "one is possible.",
                second.result, second.error.value.message);
        if (allows) read_in_order(&second, &other, 1);
        read_in_order(&first, &sequence, 0);
        end_source(&second);
    }
    end_source(&first);
    return allows;
}

void exercise_threads(void) {
    load();
    struct facts before = take_facts();
    struct host *host = new_host();
    pthread_t thread;
    int has_two = allows_two();
    if (has_two) {
        thread = start_thread(run_instance, new_host());
        run_instance(host);
        pthread_join(thread, NULL);
    } else {
        /*
         * Created and run on a thread other than that of the previous instances: nothing may depend on the first
         * thread.
         */
        pthread_join(start_thread(run_instance, host), NULL);
    }
    /* A thread that runs after destroy is detected by its calls. */
    sleep_for(200 * MILLISECOND);
    struct facts after = take_facts();
    remark("%s; %d threads before, %d after", has_two ? "two at once" : "one at a time: it is busy then",
        before.threads, after.threads);
}

void exercise_output(void) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) || dup2(ends[1], STDOUT_FILENO) < 0)
        end_with(NOT_APPLICABLE, "Cannot create a pipe for the exercise.");
    load();
    struct instance instance;
    for (int i = 0; i < 2; i++) {
        begin_source(&instance, new_host());
        for (int k = 0; k < 20 && wait_for_item(&instance, 8 * SECOND); k++) release_item(&instance.item.value);
        end_source(&instance);
    }
    fflush(stdout);
    char text[81] = "";
    ssize_t count = read(ends[0], text, sizeof text - 1);
    for (ssize_t i = 0; i < count; i++)
        if ((uint8_t)text[i] < 0x20 || (uint8_t)text[i] > 0x7e) text[i] = ' ';
    if (count > 0)
        FAIL("The plug-in wrote to standard output, which is reserved for the data of a sink: '%.60s'. Use host->log.",
            text);
    if (atomic_load(&most_logged) > 100)
        FAIL("The plug-in logged %d lines within a second; beyond 100 they are not written. Log changes, not each "
             "picture.",
            atomic_load(&most_logged));
    remark("%d lines logged", atomic_load(&logged));
}
