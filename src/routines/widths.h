// Functions that are compiled once for each width of vectors; the processor's is picked when they
// are loaded.
#pragma once

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
// No FMA but where it is written (-ffp-contract=off): the bits are the same. The levels are asked
// of the processor's features; "arch=haswell" would be that model's alone.
#define NUMBUS_WIDTHS __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define NUMBUS_WIDTHS
#endif
