// The nodes that the executor does itself.
#pragma once

#include "actors/executor/internal/loop.hpp"

namespace troupe::program {

template <bool Frames>
bool Loop<Frames>::run_forward(std::int32_t n, const ProgramNode& nd, Iteration& it) {
  if (!dereference(n, nd, it))
    return false;
  Entry& input = *slot(nd.first_input, it);
  if (nd.direct_slot >= 0) {
    fill(*slot(nd.direct_slot, it), std::move(input));
    clear_inputs(nd, it);
    arrive(p_.edges[static_cast<std::size_t>(nd.first_edge)].dst, false, it);
    send_controls(nd, false, it);
  } else {
    send_value(nd, 0, input, it);
    clear_inputs(nd, it);
  }
  return true;
}

template <bool Frames>
bool Loop<Frames>::run_select(std::int32_t n, const ProgramNode& nd, Iteration& it) {
  if (!dereference(n, nd, it))
    return false;
  Entry* inputs = slot(nd.first_input, it);
  const Tensor& predicate = inputs[1].tensor;
  if (predicate.dtype() != DType::bool_ || !predicate.shape().is_scalar()) {
    s_.fail(n, invalid_argument(str_cat("The second input must be a scalar, but it has shape ",
                                        predicate.shape())));
    return false;
  }
  bool taken = *static_cast<const bool*>(predicate.raw());
  send_value(nd, taken ? 1 : 0, inputs[0], it);
  clear_inputs(nd, it);
  return true;
}

template <bool Frames>
bool Loop<Frames>::run_merge(std::int32_t n, const ProgramNode& nd, Iteration& it) {
  if (!dereference(n, nd, it))
    return false;
  Entry* inputs = slot(nd.first_input, it);
  std::int32_t chosen = 0;
  while (!inputs[chosen].has_value())
    ++chosen;
  if (!(nd.flags & needs_value_index)) {
    send_value(nd, 0, inputs[chosen], it);
    clear_inputs(nd, it);
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
  clear_inputs(nd, it);
  send_all(nd, s_.scratch.data(), it);
  return true;
}

template <bool Frames>
bool Loop<Frames>::run_retval(std::int32_t n, const ProgramNode& nd, Iteration& it) {
  if (!dereference(n, nd, it))
    return false;
  s_.retvals[static_cast<std::size_t>(nd.aux)] = std::move(slot(nd.first_input, it)->tensor);
  clear_inputs(nd, it);
  send_controls(nd, false, it);
  return true;
}

template <bool Frames>
bool Loop<Frames>::run_constant(const ProgramNode& nd, Iteration& it) {
  Entry value{p_.constants[static_cast<std::size_t>(nd.aux)], nullptr};
  send_value(nd, 0, value, it);
  return true;
}

} // namespace troupe::program
