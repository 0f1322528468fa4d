// LSTMBlockCell and BlockLSTM: one time or all times of a long short-term memory in one op, with
// peepholes if asked for; and their gradients.
//
//   gates = [x, h_prev] w + b          i = sigmoid(gates_i + cs_prev wci)
//   ci = tanh(gates_c)                 f = sigmoid(gates_f + forget_bias + cs_prev wcf)
//   cs = clip(ci i + cs_prev f)        o = sigmoid(gates_o + cs wco)        h = tanh(cs) o
#include <algorithm>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/linalg/internal/product.hpp"
#include "kernels/nn/internal/cell.hpp"

namespace troupe::nn_block_lstm {
namespace {

using nn::sigmoid;

/// Which quarter of the columns of `gates` the cell's input and the forget gate have.
struct Layout {
  std::int64_t c = 1, f = 2;
};

struct Attrs {
  float forget_bias = 0, cell_clip = 0;
  bool peephole = false;
  Layout layout;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  out.forget_bias = c.attrs().get_or("forget_bias", 0.0F); // V2 has none
  out.cell_clip = c.attrs().get_or("cell_clip", 0.0F);
  TROUPE_ASSIGN(out.peephole, c.attr<bool>("use_peephole"));
  if (c.schema().name.ends_with("V2"))
    out.layout = {.c = 2, .f = 1};
  return prepared(out);
}

struct Sizes {
  std::int64_t batch = 0, in = 0, cell = 0;
  std::int64_t states() const { return batch * cell; }
};

/// The weights, which are inputs `first` ..: w, wci, wcf, wco, b.
struct Weights {
  const float *w, *wci, *wcf, *wco, *b;
  Weights(KernelContext& c, int first)
      : w(c.input(first).data<float>().data()), wci(c.input(first + 1).data<float>().data()),
        wcf(c.input(first + 2).data<float>().data()), wco(c.input(first + 3).data<float>().data()),
        b(c.input(first + 4).data<float>().data()) {}
};

/// The outputs i, cs, f, o, ci, co and h of one time; a gradient op has those but h as inputs.
template <class T>
struct States {
  T *i, *cs, *f, *o, *ci, *co, *h;
  States at(std::int64_t offset) const {
    return {i + offset,
            cs + offset,
            f + offset,
            o + offset,
            ci + offset,
            co + offset,
            h ? h + offset : nullptr};
  }
};

void step_forward(KernelContext& c, const Attrs& a, const Sizes& s, const float* x,
                  const float* cs_prev, const float* h_prev, const Weights& w,
                  const States<float>& out, float* xh, float* gates) {
  nn::concat_rows(s.batch, x, s.in, h_prev, s.cell, xh);
  linalg::product(c, arith::Type::float32, {.m = s.batch, .n = 4 * s.cell, .k = s.in + s.cell}, xh,
                  w.w, gates);
  c.parallel_for(
      s.batch, 100.0 * static_cast<double>(s.cell), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b)
          for (std::int64_t j = 0; j < s.cell; ++j) {
            const std::int64_t at = b * s.cell + j;
            const auto gate = [&](std::int64_t quarter) {
              const std::int64_t column = quarter * s.cell + j;
              return gates[b * 4 * s.cell + column] + w.b[column];
            };
            const auto peep = [&](const float* weights, float state) {
              return a.peephole ? state * weights[j] : 0.0F;
            };
            out.i[at] = sigmoid(gate(0) + peep(w.wci, cs_prev[at]));
            out.ci[at] = std::tanh(gate(a.layout.c));
            out.f[at] = sigmoid(gate(a.layout.f) + a.forget_bias + peep(w.wcf, cs_prev[at]));
            float cs = out.i[at] * out.ci[at] + out.f[at] * cs_prev[at];
            if (a.cell_clip > 0)
              cs = std::min(std::max(cs, -a.cell_clip), a.cell_clip);
            out.cs[at] = cs;
            out.co[at] = std::tanh(cs);
            out.o[at] = sigmoid(gate(3) + peep(w.wco, cs));
            out.h[at] = out.o[at] * out.co[at];
          }
      });
}

