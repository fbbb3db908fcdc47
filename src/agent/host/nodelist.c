/* SPDX-License-Identifier: MIT */
/* A machine in Corosync's list of machines: its name, and its address. */
#include "agent/host/nodelist.h"

#include <corosync/cmap.h>

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { NODES_LISTED = 128 };

/* nodelist.node.N.WHAT; false if there is none. */
static bool configured(cmap_handle_t map, unsigned at, const char *what, char *room, size_t size)
{
    char key[CMAP_KEYNAME_MAXLEN];
    char *found = NULL;
    snprintf(key, sizeof key, "nodelist.node.%u.%s", at, what);
    if (cmap_get_string(map, key, &found) != CS_OK)
        return false;
    snprintf(room, size, "%s", found);
    free(found);
    return true;
}

static void take(struct node_entry *entry, const char *text, const struct addrinfo *found)
{
    if (getnameinfo(found->ai_addr, found->ai_addrlen, entry->address, sizeof entry->address, NULL,
                    0, NI_NUMERICHOST) == 0)
        snprintf(entry->configured, sizeof entry->configured, "%s", text);
}

/* By a thread of the C library's: servers of names may take their time, and a lease must be
 * renewed meanwhile. False: it is under way. */
static bool look_up(struct node_entry *entry, const char *text)
{
    static char name[sizeof entry->configured];
    static const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    static struct gaicb request;
    static bool begun; /* set when the lookup is, cleared when its end was seen */
    struct gaicb *list[] = {&request};
    if (!begun) {
        snprintf(name, sizeof name, "%s", text);
        request = (struct gaicb){.ar_name = name, .ar_request = &wanted};
        begun = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL) == 0;
        return !begun;
    }
    const int error = gai_error(&request);
    if (error == EAI_INPROGRESS)
        return false;
    begun = false;
    if (error == 0 && strcmp(name, text) == 0)
        take(entry, text, request.ar_result);
    if (error == 0)
        freeaddrinfo(request.ar_result);
    return true;
}

/* A name instead of an address is looked up, as Corosync does: until that succeeds once. False: it
 * is under way. */
static bool find_address(struct node_entry *entry, cmap_handle_t map, unsigned at)
{
    const struct addrinfo numeric = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    char text[sizeof entry->configured];
    if (!configured(map, at, "ring0_addr", text, sizeof text) ||
        strcmp(text, entry->configured) == 0)
        return true;
    if (getaddrinfo(text, NULL, &numeric, &found) != 0)
        return look_up(entry, text);
    take(entry, text, found);
    freeaddrinfo(found);
    return true;
}

/* What nodelist.node.N says, where nodelist.node.N.nodeid is the node's. */
bool nodelist_find(uint32_t node, struct node_entry *entry)
{
    cmap_handle_t map;
    bool found = true;
    snprintf(entry->name, sizeof entry->name, "%u", node);
    if (cmap_initialize(&map) != CS_OK)
        return true;
    for (unsigned at = 0; at < NODES_LISTED; at++) {
        char key[CMAP_KEYNAME_MAXLEN];
        uint32_t its;
        snprintf(key, sizeof key, "nodelist.node.%u.nodeid", at);
        if (cmap_get_uint32(map, key, &its) != CS_OK)
            break;
        if (its != node)
            continue;
        configured(map, at, "name", entry->name, sizeof entry->name);
        found = find_address(entry, map, at);
        break;
    }
    cmap_finalize(map);
    return found;
}
