/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads the fields of the native file. layout.h has the map, docs/formats/native.md the
 * tables; the numbers below are offsets from those tables.
 *
 * Everything that is read must be checked here: a checksum shows that nothing was damaged, not that
 * nobody forged it.
 */
#include "store/layout.h"

#include <string.h>

#include "core/checksum.h"
#include "engine/shape.h"
#include "kind/kind.h"

#define VERSION      1u
#define HEAD_SUM     504u
#define SLOT_TABLE   128u
#define RECORD_SUM   184u
#define LARGE_LAYER  ((uint64_t)64 << 10)
#define MAX_LENGTH   ((uint64_t)1 << 62)
#define MAX_ATTACHED ((uint64_t)1 << 32)

/* A byte with its high bit set, letters, both line ends: whatever mangles text mangles this. */
static const uint8_t magic[8] = { 0x89, 'b', 'l', 'o', 'o', 'm', '\r', '\n' };
#define MAGIC_ENOUGH 6u /* bytes of it make a damaged native file */

/* ---- places ------------------------------------------------------------------------------ */

static uint32_t slot_bytes(uint32_t room, uint32_t block)
{
    return (uint32_t)blm__align(SLOT_TABLE + 16 * room + 8, block);
}

/* Both follow from the filter. What is read must be what we would have written. */
static uint32_t block_of(const struct blm__shape *first)
{
    return blm__shape_words(first) * 8 >= LARGE_LAYER ? 4096 : 512;
}

static uint32_t room_of(const struct blm__kind *kind, double growth)
{
    bool grows = (kind->row.can & BLM_CAN_GROW) || growth != 0;
    return grows ? BLM__MAX_LAYERS : kind->layers ? kind->layers : 1;
}

uint64_t blm__native_first(const struct blm__native_head *h)
{
    return blm__align(blm__native_slot_at(h, 2) + h->attached_len, h->block);
}

bool blm__native_place(const struct blm__shape *s, uint64_t at, uint32_t block,
                       struct blm__native_section *out)
{
    uint64_t bytes = blm__shape_words(s) * 8;
    if (at > MAX_LENGTH || bytes > MAX_LENGTH)
        return false;
    unsigned log2 = BLM__MIN_REGION;
    while ((bytes - 1) >> log2 >= BLM__MAX_REGIONS)
        log2++;
    memset(out, 0, sizeof *out);
    out->shape       = *s;
    out->at          = at;
    out->region_log2 = log2;
    out->words_at    = blm__align(at + BLM__RECORD_BYTES, block);
    out->words_len   = bytes;
    out->regions     = ((bytes - 1) >> log2) + 1;
    out->sums_at     = out->words_at + bytes;
    out->marks_at    = out->sums_at + 8 * out->regions;
    out->end         = blm__align(out->marks_at + out->regions, block);
    return out->end <= MAX_LENGTH;
}

uint64_t blm__native_region_bytes(const struct blm__native_section *s, uint64_t r)
{
    uint64_t from = r << s->region_log2, full = (uint64_t)1 << s->region_log2;
    return s->words_len - from < full ? s->words_len - from : full;
}

/* Bytes `from` to `to` of a part that starts at `at` have no meaning. If the file has features that may
 * be ignored, they may have one for somebody else. */
static blm_status check_spare(const struct blm__native_head *h, const uint8_t *part, uint64_t at,
                              size_t from, size_t to, blm_error *err)
{
    for (; from < to && !h->ignored; from++)
        if (part[from])
            return blm__fail_at(err, BLM_E_FORMAT, at + from, "a byte that must be 0 is not");
    return BLM_OK;
}

/* ---- the header -------------------------------------------------------------------------- */

/* A name into a field of `room` bytes that ends in at least one zero. */
static bool put_name(char *to, size_t room, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    if (len >= room)
        return false;
    memset(to, 0, room);
    if (len)
        memcpy(to, name, len);
    return true;
}

