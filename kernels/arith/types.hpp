// Element types and instruction sets of the CPU arithmetic. This folder takes raw pointers and
// sizes; it knows no tensors, devices or graphs. Every function is single-threaded and works on a
// range or on a block of rows, so that the caller splits the work: `parallel_for(n, cost,
// [&](int64_t begin, int64_t end) { fn(x, y, begin, end); })`.
//
// Functions that depend on an operation and an element type are found first and called later
// (lookup.hpp). What was found belongs to the instruction set that was in use at that moment.
#pragma once
#include <cstddef>
#include <cstdint>

namespace troupe::arith {

/// Element types: core's dtypes under the same names and numbers, so that a cast between the
/// enumerations is enough. Code for one instruction set sees this one, which needs no other header.
enum class Type : int {
#define TROUPE_DTYPE(name, number, size, literal, type) name = number,
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
};

/// Bytes of one element; 0 for strings, handles and what is no element type.
int size_of(Type type);

enum class Isa : int { base = 0, avx2 = 1, avx512 = 2 };

/// The instruction set in use. At first the best that the CPU has, capped by the environment
/// variable TROUPE_MAX_ISA (base, avx2 or avx512; another value caps nothing).
Isa isa();

/// Whether this build and this CPU can run `isa`.
bool has_isa(Isa isa);

/// Uses `isa` from now on, for tests and benchmarks: call it while no other thread is in this
/// library. Returns false and changes nothing when the CPU or the build lacks it.
bool use_isa(Isa isa);

const char* name_of(Isa isa);

/// Whether oneDNN was found when this library was configured.
bool has_onednn();

/// Whether oneDNN is used where it is better. At first true if it is there, unless the environment
/// has TROUPE_ONEDNN=0.
bool onednn_in_use();

/// Switches oneDNN on or off, for tests and benchmarks. Switching on has no effect in a build
/// without it.
void use_onednn(bool on);

/// Switches convolutions with fewer products (fused_conv.hpp) on or off for the process. At first
/// on, unless the environment has TROUPE_WINOGRAD=0.
void use_winograd(bool on);
bool winograd_is_on();

} // namespace troupe::arith
