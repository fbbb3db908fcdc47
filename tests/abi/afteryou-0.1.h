/* SPDX-License-Identifier: MIT */
/* The public header of release 0.1, without its comments. It never changes: a program that was
 * compiled against it must run with every later library of the same soname. */
#ifndef AFTERYOU_H
#define AFTERYOU_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define AY_API __attribute__((visibility("default")))
#else
#define AY_API
#endif
enum {
    AY_NAME_MOST = 255,
    AY_ALSO_MOST = 6,
    AY_PLACES_MOST = 4096,
    AY_SLOTS_MOST = 4096,
    AY_UNITS_MOST = 4096
};
enum { AY_AFTER_DEATH = 1 };
typedef enum {
    AY_EXCLUSIVE = 0,
    AY_SHARED,
    AY_PROTECTED_WRITE,
    AY_CONCURRENT_WRITE,
    AY_CONCURRENT_READ,
    AY_NULL
} ay_mode;
typedef enum { AY_IN_ORDER = 0, AY_WRITERS_FIRST, AY_READERS_FIRST, AY_BY_PRIORITY } ay_precedence;
typedef struct ay_options {
    unsigned places;
    const char *protocol;
    ay_precedence precedence;
    unsigned overtake;
    unsigned mode;
    unsigned retain;
    uint64_t reserved[8];
} ay_options;
typedef struct ay_spec {
    const char *name;
    const char *const *also;
    ay_mode mode;
    unsigned slots;
    unsigned take;
    unsigned of;
    int priority;
    uint64_t reserved[8];
} ay_spec;
typedef struct ay_space ay_space;
typedef struct ay_region ay_region;
AY_API int ay_open(const char *space, const ay_options *options, ay_space **out);
AY_API void ay_close(ay_space *space);
AY_API int ay_region_open(ay_space *space, const ay_spec *spec, ay_region **out);
AY_API void ay_region_close(ay_region *region);
AY_API int ay_enter(ay_region *region);
AY_API int ay_try(ay_region *region);
AY_API int ay_enter_for(ay_region *region, int timeout_ms);
AY_API int ay_enter_when(ay_region *region, bool (*when)(void *), void *arg, int timeout_ms);
AY_API int ay_enter_unless(ay_region *region, bool (*interrupted)(void *), bool (*when)(void *),
                           void *arg, int timeout_ms);
AY_API int ay_on_behalf(ay_region *region, uint64_t thread);
AY_API int ay_leave(ay_region *region);
AY_API uint64_t ay_fence(const ay_region *region);
AY_API size_t ay_units(const ay_region *region, unsigned *units, size_t room);
AY_API int ay_share(ay_region *region);
AY_API int ay_unshare(ay_region *region);
AY_API int ay_lost(ay_region *region);
AY_API bool ay_valid(const ay_region *region);
AY_API int ay_grace(const ay_space *space);
AY_API const char *ay_message(void);
typedef enum { AY_IDLE = 0, AY_WAITING, AY_INSIDE, AY_DEAD_INSIDE } ay_state;
typedef struct ay_place {
    unsigned place;
    ay_state state;
    bool alive;
    bool conditional;
    const char *const *names;
    ay_mode mode;
    unsigned slots, take, of;
    int priority;
    uint64_t fence;
    uint64_t order;
    int64_t since_ns;
    int waits_for;
    const unsigned *units;
    size_t unit_count;
    int pid, tid;
    uint64_t pid_namespace, start_time;
    unsigned uid;
    const char *command;
    uint64_t thread;
} ay_place;
typedef struct ay_view {
    const char *path, *protocol;
    unsigned places, used, alive;
    ay_precedence precedence;
    unsigned overtake, mode, uid, gid;
    int64_t created_s;
    unsigned retain;
    uint64_t reserved[8];
} ay_view;
AY_API int ay_look(const char *space, ay_view *view, int (*each)(const ay_place *, void *),
                   void *arg);
AY_API int ay_path(const char *space, char *path, size_t room);
AY_API int ay_remove(const char *space);
AY_API int ay_repair(ay_space *space);
#ifdef __cplusplus
}
#endif
#endif