/* Printable, and nothing but zeroes after the end. */
static bool name_valid(const char *name, size_t room)
{
    size_t i = 0;
    while (i < room && name[i] > 0x20 && name[i] < 0x7f)
        i++;
    if (i == room)
        return false;
    for (; i < room; i++)
        if (name[i])
            return false;
    return true;
}

blm_status blm__native_head_of(const struct blm__body *b, const struct blm__shape *first,
                               struct blm__native_head *out, blm_error *err)
{
    memset(out, 0, sizeof *out);
    out->block          = block_of(first);
    out->room           = room_of(blm__kind_of(b->kind), b->growth);
    out->slot_bytes     = slot_bytes(out->room, out->block);
    out->kind           = blm__kind_number(b->kind);
    out->scheme_version = b->hasher.version;
    out->hash           = (uint32_t)b->hasher.id;
    out->seed[0]        = b->hasher.seed[0];
    out->seed[1]        = b->hasher.seed[1];
    out->seed_policy    = (uint32_t)b->hasher.policy;
    out->attached_len   = b->attached_len;
    out->attached_sum   = b->attached_len ? blm__checksum(b->attached, b->attached_len) : 0;
    if (first->scheme->exchanges)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "scheme %s is not kept in native files: its adds would lose keys of a "
                         "writer that is killed; save it in its own format, or rebuild it from its "
                         "keys as a native cuckoo filter",
                         first->scheme->row.name);
    if (out->attached_len > MAX_ATTACHED)
        return blm__fail(err, BLM_E_LIMIT, "more than 4 GiB of attached bytes");
    if (b->layer_count > out->room)
        return blm__fail(err, BLM_E_LIMIT,
                         "a native file has room for %u layers, this filter has %u: save it as "
                         "redisbloom or redisbloom-dump, or rebuild it from its keys",
                         (unsigned)out->room, (unsigned)b->layer_count);
    if (!put_name(out->scheme, sizeof out->scheme, first->scheme->row.name) ||
        !put_name(out->hash_name, sizeof out->hash_name, b->hasher.name) ||
        !put_name(out->funnel, sizeof out->funnel, b->hasher.funnel) ||
        !name_valid(out->hash_name, sizeof out->hash_name))
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "the name of the scheme, hash or funnel does not fit a native file: a "
                         "hash's name has 1 to 15 printable characters");
    return BLM_OK;
}

void blm__native_put_head(const struct blm__native_head *h, uint8_t out[BLM__HEAD_BYTES])
{
    memset(out, 0, BLM__HEAD_BYTES);
    memcpy(out, magic, 8);
    blm__put32le(out + 8, VERSION);
    blm__put32le(out + 12, BLM__HEAD_BYTES);
    /* 16: features a reader must know; 24: features it may ignore. None yet. */
    memcpy(out + 32, h->uuid, 16);
    blm__put32le(out + 48, h->block);
    blm__put32le(out + 52, h->slot_bytes);
    blm__put32le(out + 56, h->room);
    blm__put32le(out + 60, h->kind);
    memcpy(out + 64, h->scheme, 32);
    blm__put32le(out + 96, h->scheme_version);
    blm__put32le(out + 100, h->hash);
    memcpy(out + 104, h->hash_name, 16);
    blm__put64le(out + 120, h->seed[0]);
    blm__put64le(out + 128, h->seed[1]);
    blm__put32le(out + 136, h->seed_policy);
    blm__put64le(out + 144, h->attached_len);
    blm__put64le(out + 152, h->attached_sum);
    memcpy(out + 160, h->funnel, 32);
    blm__put64le(out + HEAD_SUM, blm__checksum(out, HEAD_SUM));
}

int blm__native_bid(const uint8_t *head, size_t len)
{
    unsigned same = 0;
    for (size_t i = 0; i < sizeof magic && i < len; i++)
        same += head[i] == magic[i];
    if (same == sizeof magic)
        return 100;
    if (same >= MAGIC_ENOUGH)
        return 90;
    return same > 0 && same == len ? 60 : 0;
}

