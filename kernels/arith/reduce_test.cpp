#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/reduce.hpp"
#include <algorithm>
#include <numeric>

namespace troupe::arith::reduce_test {
namespace {

using Shape = std::vector<int64_t>;

struct Axes {
  Shape shape;
  std::vector<int> reduced; // 0 or 1 for each dimension
};

const std::vector<Axes>& axes_cases() {
  static const std::vector<Axes> cases = {
      {{}, {}},
      {{1}, {1}},
      {{0}, {1}},
      {{0, 3}, {1, 0}},
      {{0, 3}, {0, 1}},
      {{5}, {0}},
      {{2500}, {1}},
      {{33, 70}, {0, 1}},
      {{33, 70}, {1, 0}},
      {{300, 3}, {0, 1}},
      {{3001, 3}, {1, 0}}, // few columns
      {{777, 7}, {1, 0}},
      {{2, 1003, 5}, {0, 1, 0}},
      {{70, 50}, {0, 1}},
      {{3, 9001}, {0, 1}},
      {{3, 300}, {1, 0}},
      {{150, 300}, {1, 0}},
      {{5, 6, 7}, {0, 1, 0}},
      {{5, 6, 7}, {1, 0, 1}},
      {{4, 3, 5, 7}, {1, 0, 1, 0}},
      {{4, 3, 5, 7}, {0, 1, 0, 1}},
      {{4, 1, 3, 5}, {1, 1, 1, 0}},
      {{2, 3, 2, 3, 2, 3}, {1, 0, 1, 0, 1, 0}},
  };
  return cases;
}

ReducePlan plan_of(const Axes& axes) {
  bool reduced[8] = {};
  for (size_t k = 0; k < axes.reduced.size(); ++k)
    reduced[k] = axes.reduced[k] != 0;
  ReducePlan plan;
  REQUIRE(make_reduce_plan(axes.shape, std::span<const bool>(reduced, axes.shape.size()), plan));
  return plan;
}

/// The elements behind each output, by going through the whole input.
std::vector<std::vector<int64_t>> sources(const Axes& axes) {
  int64_t total = 1, outputs = 1;
  for (size_t k = 0; k < axes.shape.size(); ++k) {
    total *= axes.shape[k];
    outputs *= axes.reduced[k] != 0 ? 1 : axes.shape[k];
  }
  std::vector<std::vector<int64_t>> result(static_cast<size_t>(outputs));
  for (int64_t flat = 0; flat < total; ++flat) {
    int64_t rest = flat, out = 0, stride = 1;
    for (size_t k = axes.shape.size(); k-- > 0;) {
      const int64_t index = rest % axes.shape[k];
      rest /= axes.shape[k];
      if (axes.reduced[k] == 0) {
        out += index * stride;
        stride *= axes.shape[k];
      }
    }
    result[static_cast<size_t>(out)].push_back(flat);
  }
  return result;
}

template <class T>
double reference(ReduceOp op, const std::vector<T>& x, const std::vector<int64_t>& from) {
  double acc = op == ReduceOp::prod ? 1 : 0;
  if (op == ReduceOp::max || op == ReduceOp::min) {
    const bool max = op == ReduceOp::max;
    using L = std::numeric_limits<T>;
    T best =
        L::has_infinity ? (max ? -L::infinity() : L::infinity()) : (max ? L::lowest() : L::max());
    for (int64_t i : from)
      best = max ? std::max(best, x[static_cast<size_t>(i)])
                 : std::min(best, x[static_cast<size_t>(i)]);
    return static_cast<double>(best);
  }
  for (int64_t i : from) {
    const double value = static_cast<double>(x[static_cast<size_t>(i)]);
    acc = op == ReduceOp::prod ? acc * value : acc + value;
  }
  if (op == ReduceOp::mean) {
    if (from.empty())
      return std::is_floating_point_v<T> ? NAN : 0;
    acc /= static_cast<double>(from.size());
    return std::is_floating_point_v<T> ? acc : std::trunc(acc);
  }
  return acc;
}

/// `scale` is the size of what was added up: rounding follows it, not the sum, which may cancel.
template <class T>
bool close(T got, double want, double scale) {
  if (std::isnan(want))
    return std::isnan(static_cast<double>(got));
  if (static_cast<double>(got) == want)
    return true;
  if (!std::is_floating_point_v<T>)
    return false;
  return std::abs(static_cast<double>(got) - want) <=
         4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * scale;
}

template <class T>
double scale_of(ReduceOp op, const std::vector<T>& x, const std::vector<int64_t>& from) {
  double scale = 0;
  for (int64_t i : from)
    scale += std::abs(static_cast<double>(x[static_cast<size_t>(i)]));
  if (op == ReduceOp::prod)
    return reference(op, x, from) * (1 + std::sqrt(static_cast<double>(from.size())));
  return op == ReduceOp::mean ? scale / static_cast<double>(from.size()) : scale;
}

template <class T>
void check_all() {
  for (ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod, ReduceOp::max, ReduceOp::min})
    for (const Axes& axes : axes_cases()) {
      CAPTURE(static_cast<int>(op));
      const ReduceKernel kernel = reduce(op, type_of<T>());
      REQUIRE(bool(kernel));
      const ReducePlan plan = plan_of(axes);
      const auto from = sources(axes);
      CHECK(plan.outputs == static_cast<int64_t>(from.size()));
      int64_t total = 1;
      for (int64_t dim : axes.shape)
        total *= dim;
      std::vector<T> x = op == ReduceOp::prod ? random_values<T>(total, 1, 1.01, 21)
                                              : random_values<T>(total, -9, 9, 21);
      std::vector<T> out(from.size()), split(from.size());
      const int64_t middle = plan.outputs / 3;
      run_reduce(kernel, plan, x.data(), out.data(), 0, middle);
      run_reduce(kernel, plan, x.data(), out.data(), middle, plan.outputs);
      constexpr int parts = 3;
      std::vector<int64_t> accs(static_cast<size_t>(plan.outputs) * parts);
      for (int p = 0; p < parts; ++p)
        reduce_partial(kernel, plan, x.data(), accs.data() + p * plan.outputs,
                       plan.split * p / parts, plan.split * (p + 1) / parts);
      reduce_combine(kernel, plan, accs.data(), parts, split.data());
      int wrong = 0;
      for (size_t i = 0; i < from.size(); ++i) {
        const double want = reference(op, x, from[i]);
        const double scale = scale_of(op, x, from[i]);
        wrong += !close(out[i], want, scale);
        wrong += !close(split[i], want, scale);
      }
      CHECK(wrong == 0);
    }
}

template <class T>
void check_extremes() {
  struct Sizes {
    int64_t outer, n, inner;
  };
  for (Sizes s : {Sizes{1, 1, 1}, {1, 1000, 1}, {7, 33, 1}, {1, 9, 100}, {3, 5, 70}, {2, 4, 3}})
    for (bool want_max : {true, false}) {
      const auto x = random_values<T>(s.outer * s.n * s.inner, 0, 20, 31); // many are equal
      std::vector<int64_t> out(static_cast<size_t>(s.outer * s.inner));
      std::vector<int32_t> narrow(out.size());
      const int64_t size = s.outer * s.inner;
      arg_reduce(want_max, type_of<T>(), Type::int64)(x.data(), out.data(), s.n, s.inner, 0,
                                                      size / 2);
      arg_reduce(want_max, type_of<T>(), Type::int64)(x.data(), out.data(), s.n, s.inner, size / 2,
                                                      size);
      arg_reduce(want_max, type_of<T>(), Type::int32)(x.data(), narrow.data(), s.n, s.inner, 0,
                                                      size);
      int wrong = 0;
      for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t i = 0; i < s.inner; ++i) {
          auto at = [&](int64_t k) { return x[static_cast<size_t>((o * s.n + k) * s.inner + i)]; };
          int64_t best = 0;
          for (int64_t k = 1; k < s.n; ++k)
            if (want_max ? at(k) > at(best) : at(k) < at(best))
              best = k;
          const auto flat = static_cast<size_t>(o * s.inner + i);
          wrong += out[flat] != best || narrow[flat] != best;
        }
      CHECK(wrong == 0);
    }
}

