// LSTMBlockCell and BlockLSTM: one time or all times of a long short-term memory in one op, with
// peepholes if asked for; and their gradients.
//
//   gates = [x, h_prev] w + b          i = sigmoid(gates_i + cs_prev wci)
//   ci = tanh(gates_c)                 f = sigmoid(gates_f + forget_bias + cs_prev wcf)
//   cs = clip(ci i + cs_prev f)        o = sigmoid(gates_o + cs wco)        h = tanh(cs) o
#include <algorithm>
#include <array>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/linalg/internal/product.hpp"
#include "kernels/nn/internal/cell.hpp"

namespace troupe::nn_block_lstm {
namespace {

using arith::BinaryOp;
using arith::GradOp;
using arith::UnaryOp;

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

/// sum[b, j] += state[b, j] * weights[j] for rows [begin, end): what peepholes add.
void add_peeps(const Sizes& s, const float* state, const float* weights, float* sum,
               std::int64_t begin, std::int64_t end) {
  for (std::int64_t b = begin; b < end; ++b)
    for (std::int64_t j = 0; j < s.cell; ++j)
      sum[b * s.cell + j] += state[b * s.cell + j] * weights[j];
}

/// Rows [begin, end) of the states of one time.
void compute_states(const Attrs& a, const Sizes& s, const float* gates, const float* cs_prev,
                    const Weights& w, const States<float>& out, std::int64_t begin,
                    std::int64_t end) {
  const std::int64_t n = s.cell, count = (end - begin) * n;
  const States<float> at = out.at(begin * n);
  const auto take = [&](std::int64_t quarter, float* to) {
    nn::copy_rows(end - begin, n, gates + (begin * 4 + quarter) * n, 4 * n, to, n);
  };
  take(0, at.i);
  take(a.layout.c, at.ci);
  take(a.layout.f, at.f);
  take(3, at.o);
  const auto with = [&](BinaryOp op, const float* x, float y, float* to) {
    nn::apply(op, x, &y, count, to, arith::RowMode::right_scalar);
  };
  if (a.forget_bias != 0)
    with(BinaryOp::add, at.f, a.forget_bias, at.f);
  if (a.peephole) {
    add_peeps(s, cs_prev, w.wci, out.i, begin, end);
    add_peeps(s, cs_prev, w.wcf, out.f, begin, end);
  }
  nn::apply(UnaryOp::sigmoid, at.i, count, at.i);
  nn::apply(UnaryOp::tanh, at.ci, count, at.ci);
  nn::apply(UnaryOp::sigmoid, at.f, count, at.f);
  nn::apply(BinaryOp::mul, at.i, at.ci, count, at.cs);
  nn::apply(BinaryOp::mul, at.f, cs_prev + begin * n, count, at.co);
  nn::apply(BinaryOp::add, at.cs, at.co, count, at.cs);
  if (a.cell_clip > 0) {
    with(BinaryOp::clip_below, at.cs, -a.cell_clip, at.cs);
    with(BinaryOp::clip_above, at.cs, a.cell_clip, at.cs);
  }
  nn::apply(UnaryOp::tanh, at.cs, count, at.co);
  if (a.peephole)
    add_peeps(s, out.cs, w.wco, out.o, begin, end);
  nn::apply(UnaryOp::sigmoid, at.o, count, at.o);
  nn::apply(BinaryOp::mul, at.o, at.co, count, at.h);
}

/// One time, once add_bias(begin, end) has made these rows of `gates` complete.
template <class AddBias>
void step_forward(KernelContext& c, const Attrs& a, const Sizes& s, const float* gates,
                  const float* cs_prev, const Weights& w, const States<float>& out,
                  AddBias add_bias) {
  nn::for_rows(c, s.batch, s.cell, 5, [&](std::int64_t begin, std::int64_t end) {
    add_bias(begin, end);
    compute_states(a, s, gates, cs_prev, w, out, begin, end);
  });
}

/// Sums over the batch that peepholes have as gradients.
struct PeepholeGrads {
  float *wci, *wcf, *wco;
};

/// What the gradients of one time are made of, and where they go: those of gates and of cs_prev.
/// `terms` has room for as many as `gates`.
struct Gradients {
  const float *cs_prev, *of_cs, *of_h;
  States<const float> y;
  float *terms, *gates, *of_cs_prev;
};

/// Rows [begin, end) of them.
void compute_gradients(const Attrs& a, const Sizes& s, const Weights& w, const Gradients& g,
                       std::int64_t begin, std::int64_t end) {
  const std::int64_t n = s.cell, first = begin * n, count = (end - begin) * n;
  const States<const float> at = g.y.at(first);
  float *di = g.terms + 4 * first, *dci = di + count, *df = dci + count, *d_o = df + count;
  float* dcs = g.of_cs_prev + first;
  nn::apply(BinaryOp::mul, g.of_h + first, at.co, count, d_o);
  nn::apply(GradOp::sigmoid, d_o, at.o, count, d_o);
  nn::apply(BinaryOp::mul, g.of_h + first, at.o, count, dcs);
  nn::apply(GradOp::tanh, dcs, at.co, count, dcs);
  nn::apply(BinaryOp::add, dcs, g.of_cs + first, count, dcs);
  const Sizes these{.batch = end - begin, .in = s.in, .cell = n};
  const auto add_peeps_of = [&](const float* gate, const float* weights) {
    if (a.peephole)
      add_peeps(these, gate, weights, dcs, 0, these.batch);
  };
  add_peeps_of(d_o, w.wco);
  nn::apply(BinaryOp::mul, dcs, at.i, count, dci);
  nn::apply(GradOp::tanh, dci, at.ci, count, dci);
  nn::apply(BinaryOp::mul, dcs, g.cs_prev + first, count, df);
  nn::apply(GradOp::sigmoid, df, at.f, count, df);
  nn::apply(BinaryOp::mul, dcs, at.ci, count, di);
  nn::apply(GradOp::sigmoid, di, at.i, count, di);
  nn::apply(BinaryOp::mul, dcs, at.f, count, dcs);
  add_peeps_of(di, w.wci);
  add_peeps_of(df, w.wcf);
  const auto put = [&](const float* from, std::int64_t quarter) {
    nn::copy_rows(these.batch, n, from, n, g.gates + (begin * 4 + quarter) * n, 4 * n);
  };
  put(di, 0);
  put(dci, a.layout.c);
  put(df, a.layout.f);
  put(d_o, 3);
}

void step_backward(KernelContext& c, const Attrs& a, const Sizes& s, const Weights& w,
                   const Gradients& g, const PeepholeGrads& sums) {
  nn::for_rows(c, s.batch, s.cell, 3, [&](std::int64_t begin, std::int64_t end) {
    compute_gradients(a, s, w, g, begin, end);
  });
  if (!a.peephole)
    return;
  // One column belongs to one thread, so that sums over the batch need no locks.
  c.parallel_for(
      s.cell, 3.0 * static_cast<double>(s.batch), [&](std::int64_t begin, std::int64_t end) {
        const auto add_products = [&](std::int64_t quarter, const float* state, float* sum) {
          for (std::int64_t b = 0; b < s.batch; ++b)
            for (std::int64_t j = begin; j < end; ++j)
              sum[j] += g.gates[(b * 4 + quarter) * s.cell + j] * state[b * s.cell + j];
        };
        add_products(0, g.cs_prev, sums.wci);
        add_products(a.layout.f, g.cs_prev, sums.wcf);
        add_products(3, g.y.cs, sums.wco);
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
  const Weights w(c, 3);
  nn::concat_rows(s.batch, input(c, 0), s.in, input(c, 2), s.cell, data(xh));
  linalg::product(c, arith::Type::float32, {.m = s.batch, .n = 4 * s.cell, .k = s.in + s.cell},
                  data(xh), w.w, data(gates));
  TROUPE_ASSIGN(const auto add_bias, arith::bias_add(DType::float32));
  step_forward(c, c.prepared<Attrs>(), s, data(gates), input(c, 1), w, out,
               [&](std::int64_t begin, std::int64_t end) {
                 add_bias(data(gates), w.b, data(gates), 4 * s.cell, begin, end);
               });
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
  TROUPE_ASSIGN(Tensor terms, allocate_matrix(c, s.batch, 4 * s.cell));
  step_backward(c, c.prepared<Attrs>(), s, Weights(c, 3),
                {.cs_prev = input(c, 1),
                 .of_cs = input(c, 14),
                 .of_h = input(c, 15),
                 .y = y,
                 .terms = data(terms),
                 .gates = data(dgates),
                 .of_cs_prev = data(cs_prev_grad)},
                sums);
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

/// out = x w + b, where w are the weights of x.
Status multiply_inputs(KernelContext& c, const Sizes& s, std::int64_t rows, const float* x,
                       const Weights& w, float* out) {
  const std::int64_t width = 4 * s.cell;
  TROUPE_ASSIGN(const auto add_bias, arith::bias_add(DType::float32));
  linalg::product(c, arith::Type::float32, {.m = rows, .n = width, .k = s.in}, x, w.w, out);
  c.parallel_for(rows, 0.1 * static_cast<double>(width), [&](std::int64_t begin, std::int64_t end) {
    add_bias(out, w.b, out, width, begin, end);
  });
  return {};
}

Status compute_block(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, check_inputs(c, 1, 3));
  const std::int64_t length = c.input(1).shape()[0];
  TROUPE_ASSIGN(const std::int64_t steps, times(c, length));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{length, s.batch, s.cell}));
  TROUPE_ASSIGN(const States<float> out, allocate_states(c, shape));
  const std::int64_t size = s.states(), width = 4 * s.cell;
  // What x adds to the gates does not wait for states: that of many times is one product.
  constexpr std::int64_t room = 1 << 20;
  const std::int64_t at_once = std::clamp<std::int64_t>(room / std::max<std::int64_t>(4 * size, 1),
                                                        1, std::max<std::int64_t>(steps, 1));
  TROUPE_ASSIGN(Tensor from_x, allocate_matrix(c, at_once * s.batch, width));
  TROUPE_ASSIGN(Tensor gates, allocate_matrix(c, s.batch, width));
  const Weights w(c, 4);
  for (std::int64_t t = 0; size > 0 && t < steps; ++t) {
    c.stop_if_cancelled();
    if (t % at_once == 0)
      TROUPE_TRY(multiply_inputs(c, s, std::min(at_once, steps - t) * s.batch,
                                 input(c, 1) + t * s.batch * s.in, w, data(from_x)));
    linalg::product(c, arith::Type::float32, {.m = s.batch, .n = width, .k = s.cell},
                    t == 0 ? input(c, 3) : out.h + (t - 1) * size, w.w + s.in * width, data(gates));
    const float* of_x = data(from_x) + t % at_once * 4 * size;
    step_forward(c, c.prepared<Attrs>(), s, data(gates),
                 t == 0 ? input(c, 2) : out.cs + (t - 1) * size, w, out.at(t * size),
                 [&](std::int64_t begin, std::int64_t end) {
                   float* to = data(gates) + begin * width;
                   nn::apply(BinaryOp::add, to, of_x + begin * width, (end - begin) * width, to);
                 });
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
  const std::int64_t length = c.input(1).shape()[0], size = s.states(), width = 4 * s.cell;
  TROUPE_ASSIGN(const std::int64_t steps, times(c, length));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{length, s.batch, s.cell}));
  TROUPE_ASSIGN(const States<const float> y, read_states(c, 9, 7, shape));
  for (const auto& [i, name] : {std::pair{16, "cs_grad"}, {17, "h_grad"}})
    if (c.input(i).shape() != shape)
      return invalid_argument(
          str_cat(name, " must have shape ", shape, ", not ", c.input(i).shape()));
  TROUPE_ASSIGN(const auto grads, allocate_grads(c));
  const auto [dx, cs_prev_grad, h_prev_grad, dw, dwci, dwcf, dwco, db] = grads;
  // Of all times, so that the gradients of x and of the weights are one product each.
  TROUPE_ASSIGN(const std::int64_t rows, shape_rules::multiply_dims(steps, s.batch));
  TROUPE_ASSIGN(Tensor all_h, allocate_matrix(c, rows, s.cell));
  TROUPE_ASSIGN(Tensor all_gates, allocate_matrix(c, rows, width));
  TROUPE_ASSIGN(Tensor terms, allocate_matrix(c, s.batch, width));
  TROUPE_ASSIGN(Tensor cs_grad, allocate_matrix(c, s.batch, s.cell));
  TROUPE_ASSIGN(Tensor h_grad, allocate_matrix(c, s.batch, s.cell));
  if (rows * s.cell == 0)
    return {};
  const Weights w(c, 4);
  for (std::int64_t t = steps - 1; t >= 0; --t) {
    c.stop_if_cancelled();
    float* dgates = data(all_gates) + t * s.batch * width;
    nn::apply(BinaryOp::add, cs_prev_grad, input(c, 16) + t * size, size, data(cs_grad));
    nn::apply(BinaryOp::add, h_prev_grad, input(c, 17) + t * size, size, data(h_grad));
    step_backward(c, c.prepared<Attrs>(), s, w,
                  {.cs_prev = t == 0 ? input(c, 2) : y.cs + (t - 1) * size,
                   .of_cs = data(cs_grad),
                   .of_h = data(h_grad),
                   .y = y.at(t * size),
                   .terms = data(terms),
                   .gates = dgates,
                   .of_cs_prev = cs_prev_grad},
                  {dwci, dwcf, dwco});
    linalg::product(c, arith::Type::float32,
                    {.m = s.batch, .n = s.cell, .k = width, .transpose_b = true}, dgates,
                    w.w + s.in * width, h_prev_grad);
  }
  std::copy_n(y.h, (steps - 1) * size, std::copy_n(input(c, 3), size, data(all_h)));
  const auto multiply_transposed = [&](const float* a, std::int64_t columns, float* to) {
    linalg::product(c, arith::Type::float32,
                    {.m = columns, .n = width, .k = rows, .transpose_a = true}, a, data(all_gates),
                    to);
  };
  multiply_transposed(input(c, 1), s.in, dw);
  multiply_transposed(data(all_h), s.cell, dw + s.in * width);
  linalg::product(c, arith::Type::float32, {.m = rows, .n = s.in, .k = width, .transpose_b = true},
                  data(all_gates), w.w, dx);
  TROUPE_ASSIGN(const auto sum_rows, arith::bias_add_grad(DType::float32));
  sum_rows(data(all_gates), db, width, 0, rows);
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
