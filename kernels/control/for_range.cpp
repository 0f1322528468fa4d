// _ForRange: start, limit and step of a For, once it is known that the loop ends.
#include "core/base/node_mark.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_for_range {
namespace {

Status infer_shapes(ShapeContext& c) {
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(c.set_output(i, Shape{}));
  return {};
}

/// What the client sent is the For: "loop" of "loop/range/_3".
Status refused(const KernelContext& c, std::string sentence) {
  const std::string_view node = c.node_name();
  const std::size_t end = node.rfind("/range/_");
  return invalid_argument(end == node.npos ? std::move(sentence)
                                           : naming_node(sentence, node.substr(0, end)));
}

Status compute(KernelContext& c) {
  constexpr const char* names[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i)
    if (!c.input(i).shape().is_scalar())
      return refused(c, str_cat(names[i], " must be a scalar, but ", c.input(i).shape()));
  const auto start = c.input(0).value<std::int32_t>();
  const auto limit = c.input(1).value<std::int32_t>();
  const auto delta = c.input(2).value<std::int32_t>();
  const bool ends =
      (delta > 0 && start <= limit) || (delta < 0 && start >= limit) || start == limit;
  if (!ends)
    return refused(c, str_cat("Invalid start/limit/delta: ", start, " ", limit, " ", delta));
  for (int i = 0; i < 3; ++i)
    c.output_entry(i) = std::move(c.input_entry(i));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("_ForRange")
      .input("start: int32; limit: int32; delta: int32")
      .output("first: int32; end: int32; step: int32")
      .shape_fn(infer_shapes)
      .not_differentiable("its outputs are integers")
      .cpu_kernel(compute)
      .doc("Its inputs, if counting from start by delta reaches limit.");
}

} // namespace troupe::control_for_range
