#include "kernels/strings/internal/hashes.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace troupe::strings {
namespace {

using Pair = std::pair<std::uint64_t, std::uint64_t>;

template <class T>
std::uint64_t load(const char* from) {
  T out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
std::uint64_t word(const char* from) {
  return load<std::uint64_t>(from);
}

std::uint64_t right(std::uint64_t value, int bits) {
  return std::rotr(value, bits);
}

// FarmHash's constants: primes between 2^63 and 2^64.
constexpr std::uint64_t k0 = 0xc3a5c85c97cb3127ULL, k1 = 0xb492b66fbe98f273ULL,
                        k2 = 0x9ae16a3b2f90404fULL;

std::uint64_t shift_mix(std::uint64_t value) {
  return value ^ value >> 47;
}

std::uint64_t mix(std::uint64_t u, std::uint64_t v, std::uint64_t factor) {
  const std::uint64_t a = shift_mix((u ^ v) * factor);
  return shift_mix((v ^ a) * factor) * factor;
}

std::uint64_t farm_up_to_16(const char* s, std::size_t n) {
  const std::uint64_t factor = k2 + n * 2;
  if (n >= 8) {
    const std::uint64_t a = word(s) + k2, b = word(s + n - 8);
    return mix(right(b, 37) * factor + a, (right(a, 25) + b) * factor, factor);
  }
  if (n >= 4)
    return mix(n + (load<std::uint32_t>(s) << 3), load<std::uint32_t>(s + n - 4), factor);
  if (n == 0)
    return k2;
  const std::uint64_t y = load<std::uint8_t>(s) + (load<std::uint8_t>(s + n / 2) << 8);
  const std::uint64_t z = n + (load<std::uint8_t>(s + n - 1) << 2);
  return shift_mix(y * k2 ^ z * k0) * k2;
}

std::uint64_t farm_up_to_32(const char* s, std::size_t n) {
  const std::uint64_t factor = k2 + n * 2;
  const std::uint64_t a = word(s) * k1, b = word(s + 8), c = word(s + n - 8) * factor,
                      d = word(s + n - 16) * k2;
  return mix(right(a + b, 43) + right(c, 30) + d, a + right(b + k2, 18) + c, factor);
}

std::uint64_t farm_up_to_64(const char* s, std::size_t n) {
  const std::uint64_t factor = k2 + n * 2;
  const std::uint64_t a = word(s) * k2, b = word(s + 8), c = word(s + n - 8) * factor,
                      d = word(s + n - 16) * k2;
  const std::uint64_t y = right(a + b, 43) + right(c, 30) + d;
  const std::uint64_t z = mix(y, a + right(b + k2, 18) + c, factor);
  const std::uint64_t e = word(s + 16) * factor, f = word(s + 24);
  const std::uint64_t g = (y + word(s + n - 32)) * factor, h = (z + word(s + n - 24)) * factor;
  return mix(right(e + f, 43) + right(g, 30) + h, e + right(f + a, 18) + g, factor);
}

/// 32 bytes and two seeds.
Pair weak(const char* s, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t z = word(s + 24);
  a += word(s);
  b = right(b + a + z, 21);
  const std::uint64_t c = a;
  a += word(s + 8) + word(s + 16);
  b += right(a, 44);
  return {a + z, b + c};
}

struct FarmState {
  std::uint64_t x, y, z;
  Pair v{0, 0}, w{0, 0};

  /// One block of 64 bytes; the last one weighs some of it more.
  void take(const char* s, std::uint64_t factor, std::uint64_t weight) {
    x = right(x + y + v.first + word(s + 8), 37) * factor;
    y = right(y + v.second + word(s + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + word(s + 40);
    z = right(z + w.first, 33) * factor;
    v = weak(s, v.second * factor, x + w.first);
    w = weak(s + 32, z + w.second, y + word(s + 16));
    std::swap(z, x);
  }
};

void sip_round(std::uint64_t (&v)[4]) {
  v[0] += v[1];
  v[1] = std::rotl(v[1], 13) ^ v[0];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[3];
  v[3] = std::rotl(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = std::rotl(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = std::rotl(v[1], 17) ^ v[2];
  v[2] = std::rotl(v[2], 32);
}

} // namespace

std::uint64_t farm_fingerprint(std::string_view text) {
  const char* s = text.data();
  const std::size_t n = text.size();
  if (n <= 16)
    return farm_up_to_16(s, n);
  if (n <= 32)
    return farm_up_to_32(s, n);
  if (n <= 64)
    return farm_up_to_64(s, n);
  constexpr std::uint64_t seed = 81;
  FarmState h{seed, seed * k1 + 113, 0};
  h.z = shift_mix(h.y * k2 + 113) * k2;
  h.x = h.x * k2 + word(s);
  const std::size_t blocks = (n - 1) / 64, rest = (n - 1) & 63;
  for (std::size_t i = 0; i < blocks; ++i)
    h.take(s + 64 * i, k1, 1);
  const std::uint64_t factor = k1 + ((h.z & 0xFF) << 1);
  h.w.first += rest;
  h.v.first += h.w.first;
  h.w.first += h.v.first;
  h.take(s + n - 64, factor, 9);
  return mix(mix(h.v.first, h.w.first, factor) + shift_mix(h.y) * k0 + h.z,
             mix(h.v.second, h.w.second, factor) + h.x, factor);
}

std::uint64_t sip_hash(std::uint64_t key0, std::uint64_t key1, std::string_view text) {
  std::uint64_t v[4] = {key0 ^ 0x736f6d6570736575ULL, key1 ^ 0x646f72616e646f6dULL,
                        key0 ^ 0x6c7967656e657261ULL, key1 ^ 0x7465646279746573ULL};
  auto take = [&](std::uint64_t m) {
    v[3] ^= m;
    sip_round(v);
    sip_round(v);
    v[0] ^= m;
  };
  const std::uint64_t size = text.size();
  for (; text.size() >= 8; text.remove_prefix(8))
    take(word(text.data()));
  std::uint64_t last = size << 56;
  for (std::size_t i = 0; i < text.size(); ++i)
    last |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << 8 * i;
  take(last);
  v[2] ^= 0xFF;
  for (int i = 0; i < 4; ++i)
    sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

} // namespace troupe::strings
