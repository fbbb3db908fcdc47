/* SPDX-License-Identifier: MIT */
/* The machine that figures come from, as /proc tells it. */
#include "machine.h"

#include <gnu/libc-version.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

enum { LISTEN_US = 5000 };

/* Processor time since the machine began, of all processors, in seconds. */
struct used {
    double busy, steal;
};

static struct used used_now(void)
{
    struct used used = {0};
    unsigned long long user = 0, nice = 0, system = 0, idle, wait, interrupt = 0, soft = 0,
                       steal = 0;
    FILE *in = fopen("/proc/stat", "r");
    if (!in)
        return used;
    if (fscanf(in, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
               &wait, &interrupt, &soft, &steal) == 8) {
        const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
        used.busy = tick * (double)(user + nice + system + interrupt + soft);
        used.steal = tick * (double)steal;
    }
    fclose(in);
    return used;
}

void noise_listen(struct noise *noise)
{
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN),
                 begin = 1e-9 * (double)now_ns();
    const struct used before = used_now();
    rest_us(LISTEN_US);
    const struct used after = used_now();
    const double end = 1e-9 * (double)now_ns();
    if (noise->began <= 0) {
        noise->began = begin;
        noise->stolen_before = before.steal;
    }
    noise->listened += processors * (end - begin);
    noise->busy += after.busy - before.busy;
    noise->passed = processors * (end - noise->began);
    noise->stolen = after.steal - noise->stolen_before;
}

void noise_add(struct noise *sum, const struct noise *more)
{
    sum->listened += more->listened;
    sum->busy += more->busy;
    sum->passed += more->passed;
    sum->stolen += more->stolen;
}

double noise_others(const struct noise *noise)
{
    const double share = noise->listened > 0 ? noise->busy / noise->listened : 0;
    return share < 1 ? share : 1; /* the kernel counts whole ticks */
}

double noise_steal(const struct noise *noise)
{
    return noise->passed > 0 ? noise->stolen / noise->passed : 0;
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
