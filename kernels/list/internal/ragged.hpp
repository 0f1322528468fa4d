// A ragged tensor in a variant: its row splits, outermost first, and its values.
#pragma once

#include <memory>
#include <vector>

#include "core/tensor/variant.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::list {

struct Ragged {
  static constexpr auto type_name = "RaggedTensorVariant";

  std::vector<Tensor> splits; ///< vectors of int32 or int64
  Tensor values;
};

/// In TensorFlow's form: the splits and the values are its tensors.
Variant make_ragged(Ragged ragged);
bool is_ragged(const Variant& variant);
/// INVALID_ARGUMENT for a variant without tensors. Requires is_ragged.
Result<Ragged> ragged_in(const Variant& variant);

/// Of equal splits, values by values. INVALID_ARGUMENT for splits of two kinds.
Result<Variant> add_ragged(KernelContext& c, const Variant& a, const Variant& b);
Result<Variant> zeros_like_ragged(KernelContext& c, const Variant& like);

} // namespace troupe::list