/// Sums over the batch that peepholes have as gradients.
struct PeepholeGrads {
  float *wci, *wcf, *wco;
};

/// The gradients of the gates and of cs_prev.
void step_backward(KernelContext& c, const Attrs& a, const Sizes& s, const float* cs_prev,
                   const Weights& w, const States<const float>& y, const float* cs_grad,
                   const float* h_grad, float* dgates, float* cs_prev_grad,
                   const PeepholeGrads& sums) {
  // One column belongs to one thread, so that sums over the batch need no locks.
  c.parallel_for(
      s.cell, 30.0 * static_cast<double>(s.batch), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = 0; b < s.batch; ++b)
          for (std::int64_t j = begin; j < end; ++j) {
            const std::int64_t at = b * s.cell + j;
            const float o = y.o[at], co = y.co[at], i = y.i[at], f = y.f[at], ci = y.ci[at];
            const float d_o = o * (1 - o) * h_grad[at] * co;
            float dcs = (1 - co * co) * h_grad[at] * o + cs_grad[at];
            if (a.peephole)
              dcs += d_o * w.wco[j];
            const float dci = (1 - ci * ci) * dcs * i;
            const float df = f * (1 - f) * dcs * cs_prev[at];
            const float di = i * (1 - i) * dcs * ci;
            float* gates = dgates + b * 4 * s.cell + j;
            gates[0] = di;
            gates[a.layout.c * s.cell] = dci;
            gates[a.layout.f * s.cell] = df;
            gates[3 * s.cell] = d_o;
            cs_prev_grad[at] = dcs * f;
            if (a.peephole) {
              cs_prev_grad[at] += di * w.wci[j] + df * w.wcf[j];
              sums.wci[j] += di * cs_prev[at];
              sums.wcf[j] += df * cs_prev[at];
              sums.wco[j] += d_o * y.cs[at];
            }
          }
      });
}

/// TensorFlow's cells of one time refuse a state of nothing; those of all times do not.
Status check_not_empty(const Shape& cs_prev) {
  if (cs_prev.num_elements() == 0)
    return invalid_argument(str_cat("cs_prev_tensor is empty, has shape: ", cs_prev, "."));
  return {};
}

/// Checks x, cs_prev, h_prev and the weights, which begin with input `first`. x has the rank given.
Result<Sizes> check_inputs(KernelContext& c, int first, int rank) {
  const auto shape = [&](int i) -> const Shape& { return c.input(first + i).shape(); };
  const Shape& x = shape(0);
  if (x.rank() != rank)
    return invalid_argument(str_cat("x must be ", rank, "D"));
  if (shape(1).rank() != 2)
    return invalid_argument("cs_prev must be 2D");
  const Sizes s{x[rank - 2], x[rank - 1], shape(1)[1]};
  if (s.cell > INT32_MAX || s.in > INT32_MAX)
    return invalid_argument("cells and inputs have at most 2^31 - 1 elements");
  TROUPE_TRY(nn::check_dims("cs_prev", ".dims", shape(1),
                            {{"batch_size", s.batch}, {"cell_size", s.cell}}));
  TROUPE_TRY(nn::check_dims("h_prev", ".dims", shape(2),
                            {{"batch_size", s.batch}, {"cell_size", s.cell}}));
  TROUPE_TRY(
      nn::check_dims("w", ".dim_size", shape(3),
                     {{"input_size + cell_size", s.in + s.cell}, {"cell_size * 4", 4 * s.cell}}));
  // A cell does not look at peepholes that it does not have.
  const bool looks = rank == 3 || c.prepared<Attrs>().peephole;
  for (const auto& [i, name] : {std::pair{4, "wci"}, {5, "wcf"}, {6, "wco"}})
    TROUPE_TRY(
        nn::check_dims(name, ".dim_size", shape(i),
                       {{"cell_size", looks || shape(i).rank() != 1 ? s.cell : shape(i)[0]}}));
  TROUPE_TRY(nn::check_dims("b", ".dim_size", shape(7), {{"cell_size * 4", 4 * s.cell}}));
  return s;
}

