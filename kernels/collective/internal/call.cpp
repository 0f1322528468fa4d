#include "kernels/collective/internal/call.hpp"

#include <array>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"

namespace troupe::collective {
namespace {

template <class T>
T attr_or(PrepareContext& c, std::string_view name, T otherwise) {
  return c.attrs().get_or<T>(name, std::move(otherwise));
}

Status size_error(std::int64_t size) {
  return invalid_argument(str_cat("group_size must be positive integer but got ", size));
}

} // namespace

Result<MergeOp> merge_op_of(std::string_view name) {
  for (MergeOp op : {MergeOp::add, MergeOp::mul, MergeOp::min, MergeOp::max})
    if (to_string(op) == name)
      return op;
  return invalid_argument(
      str_cat("merge_op must be one of {\"Min\", \"Max\", \"Mul\", \"Add\"} but got ", name));
}

Result<std::shared_ptr<const CollectiveMath>> math_of(MergeOp merge, bool divides, DType dtype) {
  using arith::BinaryOp;
  using arith::RowMode;
  if (merge == MergeOp::none)
    return std::shared_ptr<const CollectiveMath>();
  const BinaryOp op = merge == MergeOp::add   ? BinaryOp::add
                      : merge == MergeOp::mul ? BinaryOp::mul
                      : merge == MergeOp::min ? BinaryOp::minimum
                                              : BinaryOp::maximum;
  TROUPE_ASSIGN(const arith::BinaryKernel kernel, arith::binary(op, dtype));
  auto out = std::make_shared<CollectiveMath>();
  out->merge = [kernel](const void* a, const void* b, void* to, std::int64_t count) {
    kernel.row(a, b, to, count, RowMode::both_rows);
  };
  if (divides) {
    const bool is_integer = dtype == DType::int32 || dtype == DType::int64;
    TROUPE_ASSIGN(const arith::BinaryKernel divide,
                  arith::binary(is_integer ? BinaryOp::trunc_div : BinaryOp::real_div, dtype));
    TROUPE_ASSIGN(const arith::CastKernel cast, arith::cast(DType::int32, dtype));
    out->divide = [divide, cast](void* x, std::int64_t count, int size) {
      const std::int32_t number = size;
      alignas(16) std::array<std::byte, 16> as_element{};
      cast(&number, as_element.data(), 0, 1);
      divide.row(x, as_element.data(), x, count, RowMode::right_scalar);
    };
  }
  return std::shared_ptr<const CollectiveMath>(std::move(out));
}

Result<NodeAttrs> read_attrs(PrepareContext& c, CollectiveKind kind) {
  NodeAttrs out;
  out.kind = kind;
  out.dtype = attr_or(c, "T", DType::invalid);
  const auto merge = attr_or<std::string>(c, "merge_op", attr_or<std::string>(c, "reduction", ""));
  if (!merge.empty()) {
    TROUPE_ASSIGN(out.merge, merge_op_of(merge));
    const auto final_op = attr_or<std::string>(c, "final_op", "Id");
    if (final_op != "Id" && final_op != "Div")
      return invalid_argument(
          str_cat("final_op must be one of {\"Id\", \"Div\"} but got ", final_op));
    out.divides = final_op == "Div";
    TROUPE_ASSIGN(out.math, math_of(out.merge, out.divides, out.dtype));
  }
  const float timeout = attr_or(c, "timeout_seconds", 0.0f);
  constexpr float longest = 1e9f;
  if (!std::isfinite(timeout) || timeout < 0 || timeout > longest)
    return invalid_argument(str_cat("timeout_seconds of node '", c.node_name(), "' is ", timeout,
                                    "; it must be from 0, which means none, to ", longest));
  out.timeout_us = static_cast<std::int64_t>(static_cast<double>(timeout) * 1e6);
  if (timeout > 0 && out.timeout_us == 0)
    out.timeout_us = 1;
  if (auto size = c.attr<std::int64_t>("group_size"); size.ok()) {
    out.has_keys = true;
    out.group_size = *size;
    if (out.group_size <= 0 || out.group_size > INT32_MAX)
      return size_error(out.group_size);
    TROUPE_ASSIGN(out.group_key, c.attr<std::int64_t>("group_key"));
    TROUPE_ASSIGN(out.instance_key, c.attr<std::int64_t>("instance_key"));
    out.shape = attr_or(c, "shape", PartialShape());
  }
  return out;
}

Result<std::int32_t> scalar_input(KernelContext& c, int i, std::string_view name) {
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(
        str_cat("Unexpected dimensions on input ", name, ", got ", c.input(i).shape()));
  return c.input(i).value<std::int32_t>();
}

Result<CollectiveCall> begin_call(KernelContext& c, int first_key, bool has_value) {
  const auto& attrs = c.prepared<NodeAttrs>();
  CollectiveCall call;
  call.spec.kind = attrs.kind;
  call.spec.dtype = attrs.dtype;
  call.spec.merge = attrs.merge;
  call.spec.divides = attrs.divides;
  call.timeout_us = attrs.timeout_us;
  call.math = attrs.math;
  if (has_value) {
    call.input = c.input(0);
    call.spec.shape = call.input.shape();
  }
  if (attrs.has_keys) {
    call.spec.group_size = static_cast<std::int32_t>(attrs.group_size);
    call.spec.group_key = attrs.group_key;
    call.spec.instance_key = attrs.instance_key;
    return call;
  }
  TROUPE_ASSIGN(call.spec.group_size, scalar_input(c, first_key, "group_size"));
  TROUPE_ASSIGN(call.spec.group_key, scalar_input(c, first_key + 1, "group_key"));
  TROUPE_ASSIGN(call.spec.instance_key, scalar_input(c, first_key + 2, "instance_key"));
  if (call.spec.group_size <= 0)
    return size_error(call.spec.group_size);
  return call;
}

Status allocate_result(KernelContext& c, CollectiveCall& call, const Shape& shape) {
  if (call.spec.group_size == 1)
    return {};
  TROUPE_ASSIGN(call.output, c.allocate_temp(call.spec.dtype, shape));
  return {};
}

} // namespace troupe::collective
