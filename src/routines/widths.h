// Functions that are compiled once for each width of vectors; the processor's is picked when they
// are loaded.
#pragma once

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
// No FMA in any of them (-ffp-contract=off): the bits are the same.
#define NUMBUS_WIDTHS \
  __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define NUMBUS_WIDTHS
#endif
