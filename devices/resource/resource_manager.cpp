#include "devices/resource/resource_manager.hpp"

#include <cstdlib>
#include <cstring>

#include <cxxabi.h>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

/// The C++ type for people, without our namespace.
std::string readable_type(std::string_view mangled) {
  int code = 0;
  std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &code), std::free);
  std::string_view name = code == 0 && text ? text.get() : mangled;
  constexpr std::string_view ours = "troupe::";
  if (name.starts_with(ours))
    name.remove_prefix(ours.size());
  return std::string(name);
}

/// The same elements in `memory`; no value when there is no room.
Tensor copy_into(VariableMemory& memory, const Tensor& value) {
  BufferRef buffer = memory.allocate_shown(value.byte_size());
  if (!buffer)
    return {};
  std::memcpy(buffer->data(), value.raw(), value.byte_size());
  return Tensor(value.dtype(), value.shape(), std::move(buffer));
}

/// Nobody else sees the elements. Foreign memory may belong to a file or to a peer.
bool is_ours_alone(const Tensor& value) {
  return value.is_unique() && (is_object(value.dtype()) || value.buffer()->allocator());
}

} // namespace

/// The same elements in memory that nobody else holds, from where the first came from.
Result<Tensor> Variable::private_copy() const {
  const Tensor& value = value_;
  if (is_shown()) {
    if (Tensor copy = copy_into(*memory_, value); copy.has_value())
      return copy;
    return resource_exhausted(str_cat("no room for a second copy of a variable of ",
                                      value.byte_size(),
                                      " bytes, which is needed because another task still reads "
                                      "the first where it lies; raise memory-limit"));
  }
  Allocator* source = value.buffer()->allocator();
  if (!source && !is_object(value.dtype()))
    source = &host_allocator();
  if (!source) {
    Tensor copy = value.deep_copy();
    if (Allocator* account = value.buffer()->account())
      TROUPE_TRY(copy.settle(*account));
    return copy;
  }
  TROUPE_ASSIGN(Tensor copy, Tensor::allocate(*source, value.dtype(), value.shape()));
  if (auto bytes = value.bytes(); !bytes.empty())
    TROUPE_TRY(source->copy(copy.mutable_raw(), bytes.data(), bytes.size()));
  return copy;
}

bool Variable::is_initialized() const {
  std::scoped_lock guard(lock_);
  return value_.has_value();
}

Tensor Variable::snapshot() const {
  std::scoped_lock guard(lock_);
  return value_;
}

Tensor Variable::snapshot_in(const std::shared_ptr<VariableMemory>& memory) {
  Tensor moved; // released after the lock
  std::scoped_lock guard(lock_);
  memory_ = memory;
  if (value_.has_value() && !memory->holds(value_.raw()))
    if (Tensor copy = copy_into(*memory, value_); copy.has_value())
      moved = std::exchange(value_, std::move(copy));
  return value_;
}

void Variable::assign(Tensor value) {
  std::scoped_lock guard(lock_);
  std::swap(value_, value); // the old value is destroyed after the lock
}

Status Variable::update(FunctionView<Status(Tensor& value)> update, bool in_place) {
  Tensor shared; // the readers' value, released after the lock
  std::scoped_lock guard(lock_);
  if (!value_.has_value())
    return failed_precondition("the variable is not initialized; run its initializer first");
  const bool shown = is_shown();
  if (in_place && shown && !value_.is_unique())
    memory_->collect();
  if (in_place && !(shown ? value_.is_unique() : is_ours_alone(value_))) {
    TROUPE_ASSIGN(Tensor copy, private_copy());
    shared = std::exchange(value_, std::move(copy));
  }
  TROUPE_TRY(update(value_));
  Allocator* account = value_.has_value() ? value_.buffer()->account() : nullptr;
  return account ? value_.settle(*account) : Status{};
}

std::string Variable::description() const {
  Tensor value = snapshot();
  if (!value.has_value())
    return str_cat("variable ", literal_name(dtype_), " (not initialized)");
  return str_cat("variable ", literal_name(value.dtype()), value.shape());
}

std::size_t Variable::bytes() const {
  Tensor value = snapshot();
  return value.has_value() ? value.byte_size() : 0;
}

void ResourceManager::clear_container(std::string_view container) {
  if (container.empty())
    container = default_container_;
  std::vector<std::shared_ptr<Resource>> dropped; // destroyed after the lock
  std::scoped_lock guard(lock_);
  std::erase_if(entries_, [&](auto& entry) {
    if (std::get<0>(entry.first) != container)
      return false;
    dropped.push_back(std::move(entry.second));
    return true;
  });
}

void ResourceManager::clear() {
  decltype(entries_) dropped; // destroyed after the lock
  std::scoped_lock guard(lock_);
  dropped.swap(entries_);
}

void ResourceManager::close(const Status& why) {
  {
    std::scoped_lock guard(lock_);
    if (closed_.ok())
      closed_ = why;
  }
  clear();
}

std::vector<ResourceManager::Entry> ResourceManager::list() const {
  std::vector<std::pair<Key, std::shared_ptr<Resource>>> all;
  {
    std::scoped_lock guard(lock_);
    all.assign(entries_.begin(), entries_.end());
  }
  // Outside the lock: a resource may be busy for long.
  std::vector<Entry> out;
  out.reserve(all.size());
  for (const auto& [key, resource] : all) {
    const auto& [container, type, name] = key;
    out.push_back(
        {container, readable_type(type), name, resource->description(), resource->bytes()});
  }
  return out;
}

Status ResourceManager::remove(std::string_view container, std::string_view type,
                               std::string_view name) {
  const KeyView k = key(container, type, name);
  std::shared_ptr<Resource> dropped; // destroyed outside the lock
  std::scoped_lock guard(lock_);
  auto it = entries_.find(k);
  if (it == entries_.end())
    return missing(k);
  dropped = std::move(it->second);
  entries_.erase(it);
  return {};
}

ResourceManager::~ResourceManager() {
  clear(); // what ends with a resource may look for another
}

Status ResourceManager::missing(const KeyView& key) {
  const auto& [container, type, name] = key;
  return not_found(str_cat("Resource ", container, "/", name, "/", readable_type(type),
                           " does not exist: container '", container, "' holds no ",
                           readable_type(type), " named '", name, "'"));
}

} // namespace troupe
