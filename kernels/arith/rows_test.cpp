#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/rows.hpp"
#include <algorithm>

namespace troupe::arith::rows_test {
namespace {

struct Size {
  int64_t rows, columns;
};
const std::vector<Size> sizes = {{0, 3}, {3, 1}, {1, 10}, {5, 17}, {7, 64}, {40, 10}, {3, 1001}};

template <class T>
bool close(T got, double want) {
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 1e-14;
  if (std::isnan(want) || std::isinf(want))
    return std::isnan(want) ? std::isnan(got) : static_cast<double>(got) == want;
  return std::abs(static_cast<double>(got) - want) <= tolerance * (1 + std::abs(want));
}

/// Softmax and log-softmax of one row in double.
void reference_row(const std::vector<double>& x, std::vector<double>& p,
                   std::vector<double>& log_p) {
  const double max = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double v : x)
    sum += std::exp(v - max);
  p.clear();
  log_p.clear();
  for (double v : x) {
    p.push_back(std::exp(v - max) / sum);
    log_p.push_back(v - max - std::log(sum));
  }
}

template <class T>
std::vector<double> row_of(const std::vector<T>& x, int64_t row, int64_t columns) {
  return {x.begin() + row * columns, x.begin() + (row + 1) * columns};
}

template <class T>
void check_softmax(const Size& s) {
  const auto x = random_values<T>(s.rows * s.columns, -30, 30, 101),
             dy = random_values<T>(s.rows * s.columns, -1, 1, 102);
  std::vector<T> y = x, z(x.size()), dx(x.size());
  const int64_t half = s.rows / 2;
  isa_table().softmax(type_of<T>())(y.data(), y.data(), s.columns, 0, half);
  isa_table().softmax(type_of<T>())(y.data(), y.data(), s.columns, half, s.rows);
  isa_table().log_softmax(type_of<T>())(x.data(), z.data(), s.columns, 0, s.rows);
  isa_table().softmax_grad(type_of<T>())(y.data(), dy.data(), dx.data(), s.columns, 0, s.rows);
  int wrong = 0;
  for (int64_t r = 0; r < s.rows; ++r) {
    std::vector<double> p, log_p;
    reference_row(row_of(x, r, s.columns), p, log_p);
    double dot = 0;
    for (int64_t c = 0; c < s.columns; ++c)
      dot += p[static_cast<size_t>(c)] *
             static_cast<double>(dy[static_cast<size_t>(r * s.columns + c)]);
    for (int64_t c = 0; c < s.columns; ++c) {
      const auto at = static_cast<size_t>(r * s.columns + c), column = static_cast<size_t>(c);
      wrong += !close(y[at], p[column]);
      wrong += !close(z[at], log_p[column]);
      wrong += !close(dx[at], p[column] * (static_cast<double>(dy[at]) - dot));
    }
  }
  CHECK(wrong == 0);
}

/// Cross entropy with labels of their own for each row (label_rows = rows) or one row for all (1),
/// one or all columns.
template <class T>
void check_xent(const Size& s, bool one_label_row, bool one_label_column) {
  const auto x = random_values<T>(s.rows * s.columns, -30, 30, 103);
  const int64_t label_rows = one_label_row ? 1 : s.rows,
                label_columns = one_label_column ? 1 : s.columns;
  const auto labels = random_values<T>(label_rows * label_columns, 0, 1, 104);
  std::vector<T> loss(static_cast<size_t>(s.rows)), alone(loss.size()), backprop(x.size());
  const SoftmaxXentInput logits = {x.data(), s.columns, 1};
  const SoftmaxXentInput label = {labels.data(), one_label_row ? 0 : label_columns,
                                  one_label_column ? 0 : 1};
  isa_table().softmax_xent(type_of<T>())(logits, label, loss.data(), backprop.data(), s.columns, 0,
                                         s.rows);
  isa_table().softmax_xent(type_of<T>())(logits, label, alone.data(), nullptr, s.columns, 0,
                                         s.rows);
  CHECK(loss == alone);
  int wrong = 0;
  for (int64_t r = 0; r < s.rows; ++r) {
    std::vector<double> p, log_p;
    reference_row(row_of(x, r, s.columns), p, log_p);
    double total = 0;
    for (int64_t c = 0; c < s.columns; ++c) {
      const auto from =
          static_cast<size_t>((one_label_row ? 0 : r) * label_columns + (one_label_column ? 0 : c));
      const double wish = static_cast<double>(labels[from]);
      total -= wish * log_p[static_cast<size_t>(c)];
      wrong += !close(backprop[static_cast<size_t>(r * s.columns + c)],
                      p[static_cast<size_t>(c)] - wish);
    }
    wrong += !close(loss[static_cast<size_t>(r)], total);
  }
  CHECK(wrong == 0);
}

template <class T, class Label>
void check_sparse(const Size& s) {
  const auto x = random_values<T>(s.rows * s.columns, -30, 30, 105);
  auto labels = random_values<Label>(s.rows, 0, static_cast<double>(s.columns), 106);
  if (s.rows > 2)
    labels[1] = static_cast<Label>(s.columns), labels[2] = -1;
  std::vector<T> loss(labels.size()), backprop(x.size());
  isa_table().sparse_softmax_xent(type_of<T>(), type_of<Label>())(
      x.data(), labels.data(), loss.data(), backprop.data(), s.columns, 0, s.rows);
  int wrong = 0;
  for (int64_t r = 0; r < s.rows; ++r) {
    std::vector<double> p, log_p;
    reference_row(row_of(x, r, s.columns), p, log_p);
    const auto label = static_cast<int64_t>(labels[static_cast<size_t>(r)]);
    const bool bad = label < 0 || label >= s.columns;
    wrong += !close(loss[static_cast<size_t>(r)], bad ? NAN : -log_p[static_cast<size_t>(label)]);
    for (int64_t c = 0; c < s.columns; ++c) {
      const double want = bad ? NAN : p[static_cast<size_t>(c)] - (c == label ? 1 : 0);
      wrong += !close(backprop[static_cast<size_t>(r * s.columns + c)], want);
    }
  }
  CHECK(wrong == 0);
}

template <class T>
void check_bias(const Size& s) {
  const auto x = random_values<T>(s.rows * s.columns, -9, 9, 107),
             bias = random_values<T>(s.columns, -9, 9, 108);
  std::vector<T> y = x, sums(bias.size(), T(3));
  isa_table().bias_add(type_of<T>())(y.data(), bias.data(), y.data(), s.columns, 0, s.rows);
  isa_table().bias_add_grad(type_of<T>())(x.data(), sums.data(), s.columns, 0, s.rows);
  int wrong = 0;
  for (int64_t c = 0; c < s.columns; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < s.rows; ++r) {
      const auto at = static_cast<size_t>(r * s.columns + c);
      sum += static_cast<double>(x[at]);
      wrong += y[at] != T(x[at] + bias[static_cast<size_t>(c)]);
    }
    wrong += std::abs(static_cast<double>(sums[static_cast<size_t>(c)]) - sum) > 1e-4;
  }
  CHECK(wrong == 0);
}

