// The nodes that the executor does itself.
#pragma once

#include "actors/executor/internal/loop.hpp"
#include "core/base/clock.hpp"
#include "core/trace/recorder.hpp"

namespace troupe::program {

template <bool Frames>
bool Loop<Frames>::run_forward(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  if (!dereference(n, node, iteration))
    return false;
  Entry& input = *slot(node.first_input, iteration);
  if (s_.hooks.trace) [[unlikely]] {
    const std::int64_t now_us = wall_micros();
    record({n, thread_number(), now_us, now_us}, &input, 1);
  }
  if (node.direct_slot >= 0) {
    fill(*slot(node.direct_slot, iteration), std::move(input));
    clear_inputs(node, iteration);
    arrive(p_.edges[static_cast<std::size_t>(node.first_edge)].dst, false, iteration);
    send_controls(node, false, iteration);
  } else {
    send_value(node, 0, input, iteration);
    clear_inputs(node, iteration);
  }
  return true;
}

template <bool Frames>
bool Loop<Frames>::run_select(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  if (!dereference(n, node, iteration))
    return false;
  Entry* inputs = slot(node.first_input, iteration);
  const Tensor& predicate = inputs[1].tensor;
  if (predicate.dtype() != DType::bool_ || !predicate.shape().is_scalar()) {
    s_.fail(n, invalid_argument(str_cat("The second input must be a scalar, but it has shape ",
                                        predicate.shape())));
    return false;
  }
  bool taken = *static_cast<const bool*>(predicate.raw());
  send_value(node, taken ? 1 : 0, inputs[0], iteration);
  clear_inputs(node, iteration);
  return true;
}

template <bool Frames>
bool Loop<Frames>::run_merge(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  if (!dereference(n, node, iteration))
    return false;
  Entry* inputs = slot(node.first_input, iteration);
  std::int32_t chosen = 0;
  while (!inputs[chosen].has_value())
    ++chosen;
  if (!(node.flags & needs_value_index)) {
    send_value(node, 0, inputs[chosen], iteration);
    clear_inputs(node, iteration);
    return true;
  }
  auto index = Tensor::allocate(p_.device->host_side_allocator(), DType::int32, Shape{});
  if (!index.ok()) {
    s_.fail(n, index.status());
    return false;
  }
  index->mutable_data<std::int32_t>()[0] = chosen;
  fill(s_.scratch[0], std::move(inputs[chosen]));
  s_.scratch[1].tensor = *std::move(index);
  clear_inputs(node, iteration);
  send_all(node, s_.scratch.data(), iteration);
  return true;
}

// A fetched reference is read when all else has run: the step may write the variable still.
template <bool Frames>
bool Loop<Frames>::run_retval(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  if (auto& ref = slot(node.first_input, iteration)->ref; ref) [[unlikely]] {
    s_.late_values.push_back({n, std::move(ref)});
    ref.reset();
  }
  s_.retvals[static_cast<std::size_t>(node.position)] =
      std::move(slot(node.first_input, iteration)->tensor);
  clear_inputs(node, iteration);
  send_controls(node, false, iteration);
  return true;
}

template <bool Frames>
bool Loop<Frames>::run_constant(const ProgramNode& node, Iteration& iteration) {
  Entry value{p_.constants[static_cast<std::size_t>(node.constant)], nullptr};
  send_value(node, 0, value, iteration);
  return true;
}

} // namespace troupe::program