/// Rows, or columns, of 16-bit floats against the same elements as f32; sums may be rounded the
/// other way.
void check_narrow(Type type, ReduceOp op, int64_t rows, int64_t n, bool by_rows) {
  const bool products = op == ReduceOp::prod;
  auto x = random_values<float>(rows * n, products ? 0.9 : -9, products ? 1.1 : 9, 22);
  if (rows > 2 && n > 2)
    x[static_cast<size_t>(n + n / 2)] = NAN;
  std::vector<uint16_t> narrow(x.size());
  isa_table().cast(Type::float32, type)(x.data(), narrow.data(), 0, std::ssize(x));
  isa_table().cast(type, Type::float32)(narrow.data(), x.data(), 0, std::ssize(x));
  const ReducePlan plan = by_rows ? plan_of({{rows, n}, {0, 1}}) : plan_of({{n, rows}, {1, 0}});
  std::vector<float> want(static_cast<size_t>(rows));
  std::vector<uint16_t> bits(want.size());
  std::vector<float> got(want.size());
  run_reduce(reduce_kernel(op, Type::float32), plan, x.data(), want.data(), 0, rows);
  run_reduce(reduce_kernel(op, type), plan, narrow.data(), bits.data(), 0, rows);
  isa_table().cast(type, Type::float32)(bits.data(), got.data(), 0, rows);
  constexpr double least_half = 0x1p-24;
  int wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const float value = got[i];
    if (std::abs(want[i]) > 65000 && type == Type::float16)
      continue; // not a half
    const double of_terms = op == ReduceOp::sum ? 0.001 * static_cast<double>(n) : 0;
    wrong +=
        std::isnan(want[i])
            ? !std::isnan(value)
            : !(std::abs(value - want[i]) <= std::abs(want[i]) / 256 + of_terms / 256 + least_half);
  }
  CAPTURE(static_cast<int>(op));
  CAPTURE(n);
  CHECK(wrong == 0);
}

