/* SPDX-License-Identifier: MIT */
/* Addresses of agents: as bytes, as text, as the kernel has them. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "agent/host/links_parts.h"

bool link_endpoint_parse(const char *text, uint16_t port, struct link_endpoint *where)
{
    *where = (struct link_endpoint){.port = port};
    if (inet_pton(AF_INET, text, where->address) == 1)
        where->family = 4;
    else if (inet_pton(AF_INET6, text, where->address) == 1)
        where->family = 6;
    return where->family != 0;
}

void link_endpoint_print(const struct link_endpoint *where, char text[LINK_ADDRESS_ROOM])
{
    char address[INET6_ADDRSTRLEN] = "nowhere";
    if (where->family)
        inet_ntop(where->family == 4 ? AF_INET : AF_INET6, where->address, address, sizeof address);
    snprintf(text, LINK_ADDRESS_ROOM, where->family == 6 ? "[%s]:%u" : "%s:%u", address,
             where->port);
}

unsigned endpoint_to(const struct link_endpoint *where, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof *address);
    if (where->family == 4) {
        struct sockaddr_in *four = (struct sockaddr_in *)address;
        four->sin_family = AF_INET;
        four->sin_port = htons(where->port);
        memcpy(&four->sin_addr, where->address, 4);
        return sizeof *four;
    }
    if (where->family == 6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(where->port);
        memcpy(&six->sin6_addr, where->address, 16);
        return sizeof *six;
    }
    return 0;
}

/* One that came in by a socket for both families is what it would be by one of its own. */
void endpoint_of(const struct sockaddr_storage *address, struct link_endpoint *where)
{
    *where = (struct link_endpoint){0};
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        where->family = 4;
        where->port = ntohs(four->sin_port);
        memcpy(where->address, &four->sin_addr, 4);
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        const bool mapped = IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
        where->family = mapped ? 4 : 6;
        where->port = ntohs(six->sin6_port);
        memcpy(where->address, six->sin6_addr.s6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
    }
}

bool endpoint_same_machine(const struct link_endpoint *one, const struct link_endpoint *other)
{
    return one->family != 0 && one->family == other->family &&
           memcmp(one->address, other->address, one->family == 4 ? 4 : 16) == 0;
}
