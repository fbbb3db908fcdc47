/* SPDX-License-Identifier: MIT */
/* `afteryou status --watch`: a live screen that follows the terminal's size and gives the terminal
 * back as it was. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/status/status.h"
#include "cli/text.h"
#include "common/printable.h"

#define SCREEN_TAKE "\033[?1049h"
#define FRAME_BEGIN "\033[H\033[2J"
/* the colour may be that of a line that did not fit; the cursor stays hidden */
#define FRAME_END   "\033[0m\033[?25l"
#define SCREEN_GIVE "\033[?25h\033[?1049l"

enum {
    AGAIN_MS = 1000,
    ABOVE = 2,
    ROWS_UNKNOWN = 24,
    COLUMNS_UNKNOWN = 80,
    KEYS_MOST = 64,
    BACKSPACE = 010,
    KILL_LINE = 025, /* Ctrl-U */
    ESCAPE = 033,
    RUBOUT = 0177,
    FRAME_ROOM = 65536
};

struct watch {
    const struct status_words *asked;
    enum status_order order;
    bool screen; /* draws on a terminal; else each look is printed after the other */
    bool keys;   /* stdin is a terminal in our hands: `before` is what it was */
    struct termios before;
    char filter[STATUS_FILTER]; /* words that a row must have; "": all rows are shown */
    bool typing;                /* set by /, cleared by Enter and Esc: keys go into the filter */
    size_t first;               /* the first line that is shown, of those below the titles */
    size_t lines, rows; /* of them, how many there were at the last drawing, and how many fit */
};

static void take_terminal(struct watch *self)
{
    self->keys = tcgetattr(STDIN_FILENO, &self->before) == 0;
    struct termios raw = self->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    self->keys = self->keys && tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    fputs(SCREEN_TAKE, stdout);
}

static void give_terminal(const struct watch *self)
{
    fputs(SCREEN_GIVE, stdout);
    fflush(stdout);
    if (self->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &self->before);
}

/* The table's lines that fit, the titles first. */
static void print_lines(struct watch *self, char *text)
{
    char *rest = text, *line = strsep(&rest, "\n");
    self->lines = 0;
    for (const char *at = rest; at && *at; at++)
        self->lines += *at == '\n';
    const size_t most = self->lines > self->rows ? self->lines - self->rows : 0;
    if (self->first > most)
        self->first = most;
    printf("%s", line);
    for (size_t at = 0; at < self->first + self->rows && (line = strsep(&rest, "\n")) && rest; at++)
        if (at >= self->first)
            printf("\n%s", line);
}

static void print_unreadable(FILE *out, const struct status_view *view, size_t columns)
{
    for (size_t at = 0; at < view->unreadable_count; at++) {
        text_print(out, view->unreadable[at].why, columns);
        fputc('\n', out);
    }
}

static void draw_table(struct watch *self, const struct status_view *view, size_t columns)
{
    char *text = NULL;
    size_t length;
    FILE *table = open_memstream(&text, &length);
    if (!table)
        return;
    status_print_table(table, view, self->order, self->filter, columns);
    print_unreadable(table, view, columns);
    if (fclose(table) == 0)
        print_lines(self, text);
    free(text);
}

/* The line above the table. */
static void word_title(const struct watch *self, char *line, size_t room)
{
    char now[32];
    const time_t seconds = time(NULL);
    struct tm local;
    strftime(now, sizeof now, "%H:%M:%S", localtime_r(&seconds, &local));
    if (self->typing)
        snprintf(line, room, "filter: %s_  (Enter: keep it, Esc: show all)", self->filter);
    else if (*self->filter)
        snprintf(line, room, "%s  by %s  filter: %s  (Esc: show all, /: change, q: end)", now,
                 status_order_at(self->order), self->filter);
    else
        snprintf(line, room, "%s  by %s  (q: end, s: sort, /: filter, arrows: move)", now,
                 status_order_at(self->order));
}

