#include "kernels/arith/philox.hpp"
#include "kernels/arith/half.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace troupe::arith {
namespace {

uint32_t low(uint64_t x) {
  return static_cast<uint32_t>(x);
}

uint32_t high(uint64_t x) {
  return static_cast<uint32_t>(x >> 32);
}

/// The lower word first.
uint64_t pair_of(const uint32_t* words) {
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

float unit_float(uint32_t x) {
  return std::bit_cast<float>(0x3f800000u | (x & 0x7fffffu)) - 1.0f;
}

double unit_double(uint32_t x0, uint32_t x1) {
  const uint64_t mantissa = (static_cast<uint64_t>(x0 & 0xfffffu) << 32) | x1;
  return std::bit_cast<double>((uint64_t{1023} << 52) | mantissa) - 1.0;
}

void normal_pair(uint32_t x0, uint32_t x1, float* out) {
  const float u = std::max(unit_float(x0), 1.0e-7f);
  const float angle = static_cast<float>(2 * std::numbers::pi * unit_float(x1));
  const float radius = sqrtf(-2.0f * logf(u));
  out[0] = sinf(angle) * radius;
  out[1] = cosf(angle) * radius;
}

void normal_pair(const uint32_t* x, double* out) {
  const double u = std::max(unit_double(x[0], x[1]), 1.0e-7);
  const double angle = 2 * std::numbers::pi * unit_double(x[2], x[3]);
  const double radius = sqrt(-2.0 * log(u));
  out[0] = sin(angle) * radius;
  out[1] = cos(angle) * radius;
}

void normal_pair(const uint32_t* x, float* out) {
  normal_pair(x[0], x[1], out);
}

/// Calls take(first, count, words) for stretches of the values [begin, end) of a sequence in which
/// each has so many words.
template <int words_each, class Take>
void take_words(Philox generator, int64_t begin, int64_t end, Take take) {
  constexpr int64_t of_block = 4 / words_each, room = 256;
  alignas(64) uint32_t words[4 * room];
  generator.skip(static_cast<uint64_t>(begin / of_block));
  int64_t before = begin % of_block; // values of the first block that are not asked for
  for (int64_t at = begin; at < end; before = 0) {
    const int64_t count = std::min(end - at, room * of_block - before);
    generator.draw((before + count + of_block - 1) / of_block, words);
    take(at, count, words + before * words_each);
    at += count;
  }
}

/// Draws words one at a time.
class Words {
public:
  explicit Words(const Philox& generator) : generator_(generator) {}
  /// After a block that has been drawn already.
  Words(const Philox& generator, const uint32_t* block) : generator_(generator), used_(0) {
    std::copy_n(block, block_.size(), block_.begin());
  }

  uint32_t next() {
    if (used_ == 4) {
      block_ = generator_.next();
      used_ = 0;
    }
    return block_[used_++];
  }

private:
  Philox generator_;
  Philox::Block block_ = {};
  size_t used_ = 4;
};

template <class Real>
constexpr int words_of_pair = sizeof(Real) == 4 ? 2 : 4;

/// The normal numbers [begin, end).
template <class Real, class Store>
void fill_pairs(const Philox& start, int64_t begin, int64_t end, Store store) {
  constexpr int words_each = words_of_pair<Real>;
  take_words<words_each>(start, begin / 2, (end + 1) / 2,
                         [&](int64_t first, int64_t count, const uint32_t* words) {
                           for (int64_t k = 0; k < count; ++k) {
                             Real pair[2];
                             normal_pair(words + k * words_each, pair);
                             for (int64_t side = 0; side < 2; ++side)
                               if (const int64_t i = 2 * (first + k) + side; i >= begin && i < end)
                                 store(i, pair[side]);
                           }
                         });
}

/// As many values of one group as it has: pairs are drawn until so many of their values are small
/// enough.
template <class Real>
void truncated_group(Words words, int group, Real* out) {
  for (int filled = 0; filled < group;) {
    uint32_t x[words_of_pair<Real>];
    for (uint32_t& word : x)
      word = words.next();
    Real pair[2];
    normal_pair(x, pair);
    for (Real value : pair)
      if (std::abs(value) < Real(2) && filled < group)
        out[filled++] = value;
  }
}

/// Each group of values has a stretch of the sequence; most need no more than its first block.
template <class Real, class Store>
void fill_truncated(const Philox& start, int64_t begin, int64_t end, Store store) {
  constexpr int group = words_of_pair<Real> == 2 ? 4 : 2;
  constexpr uint64_t stretch = group * (256 / 4); // in blocks
  constexpr int64_t room = 64;
  alignas(64) uint32_t words[4 * room];
  const int64_t last = (end + group - 1) / group;
  Philox generator = start;
  generator.skip(static_cast<uint64_t>(begin / group) * stretch);
  for (int64_t first = begin / group; first < last; first += room) {
    Philox rest = generator;
    const int64_t count = std::min(room, last - first);
    generator.draw(count, words, stretch);
    for (int64_t k = 0; k < count; ++k, rest.skip(stretch)) {
      Philox after = rest;
      after.skip(1);
      Real values[group];
      truncated_group(Words(after, words + 4 * k), group, values);
      for (int64_t side = 0; side < group; ++side)
        if (const int64_t i = group * (first + k) + side; i >= begin && i < end)
          store(i, values[side]);
    }
  }
}

/// Calls body(store) with the function that stores floats as `type`. False if it is not a type of
/// up to 32 bits.
template <class Body>
bool with_float_store(Type type, void* out, Body body) {
  if (type == Type::float32)
    body([out](int64_t i, float v) { static_cast<float*>(out)[i] = v; });
  else if (type == Type::float16)
    body([out](int64_t i, float v) { static_cast<uint16_t*>(out)[i] = f32_to_f16(v); });
  else if (type == Type::bfloat16)
    body([out](int64_t i, float v) { static_cast<uint16_t*>(out)[i] = f32_to_bf16(v); });
  else
    return false;
  return true;
}

auto double_store(void* out) {
  return [out](int64_t i, double v) { static_cast<double*>(out)[i] = v; };
}

} // namespace

Philox Philox::from_seeds(uint64_t seed, uint64_t seed2) {
  return Philox({0, 0, low(seed2), high(seed2)}, {low(seed), high(seed)});
}

Philox Philox::from_stateless_seed(uint64_t seed0, uint64_t seed1) {
  Philox mixer({low(seed0), high(seed0), low(seed1), high(seed1)}, {0x3ec8f720, 0x02461e29});
  const Block mix = mixer.next();
  return Philox({0, 0, mix[2], mix[3]}, {mix[0], mix[1]});
}

Philox::Block Philox::next() {
  Block c = counter_;
  std::array<uint32_t, 2> key = key_;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  skip(1);
  return c;
}

void Philox::skip(uint64_t blocks) {
  const uint64_t lower = (static_cast<uint64_t>(counter_[1]) << 32) | counter_[0];
  const uint64_t sum = lower + blocks;
  counter_[0] = low(sum);
  counter_[1] = high(sum);
  if (sum < lower && ++counter_[2] == 0)
    ++counter_[3];
}

void Philox::draw(int64_t blocks, uint32_t* words, uint64_t stride) {
  while (blocks > 0) {
    const uint64_t lower = static_cast<uint64_t>(counter_[1]) << 32 | counter_[0];
    const uint64_t before_carry = ~lower / stride; // further blocks than the first
    const auto count =
        static_cast<int64_t>(std::min(before_carry, static_cast<uint64_t>(blocks - 1))) + 1;
    isa_table().philox_blocks(counter_.data(), key_.data(), stride, count, words);
    skip(static_cast<uint64_t>(count - 1) * stride);
    skip(stride); // which may carry
    words += 4 * count;
    blocks -= count;
  }
}

uint64_t reserved_blocks(int64_t outputs) {
  return static_cast<uint64_t>(outputs) * 256;
}

uint64_t shuffle_blocks(int64_t size) {
  return size < 2 ? 0 : static_cast<uint64_t>(size - 1 + 3) / 4;
}

bool fill_uniform(Type type, const Philox& start, void* out, int64_t begin, int64_t end) {
  const auto fill = [&]<int words_each>(std::integral_constant<int, words_each>, int64_t size) {
    take_words<words_each>(
        start, begin, end, [&](int64_t first, int64_t count, const uint32_t* words) {
          isa_table().units_of_words(type, words, count, static_cast<char*>(out) + first * size);
        });
    return true;
  };
  switch (type) {
  case Type::float64:
    return fill(std::integral_constant<int, 2>(), 8);
  case Type::float32:
    return fill(std::integral_constant<int, 1>(), 4);
  case Type::float16:
  case Type::bfloat16:
    return fill(std::integral_constant<int, 1>(), 2);
  default:
    return false;
  }
}

bool fill_normal(Type type, const Philox& start, void* out, int64_t begin, int64_t end) {
  if (type == Type::float64) {
    fill_pairs<double>(start, begin, end, double_store(out));
    return true;
  }
  return with_float_store(type, out,
                          [&](auto store) { fill_pairs<float>(start, begin, end, store); });
}

bool fill_truncated_normal(Type type, const Philox& start, void* out, int64_t begin, int64_t end) {
  if (type == Type::float64) {
    fill_truncated<double>(start, begin, end, double_store(out));
    return true;
  }
  return with_float_store(type, out,
                          [&](auto store) { fill_truncated<float>(start, begin, end, store); });
}

bool fill_uniform_int(Type type, const Philox& start, int64_t low_end, int64_t high_end, void* out,
                      int64_t begin, int64_t end) {
  if (type == Type::int32) {
    const uint32_t from = low(static_cast<uint64_t>(low_end));
    const uint32_t range = low(static_cast<uint64_t>(high_end)) - from;
    take_words<1>(start, begin, end, [&](int64_t first, int64_t count, const uint32_t* words) {
      for (int64_t k = 0; k < count; ++k)
        static_cast<uint32_t*>(out)[first + k] = from + words[k] % range;
    });
    return true;
  }
  if (type == Type::int64) {
    const uint64_t from = static_cast<uint64_t>(low_end);
    const uint64_t range = static_cast<uint64_t>(high_end) - from;
    take_words<2>(start, begin, end, [&](int64_t first, int64_t count, const uint32_t* words) {
      for (int64_t k = 0; k < count; ++k)
        static_cast<uint64_t*>(out)[first + k] = from + pair_of(words + 2 * k) % range;
    });
    return true;
  }
  return false;
}

void fill_bits(size_t size, const Philox& start, void* out, int64_t begin, int64_t end) {
  if (size == 8)
    take_words<2>(start, begin, end, [&](int64_t first, int64_t count, const uint32_t* words) {
      for (int64_t k = 0; k < count; ++k)
        static_cast<uint64_t*>(out)[first + k] = pair_of(words + 2 * k);
    });
  else
    take_words<1>(start, begin, end, [&](int64_t first, int64_t count, const uint32_t* words) {
      std::copy_n(words, count, static_cast<uint32_t*>(out) + first);
    });
}

void shuffle_order(Philox generator, std::span<int64_t> order) {
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  Words words(generator);
  for (size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + words.next() % (order.size() - i)]);
}

} // namespace troupe::arith
