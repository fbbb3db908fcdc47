/* SPDX-License-Identifier: MIT */
/* A machine in Corosync's list of machines: its name, and its address. */
#ifndef AFTERYOU_AGENT_HOST_NODELIST_H
#define AFTERYOU_AGENT_HOST_NODELIST_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/host/transport.h"

struct node_entry {
    char name[NODE_NAME_ROOM];       /* or its number */
    char configured[256];            /* its address in the first ring, as corosync.conf has it */
    char address[NODE_ADDRESS_ROOM]; /* and in numbers; "": not known */
};

/* What Corosync says now; an address that it does not say stays as it was. False: the name of a
 * host that stands for the address is being looked up: it is to be called again. */
bool nodelist_find(uint32_t node, struct node_entry *entry);

#endif