static void draw_screen(struct watch *self, const struct status_view *view, const char *trouble)
{
    struct winsize size = {0};
    const bool known =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    const size_t columns = known ? size.ws_col : COLUMNS_UNKNOWN,
                 rows = known ? size.ws_row : ROWS_UNKNOWN;
    /* What is typed is shown even where there is no room for a title. */
    const size_t above = rows > ABOVE + 2 ? ABOVE : self->typing && rows > 1 ? 1 : 0;
    char line[512];
    word_title(self, line, sizeof line);
    self->rows = rows - 1 - (above < rows ? above : 0);
    fputs(FRAME_BEGIN, stdout);
    if (above || trouble)
        text_print(stdout, trouble ? trouble : line, columns);
    for (size_t at = 0; at < above; at++)
        fputc('\n', stdout);
    if (view)
        draw_table(self, view, columns);
    fputs(FRAME_END, stdout);
}

static bool draw(struct watch *self)
{
    struct status_view view;
    char trouble[512];
    const bool seen = status_look(self->asked, &view, trouble, sizeof trouble) == 0;
    if (self->screen)
        draw_screen(self, seen ? &view : NULL, seen ? NULL : trouble);
    else if (!seen)
        say("status", "%s", trouble);
    else if (self->asked->json) {
        status_look_for_removed(&view);
        status_print_json(stdout, &view);
    } else
        status_print_table(stdout, &view, self->order, "", 0);
    if (seen && !self->screen && !self->asked->json)
        print_unreadable(stderr, &view, 0);
    if (seen)
        status_drop(&view);
    return output_flush();
}

static void move(struct watch *self, long lines)
{
    if (lines < 0)
        self->first -= (size_t)-lines < self->first ? (size_t)-lines : self->first;
    else
        self->first += (size_t)lines; /* print_lines() keeps it within the table */
}

/* How many bytes the first key has: 1, or those of a letter of several bytes, or of a sequence that
 * begins with Esc (ECMA-48: parameters, then a letter or ~). Esc alone is a key, too. */
static size_t key_length(const char *key, size_t length)
{
    if (*key != ESCAPE) {
        const size_t letter = utf8_length(key);
        return letter && letter <= length ? letter : 1;
    }
    if (length < 2 || (key[1] != '[' && key[1] != 'O'))
        return 1;
    size_t used = 2;
    while (used < length && (key[used] < '@' || key[used] > '~'))
        used++;
    return used < length ? used + 1 : length;
}

/* What a key does: its letter, or that of a key that does the same; 0: nothing. */
static char action_of(const char *key, size_t length)
{
    static const struct {
        const char *bytes;
        char action;
    } keys[] = {{"\033[A", 'k'},  {"\033OA", 'k'},  {"\033[B", 'j'}, {"\033OB", 'j'},
                {"\033[C", '>'},  {"\033OC", '>'},  {"\033[D", '<'}, {"\033OD", '<'},
                {"\033[5~", 'b'}, {"\033[6~", ' '}, {"\033[H", 'g'}, {"\033[F", 'G'},
                {"\033[1~", 'g'}, {"\033[4~", 'G'}};
    for (size_t at = 0; at < sizeof keys / sizeof *keys; at++)
        if (length == strlen(keys[at].bytes) && memcmp(key, keys[at].bytes, length) == 0)
            return keys[at].action;
    return length == 1 ? *key : 0;
}

/* A key while the filter is typed. False: it is none of the filter's. */
static bool take_letter(struct watch *self, const char *key, size_t length)
{
    const size_t used = strlen(self->filter);
    if (*key == ESCAPE && length > 1)
        return false;
    if (*key == '\n' || *key == '\r' || *key == ESCAPE) {
        self->typing = false;
        self->filter[*key == ESCAPE ? 0 : used] = 0;
    } else if (*key == RUBOUT || *key == BACKSPACE) {
        size_t left = used ? used - 1 : 0;
        while (left > 0 && ((unsigned char)self->filter[left] & 0xc0) == 0x80)
            left--; /* to the first byte of the letter */
        self->filter[left] = 0;
        self->typing = used > 0;
    } else if (*key == KILL_LINE) {
        self->filter[0] = 0;
    } else if ((unsigned char)*key >= ' ' && used + length < sizeof self->filter) {
        memcpy(self->filter + used, key, length);
        self->filter[used + length] = 0;
    }
    self->first = 0;
    return true;
}