TEST_CASE("softmax, log-softmax and the gradient equal the formulas row by row") {
  on_each_isa([] {
    for (const Size& s : sizes) {
      check_softmax<float>(s);
      check_softmax<double>(s);
    }
  });
}

TEST_CASE("softmax survives large, infinite and NaN logits") {
  on_each_isa([] {
    const float inf = INFINITY;
    std::vector<float> x = {1000, 1000, -inf, 0, -inf, 1, NAN, 2, 3}, y(9);
    isa_table().softmax(Type::float32)(x.data(), y.data(), 3, 0, 3);
    CHECK(y[0] == 0.5f);
    CHECK(y[2] == 0.0f);
    CHECK(y[4] == 0.0f);
    CHECK(std::isnan(y[6]));
    CHECK(std::isnan(y[8]));
    isa_table().log_softmax(Type::float32)(x.data(), y.data(), 3, 0, 1);
    CHECK(y[2] == -inf);
  });
}

TEST_CASE("cross entropy equals its formula, with labels for each row or for all") {
  on_each_isa([] {
    for (const Size& s : sizes)
      for (bool one_row : {false, true})
        for (bool one_column : {false, true}) {
          check_xent<float>(s, one_row, one_column);
          check_xent<double>(s, one_row, one_column);
        }
  });
}

