// Resources other than variables: how a node makes or finds the one that it names, and how other
// nodes find it by the handle, which is a resource handle or, in older ops, a reference to the two
// strings container and name.
#pragma once

#include <memory>
#include <string>

#include "graph/op/shape_context.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe {

/// A name that one node of one session has for itself, "_0_queue". What bears it goes when the
/// session's state of that node does, which is before the session's devices.
class PrivateName {
public:
  using Remove = Status (*)(ResourceManager&, const std::string& container,
                            const std::string& name);
  PrivateName(ResourceManager& manager, Remove remove, std::string container,
              const std::string& node);
  ~PrivateName();
  PrivateName(const PrivateName&) = delete;
  const std::string& name() const { return name_; }

private:
  ResourceManager& manager_;
  Remove remove_;
  std::string container_, name_;
};

/// Container and name of the resource of a node, and whether it is the node's own.
struct NodeResource {
  ResourceName name;
  bool is_private = false;
};
/// For prepare functions: private to the node unless it has a shared_name.
Result<NodeResource> private_resource(const PrepareContext& c);
/// … or of the node's name unless it has a shared_name.
Result<NodeResource> named_resource(const PrepareContext& c);

/// Shape function of ops whose output 0 is a handle in either form.
Status shape_of_handle(ShapeContext& c);

namespace detail {
/// Output 0: the handle, in whichever form the op declares.
Status give_handle(KernelContext& c, ResourceHandle handle);
/// Container and name of what input i names, in either form. INVALID_ARGUMENT if it names nothing
/// of this device.
Result<ResourceHandle> given_handle(KernelContext& c, int i);
/// What the resource of this node is called in this session.
ResourceName name_of(KernelContext& c, const NodeResource& kept, PrivateName::Remove remove);
} // namespace detail

/// Finds the resource of the node, or makes it by `make(name)`, which returns
/// Result<std::shared_ptr<T>>; its handle becomes output 0.
template <class T, class Make>
Result<std::shared_ptr<T>> node_resource(KernelContext& c, const NodeResource& kept, Make&& make) {
  const auto remove = [](ResourceManager& manager, const std::string& container,
                         const std::string& name) { return manager.remove<T>(container, name); };
  const auto [container, name] = detail::name_of(c, kept, remove);
  TROUPE_ASSIGN(auto found,
                c.resources().lookup_or_create<T>(container, name, [&] { return make(name); }));
  const std::string& in = container.empty() ? c.resources().default_container() : container;
  TROUPE_TRY(detail::give_handle(c, make_handle<T>(c.device(), in, name)));
  return found;
}

/// The resource whose handle is input i. NOT_FOUND naming it.
template <class T>
Result<std::shared_ptr<T>> input_resource(KernelContext& c, int i) {
  TROUPE_ASSIGN(const ResourceHandle handle, detail::given_handle(c, i));
  return c.resources().lookup<T>(handle.container, handle.name);
}

} // namespace troupe
