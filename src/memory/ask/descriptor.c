/* SPDX-License-Identifier: MIT */
/* The descriptor of a space, and hints: how who leaves makes that of another process readable.
 *
 * It is a socket for datagrams of this machine. This process sends to it when there is something to
 * be seen; and so does whoever leaves a place that an ask sleeps on: the program wakes up at once,
 * and not by way of a helper, which would be a wake-up more. Who rests says in its place what the
 * socket is called, its key, and in `asleep` that it hears. The name is there for everybody to see
 * (/proc/net/unix); the key, for those who may read the space. What comes without it the kernel
 * drops.
 *
 *   A4  Whoever wakes an ask that hears has sent a hint, and the kernel has taken it; or wakes its
 *       helper. Until the hint is taken, the descriptor is readable.
 * A hint is refused if the queue is full, if the writer is in another network namespace, where
 * somebody else may have that name, or if it has no descriptor left: then the helper is woken.
 * Where the kernel does not say which namespace it is, nobody hears. ay_decided() takes a
 * hint for what a helper takes a wake-up for: somebody has woken who sleeps on that word.
 *
 * A program may close the descriptor, and with it the hints that it has not seen; or leave it to a
 * child, which reads none. That is noticed in ay_decided() and ay_fd(). From then on hints are sent
 * elsewhere, or refused, and all who rest look again: whoever has sent one to the old name has
 * changed its word before.
 *
 * Where there are no such sockets, the descriptor is an eventfd, and nobody hears. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/network.h"
#include "memory/ask/ask.h"
#include "memory/ask/tell.h"

struct hint {
    uint64_t key;
    uint32_t place; /* PLACE_NONE: this process says that there is something to be seen */
    uint32_t unused;
};
#define PLACE_NONE UINT32_MAX

/* A name without a file: it is gone with its socket. */
static socklen_t address_of(uint64_t ear, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1,
                                "afteryou-%016llx", (unsigned long long)ear);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static bool send_to(int fd, uint64_t ear, uint64_t key, uint32_t place)
{
    struct sockaddr_un address;
    const socklen_t length = address_of(ear, &address);
    const struct hint message = {.key = key, .place = place};
    return sendto(fd, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL,
                  (const struct sockaddr *)&address, length) == (ssize_t)sizeof message;
}

/* ---- who hears ---- */

static void draw(void *bytes, size_t length, bool *drawn)
{
    *drawn = *drawn && getrandom(bytes, length, GRND_NONBLOCK) == (ssize_t)length;
}

void ay__descriptor_begin(struct asks *asks)
{
    asks->named = true;
    asks->fd = asks->mouth = -1;
    draw(&asks->ear, sizeof asks->ear, &asks->named);
    draw(&asks->key, sizeof asks->key, &asks->named);
}

