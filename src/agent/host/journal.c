/* SPDX-License-Identifier: MIT */
/* What the agent tells the machine it runs on: lines of log, systemd, and a file with the last
 * view. */
#include "agent/host/journal.h"
#include "common/descriptors.h"
#include "common/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void journal_write(const char *cluster, enum log_level level, const char *event,
                   const char *details)
{
    static const char *const levels[] = {"debug", "info", "warning"};
    struct timespec now;
    struct tm utc;
    char time[32], line[2048];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(line, sizeof line, "time=%s.%03ldZ level=%s cluster=%s event=%s%s%s", time,
             now.tv_nsec / 1000000, levels[level], cluster, event, *details ? " " : "", details);
    make_printable(line);
    fprintf(stderr, "%s\n", line);
}

/* sd_notify(3) is one datagram; a name that begins with '@' is an abstract one. */
void journal_notify(const char *message)
{
    const char *name = secure_getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!name || (name[0] != '/' && name[0] != '@') || strlen(name) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, name, strlen(name));
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    const int fd = descriptor_above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return;
    (void)!sendto(fd, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name)));
    close(fd);
}

bool view_file_open(struct view_file *file, const char *directory, const char *cluster,
                    char *trouble, size_t room)
{
    *file = (struct view_file){0};
    const int length = snprintf(file->path, sizeof file->path, "%s/%s.view", directory, cluster);
    if (length < 0 || (size_t)length >= sizeof file->path) {
        snprintf(trouble, room, "the path of the state directory is too long");
        return false;
    }
    if (mkdir(directory, 0755) != 0 && errno != EEXIST) {
        snprintf(trouble, room, "cannot make %s: %s", directory, strerror(errno));
        return false;
    }
    FILE *stream = fopen(file->path, "re");
    if (!stream) {
        if (errno == ENOENT)
            return true;
        snprintf(trouble, room, "cannot read %s: %s", file->path, strerror(errno));
        return false;
    }
    const bool read = fscanf(stream, "%" SCNu64, &file->reserved) == 1;
    fclose(stream);
    if (!read)
        snprintf(trouble, room, "%s holds no number; if you remove it, fences may fall",
                 file->path);
    return read;
}

static bool write_whole(int fd, uint64_t view)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%" PRIu64 "\n", view);
    return write(fd, text, (size_t)length) == length && fsync(fd) == 0;
}

/* A new file, renamed over the old: a crash leaves one or the other. */
bool view_file_keep(struct view_file *file, uint64_t view)
{
    char beside[sizeof file->path + 8];
    if (view <= file->reserved)
        return true;
    snprintf(beside, sizeof beside, "%s.new", file->path);
    const int fd = descriptor_above_standard(
        open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (fd < 0)
        return false;
    const bool written = write_whole(fd, view + VIEWS_IN_ADVANCE);
    close(fd);
    if (!written || rename(beside, file->path) != 0)
        return false;
    file->reserved = view + VIEWS_IN_ADVANCE;
    return true;
}
