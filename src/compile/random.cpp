// The generator, its states and streams.
#include "compile/random.h"

#include <pthread.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <random>

namespace numbus::compile {
namespace {

constexpr int kWords = 624, kAhead = 397;

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9E3779B97F4A7C15u * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

struct Generator {
  uint32_t key[kWords];
  int at = kWords;
  double kept[2] = {0, 0};
  bool ready = false;     // key is set; otherwise it follows from the identity
  uint64_t identity = 0;  // what streams of loops come from; 0: not chosen yet
  uint64_t loops = 0;

  void start(uint32_t seed) {
    key[0] = seed;
    for (uint32_t i = 1; i < kWords; ++i)
      key[i] = 1812433253u * (key[i - 1] ^ (key[i - 1] >> 30)) + i;
    at = kWords;
    kept[0] = 0;
    ready = true;
  }
  void seed(uint32_t s) {
    start(s);
    identity = mix(1, s);
    loops = 0;
  }
  // Matsumoto and Nishimura's start from several words, which are those of the seed's magnitude.
  void python_seed(int64_t s) {
    uint64_t size = s < 0 ? 0 - static_cast<uint64_t>(s) : static_cast<uint64_t>(s);
    uint32_t given[2] = {static_cast<uint32_t>(size), static_cast<uint32_t>(size >> 32)};
    uint32_t count = given[1] ? 2 : 1, j = 0;
    start(19650218u);
    uint32_t i = 1;
    auto scramble = [&](uint32_t factor) { return (key[i - 1] ^ (key[i - 1] >> 30)) * factor; };
    auto next = [&] {
      if (++i < kWords) return;
      key[0] = key[kWords - 1];
      i = 1;
    };
    for (int k = 0; k < kWords; ++k, next()) {
      key[i] = (key[i] ^ scramble(1664525u)) + given[j] + j;
      j = (j + 1) % count;
    }
    for (int k = 1; k < kWords; ++k, next()) key[i] = (key[i] ^ scramble(1566083941u)) - i;
    key[0] = 0x80000000u;
    identity = mix(2, size);
    loops = 0;
  }
  uint64_t own_identity() {
    while (!identity) {
      std::random_device device;
      identity = static_cast<uint64_t>(device()) << 32 | device();
    }
    return identity;
  }
  // All 64 bits of the identity count: the words of one start are mixed with those of another.
  void prepare() {
    uint64_t id = own_identity();
    start(static_cast<uint32_t>(id));
    for (int i = 0; i < kWords; ++i)
      key[i] ^= static_cast<uint32_t>(mix(id, static_cast<uint64_t>(i)) >> 32);
    key[0] |= 0x80000000u;
  }
  void refill() {
    if (!ready) prepare();
    auto next = [&](int i, int after, int ahead) {
      uint32_t y = (key[i] & 0x80000000u) | (key[after] & 0x7fffffffu);
      key[i] = key[ahead] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0u);
    };
    for (int i = 0; i < kWords - kAhead; ++i) next(i, i + 1, i + kAhead);
    for (int i = kWords - kAhead; i < kWords - 1; ++i) next(i, i + 1, i + kAhead - kWords);
    next(kWords - 1, 0, kAhead - 1);
    at = 0;
  }
  uint32_t bits() {
    if (at == kWords) refill();
    uint32_t y = key[at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
};

// The thread's own, made when it is first asked for, and the one it draws from now.
struct Mine {
  std::unique_ptr<Generator> own;
  Generator* now = nullptr;
  const uint64_t* stream = nullptr;  // the identity of a portion that has drawn nothing yet
};
thread_local Mine mine;
std::atomic<uint64_t> forks{0};

// A child of a fork draws numbers of its own, not those that its parent and its siblings draw: they
// follow from the parent's seed, where it has one, and from how many children there were before.
void draw_apart() {
  auto renew = [](Generator* g) {
    if (!g) return;
    if (g->identity) g->identity = mix(g->identity, forks) | 1;
    g->ready = false;
    g->at = kWords;
    g->kept[0] = g->kept[1] = 0;
    g->loops = 0;
  };
  renew(mine.own.get());
  if (mine.now != mine.own.get()) renew(mine.now);
}

Generator& chosen() {
  if (mine.now) return *mine.now;
  static const int watching = pthread_atfork([] { ++forks; }, nullptr, draw_apart);
  (void)watching;
  if (mine.stream) {
    // Deleted where the portion ends.
    mine.now = new Generator;
    mine.now->identity = *mine.stream;
    return *mine.now;
  }
  if (!mine.own) mine.own = std::make_unique<Generator>();
  return *(mine.now = mine.own.get());
}

}  // namespace

extern "C" uint32_t numbus_random_bits() { return chosen().bits(); }

extern "C" double numbus_random_unit() {
  Generator& g = chosen();
  uint32_t high = g.bits() >> 5, low = g.bits() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

extern "C" void numbus_random_seed(int64_t seed) { chosen().seed(static_cast<uint32_t>(seed)); }

extern "C" void numbus_random_python_seed(int64_t seed) { chosen().python_seed(seed); }

extern "C" int64_t numbus_random_kept() { return reinterpret_cast<int64_t>(chosen().kept); }

namespace {

// bitgen_t of numpy/random/bitgen.h, up to what is used here.
struct Source {
  void* state;
  uint64_t (*word)(void*);
  uint32_t (*half)(void*);
  double (*unit)(void*);
};
const Source& source_at(int64_t address) { return *reinterpret_cast<const Source*>(address); }

}  // namespace

extern "C" uint64_t numbus_generator_word(int64_t generator) {
  const Source& s = source_at(generator);
  return s.word(s.state);
}
extern "C" uint32_t numbus_generator_half(int64_t generator) {
  const Source& s = source_at(generator);
  return s.half(s.state);
}
extern "C" double numbus_generator_unit(int64_t generator) {
  const Source& s = source_at(generator);
  return s.unit(s.state);
}
extern "C" double numbus_c_log1p(double x) { return std::log1p(x); }
extern "C" double numbus_c_exp(double x) { return std::exp(x); }
extern "C" double numbus_c_log(double x) { return std::log(x); }
extern "C" double numbus_c_expm1(double x) { return std::expm1(x); }
extern "C" double numbus_c_cos(double x) { return std::cos(x); }
extern "C" double numbus_c_acos(double x) { return std::acos(x); }
extern "C" double numbus_c_pow(double x, double y) { return std::pow(x, y); }
extern "C" float numbus_c_log1pf(float x) { return std::log1p(x); }
extern "C" float numbus_c_expf(float x) { return std::exp(x); }
extern "C" float numbus_c_logf(float x) { return std::log(x); }
extern "C" float numbus_c_powf(float x, float y) { return std::pow(x, y); }

uint64_t random_streams() {
  Generator& g = chosen();
  return mix(g.own_identity(), ++g.loops);
}

RandomStream::RandomStream(uint64_t streams, int64_t portion)
    : identity_(mix(streams, static_cast<uint64_t>(portion)) | 1),
      before_(mine.now),
      outer_(mine.stream) {
  mine.now = nullptr;
  mine.stream = &identity_;
}

RandomStream::~RandomStream() {
  delete mine.now;
  mine.now = static_cast<Generator*>(before_);
  mine.stream = outer_;
}

}  // namespace numbus::compile