constexpr const char* state_names[] = {"i", "cs", "f", "o", "ci", "co", "h"};

/// Allocates all outputs with that shape.
Result<States<float>> allocate_states(KernelContext& c, const Shape& shape) {
  float* to[7];
  for (int i = 0; i < 7; ++i) {
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, shape));
    to[i] = out.mutable_data<float>().data();
  }
  return States<float>{to[0], to[1], to[2], to[3], to[4], to[5], to[6]};
}

/// The states that inputs `first` .. are, `count` of them.
Result<States<const float>> read_states(KernelContext& c, int first, int count,
                                        const Shape& shape) {
  const float* from[7] = {};
  for (int i = 0; i < count; ++i) {
    const Tensor& input = c.input(first + i);
    if (input.shape() != shape)
      return invalid_argument(
          str_cat(state_names[i], " must have shape ", shape, ", not ", input.shape()));
    from[i] = input.data<float>().data();
  }
  return States<const float>{from[0], from[1], from[2], from[3], from[4], from[5], from[6]};
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

/// TensorFlow's forward cell compares the sizes first, then looks at the ranks; without such a
/// dimension there is only the rank to tell.
Status check_cell(KernelContext& c) {
  constexpr const char* names[] = {"x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"};
  constexpr int ranks[] = {2, 2, 2, 2, 1, 1, 1, 1};
  const auto shape = [&](int i) -> const Shape& { return c.input(i).shape(); };
  const auto check_rank = [&](int i) -> Status {
    if (shape(i).rank() != ranks[i])
      return invalid_argument(str_cat(names[i], "_tensor must be rank ", ranks[i], " but is rank ",
                                      shape(i).rank(), "."));
    return {};
  };
  for (int i : {0, 1})
    if (shape(i).rank() < 2)
      TROUPE_TRY(check_rank(i));
  const std::int64_t batch = shape(0)[0], in = shape(0)[1], cell = shape(1)[1];
  if (in > INT32_MAX || cell > INT32_MAX)
    return invalid_argument("cells and inputs have at most 2^31 - 1 elements");
  struct Wanted {
    int input, dim;
    const char *field, *what;
    std::int64_t size;
  };
  for (const Wanted& d :
       {Wanted{1, 0, "dims", "batch_size", batch}, Wanted{2, 0, "dims", "batch_size", batch},
        Wanted{2, 1, "dims", "cell_size", cell},
        Wanted{3, 0, "dim_size", "input_size + cell_size", in + cell},
        Wanted{3, 1, "dim_size", "cell_size * 4", 4 * cell},
        Wanted{7, 0, "dim_size", "cell_size * 4", 4 * cell}}) {
    if (shape(d.input).rank() <= d.dim)
      TROUPE_TRY(check_rank(d.input));
    if (shape(d.input)[d.dim] != d.size)
      return invalid_argument(str_cat(names[d.input], ".", d.field, "(", d.dim, ") != ", d.what,
                                      ": ", shape(d.input)[d.dim], " vs. ", d.size));
  }
  for (int i = 0; i < 8; ++i)
    TROUPE_TRY(check_rank(i));
  return {};
}

Status compute_cell(KernelContext& c) {
  TROUPE_TRY(check_cell(c));
  TROUPE_ASSIGN(const Sizes s, check_inputs(c, 0, 2));
  TROUPE_TRY(check_not_empty(c.input(1).shape()));
  TROUPE_ASSIGN(const States<float> out, allocate_states(c, c.input(1).shape()));
  TROUPE_ASSIGN(Tensor xh, allocate_matrix(c, s.batch, s.in + s.cell));
  TROUPE_ASSIGN(Tensor gates, allocate_matrix(c, s.batch, 4 * s.cell));
  step_forward(c, c.prepared<Attrs>(), s, input(c, 0), input(c, 1), input(c, 2), Weights(c, 3), out,
               data(xh), data(gates));
  return {};
}

/// Zeros in outputs wci_grad, wcf_grad and wco_grad, which begin with `first`.
Result<PeepholeGrads> allocate_peepholes(KernelContext& c, int first, std::int64_t cell) {
  float* to[3];
  for (int i = 0; i < 3; ++i) {
    TROUPE_ASSIGN(Tensor out, c.allocate_output(first + i, Shape{cell}));
    to[i] = data(out);
    std::fill_n(to[i], cell, 0.0F);
  }
  return PeepholeGrads{to[0], to[1], to[2]};
}

Status compute_cell_grad(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, check_inputs(c, 0, 2));
  const Shape& shape = c.input(1).shape();
  TROUPE_TRY(check_not_empty(shape));
  TROUPE_ASSIGN(const States<const float> y, read_states(c, 8, 6, shape));
  for (const auto& [i, name] : {std::pair{14, "cs_grad"}, {15, "h_grad"}})
    TROUPE_TRY(nn::check_dims(name, ".dims", c.input(i).shape(),
                              {{"batch_size", s.batch}, {"cell_size", s.cell}}));
  TROUPE_ASSIGN(Tensor cs_prev_grad, c.allocate_output(0, shape));
  TROUPE_ASSIGN(const Shape gates_shape, Shape::make(std::array{s.batch, 4 * s.cell}));
  TROUPE_ASSIGN(Tensor dgates, c.allocate_output(1, gates_shape));
  TROUPE_ASSIGN(const PeepholeGrads sums, allocate_peepholes(c, 2, s.cell));
  step_backward(c, c.prepared<Attrs>(), s, input(c, 1), Weights(c, 3), y, input(c, 14),
                input(c, 15), data(dgates), data(cs_prev_grad), sums);
  return {};
}

