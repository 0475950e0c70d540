// What a GPU and its libraries take when they are used for the first time, which work has to pay
// for before it goes there: as long as the time that it would have gained is less, it stays near.
// So a program takes at most twice as long as if the best choice had been known from the start (the
// rule of renting or buying skis; Karlin, Manasse, Rudolph, Sleator: Competitive snoopy caching,
// 1988).
#pragma once

#include <cstdint>
#include <string_view>

namespace numbus::placement {

// What a routine needs beside the GPU.
enum class Library : uint8_t { None, Blas, Solver, Fft };
constexpr int kLibraries = 4;
// "blas", "solver", "fft"; anything else: none.
Library library_named(std::string_view name);

// Work that needs this would have gained so many microseconds on the other side.
void note_gain(Library library, double gain);
// Whether what was noted has paid for the GPU and for the library.
bool is_paid(Library library);
// From here on they cost nothing.
void use(Library library);
// Nothing costs anything from here on, as in tests; or everything is as before its first use.
void first_uses_are_free(bool free);

}  // namespace numbus::placement