TEST_CASE("rows and columns of 16-bit floats are reduced as their elements in f32 are") {
  on_each_isa([] {
    for (ReduceOp op :
         {ReduceOp::sum, ReduceOp::mean, ReduceOp::prod, ReduceOp::max, ReduceOp::min})
      for (int64_t n : {1, 3, 16, 31, 256, 300, 3000})
        for (int64_t rows : {1, 5, 40})
          for (const bool by_rows : {true, false})
            for (const Type type : {Type::float16, Type::bfloat16})
              check_narrow(type, op, rows, n, by_rows);
  });
}

template <class T>
void check_special_extremes() {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
  for (const size_t n : {3, 40, 200}) // shorter and longer than registers
    for (const bool want_max : {true, false}) {
      const auto place = [&](std::vector<T> x) {
        int64_t at = -1;
        arg_reduce(want_max, type_of<T>(), Type::int64)(x.data(), &at, std::ssize(x), 1, 0, 1);
        return at;
      };
      const T sign = want_max ? T(1) : T(-1);
      std::vector<T> x(n, nan);
      CHECK(place(x) == 0);
      x[n - 1] = sign;
      CHECK(place(x) == static_cast<int64_t>(n) - 1);
      x[n - 2] = sign;
      CHECK(place(x) == static_cast<int64_t>(n) - 2); // the first of equals
      x[1] = want_max ? inf : -inf;
      CHECK(place(x) == 1);
      CHECK(place(std::vector<T>(n, want_max ? -inf : inf)) == 0);
      std::vector<T> ends(n, want_max ? -inf : inf);
      ends[2] = want_max ? lowest : highest;
      CHECK(place(ends) == 0); // the worst of the finite ones is not better than nothing
    }
}

TEST_CASE("the place of an extreme among NaN, infinities and equals") {
  on_each_isa([] {
    check_special_extremes<float>();
    check_special_extremes<double>();
  });
}

TEST_CASE("the place of the first largest float, unless one is NaN") {
  on_each_isa([] {
    for (int64_t n : {1, 2, 15, 16, 17, 64, 100, 256, 1001})
      for (int64_t at : {int64_t{0}, n / 2, n - 1}) {
        CAPTURE(n);
        CAPTURE(at);
        auto x = random_values<float>(n, -9, 9, 5);
        auto& chosen = x[static_cast<size_t>(at)];
        chosen = 10;
        x.back() = 10; // an equal one behind it
        CHECK(place_of_largest(x.data(), n) == at);
        chosen = NAN;
        CHECK(place_of_largest(x.data(), n) == -1);
        std::fill(x.begin(), x.end(), -INFINITY);
        CHECK(place_of_largest(x.data(), n) == 0);
      }
  });
}

TEST_CASE("reductions over any axes equal sums element by element, whole or in parts") {
  on_each_isa([] {
    check_all<float>();
    check_all<double>();
    check_all<int32_t>();
    check_all<int64_t>();
    CHECK_FALSE(bool(reduce(ReduceOp::sum, Type::bool_)));
    CHECK_FALSE(bool(reduce(ReduceOp::any, Type::float32)));
  });
}

TEST_CASE("flags in few columns and in many are reduced column by column") {
  on_each_isa([] {
    for (int64_t columns : {1, 2, 3, 7, 24, 31, 32, 33, 70})
      for (int64_t rows : {1, 31, 64, 2500})
        for (const bool any : {true, false}) {
          std::vector<uint8_t> flags(static_cast<size_t>(rows * columns), any ? 0 : 1);
          std::vector<uint8_t> want(static_cast<size_t>(columns), any ? 0 : 1), got = want;
          for (int64_t c = 0; c < columns; c += 2) { // one row decides, another for each column
            flags[static_cast<size_t>(c * 37 % rows * columns + c)] = any ? 1 : 0;
            want[static_cast<size_t>(c)] = any ? 1 : 0;
          }
          run_reduce(reduce(any ? ReduceOp::any : ReduceOp::all, Type::bool_),
                     plan_of({{rows, columns}, {1, 0}}), flags.data(), got.data(), 0, columns);
          CHECK(got == want);
        }
  });
}

