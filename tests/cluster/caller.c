/* SPDX-License-Identifier: MIT */
/* Calls of the library in a space, one for each line on stdin, and what they return:
 *
 *   open NAME [MODE] [reentrant|slots|take=N,OF|also=NAME,…]   the number of the region, which
 *                     the others name
 *   ask REGION [MS]   withdraw REGION    enter REGION [MS]   leave REGION   close REGION
 *   enter_as REGION MODE MS              convert REGION MODE MS             rename REGION NAME
 *   wanted REGION     valid REGION       cancel NAME PID     units REGION   pid
 *   enter_when REGION FILE [MS]          once the file is there; FILE.PID has a byte for each look
 *   ask_when REGION FILE [MS]            likewise
 *   ask_by_thread REGION                 that lives until: end_thread
 *   wakes             how often the descriptor was readable
 *   fork REGION       what a child gets that asks, withdraws, and looks what is decided
 *   exec              becomes another program
 *
 * Each answer is a line: the command, what it returned, the fence of the region, and the message if
 * it failed. Whenever the descriptor of the space is readable, what is decided is said likewise:
 * decided REGION RESULT FENCE. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "afteryou.h"

enum { REGIONS_MOST = 1024, WORDS = 5 };

static ay_space *space;
static ay_region *regions[REGIONS_MOST];
static int region_count, wakes;

static ay_mode mode_of(const char *word)
{
    static const char *const names[] = {"exclusive",        "shared",          "protected-write",
                                        "concurrent-write", "concurrent-read", "null"};
    for (int mode = 0; mode < 6; mode++)
        if (strcmp(names[mode], word) == 0)
            return (ay_mode)mode;
    return AY_EXCLUSIVE;
}

/* also=NAME,NAME */
static const char *const *also_of(char *word)
{
    static const char *also[AY_ALSO_MOST + 1];
    char *rest = strncmp(word, "also=", 5) == 0 ? word + 5 : word + strlen(word);
    for (int at = 0; at < AY_ALSO_MOST; at++)
        also[at] = strtok_r(rest, ",", &rest);
    return also;
}

static int open_region(char **words)
{
    unsigned take = 0, of = 0;
    if (sscanf(words[3], "take=%u,%u", &take, &of) != 2)
        take = of = 0;
    const ay_spec spec = {.name = words[1],
                          .also = also_of(words[3]),
                          .mode = mode_of(words[2]),
                          .take = take,
                          .of = of,
                          .slots = strcmp(words[3], "slots") == 0 ? 2 : 0,
                          .reentrant = strcmp(words[3], "reentrant") == 0};
    const int error = ay_region_open(space, &spec, &regions[region_count]);
    return error ? error : region_count++;
}

static bool is_there(void *path)
{
    char looks[4096];
    snprintf(looks, sizeof looks, "%s.%d", (const char *)path, (int)getpid());
    FILE *stream = fopen(looks, "a");
    if (stream) {
        fputc('+', stream);
        fclose(stream);
    }
    return access(path, F_OK) == 0;
}

/* What a thread of its own has asked for, which ends when it is told to. */
static struct {
    pthread_t thread;
    pthread_barrier_t asked, end;
    ay_region *region;
    int result;
} other;

static void *ask_and_stay(void *arg)
{
    other.result = ay_ask(other.region);
    pthread_barrier_wait(&other.asked);
    pthread_barrier_wait(&other.end);
    return arg;
}

static int ask_by_thread(ay_region *region)
{
    pthread_barrier_init(&other.asked, NULL, 2);
    pthread_barrier_init(&other.end, NULL, 2);
    other.region = region;
    if (pthread_create(&other.thread, NULL, ask_and_stay, NULL) != 0)
        return -EAGAIN;
    pthread_barrier_wait(&other.asked);
    return other.result;
}

static int end_thread(void)
{
    pthread_barrier_wait(&other.end);
    return -pthread_join(other.thread, NULL);
}

static int in_a_child(ay_region *region)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        int result;
        const bool right = ay_ask(region) == -EPERM && ay_withdraw(region) == -EPERM &&
                           !ay_decided(space, &result) && result == -EPERM &&
                           ay_fd(space) == -EPERM;
        ay_close(space);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -errno;
}

/* Kept for good: an ask may look at it later. */
static char *file_of(char **words)
{
    return strdup(words[2]);
}

