/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: where it listens, and who may ask there. */
#include "cli/status/serve_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/commands.h"

#define UNIX "unix:"

enum { BACKLOG = 4096, PORT_LAST = 65535 };

/* "HOST:PORT", "[::1]:PORT", "HOST", "::1", "PORT": its two parts. */
struct words_of_address {
    char host[256];
    unsigned port;
    bool any_port; /* none is named: the first free one */
};

static bool is_numeric_host(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static bool split_address(const char *words, struct words_of_address *into)
{
    uint64_t port = 0;
    const char *colon = strrchr(words, ':');
    size_t length = colon ? (size_t)(colon - words) : 0;
    *into = (struct words_of_address){.host = "127.0.0.1", .any_port = true};
    if (parse_number(words, 0, PORT_LAST, &port)) {
        into->port = (unsigned)port;
        into->any_port = false;
        return true;
    }
    if (is_numeric_host(words) || !colon) {
        snprintf(into->host, sizeof into->host, "%s", words);
        return *words && strlen(words) < sizeof into->host;
    }
    if (!parse_number(colon + 1, 0, PORT_LAST, &port))
        return false;
    into->any_port = false;
    into->port = (unsigned)port;
    if (length > 2 && words[0] == '[' && words[length - 1] == ']') {
        words++;
        length -= 2;
    } else if (memchr(words, ':', length)) {
        return false; /* an address of version 6 stands in brackets, before a port */
    }
    snprintf(into->host, sizeof into->host, "%.*s", (int)length, words);
    return length > 0 && length < sizeof into->host;
}

bool serve_looks_like_address(const char *word)
{
    struct words_of_address address;
    const bool has_port = split_address(word, &address) && !address.any_port && strchr(word, ':');
    return strncmp(word, UNIX, strlen(UNIX)) == 0 || is_numeric_host(word) || has_port ||
           strcmp(word, "localhost") == 0;
}

static bool is_loopback(const struct sockaddr *address)
{
    struct in_addr four;
    struct in6_addr six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, &((const struct sockaddr_in *)(const void *)address)->sin_addr, sizeof four);
        return ntohl(four.s_addr) >> 24 == 127;
    }
    memcpy(&six, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, sizeof six);
    return IN6_IS_ADDR_LOOPBACK(&six);
}

static void set_port(struct sockaddr *address, unsigned port)
{
    if (address->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)address)->sin_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in6 *)(void *)address)->sin6_port = htons((uint16_t)port);
}

static unsigned port_of(int fd)
{
    struct sockaddr_storage at = {0};
    socklen_t length = sizeof at;
    (void)getsockname(fd, (struct sockaddr *)&at, &length);
    return ntohs(at.ss_family == AF_INET ? ((struct sockaddr_in *)&at)->sin_port
                                         : ((struct sockaddr_in6 *)&at)->sin6_port);
}

/* A socket that listens, or -errno. */
static int listen_at(const struct addrinfo *info, unsigned port)
{
    struct sockaddr_storage at;
    const int yes = 1;
    memcpy(&at, info->ai_addr, info->ai_addrlen);
    set_port((struct sockaddr *)&at, port);
    const int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, (struct sockaddr *)&at, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int error = errno;
    if (fd >= 0)
        close(fd);
    return -error;
}

static int listen_at_first_free(const struct addrinfo *info, const struct words_of_address *words)
{
    if (!words->any_port)
        return listen_at(info, words->port);
    int fd = -EADDRINUSE;
    for (unsigned port = SERVE_PORT; fd == -EADDRINUSE && port <= PORT_LAST; port++)
        fd = listen_at(info, port);
    return fd;
}

static bool make_token(char *token, char *trouble, size_t room)
{
    unsigned char bytes[SERVE_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        snprintf(trouble, room, "cannot make a token: %s", strerror(errno));
        return false;
    }
    for (size_t at = 0; at < sizeof bytes; at++)
        snprintf(token + 2 * at, 3, "%02x", bytes[at]);
    return true;
}

/* What a browser is given. The address that stands for all of this machine's is none to go to. */
static void write_url(struct serve_address *address)
{
    char name[256] = "";
    const bool every = strcmp(address->host, "0.0.0.0") == 0 || strcmp(address->host, "::") == 0;
    if (!every || gethostname(name, sizeof name - 1) != 0)
        snprintf(name, sizeof name, "%s", address->host);
    const bool six = strchr(name, ':') != NULL;
    snprintf(address->url, sizeof address->url, "http://%s%s%s:%u/%s%s", six ? "[" : "", name,
             six ? "]" : "", port_of(address->fd), *address->token ? "?token=" : "",
             address->token);
}

