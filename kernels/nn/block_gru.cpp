// GRUBlockCell: one time of a gated recurrent unit, and its gradient.
//
//   [r, u] = sigmoid([x, h_prev] w_ru + b_ru)
//   c = tanh([x, r h_prev] w_c + b_c)              h = u h_prev + (1 - u) c
#include <algorithm>
#include <array>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/linalg/internal/product.hpp"
#include "kernels/nn/internal/cell.hpp"

namespace troupe::nn_block_gru {
namespace {

using arith::BinaryOp;
using arith::UnaryOp;

struct Sizes {
  std::int64_t batch = 0, in = 0, cell = 0;
};

Result<Sizes> check_inputs(KernelContext& c) {
  const auto shape = [&](int i) -> const Shape& { return c.input(i).shape(); };
  if (shape(0).rank() != 2)
    return invalid_argument(str_cat("Rank of x must be 2, got ", shape(0).rank()));
  if (shape(1).rank() != 2)
    return invalid_argument(str_cat("Rank of h_prev must be 2, got ", shape(1).rank()));
  const Sizes s{shape(0)[0], shape(0)[1], shape(1)[1]};
  if (s.cell > INT32_MAX || s.in > INT32_MAX)
    return invalid_argument("cells and inputs have at most 2^31 - 1 elements");
  TROUPE_TRY(nn::check_dims("h_prev", ".dims", shape(1),
                            {{"batch_size", s.batch}, {"cell_size", s.cell}}));
  TROUPE_TRY(nn::check_dims(
      "w_ru", ".dim_size", shape(2),
      {{"input_size + cell_size", s.in + s.cell}, {"cell_size * 2", 2 * s.cell}}, "w_ru_"));
  TROUPE_TRY(nn::check_dims("w_c", ".dim_size", shape(3),
                            {{"input_size + cell_size", s.in + s.cell}, {"cell_size", s.cell}},
                            "w_c"));
  TROUPE_TRY(
      nn::check_dims("b_ru", ".dim_size", shape(4), {{"cell_size * 2", 2 * s.cell}}, "b_ru"));
  TROUPE_TRY(nn::check_dims("b_c", ".dim_size", shape(5), {{"cell_size", s.cell}}, "b_c"));
  return s;
}

Result<Tensor> allocate_matrix(KernelContext& c, std::int64_t rows, std::int64_t columns) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{rows, columns}));
  return c.allocate_temp(DType::float32, shape);
}

float* data(Tensor& tensor) {
  return tensor.mutable_data<float>().data();
}
const float* input(KernelContext& c, int i) {
  return c.input(i).data<float>().data();
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, check_inputs(c));
  std::array<float*, 4> outputs{};
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, c.input(1).shape()));
    outputs[static_cast<std::size_t>(i)] = data(out);
  }
  const auto [r, u, candidate, h] = outputs;
  const float *x = input(c, 0), *h_prev = input(c, 1), *b_ru = input(c, 4), *b_c = input(c, 5);
  TROUPE_ASSIGN(Tensor joined, allocate_matrix(c, s.batch, s.in + s.cell));
  TROUPE_ASSIGN(Tensor gates, allocate_matrix(c, s.batch, 2 * s.cell));
  const arith::GemmShape product{.m = s.batch, .n = 2 * s.cell, .k = s.in + s.cell};
  TROUPE_ASSIGN(const auto add_bias, arith::bias_add(DType::float32));
  if (s.batch * s.cell == 0)
    return {};
  const std::int64_t n = s.cell;
  nn::concat_rows(s.batch, x, s.in, h_prev, n, data(joined));
  linalg::product(c, arith::Type::float32, product, data(joined), input(c, 2), data(gates));
  float* gate = data(gates);
  float* reset = data(joined) + s.in; // in the place of h_prev
  nn::for_rows(c, s.batch, n, 3, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * n, rows = end - begin;
    add_bias(gate, b_ru, gate, 2 * n, begin, end);
    nn::copy_rows(rows, n, gate + 2 * first, 2 * n, r + first, n);
    nn::copy_rows(rows, n, gate + 2 * first + n, 2 * n, u + first, n);
    nn::apply(UnaryOp::sigmoid, r + first, rows * n, r + first);
    nn::apply(UnaryOp::sigmoid, u + first, rows * n, u + first);
    for (std::int64_t b = begin; b < end; ++b)
      nn::apply(BinaryOp::mul, h_prev + b * n, r + b * n, n, reset + b * (s.in + n));
  });
  linalg::product(c, arith::Type::float32, {.m = s.batch, .n = n, .k = s.in + n}, data(joined),
                  input(c, 3), candidate);
  nn::for_rows(c, s.batch, n, 2, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * n, count = (end - begin) * n;
    float *from = candidate + first, *to = h + first;
    add_bias(candidate, b_c, candidate, n, begin, end);
    nn::apply(UnaryOp::tanh, from, count, from);
    nn::apply(BinaryOp::sub, h_prev + first, from, count, to);
    nn::apply(BinaryOp::mul, u + first, to, count, to);
    nn::apply(BinaryOp::add, to, from, count, to);
  });
  return {};
}

