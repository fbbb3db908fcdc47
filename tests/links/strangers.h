/* SPDX-License-Identifier: MIT */
/* Who does not belong to the links: strangers with TLS, and a tap between two ends. */
#ifndef AFTERYOU_TESTS_LINKS_STRANGERS_H
#define AFTERYOU_TESTS_LINKS_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forwards one connection after the other, and writes down what the dialling sides say. While it is
 * open it is driven by step(), as `also`. */
struct tap {
    int listener;
    uint16_t port, to;
    unsigned connections;
    int near, far; /* -1: not connected */
    bool frozen;   /* it forwards nothing any more, and accepts nobody */
    uint8_t *bytes;
    size_t length;
};

void tap_open(struct tap *tap, uint16_t to);
void tap_close(struct tap *tap);
void tap_forget(struct tap *tap); /* what it has written down */

/* A handshake of TLS as a client, without the key, while the ends go on: 0, or negative as GnuTLS
 * has it. Closes `fd`. */
int stranger_shakes_hands(int fd, const char *priorities);
/* A listener of the loopback, and a server with a certificate of its own for its first caller. */
int stranger_listens(uint16_t *port);
int stranger_serves(int listener);

/* In two steps, for one that has no descriptors left. */
int stranger_socket(void);
void stranger_connects(int fd, uint16_t port);

#endif
