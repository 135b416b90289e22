/* SPDX-License-Identifier: MIT */
/*
 * Whose directory is it? Builds on the disk write files of fixed names and remove them in the end, so
 * they may do that only where nobody else's files are: in a directory that they made, or that was empty
 * when they came. A mark in it says so to later runs; and one process at a time may be there.
 *
 *   bloomery.made   we made the directory: it goes in the end
 *   bloomery.given  it was there, empty: it stays
 *   bloomery.lock   held by the process that is at it
 *
 * The lock comes before the mark, which is made before any other file and goes after all others, so that
 * a kill or a power cut never leaves a file of ours without one of them. That it is there is all a mark
 * says: a name comes about whole. The lock goes last, so nobody removes what another has begun.
 * Directories of earlier versions have no mark, but a state.
 */
#ifndef BLM_API_CLAIM_H
#define BLM_API_CLAIM_H

#include "core/error.h"

#define BLM__CLAIM_DIR  960u
#define BLM__CLAIM_PATH 1024u /* a file in it */

/* What a state begins with: api/spill_state.c, api/disk_state.c */
#define BLM__CLAIM_SPILL 0x4c4c495053424c42u /* BLBSPILL */
#define BLM__CLAIM_BUILD 0x444c495542424c42u /* BLBBUILD */

/* Makes the directory, or finds out that it is ours, and locks it. magic: of our state.
 * E_EXISTS: it has files, and not ours. E_BUSY: another process is at it. E_MISMATCH: its state is of
 * the other sort of build. */
blm_status blm__claim(const char *dir, uint64_t magic, int *lock, blm_error *err);
/* Its other files are gone: the lock and the mark, and the directory if we made it. */
void blm__claim_end(const char *dir);
/* The filter itself must not be saved under a name that we remove (E_ARGUMENT). */
blm_status blm__claim_spares(const char *dir, const char *path, blm_error *err);

#endif