TEST_CASE("ten million ones add up exactly in f32, and tenths nearly") {
  on_each_isa([] {
    constexpr int64_t n = 10'000'000;
    std::vector<float> x(n, 1.0f);
    const ReducePlan rows = plan_of({{n}, {1}}), columns = plan_of({{n / 2, 2}, {1, 0}});
    float sum = 0;
    run_reduce(reduce(ReduceOp::sum, Type::float32), rows, x.data(), &sum, 0, 1);
    CHECK(sum == 1e7f);
    std::fill(x.begin(), x.end(), 0.1f);
    run_reduce(reduce(ReduceOp::sum, Type::float32), rows, x.data(), &sum, 0, 1);
    CHECK(std::abs(sum - 1e6f) <= 1.0f);
    float sums[2];
    run_reduce(reduce(ReduceOp::sum, Type::float32), columns, x.data(), sums, 0, 2);
    CHECK(std::abs(sums[1] - 5e5f) <= 1.0f);
  });
}

TEST_CASE("squares are added up also where f32 does not hold them") {
  on_each_isa([] {
    const SquaresFn of_float = isa_table().sum_of_squares(Type::float32),
                    of_double = isa_table().sum_of_squares(Type::float64);
    const auto x = random_values<float>(70'003, -3, 3, 43);
    const std::vector<double> wide(x.begin(), x.end());
    const int64_t begin = 5, end = 70'001;
    double want = 0;
    for (int64_t i = begin; i < end; ++i)
      want += wide[static_cast<size_t>(i)] * wide[static_cast<size_t>(i)];
    CHECK(std::abs(of_float(x.data(), begin, end) - want) <= 1e-6 * want);
    CHECK(std::abs(of_double(wide.data(), begin, end) - want) <= 1e-12 * want);
    const std::vector<float> large = {2e19f, 0}, small(4, 3e-20f), bad = {1, NAN};
    CHECK(std::abs(of_float(large.data(), 0, 2) / 4e38 - 1) <= 1e-6);
    CHECK(std::abs(of_float(small.data(), 0, 4) / 3.6e-39 - 1) <= 1e-6);
    CHECK(std::isnan(of_float(bad.data(), 0, 2)));
    CHECK(of_float(bad.data(), 0, 0) == 0);
    CHECK((isa_table().sum_of_squares(Type::int32) == nullptr));
  });
}

TEST_CASE("NaN passes through maximum and minimum wherever it stands") {
  on_each_isa([] {
    for (int64_t at : {0, 5, 40, 99}) {
      std::vector<float> x = random_values<float>(100, -1, 1, 41);
      x[static_cast<size_t>(at)] = NAN;
      for (ReduceOp op : {ReduceOp::max, ReduceOp::min}) {
        float out = 0;
        run_reduce(reduce(op, Type::float32), plan_of({{100}, {1}}), x.data(), &out, 0, 1);
        CHECK(std::isnan(out));
        float columns[10];
        run_reduce(reduce(op, Type::float32), plan_of({{10, 10}, {1, 0}}), x.data(), columns, 0,
                   10);
        CHECK(std::isnan(columns[at % 10]));
        CHECK_FALSE(std::isnan(columns[(at + 1) % 10]));
        float rows[25];
        run_reduce(reduce(op, Type::float32), plan_of({{25, 4}, {0, 1}}), x.data(), rows, 0, 25);
        for (int64_t r = 0; r < 25; ++r)
          CHECK(std::isnan(rows[r]) == (r == at / 4));
      }
    }
  });
}

TEST_CASE("any and all of booleans") {
  on_each_isa([] {
    std::vector<uint8_t> x(300, 0);
    x[217] = 1;
    uint8_t out = 9;
    const ReducePlan plan = plan_of({{300}, {1}}), none = plan_of({{0}, {1}});
    run_reduce(reduce(ReduceOp::any, Type::bool_), plan, x.data(), &out, 0, 1);
    CHECK(out == 1);
    run_reduce(reduce(ReduceOp::all, Type::bool_), plan, x.data(), &out, 0, 1);
    CHECK(out == 0);
    run_reduce(reduce(ReduceOp::any, Type::bool_), none, x.data(), &out, 0, 1);
    CHECK(out == 0);
    run_reduce(reduce(ReduceOp::all, Type::bool_), none, x.data(), &out, 0, 1);
    CHECK(out == 1);
  });
}

TEST_CASE("argmax and argmin name the first extreme element") {
  on_each_isa([] {
    check_extremes<float>();
    check_extremes<double>();
    check_extremes<int32_t>();
    check_extremes<int64_t>();
    check_extremes<uint8_t>();
    CHECK((arg_reduce(true, Type::float32, Type::uint8) == nullptr));
  });
}

} // namespace
} // namespace troupe::arith::reduce_test
