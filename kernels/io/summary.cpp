// ScalarSummary, HistogramSummary, TensorSummary, TensorSummaryV2, MergeSummary: values as messages
// that TensorBoard reads.
#include <set>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe::io_summary {
namespace {

Status put(KernelContext& c, MessageWriter& summary) {
  return c.set_output(0, Tensor::scalar(summary.take()));
}

Status scalar(KernelContext& c) {
  const Tensor &tags = c.input(0), &values = c.input(1);
  if (tags.shape() != values.shape())
    return invalid_argument(str_cat(
        "tags and values are not the same shape: ", tags.shape(), " != ", values.shape(),
        tags.num_elements() == 1 ? str_cat(" (tag '", tags.value<std::string>(), "')") : ""));
  MessageWriter summary;
  TROUPE_TRY(dispatch(io::SummaryNumbers{}, values.dtype(), [&]<class T>() -> Status {
    for (std::int64_t i = 0; i < values.num_elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      MessageWriter value;
      value.text(1, tags.data<std::string>()[at]).real(2, static_cast<float>(values.data<T>()[at]));
      io::add_value(summary, value);
    }
    return {};
  }));
  return put(c, summary);
}

Status check_tag(const KernelContext& c, std::string_view sentence) {
  return c.input(0).shape().is_scalar() ? Status{} : invalid_argument(std::string(sentence));
}

Status histogram(KernelContext& c) {
  TROUPE_TRY(check_tag(c, "tags must be scalar"));
  TROUPE_ASSIGN(const MessageWriter histogram, io::histogram_message(c.input(1), c.node_name()));
  MessageWriter value, summary;
  value.text(1, c.input(0).value<std::string>()).message(5, histogram);
  io::add_value(summary, value);
  return put(c, summary);
}

Status tensor(KernelContext& c) {
  TROUPE_ASSIGN(const std::string message, tensor_message(c.input(0)));
  MessageWriter value, summary;
  value.text(7, c.node_name()).bytes(8, message);
  io::add_value(summary, value);
  return put(c, summary);
}

Status tensor_v2(KernelContext& c) {
  TROUPE_TRY(check_tag(c, "tag must be scalar"));
  if (!c.input(2).shape().is_scalar())
    return invalid_argument(
        str_cat("serialized_summary_metadata must be scalar, got shape ", c.input(2).shape()));
  TROUPE_ASSIGN(const std::string message, tensor_message(c.input(1)));
  MessageWriter value, summary;
  value.text(1, c.input(0).value<std::string>()).bytes(8, message);
  // Always there, as the message that it is.
  value.bytes(9, c.input(2).value<std::string>());
  io::add_value(summary, value);
  return put(c, summary);
}

/// Appends a Summary's values; a tag stands once in all of them.
Status merge_one(std::string_view summary, std::set<std::string, std::less<>>& tags,
                 MessageWriter& out) {
  MessageReader in(summary);
  while (in.next()) {
    if (in.field() != 1)
      continue;
    MessageReader value(in.bytes());
    while (value.next())
      if (value.field() == 1 && !value.bytes().empty() && !tags.emplace(value.bytes()).second)
        return invalid_argument(
            str_cat("Duplicate tag ", value.bytes(), " found in summary inputs"));
    if (!value.ok())
      return invalid_argument("Could not parse one of the summary inputs");
    out.bytes(1, in.bytes());
  }
  return in.ok() ? Status{} : invalid_argument("Could not parse one of the summary inputs");
}

Status merge(KernelContext& c) {
  std::set<std::string, std::less<>> tags;
  MessageWriter summary;
  for (int i = 0; i < c.num_inputs(); ++i)
    for (const std::string& one : c.input(i).data<std::string>())
      TROUPE_TRY(merge_one(one, tags, summary));
  return put(c, summary);
}

constexpr auto numbers =
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}";
constexpr auto is_text = "its value is a message";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ScalarSummary")
      .input("tags: string; values: T")
      .output("summary: string")
      .attr(str_cat("T: ", numbers))
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(scalar)
      .doc("A Summary message with a number for each tag.");
  library.op("HistogramSummary")
      .input("tag: string; values: T")
      .output("summary: string")
      .attr(str_cat("T: ", numbers, " = DT_FLOAT"))
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(histogram)
      .doc("A Summary message with the histogram of the values.");
  library.op("TensorSummary")
      .input("tensor: T")
      .output("summary: string")
      .attr(
          "T: type; description: string = ''; labels: list(string) = []; display_name: string = ''")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(tensor)
      .doc("A Summary message with the tensor itself, under the node's name.");
  library.op("TensorSummaryV2")
      .input("tag: string; tensor: T; serialized_summary_metadata: string")
      .output("summary: string")
      .attr("T: type")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(tensor_v2)
      .doc("A Summary message with the tensor itself and what a plugin of TensorBoard is to know.");
  library.op("MergeSummary")
      .input("inputs: N * string")
      .output("summary: string")
      .attr("N: int >= 1")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(merge)
      .doc("The values of several Summary messages in one.");
}

} // namespace troupe::io_summary
