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
#include <getopt.h>
#include <limits.h>
#include <signal.h>
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

enum { WORD_VERBOSE = 256 };

static const struct option options[] = {
    {"shared", no_argument, NULL, 's'},
    {"exclusive", no_argument, NULL, 'x'},
    {"unlock", no_argument, NULL, 'u'},
    {"nonblock", no_argument, NULL, 'n'},
    {"nonblocking", no_argument, NULL, 'n'},
    {"nb", no_argument, NULL, 'n'},
    {"wait", required_argument, NULL, 'w'},
    {"timeout", required_argument, NULL, 'w'},
    {"conflict-exit-code", required_argument, NULL, 'E'},
    {"close", no_argument, NULL, 'o'},
    {"no-fork", no_argument, NULL, 'F'},
    {"verbose", no_argument, NULL, WORD_VERBOSE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct flock_words {
    struct run_words run; /* .lock_operation is LOCK_UN with -u; .command is NULL with a NUMBER */
    bool no_fork, no_wait;
    const char *file; /* or the NUMBER */
};

static void print_help(void)
{
    puts("usage: afteryou flock [OPTION…] FILE|DIRECTORY COMMAND [WORD…]\n"
         "       afteryou flock [OPTION…] FILE|DIRECTORY -c 'SHELL LINE'\n"
         "       afteryou flock [OPTION…] NUMBER             an open descriptor, as in: exec "
         "9>FILE; afteryou flock 9\n"
         "flock(1), word for word, with a queue: who comes first is served first. It excludes "
         "flock(1), too.\n\n"
         "  -x, -e, --exclusive             alone (the default)\n"
         "  -s, --shared                    together with others that are shared\n"
         "  -u, --unlock                    take the lock off an open descriptor\n"
         "  -n, --nb, --nonblock            do not wait\n"
         "  -w, --wait, --timeout SECONDS   so long at most, as in 2.5\n"
         "  -E, --conflict-exit-code CODE   exit code when not obtained (default: 1)\n"
         "  -o, --close                     hold for the command alone, not for what it leaves "
         "running\n"
         "  -F, --no-fork                   become the command; its open file keeps the lock\n"
         "      --verbose                   tell how long it took, or why it was not obtained\n"
         "  -h, --help                      this\n"
         "  -V, --version                   the version\n\n"
         "Exit code: the command's own; 128+n if signal n ended it; 1 (or -E) not obtained; 64 "
         "called wrongly; 66 no "
         "such\n"
         "file; 65, 71 no such lock; 69, 126, 127 the command could not be run; 125 afteryou "
         "failed.");
}

static int complain_of(const char *text, const char *what)
{
    say("flock", "%s '%s'; 'afteryou flock --help' tells more", what, text);
    return EX_USAGE;
}

static int parse_option(int option, char **words, struct flock_words *asked)
{
    uint64_t code;
    switch (option) {
    case 's':
        asked->run.lock_operation = LOCK_SH;
        asked->run.spec.mode = AY_SHARED;
        return 0;
    case 'e':
    case 'x':
        asked->run.lock_operation = LOCK_EX;
        asked->run.spec.mode = AY_EXCLUSIVE;
        return 0;
    case 'u':
        asked->run.lock_operation = LOCK_UN;
        return 0;
    case 'n':
        asked->no_wait = true;
        return 0;
    case 'w':
        return run_parse_wait("flock", optarg, &asked->run) == 0 ? 0 : EX_USAGE;
    case 'E':
        if (!parse_number(optarg, 0, 255, &code))
            return complain_of(optarg, "-E takes an exit code from 0 to 255, not");
        asked->run.refused = (int)code;
        return 0;
    case 'o':
        asked->run.close = true;
        return 0;
    case 'F':
        asked->no_fork = true;
        return 0;
    case WORD_VERBOSE:
        asked->run.verbose = true;
        return 0;
    default:
        return common_option("flock", option, words, print_help) < 0 ? -1 : EX_USAGE;
    }
}

/* 0; negative: done, with success; or an exit code. */
static int parse(int count, char **words, struct flock_words *asked)
{
    *asked = (struct flock_words){
        .run = {.timeout_ms = -1, .refused = EXIT_REFUSED, .lock = -1, .lock_operation = LOCK_EX}};
    optind = 1;
    for (int option;
         (option = getopt_long(count, words, "+:sexnoFuw:E:hV", options, NULL)) != -1;) {
        const int status = parse_option(option, words, asked);
        if (status)
            return status;
    }
    asked->run.quiet = !asked->run.verbose;
    asked->run.timeout_ms = asked->no_wait ? 0 : asked->run.timeout_ms;
    if (asked->no_fork && asked->run.close)
        return complain_of("-o", "nobody would be left to hold the lock with -F and");
    if (optind == count) {
        say("flock",
            "a file, a directory or the number of an open descriptor is missing; 'afteryou flock "
            "--help' tells more");
        return EX_USAGE;
    }
    asked->file = words[optind++];
    if (optind == count)
        return 0;
    asked->run.command = words + optind;
    if (strcmp(words[optind], "-c") != 0 && strcmp(words[optind], "--command") != 0)
        return 0;
    if (count != optind + 2)
        return complain_of(words[optind], "one line for the shell, and nothing else, follows");
    run_use_shell(words[optind + 1], &asked->run);
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
        return complain_of(asked->file,
                           "without a command, the number of an open descriptor is wanted, not");
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
    fflush(stdout);
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
