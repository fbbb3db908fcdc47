/* SPDX-License-Identifier: MIT */
/* `afteryou status`: processes that still use the file of a space that was removed. No path leads
 * there any more, so they are found by what they have open (/proc); those of other users, by root
 * alone. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/status/status.h"
#include "cli/text.h"
#include "common/grow.h"

#define DELETED " (deleted)"

/* What was asked for: one path, or all below the user's directory. */
struct wanted {
    char path[PATH_MAX];
    bool all;
};

static bool is_wanted(const struct wanted *wanted, const char *path)
{
    const size_t length = strlen(wanted->path);
    return wanted->all ? strncmp(path, wanted->path, length) == 0 && path[length] == '/'
                       : strcmp(path, wanted->path) == 0;
}

static bool want(const char *space, struct wanted *wanted)
{
    char path[PATH_MAX];
    wanted->all = !space;
    if (ay_path(space, path, sizeof path) != 0)
        return false;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    /* the file is gone; its directory may be a link */
    if (!realpath(slash == path ? "/" : path, wanted->path))
        return false;
    const size_t length = strlen(wanted->path);
    return wanted->all ||
           snprintf(wanted->path + length, sizeof wanted->path - length, "/%s", slash + 1) > 0;
}

static bool is_space(const char *link)
{
    char magic[8];
    const int fd = open(link, O_RDONLY | O_CLOEXEC);
    const bool is = fd >= 0 && pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                    memcmp(magic, "afteryou", sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* The path of the removed space that the process has open as `file`. */
static bool is_removed(const struct wanted *wanted, const char *pid, const char *file, char *path)
{
    char link[PATH_MAX];
    if (snprintf(link, sizeof link, "/proc/%s/fd/%s", pid, file) >= (int)sizeof link)
        return false;
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= (ssize_t)strlen(DELETED))
        return false;
    path[length] = '\0';
    char *end = path + length - strlen(DELETED);
    if (strcmp(end, DELETED) != 0)
        return false;
    *end = '\0';
    return is_wanted(wanted, path) && is_space(link);
}

static void look_at_process(const struct wanted *wanted, const char *pid, status_each_removed *each,
                            void *arg)
{
    char directory[64], path[PATH_MAX], last[PATH_MAX] = "";
    snprintf(directory, sizeof directory, "/proc/%s/fd", pid);
    DIR *files = opendir(directory);
    if (!files)
        return;
    for (const struct dirent *file; (file = readdir(files));)
        if (isdigit((unsigned char)file->d_name[0]) &&
            is_removed(wanted, pid, file->d_name, path) && strcmp(path, last) != 0) {
            each(path, atoi(pid), arg);
            strcpy(last, path);
        }
    closedir(files);
}

void status_removed(const struct status_words *asked, status_each_removed *each, void *arg)
{
    struct wanted wanted;
    DIR *processes = asked->cluster || !want(asked->space, &wanted) ? NULL : opendir("/proc");
    if (!processes)
        return;
    for (const struct dirent *process; (process = readdir(processes));)
        if (isdigit((unsigned char)process->d_name[0]) && strlen(process->d_name) < 16)
            look_at_process(&wanted, process->d_name, each, arg);
    closedir(processes);
}

static void keep(const char *path, int pid, void *arg)
{
    struct status_view *view = arg;
    char *copy = strdup(path);
    if (copy &&
        grow(&view->removed, view->removed_count, &view->removed_room, sizeof *view->removed, 8))
        view->removed[view->removed_count++] = (struct status_holdout){.path = copy, .pid = pid};
    else
        free(copy);
}

void status_look_for_removed(struct status_view *view)
{
    status_removed(view->asked, keep, view);
}

void status_copy_removed(struct status_view *to, const struct status_view *from)
{
    for (size_t at = 0; at < from->removed_count; at++)
        keep(from->removed[at].path, from->removed[at].pid, to);
}
