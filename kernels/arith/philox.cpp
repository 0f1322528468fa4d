#include "kernels/arith/philox.hpp"
#include "kernels/arith/half.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace troupe::arith {
namespace {

uint32_t low(uint64_t x) {
  return static_cast<uint32_t>(x);
}

uint32_t high(uint64_t x) {
  return static_cast<uint32_t>(x >> 32);
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

/// How the four words of a block become `group` values of the working type Value.
struct UniformFloat {
  using Value = float;
  static constexpr int group = 4;
  static void make(const Philox::Block& x, float* out) {
    for (int i = 0; i < 4; ++i)
      out[i] = unit_float(x[static_cast<size_t>(i)]);
  }
};
struct UniformHalf {
  using Value = float;
  static constexpr int group = 4;
  static void make(const Philox::Block& x, float* out) {
    for (int i = 0; i < 4; ++i)
      out[i] =
          f16_to_f32(static_cast<uint16_t>((15u << 10) | (x[static_cast<size_t>(i)] & 0x3ffu))) -
          1.0f;
  }
};
struct UniformBfloat {
  using Value = float;
  static constexpr int group = 4;
  static void make(const Philox::Block& x, float* out) {
    for (int i = 0; i < 4; ++i)
      out[i] =
          bf16_to_f32(static_cast<uint16_t>((127u << 7) | (x[static_cast<size_t>(i)] & 0x7fu))) -
          1.0f;
  }
};
struct UniformDouble {
  using Value = double;
  static constexpr int group = 2;
  static void make(const Philox::Block& x, double* out) {
    out[0] = unit_double(x[0], x[1]);
    out[1] = unit_double(x[2], x[3]);
  }
};
struct NormalFloat {
  using Value = float;
  static constexpr int group = 4;
  static void make(const Philox::Block& x, float* out) {
    normal_pair(x[0], x[1], out);
    normal_pair(x[2], x[3], out + 2);
  }
};
struct NormalDouble {
  using Value = double;
  static constexpr int group = 2;
  static void make(const Philox::Block& x, double* out) { normal_pair(x.data(), out); }
};

/// Draws words one at a time.
class Words {
public:
  explicit Words(const Philox& generator) : generator_(generator) {}

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

void draw_pair(Words& words, float* out) {
  const uint32_t x0 = words.next(), x1 = words.next();
  normal_pair(x0, x1, out);
}

void draw_pair(Words& words, double* out) {
  uint32_t x[4];
  for (uint32_t& word : x)
    word = words.next();
  normal_pair(x, out);
}

template <class Real>
void truncated_group(const Philox& generator, int group, Real* out) {
  Words words(generator);
  for (int filled = 0; filled < group;) {
    Real pair[2];
    draw_pair(words, pair);
    for (Real value : pair)
      if (std::abs(value) < Real(2) && filled < group)
        out[filled++] = value;
  }
}

/// Fills elements [begin, end) from groups of `group` values; make(first block's number, values)
/// makes one group.
template <class Value, class Make, class Store>
void fill_groups(int group, int64_t begin, int64_t end, Make make, Store store) {
  Value values[4];
  for (int64_t at = begin; at < end;) {
    const int64_t number = at / group, stop = std::min(end, (number + 1) * group);
    make(number, values);
    for (; at < stop; ++at)
      store(at, values[at - number * group]);
  }
}

template <class Distribution, class Store>
void fill_fixed(const Philox& start, int64_t begin, int64_t end, Store store) {
  Philox generator = start;
  generator.skip(static_cast<uint64_t>(begin / Distribution::group));
  fill_groups<typename Distribution::Value>(
      Distribution::group, begin, end,
      [&](int64_t, typename Distribution::Value* values) {
        Distribution::make(generator.next(), values);
      },
      store);
}

template <class Real, class Store>
void fill_truncated(const Philox& start, int group, int64_t begin, int64_t end, Store store) {
  fill_groups<Real>(
      group, begin, end,
      [&](int64_t number, Real* values) {
        Philox generator = start;
        generator.skip(static_cast<uint64_t>(number) * static_cast<uint64_t>(group) * (256 / 4));
        truncated_group(generator, group, values);
      },
      store);
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

uint64_t reserved_blocks(int64_t outputs) {
  return static_cast<uint64_t>(outputs) * 256;
}

uint64_t shuffle_blocks(int64_t size) {
  return size < 2 ? 0 : static_cast<uint64_t>(size - 1 + 3) / 4;
}

bool fill_uniform(Type type, const Philox& start, void* out, int64_t begin, int64_t end) {
  if (type == Type::float64) {
    fill_fixed<UniformDouble>(start, begin, end, double_store(out));
    return true;
  }
  return with_float_store(type, out, [&](auto store) {
    if (type == Type::float16)
      fill_fixed<UniformHalf>(start, begin, end, store);
    else if (type == Type::bfloat16)
      fill_fixed<UniformBfloat>(start, begin, end, store);
    else
      fill_fixed<UniformFloat>(start, begin, end, store);
  });
}

bool fill_normal(Type type, const Philox& start, void* out, int64_t begin, int64_t end) {
  if (type == Type::float64) {
    fill_fixed<NormalDouble>(start, begin, end, double_store(out));
    return true;
  }
  return with_float_store(type, out,
                          [&](auto store) { fill_fixed<NormalFloat>(start, begin, end, store); });
}

bool fill_truncated_normal(Type type, const Philox& start, void* out, int64_t begin, int64_t end) {
  if (type == Type::float64) {
    fill_truncated<double>(start, 2, begin, end, double_store(out));
    return true;
  }
  return with_float_store(type, out,
                          [&](auto store) { fill_truncated<float>(start, 4, begin, end, store); });
}

bool fill_uniform_int(Type type, const Philox& start, int64_t low_end, int64_t high_end, void* out,
                      int64_t begin, int64_t end) {
  Philox generator = start;
  if (type == Type::int32) {
    const uint32_t from = low(static_cast<uint64_t>(low_end));
    const uint32_t range = low(static_cast<uint64_t>(high_end)) - from;
    generator.skip(static_cast<uint64_t>(begin / 4));
    fill_groups<uint32_t>(
        4, begin, end,
        [&](int64_t, uint32_t* values) { std::ranges::copy(generator.next(), values); },
        [&](int64_t i, uint32_t x) { static_cast<uint32_t*>(out)[i] = from + x % range; });
    return true;
  }
  if (type == Type::int64) {
    const uint64_t from = static_cast<uint64_t>(low_end);
    const uint64_t range = static_cast<uint64_t>(high_end) - from;
    generator.skip(static_cast<uint64_t>(begin / 2));
    fill_groups<uint64_t>(
        2, begin, end,
        [&](int64_t, uint64_t* values) {
          const Philox::Block x = generator.next();
          values[0] = x[0] | static_cast<uint64_t>(x[1]) << 32;
          values[1] = x[2] | static_cast<uint64_t>(x[3]) << 32;
        },
        [&](int64_t i, uint64_t x) { static_cast<uint64_t*>(out)[i] = from + x % range; });
    return true;
  }
  return false;
}

void shuffle_order(Philox generator, std::span<int64_t> order) {
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  Words words(generator);
  for (size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + words.next() % (order.size() - i)]);
}

} // namespace troupe::arith
