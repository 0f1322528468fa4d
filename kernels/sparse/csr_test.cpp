// Sparse matrices by compressed rows (CSR); values are those of TensorFlow 2.21, but for sums,
// scaling and softmax, which it has on GPUs only.
#include <random>

#include "core/tensor/variant.hpp"
#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace csr_ops {
TROUPE_OPS_IN_GRAPHS(
    "CSRSparseMatrixComponents CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor "
    "DenseToCSRSparseMatrix SparseMatrixAdd SparseMatrixMatMul SparseMatrixMul SparseMatrixNNZ "
    "SparseMatrixOrderingAMD SparseMatrixSoftmax SparseMatrixSoftmaxGrad "
    "SparseMatrixSparseCholesky SparseMatrixSparseMatMul SparseMatrixTranspose SparseMatrixZeros "
    "SparseTensorToCSRSparseMatrix");
} // namespace csr_ops

namespace troupe {
namespace {

using list::testing::Attrs;
using list::testing::lit;
using list::testing::OpRunner;
using Texts = std::vector<std::string>;

struct Csr : OpRunner {
  /// Of all elements that are not 0.
  Tensor make(const std::string& dense) {
    const Tensor tensor = lit(dense);
    const Tensor places = run("Where", {tensor}, {});
    return run("DenseToCSRSparseMatrix", {tensor, places});
  }
  static Attrs type(DType dtype) { return {{"type", dtype}}; }
  std::string dense(const Tensor& matrix, DType dtype = DType::float32) {
    return text("CSRSparseMatrixToDense", {matrix}, type(dtype));
  }
  Texts components(const Tensor& matrix, std::int32_t index = 0, DType dtype = DType::float32) {
    return texts("CSRSparseMatrixComponents", {matrix, Tensor::scalar(index)}, type(dtype));
  }
  Texts texts(const std::string& op, std::vector<Tensor> inputs, const Attrs& attrs) {
    Texts out;
    for (const Tensor& one : run_all(op, std::move(inputs), attrs))
      out.push_back(to_literal(one));
    return out;
  }
  std::string product(const Tensor& a, const std::string& b, Attrs attrs = {}) {
    return text("SparseMatrixMatMul", {a, lit(b)}, attrs);
  }
  std::string failed_product(const Tensor& a, const std::string& b, Attrs attrs = {}) {
    return error("SparseMatrixMatMul", {a, lit(b)}, attrs);
  }

