#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/optimizer.hpp"

namespace troupe::arith::optimizer_test {
namespace {

template <class T>
void check_close(const std::vector<T>& got, const std::vector<double>& want) {
  int wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong += !(std::abs(static_cast<double>(got[i]) - want[i]) <=
               (sizeof(T) == 4 ? 2e-6 : 1e-14) * (1 + std::abs(want[i])));
  CHECK(wrong == 0);
}

template <class T>
std::vector<double> doubles(const std::vector<T>& x) {
  return {x.begin(), x.end()};
}

template <class T>
void check_all() {
  for (size_t n : {size_t{0}, size_t{1}, size_t{1003}}) {
    const auto size = static_cast<int64_t>(n);
    const Type type = type_of<T>();
    const auto start = random_values<T>(size, -1, 1, 111),
               grad = random_values<T>(size, -1, 1, 112), slot = random_values<T>(size, -1, 1, 113),
               square = random_values<T>(size, 0, 1, 114);
    std::vector<T> var = start;
    std::vector<double> want = doubles(start);
    isa_table().gradient_descent(type)(var.data(), {0.25}, grad.data(), 0, size / 2);
    isa_table().gradient_descent(type)(var.data(), {0.25}, grad.data(), size / 2, size);
    for (size_t i = 0; i < n; ++i)
      want[i] -= 0.25 * static_cast<double>(grad[i]);
    check_close(var, want);
    for (bool nesterov : {false, true}) {
      std::vector<T> accum = slot, m = slot, v = square;
      var = start;
      isa_table().momentum(type)(var.data(), accum.data(), {0.1}, grad.data(), {0.9}, nesterov, 0,
                                 size);
      std::vector<double> a = doubles(slot);
      want = doubles(start);
      for (size_t i = 0; i < n; ++i) {
        const double g = static_cast<double>(grad[i]);
        a[i] = a[i] * 0.9 + g;
        want[i] -= nesterov ? 0.1 * g + 0.1 * 0.9 * a[i] : 0.1 * a[i];
      }
      check_close(var, want);
      check_close(accum, a);
      var = start;
      const AdamRates rates = {{0.9 * 0.9}, {0.999 * 0.999}, {0.01}, {0.9}, {0.999}, {1e-3}};
      isa_table().adam(type)(var.data(), m.data(), v.data(), rates, grad.data(), nesterov, 0, size);
      std::vector<double> first = doubles(slot), second = doubles(square);
      want = doubles(start);
      const double alpha = 0.01 * std::sqrt(1 - 0.999 * 0.999) / (1 - 0.9 * 0.9);
      for (size_t i = 0; i < n; ++i) {
        const double g = static_cast<double>(grad[i]);
        first[i] = 0.9 * first[i] + 0.1 * g;
        second[i] = 0.999 * second[i] + 0.001 * g * g;
        const double step = nesterov ? first[i] * 0.9 + 0.1 * g : first[i];
        want[i] -= alpha * step / (std::sqrt(second[i]) + 1e-3);
      }
      check_close(var, want);
      check_close(m, first);
      check_close(v, second);
    }
  }
}

TEST_CASE("optimizers update variables and slots by their formulas") {
  on_each_isa([] {
    check_all<float>();
    check_all<double>();
    CHECK((isa_table().gradient_descent(Type::int32) == nullptr));
  });
}

} // namespace
} // namespace troupe::arith::optimizer_test
