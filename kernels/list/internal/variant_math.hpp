// Sums and zeros of variants: gradients of lists, maps and optionals are such.
#pragma once

#include "core/tensor/variant.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::list {

/// a + b, element by element; what one lacks is that of the other. INVALID_ARGUMENT for values of
/// two types, dtypes, shapes or lengths.
Result<Variant> add(KernelContext& c, const Variant& a, const Variant& b);
Result<Tensor> add(KernelContext& c, const Tensor& a, const Tensor& b);
/// The same with zeros instead of all elements that are set.
Result<Variant> zeros_like(KernelContext& c, const Variant& like);
Result<Tensor> zeros_like(KernelContext& c, const Tensor& like);

} // namespace troupe::list