/* What stays the same in every version: the magic, the version, and a checksum at 504. */
static blm_status check_frame(const uint8_t *in, blm_error *err)
{
    for (unsigned i = 0; i < sizeof magic; i++)
        if (in[i] != magic[i])
            return blm__fail_at(err, BLM_E_FORMAT, i, "not a native filter file: wrong magic");
    bool whole = blm__sum_matches(blm__checksum(in, HEAD_SUM), blm__get64le(in + HEAD_SUM));
    if (blm__get32le(in + 8) == 0 && whole)
        return blm__fail_at(err, BLM_E_UNSUPPORTED, 8,
                            "format version 0, from before the first release: rebuild the "
                            "filter from its keys");
    if (blm__get32le(in + 8) != VERSION)
        return blm__fail_at(err, BLM_E_VERSION, 8,
                            "format version %u; this library reads version %u%s",
                            blm__get32le(in + 8), VERSION, whole ? "" : " (or it is damaged)");
    if (!whole)
        return blm__fail_at(err, BLM_E_CHECKSUM, HEAD_SUM, "the header is damaged");
    if (blm__get32le(in + 12) != BLM__HEAD_BYTES)
        return blm__fail_at(err, BLM_E_FORMAT, 12, "the header claims %u bytes",
                            blm__get32le(in + 12));
    if (blm__get64le(in + 16) != 0)
        return blm__fail_at(err, BLM_E_VERSION, 16,
                            "the file needs features 0x%llx, which this library does not have",
                            (unsigned long long)blm__get64le(in + 16));
    return BLM_OK;
}

blm_status blm__native_get_head(const uint8_t in[BLM__HEAD_BYTES], struct blm__native_head *out,
                                blm_error *err)
{
    blm_status st = check_frame(in, err);
    if (st != BLM_OK)
        return st;
    memset(out, 0, sizeof *out);
    out->ignored = blm__get64le(in + 24);
    memcpy(out->uuid, in + 32, 16);
    out->block      = blm__get32le(in + 48);
    out->slot_bytes = blm__get32le(in + 52);
    out->room       = blm__get32le(in + 56);
    out->kind       = blm__get32le(in + 60);
    memcpy(out->scheme, in + 64, 32);
    out->scheme_version = blm__get32le(in + 96);
    out->hash           = blm__get32le(in + 100);
    memcpy(out->hash_name, in + 104, 16);
    out->seed[0]      = blm__get64le(in + 120);
    out->seed[1]      = blm__get64le(in + 128);
    out->seed_policy  = blm__get32le(in + 136);
    out->attached_len = blm__get64le(in + 144);
    out->attached_sum = blm__get64le(in + 152);
    memcpy(out->funnel, in + 160, 32);

    if (out->block != 512 && out->block != 4096)
        return blm__fail_at(err, BLM_E_FORMAT, 48, "the block size %u is not 512 or 4096",
                            out->block);
    if (out->room < 1 || out->room > BLM__MAX_LAYERS)
        return blm__fail_at(err, BLM_E_FORMAT, 56, "impossible room for %u layers", out->room);
    if (out->slot_bytes != slot_bytes(out->room, out->block))
        return blm__fail_at(err, BLM_E_FORMAT, 52, "impossible slot size %u", out->slot_bytes);
    if (out->attached_len > MAX_ATTACHED)
        return blm__fail_at(err, BLM_E_FORMAT, 144, "more than 4 GiB of attached bytes");
    if (out->attached_len == 0 && out->attached_sum)
        return blm__fail_at(err, BLM_E_FORMAT, 152, "a checksum of no attached bytes");
    st = check_spare(out, in, 0, 140, 144, err);
    return st == BLM_OK ? check_spare(out, in, 0, 192, HEAD_SUM, err) : st;
}

