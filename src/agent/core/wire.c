/* SPDX-License-Identifier: MIT */
/* Parcels and records, as bytes. */
#include "agent/core/wire.h"

#include <string.h>

enum { RECORD_HEAD = 1 + sizeof(uint32_t) };

void parcel_begin(struct parcel *parcel)
{
    static const struct parcel_head empty;
    parcel->length = 0;
    parcel->overflown = false;
    parcel_put(parcel, &empty, sizeof empty);
}

bool parcel_is_empty(const struct parcel *parcel)
{
    return parcel->length <= sizeof(struct parcel_head);
}

void parcel_put(struct parcel *parcel, const void *bytes, size_t length)
{
    if (length == 0 || parcel->overflown)
        return;
    if (length > parcel->room - parcel->length) {
        parcel->overflown = true;
        return;
    }
    memcpy(parcel->bytes + parcel->length, bytes, length);
    parcel->length += length;
}

void parcel_u8(struct parcel *parcel, uint8_t value)
{
    parcel_put(parcel, &value, sizeof value);
}

void parcel_u32(struct parcel *parcel, uint32_t value)
{
    parcel_put(parcel, &value, sizeof value);
}

void parcel_u64(struct parcel *parcel, uint64_t value)
{
    parcel_put(parcel, &value, sizeof value);
}

void parcel_text(struct parcel *parcel, const char *text, size_t length)
{
    const uint16_t kept = length > UINT16_MAX ? UINT16_MAX : (uint16_t)length;
    parcel_put(parcel, &kept, sizeof kept);
    parcel_put(parcel, text, kept);
}

void parcel_record(struct parcel *parcel, enum record_kind kind)
{
    parcel->record = parcel->length;
    parcel_u8(parcel, (uint8_t)kind);
    parcel_u32(parcel, 0);
}

void parcel_end_record(struct parcel *parcel)
{
    if (parcel->overflown)
        return;
    const uint32_t length = (uint32_t)(parcel->length - parcel->record - RECORD_HEAD);
    memcpy(parcel->bytes + parcel->record + 1, &length, sizeof length);
}

const void *read_bytes(struct reader *reader, size_t length)
{
    if (reader->bad || (size_t)(reader->end - reader->at) < length) {
        reader->bad = true;
        return NULL;
    }
    const void *bytes = reader->at;
    reader->at += length;
    return bytes;
}

static void read_into(struct reader *reader, void *value, size_t size)
{
    const void *bytes = read_bytes(reader, size);
    if (bytes)
        memcpy(value, bytes, size);
}

uint8_t read_u8(struct reader *reader)
{
    uint8_t value = 0;
    read_into(reader, &value, sizeof value);
    return value;
}

uint32_t read_u32(struct reader *reader)
{
    uint32_t value = 0;
    read_into(reader, &value, sizeof value);
    return value;
}

uint64_t read_u64(struct reader *reader)
{
    uint64_t value = 0;
    read_into(reader, &value, sizeof value);
    return value;
}

int64_t read_span(struct reader *reader, int64_t most)
{
    const uint64_t span = read_u64(reader);
    return span < (uint64_t)most ? (int64_t)span : most;
}

size_t read_text(struct reader *reader, const char **text)
{
    uint16_t length = 0;
    read_into(reader, &length, sizeof length);
    *text = read_bytes(reader, length);
    return *text ? length : 0;
}

bool parcel_open(const void *bytes, size_t length, struct parcel_head *head, struct reader *records)
{
    *records = (struct reader){.at = bytes, .end = (const uint8_t *)bytes + length};
    read_into(records, head, sizeof *head);
    return !records->bad && head->magic == WIRE_MAGIC;
}

bool parcel_next(struct reader *records, enum record_kind *kind, struct reader *fields)
{
    if (records->bad || records->at == records->end)
        return false;
    *kind = (enum record_kind)read_u8(records);
    const uint32_t length = read_u32(records);
    const uint8_t *bytes = read_bytes(records, length);
    *fields = (struct reader){.at = bytes, .end = bytes ? bytes + length : NULL};
    return bytes != NULL;
}