/* False: it was the last one. */
static bool take_key(struct watch *self, const char *key, size_t length)
{
    if (self->typing && take_letter(self, key, length))
        return true;
    const char action = action_of(key, length);
    const long page = self->rows > 1 ? (long)self->rows - 1 : 1;
    if (action == 'q' || action == 'Q')
        return false;
    if (action == '/')
        self->typing = true;
    else if (action == ESCAPE)
        self->filter[0] = 0;
    else if (action == 's' || action == '>')
        self->order = (self->order + 1) % STATUS_ORDERS;
    else if (action == '<')
        self->order = (self->order + STATUS_ORDERS - 1) % STATUS_ORDERS;
    else if (action == 'j' || action == 'k')
        move(self, action == 'j' ? 1 : -1);
    else if (action == ' ' || action == 'b')
        move(self, action == ' ' ? page : -page);
    else if (action == 'g' || action == 'G')
        self->first = action == 'g' ? 0 : self->lines;
    return true;
}

/* False: the user has seen enough. */
static bool take_keys(struct watch *self)
{
    char typed[KEYS_MOST + 1] = ""; /* NUL behind the last key */
    const ssize_t length = read(STDIN_FILENO, typed, KEYS_MOST);
    if (length <= 0) /* the terminal has gone; SIGHUP tells, if anybody is to know */
        self->keys = length < 0 && (errno == EINTR || errno == EAGAIN);
    for (ssize_t at = 0; at < length;) {
        const size_t used = key_length(typed + at, (size_t)(length - at));
        if (!take_key(self, typed + at, used))
            return false;
        at += (ssize_t)used;
    }
    return true;
}

static void suspend(struct watch *self)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    if (!self->screen) {
        raise(SIGSTOP);
        return;
    }
    give_terminal(self);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    take_terminal(self);
}

/* Until something is to be done: 0: it is time to draw again; a signal; or negative: `q` was typed.
 */
static int wait_for_something(struct watch *self, int signals)
{
    struct pollfd files[] = {{.fd = signals, .events = POLLIN},
                             {.fd = self->keys ? STDIN_FILENO : -1, .events = POLLIN}};
    struct signalfd_siginfo info;
    if (poll(files, 2, AGAIN_MS) <= 0)
        return 0;
    if (files[0].revents && read(signals, &info, sizeof info) == sizeof info)
        return (int)info.ssi_signo;
    return files[1].revents && !take_keys(self) ? -1 : 0;
}

int status_watch(const struct status_words *asked)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
    struct watch self = {
        .asked = asked, .order = asked->order, .screen = isatty(STDOUT_FILENO) && !asked->json};
    sigset_t set;
    sigemptyset(&set);
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++)
        sigaddset(&set, numbers[at]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return usage_error("status", "cannot watch for signals: %s", strerror(errno));
    if (self.screen) {
        setvbuf(stdout, NULL, _IOFBF, FRAME_ROOM); /* a screen at a time, or it flickers */
        take_terminal(&self);
    }
    int number = 0;
    bool written = true;
    while (written && (number == 0 || number == SIGWINCH || number == SIGTSTP)) {
        written = draw(&self);
        number = written ? wait_for_something(&self, signals) : 0;
        if (number == SIGTSTP)
            suspend(&self);
    }
    if (self.screen)
        give_terminal(&self);
    close(signals);
    if (!written)
        return EXIT_USAGE; /* output_end() says why */
    return number < 0 || number == SIGINT ? 0 : 128 + number;
}
