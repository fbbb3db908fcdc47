/* SPDX-License-Identifier: MIT */
/* What agents say to each other: parcels of records, and how they are written and read.
 *
 * A parcel is one multicast: a head (who sends it), then records, each a kind, a length and its
 * fields, all in the byte order of the machine (the library wants little-endian machines). A reader
 * that is asked for more than there is says so in `bad`, and gives zeros.
 */
#ifndef AFTERYOU_AGENT_CORE_WIRE_H
#define AFTERYOU_AGENT_CORE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_MAGIC = 0x61796736, LINK_MAGIC = 0x61796c33, NO_SLOT = 255 };

enum record_kind {
    RECORD_HELLO = 1, /* I am here, and not yet one of you */
    RECORD_NAY,       /* nor am I */
    RECORD_REFUSAL,   /* we do not agree on the options */
    RECORD_FOUND,     /* nobody is: I begin */
    RECORD_STATE,     /* to a newcomer: all there is, at the moment of its HELLO */
    RECORD_RENEWAL,   /* I am alive; and your renewals that I have heard */
    RECORD_BURIAL,    /* somebody has not been heard of for the grace */
    RECORD_FAREWELL,  /* I go, and leave nothing behind */
    RECORD_CREATION,  /* there is a resource of this name, and I use it */
    RECORD_PROTOCOL,  /* a message of the protocol of a resource */
    RECORD_WAITING,   /* I want the permission, but may not ask for it yet */
    RECORD_HELD,      /* I have the permission */
    RECORD_FREED,     /* I have it no longer */
    RECORD_BUSY,      /* somebody is inside here, and will be for a while */
    RECORD_TOLD,      /* of the death inside somebody here has been told */
    RECORD_GHOST,     /* what my predecessor had of this resource has ended */
    RECORD_QUERY,     /* who is inside, who waits? */
    RECORD_ANSWER,
    RECORD_DIED, /* somebody died inside here after the permission was lost, in an earlier group */
    RECORD_RELAYED, /* a message of a link, that goes by the ledger */
    RECORD_WANT,    /* over links: I want what your predecessor has */
    /* nobody here uses the resource any more: when nobody does anywhere, all forget it */
    RECORD_FORGETTING,
    RECORD_WATCH,   /* over links: somebody here sleeps until I hear CHANGED */
    RECORD_CHANGED, /* over links: somebody here is to be inside */
    RECORD_KINDS
};

struct parcel_head {
    uint32_t magic;
    uint32_t slot;        /* of the sender; NO_SLOT: it is not one of us yet */
    uint64_t incarnation; /* of the sender */
    uint64_t sequence;    /* 1, 2, … within the incarnation; 0 with NO_SLOT */
};

struct parcel {
    uint8_t *bytes;
    size_t length, room;
    size_t record;  /* where the present one began */
    bool overflown; /* set by the first field without room, cleared when another is begun */
};

/* Appending. A parcel that has overflown must not be sent: half a message is worse than none. */
void parcel_begin(struct parcel *parcel); /* leaves room for the head */
void parcel_record(struct parcel *parcel, enum record_kind kind);
void parcel_end_record(struct parcel *parcel);
void parcel_put(struct parcel *parcel, const void *bytes, size_t length);
void parcel_u8(struct parcel *parcel, uint8_t value);
void parcel_u32(struct parcel *parcel, uint32_t value);
void parcel_u64(struct parcel *parcel, uint64_t value);
void parcel_text(struct parcel *parcel, const char *text, size_t length); /* at most 65535 bytes */
bool parcel_is_empty(const struct parcel *parcel);

struct reader {
    const uint8_t *at, *end;
    bool bad;
};

uint8_t read_u8(struct reader *reader);
uint32_t read_u32(struct reader *reader);
uint64_t read_u64(struct reader *reader);
/* Nanoseconds: no more than `most`, whatever the sender says. */
int64_t read_span(struct reader *reader, int64_t most);
const void *read_bytes(struct reader *reader, size_t length); /* NULL if there are not so many */
/* Its length; the bytes stay where they are, without a NUL. */
size_t read_text(struct reader *reader, const char **text);

/* False: no parcel of ours. */
bool parcel_open(const void *bytes, size_t length, struct parcel_head *head,
                 struct reader *records);
/* The next record; false at the end, or where the rest makes no sense. */
bool parcel_next(struct reader *records, enum record_kind *kind, struct reader *fields);

#endif