static bool listen_by_name(const char *given, struct serve_address *address, char *trouble,
                           size_t room)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct words_of_address words;
    struct addrinfo *found = NULL;
    if (!split_address(given ? given : "127.0.0.1", &words)) {
        snprintf(trouble, room,
                 "--serve takes HOST:PORT, [ADDRESS]:PORT, HOST, PORT or unix:PATH, not '%s'",
                 given);
        return false;
    }
    const int unknown = getaddrinfo(words.host, NULL, &wanted, &found);
    if (unknown) {
        snprintf(trouble, room, "--serve: '%s' is no address of this machine: %s", words.host,
                 gai_strerror(unknown));
        return false;
    }
    snprintf(address->host, sizeof address->host, "%s", words.host);
    address->loopback = is_loopback(found->ai_addr);
    address->fd = listen_at_first_free(found, &words);
    freeaddrinfo(found);
    if (address->fd < 0) {
        snprintf(trouble, room, "cannot listen at %s: %s%s", given ? given : words.host,
                 strerror(-address->fd),
                 address->fd == -EADDRINUSE ? "; without an address, a free port is taken" : "");
        return false;
    }
    if (!address->loopback && !make_token(address->token, trouble, room))
        return false;
    write_url(address);
    return true;
}

/* A socket that nobody listens at any more is left by one that was killed: it may go. */
static bool is_abandoned(const struct sockaddr_un *at)
{
    struct stat status;
    if (lstat(at->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) != 0 &&
                         errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return refused;
}

/* Its file's mode says who may connect: nobody but this user. */
static bool bind_for_user_alone(int fd, const struct sockaddr_un *at)
{
    const mode_t before = umask(0177);
    bool done = bind(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    if (!done && errno == EADDRINUSE && is_abandoned(at) && unlink(at->sun_path) == 0)
        done = bind(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    umask(before);
    return done && listen(fd, BACKLOG) == 0;
}

static bool listen_at_path(const char *path, struct serve_address *address, char *trouble,
                           size_t room)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof at.sun_path) {
        snprintf(trouble, room, "--serve: the path of a socket has 1 to %zu bytes, not %zu",
                 sizeof at.sun_path - 1, strlen(path));
        return false;
    }
    strcpy(at.sun_path, path);
    address->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (address->fd < 0 || !bind_for_user_alone(address->fd, &at)) {
        snprintf(trouble, room, "cannot listen at %s: %s", path, strerror(errno));
        return false;
    }
    address->loopback = address->local_socket = true;
    strcpy(address->path, path);
    snprintf(address->url, sizeof address->url, UNIX "%s", path);
    return true;
}

bool serve_listen(const char *words, struct serve_address *address, char *trouble, size_t room)
{
    *address = (struct serve_address){.fd = -1};
    const bool done = words && strncmp(words, UNIX, strlen(UNIX)) == 0
                          ? listen_at_path(words + strlen(UNIX), address, trouble, room)
                          : listen_by_name(words, address, trouble, room);
    if (!done)
        serve_unlisten(address);
    return done;
}

void serve_unlisten(struct serve_address *address)
{
    if (address->fd >= 0)
        close(address->fd);
    if (*address->path)
        unlink(address->path);
    address->fd = -1;
}

bool serve_host_is_good(const struct serve_address *address, const char *host)
{
    struct words_of_address words;
    struct in_addr four;
    /* Only this user, or only who has the token, is answered there anyway. */
    if (address->local_socket || *address->token)
        return true;
    if (!host)
        return false;
    if (strcmp(host, "[::1]") == 0)
        return true;
    if (parse_number(host, 0, UINT64_MAX, &(uint64_t){0}) || !split_address(host, &words))
        return false;
    return strcasecmp(words.host, "localhost") == 0 || strcasecmp(words.host, address->host) == 0 ||
           strcmp(words.host, "::1") == 0 ||
           (inet_pton(AF_INET, words.host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127);
}

bool serve_token_is_good(const struct serve_address *address, const char *token)
{
    if (!*address->token)
        return true;
    char given[SERVE_TOKEN + 1] = "";
    unsigned char differs = !token || strlen(token) != SERVE_TOKEN;
    snprintf(given, sizeof given, "%s", token ? token : "");
    for (size_t at = 0; at < SERVE_TOKEN; at++)
        differs |= (unsigned char)(given[at] ^ address->token[at]);
    return !differs;
}