Status compute_grad(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, check_inputs(c));
  constexpr const char* names[] = {"r", "u", "c", "d_h"};
  constexpr const char* rank_names[] = {"r", "u", "w_c", "d_h"}; // as TensorFlow says
  for (int i = 0; i < 4; ++i)
    TROUPE_TRY(nn::check_dims(names[i], ".dims", c.input(6 + i).shape(),
                              {{"batch_size", s.batch}, {"cell_size", s.cell}}, rank_names[i]));
  TROUPE_ASSIGN(Tensor d_x, c.allocate_output(0, c.input(0).shape()));
  TROUPE_ASSIGN(Tensor d_h_prev, c.allocate_output(1, c.input(1).shape()));
  TROUPE_ASSIGN(Tensor d_c_bar, c.allocate_output(2, c.input(1).shape()));
  TROUPE_ASSIGN(const Shape gates_shape, Shape::make(std::array{s.batch, 2 * s.cell}));
  TROUPE_ASSIGN(Tensor d_gates, c.allocate_output(3, gates_shape));
  TROUPE_ASSIGN(Tensor by_candidate, allocate_matrix(c, s.batch, s.in + s.cell));
  TROUPE_ASSIGN(Tensor by_gates, allocate_matrix(c, s.batch, s.in + s.cell));
  const float *h_prev = input(c, 1), *r = input(c, 6), *u = input(c, 7), *candidate = input(c, 8);
  const float* d_h = input(c, 9);
  float *d_c = data(d_c_bar), *gates = data(d_gates);
  if (s.batch * s.cell == 0) {
    std::ranges::fill(d_x.mutable_data<float>(), 0.0F);
    return {};
  }
  const std::int64_t n = s.cell, joined = s.in + n;
  nn::for_rows(c, s.batch, n, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin * n; at < end * n; ++at)
      d_c[at] = d_h[at] * (1 - u[at]) * (1 - candidate[at] * candidate[at]);
    for (std::int64_t b = begin; b < end; ++b)
      for (std::int64_t j = 0, at = b * n; j < n; ++j, ++at)
        gates[(b * 2 + 1) * n + j] = d_h[at] * (h_prev[at] - candidate[at]) * u[at] * (1 - u[at]);
  });
  linalg::product(c, arith::Type::float32, {.m = s.batch, .n = joined, .k = n, .transpose_b = true},
                  d_c, input(c, 3), data(by_candidate));
  const float* d_joined = data(by_candidate);
  nn::for_rows(c, s.batch, n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b)
      for (std::int64_t j = 0, at = b * n; j < n; ++j, ++at)
        gates[b * 2 * n + j] = d_joined[b * joined + s.in + j] * h_prev[at] * r[at] * (1 - r[at]);
  });
  linalg::product(c, arith::Type::float32,
                  {.m = s.batch, .n = joined, .k = 2 * n, .transpose_b = true}, gates, input(c, 2),
                  data(by_gates));
  const float* d_gates_joined = data(by_gates);
  float *to_x = data(d_x), *to_h = data(d_h_prev);
  for (std::int64_t b = 0; b < s.batch; ++b) {
    nn::apply(BinaryOp::add, d_gates_joined + b * joined, d_joined + b * joined, s.in,
              to_x + b * s.in);
    const std::int64_t from = b * joined + s.in;
    for (std::int64_t j = 0, at = b * n; j < n; ++j, ++at)
      to_h[at] = d_gates_joined[from + j] + d_joined[from + j] * r[at] + d_h[at] * u[at];
  }
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto x, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(const auto h, shape_rules::dims_of_rank(c, 1, 2));
  for (int i = 0; i < 4; ++i)
    TROUPE_TRY(c.set_output(i, {x[0], h[1]}));
  return {};
}

Status infer_grad(ShapeContext& c) {
  TROUPE_ASSIGN(const auto x, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(const auto h, shape_rules::dims_of_rank(c, 1, 2));
  TROUPE_ASSIGN(const std::int64_t gates, shape_rules::multiply_dims(h[1], 2));
  TROUPE_TRY(c.output_like(0, 0));
  TROUPE_TRY(c.set_output(1, {x[0], h[1]}));
  TROUPE_TRY(c.set_output(2, {x[0], h[1]}));
  return c.set_output(3, {x[0], gates});
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T", {DType::float32}}};
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("GRUBlockCell")
      .input("x: T; h_prev: T; w_ru: T; w_c: T; b_ru: T; b_c: T")
      .output("r: T; u: T; c: T; h: T")
      .attr("T: {float}")
      .shape_fn(infer)
      .not_differentiable("GRUBlockCellGrad is a part of its gradient, which clients build")
      .cpu_kernel(compute, options())
      .doc("One time of a gated recurrent unit; its gates, candidate and state.");
  library.op("GRUBlockCellGrad")
      .input("x: T; h_prev: T; w_ru: T; w_c: T; b_ru: T; b_c: T; r: T; u: T; c: T; d_h: T")
      .output("d_x: T; d_h_prev: T; d_c_bar: T; d_r_bar_u_bar: T")
      .attr("T: {float}")
      .shape_fn(infer_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad, options())
      .doc("The gradients of GRUBlockCell by its input, its state and what its gates are made of.");
}

} // namespace troupe::nn_block_gru