TEST_CASE("a label of zero for an impossible class makes the loss NaN, as TensorFlow's is") {
  on_each_isa([] {
    const std::vector<float> x = {0, -INFINITY}, labels = {1, 0};
    float loss = 9, backprop[2];
    isa_table().softmax_xent(Type::float32)({x.data(), 2, 1}, {labels.data(), 2, 1}, &loss,
                                            backprop, 2, 0, 1);
    CHECK(std::isnan(loss));
    CHECK(backprop[1] == 0);
  });
}

TEST_CASE("sparse cross entropy equals the dense one, and a label out of range makes its row NaN") {
  on_each_isa([] {
    for (const Size& s : sizes) {
      check_sparse<float, int32_t>(s);
      check_sparse<float, int64_t>(s);
      check_sparse<double, int64_t>(s);
    }
  });
  CHECK((isa_table().sparse_softmax_xent(Type::float32, Type::uint8) == nullptr));
}

/// Each sum is that of f32, rounded once.
void check_narrow_bias(Type type, const Size& s) {
  const BiasAddFn add = isa_table().bias_add(type);
  if (add == nullptr) // no instructions for halves
    return;
  const UnaryFn widen = isa_table().cast(type, Type::float32),
                narrow = isa_table().cast(Type::float32, type);
  const auto values = random_values<float>(s.rows * s.columns, -9, 9, 109),
             biases = random_values<float>(s.columns, -9, 9, 110);
  std::vector<uint16_t> x(values.size()), bias(biases.size()), want(x.size());
  narrow(values.data(), x.data(), 0, std::ssize(values));
  narrow(biases.data(), bias.data(), 0, std::ssize(biases));
  std::vector<float> wide(x.size()), wide_bias(bias.size());
  widen(x.data(), wide.data(), 0, std::ssize(x));
  widen(bias.data(), wide_bias.data(), 0, std::ssize(bias));
  for (size_t i = 0; i < wide.size(); ++i)
    wide[i] += wide_bias[i % bias.size()];
  narrow(wide.data(), want.data(), 0, std::ssize(wide));
  add(x.data(), bias.data(), x.data(), s.columns, 0, s.rows);
  CHECK(x == want);
}

TEST_CASE("biases of 16 bits are added to rows") {
  on_each_isa([] {
    for (const Type type : {Type::float16, Type::bfloat16})
      for (const Size& s : {Size{3, 1}, {2, 7}, {5, 16}, {4, 33}, {2, 1100}})
        check_narrow_bias(type, s);
  });
}

TEST_CASE("biases are added to rows and summed over them") {
  on_each_isa([] {
    for (const Size& s : sizes) {
      check_bias<float>(s);
      check_bias<double>(s);
      check_bias<int32_t>(s);
      check_bias<int64_t>(s);
    }
  });
}