/* The scheme's own text for a funnel's name in a file, since a body points to static text. */
static blm_status find_funnel(const struct blm__scheme *s, const char *name, const char **out,
                              blm_error *err)
{
    *out = NULL;
    if (!name[0])
        return BLM_OK;
    for (const char *const *f = s->row.funnels; f && *f; f++)
        if (strcmp(*f, name) == 0) {
            *out = *f;
            return BLM_OK;
        }
    return blm__fail_at(err, BLM_E_UNSUPPORTED, 160, "this library's scheme %s has no funnel %s",
                        s->row.name, name);
}

/* A seed that the scheme does not have would change its answers here, and be lost in its own format. */
static blm_status check_seed(const struct blm__native_head *h, const struct blm__scheme *s,
                             blm_error *err)
{
    bool seed = h->seed[0] || h->seed[1];
    if (h->seed_policy > BLM_SEED_FIXED || (h->seed_policy == BLM_SEED_NONE && seed))
        return blm__fail_at(err, BLM_E_FORMAT, 136, "the seed policy is unknown");
    if (!s->row.seeded && (seed || h->seed_policy != BLM_SEED_NONE))
        return blm__fail_at(err, BLM_E_FORMAT, 120, "scheme %s has no seed", s->row.name);
    if (s->short_seed && (h->seed[0] > UINT32_MAX || h->seed[1]))
        return blm__fail_at(err, BLM_E_FORMAT, 120, "the seed of scheme %s has 32 bits",
                            s->row.name);
    return BLM_OK;
}

/* Only the native scheme uses the hash and its name; others hash in their own way. */
static blm_status hasher_to(const struct blm__native_head *h, bool native, struct blm__hasher *to,
                            blm_error *err)
{
    static const char *const names[] = { "xxh3", "siphash" };
    if (h->hash > BLM_HASH_CUSTOM)
        return blm__fail_at(err, BLM_E_UNSUPPORTED, 100, "hash number %u is unknown", h->hash);
    if (!name_valid(h->hash_name, sizeof h->hash_name) ||
        (native && (!h->hash_name[0] ||
                    (h->hash < BLM_HASH_CUSTOM && strcmp(names[h->hash], h->hash_name) != 0))))
        return blm__fail_at(err, BLM_E_FORMAT, 104, "this is not the name of hash number %u",
                            h->hash);
    if (h->scheme_version == 0 ||
        (native && h->scheme_version >= BLM__NATIVE_KEYED && h->hash != BLM_HASH_XXH3))
        return blm__fail_at(err, BLM_E_FORMAT, 96, "scheme %s has no version %u with this hash",
                            h->scheme, h->scheme_version);
    to->id = (blm_hash)h->hash;
    memcpy(to->name, h->hash_name, sizeof to->name);
    to->seed[0] = h->seed[0];
    to->seed[1] = h->seed[1];
    to->policy  = (blm_seed_policy)h->seed_policy;
    to->version = h->scheme_version;
    return BLM_OK;
}

blm_status blm__native_head_to(const struct blm__native_head *h, struct blm__body *b,
                               const struct blm__scheme **scheme, blm_error *err)
{
    const struct blm__kind *kind = blm__kind_numbered(h->kind);
    if (!kind)
        return blm__fail_at(err, BLM_E_FORMAT, 60, "the kind of filter is unknown");
    if (!name_valid(h->scheme, sizeof h->scheme) || !name_valid(h->funnel, sizeof h->funnel))
        return blm__fail_at(err, BLM_E_FORMAT, 64, "the name of the scheme or funnel is invalid");
    *scheme = blm__scheme_find(h->scheme);
    if (!*scheme)
        return blm__fail_at(err, BLM_E_UNSUPPORTED, 64, "this library does not know scheme %s",
                            h->scheme);
    if (h->scheme_version > (*scheme)->version)
        return blm__fail_at(err, BLM_E_VERSION, 96,
                            "version %u of scheme %s; this library has version %u",
                            h->scheme_version, h->scheme, (*scheme)->version);
    if (!((*scheme)->row.kinds >> kind->row.kind & 1) || (*scheme)->exchanges)
        return blm__fail_at(err, BLM_E_FORMAT, 60, "scheme %s does not have filters of this kind",
                            h->scheme);
    b->kind       = kind->row.kind;
    blm_status st = hasher_to(h, (*scheme)->native, &b->hasher, err);
    if (st == BLM_OK)
        st = check_seed(h, *scheme, err);
    if (st != BLM_OK)
        return st;
    return find_funnel(*scheme, h->funnel, &b->hasher.funnel, err);
}

