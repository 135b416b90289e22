/* SPDX-License-Identifier: MIT */
/*
 * Filters larger than memory, and builds that can be killed and resumed. The hashes of the keys are
 * sorted into files of a directory by the part of the filter they fall into; then each part is
 * filled in turn. The file that comes out is the one that blm_create, blm_add_many of the same keys
 * and blm_save would have made, byte for byte (with the same seed).
 *
 *     blm_spill *s;
 *     if (blm_spill_open("seen.spill", &options, 256 << 20, &s, &err) != BLM_OK) …
 *     while (more keys && !blm_spill_filling(s))
 *         if (blm_spill_add_many(s, keys, count, &err) != BLM_OK) …
 *     if (blm_spill_finish(s, "seen.blm", 0, &err) != BLM_OK) …
 *     blm_spill_free(s);
 *
 * After a kill, a power cut or a full disk (E_SPACE) do the same again, with the same options and
 * keys in the same order. What the directory has is not done again: keys that it holds are only
 * compared (E_MISMATCH if they are others), and after the last one has come (blm_spill_filling) they
 * need not be given again; if they are, they are compared too. At most the keys since the last sync, 2^24 of them, are lost by a kill.
 *
 * Disk: 8 bytes a key for a blocked filter of one line; 9 to 10 bytes a line with several; about 5 to
 * 6 bytes a probe for classic; and twice the filter at the end. Memory: what you allow, of which half
 * is for a part and a quarter for buffers.
 *
 * For kinds classic and blocked of the native scheme. One thread at a time. May still change before
 * 1.0.
 */
#ifndef BLOOMERY_SPILL_H
#define BLOOMERY_SPILL_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_spill blm_spill;

/* Begins in an empty or new directory, or goes on with what is there. Options as for blm_create. A
 * random seed is kept in the directory (mode 0700). E_EXISTS: it has files that are not of a build;
 * nothing was touched. E_MISMATCH: it is of another filter. E_LIMIT: so little memory would need more
 * than 512 files. E_BUSY: another process is at it. */
BLM_API blm_status blm_spill_open(const char *dir, const blm_options *o, uint64_t memory,
                                  blm_spill **out, blm_error *err);

/* The next keys, or hashes of keys by blm_spill_hash_many, which any number of threads may call. */
BLM_API blm_status blm_spill_add_many(blm_spill *s, const blm_key *keys, size_t count,
                                      blm_error *err);
BLM_API blm_status blm_spill_hash_many(const blm_spill *s, const blm_key *keys, size_t count,
                                       uint64_t *out);
BLM_API blm_status blm_spill_add_hashes(blm_spill *s, const uint64_t *hashes, size_t count,
                                        blm_error *err);
/* Makes what was added so far durable. */
BLM_API blm_status blm_spill_sync(blm_spill *s, blm_error *err);

typedef struct blm_spill_state {
    size_t   size;
    uint64_t kept;    /* keys that the directory had when it was opened */
    uint64_t keys;    /* given since then, those compared too */
    uint64_t parts;   /* of the filter */
    uint64_t filled;  /* of those */
    uint64_t spilled; /* bytes in the directory's files */
    uint64_t bytes;   /* of the filter's bits */
    uint64_t items;   /* new keys, after blm_spill_finish */
} blm_spill_state;
BLM_API blm_status blm_spill_get_state(const blm_spill *s, blm_spill_state *out);
/* All keys have come, in this run or an earlier one. */
BLM_API bool blm_spill_filling(const blm_spill *s);

/* No more keys. Fills the parts, saves the filter as blm_save does (flags too), and removes its files
 * from the directory, and the directory if blm_spill_open made it. Calls options.progress. A path that
 * blm_save would refuse (E_EXISTS, no such directory) is refused before anything is filled, and with the
 * keys durable: call it again with another. After any other failure, E_CANCELLED too, free the handle,
 * and open the directory again. */
BLM_API blm_status blm_spill_finish(blm_spill *s, const char *path, uint32_t flags, blm_error *err);

/* Leaves the directory as it is. NULL is allowed. */
BLM_API void blm_spill_free(blm_spill *s);

#ifdef __cplusplus
}
#endif
#endif
