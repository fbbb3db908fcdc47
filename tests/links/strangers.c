/* SPDX-License-Identifier: MIT */
/* Who does not belong to the links: see strangers.h. */
#include "strangers.h"
#include "ends.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- sockets ---- */

int stranger_socket(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    return fd;
}

void stranger_connects(int fd, uint16_t port)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port)};
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&there, sizeof there) != 0)
        assert_int_equal(errno, EINPROGRESS);
}

int stranger_listens(uint16_t *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    socklen_t length = sizeof here;
    const int fd = stranger_socket();
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &length), 0);
    *port = ntohs(here.sin_port);
    return fd;
}

/* ---- TLS ---- */

static int shake_hands(gnutls_session_t session)
{
    const int64_t began = began_now();
    int result;
    do {
        run_out("a stranger's handshake ends", began);
        step(1);
        result = gnutls_handshake(session);
    } while (result < 0 && !gnutls_error_is_fatal(result));
    /* A client may be done before the server has judged it: what comes then is an alert. */
    char byte;
    while (result == 0) {
        run_out("a stranger is turned away", began);
        step(1);
        const ssize_t got = gnutls_record_recv(session, &byte, 1);
        if (got == 0 || (got < 0 && gnutls_error_is_fatal((int)got)))
            result = got == 0 ? GNUTLS_E_PREMATURE_TERMINATION : (int)got;
    }
    return result;
}

int stranger_shakes_hands(int fd, const char *priorities)
{
    gnutls_session_t session;
    gnutls_psk_client_credentials_t guess;
    gnutls_certificate_credentials_t none;
    uint8_t zeros[32] = {0};
    const gnutls_datum_t key = {zeros, sizeof zeros};
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NONBLOCK), 0);
    assert_int_equal(gnutls_psk_allocate_client_credentials(&guess), 0);
    assert_int_equal(gnutls_certificate_allocate_credentials(&none), 0);
    assert_int_equal(
        gnutls_psk_set_client_credentials(guess, "afteryou-links-1", &key, GNUTLS_PSK_KEY_RAW), 0);
    assert_int_equal(gnutls_priority_set_direct(session, priorities, NULL), 0);
    gnutls_credentials_set(session, GNUTLS_CRD_PSK, guess);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, none);
    gnutls_transport_set_int(session, fd);
    const int result = shake_hands(session);
    gnutls_deinit(session);
    gnutls_psk_free_client_credentials(guess);
    gnutls_certificate_free_credentials(none);
    close(fd);
    return result;
}

static void certify(gnutls_certificate_credentials_t credentials)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "1", 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 60);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 3600);
    gnutls_x509_crt_set_key(certificate, key);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_certificate_set_x509_key(credentials, &certificate, 1, key), 0);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

int stranger_serves(int listener)
{
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    int fd = -1;
    for (const int64_t began = began_now(); fd < 0; step(1)) {
        run_out("somebody dials", began);
        fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    certify(credentials);
    assert_int_equal(gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NONBLOCK), 0);
    assert_int_equal(gnutls_priority_set_direct(session, "NORMAL", NULL), 0);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, fd);
    const int result = shake_hands(session);
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(credentials);
    close(fd);
    return result;
}

/* ---- the tap ---- */

static struct tap *open_tap;

/* What the kernel does not take is lost: a tap is for little. False: the connection has ended. */
static bool forward(struct tap *tap, int from, int to, bool write_down)
{
    uint8_t bytes[4096];
    for (;;) {
        const ssize_t got = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got <= 0)
            return got < 0 && (errno == EAGAIN || errno == ENOTCONN || errno == EINPROGRESS);
        if (write_down) {
            tap->bytes = realloc(tap->bytes, tap->length + (size_t)got);
            assert_non_null(tap->bytes);
            memcpy(tap->bytes + tap->length, bytes, (size_t)got);
            tap->length += (size_t)got;
        }
        for (ssize_t done = 0; done < got;) {
            const ssize_t sent = send(to, bytes + done, (size_t)(got - done), MSG_NOSIGNAL);
            if (sent < 0 && errno != EAGAIN)
                return false;
            done += sent > 0 ? sent : 0;
        }
    }
}

static void hang_up(struct tap *tap)
{
    if (tap->near >= 0)
        close(tap->near);
    if (tap->far >= 0)
        close(tap->far);
    tap->near = tap->far = -1;
}

static void drive(void)
{
    struct tap *tap = open_tap;
    if (!tap || tap->frozen)
        return;
    if (tap->near < 0) {
        tap->near = accept4(tap->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (tap->near >= 0) {
            tap->connections++;
            tap->far = stranger_socket();
            stranger_connects(tap->far, tap->to);
        }
        return;
    }
    if (!forward(tap, tap->near, tap->far, true) || !forward(tap, tap->far, tap->near, false))
        hang_up(tap);
}

void tap_open(struct tap *tap, uint16_t to)
{
    *tap = (struct tap){.to = to, .near = -1, .far = -1};
    tap->listener = stranger_listens(&tap->port);
    open_tap = tap;
    also = drive;
}

void tap_close(struct tap *tap)
{
    hang_up(tap);
    close(tap->listener);
    open_tap = NULL;
    also = NULL;
}

void tap_forget(struct tap *tap)
{
    free(tap->bytes);
    tap->bytes = NULL;
    tap->length = 0;
}
