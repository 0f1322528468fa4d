// KernelContext: outputs and the memory behind them.
#include "kernels/framework/context.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool wants_host_memory(const KernelIo& io, int output) {
  const auto& flags = io.output_in_host_memory;
  return !flags.empty() && flags[static_cast<std::size_t>(output)];
}

/// Whether the input's buffer may become an output of that dtype: nobody else holds it, and the
/// elements fit.
bool can_forward(const Tensor& input, DType dtype, const Shape& shape, MemoryKind wanted) {
  if (!input.has_value() || input.num_elements() != shape.num_elements())
    return false;
  if (is_object(input.dtype()) || is_object(dtype)
          ? input.dtype() != dtype
          : dtype_size(input.dtype()) != dtype_size(dtype) || input.kind() != wanted)
    return false;
  return input.is_unique();
}

} // namespace

Result<std::vector<bool>> in_host_memory(const std::vector<ArgDef>& args,
                                         const std::vector<std::string>& names,
                                         const AttrMap& attrs, const std::vector<DType>& types) {
  std::vector<bool> out(types.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    out[i] = is_object(types[i]);
  if (names.empty())
    return out;
  if (names.front() == all_args)
    return std::vector<bool>(types.size(), true);
  TROUPE_ASSIGN(auto ranges, arg_ranges(args, attrs));
  for (std::size_t i = 0; i < args.size(); ++i)
    if (std::ranges::find(names, args[i].name) != names.end())
      std::fill(out.begin() + ranges[i].begin, out.begin() + ranges[i].end, true);
  return out;
}

const std::shared_ptr<const KernelIo>& KernelBinder::share(const std::vector<DType>& inputs,
                                                           const std::vector<DType>& outputs,
                                                           std::vector<bool> in_host) {
  if (last_ && last_->types.inputs == inputs && last_->types.outputs == outputs &&
      last_->output_in_host_memory == in_host)
    return last_;
  Io& shared = all_[{inputs, outputs, in_host}];
  if (!shared)
    shared = std::make_shared<KernelIo>(KernelIo{{inputs, outputs}, std::move(in_host)});
  return last_ = shared;
}

KernelNode KernelBinder::describe(std::string name, const OpSchema& schema, AttrMap attrs,
                                  const std::vector<DType>& inputs,
                                  const std::vector<DType>& outputs) {
  KernelNode node;
  node.name = std::move(name);
  node.schema = &schema;
  node.attrs = std::move(attrs);
  node.io = share(inputs, outputs, {});
  return node;
}

Result<KernelNode> KernelBinder::bind(std::string name, const OpSchema& schema, AttrMap attrs,
                                      const std::vector<DType>& inputs,
                                      const std::vector<DType>& outputs,
                                      std::string_view first_input) {
  KernelNode node;
  node.name = std::move(name);
  node.schema = &schema;
  node.attrs = std::move(attrs);
  TROUPE_ASSIGN(node.kernel, kernels_.find(schema.name, node.attrs, device_.type(), node.name));
  const KernelOptions& options = node.kernel->options;
  std::vector<bool> in_host;
  if (device_.has_own_memory()) {
    TROUPE_ASSIGN(in_host,
                  in_host_memory(schema.outputs, options.host_outputs, node.attrs, outputs));
  }
  node.io = share(inputs, outputs, std::move(in_host));
  if (options.prepare) {
    PrepareContext prepare(node.name, schema, node.attrs, node.io->types, device_.name(),
                           first_input, graph_version_);
    TROUPE_ASSIGN(node.prepared, options.prepare(prepare));
  }
  return node;
}

Result<KernelNode> bind_kernel(const KernelRegistry& kernels, std::string name,
                               const OpSchema& schema, AttrMap attrs, Device& device) {
  TROUPE_ASSIGN(const NodeTypes types, resolve_types(schema, attrs));
  return KernelBinder(kernels, device)
      .bind(std::move(name), schema, std::move(attrs), types.inputs, types.outputs);
}

Result<ResourceHandle> KernelContext::input_handle(int i) const {
  const Tensor& value = input(i);
  if (value.dtype() != DType::resource || value.num_elements() != 1)
    return invalid_argument(str_cat("input ", i, " of node '", node_name(),
                                    "' must be one resource handle, got ",
                                    value.has_value() ? value.to_string() : "nothing"));
  return value.data<ResourceHandle>()[0];
}

// Numbers only: no kernel takes them for places in memory when it reads again what it has written.
bool KernelContext::allocate_at_receiver(const Shape& shape) {
  const DType dtype = output_type(0);
  if (!rendezvous() || device().has_own_memory() ||
      (dtype != DType::float32 && dtype != DType::float64) || shape.num_elements() <= 0)
    return false;
  BufferRef memory = rendezvous()->memory_of(
      *receiver, static_cast<std::uint64_t>(shape.num_elements()) * dtype_size(dtype));
  if (!memory)
    return false;
  outputs_[0].tensor = Tensor(dtype, shape, std::move(memory));
  return true;
}

namespace {
/// A refusal names the device, too: "OOM when allocating tensor with shape[2] and type float on
/// /job:…/device:CPU:0 by allocator cpu: …", as TensorFlow's does.
Result<Tensor> on_device(Result<Tensor> tensor, const Device& device) {
  constexpr std::string_view after_type = " by allocator ";
  if (tensor.ok() || tensor.status().code() != Code::resource_exhausted) [[likely]]
    return tensor;
  std::string message(tensor.status().message());
  if (const auto at = message.find(after_type); at != std::string::npos)
    message.insert(at, " on " + device.name());
  return resource_exhausted(std::move(message));
}
} // namespace

Result<Tensor> KernelContext::allocate_output(int i, const Shape& shape) {
  if (receiver && i == 0 && allocate_at_receiver(shape)) [[unlikely]]
    return outputs_[0].tensor;
  Allocator& from =
      wants_host_memory(*io_, i) ? device().host_side_allocator() : device().allocator();
  TROUPE_ASSIGN(Tensor out,
                on_device(Tensor::allocate(from, remove_ref(output_type(i)), shape), device()));
  outputs_[static_cast<std::size_t>(i)].tensor = out;
  return out;
}

Result<Tensor> KernelContext::forward_or_allocate(int from, int i, const Shape& shape) {
  return forward_or_allocate({from}, i, shape);
}

Result<Tensor> KernelContext::forward_or_allocate(std::initializer_list<int> from, int i,
                                                  const Shape& shape) {
  if (receiver && i == 0 && allocate_at_receiver(shape)) [[unlikely]]
    return outputs_[0].tensor;
  const DType dtype = remove_ref(output_type(i));
  const MemoryKind wanted = wants_host_memory(*io_, i) ? device().host_side_allocator().kind()
                                                       : device().allocator().kind();
  for (int candidate : from) {
    const Tensor& input = this->input(candidate);
    if (!can_forward(input, dtype, shape, wanted))
      continue;
    Tensor out = input.dtype() == dtype ? input : input.bitcast(dtype);
    if (out.shape() != shape)
      out = out.reshaped(shape);
    outputs_[static_cast<std::size_t>(i)].tensor = out;
    return out;
  }
  return allocate_output(i, shape);
}

void KernelContext::stop_if_cancelled() const {
  if (step_->cancellation && step_->cancellation->must_stop())
    throw StepCancelled();
}

void KernelContext::serial_for(std::int64_t total, double unit_cost, LoopBody body) const {
  const auto slice =
      static_cast<std::int64_t>(std::clamp(look_ns / std::max(unit_cost, least_cost), 1.0,
                                           static_cast<double>(std::max<std::int64_t>(total, 1))));
  for (std::int64_t at = 0; at < total;) {
    const std::int64_t end = at + std::min(slice, total - at);
    body(at, end);
    at = end;
    if (at < total)
      stop_if_cancelled();
  }
}

void KernelContext::parallel_for_while_wanted(std::int64_t total, double unit_cost,
                                              LoopBody body) const {
  step_->device->compute().parallel_for(
      total, unit_cost, [&](std::int64_t begin, std::int64_t end) {
        stop_if_cancelled();
        serial_for(end - begin, unit_cost,
                   [&](std::int64_t from, std::int64_t to) { body(begin + from, begin + to); });
      });
}

Result<Tensor> KernelContext::allocate_temp(DType dtype, const Shape& shape) {
  Allocator& own = device().allocator();
  const bool computes_on_host = own.kind() == MemoryKind::device && node_->kernel &&
                                !node_->kernel->options.host_inputs.empty() &&
                                node_->kernel->options.host_inputs.front() == all_args;
  return on_device(
      Tensor::allocate(computes_on_host ? device().host_side_allocator() : own, dtype, shape),
      device());
}

Status KernelContext::set_output(int i, Tensor value) {
  const DType declared = remove_ref(output_type(i));
  if (value.dtype() != declared)
    return internal(str_cat("Output ", i, " of type ", to_string(value.dtype()),
                            " does not match declared output type ", to_string(declared),
                            " for node ", node_name()));
  outputs_[static_cast<std::size_t>(i)].tensor = std::move(value);
  return {};
}

} // namespace troupe
