// Local response normalisation: some rows at a time are squared into a room where zeros lie between
// them, and neighbours are added from there, a register of sums at once.
#include "kernels/arith/isa/math.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

/// Calls body(rows, first element, elements) for each block of rows.
template <class Body>
TROUPE_INLINE void for_each_block(const LrnCall& call, Body body) {
  for (int64_t row = call.begin; row < call.end; row += call.block_rows) {
    const int64_t rows = call.end - row < call.block_rows ? call.end - row : call.block_rows;
    body(rows, row * call.lrn.depth, rows * call.lrn.depth);
  }
}

/// Fills the room with what value(element) gives for a block's elements, from `first` on.
template <class Value>
TROUPE_INLINE void fill(const LrnCall& call, int64_t rows, int64_t first, Value value) {
  const int64_t depth = call.lrn.depth;
  for (int64_t r = 0; r < rows; ++r) {
    float* to = call.room + r * call.pitch + call.reach;
    const int64_t from = first + r * depth;
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < depth; ++c)
      to[c] = value(from + c);
  }
}

/// Calls write(element, n, sums) with the sums over the neighbours of the n elements from there on.
template <class Write>
TROUPE_INLINE void add_near(const LrnCall& call, int64_t rows, int64_t first, Write write) {
  constexpr int64_t all = lanes<float>;
  const int64_t depth = call.lrn.depth, window = 2 * call.reach + 1;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < depth; c += all) {
      const float* from = call.room + r * call.pitch + c;
      Full<float> sum = {};
      for (int64_t k = 0; k < window; ++k)
        sum += load<Full<float>>(from + k);
      write(first + r * depth + c, depth - c, sum);
    }
}

TROUPE_INLINE void store_row(const Full<float>& values, float* to, int64_t n) {
  if (n >= lanes<float>)
    store(values, to);
  else
    store_some(values, to, n);
}

/// Scales of a block of rows, where the results will be.
TROUPE_INLINE void scales(const LrnCall& call, int64_t rows, int64_t first) {
  const float *x = call.x, bias = call.lrn.bias, alpha = call.lrn.alpha;
  float* out = call.out;
  fill(call, rows, first, [=](int64_t i) { return x[i] * x[i]; });
  add_near(call, rows, first, [=](int64_t i, int64_t n, const Full<float>& sum) {
    store_row(spread<Full<float>>(bias) + sum * alpha, out + i, n);
  });
}

struct Inverse {
  TROUPE_INLINE float of(float scale, float) { return 1.0f / scale; }
};
struct InverseRoot {
  TROUPE_INLINE float of(float scale, float) { return 1.0f / __builtin_sqrtf(scale); }
};
struct ByLogarithm {
  TROUPE_INLINE float of(float scale, float beta) { return exp_of(-beta * log_of(scale)); }
};
/// Of negative scales, too.
struct WholePower {
  TROUPE_INLINE float of(float scale, float beta) { return __builtin_powf(scale, -beta); }
};

template <class Power>
void forward(const LrnCall& call) {
  const float *x = call.x, beta = call.lrn.beta;
  float* out = call.out;
  for_each_block(call, [&](int64_t rows, int64_t first, int64_t n) {
    scales(call, rows, first);
    TROUPE_INDEPENDENT
    for (int64_t i = first; i < first + n; ++i)
      out[i] = x[i] * Power::of(out[i], beta);
  });
}

template <class Power>
void backward(const LrnCall& call) {
  const float *x = call.x, *y = call.y, *dy = call.dy, beta = call.lrn.beta;
  const float factor = 2.0f * call.lrn.alpha * beta;
  float* out = call.out;
  for_each_block(call, [&](int64_t rows, int64_t first, int64_t n) {
    scales(call, rows, first);
    fill(call, rows, first, [=](int64_t i) { return dy[i] * y[i] / out[i]; });
    TROUPE_INDEPENDENT
    for (int64_t i = first; i < first + n; ++i)
      out[i] = dy[i] * Power::of(out[i], beta);
    add_near(call, rows, first, [=](int64_t i, int64_t left, const Full<float>& sum) {
      const int64_t some = left < lanes<float> ? left : lanes<float>;
      const auto near = load_some<Full<float>>(x + i, some, 0.0f) * factor * sum;
      store_row(load_some<Full<float>>(out + i, some, 0.0f) - near, out + i, left);
    });
  });
}

} // namespace

void lrn(const LrnCall& call) {
  const float beta = call.lrn.beta;
  const auto run = beta == 1.0f   ? forward<Inverse>
                   : beta == 0.5f ? forward<InverseRoot>
                                  : forward<ByLogarithm>;
  run(call);
}

void lrn_grad(const LrnCall& call) {
  const float beta = call.lrn.beta;
  const auto run = beta == 1.0f                     ? backward<Inverse>
                   : beta == 0.5f                   ? backward<InverseRoot>
                   : beta == __builtin_truncf(beta) ? backward<WholePower>
                                                    : backward<ByLogarithm>;
  run(call);
}

} // namespace troupe::arith::TROUPE_ISA
