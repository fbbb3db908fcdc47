/* SPDX-License-Identifier: MIT */
/* Tells the layout of the public structures of HEADER and the values of its constants: all that
 * release 0.1 had. It is compiled with the header of that release and with the present one, and
 * agree.py compares. `reserved` is not told: a field may take the place of some of its words. */
#include HEADER

#include <stdio.h>

#define SIZE(type) printf("sizeof %s: %zu\n", #type, sizeof(type))
#define FIELD(type, name)                                                                          \
    printf("%s.%s: %zu bytes at %zu\n", #type, #name, sizeof(((type *)NULL)->name),                \
           offsetof(type, name))
#define VALUE(name) printf("%s: %d\n", #name, (int)name)

static void tell_options(void)
{
    SIZE(ay_options);
    FIELD(ay_options, places);
    FIELD(ay_options, protocol);
    FIELD(ay_options, precedence);
    FIELD(ay_options, overtake);
    FIELD(ay_options, mode);
    FIELD(ay_options, retain);
}

static void tell_spec(void)
{
    SIZE(ay_spec);
    FIELD(ay_spec, name);
    FIELD(ay_spec, also);
    FIELD(ay_spec, mode);
    FIELD(ay_spec, slots);
    FIELD(ay_spec, take);
    FIELD(ay_spec, of);
    FIELD(ay_spec, priority);
}

/* The library makes it and hands out a pointer: it may grow at its end. */
static void tell_place(void)
{
    FIELD(ay_place, place);
    FIELD(ay_place, state);
    FIELD(ay_place, alive);
    FIELD(ay_place, conditional);
    FIELD(ay_place, names);
    FIELD(ay_place, mode);
    FIELD(ay_place, slots);
    FIELD(ay_place, take);
    FIELD(ay_place, of);
    FIELD(ay_place, priority);
    FIELD(ay_place, fence);
    FIELD(ay_place, order);
    FIELD(ay_place, since_ns);
    FIELD(ay_place, waits_for);
    FIELD(ay_place, units);
    FIELD(ay_place, unit_count);
    FIELD(ay_place, pid);
    FIELD(ay_place, tid);
    FIELD(ay_place, pid_namespace);
    FIELD(ay_place, start_time);
    FIELD(ay_place, uid);
    FIELD(ay_place, command);
    FIELD(ay_place, thread);
}

static void tell_view(void)
{
    SIZE(ay_view);
    FIELD(ay_view, path);
    FIELD(ay_view, protocol);
    FIELD(ay_view, places);
    FIELD(ay_view, used);
    FIELD(ay_view, alive);
    FIELD(ay_view, precedence);
    FIELD(ay_view, overtake);
    FIELD(ay_view, mode);
    FIELD(ay_view, uid);
    FIELD(ay_view, gid);
    FIELD(ay_view, created_s);
    FIELD(ay_view, retain);
}

/* Limits may be raised; they are not told. */
static void tell_values(void)
{
    VALUE(AY_AFTER_DEATH);
    VALUE(AY_EXCLUSIVE);
    VALUE(AY_SHARED);
    VALUE(AY_PROTECTED_WRITE);
    VALUE(AY_CONCURRENT_WRITE);
    VALUE(AY_CONCURRENT_READ);
    VALUE(AY_NULL);
    VALUE(AY_IN_ORDER);
    VALUE(AY_WRITERS_FIRST);
    VALUE(AY_READERS_FIRST);
    VALUE(AY_BY_PRIORITY);
    VALUE(AY_IDLE);
    VALUE(AY_WAITING);
    VALUE(AY_INSIDE);
    VALUE(AY_DEAD_INSIDE);
}

int main(void)
{
    tell_options();
    tell_spec();
    tell_place();
    tell_view();
    tell_values();
    return 0;
}
