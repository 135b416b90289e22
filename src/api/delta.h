/* SPDX-License-Identifier: MIT */
/*
 * A delta, version 1: what turns one snapshot of a filter into a later one. docs/formats/delta.md
 * is the specification; diff.c writes it, patch.c reads it.
 *
 *     header    96 bytes: both ends' fingerprints, how many layers each has, rates
 *     layer     for each layer of the later snapshot, in order: its shape and items, and then
 *       flips     places of single bits that differ, as gaps, where they are few
 *       words     the exclusive or of whole words, where they are many
 *     end
 *
 * All but the header are frames: type, length, place, payload, checksum. No frame needs more
 * memory than BLM__FRAME_MAX, and damage is found in the frame where it is. All numbers are
 * little-endian.
 */
#ifndef BLM_API_DELTA_H
#define BLM_API_DELTA_H

#include "core/body.h"

#define BLM__DELTA_MAGIC \
    "\xb1"               \
    "BLMdlt\n" /* 8 bytes: one past ASCII, and a newline, so that a
                                             text-mode copy is noticed at once */
#define BLM__DELTA_VERSION 1u
#define BLM__DELTA_HEADER  96u
#define BLM__DELTA_FLAGS   72u    /* BLM__DELTA_UNCLOSED, or 0 */
#define BLM__DELTA_SPARE   76u    /* from here on the header is 0, up to … */
#define BLM__DELTA_SUM     88u    /* … its checksum */
#define BLM__FRAME_FRONT   16u    /* before the payload: type, length, place */
#define BLM__FRAME_PAYLOAD 32768u /* at most */
#define BLM__FRAME_MAX     (BLM__FRAME_FRONT + BLM__FRAME_PAYLOAD + 8u)
#define BLM__DELTA_LAYER   80u                       /* payload of a layer frame … */
#define BLM__LAYER_SPARE   36u                       /* … in which four bytes are 0 */
#define BLM__DELTA_WORDS   (BLM__FRAME_PAYLOAD / 8u) /* words looked at in one go */
#define BLM__DELTA_GROWTH  4096u /* times its base's size, at most, is what a delta may make */

#define BLM__DELTA_UNCLOSED 1u /* the later snapshot is: body.unclosed */

enum blm__frame { BLM__FRAME_LAYER = 1, BLM__FRAME_FLIPS, BLM__FRAME_WORDS, BLM__FRAME_END };

#endif
