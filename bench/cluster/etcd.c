/* SPDX-License-Identifier: MIT */
/* The lock service of etcd, over its HTTP gateway with one connection kept open. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peers.h"

enum { REQUEST_ROOM = 1024, ANSWER_ROOM = 4096 };

static const char name_base64[] = "YmVuY2g="; /* LOCK_NAME */

/* Whether the answer is whole: its head, and as many bytes as the head says. */
static bool is_whole(const char *answer, size_t have)
{
    const char *body = strstr(answer, "\r\n\r\n"), *length = strcasestr(answer, "content-length:");
    if (!body || !length)
        return false;
    return have >=
           (size_t)(body + 4 - answer) + strtoul(length + strlen("content-length:"), NULL, 10);
}

static bool post(int connection, const char *path, const char *body, char *answer)
{
    char request[REQUEST_ROOM];
    const int length =
        snprintf(request, sizeof request,
                 "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s", path,
                 strlen(body), body);
    if (length >= (int)sizeof request || write(connection, request, (size_t)length) != length)
        return false;
    for (size_t have = 0;;) {
        const ssize_t got = read(connection, answer + have, ANSWER_ROOM - 1 - have);
        if (got <= 0)
            return false;
        have += (size_t)got;
        answer[have] = '\0';
        if (is_whole(answer, have))
            return strstr(answer, " 200 OK") != NULL;
    }
}

/* The string that a field of a JSON answer has. */
static bool field(const char *answer, const char *name, char *value, size_t room)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":\"", name);
    const char *start = strstr(answer, quoted);
    if (!start)
        return false;
    start += strlen(quoted);
    const size_t length = strcspn(start, "\"");
    if (length >= room)
        return false;
    memcpy(value, start, length);
    value[length] = '\0';
    return true;
}

bool etcd_open(struct etcd_lock *lock, unsigned port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char answer[ANSWER_ROOM];
    lock->connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (lock->connection < 0 ||
        connect(lock->connection, (const struct sockaddr *)&address, sizeof address) != 0)
        return false;
    setsockopt(lock->connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return post(lock->connection, "/v3/lease/grant", "{\"TTL\":600}", answer) &&
           field(answer, "ID", lock->lease, sizeof lock->lease);
}

bool etcd_enter(struct etcd_lock *lock)
{
    char body[REQUEST_ROOM / 2], answer[ANSWER_ROOM];
    snprintf(body, sizeof body, "{\"name\":\"%s\",\"lease\":\"%s\"}", name_base64, lock->lease);
    return post(lock->connection, "/v3/lock/lock", body, answer) &&
           field(answer, "key", lock->key, sizeof lock->key);
}

bool etcd_leave(struct etcd_lock *lock)
{
    char body[REQUEST_ROOM / 2], answer[ANSWER_ROOM];
    snprintf(body, sizeof body, "{\"key\":\"%s\"}", lock->key);
    return post(lock->connection, "/v3/lock/unlock", body, answer);
}
