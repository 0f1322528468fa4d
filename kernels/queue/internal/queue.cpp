#include "kernels/queue/internal/queue.hpp"

#include "core/base/strings.hpp"

namespace troupe::queue {
namespace {

/// "resource, float->" or "resource->float": as far as the queue's components go.
std::string signature(std::string_view handle, const std::vector<std::string>& more, bool puts) {
  const std::string list = str_join(more, ", ");
  if (puts)
    return str_cat(handle, more.empty() ? "" : ", ", list, "->");
  return str_cat(handle, "->", list);
}

Status check(std::string handle, std::span<const DType> have, const Queue& queue, bool puts) {
  const std::vector<DType>& expected = queue.spec().types;
  if (std::equal(have.begin(), have.end(), expected.begin(), expected.end()))
    return {};
  std::vector<std::string> ours, theirs;
  for (DType type : have)
    ours.push_back(to_string(type));
  for (DType type : expected)
    theirs.push_back(to_string(type));
  return invalid_argument(str_cat("Signature mismatch, have: ", signature(handle, ours, puts),
                                  " expected: ", signature(handle, theirs, puts)));
}

} // namespace

Result<std::shared_ptr<Queue>> find(KernelContext& c) {
  return input_resource<Queue>(c, 0);
}

Status check_puts(const KernelContext& c, const Queue& queue) {
  const auto& inputs = c.io().types.inputs;
  return check(to_string(inputs[0]), std::span(inputs).subspan(1), queue, true);
}

Status check_takes(const KernelContext& c, const Queue& queue) {
  return check(to_string(c.io().types.inputs[0]), c.io().types.outputs, queue, false);
}

WaitText waits_for(std::string what, std::shared_ptr<Queue> queue) {
  return [what = std::move(what), queue = std::move(queue)] {
    return str_cat(what, " queue '", queue->name(), "' (", queue->description(), ")");
  };
}

Result<std::shared_ptr<const void>> check_timeout(PrepareContext& c) {
  if (c.attrs().get_or("timeout_ms", std::int64_t{-1}) != -1)
    return invalid_argument("Timeout not supported yet.");
  return std::shared_ptr<const void>();
}

} // namespace troupe::queue