/* The kernel reads in the order of the network. */
static bool drop_without_key(int fd, uint64_t key)
{
    uint32_t half[2];
    memcpy(half, &key, sizeof key);
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(half[0]), 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(half[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

static int new_socket(void)
{
    return descriptor_above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/* And one that is connected to it: to say something takes no more than write(2), should the program
 * forbid itself the rest later. */
static bool make_sockets(struct asks *asks)
{
    struct sockaddr_un address;
    const socklen_t length = address_of(asks->ear, &address);
    const int fd = asks->named ? new_socket() : -1, mouth = fd < 0 ? -1 : new_socket();
    asks->network = fd < 0 ? 0 : network_of(fd);
    if (mouth >= 0 && asks->network && drop_without_key(fd, asks->key) &&
        bind(fd, (const struct sockaddr *)&address, length) == 0 &&
        connect(mouth, (const struct sockaddr *)&address, length) == 0) {
        descriptor_identify(fd, &asks->file);
        descriptor_identify(mouth, &asks->mouth_file);
        asks->fd = fd;
        asks->mouth = mouth;
        return true;
    }
    if (fd >= 0)
        close(fd);
    if (mouth >= 0)
        close(mouth);
    return false;
}

static bool make_event(struct asks *asks)
{
    const int fd = descriptor_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (fd < 0)
        return false;
    descriptor_identify_event(fd, &asks->file);
    asks->fd = fd;
    return true;
}

static bool is_there(const struct asks *asks)
{
    return asks->fd >= 0 && descriptor_is(asks->fd, &asks->file);
}

static bool has_mouth(const struct asks *asks)
{
    return asks->mouth >= 0 && descriptor_is(asks->mouth, &asks->mouth_file);
}

/* False: nothing was written. If the queue is full, it is readable. */
static bool make_readable(const struct asks *asks)
{
    const struct hint message = {.key = asks->key, .place = PLACE_NONE};
    if (!asks->hears)
        return eventfd_write(asks->fd, 1) == 0;
    return (has_mouth(asks) && write(asks->mouth, &message, sizeof message) > 0) ||
           send_to(asks->fd, asks->ear, asks->key, PLACE_NONE);
}

/* Whoever sends a hint to the old name from now on has changed its word before it fetched that. */
static void lose(struct asks *asks)
{
    ay__descriptor_close(asks);
    if (!asks->hears)
        return;
    asks->hears = false;
    draw(&asks->ear, sizeof asks->ear, &asks->named);
    if (!asks->named)
        asks->ear = 0;
    for (struct ask *ask = asks->all; ask; ask = ask->next) {
        access_point();
        atomic_store(&ask->member->at.fixed.own_cold->ear, asks->ear);
    }
    for (struct ask *ask = asks->all; ask; ask = ask->next)
        if (ask->linked)
            ay__ask_stir(ask, true);
}

int ay__descriptor_find(struct asks *asks)
{
    if (is_there(asks))
        return asks->fd;
    lose(asks);
    const bool hears = make_sockets(asks);
    if (!hears && !make_event(asks))
        return ay__fail(-errno, "cannot make a descriptor: %s", strerror(errno));
    asks->hears = hears;
    if (asks->told)
        asks->told = make_readable(asks);
    return asks->fd;
}

bool ay__descriptor_say(struct asks *asks)
{
    return !is_there(asks) || make_readable(asks);
}

/* Not before it has joined the others: who loses the descriptor finds it. */
void ay__descriptor_publish(struct ask *ask)
{
    struct registers *at = &ask->member->at;
    struct cold *cold = at->fixed.own_cold;
    pthread_mutex_lock(&ay__asks_mutex);
    /* whom helpers call is called by them: a hint would pass them by */
    at->passage.hears = ask->asks->hears && !ask->asks->call;
    if (at->passage.hears && atomic_load(&cold->ear) != ask->asks->ear) {
        atomic_store(&cold->key, ask->asks->key);
        atomic_store(&cold->network, ask->asks->network);
        atomic_store(&cold->ear, ask->asks->ear);
    }
    pthread_mutex_unlock(&ay__asks_mutex);
}

/* Who sleeps by its place sleeps there on its count of sleeps. The place may be another's by now:
 * both are meant. */
static void hear(struct asks *asks, uint32_t place)
{
    if (place >= asks->space->places)
        return;
    const struct hot *hot = ay__hot(asks->space, place);
    ay__ask_word_changed(asks, &hot->sleeps);
    ay__ask_word_changed(asks, &hot->word);
}

/* Who is stirred by a hint is taken at once: nobody need say so. */
bool ay__descriptor_take(struct asks *asks)
{
    struct hint message;
    eventfd_t count;
    const bool told = asks->told;
    asks->told = false;
    if (asks->fd >= 0 && !is_there(asks)) {
        lose(asks);
        return false;
    }
    if (told && asks->fd >= 0 && !asks->hears)
        eventfd_read(asks->fd, &count);
    if (!asks->hears || read(asks->fd, &message, sizeof message) != (ssize_t)sizeof message)
        return false;
    if (message.place == PLACE_NONE)
        return true;
    asks->told = true;
    hear(asks, message.place);
    asks->told = told;
    return true;
}

void ay__descriptor_close(struct asks *asks)
{
    if (is_there(asks))
        close(asks->fd);
    if (has_mouth(asks))
        close(asks->mouth);
    asks->fd = asks->mouth = -1;
}

/* ---- who leaves ---- */

/* Of this process, for the space. -1: there is none to be had now. Who leaves does not wait for the
 * mutex, which is held over a whole fork(). */
static int sender_of(ay_space *space, uint64_t *network)
{
    if (pthread_mutex_trylock(&ay__asks_mutex) != 0)
        return -1;
    if (space->sender <= 0 || !descriptor_is(space->sender, &space->sender_file)) {
        space->sender = new_socket();
        if (space->sender > 0) {
            descriptor_identify(space->sender, &space->sender_file);
            space->sender_network = network_of(space->sender);
        }
    }
    const int fd = space->sender;
    *network = space->sender_network;
    pthread_mutex_unlock(&ay__asks_mutex);
    return fd;
}

/* Its own asks are told (words.c). */
bool ay__hint(ay_space *space, unsigned asleep, unsigned about, struct hints *hints)
{
    AY__UNCANCELLED;
    const struct cold *cold = ay__cold(space, asleep);
    const struct asks *asks = atomic_load(&space->asks);
    access_point();
    const uint64_t ear = atomic_load(&cold->ear);
    if (hints->count > 0 && ear == hints->last)
        return true;
    if (hints->count == HINTS_MOST || ear == 0 || (asks && asks->ear == ear))
        return false;
    uint64_t network;
    const int fd = sender_of(space, &network);
    if (fd < 0 || network != atomic_load(&cold->network) ||
        !send_to(fd, ear, atomic_load(&cold->key), about))
        return false;
    hints->count++;
    hints->last = ear;
    return true;
}

void ay__hints_close(ay_space *space)
{
    if (space->sender > 0 && descriptor_is(space->sender, &space->sender_file))
        close(space->sender);
    space->sender = 0;
}
