/* SPDX-License-Identifier: MIT */
/* The cluster's key, and TLS 1.3 by it.
 *
 * The file's bytes are not the key of TLS: that is derived from them and the cluster's name, so
 * that Corosync's authkey can serve both, and an agent of one cluster is a stranger to another's.
 * No certificate, no ticket, no early data: whoever finishes the handshake has the key, and what
 * was recorded of an earlier one is of no use. */
#include "agent/host/links_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/descriptors.h"

enum {
    KEY_LEAST = 32,
    KEY_MOST = 4096,
    SECRET_LENGTH = 32,
    KEYS_LAST = 1 << 18 /* records: far below what the ciphers bear */
};

/* With a fresh exchange in every handshake: who learns the key later cannot read what was said
 * before. The hash of the ciphers must be that of the key, SHA-256. */
#define PRIORITIES                                                                                 \
    "NONE:+VERS-TLS1.3:+AES-128-GCM:+CHACHA20-POLY1305:+AEAD:+ECDHE-PSK:+GROUP-X25519:"            \
    "+SIGN-ALL:+COMP-NULL:%DISABLE_TLS13_COMPAT_MODE"
#define IDENTITY "afteryou-links-1"
#define PURPOSE  "afteryou links of the cluster "

struct tls_key {
    uint8_t secret[SECRET_LENGTH];
    gnutls_priority_t priorities;
    gnutls_psk_client_credentials_t as_client;
    gnutls_psk_server_credentials_t as_server;
};

struct tls_session {
    gnutls_session_t session;
    unsigned sealed; /* records, with the present keys */
};

/* What is wrong with who may read it or write it; NULL: nothing. */
static const char *rights_trouble(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "it is no file";
    if (status.st_uid != 0 && status.st_uid != geteuid())
        return "it is another user's: it must be root's, or the agent's";
    if (status.st_mode & 077)
        return "others may read it or write it: chmod 600";
    return NULL;
}

