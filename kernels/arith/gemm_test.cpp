#include "kernels/arith/gemm.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <algorithm>
#include <bit>
#include <complex>

namespace troupe::arith::gemm_test {
namespace {

struct Size {
  int64_t m, n, k;
};

template <class T>
std::vector<T> naive(const GemmShape& s, const T* a, const T* b) {
  std::vector<T> c(static_cast<size_t>(s.m * s.n));
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      using Sum =
          std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>; // integers wrap
      Sum sum = 0;
      for (int64_t k = 0; k < s.k; ++k)
        sum += static_cast<Sum>(a[s.transpose_a ? k * s.m + i : i * s.k + k]) *
               static_cast<Sum>(b[s.transpose_b ? j * s.k + k : k * s.n + j]);
      c[static_cast<size_t>(i * s.n + j)] = static_cast<T>(sum);
    }
  return c;
}

template <class T>
int64_t differences(const std::vector<T>& got, const std::vector<T>& want, int64_t k) {
  int64_t wrong = 0;
  const double tolerance =
      std::is_floating_point_v<T>
          ? static_cast<double>(std::numeric_limits<T>::epsilon()) * 4 * static_cast<double>(k + 1)
          : 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong += !(got[i] == want[i] ||
               std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])) < tolerance);
  return wrong;
}

template <class T>
void check(const std::vector<Size>& sizes) {
  for (const Size& size : sizes)
    for (int flags = 0; flags < 4; ++flags) {
      const GemmShape s = {size.m, size.n, size.k, (flags & 1) != 0, (flags & 2) != 0};
      CAPTURE(s.m);
      CAPTURE(s.n);
      CAPTURE(s.k);
      CAPTURE(flags);
      const double range = std::is_floating_point_v<T> ? 1 : s.k % 2 ? 30 : 2e9;
      const auto a = random_values<T>(s.m * s.k, -range, range, 71),
                 b = random_values<T>(s.k * s.n, -range, range, 72);
      const std::vector<T> want = naive(s, a.data(), b.data());
      std::vector<T> rows(want.size(), T(7)), columns(want.size(), T(7));
      const int64_t r = s.m / 3, c = s.n / 3;
      gemm_rows(type_of<T>(), s, a.data(), b.data(), rows.data(), 0, r);
      gemm_rows(type_of<T>(), s, a.data(), b.data(), rows.data(), r, s.m);
      gemm_columns(type_of<T>(), s, a.data(), b.data(), columns.data(), 0, c);
      gemm_columns(type_of<T>(), s, a.data(), b.data(), columns.data(), c, s.n);
      CHECK(differences(rows, want, s.k) == 0);
      CHECK(differences(columns, want, s.k) == 0);
    }
}

TEST_CASE(
    "products equal the sum by hand for all transposes, whole and in blocks, with every library") {
  const std::vector<Size> small = {{0, 3, 2},   {3, 0, 2},   {2, 3, 0}, {1, 1, 1},
                                   {1, 33, 17}, {33, 1, 17}, {5, 7, 3}, {16, 16, 16}};
  std::vector<Size> reals = small;
  reals.insert(reals.end(), {{65, 70, 33},
                             {128, 96, 130},
                             {4, 300, 40},
                             {1, 500, 300},
                             {3, 3, 300},
                             {2, 4, 41},
                             {4, 2, 700}});
  std::vector<Size> integers = small;
  integers.insert(integers.end(),
                  {{4, 32, 128}, {5, 47, 300}, {70, 65, 33}, {7, 3, 258}, {6, 1, 300}});
  on_each_isa_and_library([&] {
    check<float>(reals);
    check<double>(reals);
    check<int32_t>(integers);
    check<int64_t>(integers);
  });
  CHECK_FALSE(has_gemm(Type::uint8));
}

