// Conversions of whole blocks, once for each width of vectors.
#include "routines/keys.h"

#include "routines/widths.h"

namespace numbus::routines {

#define NUMBUS_KEYS(T)                                                                  \
  NUMBUS_WIDTHS void load_keys(const T* in, int64_t n, KeyOf<T> flip, KeyOf<T>* keys) { \
    for (int64_t i = 0; i < n; ++i) keys[i] = to_key(in[i]) ^ flip;                     \
  }                                                                                     \
  NUMBUS_WIDTHS void unload_keys(T, KeyOf<T>* keys, int64_t n, KeyOf<T> flip) {         \
    for (int64_t i = 0; i < n; ++i) {                                                   \
      keys[i] = std::bit_cast<KeyOf<T>>(from_key<T>(keys[i] ^ flip));                   \
    }                                                                                   \
  }
NUMBUS_KEYS(float)
NUMBUS_KEYS(double)
NUMBUS_KEYS(int32_t)
NUMBUS_KEYS(int64_t)
NUMBUS_KEYS(uint32_t)
NUMBUS_KEYS(uint64_t)
#undef NUMBUS_KEYS

}  // namespace numbus::routines