/* How many bytes; -1: `trouble` says. */
static ssize_t read_key(const char *file, uint8_t key[KEY_MOST + 1], char *trouble, size_t room)
{
    const int fd = descriptor_above_standard(open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (fd < 0) {
        snprintf(trouble, room,
                 "cannot read the key %s: %s; --key names another, --plain-links does without",
                 file, strerror(errno));
        return -1;
    }
    const char *wrong = rights_trouble(fd);
    const ssize_t length = wrong ? -1 : read(fd, key, KEY_MOST + 1);
    if (wrong || length < 0)
        snprintf(trouble, room, "cannot use the key %s: %s", file, wrong ? wrong : strerror(errno));
    else if (length < KEY_LEAST || length > KEY_MOST)
        snprintf(trouble, room, "cannot use the key %s: it must have %d to %d bytes", file,
                 KEY_LEAST, KEY_MOST);
    close(fd);
    return length > KEY_MOST || length < KEY_LEAST ? -1 : length;
}

static int derive(struct tls_key *into, const char *cluster, uint8_t *key, size_t length)
{
    uint8_t extracted[SECRET_LENGTH];
    char purpose[128];
    snprintf(purpose, sizeof purpose, PURPOSE "%s", cluster);
    const gnutls_datum_t bytes = {key, (unsigned)length}, salt = {NULL, 0},
                         between = {extracted, sizeof extracted},
                         info = {(unsigned char *)purpose, (unsigned)strlen(purpose)};
    int error = gnutls_hkdf_extract(GNUTLS_MAC_SHA256, &bytes, &salt, extracted);
    if (error == 0)
        error = gnutls_hkdf_expand(GNUTLS_MAC_SHA256, &between, &info, into->secret,
                                   sizeof into->secret);
    explicit_bzero(extracted, sizeof extracted);
    return error;
}

/* A client that names another identity is as one with another key. */
static int give_key(gnutls_session_t session, const char *identity, gnutls_datum_t *key)
{
    const struct link_channel *channel = gnutls_session_get_ptr(session);
    if (strcmp(identity, IDENTITY) != 0)
        return -1;
    key->data = gnutls_malloc(SECRET_LENGTH);
    if (!key->data)
        return -1;
    memcpy(key->data, channel->links->key->secret, SECRET_LENGTH);
    key->size = SECRET_LENGTH;
    return 0;
}

static int prepare(struct tls_key *key)
{
    const gnutls_datum_t secret = {key->secret, sizeof key->secret};
    int error = gnutls_priority_init(&key->priorities, PRIORITIES, NULL);
    if (error == 0)
        error = gnutls_psk_allocate_client_credentials(&key->as_client);
    if (error == 0)
        error = gnutls_psk_allocate_server_credentials(&key->as_server);
    if (error == 0)
        error = gnutls_psk_set_client_credentials(key->as_client, IDENTITY, &secret,
                                                  GNUTLS_PSK_KEY_RAW);
    if (error == 0)
        gnutls_psk_set_server_credentials_function(key->as_server, give_key);
    return error;
}

struct tls_key *tls_open(const char *file, const char *cluster, char *trouble, size_t room)
{
    uint8_t bytes[KEY_MOST + 1];
    const ssize_t length = read_key(file, bytes, trouble, room);
    if (length < 0)
        return NULL;
    struct tls_key *key = calloc(1, sizeof *key);
    int error = key ? derive(key, cluster, bytes, (size_t)length) : GNUTLS_E_MEMORY_ERROR;
    explicit_bzero(bytes, sizeof bytes);
    if (error == 0)
        error = prepare(key);
    if (error == 0)
        return key;
    snprintf(trouble, room, "TLS cannot be had of GnuTLS: %s", gnutls_strerror(error));
    tls_close(key);
    return NULL;
}

void tls_close(struct tls_key *key)
{
    if (!key)
        return;
    if (key->priorities)
        gnutls_priority_deinit(key->priorities);
    if (key->as_client)
        gnutls_psk_free_client_credentials(key->as_client);
    if (key->as_server)
        gnutls_psk_free_server_credentials(key->as_server);
    explicit_bzero(key, sizeof *key);
    free(key);
}

/* ---- TLS reads from memory and writes to memory: the sockets are the channels' ---- */

static ssize_t pull(gnutls_transport_ptr_t arg, void *room, size_t length)
{
    struct link_channel *channel = arg;
    if (channel->raw_left == 0) {
        gnutls_transport_set_errno(channel->tls->session, EAGAIN);
        return -1;
    }
    const size_t taken = length < channel->raw_left ? length : channel->raw_left;
    memcpy(room, channel->raw, taken);
    channel->raw += taken;
    channel->raw_left -= taken;
    return (ssize_t)taken;
}

static ssize_t push(gnutls_transport_ptr_t arg, const giovec_t *parts, int count)
{
    struct link_channel *channel = arg;
    ssize_t total = 0;
    for (int at = 0; at < count; at++) {
        if (!store_add(&channel->out, parts[at].iov_base, parts[at].iov_len)) {
            gnutls_transport_set_errno(channel->tls->session, ENOMEM);
            return -1;
        }
        total += (ssize_t)parts[at].iov_len;
    }
    return total;
}

/* What no retry mends. */
static bool is_broken_by(struct link_channel *channel, ssize_t error)
{
    if (!gnutls_error_is_fatal((int)error))
        return false;
    channel_break(channel, "TLS: %s", gnutls_strerror((int)error));
    return true;
}

static int open_session(struct link_channel *channel)
{
    const struct tls_key *key = channel->links->key;
    gnutls_session_t *session = &channel->tls->session;
    int error = gnutls_init(session, (channel->dialled ? GNUTLS_CLIENT : GNUTLS_SERVER) |
                                         GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS);
    if (error == 0)
        error = gnutls_priority_set(*session, key->priorities);
    if (error == 0)
        error = gnutls_credentials_set(*session, GNUTLS_CRD_PSK,
                                       channel->dialled ? (void *)key->as_client
                                                        : (void *)key->as_server);
    return error;
}

bool tls_begin(struct link_channel *channel)
{
    channel->tls = calloc(1, sizeof *channel->tls);
    if (!channel->tls) {
        channel_break(channel, "out of memory");
        return false;
    }
    const int error = open_session(channel);
    if (error != 0) {
        channel_break(channel, "TLS: %s", gnutls_strerror(error));
        return false;
    }
    gnutls_session_t session = channel->tls->session;
    gnutls_session_set_ptr(session, channel);
    gnutls_handshake_set_max_packet_length(session, CLEAR_ROOM);
    gnutls_transport_set_ptr(session, channel);
    gnutls_transport_set_pull_function(session, pull);
    gnutls_transport_set_vec_push_function(session, push);
    return true;
}

void tls_end(struct tls_session *tls)
{
    if (tls && tls->session)
        gnutls_deinit(tls->session);
    free(tls);
}

static bool key_is_proven(gnutls_session_t session)
{
    return gnutls_protocol_get_version(session) == GNUTLS_TLS1_3 &&
           gnutls_auth_get_type(session) == GNUTLS_CRD_PSK &&
           gnutls_kx_get(session) == GNUTLS_KX_ECDHE_PSK;
}

/* An alert tells the other side what is wrong, as far as a stranger may know. */
static void handshake_failed(struct link_channel *channel, int error)
{
    gnutls_session_t session = channel->tls->session;
    if (error == GNUTLS_E_FATAL_ALERT_RECEIVED) {
        channel_break(channel, "TLS: it says: %s; have both the same key and cluster?",
                      gnutls_alert_get_name(gnutls_alert_get(session)));
    } else {
        gnutls_alert_send_appropriate(session, error);
        channel_break(channel, "TLS: %s", gnutls_strerror(error));
    }
}

bool tls_shake_hands(struct link_channel *channel, bool *done)
{
    gnutls_session_t session = channel->tls->session;
    int error;
    do
        error = gnutls_handshake(session);
    while (error != 0 && !gnutls_error_is_fatal(error) && channel->raw_left > 0);
    *done = error == 0;
    if (error != 0 && gnutls_error_is_fatal(error))
        handshake_failed(channel, error);
    else if (error == 0 && !key_is_proven(session))
        channel_break(channel, "TLS: it has not proven that it has the key");
    return !channel->broken;
}

/* A record bears no more than 16 KB: what is longer is several. */
bool tls_seal(struct link_channel *channel, const void *bytes, size_t length)
{
    struct tls_session *tls = channel->tls;
    for (size_t done = 0; done < length;) {
        const ssize_t sealed =
            gnutls_record_send(tls->session, (const uint8_t *)bytes + done, length - done);
        if (sealed < 0 && is_broken_by(channel, sealed))
            return false;
        done += sealed > 0 ? (size_t)sealed : 0;
        tls->sealed++;
    }
    if (tls->sealed < KEYS_LAST)
        return true;
    tls->sealed = 0;
    const int error = gnutls_session_key_update(tls->session, 0);
    return error == 0 || !is_broken_by(channel, error);
}

bool tls_unseal(struct link_channel *channel, void *bytes, size_t room, size_t *length)
{
    for (;;) {
        const size_t before = channel->raw_left;
        const ssize_t got = gnutls_record_recv(channel->tls->session, bytes, room);
        *length = got > 0 ? (size_t)got : 0;
        if (got > 0)
            return true;
        if (got == 0)
            channel_break(channel, "the other side has closed it");
        if (got == 0 || is_broken_by(channel, got))
            return false;
        if (channel->raw_left == 0 || channel->raw_left == before)
            return true; /* the rest of a record is to come */
    }
}
