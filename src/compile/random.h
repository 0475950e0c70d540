// Random numbers inside functions: the Mersenne Twister of Makoto Matsumoto and Takuji Nishimura
// (1998), seeded as NumPy's RandomState, a state for each thread.
#pragma once

#include <cstdint>

namespace numbus::compile {

extern "C" {
uint32_t numbus_random_bits();
double numbus_random_unit();
void numbus_random_seed(int64_t seed);
void numbus_random_python_seed(int64_t seed);
// Of a generator of NumPy's, by its C interface (numpy/random/bitgen.h).
uint64_t numbus_generator_word(int64_t generator);
uint32_t numbus_generator_half(int64_t generator);
double numbus_generator_unit(int64_t generator);
int64_t numbus_random_kept();  // address: whether there is a normal number in store, and which
// The C library's, as NumPy's generators call them.
double numbus_c_log1p(double x);
double numbus_c_exp(double x);
double numbus_c_log(double x);
double numbus_c_expm1(double x);
double numbus_c_cos(double x);
double numbus_c_acos(double x);
double numbus_c_pow(double x, double y);
float numbus_c_log1pf(float x);
float numbus_c_expf(float x);
float numbus_c_logf(float x);
float numbus_c_powf(float x, float y);
}

// Portions of a parallel loop draw from streams of their own, told apart by the loop and the
// portion: which thread runs one does not matter. The loop's number, for the portions:
uint64_t random_streams();

// Until it ends, the thread draws from that stream.
class RandomStream {
 public:
  RandomStream(uint64_t streams, int64_t portion);
  ~RandomStream();
  RandomStream(const RandomStream&) = delete;

 private:
  uint64_t identity_;
  void* before_;
  const uint64_t* outer_;
};

}  // namespace numbus::compile