/// How many times of `length` the op is to do.
Result<std::int64_t> times(KernelContext& c, std::int64_t length) {
  if (const int rank = c.input(0).shape().rank(); rank != 0)
    return invalid_argument(str_cat("`seq_len_max_tensor` must be rank 0 but is rank ", rank));
  const std::int64_t out = c.input(0).value<std::int64_t>();
  if (out < 0 || out > length)
    return invalid_argument(
        str_cat("seq_len_max must be between 0 and the length of x, ", length, ", not ", out));
  return out;
}

Status compute_block(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, check_inputs(c, 1, 3));
  const std::int64_t length = c.input(1).shape()[0];
  TROUPE_ASSIGN(const std::int64_t steps, times(c, length));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{length, s.batch, s.cell}));
  TROUPE_ASSIGN(const States<float> out, allocate_states(c, shape));
  TROUPE_ASSIGN(Tensor xh, allocate_matrix(c, s.batch, s.in + s.cell));
  TROUPE_ASSIGN(Tensor gates, allocate_matrix(c, s.batch, 4 * s.cell));
  const Weights w(c, 4);
  const std::int64_t size = s.states();
  for (std::int64_t t = 0; size > 0 && t < steps; ++t) {
    c.stop_if_cancelled();
    step_forward(c, c.prepared<Attrs>(), s, input(c, 1) + t * s.batch * s.in,
                 t == 0 ? input(c, 2) : out.cs + (t - 1) * size,
                 t == 0 ? input(c, 3) : out.h + (t - 1) * size, w, out.at(t * size), data(xh),
                 data(gates));
  }
  for (float* to : {out.i, out.cs, out.f, out.o, out.ci, out.co, out.h})
    std::fill_n(to + steps * size, (length - steps) * size, 0.0F);
  return {};
}

/// Zeros in the outputs of gradients by x, cs_prev, h_prev, w, wci, wcf, wco and b.
Result<std::array<float*, 8>> allocate_grads(KernelContext& c) {
  std::array<float*, 8> out{};
  for (int i = 0; i < 8; ++i) {
    TROUPE_ASSIGN(Tensor tensor, c.allocate_output(i, c.input(i + 1).shape()));
    out[static_cast<std::size_t>(i)] = data(tensor);
    std::ranges::fill(tensor.mutable_data<float>(), 0.0F);
  }
  return out;
}

