/* SPDX-License-Identifier: MIT */
/* The header of CF.SCANDUMP, for the codec and for programs that meet it alone. */
#ifndef BLM_CODEC_REDISBLOOM_CF_H
#define BLM_CODEC_REDISBLOOM_CF_H

#include "bloomery/redisbloom.h"
#include "core/error.h"

void blm__cf_get(const uint8_t in[BLM_CF_HEADER], blm_cf *c);
void blm__cf_put(const blm_cf *c, uint8_t out[BLM_CF_HEADER]);
/* E_FORMAT names the field, and where it is in a header. */
blm_status blm__cf_check(const blm_cf *c, blm_error *err);
/* Slots of all layers, where it has no fault. */
uint64_t blm__cf_slots(const blm_cf *c);

#endif
