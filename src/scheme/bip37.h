/* SPDX-License-Identifier: MIT */
/* The limits of BIP37, for its scheme and its codec. */
#ifndef BLM_SCHEME_BIP37_H
#define BLM_SCHEME_BIP37_H

#include "scheme/scheme.h"

#define BLM__BIP37_BYTES  36000u
#define BLM__BIP37_PROBES 50u

#endif