Status compute_block_grad(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, check_inputs(c, 1, 3));
  const std::int64_t length = c.input(1).shape()[0], size = s.states(), xh_size = s.in + s.cell;
  TROUPE_ASSIGN(const std::int64_t steps, times(c, length));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{length, s.batch, s.cell}));
  TROUPE_ASSIGN(const States<const float> y, read_states(c, 9, 7, shape));
  for (const auto& [i, name] : {std::pair{16, "cs_grad"}, {17, "h_grad"}})
    if (c.input(i).shape() != shape)
      return invalid_argument(
          str_cat(name, " must have shape ", shape, ", not ", c.input(i).shape()));
  TROUPE_ASSIGN(const auto grads, allocate_grads(c));
  const auto [dx, cs_prev_grad, h_prev_grad, dw, dwci, dwcf, dwco, db] = grads;
  // Of all times, so that the weights' gradient is one product.
  TROUPE_ASSIGN(const std::int64_t rows, shape_rules::multiply_dims(steps, s.batch));
  TROUPE_ASSIGN(Tensor all_xh, allocate_matrix(c, rows, xh_size));
  TROUPE_ASSIGN(Tensor all_gates, allocate_matrix(c, rows, 4 * s.cell));
  TROUPE_ASSIGN(Tensor xh_grad, allocate_matrix(c, s.batch, xh_size));
  TROUPE_ASSIGN(Tensor cs_grad, allocate_matrix(c, s.batch, s.cell));
  TROUPE_ASSIGN(Tensor h_grad, allocate_matrix(c, s.batch, s.cell));
  const Weights w(c, 4);
  for (std::int64_t t = steps - 1; size > 0 && t >= 0; --t) {
    c.stop_if_cancelled();
    const float* x = input(c, 1) + t * s.batch * s.in;
    const float* h_prev = t == 0 ? input(c, 3) : y.h + (t - 1) * size;
    const float* cs_prev = t == 0 ? input(c, 2) : y.cs + (t - 1) * size;
    float* dgates = data(all_gates) + t * s.batch * 4 * s.cell;
    std::transform(cs_prev_grad, cs_prev_grad + size, input(c, 16) + t * size, data(cs_grad),
                   std::plus<>());
    std::transform(h_prev_grad, h_prev_grad + size, input(c, 17) + t * size, data(h_grad),
                   std::plus<>());
    step_backward(c, c.prepared<Attrs>(), s, cs_prev, w, y.at(t * size), data(cs_grad),
                  data(h_grad), dgates, cs_prev_grad, {dwci, dwcf, dwco});
    nn::concat_rows(s.batch, x, s.in, h_prev, s.cell, data(all_xh) + t * s.batch * xh_size);
    linalg::product(c, arith::Type::float32,
                    {.m = s.batch, .n = xh_size, .k = 4 * s.cell, .transpose_b = true}, dgates, w.w,
                    data(xh_grad));
    nn::split_rows(s.batch, data(xh_grad), s.in, dx + t * s.batch * s.in, s.cell, h_prev_grad);
  }
  if (size > 0)
    linalg::product(c, arith::Type::float32,
                    {.m = xh_size, .n = 4 * s.cell, .k = rows, .transpose_a = true}, data(all_xh),
                    data(all_gates), dw);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t j = 0; j < 4 * s.cell; ++j)
      db[j] += data(all_gates)[row * 4 * s.cell + j];
  return {};
}