static int on_region(char **words, ay_region *region)
{
    const char *word = words[0];
    const int limit = *words[2] ? atoi(words[2]) : -1;
    if (strcmp(word, "ask") == 0)
        return limit < 0 ? ay_ask(region) : ay_ask_when(region, NULL, NULL, limit);
    if (strcmp(word, "withdraw") == 0)
        return ay_withdraw(region);
    if (strcmp(word, "enter") == 0)
        return ay_enter_for(region, limit);
    if (strcmp(word, "leave") == 0)
        return ay_leave(region);
    if (strcmp(word, "enter_as") == 0)
        return ay_enter_as(region, mode_of(words[2]), atoi(words[3]));
    if (strcmp(word, "enter_when") == 0)
        return ay_enter_when(region, is_there, words[2], *words[3] ? atoi(words[3]) : -1);
    if (strcmp(word, "ask_when") == 0)
        return ay_ask_when(region, is_there, file_of(words), *words[3] ? atoi(words[3]) : -1);
    if (strcmp(word, "convert") == 0)
        return ay_convert(region, mode_of(words[2]), atoi(words[3]));
    if (strcmp(word, "rename") == 0)
        return ay_region_rename(region, words[2]);
    if (strcmp(word, "wanted") == 0)
        return (int)ay_wanted(region);
    if (strcmp(word, "valid") == 0)
        return ay_valid(region);
    if (strcmp(word, "units") == 0)
        return (int)ay_units(region, NULL, 0);
    if (strcmp(word, "ask_by_thread") == 0)
        return ask_by_thread(region);
    if (strcmp(word, "fork") == 0)
        return in_a_child(region);
    return -ENOSYS;
}

static void obey(char *line)
{
    char *words[WORDS] = {"", "", "", "", ""};
    char *rest = line;
    for (int at = 0; at < WORDS && (words[at] = strtok_r(rest, " \n", &rest)); at++)
        ;
    for (int at = 0; at < WORDS; at++)
        words[at] = words[at] ? words[at] : "";
    const int which = atoi(words[1]);
    int result = -ENOSYS;
    ay_region *region = NULL;
    if (strcmp(words[0], "exec") == 0)
        execlp("sleep", "sleep", "1000", (char *)NULL);
    else if (strcmp(words[0], "pid") == 0)
        result = getpid();
    else if (strcmp(words[0], "wakes") == 0)
        result = wakes;
    else if (strcmp(words[0], "end_thread") == 0)
        result = end_thread();
    else if (strcmp(words[0], "open") == 0)
        result = open_region(words);
    else if (strcmp(words[0], "cancel") == 0)
        result = ay_cancel(space, words[1], atoi(words[2]));
    else if (which < 0 || which >= region_count || !regions[which])
        result = -EBADSLT;
    else if (strcmp(words[0], "close") == 0) {
        ay_region_close(regions[which]);
        regions[which] = NULL;
        result = 0;
    } else {
        region = regions[which];
        result = on_region(words, region);
    }
    printf("%s %d %llu %s\n", words[0], result,
           region ? (unsigned long long)ay_fence(region) : 0ULL, result < 0 ? ay_message() : "");
}

static void tell_decided(void)
{
    int result;
    for (ay_region *region; (region = ay_decided(space, &result));)
        for (int which = 0; which < region_count; which++)
            if (regions[which] == region)
                printf("decided %d %d %llu\n", which, result,
                       (unsigned long long)(result < 0 ? 0 : ay_fence(region)));
}

int main(int count, char **words)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count != 2 || ay_open(words[1], NULL, &space) != 0) {
        printf("failed %s\n", ay_message());
        return 125;
    }
    char text[4096];
    size_t length = 0;
    struct pollfd events[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = ay_fd(space), .events = POLLIN}};
    while (poll(events, 2, -1) >= 0) {
        if (events[1].revents) {
            wakes++;
            tell_decided();
        }
        if (!events[0].revents)
            continue;
        const ssize_t more = read(STDIN_FILENO, text + length, sizeof text - length);
        if (more <= 0)
            break;
        length += (size_t)more;
        for (char *end; (end = memchr(text, '\n', length));) {
            *end = '\0';
            const size_t taken = (size_t)(end - text) + 1;
            obey(text);
            memmove(text, text + taken, length -= taken);
        }
    }
    ay_close(space);
    return 0;
}
