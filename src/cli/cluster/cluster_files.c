/* SPDX-License-Identifier: MIT */
/* Writes Corosync's files for a cluster: corosync.conf and the key, the same for every machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum { KEY_BYTES = 256, PATH_ROOM = 4096 };

int cluster_make_directory(const char *directory)
{
    char path[PATH_ROOM];
    if (strlen(directory) >= sizeof path)
        return usage_error("cluster",
                           "the name of the directory is too long: choose a shorter --directory");
    strcpy(path, directory);
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        const char end = *at;
        *at = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return usage_error("cluster", "cannot make the directory %s: %s", path,
                               strerror(errno));
        *at = end;
        if (end == '\0')
            return 0;
    }
}

int cluster_check_absent(const char *directory)
{
    static const char *const names[] = {"corosync.conf", "authkey"};
    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        char path[PATH_ROOM];
        snprintf(path, sizeof path, "%s/%s", directory, names[at]);
        if (access(path, F_OK) == 0)
            return usage_error(
                "cluster", "%s is there already; --force writes both files anew, with a new key",
                path);
    }
    return 0;
}

/* In place of an old one, if there is one, at once and whole. */
static int write_file(const char *directory, const char *name, mode_t mode, const void *bytes,
                      size_t length)
{
    char path[PATH_ROOM], novel[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path ||
        snprintf(novel, sizeof novel, "%s/.%s.%d", directory, name, getpid()) >= (int)sizeof novel)
        return usage_error("cluster",
                           "the name of the directory is too long: choose a shorter --directory");
    const int file = open(novel, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0)
        return usage_error("cluster", "cannot write %s: %s", novel, strerror(errno));
    const ssize_t written = write(file, bytes, length);
    const int failed = written < 0                 ? errno
                       : (size_t)written != length ? ENOSPC
                       : fchmod(file, mode) != 0   ? errno
                       : fsync(file) != 0          ? errno
                       : rename(novel, path) != 0  ? errno
                                                   : 0;
    close(file);
    if (!failed)
        return 0;
    unlink(novel);
    return usage_error("cluster", "cannot write %s: %s", path, strerror(failed));
}

static void print_configuration(FILE *out, const struct cluster_plan *plan)
{
    fprintf(
        out,
        "# Written by 'afteryou cluster init', the same for every machine.\n"
        "totem {\n"
        "    version: 2\n"
        "    cluster_name: %s\n"
        "    transport: knet\n"
        "    crypto_model: openssl\n"
        "    crypto_cipher: aes256\n"
        "    crypto_hash: sha256\n"
        "    # A machine that falls silent is out after 2.2 times this. The agents derive their "
        "grace from it.\n"
        "    token: %u\n"
        "    token_coefficient: 0\n"
        "}\n\n"
        "# No two_node here: after a cut both sides would count as the majority.\n"
        "quorum {\n"
        "    provider: corosync_votequorum\n"
        "}\n\n"
        "nodelist {\n",
        plan->name, plan->token_ms);
    for (unsigned at = 0; at < plan->count; at++)
        fprintf(out,
                "    node {\n        name: %s\n        nodeid: %u\n        ring0_addr: %s\n    }\n",
                plan->nodes[at].name, at + 1, plan->nodes[at].address);
    fputs("}\n\n", out);
    if (plan->trial)
        fputs("logging {\n    to_syslog: no\n    to_stderr: yes\n    timestamp: hires\n}\n\n"
              "system {\n    sched_rr: no\n    allow_knet_handle_fallback: yes\n}\n",
              out);
    else
        fputs("logging {\n    to_syslog: yes\n    to_stderr: no\n}\n", out);
}

int cluster_write_configuration(const struct cluster_plan *plan, const char *directory)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return usage_error("cluster", "%s", strerror(errno));
    print_configuration(out, plan);
    int status = fclose(out) == 0 ? 0 : usage_error("cluster", "%s", strerror(errno));
    if (!status)
        status = write_file(directory, "corosync.conf", 0644, text, length);
    free(text);
    return status;
}

int cluster_write_key(const char *directory)
{
    unsigned char key[KEY_BYTES];
    if (getrandom(key, sizeof key, 0) != sizeof key)
        return usage_error("cluster", "the kernel gives no random bytes: %s", strerror(errno));
    const int status = write_file(directory, "authkey", 0400, key, sizeof key);
    explicit_bzero(key, sizeof key);
    return status;
}
