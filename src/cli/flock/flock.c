/* SPDX-License-Identifier: MIT */
/* `afteryou flock`: flock(1)'s command line, unchanged, with a queue before the lock.
 *
 * Two things are taken, in this order: the region that has the file's path for its name, and the
 * kernel's lock of the file, flock(2). The lock is what excludes: also those who call flock(1) or
 * flock(2) on the file, and other users. The region is the queue: who comes first is served first,
 * and `status` shows it.
 *   FILE COMMAND        is `afteryou run`: the guardian keeps both until the command, and all it
 *                       started, is gone.
 *   NUMBER, and -F      nobody is left of us who could keep a region. The lock stays with the open
 *                       file, as ever; the
 *                       region is left once it is taken.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/flock/file_lock.h"
#include "cli/run/run.h"
#include "cli/text.h"

struct flock_words {
    struct run_words run; /* .lock_operation is LOCK_UN with -u; .command is NULL with a NUMBER */
    bool no_fork;
    const char *file; /* or the NUMBER */
};

static int take_wait(const struct option_word *word)
{
    return run_take_wait(word, &((struct flock_words *)word->asked)->run);
}

static const struct option_row rows[] = {
    {.letters = "xe",
     .names = {"exclusive"},
     .help = "alone (the default)",
     .kind = OPTION_SET,
     .most = LOCK_EX,
     OPTION_AT(struct flock_words, run.lock_operation)},
    {.letters = "s",
     .names = {"shared"},
     .help = "together with others that are shared",
     .kind = OPTION_SET,
     .most = LOCK_SH,
     OPTION_AT(struct flock_words, run.lock_operation)},
    {.letters = "u",
     .names = {"unlock"},
     .help = "take the lock off an open descriptor",
     .kind = OPTION_SET,
     .most = LOCK_UN,
     OPTION_AT(struct flock_words, run.lock_operation)},
    {.letters = "n", .names = {"nonblock", "nb", "nonblocking"}, .help = "do not wait"},
    {.letters = "w",
     .names = {"wait", "timeout"},
     .argument = "SECONDS",
     .help = "wait so long at most, as in 2.5",
     .kind = OPTION_CALL,
     .take = take_wait,
     .takes = RUN_SECONDS},
    {.letters = "E",
     .names = {"conflict-exit-code"},
     .argument = "CODE",
     .help = "the exit code when not obtained",
     .standard = "1",
     .kind = OPTION_NUMBER,
     .most = 255,
     OPTION_AT(struct flock_words, run.refused)},
    {.letters = "o",
     .names = {"close"},
     .help = "hold for the command alone, not for what it leaves running",
     .kind = OPTION_FLAG,
     OPTION_AT(struct flock_words, run.close)},
    {.letters = "F",
     .names = {"no-fork"},
     .help = "become the command; its open file keeps the lock",
     .kind = OPTION_FLAG,
     OPTION_AT(struct flock_words, no_fork)},
    {.names = {"verbose"},
     .help = "tell how long it took, or why it was not obtained",
     .kind = OPTION_FLAG,
     OPTION_AT(struct flock_words, run.verbose)},
    {0},
};

static const struct option_place places[] = {{.from = 1, .to = 1, .offer = OFFER_FILES}};

const struct option_table flock_options = {
    .command = "flock",
    .usage = "usage: afteryou flock [OPTION…] FILE|DIRECTORY COMMAND [WORD…]\n"
             "       afteryou flock [OPTION…] FILE|DIRECTORY -c 'SHELL LINE'\n"
             "       afteryou flock [OPTION…] NUMBER      an open descriptor, as in:\n"
             "                                            exec 9>FILE; afteryou flock 9\n"
             "flock(1), word for word, with a queue: who comes first is served first. It excludes\n"
             "flock(1), too.",
    .remarks =
        "Exit code: the command's own; 128+n if signal n ended it; 1 (or -E) not obtained; 64\n"
        "called wrongly; 66 no such file; 65, 71 no such lock; 69, 126, 127 the command could not\n"
        "be run; 125 afteryou failed.",
    .rows = rows,
    .order = OPTIONS_FIRST,
    .wrong = EX_USAGE,
    .places = places,
    .places_count = 1,
    .command_after = 1,
};

static int __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
    char line[PIPE_BUF];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    say("flock", "%s; 'afteryou flock --help' tells more", line);
    return EX_USAGE;
}

/* 0; negative: done, with success; or an exit code. */
static int parse(int count, char **words, struct flock_words *asked)
{
    struct option_reading reading;
    *asked = (struct flock_words){
        .run = {.timeout_ms = -1, .refused = EXIT_REFUSED, .lock = -1, .lock_operation = LOCK_EX}};
    const int status = options_read(&flock_options, count, words, asked, &reading);
    if (status)
        return status;
    asked->run.spec.mode = asked->run.lock_operation == LOCK_SH ? AY_SHARED : AY_EXCLUSIVE;
    asked->run.quiet = !asked->run.verbose;
    if (option_given(&flock_options, &reading, "nonblock"))
        asked->run.timeout_ms = 0;
    if (asked->no_fork && asked->run.close)
        return complain("-F and -o exclude each other: nobody would be left to hold the lock");
    if (reading.count == 0)
        return complain("name a file, a directory, or the number of an open descriptor");
    asked->file = reading.words[0];
    if (reading.count == 1)
        return 0;
    char **command = reading.words + 1;
    asked->run.command = command;
    if (strcmp(command[0], "-c") != 0 && strcmp(command[0], "--command") != 0)
        return 0;
    if (reading.count != 3)
        return complain("%s takes one line for the shell, and nothing after it", command[0]);
    run_use_shell(command[1], &asked->run);
    return 0;
}

