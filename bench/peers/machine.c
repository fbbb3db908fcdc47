/* SPDX-License-Identifier: MIT */
/* The machine that figures come from, as /proc tells it. */
#include "machine.h"

#include <gnu/libc-version.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static double used_by(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct load load_now(void)
{
    struct load load = {.wall = 1e-9 * (double)now_ns(), .own = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN)};
    unsigned long long user = 0, nice = 0, system = 0, idle, wait, interrupt = 0, soft = 0, steal = 0;
    FILE *in = fopen("/proc/stat", "r");
    if (!in)
        return load;
    if (fscanf(in, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait, &interrupt,
               &soft, &steal) == 8) {
        const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
        load.busy = tick * (double)(user + nice + system + interrupt + soft);
        load.steal = tick * (double)steal;
    }
    fclose(in);
    return load;
}

static double share(const struct load *before, const struct load *after, double seconds)
{
    const double all = (after->wall - before->wall) * (double)sysconf(_SC_NPROCESSORS_ONLN);
    return all > 0 && seconds > 0 ? seconds / all : 0;
}

double load_others(const struct load *before, const struct load *after)
{
    return share(before, after, after->busy - before->busy - (after->own - before->own));
}

double load_steal(const struct load *before, const struct load *after)
{
    return share(before, after, after->steal - before->steal);
}

static void find_model(char *model, size_t room)
{
    char line[256];
    snprintf(model, room, "unknown");
    FILE *in = fopen("/proc/cpuinfo", "r");
    while (in && fgets(line, sizeof line, in)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(model, room, "%s", colon + 2);
        break;
    }
    if (in)
        fclose(in);
}

void machine_describe(struct rows *rows)
{
    char text[NOTE_ROOM];
    struct utsname name;
    find_model(text, sizeof text);
    rows_add_machine(rows, "processor", text);
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    rows_add_machine(rows, "processors", text);
    if (uname(&name) == 0) {
        snprintf(text, sizeof text, "%s %s %s", name.sysname, name.release, name.machine);
        rows_add_machine(rows, "kernel", text);
    }
    snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
    rows_add_machine(rows, "libc", text);
    rows_add_machine(rows, "compiler", __VERSION__);
    const time_t now = time(NULL);
    struct tm parts;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &parts));
    rows_add_machine(rows, "when", text);
}

void machine_load_average(struct rows *rows, const char *what)
{
    char text[NOTE_ROOM] = "unknown";
    FILE *in = fopen("/proc/loadavg", "r");
    if (in) {
        if (fgets(text, sizeof text, in))
            text[strcspn(text, "\n")] = '\0';
        fclose(in);
    }
    rows_add_machine(rows, what, text);
}
