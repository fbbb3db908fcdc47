/* SPDX-License-Identifier: MIT */
/* Fuzzing the path that opens a hostile file: whatever bytes lie there, opening, looking on,
 * claiming and entering end without a crash or a hang, with 0 or a negative errno.
 *
 * The input is laid over a good space of two places: the first bytes over its header, the rest over
 * the pages of its places.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "afteryou.h"

enum { HEADER = 160, USED = 4096, GRANULES = 5, GRANULE_MOST = 64 * 1024 };

static char path[64], good[GRANULES * GRANULE_MOST];
static size_t granule, front; /* of a space that is made here; of the header and the places */
static off_t good_size;       /* with the pulses */

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void remove_file(void)
{
    unlink(path);
}

int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count;
    (void)words;
    ay_space *space;
    granule = (size_t)sysconf(_SC_PAGESIZE);
    front = GRANULES * granule;
    snprintf(path, sizeof path, "/dev/shm/afteryou-fuzz-%d", (int)getpid());
    atexit(remove_file);
    if (ay_open(path, &(ay_options){.places = 2}, &space) != 0)
        abort();
    ay_close(space);
    struct stat status;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0 || read(fd, good, front) != (ssize_t)front)
        abort();
    good_size = status.st_size;
    close(fd);
    return 0;
}

static int visit(const ay_place *place, void *sum)
{
    *(size_t *)sum += strlen(place->command) + place->unit_count;
    for (const char *const *name = place->names; *name; name++)
        *(size_t *)sum += strlen(*name);
    return 0;
}

static void overlay(char *to, size_t room, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size && at < room; at++)
        /* zeros leave it as it is: the fuzzer finds its way from a good file */
        to[at] = (char)(to[at] ^ data[at]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char bytes[sizeof good];
    memcpy(bytes, good, front);
    const size_t header = size < HEADER ? size : HEADER;
    overlay(bytes, HEADER, data, header);
    size_t left = size - header;
    data += header;
    /* The hot lines and the cold granules of the two places. */
    const struct {
        size_t at, room;
    } parts[] = {{granule, 128}, {2 * granule + 64, 128}, {3 * granule, USED}, {4 * granule, USED}};
    for (size_t which = 0; which < sizeof parts / sizeof *parts; which++) {
        const size_t part = left < parts[which].room ? left : parts[which].room;
        overlay(bytes + parts[which].at, parts[which].room, data, part);
        data += part;
        left -= part;
    }
    const int fd = open(path, O_RDWR);
    if (fd < 0 || pwrite(fd, bytes, front, 0) != (ssize_t)front || ftruncate(fd, good_size) != 0)
        abort();
    close(fd);
    ay_view view;
    size_t sum = 0;
    ay_look(path, &view, visit, &sum);
    ay_space *space;
    if (ay_open(path, NULL, &space) != 0)
        return 0;
    ay_repair(space);
    ay_region *region;
    if (ay_region_open(space, &(ay_spec){.name = "x"}, &region) == 0 && ay_try(region) >= 0)
        ay_leave(region);
    ay_close(space);
    return 0;
}