/* ---- slots ------------------------------------------------------------------------------- */

void blm__native_slot_of(const struct blm__body *b, struct blm__native_slot *out)
{
    out->layer_count = b->layer_count;
    out->active      = b->active;
    out->rate        = b->rate;
    out->growth      = b->growth;
    out->tightening  = b->tightening;
    out->rate_cap    = b->rate_cap;
    out->flags       = blm__body_unclosed(b) ? BLM__SLOT_UNCLOSED : 0;
}

void blm__native_slot_to(const struct blm__native_slot *s, struct blm__body *b)
{
    b->active     = s->active;
    b->rate       = s->rate;
    b->growth     = s->growth;
    b->tightening = s->tightening;
    b->rate_cap   = s->rate_cap;
    b->unclosed   = s->flags != 0;
}

void blm__native_put_slot(const struct blm__native_head *h, const struct blm__native_slot *s,
                          uint8_t *out)
{
    memset(out, 0, h->slot_bytes);
    blm__put64le(out, s->generation);
    blm__put64le(out + BLM__SLOT_EPOCH, s->epoch);
    blm__put64le(out + 16, s->length);
    blm__put32le(out + 24, s->layer_count);
    blm__put32le(out + 28, s->active);
    blm__put32le(out + 32, s->flags);
    memcpy(out + 40, s->boot, 16);
    blm__put64le(out + 56, s->pid);
    blm__put64le(out + 64, blm__f64_bits(s->rate));
    blm__put64le(out + 72, blm__f64_bits(s->growth));
    blm__put64le(out + 80, blm__f64_bits(s->tightening));
    blm__put64le(out + 88, blm__f64_bits(s->rate_cap));
    for (uint32_t i = 0; i < s->layer_count; i++) {
        blm__put64le(out + SLOT_TABLE + 16 * i, s->layer[i].at);
        blm__put64le(out + SLOT_TABLE + 16 * i + 8, s->layer[i].items);
    }
    blm__put64le(out + h->slot_bytes - 8, blm__checksum(out, h->slot_bytes - 8));
}

bool blm__native_slot_whole(const struct blm__native_head *h, const uint8_t *in)
{
    return blm__sum_matches(blm__checksum(in, h->slot_bytes - 8),
                            blm__get64le(in + h->slot_bytes - 8));
}

/* Layers follow each other, so their places must increase from the first one to the length. */
static blm_status check_slot(const struct blm__native_head *h, const struct blm__native_slot *s,
                             uint64_t at, blm_error *err)
{
    const struct blm__kind *kind = blm__kind_numbered(h->kind); /* NULL: refused elsewhere */
    if (kind && h->room != room_of(kind, s->growth))
        return blm__fail_at(err, BLM_E_FORMAT, 56, "room for %u layers: a filter like this has %u",
                            h->room, room_of(kind, s->growth));
    if (s->layer_count < 1 || s->layer_count > h->room)
        return blm__fail_at(err, BLM_E_FORMAT, at + 24, "%u layers, but there is room for %u",
                            s->layer_count, h->room);
    bool writer = s->flags & BLM__SLOT_WRITER;
    if (s->flags & ~(BLM__SLOT_WRITER | BLM__SLOT_SHARED | BLM__SLOT_SAVES | BLM__SLOT_UNCLOSED) ||
        (s->flags & ~BLM__SLOT_UNCLOSED && !writer))
        return blm__fail_at(err, BLM_E_FORMAT, at + 32, "unknown flags 0x%x", s->flags);
    static const uint8_t none[16];
    if (!writer && (s->pid || memcmp(s->boot, none, sizeof none) != 0))
        return blm__fail_at(err, BLM_E_FORMAT, at + 40, "a boot or process without a writer");
    uint64_t before = blm__native_first(h);
    for (uint32_t i = 0; i < s->layer_count; i++) {
        uint64_t here = s->layer[i].at;
        if (here % h->block || (i == 0 ? here != before : here <= before) || here >= s->length)
            return blm__fail_at(err, BLM_E_FORMAT, at + SLOT_TABLE + 16 * i,
                                "layer %u cannot be at byte %llu", i, (unsigned long long)here);
        before = here;
    }
    if (s->length > MAX_LENGTH)
        return blm__fail_at(err, BLM_E_FORMAT, at + 16, "the length is impossible");
    return BLM_OK;
}

