// Room for a few rows with zeros around them, and the instruction set in use.
#include "kernels/arith/lrn.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include <algorithm>

namespace troupe::arith {
namespace {

LrnCall call_for(const Lrn& options, int64_t begin, int64_t end) {
  constexpr int64_t elements = 2048, widest_register = 16;
  LrnCall call = {};
  call.lrn = options;
  call.begin = begin;
  call.end = end;
  call.reach = std::min(options.radius, options.depth - 1);
  call.pitch = options.depth + 2 * call.reach + widest_register;
  call.block_rows = std::clamp<int64_t>(elements / call.pitch, 1, end - begin);
  const auto size = static_cast<size_t>(call.block_rows * call.pitch);
  call.room = static_cast<float*>(thread_scratch(Scratch::sums, size * sizeof(float)));
  std::fill_n(call.room, size, 0.0f);
  return call;
}

} // namespace

void lrn(const Lrn& options, const float* x, float* y, int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  LrnCall call = call_for(options, begin, end);
  call.x = x;
  call.out = y;
  isa_table().lrn(call);
}

void lrn_grad(const Lrn& options, const float* dy, const float* x, const float* y, float* dx,
              int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  LrnCall call = call_for(options, begin, end);
  call.dy = dy;
  call.x = x;
  call.y = y;
  call.out = dx;
  isa_table().lrn_grad(call);
}

} // namespace troupe::arith
