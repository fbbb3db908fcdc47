/* SPDX-License-Identifier: MIT */
/* The directory of a trial: who keeps it, and which machines it has. A locked file says that it is
 * kept, so no pid is trusted that may be somebody else's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum { PATH_ROOM = 4096, PID_ROOM = 24, DESCRIPTORS_MOST = 16 };

static bool path_of(char *path, const char *directory, const char *name)
{
    return snprintf(path, PATH_ROOM, "%s/%s", directory, name) < PATH_ROOM;
}

static int write_pid(int file, pid_t pid)
{
    char text[PID_ROOM];
    const int length = snprintf(text, sizeof text, "%d\n", pid);
    return ftruncate(file, 0) == 0 && pwrite(file, text, (size_t)length, 0) == length ? 0 : -EIO;
}

static pid_t read_pid(int file)
{
    char text[PID_ROOM] = {0};
    if (pread(file, text, sizeof text - 1, 0) <= 0)
        return -ESRCH;
    const long pid = strtol(text, NULL, 10);
    return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : -ESRCH;
}

/* What is there is nobody else's: nothing, or what an earlier trial left. */
static bool is_ours(const char *directory)
{
    char path[PATH_ROOM];
    if (path_of(path, directory, "keeper") && access(path, F_OK) == 0)
        return true;
    DIR *listing = opendir(directory);
    if (!listing)
        return false;
    bool empty = true;
    for (const struct dirent *entry; (entry = readdir(listing));)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(listing);
    return empty;
}

int trial_take(const char *directory)
{
    char path[PATH_ROOM];
    if (cluster_make_directory(directory) != 0)
        return -1;
    if (!path_of(path, directory, "keeper") || !is_ours(directory)) {
        usage_error("cluster", "%s has files in it that are no trial's; choose another --directory",
                    directory);
        return -1;
    }
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 && write_pid(file, getpid()) == 0)
        return file;
    if (file >= 0 && errno == EWOULDBLOCK)
        usage_error(
            "cluster",
            "a trial runs in %s already (process %d); 'afteryou cluster try --down' ends it",
            directory, read_pid(file));
    else
        usage_error("cluster", "cannot write %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

pid_t trial_keeper(const char *directory)
{
    char path[PATH_ROOM];
    if (!path_of(path, directory, "keeper"))
        return -ENAMETOOLONG;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    pid_t keeper = -ESRCH;
    if (flock(file, LOCK_SH | LOCK_NB) != 0)
        keeper = read_pid(file);
    close(file);
    return keeper;
}

int trial_note_machine(const char *directory, const char *name, pid_t first)
{
    char path[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s/%s/first", directory, name) >= (int)sizeof path)
        return -ENAMETOOLONG;
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return -errno;
    const int error = write_pid(file, first);
    close(file);
    return error;
}

pid_t trial_machine(const char *directory, const char *name)
{
    char path[PATH_ROOM];
    const pid_t keeper = trial_keeper(directory);
    if (keeper < 0)
        return keeper;
    if (strchr(name, '/') ||
        snprintf(path, sizeof path, "%s/%s/first", directory, name) >= (int)sizeof path)
        return -ENOENT;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return -ENOENT;
    const pid_t first = read_pid(file);
    close(file);
    return first < 0 ? -ENOENT : first;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path) == 0 || errno == ENOENT ? 0 : errno;
}

int trial_remove(const char *directory)
{
    const int error =
        nftw(directory, remove_one, DESCRIPTORS_MOST, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return error < 0 ? (errno == ENOENT ? 0 : -errno) : -error;
}
