/* SPDX-License-Identifier: MIT */
/* Preloaded into a program: a machine with larger pages than this one's, of as many bytes as
 * LARGE_PAGES says. Memory is mapped, unmapped and advised in whole pages of that size, from
 * addresses and offsets that are multiples of it; all else is refused, as a kernel with such pages
 * refuses it. What the C library maps for itself does not come by here.
 */
#undef _FILE_OFFSET_BITS /* mmap and mmap64 are both to be defined here, and are the same */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static size_t page(void)
{
    static size_t asked; /* the same, whoever stores it */
    if (asked == 0) {
        const char *text = getenv("LARGE_PAGES");
        asked = text ? strtoul(text, NULL, 10) : 0;
        if (asked < getauxval(AT_PAGESZ) || (asked & (asked - 1)) != 0)
            abort();
    }
    return asked;
}

static bool is_whole(uint64_t value)
{
    return value % page() == 0;
}

static size_t rounded(size_t size)
{
    return (size + page() - 1) / page() * page();
}

static void *map(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

/* Room at a multiple of the page, without memory yet. */
static char *reserve(size_t size)
{
    const size_t room = size + page();
    char *found = map(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED)
        return found;
    char *begin = (char *)((uintptr_t)(found + page() - 1) / page() * page());
    if (begin > found)
        syscall(SYS_munmap, found, begin - found);
    syscall(SYS_munmap, begin + size, found + room - (begin + size));
    return begin;
}

SHOWN void *mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    const bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    if (!is_whole((uint64_t)offset) || (fixed && !is_whole((uintptr_t)at))) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    size = rounded(size);
    if (!fixed) {
        at = reserve(size);
        if (at == MAP_FAILED)
            return at;
    }
    void *mapped = map(at, size, protection, flags | (fixed ? 0 : MAP_FIXED), file, offset);
    if (mapped == MAP_FAILED && !fixed) {
        const int error = errno;
        syscall(SYS_munmap, at, size);
        errno = error;
    }
    return mapped;
}

SHOWN void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap64")));

static long on_whole(long call, void *at, size_t size, int argument)
{
    if (is_whole((uintptr_t)at))
        return syscall(call, at, rounded(size), argument);
    errno = EINVAL;
    return -1;
}

SHOWN int munmap(void *at, size_t size)
{
    return (int)on_whole(SYS_munmap, at, size, 0);
}

SHOWN int madvise(void *at, size_t size, int advice)
{
    return (int)on_whole(SYS_madvise, at, size, advice);
}

SHOWN int mprotect(void *at, size_t size, int protection)
{
    return (int)on_whole(SYS_mprotect, at, size, protection);
}

SHOWN long sysconf(int name)
{
    if (name == _SC_PAGESIZE)
        return (long)page();
    long (*const real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return real ? real(name) : -1;
}

SHOWN int getpagesize(void)
{
    return (int)page();
}
