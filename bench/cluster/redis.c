/* SPDX-License-Identifier: MIT */
/* The lock of a Redis server, as its documents recommend for one server. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "peers.h"

enum { ANSWER_ROOM = 256 };

/* One request, one short answer, which is one line or a bulk string of one line. */
static bool ask(int connection, const char *request, size_t length, char *answer)
{
    if (write(connection, request, length) != (ssize_t)length)
        return false;
    size_t have = 0;
    for (;;) {
        const ssize_t got = read(connection, answer + have, ANSWER_ROOM - 1 - have);
        if (got <= 0)
            return false;
        have += (size_t)got;
        answer[have] = '\0';
        const char *end = strstr(answer, "\r\n");
        if (end && (answer[0] != '$' || answer[1] == '-' || strstr(end + 2, "\r\n")))
            return true;
    }
}

static bool ask_line(int connection, const char *line, char *answer)
{
    return ask(connection, line, strlen(line), answer);
}

bool redis_open(struct redis_lock *lock, const char *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char answer[ANSWER_ROOM];
    if (strlen(socket_path) >= sizeof address.sun_path)
        return false;
    strcpy(address.sun_path, socket_path);
    lock->connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (lock->connection < 0 ||
        connect(lock->connection, (struct sockaddr *)&address, sizeof address) != 0)
        return false;
    static const char script[] =
        "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return "
        "0 end";
    char request[ANSWER_ROOM];
    snprintf(request, sizeof request, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n",
             sizeof script - 1, script);
    if (!ask_line(lock->connection, request, answer) || strncmp(answer, "$40\r\n", 5) != 0)
        return false;
    snprintf(lock->script, sizeof lock->script, "%.40s", answer + 5);
    return true;
}

bool redis_enter(struct redis_lock *lock)
{
    char answer[ANSWER_ROOM];
    static const char request[] =
        "*6\r\n$3\r\nSET\r\n$5\r\nbench\r\n$5\r\ntoken\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n";
    return ask_line(lock->connection, request, answer) && strncmp(answer, "+OK", 3) == 0;
}

bool redis_leave(struct redis_lock *lock)
{
    char request[ANSWER_ROOM], answer[ANSWER_ROOM];
    snprintf(request, sizeof request,
             "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$5\r\nbench\r\n$5\r\ntoken\r\n",
             lock->script);
    return ask_line(lock->connection, request, answer) && strncmp(answer, ":1", 2) == 0;
}