  const std::string a_text = "f32[3,3] 1 0 2 0 0 0 0 3 4", b_text = "f32[3,3] 0 5 0 6 0 0 0 7 8";
  const std::string d_text = "f32[3,2] 1 2 3 4 5 6";
  const std::string c_text = "c64[2,2] (1,1) (0,0) (0,2) (3,0)";
};

TEST_CASE_FIXTURE(Csr, "csr: dense and sparse tensors become matrices and come back") {
  const Tensor a = make(a_text);
  CHECK(a.shape().is_scalar());
  CHECK(dense(a) == a_text);
  CHECK(components(a) == Texts{"i32[4] 0 2 2 4", "i32[4] 0 2 1 2", "f32[4] 1 2 3 4"});
  CHECK(text("SparseMatrixNNZ", {a}) == "i32[] 4");
  const Tensor batch = make("f32[2,3,3] 1 0 2 0 0 0 0 3 4 0 5 0 6 0 0 0 7 8");
  CHECK(text("SparseMatrixNNZ", {batch}) == "i32[2] 4 4");
  CHECK(components(batch, 1) == Texts{"i32[4] 0 1 2 4", "i32[4] 1 0 1 2", "f32[4] 5 6 7 8"});
  const Texts entries{"i64[8,3] 0 0 0 0 0 2 0 2 1 0 2 2 1 0 1 1 1 0 1 2 1 1 2 2",
                      "f32[8] 1 2 3 4 5 6 7 8", "i64[3] 2 3 3"};
  CHECK(texts("CSRSparseMatrixToSparseTensor", {batch}, type(DType::float32)) == entries);
  const Tensor again =
      run("SparseTensorToCSRSparseMatrix", {lit(entries[0]), lit(entries[1]), lit(entries[2])});
  CHECK(dense(again) == "f32[2,3,3] 1 0 2 0 0 0 0 3 4 0 5 0 6 0 0 0 7 8");
  for (const DType dtype : {DType::float64, DType::complex128}) {
    const Tensor zeros = run("SparseMatrixZeros", {lit("i64[3] 1 2 1")}, type(dtype));
    CHECK(text("SparseMatrixNNZ", {zeros}) == "i32[1] 0");
    CHECK(dense(zeros, dtype) ==
          (dtype == DType::float64 ? "f64[1,2,1] 0 0" : "c128[1,2,1] (0,0) (0,0)"));
  }
}

TEST_CASE_FIXTURE(Csr, "csr: matrices without rows, columns or members") {
  for (const char* empty : {"f32[0,3]", "f32[3,0]", "f32[0,0]", "f32[0,2,2]", "f32[2,0,2]"}) {
    CAPTURE(empty);
    const Tensor m = make(empty);
    CHECK(dense(m) == empty);
    const Tensor flipped = run("SparseMatrixTranspose", {m}, type(DType::float32));
    CHECK(dense(run("SparseMatrixTranspose", {flipped}, type(DType::float32))) == empty);
    CHECK(dense(run("SparseMatrixSparseMatMul", {m, flipped}, type(DType::float32)))
              .starts_with("f32["));
  }
  CHECK(product(make("f32[2,0]"), "f32[0,3]") == "f32[2,3] 0 0 0 0 0 0");
  const Tensor none = make("f32[0,0]");
  CHECK(text("SparseMatrixOrderingAMD", {none}) == "i32[0]");
  CHECK(dense(run("SparseMatrixSparseCholesky", {none, lit("i32[0]")}, type(DType::float32))) ==
        "f32[0,0]");
}

TEST_CASE_FIXTURE(Csr, "csr: products with dense matrices") {
  const Tensor a = make(a_text);
  CHECK(product(a, d_text) == "f32[3,2] 11 14 0 0 29 36");
  CHECK(product(a, d_text, {{"transpose_a", true}, {"transpose_output", true}}) ==
        "f32[2,3] 1 15 22 2 18 28");
  CHECK(product(a, "f32[2,3] 1 3 5 2 4 6", {{"transpose_b", true}}) == "f32[3,2] 11 14 0 0 29 36");
  const Tensor c = make(c_text);
  const std::string e = "c64[2,2] (1,0) (0,1) (2,0) (1,-1)";
  CHECK(product(c, e) == "c64[2,2] (1,1) (-1,1) (6,2) (1,-3)");
  CHECK(product(c, e, {{"adjoint_a", true}, {"adjoint_b", true}, {"conjugate_output", true}}) ==
        "c64[2,2] (-1,1) (4,4) (0,3) (3,-3)");
  CHECK(product(make("f32[2,3,3] 1 0 2 0 0 0 0 3 4 0 5 0 6 0 0 0 7 8"),
                "f32[2,3,2] 1 2 3 4 5 6 2 4 6 8 10 12") ==
        "f32[2,3,2] 11 14 0 0 29 36 30 40 12 24 122 152");
}

TEST_CASE_FIXTURE(Csr, "csr: products with sparse matrices") {
  const Tensor a = make(a_text), b = make(b_text), c = make(c_text);
  CHECK(components(run("SparseMatrixSparseMatMul", {a, b}, type(DType::float32))) ==
        Texts{"i32[4] 0 2 2 5", "i32[5] 1 2 0 1 2", "f32[5] 19 16 18 28 32"});
  CHECK(dense(run("SparseMatrixSparseMatMul", {c, c},
                  {{"type", DType::complex64}, {"adjoint_a", true}, {"transpose_b", true}}),
              DType::complex64) == "c64[2,2] (2,0) (2,-4) (0,0) (9,0)");
  // Sums that are 0 stay entries.
  const Tensor cancels = run("SparseMatrixSparseMatMul",
                             {make("f32[1,2] 1 1"), make("f32[2,1] 1 -1")}, type(DType::float32));
  CHECK(components(cancels) == Texts{"i32[2] 0 1", "i32[1] 0", "f32[1] 0"});
  // A row with few of many columns: those of two rows, the later ones first.
  std::string many = "f32[3,40]";
  for (int i = 0; i < 120; ++i)
    str_append(many, i == 30 || i == 43 || i >= 80 ? " 1" : " 0");
  CHECK(components(run("SparseMatrixSparseMatMul", {make("f32[1,3] 2 3 0"), make(many)},
                       type(DType::float32))) == Texts{"i32[2] 0 2", "i32[2] 3 30", "f32[2] 3 2"});
  // Rows with few terms and with many, of matrices with few entries and with many.
  std::minstd_rand random(7);
  for (const int of_a : {1, 20, 90})
    for (const int of_b : {1, 20, 90})
      for (const int columns : {3, 64, 65, 700}) {
        CAPTURE(of_a);
        CAPTURE(of_b);
        CAPTURE(columns);
        const auto matrix = [&](int rows, int width, int percent) {
          std::string out = str_cat("f32[", rows, ",", width, "]");
          for (int i = 0; i < rows * width; ++i)
            str_append(out, " ",
                       random() % 100 < static_cast<unsigned>(percent) ? random() % 9 : 0);
          return out;
        };
        const Tensor left = make(matrix(6, 30, of_a));
        const std::string right = matrix(30, columns, of_b);
        CHECK(dense(run("SparseMatrixSparseMatMul", {left, make(right)}, type(DType::float32))) ==
              product(left, right));
      }
  CHECK(components(run("SparseMatrixSparseMatMul",
                       {make("f32[1,1] 1e-30"), make("f32[1,1] -1e-30")}, type(DType::float32)))
            .back() == "f32[1] -0");
  // Far columns cost no more than near ones.
  const Tensor far =
      run("SparseTensorToCSRSparseMatrix",
          {lit("i64[2,2] 0 0 1 2147483647"), lit("f32[2] 2 3"), lit("i64[2] 2 1000000000000")});
  CHECK(components(run("SparseMatrixSparseMatMul", {make("f32[2,2] 0 1 1 1"), far},
                       type(DType::float32))) ==
        Texts{"i32[3] 0 1 3", "i32[3] 2147483647 0 2147483647", "f32[3] 3 2 3"});
}

TEST_CASE_FIXTURE(Csr, "csr: transposes, sums and scaling") {
  const Tensor a = make(a_text), b = make(b_text), c = make(c_text);
  CHECK(dense(run("SparseMatrixTranspose", {a}, type(DType::float32))) ==
        "f32[3,3] 1 0 0 0 0 3 2 0 4");
  CHECK(dense(run("SparseMatrixTranspose", {c}, {{"type", DType::complex64}, {"conjugate", true}}),
              DType::complex64) == "c64[2,2] (1,-1) (0,-2) (0,0) (3,-0)");
  CHECK(dense(run("Conj", {c}), DType::complex64) == "c64[2,2] (1,-1) (0,0) (0,-2) (3,-0)");
  CHECK(dense(run("Conj", {a})) == a_text);
  const Tensor sum = run("SparseMatrixAdd", {a, b, lit("f32[] 2"), lit("f32[] -1")});
  CHECK(components(sum) == Texts{"i32[4] 0 3 4 6", "i32[6] 0 1 2 0 1 2", "f32[6] 2 -5 4 -6 -1 0"});
  CHECK(dense(run("SparseMatrixMul", {a, lit("f32[] 3")})) == "f32[3,3] 3 0 6 0 0 0 0 9 12");
  CHECK(dense(run("SparseMatrixMul", {make("f32[2,1,2] 1 0 2 3"), lit("f32[2,1,1] 5 7")})) ==
        "f32[2,1,2] 5 0 14 21");
}

TEST_CASE_FIXTURE(Csr, "csr: softmax among a row's entries, and its gradient") {
  const Tensor softmax = run("SparseMatrixSoftmax", {make("f64[3,3] 1 0 1 0 0 0 2000 2000 2000")},
                             type(DType::float64));
  const std::string third = "0.3333333333333333";
  CHECK(dense(softmax, DType::float64) ==
        str_cat("f64[3,3] 0.5 0 0.5 0 0 0 ", third, " ", third, " ", third));
  // The gradient has an entry that the softmax lacks, and lacks one that it has.
  CHECK(dense(run("SparseMatrixSoftmaxGrad", {softmax, make("f64[3,3] 4 9 0 9 0 0 3 3 3")},
                  type(DType::float64)),
              DType::float64) == "f64[3,3] 1 0 -1 0 0 0 0 0 0");
}

TEST_CASE_FIXTURE(Csr, "csr: Cholesky factors by an order that keeps them sparse") {
  const Tensor s = make("f64[5,5] 4 1 0 0 1 1 5 0 0 0 0 0 3 1 0 0 0 1 4 0 1 0 0 0 6");
  const Tensor order = run("SparseMatrixOrderingAMD", {s});
  CHECK(to_literal(order) == "i32[5] 4 1 0 2 3");
  const Tensor factor = run("SparseMatrixSparseCholesky", {s, order}, type(DType::float64));
  const auto parts =
      run_all("CSRSparseMatrixComponents", {factor, lit("i32[] 0")}, type(DType::float64));
  CHECK(to_literal(parts[0]) == "i32[6] 0 1 2 5 6 8");
  CHECK(to_literal(parts[1]) == "i32[8] 0 1 0 1 2 3 3 4");
  const double expected[] = {2.44948974, 2.23606798, 0.40824829,  0.447213595,
                             1.90613046, 1.73205081, 0.577350269, 1.91485422};
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(parts[2].data<double>()[i] == doctest::Approx(expected[i]).epsilon(1e-8));
  const Tensor hermitian = make("c64[2,2] (4,0) (2,2) (2,-2) (3,0)");
  CHECK(dense(run("SparseMatrixSparseCholesky", {hermitian, lit("i32[2] 0 1")},
                  type(DType::complex64)),
              DType::complex64) == "c64[2,2] (2,-0) (0,0) (1,-1) (1,-0)");
  CHECK(text("SparseMatrixOrderingAMD",
             {make("f32[8,8] 1 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 1 0 1 0 0 0 0 0 1 0 0 1 0 1 0 0 "
                   "1 0 0 0 1 0 0 0 1 0 0 1 0 1 0 0 1 0 0 0 0 0 1 0 1 0 0 0 0 0 0 1")}) ==
        "i32[8] 1 2 4 3 5 6 7 0");
}

TEST_CASE_FIXTURE(Csr, "csr: operands that do not fit are refused with TensorFlow's sentences") {
  const Tensor a = make(a_text);
  CHECK(failed_product(a, "f32[2,3] 1 2 3 4 5 6") ==
        "Inner product dimensions of A and B do not agree. Shapes are: [3,3] vs. [2,3]");
  CHECK(failed_product(a, "f64[3,2] 1 2 3 4 5 6") ==
        "Input types don't match.  a.dtype == float vs. b.dtype == double");
  CHECK(failed_product(a, "f32[1,3,1] 1 2 3") == "Ranks of a and b must match, saw: 2 vs. 3.");
  CHECK(failed_product(a, d_text, {{"transpose_a", true}, {"adjoint_a", true}}) ==
        "Only one of adjoint_a and transpose_a may be true.");
  CHECK(error("CSRSparseMatrixToDense", {a}, type(DType::float64)) ==
        "Asked for a CSRSparseMatrix of type double but saw dtype: float");
  CHECK(error("CSRSparseMatrixComponents", {a, lit("i32[] 1")}, type(DType::float32)) ==
        "index (1) not in [0, 1)");
  CHECK(error("SparseMatrixSparseMatMul", {a, make("f32[2,2] 1 0 0 1")}, type(DType::float32)) ==
        "Inner product dimensions of A and B do not agree. Shapes are: [3,3] vs. [2,2]");
  CHECK(error("SparseMatrixTranspose", {a}, type(DType::float64)) ==
        "dtype of input is not equal to 'type': float vs. double");
  CHECK(error("SparseMatrixAdd", {a, make("f32[2,2] 1 0 0 1"), lit("f32[] 1"), lit("f32[] 1")}) ==
        "Incompatible shapes of a and b, a.shape == [3,3], b.shape == [2,2]");
  CHECK(error("SparseMatrixSparseCholesky", {make("f32[2,2] 1 2 2 1"), lit("i32[2] 0 1")},
              type(DType::float32)) ==
        "Sparse Cholesky factorization failed for batch index 0. The input might not be valid.");
  CHECK(error("SparseMatrixSparseCholesky", {a, lit("i32[3] 0 1 1")}, type(DType::float32)) ==
        "permutation must name every row once; element 2 is 1 and there are 3 rows");
  CHECK(error("SparseMatrixOrderingAMD", {make("f32[2,3] 1 2 3 2 1 3")}) ==
        "sparse matrix must be square; got: 2 != 3");
}

TEST_CASE_FIXTURE(Csr, "csr: entries outside, out of order, or of no matrix at all") {
  CHECK(error("DenseToCSRSparseMatrix", {lit(d_text), lit("i64[1,2] 3 0")}) ==
        "indices[0] = [3, 0] does not index into param shape [3,2], node name: node");
  CHECK(error("DenseToCSRSparseMatrix", {lit(d_text), lit("i64[2,2] 2 0 0 1")}) ==
        "indices[1] = [0,1] is out of order: a sparse matrix takes entries in order of their rows. "
        "Use `tf.sparse.reorder` first");
  CHECK(error("SparseTensorToCSRSparseMatrix",
              {lit("i64[1,3] 0 0 -1"), lit("f32[1] 1"), lit("i64[3] 1 1 1")}) ==
        "Sparse index tuple indices[0, :] = [0, 0, -1] is out of bounds");
  CHECK(error("SparseMatrixZeros", {lit("i64[2] 3 -1")}, type(DType::float32)) ==
        "Dimension -1 must be >= 0");
  CHECK(error("SparseMatrixZeros", {lit("i64[3] 4611686018427387904 4 1")}, type(DType::float32)) !=
        "");
  const Tensor list = run("EmptyTensorList", {lit("i32[] -1"), lit("i32[] -1")},
                          {{"element_dtype", DType::float32}});
  CHECK(error("SparseMatrixNNZ", {list}) ==
        "Could not retrieve Variant input 0: it holds tensorflow::TensorList, not a sparse matrix");
}

TEST_CASE_FIXTURE(Csr, "csr: a matrix is read back from its bytes, one that is none is refused") {
  const Tensor batch = make("f32[2,2,2] 1 0 2 3 0 0 0 4");
  auto parts = parts_of(batch.data<Variant>()[0]);
  REQUIRE(parts.ok());
  CHECK(parts->metadata == std::string("\1\0\0\0\1\0\0\0", 8));
  const auto read = [&](VariantParts changed) {
    return Tensor::scalar(make_variant("tensorflow::CSRSparseMatrix", std::move(changed)));
  };
  CHECK(dense(read(*parts)) == "f32[2,2,2] 1 0 2 3 0 0 0 4");
  const auto refused = [&](std::size_t i, const std::string& instead) {
    VariantParts changed = *parts;
    changed.tensors[i] = lit(instead);
    return error("SparseMatrixNNZ", {read(std::move(changed))});
  };
  const std::string none = "the bytes of a variant of type 'tensorflow::CSRSparseMatrix' make no "
                           "matrix: ";
  CHECK(refused(0, "i64[3] 2 2 -2") == "Dimension -2 must be >= 0");
  CHECK(refused(0, "i64[3] 9223372036854775807 2 2") != "");
  CHECK(refused(1, "i32[3] 0 5 4") ==
        none + "the batch pointers do not ascend from 0 to the number of entries");
  CHECK(refused(2, "i32[6] 0 1 3 0 2 1") ==
        none + "the row pointers do not ascend from 0 to the number of the matrix's entries");
  CHECK(refused(2, "i32[5] 0 1 3 0 1") ==
        none + "there are not as many pointers as matrices and rows");
  CHECK(refused(3, "i32[4] 0 0 2 1") == none + "column 2 is none of 2");
  CHECK(refused(4, "f32[3] 1 2 3") ==
        none + "values are as many floats or complex numbers as there are columns");
  CHECK(refused(4, "i32[4] 1 2 3 4") ==
        none + "values are as many floats or complex numbers as there are columns");
}

} // namespace
} // namespace troupe