/* As flock(1) does, so that a script can lock itself while it is run: for reading, and made if it
 * is not there. */
static int open_file(const char *path, int *code)
{
    int fd = open(path, O_RDONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EISDIR)
        fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    *code = errno == ENOMEM || errno == EMFILE || errno == ENFILE ? EX_OSERR
            : errno == EROFS || errno == ENOSPC                   ? EX_CANTCREAT
                                                                  : EX_NOINPUT;
    say("flock", "cannot open '%s': %s", path, strerror(errno));
    return -1;
}

/* The path, for people; device and inode, if it has none that fits. Two names for one file make two
 * queues, but the lock is one. */
static int name_region(int fd, char *name, size_t room)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, name, room - 1);
    struct stat file;
    if (fstat(fd, &file) != 0)
        return -errno;
    if (length > 0 && (size_t)length < room - 1 && *name == '/' && file.st_nlink > 0) {
        name[length] = '\0';
        return 0;
    }
    snprintf(name, room, "inode %u:%u:%llu", major(file.st_dev), minor(file.st_dev),
             (unsigned long long)file.st_ino);
    return 0;
}

static int tell_failure(const char *what, int error)
{
    say("flock", "cannot lock '%s': %s", what, strerror(error));
    return error == ENOLCK || error == ENOMEM ? EX_OSERR : EX_DATAERR;
}

/* What the lock said, in an exit code; dies of a signal that came while it waited. */
static int judge(const struct flock_words *asked, int result, int64_t asked_ns)
{
    if (result > 0)
        raise(result);
    if ((result == -EWOULDBLOCK || result == -ETIMEDOUT || result == -EBUSY) && asked->run.verbose)
        say("flock", "'%s' %s", asked->file,
            result == -ETIMEDOUT ? "was not unlocked in time" : "is locked");
    if (result == -EWOULDBLOCK || result == -ETIMEDOUT || result == -EBUSY)
        return asked->run.refused;
    if (result != 0)
        return tell_failure(asked->file, result > 0 ? EINTR : -result);
    if (asked->run.verbose)
        printf("afteryou flock: getting lock took %.6f seconds\n",
               (double)(text_now() - asked_ns) / 1e9);
    return 0;
}

/* The queue, then the lock. */
static int queue_and_lock(const struct flock_words *asked, int fd, int64_t asked_ns,
                          int64_t deadline_ns)
{
    ay_space *space;
    ay_region *region;
    if (ay_open(NULL, NULL, &space) < 0 || ay_region_open(space, &asked->run.spec, &region) < 0)
        return usage_error("flock", "%s", ay_message());
    const int entered = ay_enter_for(region, asked->run.timeout_ms);
    if (entered < 0 && entered != -EBUSY && entered != -ETIMEDOUT)
        return usage_error("flock", "%s", ay_message());
    const int result =
        entered < 0 ? entered : file_lock(fd, asked->run.lock_operation, deadline_ns);
    /* A death inside was told to us, and we cannot pass it on: by ending without leaving, so that
     * the next one is told. */
    if (entered == 0 || (entered > 0 && asked->no_fork && result == 0))
        ay_leave(region);
    if (asked->no_fork)
        setenv("AFTERYOU_AFTER_DEATH", entered == AY_AFTER_DEATH ? "1" : "0", 1);
    return judge(asked, result, asked_ns);
}

static int lock(const struct flock_words *asked, int fd)
{
    const int64_t asked_ns = text_now(), timeout_ms = asked->run.timeout_ms;
    const int64_t deadline_ns = timeout_ms > 0 ? asked_ns + timeout_ms * 1000000 : timeout_ms;
    if (asked->run.lock_operation == LOCK_UN)
        return flock(fd, LOCK_UN) == 0 ? 0 : tell_failure(asked->file, errno);
    if (file_is_locked(fd)) /* it changes its lock, or keeps it: those in the queue wait for it */
        return judge(asked, file_lock(fd, asked->run.lock_operation, deadline_ns), asked_ns);
    return queue_and_lock(asked, fd, asked_ns, deadline_ns);
}

static int lock_number(struct flock_words *asked)
{
    char name[AY_NAME_MOST + 1];
    uint64_t number;
    if (!parse_number(asked->file, 0, INT_MAX, &number))
        return complain("'%s' is no number of an open descriptor, and no command is given",
                        asked->file);
    const int error = name_region((int)number, name, sizeof name);
    if (error)
        return tell_failure(asked->file, -error);
    asked->run.spec.name = name;
    return lock(asked, (int)number);
}

static int become(const struct flock_words *asked)
{
    char **words = asked->run.command;
    signal(SIGCHLD, SIG_DFL);
    output_flush();
    execvp(words[0], words);
    say("flock", "cannot run '%s': %s", words[0], strerror(errno));
    return errno == ENOMEM ? EX_OSERR : EX_UNAVAILABLE;
}

int command_flock(int count, char **words)
{
    struct flock_words asked;
    char name[AY_NAME_MOST + 1];
    int code = parse(count, words, &asked);
    if (code)
        return code < 0 ? 0 : code;
    if (!asked.run.command)
        return lock_number(&asked);
    const int fd = open_file(asked.file, &code);
    if (fd < 0)
        return code;
    const int error = name_region(fd, name, sizeof name);
    if (error)
        return tell_failure(asked.file, -error);
    asked.run.spec.name = name;
    /* the command's: what it leaves running may hold the lock by it, as with flock(1) */
    if (!asked.run.close && dup(fd) < 0)
        return tell_failure(asked.file, errno);
    if (asked.no_fork || asked.run.lock_operation == LOCK_UN) {
        code = lock(&asked, fd);
        return code ? code : become(&asked);
    }
    asked.run.lock = fd;
    return run_command(&asked.run);
}