static void read_slot(const uint8_t *in, uint32_t room, struct blm__native_slot *out)
{
    memset(out, 0, sizeof *out);
    out->generation  = blm__get64le(in);
    out->epoch       = blm__get64le(in + BLM__SLOT_EPOCH);
    out->length      = blm__get64le(in + 16);
    out->layer_count = blm__get32le(in + 24);
    out->active      = blm__get32le(in + 28);
    out->flags       = blm__get32le(in + 32);
    memcpy(out->boot, in + 40, 16);
    out->pid        = blm__get64le(in + 56);
    out->rate       = blm__f64_from_bits(blm__get64le(in + 64));
    out->growth     = blm__f64_from_bits(blm__get64le(in + 72));
    out->tightening = blm__f64_from_bits(blm__get64le(in + 80));
    out->rate_cap   = blm__f64_from_bits(blm__get64le(in + 88));
    for (uint32_t i = 0; i < room; i++) {
        out->layer[i].at    = blm__get64le(in + SLOT_TABLE + 16 * i);
        out->layer[i].items = blm__get64le(in + SLOT_TABLE + 16 * i + 8);
    }
}

blm_status blm__native_get_slot(const struct blm__native_head *h, const uint8_t *both,
                                struct blm__native_slot *out, unsigned *which, blm_error *err)
{
    const uint8_t *second = both + h->slot_bytes;
    bool           a = blm__native_slot_whole(h, both), b = blm__native_slot_whole(h, second);
    if (!a && !b)
        return blm__fail_at(err, BLM_E_CHECKSUM, blm__native_slot_at(h, 0),
                            "both copies of the part of the header that changes are damaged");
    *which            = !a || (b && blm__get64le(second) > blm__get64le(both));
    const uint8_t *in = *which ? second : both;
    uint64_t       at = blm__native_slot_at(h, *which);
    read_slot(in, h->room, out);
    blm_status st = check_slot(h, out, at, err);
    if (st == BLM_OK)
        st = check_spare(h, in, at, 36, 40, err);
    if (st == BLM_OK)
        st = check_spare(h, in, at, 96, SLOT_TABLE, err);
    if (st == BLM_OK)
        st = check_spare(h, in, at, SLOT_TABLE + 16 * out->layer_count, h->slot_bytes - 8, err);
    return st;
}

/* ---- records ----------------------------------------------------------------------------- */

void blm__native_put_record(const struct blm__native_section *s, uint8_t out[BLM__RECORD_BYTES])
{
    const struct blm__shape *p = &s->shape;
    memset(out, 0, BLM__RECORD_BYTES);
    blm__put32le(out, blm__kind_number(p->kind));
    blm__put32le(out + 4, (uint32_t)p->rule);
    blm__put64le(out + 8, p->bits);
    blm__put64le(out + 16, p->line_count);
    blm__put32le(out + 24, p->probes);
    blm__put32le(out + 28, p->lines);
    blm__put32le(out + 32, p->cell_bits);
    blm__put32le(out + 36, s->region_log2);
    blm__put64le(out + 40, p->capacity);
    blm__put64le(out + 48, blm__f64_bits(p->rate));
    blm__put64le(out + 56, p->variant);
    blm__put64le(out + 64, p->aux[0]);
    blm__put64le(out + 72, p->aux[1]);
    blm__put64le(out + 80, s->words_at);
    blm__put64le(out + 88, s->words_len);
    blm__put64le(out + 96, s->regions);
    blm__put64le(out + 104, s->sums_at);
    blm__put64le(out + 112, s->marks_at);
    blm__put64le(out + 120, s->end);
    blm__put64le(out + RECORD_SUM, blm__checksum(out, RECORD_SUM));
    blm__put64le(out + BLM__RECORD_LIVE, s->live);
}

