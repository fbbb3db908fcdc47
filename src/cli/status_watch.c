/* SPDX-License-Identifier: MIT */
/* `afteryou status --watch`: a live screen that follows the terminal's size and gives it back as it was. */
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/status.h"

#define SCREEN_TAKE "\033[?1049h\033[?25l"
#define SCREEN_GIVE "\033[?25h\033[?1049l"

static void draw_screen(const struct status_view *view, const char *trouble)
{
    struct winsize size = {0};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    char now[32];
    const time_t seconds = time(NULL);
    struct tm local;
    strftime(now, sizeof now, "%H:%M:%S", localtime_r(&seconds, &local));
    fputs("\033[H\033[2J", stdout);
    if (!known || size.ws_row > 4)
        printf("%.*s\n\n", known ? size.ws_col : 80, trouble ? trouble : now);
    if (view)
        status_print_table(stdout, view, known ? size.ws_col : 80,
                           known ? (size.ws_row > 4 ? size.ws_row - 3u : 2) : 0);
}

static bool draw(const struct status_words *asked, bool screen)
{
    struct status_view view;
    char trouble[512];
    const bool seen = status_look(asked, &view, trouble, sizeof trouble) == 0;
    if (screen)
        draw_screen(seen ? &view : NULL, seen ? NULL : trouble);
    else if (!seen)
        say("status", "%s", trouble);
    else if (asked->json)
        status_print_json(stdout, &view);
    else
        status_print_table(stdout, &view, 0, 0);
    if (seen)
        status_drop(&view);
    return fflush(stdout) == 0;
}

static void suspend(void)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    fputs(SCREEN_GIVE, stdout);
    fflush(stdout);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    fputs(SCREEN_TAKE, stdout);
}

int status_watch(const struct status_words *asked)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
    const struct timespec second = {.tv_sec = 1};
    const bool screen = isatty(STDOUT_FILENO) && !asked->json;
    sigset_t set;
    sigemptyset(&set);
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++)
        sigaddset(&set, numbers[at]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (screen)
        fputs(SCREEN_TAKE, stdout);
    int number = 0;
    while (number <= 0 || number == SIGWINCH || number == SIGTSTP) {
        if (!draw(asked, screen))
            return usage_error("status", "cannot write");
        number = sigtimedwait(&set, NULL, &second);
        if (number == SIGTSTP && screen)
            suspend();
        else if (number == SIGTSTP)
            raise(SIGSTOP);
    }
    if (screen)
        fputs(SCREEN_GIVE, stdout);
    fflush(stdout);
    return number == SIGINT ? 0 : 128 + number;
}
