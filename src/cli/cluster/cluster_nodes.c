/* SPDX-License-Identifier: MIT */
/* Reads the machines of a cluster from `--nodes a=ADDRESS,b=ADDRESS,…`, and refuses what Corosync
 * would stumble over. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>

#include "cli/cluster/cluster.h"
#include "cli/commands.h"

enum { LABEL_MOST = 63 };

/* Letters, digits, '-', '_' and '.', beginning with a letter or digit: safe in file names, in units
 * and in corosync.conf. */
static bool is_name(const char *name)
{
    if (!isalnum((unsigned char)*name))
        return false;
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
            return false;
    return strlen(name) <= PLAN_NAME_MOST;
}

bool cluster_check_name(const char *name)
{
    if (is_name(name))
        return true;
    usage_error(
        "cluster",
        "'%s' is no name for a cluster: it has 1 to %d letters, digits, '-', '_' and '.', and "
        "begins with a letter or a digit",
        name, PLAN_NAME_MOST);
    return false;
}

/* NULL, or why no machine can be reached there. */
static const char *fault_of_ipv4(const struct in_addr *address)
{
    const uint32_t bits = ntohl(address->s_addr);
    return bits >> 24 == 0     ? "is no address of a machine"
           : bits >> 24 == 127 ? "is the machine itself: others cannot reach it there"
           : bits >> 28 == 14  ? "is a multicast address"
           : bits >> 28 == 15  ? "is no address of a machine"
                               : NULL;
}

static const char *fault_of_ipv6(const struct in6_addr *address)
{
    return IN6_IS_ADDR_UNSPECIFIED(address) ? "is no address of a machine"
           : IN6_IS_ADDR_LOOPBACK(address)  ? "is the machine itself: others cannot reach it there"
           : IN6_IS_ADDR_MULTICAST(address) ? "is a multicast address"
           : IN6_IS_ADDR_LINKLOCAL(address)
               ? "is a link-local address, which needs an interface with it"
               : NULL;
}

/* Labels of letters, digits and inner hyphens, with dots between them. */
static const char *fault_of_host(const char *host)
{
    size_t label = 0;
    for (const char *at = host;; at++) {
        if (*at == '.' || *at == '\0') {
            if (label == 0 || label > LABEL_MOST || at[-1] == '-')
                return "is neither an IP address nor the name of a host";
            label = 0;
            if (*at == '\0')
                return strcasecmp(host, "localhost") == 0
                           ? "is the machine itself: others cannot reach it there"
                           : NULL;
        } else if (isalnum((unsigned char)*at) || (*at == '-' && label)) {
            label++;
        } else {
            return "is neither an IP address nor the name of a host";
        }
    }
}

/* `family`: AF_INET, AF_INET6, or 0 for the name of a host. */
static const char *fault_of_address(const char *address, int *family)
{
    struct in_addr ipv4;
    struct in6_addr ipv6;
    *family = strchr(address, ':')                              ? AF_INET6
              : address[strspn(address, "0123456789.")] == '\0' ? AF_INET
                                                                : 0;
    if (*family == 0)
        return fault_of_host(address);
    if (*family == AF_INET)
        return inet_pton(AF_INET, address, &ipv4) == 1 ? fault_of_ipv4(&ipv4)
                                                       : "is no IPv4 address";
    return inet_pton(AF_INET6, address, &ipv6) == 1 ? fault_of_ipv6(&ipv6) : "is no IPv6 address";
}

static bool copy_part(char *into, size_t most, const char *from, size_t length)
{
    if (length == 0 || length > most)
        return false;
    memcpy(into, from, length);
    into[length] = '\0';
    return true;
}

static bool parse_node(const char *item, size_t length, struct cluster_node *node)
{
    const char *equals = memchr(item, '=', length);
    if (!equals) {
        usage_error("cluster", "--nodes takes NAME=ADDRESS,…, not '%.*s'", (int)length, item);
        return false;
    }
    const size_t before = (size_t)(equals - item), after = length - before - 1;
    if (!copy_part(node->name, PLAN_NAME_MOST, item, before) || !is_name(node->name)) {
        usage_error(
            "cluster",
            "'%.*s' is no name for a machine: it has 1 to %d letters, digits, '-', '_' and '.'",
            (int)before, item, PLAN_NAME_MOST);
        return false;
    }
    if (!copy_part(node->address, CLUSTER_ADDRESS_MOST, equals + 1, after)) {
        usage_error("cluster", "machine '%s' has no address, or a too long one: write NAME=ADDRESS",
                    node->name);
        return false;
    }
    return true;
}

/* Against those before it: names and addresses differ, and addresses are of one kind, as Corosync's
 * links want them. */
static bool agrees(const struct cluster_plan *plan, const struct cluster_node *node, int *family)
{
    int own;
    const char *fault = fault_of_address(node->address, &own);
    if (fault) {
        usage_error("cluster", "machine '%s': '%s' %s", node->name, node->address, fault);
        return false;
    }
    for (unsigned at = 0; at < plan->count; at++) {
        const struct cluster_node *other = &plan->nodes[at];
        if (strcmp(other->name, node->name) == 0) {
            usage_error("cluster", "two machines are called '%s': give each a name of its own",
                        node->name);
            return false;
        }
        if (strcasecmp(other->address, node->address) == 0) {
            usage_error("cluster",
                        "machines '%s' and '%s' have the same address %s: give each one of its own",
                        other->name, node->name, node->address);
            return false;
        }
    }
    if (own && *family && own != *family) {
        usage_error(
            "cluster",
            "machine '%s': '%s' and the addresses before it mix IPv4 and IPv6; give one kind",
            node->name, node->address);
        return false;
    }
    *family = own ? own : *family;
    return true;
}

bool cluster_parse_nodes(const char *list, struct cluster_plan *plan)
{
    int family = 0;
    plan->count = 0;
    for (const char *item = list;;) {
        const size_t length = strcspn(item, ",");
        struct cluster_node node;
        if (!parse_node(item, length, &node) || !agrees(plan, &node, &family))
            return false;
        if (plan->count == CLUSTER_NODES_MOST) {
            usage_error("cluster", "there are more than %d machines: leave some out",
                        CLUSTER_NODES_MOST);
            return false;
        }
        plan->nodes[plan->count++] = node;
        if (item[length] == '\0')
            break;
        item += length + 1;
    }
    if (plan->count >= 2)
        return true;
    usage_error("cluster",
                "a cluster needs two machines or more, and three to survive the loss of one");
    return false;
}