Status infer_cell(ShapeContext& c) {
  TROUPE_ASSIGN(const auto x, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(const auto cs, shape_rules::dims_of_rank(c, 1, 2));
  for (int i = 0; i < 7; ++i)
    TROUPE_TRY(c.set_output(i, {x[0], cs[1]}));
  return {};
}

Status infer_cell_grad(ShapeContext& c) {
  TROUPE_ASSIGN(const auto x, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(const auto cs, shape_rules::dims_of_rank(c, 1, 2));
  TROUPE_ASSIGN(const std::int64_t gates, shape_rules::multiply_dims(cs[1], 4));
  TROUPE_TRY(c.set_output(0, {x[0], cs[1]}));
  TROUPE_TRY(c.set_output(1, {x[0], gates}));
  for (int i = 2; i < 5; ++i)
    TROUPE_TRY(c.set_output(i, {cs[1]}));
  return {};
}

Status infer_block(ShapeContext& c) {
  TROUPE_ASSIGN(const auto x, shape_rules::dims_of_rank(c, 1, 3));
  TROUPE_ASSIGN(const auto b, shape_rules::dims_of_rank(c, 8, 1));
  if (b[0] != shape_rules::unknown_dim && b[0] % 4 != 0)
    return invalid_argument(str_cat("Dimension size must be evenly divisible by 4 but is ", b[0]));
  for (int i = 0; i < 7; ++i)
    TROUPE_TRY(c.set_output(i, {x[0], x[1], b[0] == shape_rules::unknown_dim ? b[0] : b[0] / 4}));
  return {};
}

Status infer_block_grad(ShapeContext& c) {
  for (const auto& [i, rank] :
       {std::pair{0, 3}, {1, 2}, {2, 2}, {3, 2}, {4, 1}, {5, 1}, {6, 1}, {7, 1}}) {
    TROUPE_TRY(c.require_rank(i + 1, rank));
    TROUPE_TRY(c.output_like(i, i + 1));
  }
  return {};
}

KernelOptions options(DType dtype) {
  KernelOptions out;
  out.types = {{"T", {dtype}}};
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

constexpr auto floats = "T: {half, float}";
constexpr auto weights = "cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T";
constexpr auto states = "i: T; cs: T; f: T; o: T; ci: T; co: T; h: T";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("LSTMBlockCell")
      .input("x: T")
      .input(weights)
      .output(states)
      .attr("forget_bias: float = 1; cell_clip: float = 3; use_peephole: bool = false")
      .attr(floats)
      .shape_fn(infer_cell)
      .not_differentiable("LSTMBlockCellGrad is a part of its gradient, which clients build")
      .cpu_kernel(compute_cell, options(DType::float32))
      .cpu_kernel(in_wider<compute_cell>, options(DType::float16))
      .doc("One time of a long short-term memory; all its gates and states.");
  library.op("LSTMBlockCellGrad")
      .input("x: T")
      .input(weights)
      .input("i: T; cs: T; f: T; o: T; ci: T; co: T; cs_grad: T; h_grad: T")
      .output("cs_prev_grad: T; dicfo: T; wci_grad: T; wcf_grad: T; wco_grad: T")
      .attr("use_peephole: bool")
      .attr(floats)
      .shape_fn(infer_cell_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_cell_grad, options(DType::float32))
      .cpu_kernel(in_wider<compute_cell_grad>, options(DType::float16))
      .doc("The gradients of LSTMBlockCell by its gates, its state and its peepholes.");
  for (const bool second : {false, true}) {
    library.op(second ? "BlockLSTMV2" : "BlockLSTM")
        .input("seq_len_max: int64; x: T")
        .input(weights)
        .output(states)
        .attr(second ? "cell_clip: float = 0" : "forget_bias: float = 1; cell_clip: float = 3")
        .attr("use_peephole: bool = false")
        .attr(floats)
        .shape_fn(infer_block)
        .not_differentiable("an op is its gradient, which clients build")
        .cpu_kernel(compute_block, options(DType::float32))
        .cpu_kernel(in_wider<compute_block>, options(DType::float16))
        .doc(second ? "The same with the forget gate before the cell's input, without a bias."
                    : "All times of a long short-term memory; x is [time, batch, input].");
    library.op(second ? "BlockLSTMGradV2" : "BlockLSTMGrad")
        .input("seq_len_max: int64; x: T")
        .input(weights)
        .input(states)
        .input("cs_grad: T; h_grad: T")
        .output("x_grad: T; cs_prev_grad: T; h_prev_grad: T; w_grad: T; wci_grad: T; wcf_grad: T; "
                "wco_grad: T; b_grad: T")
        .attr("use_peephole: bool")
        .attr(floats)
        .shape_fn(infer_block_grad)
        .not_differentiable("it is a gradient")
        .cpu_kernel(compute_block_grad, options(DType::float32))
        .cpu_kernel(in_wider<compute_block_grad>, options(DType::float16))
        .doc(second ? "The gradients of BlockLSTMV2." : "The gradients of BlockLSTM.");
  }
}

} // namespace troupe::nn_block_lstm
