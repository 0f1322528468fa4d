// What the kernels of collectives have in common: attributes read once, keys, arithmetic.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/framework/collectives.hpp"

namespace troupe::collective {

/// What a collective's node says. Attributes that its op does not have stay as they are.
struct NodeAttrs {
  CollectiveKind kind = CollectiveKind::reduce;
  DType dtype = DType::invalid;
  MergeOp merge = MergeOp::none;
  bool divides = false;
  std::int64_t timeout_us = 0;
  bool has_keys = false; ///< of the first version: the keys are attributes
  std::int64_t group_size = 0, group_key = 0, instance_key = 0;
  PartialShape shape; ///< of the first version, of a broadcast
  std::shared_ptr<const CollectiveMath> math;
};

/// INVALID_ARGUMENT "group_size must be positive integer but got 0", and for a timeout that is
/// none.
template <CollectiveKind Kind>
Result<std::shared_ptr<const void>> prepare_node(PrepareContext& c);
Result<NodeAttrs> read_attrs(PrepareContext& c, CollectiveKind kind);

template <CollectiveKind Kind>
Result<std::shared_ptr<const void>> prepare_node(PrepareContext& c) {
  TROUPE_ASSIGN(NodeAttrs attrs, read_attrs(c, Kind));
  return prepared(std::move(attrs));
}

/// The number in input i. INVALID_ARGUMENT "Unexpected dimensions on input group_size, got [2]".
Result<std::int32_t> scalar_input(KernelContext& c, int i, std::string_view name);

/// A call with the keys of the node: of its attributes, or of the inputs from `first_key` on. The
/// shape is that of input 0 if `has_value`.
Result<CollectiveCall> begin_call(KernelContext& c, int first_key, bool has_value);

/// Gives the call its output, unless the group is of one.
Status allocate_result(KernelContext& c, CollectiveCall& call, const Shape& shape);

/// An asynchronous kernel of a function that makes the call.
template <Result<CollectiveCall> (*Make)(KernelContext&)>
void run(KernelContext& c, KernelDone done) {
  auto call = Make(c);
  if (call.ok())
    run_collective(c, *std::move(call), std::move(done));
  else
    done(call.status());
}

/// Names and arithmetic. INVALID_ARGUMENT for a name that is none.
Result<MergeOp> merge_op_of(std::string_view name);
Result<std::shared_ptr<const CollectiveMath>> math_of(MergeOp merge, bool divides, DType dtype);

inline constexpr auto no_gradient =
    "the gradient of a collective is a collective with an instance key of its own";
inline constexpr auto hint_and_timeout =
    "communication_hint: string = 'auto'; timeout_seconds: float = 0";
inline constexpr auto token_attrs =
    "communication_hint: string = 'auto'; timeout_seconds: float = 0; is_stateless: bool = false; "
    "Nordering_token: int >= 0 = 0";
inline constexpr auto key_attrs = "group_size: int; group_key: int; instance_key: int";
inline constexpr auto key_inputs = "group_size: int32; group_key: int32; instance_key: int32";
inline constexpr auto numbers = "T: {bfloat16, float, half, double, int32, int64}";

} // namespace troupe::collective
