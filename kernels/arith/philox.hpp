// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3") and the
// distributions of TensorFlow's random ops, number for number as its CPU kernels draw them.
#pragma once
#include "kernels/arith/types.hpp"
#include <array>
#include <span>

namespace troupe::arith {

/// A 128-bit counter (lowest word first) under a 64-bit key. Each block of four words is a function
/// of the two.
class Philox {
public:
  using Block = std::array<uint32_t, 4>;

  Philox() = default;
  Philox(const Block& counter, const std::array<uint32_t, 2>& key) : counter_(counter), key_(key) {}

  /// The generator of a stateful op with these attributes: key = seed, upper half of the counter =
  /// seed2.
  static Philox from_seeds(uint64_t seed, uint64_t seed2);

  /// The generator of a stateless op with seed[2].
  static Philox from_stateless_seed(uint64_t seed0, uint64_t seed1);

  /// The next four words; advances by one block.
  Block next();

  /// The words of the next `blocks` blocks, four each, as next() gives them; with a stride, of
  /// every so many-th block. Advances by blocks * stride.
  void draw(int64_t blocks, uint32_t* words, uint64_t stride = 1);

  /// Advances by `blocks` blocks.
  void skip(uint64_t blocks);

  const Block& counter() const { return counter_; }
  const std::array<uint32_t, 2>& key() const { return key_; }

private:
  Block counter_ = {};
  std::array<uint32_t, 2> key_ = {};
};

/// Blocks that a stateful op reserves for one call: RandomUniform, RandomStandardNormal,
/// TruncatedNormal and RandomUniformInt with `outputs` elements take a copy of the generator and
/// then skip this many.
uint64_t reserved_blocks(int64_t outputs);

/// Blocks that a stateful RandomShuffle of `size` rows reserves; 0 for less than two rows.
uint64_t shuffle_blocks(int64_t size);

/// A distribution fills elements [begin, end) of an output, `start` being the generator at its
/// element 0. Any split gives the same numbers. Types f32 f64 f16 bf16; false for others. Uniform
/// in [0, 1):
bool fill_uniform(Type type, const Philox& start, void* out, int64_t begin, int64_t end);
/// Normal, mean 0 and deviation 1 (Box-Muller):
bool fill_normal(Type type, const Philox& start, void* out, int64_t begin, int64_t end);
/// Normal, redrawn until its absolute value is below 2:
bool fill_truncated_normal(Type type, const Philox& start, void* out, int64_t begin, int64_t end);

/// Uniform integers in [low, high), i32 or i64, high > low; false for other types.
bool fill_uniform_int(Type type, const Philox& start, int64_t low, int64_t high, void* out,
                      int64_t begin, int64_t end);

/// All bits of integers of 4 or 8 bytes, low words first.
void fill_bits(size_t size, const Philox& start, void* out, int64_t begin, int64_t end);

/// The permutation that RandomShuffle applies to its rows: output row i is input row order[i].
/// `order` is overwritten; for 0 or 1 rows the generator is not touched.
void shuffle_order(Philox generator, std::span<int64_t> order);

} // namespace troupe::arith
