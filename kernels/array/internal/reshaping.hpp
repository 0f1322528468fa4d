// Pieces of gradients: the gradient under its input's shape, axes, vectors cut out of shapes.
#pragma once

#include "graph/op/grad_context.hpp"

namespace troupe::array {

/// The shape of `v` as an int32 vector: a constant where it is known.
inline Value shape_vector(GradContext& g, Value v) {
  const auto known = g.shape(v).to_shape();
  if (!known)
    return g.shape_of(v);
  Tensor dims = Tensor::make(DType::int32, Shape{known->rank()});
  for (int i = 0; i < known->rank(); ++i)
    dims.mutable_data<std::int32_t>()[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(known->dim(i));
  return g.constant(std::move(dims));
}

/// The shape of `v` with the dtype of `like`.
inline Value shape_vector_as(GradContext& g, Value v, Value like) {
  return g.op("Shape", {v}, {{"out_type", g.dtype(like)}});
}

inline Value reshape_like(GradContext& g, Value value, Value like) {
  return g.reshape(value, shape_vector(g, like));
}

/// An int32 scalar constant.
inline Value int_scalar(GradContext& g, int value) {
  return g.constant(Tensor::scalar<std::int32_t>(value));
}

/// 0, 1, …, rank - 1 of `v`.
inline Value all_axes(GradContext& g, Value v) {
  return g.op("Range", {int_scalar(g, 0), g.op("Rank", {v}), int_scalar(g, 1)});
}

/// The gradient of output i, zeros where nothing depends on it.
inline Value output_grad_or_zeros(GradContext& g, int i) {
  const Value grad = g.output_grad(i);
  return grad.is_none() ? g.zeros_like(g.output(i)) : grad;
}

} // namespace troupe::array
