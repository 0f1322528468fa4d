#include "kernels/framework/resources.hpp"

#include <atomic>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

/// 0, 1, 2 …: names that differ in it never meet, whichever sessions share a device.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> next{0};
  return next++;
}

} // namespace

PrivateName::PrivateName(ResourceManager& manager, Remove remove, std::string container,
                         const std::string& node)
    : manager_(manager), remove_(remove), container_(std::move(container)),
      name_(str_cat("_", next_number(), "_", node)) {}

PrivateName::~PrivateName() {
  (void)remove_(manager_, container_, name_); // a reset may have dropped it before
}

Result<NodeResource> private_resource(const PrepareContext& c) {
  TROUPE_ASSIGN(ResourceName name, resource_name(c));
  return NodeResource{.name = std::move(name),
                      .is_private = c.attrs().get_or("shared_name", std::string()).empty()};
}

Result<NodeResource> named_resource(const PrepareContext& c) {
  TROUPE_ASSIGN(ResourceName name, resource_name(c));
  return NodeResource{.name = std::move(name)};
}

Status shape_of_handle(ShapeContext& c) {
  if (c.schema().outputs[0].is_ref)
    return c.set_output(0, PartialShape{2});
  return c.set_output(0, Shape{});
}

namespace detail {

Status give_handle(KernelContext& c, ResourceHandle handle) {
  if (!is_ref(c.output_type(0)))
    return c.set_output(0, Tensor::scalar(std::move(handle)));
  auto variable = std::make_shared<Variable>(DType::string);
  variable->assign(Tensor::vector<std::string>({handle.container, handle.name}));
  c.set_output_ref(0, std::move(variable));
  return {};
}

Result<ResourceHandle> given_handle(KernelContext& c, int i) {
  if (!is_ref(c.io().types.inputs[static_cast<std::size_t>(i)])) {
    TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, i));
    return *handle;
  }
  const Tensor strings = c.input_ref(i)->snapshot();
  if (!strings.has_value() || strings.dtype() != DType::string || strings.num_elements() != 2)
    return invalid_argument(str_cat("Resource handle must have 2 elements, but had shape: ",
                                    strings.has_value() ? strings.shape().to_string() : "none"));
  const auto data = strings.data<std::string>();
  return ResourceHandle{
      .device = c.device().name(), .container = data[0], .name = data[1], .maybe_type_name = {}};
}

ResourceName name_of(KernelContext& c, const NodeResource& kept, PrivateName::Remove remove) {
  if (!kept.is_private)
    return kept.name;
  auto own = c.node_state<PrivateName>(
      [&] { return new PrivateName(c.resources(), remove, kept.name.container, c.node_name()); });
  return {kept.name.container, own->name()};
}

} // namespace detail

} // namespace troupe