/// Products of bf16 against those of the same elements as f32, to what rounding once costs.
void check_bfloat16(const GemmShape& s) {
  const auto halves = [](std::vector<float>& values) {
    std::vector<uint16_t> out;
    for (float& x : values) {
      out.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16));
      x = std::bit_cast<float>(static_cast<uint32_t>(out.back()) << 16);
    }
    return out;
  };
  auto a = random_values<float>(s.m * s.k, -1, 1, 77),
       b = random_values<float>(s.k * s.n, -1, 1, 78);
  const std::vector<uint16_t> narrow_a = halves(a), narrow_b = halves(b);
  const std::vector<float> want = naive(s, a.data(), b.data());
  std::vector<uint16_t> rows(want.size(), 7), columns(want.size(), 7), batch(want.size(), 7);
  const int64_t r = s.m / 3, c = s.n / 3;
  gemm_rows(Type::bfloat16, s, narrow_a.data(), narrow_b.data(), rows.data(), 0, r);
  gemm_rows(Type::bfloat16, s, narrow_a.data(), narrow_b.data(), rows.data(), r, s.m);
  gemm_columns(Type::bfloat16, s, narrow_a.data(), narrow_b.data(), columns.data(), 0, c);
  gemm_columns(Type::bfloat16, s, narrow_a.data(), narrow_b.data(), columns.data(), c, s.n);
  gemm_batch(Type::bfloat16, s, narrow_a.data(), nullptr, narrow_b.data(), nullptr, batch.data(), 0,
             1);
  int64_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    for (const uint16_t bits : {rows[i], columns[i], batch[i]}) {
      const float got = std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
      wrong +=
          !(std::abs(got - want[i]) <= std::abs(want[i]) / 250 + 1e-5F * static_cast<float>(s.k));
    }
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  CHECK(wrong == 0);
}