template <class T>
void check_sums(int64_t columns) {
  const int64_t count = 5, many = 9;
  const auto matrix = random_values<T>(many * columns, -1, 1, 106),
             factors = random_values<T>(count, -2, 2, 107);
  const int32_t rows[] = {8, 0, 3, 3, 7};
  std::vector<T> to(static_cast<size_t>(columns) + 1, T(7));
  isa_table().sum_rows(type_of<T>())(factors.data(), rows, count, matrix.data(), columns,
                                     to.data());
  int wrong = 0;
  for (int64_t c = 0; c < columns; ++c) {
    double want = 0;
    for (size_t e = 0; e < 5; ++e)
      want += static_cast<double>(factors[e]) *
              static_cast<double>(matrix[static_cast<size_t>(rows[e] * columns + c)]);
    wrong += close(to[static_cast<size_t>(c)], want) ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(to.back() == T(7));
  isa_table().sum_rows(type_of<T>())(nullptr, nullptr, 0, matrix.data(), columns, to.data());
  CHECK(std::count(to.begin(), to.end() - 1, T(0)) == columns);
}

TEST_CASE("rows of a matrix are summed up with factors, and nothing is written behind them") {
  on_each_isa([] {
    for (int64_t columns : {1, 3, 4, 8, 16, 17, 31, 32, 64, 127, 128, 129, 300}) {
      check_sums<float>(columns);
      check_sums<double>(columns);
    }
  });
}

template <class T>
T joined(BinaryOp op, T sum, T value) {
  switch (op) {
  case BinaryOp::add:
    return static_cast<T>(sum + value);
  case BinaryOp::mul:
    return static_cast<T>(sum * value);
  case BinaryOp::clip_above:
    return sum < value ? sum : value;
  default:
    return value < sum ? sum : value;
  }
}

TEST_CASE_TEMPLATE("rows are joined one after the other, in any number of columns", T, float,
                   double, int32_t, int64_t) {
  constexpr Type type = std::is_same_v<T, float>    ? Type::float32
                        : std::is_same_v<T, double> ? Type::float64
                        : sizeof(T) == 4            ? Type::int32
                                                    : Type::int64;
  on_each_isa([&] {
    for (const int64_t columns : {1, 3, 8, 17, 64, 150})
      for (const int64_t rows : {0, 1, 5})
        for (BinaryOp op :
             {BinaryOp::add, BinaryOp::mul, BinaryOp::clip_above, BinaryOp::clip_below}) {
          CAPTURE(columns);
          std::vector<T> x(static_cast<size_t>(rows * columns));
          for (size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<T>(static_cast<int>(i * 7 % 11) - 4);
          if constexpr (std::is_floating_point_v<T>)
            for (size_t i = 0; i < x.size(); i += 5)
              x[i] = std::numeric_limits<T>::quiet_NaN();
          const T first = 2;
          std::vector<T> got(static_cast<size_t>(columns) + 1, T(99));
          join_rows(op, type)(x.data(), &first, rows, columns, got.data());
          CHECK(got.back() == T(99));
          int wrong = 0;
          for (int64_t c = 0; c < columns; ++c) {
            T want = first;
            for (int64_t r = 0; r < rows; ++r)
              want = joined(op, want, x[static_cast<size_t>(r * columns + c)]);
            const T here = got[static_cast<size_t>(c)];
            wrong += here == want || (here != here && want != want) ? 0 : 1;
          }
          CHECK(wrong == 0);
        }
    const bool has_more = join_rows(BinaryOp::sub, type) != nullptr ||
                          join_rows(BinaryOp::add, Type::uint64) != nullptr;
    CHECK(!has_more);
  });
}

TEST_CASE("softmax of ten million elements keeps its digits") {
  constexpr int64_t n = 10'000'000;
  const auto x = random_values<float>(n, -1, 1, 91);
  double sum = 0;
  for (float value : x)
    sum += std::exp(static_cast<double>(value));
  on_each_isa([&] {
    std::vector<float> y(x.size());
    isa_table().softmax(Type::float32)(x.data(), y.data(), n, 0, 1);
    double worst = 0;
    for (size_t i = 0; i < y.size(); i += 997) {
      const double want = std::exp(static_cast<double>(x[i])) / sum;
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) / want - 1));
    }
    CHECK(worst < 2e-6);
    isa_table().log_softmax(Type::float32)(x.data(), y.data(), n, 0, 1);
    CHECK(std::abs(static_cast<double>(y[0]) - (static_cast<double>(x[0]) - std::log(sum))) < 4e-6);
  });
}

} // namespace
} // namespace troupe::arith::rows_test