bool blm__native_record_whole(const uint8_t in[BLM__RECORD_BYTES])
{
    return blm__sum_matches(blm__checksum(in, RECORD_SUM), blm__get64le(in + RECORD_SUM));
}

static bool take_shape(const uint8_t *in, const struct blm__scheme *scheme, struct blm__shape *out)
{
    const struct blm__kind *kind = blm__kind_numbered(blm__get32le(in));
    memset(out, 0, sizeof *out);
    if (!kind)
        return false;
    out->kind       = kind->row.kind;
    out->rule       = (enum blm__rule)blm__get32le(in + 4);
    out->scheme     = scheme;
    out->bits       = blm__get64le(in + 8);
    out->line_count = blm__get64le(in + 16);
    out->probes     = blm__get32le(in + 24);
    out->lines      = blm__get32le(in + 28);
    out->cell_bits  = blm__get32le(in + 32);
    out->capacity   = blm__get64le(in + 40);
    out->rate       = blm__f64_from_bits(blm__get64le(in + 48));
    out->variant    = blm__get64le(in + 56);
    out->aux[0]     = blm__get64le(in + 64);
    out->aux[1]     = blm__get64le(in + 72);
    return true;
}

/* Places are stored for people who read the file by hand; they follow from the shape. */
static bool places_match(const uint8_t *in, const struct blm__native_section *s)
{
    return blm__get32le(in + 36) == s->region_log2 && blm__get64le(in + 80) == s->words_at &&
           blm__get64le(in + 88) == s->words_len && blm__get64le(in + 96) == s->regions &&
           blm__get64le(in + 104) == s->sums_at && blm__get64le(in + 112) == s->marks_at &&
           blm__get64le(in + 120) == s->end;
}

blm_status blm__native_get_record(const struct blm__native_head *h,
                                  const struct blm__native_slot *s, uint32_t i,
                                  const struct blm__scheme   *scheme,
                                  const uint8_t               in[BLM__RECORD_BYTES],
                                  struct blm__native_section *out, blm_error *err)
{
    uint64_t          at  = s->layer[i].at;
    uint64_t          end = i + 1 < s->layer_count ? s->layer[i + 1].at : s->length;
    struct blm__shape shape;
    if (!blm__native_record_whole(in))
        return blm__fail_at(err, BLM_E_CHECKSUM, at + RECORD_SUM,
                            "the description of layer %u is damaged", i);
    if (!take_shape(in, scheme, &shape))
        return blm__fail_at(err, BLM_E_FORMAT, at, "the kind of layer %u is unknown", i);
    blm_status st = blm__shape_valid(&shape, scheme->native, at, err);
    if (st != BLM_OK)
        return st;
    if (i == 0 && h->block != block_of(&shape))
        return blm__fail_at(err, BLM_E_FORMAT, 48, "blocks of %u bytes: a filter like this has %u",
                            h->block, block_of(&shape));
    if (!blm__native_place(&shape, at, h->block, out) || !places_match(in, out) || out->end != end)
        return blm__fail_at(err, BLM_E_FORMAT, at + 80, "layer %u is not where it should be", i);
    out->live = blm__get64le(in + BLM__RECORD_LIVE);
    return check_spare(h, in, at, 128, RECORD_SUM, err);
}
