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

/* A name instead of an address is looked up, as Corosync does: until that succeeds once. */
static void find_address(struct node_entry *entry, cmap_handle_t map, unsigned at)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char text[sizeof entry->configured];
    if (!configured(map, at, "ring0_addr", text, sizeof text) ||
        strcmp(text, entry->configured) == 0 || getaddrinfo(text, NULL, &wanted, &found) != 0)
        return;
    if (getnameinfo(found->ai_addr, found->ai_addrlen, entry->address, sizeof entry->address, NULL,
                    0, NI_NUMERICHOST) == 0)
        memcpy(entry->configured, text, sizeof text);
    freeaddrinfo(found);
}

/* What nodelist.node.N says, where nodelist.node.N.nodeid is the node's. */
void nodelist_find(uint32_t node, struct node_entry *entry)
{
    cmap_handle_t map;
    snprintf(entry->name, sizeof entry->name, "%u", node);
    if (cmap_initialize(&map) != CS_OK)
        return;
    for (unsigned at = 0; at < NODES_LISTED; at++) {
        char key[CMAP_KEYNAME_MAXLEN];
        uint32_t its;
        snprintf(key, sizeof key, "nodelist.node.%u.nodeid", at);
        if (cmap_get_uint32(map, key, &its) != CS_OK)
            break;
        if (its != node)
            continue;
        configured(map, at, "name", entry->name, sizeof entry->name);
        find_address(entry, map, at);
        break;
    }
    cmap_finalize(map);
}