TEST_CASE("batches of products of bf16 are those of their matrices") {
  on_each_isa_and_library([] {
    for (int flags = 0; flags < 4; ++flags) {
      const GemmShape s = {33, 20, 40, (flags & 1) != 0, (flags & 2) != 0};
      constexpr int64_t count = 5;
      const auto bits = [](int64_t n, unsigned seed) {
        std::vector<uint16_t> out;
        for (const float x : random_values<float>(n, -1, 1, seed))
          out.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16));
        return out;
      };
      const auto a = bits(count * s.m * s.k, 79), b = bits(count * s.k * s.n, 80);
      std::vector<uint16_t> batch(static_cast<size_t>(count * s.m * s.n)), single = batch;
      gemm_batch(Type::bfloat16, s, a.data(), nullptr, b.data(), nullptr, batch.data(), 0, 3);
      gemm_batch(Type::bfloat16, s, a.data(), nullptr, b.data(), nullptr, batch.data(), 3, count);
      for (int64_t i = 0; i < count; ++i)
        gemm_rows(Type::bfloat16, s, a.data() + i * s.m * s.k, b.data() + i * s.k * s.n,
                  single.data() + i * s.m * s.n, 0, s.m);
      int64_t wrong = 0;
      for (size_t i = 0; i < batch.size(); ++i) {
        const float got = std::bit_cast<float>(static_cast<uint32_t>(batch[i]) << 16),
                    want = std::bit_cast<float>(static_cast<uint32_t>(single[i]) << 16);
        wrong += !(std::abs(got - want) <= std::abs(want) / 100 + 1e-4F);
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("products of bf16 equal those in f32 but for the rounding, with and without oneDNN") {
  on_each_isa_and_library([] {
    for (const Size& size : {Size{0, 3, 2},
                             {2, 3, 0},
                             {1, 1, 1},
                             {5, 7, 3},
                             {33, 47, 65},
                             {64, 64, 64},
                             {128, 96, 130}})
      for (int flags = 0; flags < 4; ++flags)
        check_bfloat16({size.m, size.n, size.k, (flags & 1) != 0, (flags & 2) != 0});
  });
}

template <class T>
void check_complex(const GemmShape& s) {
  using C = std::complex<T>;
  const auto numbers = [](int64_t n, unsigned seed) {
    const auto parts = random_values<T>(2 * n, -1, 1, seed);
    std::vector<C> out;
    for (size_t i = 0; i < parts.size(); i += 2)
      out.emplace_back(parts[i], parts[i + 1]);
    return out;
  };
  const auto a = numbers(s.m * s.k, 81), b = numbers(s.k * s.n, 82);
  const Type type = sizeof(T) == 4 ? Type::complex64 : Type::complex128;
  std::vector<C> rows(static_cast<size_t>(s.m * s.n), C(7, 7)), columns = rows;
  gemm_rows(type, s, a.data(), b.data(), rows.data(), 0, s.m / 3);
  gemm_rows(type, s, a.data(), b.data(), rows.data(), s.m / 3, s.m);
  gemm_columns(type, s, a.data(), b.data(), columns.data(), 0, s.n / 3);
  gemm_columns(type, s, a.data(), b.data(), columns.data(), s.n / 3, s.n);
  int64_t wrong = 0;
  const double tolerance = std::numeric_limits<T>::epsilon() * 8 * static_cast<double>(s.k + 1);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      std::complex<double> sum;
      for (int64_t k = 0; k < s.k; ++k)
        sum +=
            std::complex<double>(
                a[static_cast<size_t>(s.transpose_a ? k * s.m + i : i * s.k + k)]) *
            std::complex<double>(b[static_cast<size_t>(s.transpose_b ? j * s.k + k : k * s.n + j)]);
      const auto at = static_cast<size_t>(i * s.n + j);
      for (const C& got : {rows[at], columns[at]})
        wrong += !(std::abs(std::complex<double>(got) - sum) <= tolerance);
    }
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  CHECK(wrong == 0);
}

TEST_CASE("products of complex numbers, whole and in blocks") {
  on_each_isa_and_library([] {
    for (const Size& size :
         {Size{0, 3, 2}, {2, 3, 0}, {1, 1, 1}, {5, 7, 3}, {2, 65, 4}, {33, 47, 65}})
      for (int flags = 0; flags < 4; ++flags) {
        const GemmShape s = {size.m, size.n, size.k, (flags & 1) != 0, (flags & 2) != 0};
        check_complex<float>(s);
        check_complex<double>(s);
      }
    check_complex<double>({150, 150, 150}); // of more memory than a thread keeps
    for (int flags = 0; flags < 4; ++flags) // several tiles in each direction
      check_complex<float>({290, 270, 530, (flags & 1) != 0, (flags & 2) != 0});
  });
}

TEST_CASE("batches of products take the matrices that their indices name") {
  on_each_isa_and_library([] {
    const GemmShape s = {3, 4, 5, false, true};
    const auto a = random_values<float>(2 * 15, -1, 1, 73),
               b = random_values<float>(3 * 20, -1, 1, 74);
    const std::vector<int64_t> a_index = {0, 1, 0}, b_index = {2, 0, 2};
    std::vector<float> plain(2 * 12), indexed(3 * 12);
    gemm_batch(Type::float32, s, a.data(), nullptr, b.data(), nullptr, plain.data(), 0, 2);
    gemm_batch(Type::float32, s, a.data(), a_index.data(), b.data(), b_index.data(), indexed.data(),
               1, 3);
    gemm_batch(Type::float32, s, a.data(), a_index.data(), b.data(), b_index.data(), indexed.data(),
               0, 1);
    for (int64_t i = 0; i < 3; ++i) {
      const auto at = static_cast<size_t>(i);
      const std::vector<float> want =
          naive(s, a.data() + a_index[at] * 15, b.data() + b_index[at] * 20);
      CHECK(differences({indexed.begin() + i * 12, indexed.begin() + (i + 1) * 12}, want, 5) == 0);
      if (i < 2)
        CHECK(differences({plain.begin() + i * 12, plain.begin() + (i + 1) * 12},
                          naive(s, a.data() + i * 15, b.data() + i * 20), 5) == 0);
    }
  });
}

TEST_CASE("NaN in an operand reaches every product that it takes part in") {
  on_each_isa_and_library([] {
    const GemmShape s = {40, 40, 40};
    auto a = random_values<float>(1600, -1, 1, 75);
    const auto b = random_values<float>(1600, -1, 1, 76);
    a[3 * 40 + 7] = NAN;
    std::vector<float> c(1600);
    gemm_rows(Type::float32, s, a.data(), b.data(), c.data(), 0, 40);
    CHECK(std::count_if(c.begin(), c.end(), [](float x) { return std::isnan(x); }) == 40);
    CHECK(std::isnan(c[3 * 40]));
  });
}

} // namespace
} // namespace troupe::arith::gemm_test
