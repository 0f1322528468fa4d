#include "kernels/arith/decompose.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <algorithm>

namespace troupe::arith::decompose_test {
namespace {

/// Row-major.
struct Matrix {
  int64_t rows, cols;
  std::vector<double> elements;

  Matrix(int64_t m, int64_t n) : rows(m), cols(n), elements(static_cast<size_t>(m * n)) {}
  double& operator()(int64_t i, int64_t j) { return elements[static_cast<size_t>(i * cols + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return elements[static_cast<size_t>(i * cols + j)];
  }
  double* data() { return elements.data(); }
};

Matrix random_matrix(int64_t m, int64_t n, int seed) {
  Matrix out(m, n);
  out.elements = random_values<double>(m * n, -1, 1, static_cast<unsigned>(seed));
  return out;
}

Matrix transposed(const Matrix& a) {
  Matrix out(a.cols, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.cols; ++j)
      out(j, i) = a(i, j);
  return out;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.cols; ++k)
      for (int64_t j = 0; j < b.cols; ++j)
        out(i, j) += a(i, k) * b(k, j);
  return out;
}

/// The largest difference of two elements.
double distance(const Matrix& a, const Matrix& b) {
  REQUIRE(a.rows == b.rows);
  REQUIRE(a.cols == b.cols);
  double most = 0;
  for (size_t i = 0; i < a.elements.size(); ++i) {
    const double difference = std::abs(a.elements[i] - b.elements[i]);
    most = std::isnan(most) || difference <= most ? most : difference;
  }
  return most;
}

/// One triangle of a; ones on its diagonal, if wanted.
Matrix triangle_of(const Matrix& a, Triangle triangle) {
  Matrix out(a.rows, a.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.cols; ++j)
      if (triangle == Triangle::upper ? j >= i : j <= i)
        out(i, j) = triangle == Triangle::unit_lower && i == j ? 1 : a(i, j);
  return out;
}

Matrix identity(int64_t n) {
  Matrix out(n, n);
  for (int64_t i = 0; i < n; ++i)
    out(i, i) = 1;
  return out;
}

constexpr double tolerance = 1e-10;
constexpr int64_t sizes[] = {1, 2, 3, 7, 16, 33, 70, 131};

TEST_CASE("the factors of an elimination give the matrix with its rows in another order") {
  on_each_isa([] {
    for (int64_t n : sizes) {
      CAPTURE(n);
      const Matrix a = random_matrix(n, n, 81);
      Matrix factors = a, rows(n, n);
      std::vector<int64_t> order(static_cast<size_t>(n));
      lu(factors.data(), n, order.data());
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          rows(i, j) = a(order[static_cast<size_t>(i)], j);
      const Matrix product =
          triangle_of(factors, Triangle::unit_lower) * triangle_of(factors, Triangle::upper);
      CHECK(distance(product, rows) < tolerance);
      std::sort(order.begin(), order.end());
      for (int64_t i = 0; i < n; ++i)
        CHECK(order[static_cast<size_t>(i)] == i);
    }
  });
}

TEST_CASE("a singular matrix leaves a zero on the diagonal of its factors") {
  on_each_isa([] {
    Matrix a(2, 2);
    a.elements = {1, 2, 2, 4};
    int64_t order[2];
    lu(a.data(), 2, order);
    CHECK(a(1, 1) == 0);
  });
}

TEST_CASE("Cholesky's factor gives the matrix, and what is not positive definite has none") {
  on_each_isa([] {
    for (int64_t n : sizes) {
      CAPTURE(n);
      const Matrix x = random_matrix(n, n, 82);
      Matrix a = x * transposed(x);
      for (int64_t i = 0; i < n; ++i)
        a(i, i) += 1;
      Matrix l = a;
      for (int64_t j = 1; j < n; ++j)
        l(0, j) = NAN; // above the diagonal: not read
      CHECK(cholesky(l.data(), n));
      l = triangle_of(l, Triangle::lower);
      CHECK(distance(l * transposed(l), a) < tolerance);
    }
    Matrix indefinite(2, 2);
    indefinite.elements = {1, 0, 2, 1};
    CHECK_FALSE(cholesky(indefinite.data(), 2));
  });
}

TEST_CASE(
    "a triangle solves for right sides of any width, turned or not, and is all that is read") {
  on_each_isa([] {
    for (int64_t n : sizes)
      for (int64_t columns : {int64_t{1}, int64_t{5}, int64_t{64}})
        for (Triangle triangle : {Triangle::lower, Triangle::upper, Triangle::unit_lower})
          for (bool transpose : {false, true}) {
            CAPTURE(n);
            CAPTURE(columns);
            CAPTURE(static_cast<int>(triangle));
            CAPTURE(transpose);
            Matrix a = random_matrix(n, n, 83);
            for (double& x : a.elements)
              x /= static_cast<double>(n);
            for (int64_t i = 0; i < n; ++i)
              a(i, i) += 2;
            if (n > 1)
              (triangle == Triangle::upper ? a(n - 1, 0) : a(0, n - 1)) = NAN;
            const Matrix b = random_matrix(n, columns, 84);
            Matrix x = b, solved = triangle_of(a, triangle);
            triangular_solve(a.data(), n, triangle, transpose, x.data(), columns);
            if (transpose)
              solved = transposed(solved);
            CHECK(distance(solved * x, b) < tolerance);
          }
  });
}

/// What was computed in float, as doubles.
Matrix of(const std::vector<float>& elements, int64_t rows, int64_t cols) {
  Matrix out(rows, cols);
  out.elements.assign(elements.begin(), elements.end());
  return out;
}

TEST_CASE("floats are eliminated as doubles are") {
  on_each_isa([] {
    for (int64_t n : sizes) {
      CAPTURE(n);
      const double close = 1e-5 * static_cast<double>(n);
      Matrix a = random_matrix(n, n, 88);
      for (int64_t i = 0; i < n; ++i)
        a(i, i) += 4;
      std::vector<float> factors(a.elements.begin(), a.elements.end());
      a = of(factors, n, n);
      Matrix rows(n, n);
      std::vector<int64_t> order(static_cast<size_t>(n));
      lu(factors.data(), n, order.data());
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          rows(i, j) = a(order[static_cast<size_t>(i)], j);
      const Matrix found = of(factors, n, n);
      CHECK(distance(triangle_of(found, Triangle::unit_lower) * triangle_of(found, Triangle::upper),
                     rows) < close);

      const Matrix square = a * transposed(a);
      std::vector<float> l(square.elements.begin(), square.elements.end());
      CHECK(cholesky(l.data(), n));
      const Matrix factor = triangle_of(of(l, n, n), Triangle::lower);
      CHECK(distance(factor * transposed(factor), square) < 10 * close);

      for (bool transpose : {false, true}) {
        const std::vector<float> b = random_values<float>(n * 3, -1, 1, 89);
        std::vector<float> x = b;
        triangular_solve(l.data(), n, Triangle::lower, transpose, x.data(), 3);
        CHECK(distance((transpose ? transposed(factor) : factor) * of(x, n, 3), of(b, n, 3)) <
              close);
      }
    }
  });
}

TEST_CASE("eigenvalues come smallest first, with orthonormal vectors, from the lower triangle") {
  on_each_isa([] {
    for (int64_t n : sizes) {
      CAPTURE(n);
      const Matrix x = random_matrix(n, n, 85);
      Matrix a = x, v(n, n), scaled(n, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          a(i, j) = x(i, j) + x(j, i);
      Matrix lower = a;
      for (int64_t j = 1; j < n; ++j)
        lower(0, j) = 1e9;
      std::vector<double> values(static_cast<size_t>(n)), alone = values;
      CHECK(self_adjoint_eig(lower.data(), n, values.data(), v.data()));
      CHECK(self_adjoint_eig(lower.data(), n, alone.data(), nullptr));
      CHECK(std::is_sorted(values.begin(), values.end()));
      for (int64_t j = 0; j < n; ++j) {
        CHECK(std::abs(values[static_cast<size_t>(j)] - alone[static_cast<size_t>(j)]) < tolerance);
        for (int64_t i = 0; i < n; ++i)
          scaled(i, j) = v(i, j) * values[static_cast<size_t>(j)];
      }
      CHECK(distance(a * v, scaled) < tolerance);
      CHECK(distance(transposed(v) * v, identity(n)) < tolerance);
    }
    Matrix a(3, 3), v(3, 3);
    a(1, 0) = NAN;
    double values[3];
    CHECK_FALSE(self_adjoint_eig(a.data(), 3, values, v.data()));
  });
}

TEST_CASE("orthonormal columns times a triangle give the matrix, of any form") {
  on_each_isa([] {
    for (int64_t m : sizes)
      for (int64_t n : sizes)
        for (bool full : {false, true}) {
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(full);
          const int64_t inner = full ? m : std::min(m, n);
          const Matrix a = random_matrix(m, n, 86);
          Matrix q(m, inner), r(inner, n);
          qr(a.elements.data(), m, n, inner, q.data(), r.data());
          CHECK(distance(q * r, a) < tolerance);
          CHECK(distance(transposed(q) * q, identity(inner)) < tolerance);
          CHECK(distance(triangle_of(r, Triangle::upper), r) == 0);
        }
  });
}

TEST_CASE("singular values and vectors give the matrix, of any form") {
  on_each_isa([] {
    for (auto [m, n] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 5}, {5, 1}, {7, 4}, {33, 40}, {70, 20}})
      for (bool full : {false, true}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(full);
        const int64_t p = std::min(m, n);
        const Matrix a = random_matrix(m, n, 87);
        Matrix u(m, full ? m : p), v(n, full ? n : p), s(u.cols, v.cols);
        std::vector<double> values(static_cast<size_t>(p)), alone = values;
        svd(a.elements.data(), m, n, full, values.data(), u.data(), v.data());
        svd(a.elements.data(), m, n, full, alone.data(), nullptr, nullptr);
        CHECK(std::is_sorted(values.rbegin(), values.rend()));
        for (int64_t i = 0; i < p; ++i) {
          s(i, i) = values[static_cast<size_t>(i)];
          CHECK(std::abs(s(i, i) - alone[static_cast<size_t>(i)]) < tolerance);
        }
        CHECK(distance(u * s * transposed(v), a) < tolerance);
        CHECK(distance(transposed(u) * u, identity(u.cols)) < tolerance);
        CHECK(distance(transposed(v) * v, identity(v.cols)) < tolerance);
      }
  });
}

} // namespace
} // namespace troupe::arith::decompose_test
