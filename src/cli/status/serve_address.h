/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: where it listens, and who may ask there. */
#ifndef AFTERYOU_CLI_STATUS_SERVE_ADDRESS_H
#define AFTERYOU_CLI_STATUS_SERVE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SERVE_PORT = 8642, /* the first that is tried */
    SERVE_TOKEN = 32   /* letters */
};

struct serve_address {
    int fd;
    bool loopback, local_socket;
    char token[SERVE_TOKEN + 1]; /* empty: none is needed */
    char host[256];              /* as it was given */
    char path[108];              /* of the socket; empty: none */
    char url[512];
};

/* Whether a word behind --serve is an address, and not the name of a region. */
bool serve_looks_like_address(const char *word);
/* Listens. False, and `trouble` says why. `words` is NULL: at the first free port of loopback. */
bool serve_listen(const char *words, struct serve_address *address, char *trouble, size_t room);
void serve_unlisten(struct serve_address *address);
/* Whether a page that names this host (the header, with or without a port) may be answered: a name
 * that an attacker has pointed at this machine may not. NULL: none was named. */
bool serve_host_is_good(const struct serve_address *address, const char *host);
/* Whether it is the token; in a time that does not tell how much of it is right. */
bool serve_token_is_good(const struct serve_address *address, const char *token);

#endif
