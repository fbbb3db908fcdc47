/* SPDX-License-Identifier: MIT */
/* A server of one thread that holds records for its clients: it asks, and never waits. A client
 * sends the name of a record, hears when it is its own, and hangs up when it is done. Other
 * processes, other servers too, may take the same records: here one holds the first of them, and is
 * killed. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { CLIENTS = 24, RECORDS = 3, NAME_ROOM = 32 };

struct client {
    int socket;
    ay_region *region; /* NULL: it has not said what it wants */
};

static int set; /* of epoll */
static ay_space *space;
static struct client clients[CLIENTS];
static unsigned served, records_after_death, failed;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, ay_message());
    exit(1);
}

/* The record is this client's, or never will be. It may have hung up meanwhile: that is heard next,
 * and must not end the server by SIGPIPE. */
static void answer(struct client *client, int result)
{
    const char *word = result < 0 ? "no" : "yours";
    records_after_death += result == AY_AFTER_DEATH;
    failed += result < 0;
    send(client->socket, word, strlen(word), MSG_NOSIGNAL);
}

static void ask(struct client *client, const char *name)
{
    if (ay_region_open(space, &(ay_spec){.name = name}, &client->region) != 0)
        die("ay_region_open");
    const int result = ay_ask(client->region);
    if (result >= 0)
        answer(client, result);
}

/* What it held is left, what it asked for withdrawn. */
static void part(struct client *client)
{
    ay_region_close(client->region);
    epoll_ctl(set, EPOLL_CTL_DEL, client->socket, NULL); /* its other clients have copies of it */
    close(client->socket);
    *client = (struct client){.socket = -1};
    served++;
}

static void hear(struct client *client)
{
    char name[NAME_ROOM];
    const ssize_t length = read(client->socket, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    if (length <= 0)
        part(client);
    else if (!client->region)
        ask(client, name);
}

static void see_what_is_decided(void)
{
    int result;
    for (ay_region *region; (region = ay_decided(space, &result)) != NULL;)
        for (int which = 0; which < CLIENTS; which++)
            if (clients[which].region == region)
                answer(&clients[which], result);
}

static void watch(int fd, void *of)
{
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd,
                  &(struct epoll_event){.events = EPOLLIN, .data.ptr = of}) != 0)
        die("epoll_ctl");
}

/* Wants a record, works on it for a moment, and goes. Some lose patience before. */
static void be_client(int socket, int number)
{
    char name[NAME_ROOM], heard[NAME_ROOM];
    snprintf(name, sizeof name, "record %d", number % RECORDS);
    if (write(socket, name, strlen(name)) < 0)
        exit(1);
    if (number % 5 == 4) {
        usleep(1000);
        exit(0);
    }
    exit(read(socket, heard, sizeof heard) > 0 && heard[0] == 'y' ? 0 : 1);
}

static pid_t hold_first_record(const char *name)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        exit(1);
    const pid_t pid = fork();
    if (pid == 0) {
        ay_region *region;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ay_open(name, NULL, &space) != 0 ||
            ay_region_open(space, &(ay_spec){.name = "record 0"}, &region) != 0 ||
            ay_enter(region) < 0 || write(ready[1], "!", 1) != 1)
            die("the holder");
        pause();
    }
    close(ready[1]); /* else nobody would tell that the holder has failed */
    if (read(ready[0], &byte, 1) != 1)
        exit(1);
    close(ready[0]);
    return pid;
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-server";
    const pid_t holder = hold_first_record(name);
    if (ay_open(name, NULL, &space) != 0)
        die("ay_open");
    set = epoll_create1(EPOLL_CLOEXEC);
    watch(ay_fd(space), NULL);
    for (int which = 0; which < CLIENTS; which++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return 1;
        if (fork() == 0) {
            close(pair[0]);
            be_client(pair[1], which);
        }
        close(pair[1]);
        clients[which] = (struct client){.socket = pair[0]};
        watch(pair[0], &clients[which]);
    }
    while (served < CLIENTS) {
        struct epoll_event event;
        if (epoll_wait(set, &event, 1, -1) != 1)
            continue;
        if (event.data.ptr)
            hear(event.data.ptr);
        else
            see_what_is_decided();
        if (served == CLIENTS / 2)
            kill(holder, SIGKILL); /* while some of ours stand behind it */
    }
    int status;
    while (wait(&status) > 0)
        failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    printf("%u clients were served, %u of them after a death, %u in vain\n", served,
           records_after_death, failed);
    ay_close(space);
    ay_remove(name);
    return failed || records_after_death != 1;
}
