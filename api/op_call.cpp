#include "api/op_call.hpp"

namespace troupe {

OpCall::OpCall(const Scope& scope, std::string_view op) : scope_(scope), op_(op) {}

void OpCall::in(const Input& input) {
  inputs_.push_back(input.resolve(scope_.for_constants()));
}

void OpCall::in(const InputList& inputs) {
  for (const Input& input : inputs.inputs())
    in(input);
}

void OpCall::attr(std::string_view name, const Tensor& value) {
  if (value.has_value())
    attrs_.set(name, TensorBox{value});
}

Operation OpCall::finish() {
  if (!added_)
    operation_ = scope_.add(op_, inputs_, std::move(attrs_));
  added_ = true;
  return operation_;
}

Output OpCall::one(int index) {
  std::vector<Output> outputs = list(index);
  return outputs.empty() ? Output() : outputs[0];
}

std::vector<Output> OpCall::list(int index) {
  std::vector<Output> out;
  Operation operation = finish();
  if (!operation.is_valid())
    return out;
  const Node& node = *scope_.graph()->node(operation.id());
  auto ranges = arg_ranges(node.op->outputs, node.attrs);
  if (!ranges.ok()) {
    scope_.fail(ranges.status());
    return out;
  }
  ArgRange range = (*ranges)[static_cast<std::size_t>(index)];
  for (int slot = range.begin; slot < range.end; ++slot)
    out.push_back(operation.output(slot));
  return out;
}

} // namespace troupe
