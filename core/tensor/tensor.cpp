#include "core/tensor/tensor.hpp"

#include <cstring>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"

namespace troupe {

Tensor::Tensor(DType dtype, Shape shape, BufferRef buffer, std::size_t offset)
    : dtype_(dtype), shape_(std::move(shape)), buffer_(std::move(buffer)) {
  data_ = static_cast<std::byte*>(buffer_->data()) + offset;
  TROUPE_CHECK(is_object(dtype) || offset + bytes().size() <= buffer_->bytes(),
               "the buffer holds all elements");
}

Result<Tensor> Tensor::allocate(Allocator& allocator, DType dtype, Shape shape) {
  TROUPE_TRY(shape.check_size());
  const auto refused = [&](const std::string& why) {
    return resource_exhausted(str_cat("OOM when allocating tensor with shape", shape, " and type ",
                                      troupe::to_string(dtype), " by allocator ", allocator.name(),
                                      ": ", why));
  };
  auto count = static_cast<std::size_t>(shape.num_elements());
  std::size_t bytes = 0;
  BufferRef buffer;
  if (is_object(dtype)) {
    // Objects without an account may be charged later, to the allocator of their keeper.
    buffer = Buffer::objects(dtype, count, &allocator == &host_allocator() ? nullptr : &allocator);
    if (!buffer)
      return refused(allocator.refusal());
    return Tensor(dtype, std::move(shape), std::move(buffer));
  }
  if (__builtin_mul_overflow(count, dtype_size(dtype), &bytes))
    return refused("it has more bytes than any memory");
  buffer = Buffer::allocate(allocator, bytes);
  if (!buffer)
    return refused(str_cat("it has ", bytes, " bytes; ", allocator.refusal()));
  return Tensor(dtype, std::move(shape), std::move(buffer));
}

Tensor Tensor::make(DType dtype, Shape shape) {
  auto tensor = allocate(host_allocator(), dtype, std::move(shape));
  TROUPE_CHECK(tensor.ok(), tensor.status().message());
  return *std::move(tensor);
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor out = make(dtype, std::move(shape));
  if (!is_object(dtype) && out.num_elements() > 0)
    std::memset(out.data_, 0, out.bytes().size());
  return out;
}

std::size_t Tensor::byte_size() const {
  if (!is_object(dtype_))
    return static_cast<std::size_t>(num_elements()) * dtype_size(dtype_);
  std::size_t total = 0;
  if (dtype_ == DType::string)
    for (const std::string& s : data<std::string>())
      total += sizeof(s) + s.size();
  else if (dtype_ == DType::resource)
    total = static_cast<std::size_t>(num_elements()) * sizeof(ResourceHandle);
  else
    for (const Variant& v : data<Variant>())
      total += sizeof(v) + v.metadata.size();
  return total;
}

Tensor Tensor::reshaped(Shape shape) const {
  TROUPE_CHECK(shape.num_elements() == num_elements(), "reshaping keeps the number of elements");
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  TROUPE_CHECK(shape_.rank() > 0 && 0 <= begin && begin <= end && end <= shape_[0],
               "rows lie within the first dimension");
  Tensor out = *this;
  out.shape_ = shape_.with_dim(0, end - begin);
  std::int64_t row = shape_[0] ? num_elements() / shape_[0] : 0;
  std::size_t element = dtype_size(dtype_);
  if (dtype_ == DType::string)
    element = sizeof(std::string);
  else if (dtype_ == DType::resource)
    element = sizeof(ResourceHandle);
  else if (dtype_ == DType::variant)
    element = sizeof(Variant);
  out.data_ += static_cast<std::size_t>(begin * row) * element;
  return out;
}

Tensor Tensor::bitcast(DType dtype) const {
  TROUPE_CHECK(!is_object(dtype) && dtype_size(dtype) == dtype_size(dtype_),
               "a bitcast keeps the element size");
  Tensor out = *this;
  out.dtype_ = dtype;
  return out;
}

Tensor Tensor::deep_copy() const {
  Tensor out = make(dtype_, shape_);
  switch (dtype_) {
  case DType::string:
    for (std::size_t i = 0; i < data<std::string>().size(); ++i)
      out.mutable_data<std::string>()[i] = data<std::string>()[i];
    break;
  case DType::resource:
    for (std::size_t i = 0; i < data<ResourceHandle>().size(); ++i)
      out.mutable_data<ResourceHandle>()[i] = data<ResourceHandle>()[i];
    break;
  case DType::variant:
    for (std::size_t i = 0; i < data<Variant>().size(); ++i)
      out.mutable_data<Variant>()[i] = data<Variant>()[i];
    break;
  default:
    if (num_elements() > 0)
      std::memcpy(out.data_, data_, bytes().size());
  }
  return out;
}

Status Tensor::charge(std::size_t bytes) const {
  if (!buffer_ || buffer_->charge(bytes))
    return {};
  Allocator& account = *buffer_->account();
  return resource_exhausted(str_cat("allocator '", account.name(), "' has no room for ", bytes,
                                    " bytes in a ", troupe::to_string(dtype_), " tensor of shape ",
                                    shape_, ": ", account.refusal()));
}

Status Tensor::settle(Allocator& account) const {
  if (!is_object(dtype_) || !buffer_ || buffer_->settle(account))
    return {};
  return resource_exhausted(str_cat("allocator '", account.name(), "' has no room for a ",
                                    troupe::to_string(dtype_), " tensor of shape ", shape_, ", ",
                                    byte_size(), " bytes: ", account.refusal()));
}

void Tensor::throw_wrong_type(DType wanted) const {
  throw BadAccess(
      invalid_argument(str_cat("the elements of a ", troupe::to_string(dtype_), " tensor of shape ",
                               shape_.to_string(), " were asked for as ", troupe::to_string(wanted),
                               ": name its element type, or convert it by Cast in the graph")));
}

void Tensor::throw_not_one() const {
  throw BadAccess(invalid_argument(str_cat("the only element of a tensor was asked for, which has ",
                                           num_elements(), " (shape ", shape_.to_string(), ")")));
}

std::string Tensor::to_string(std::int64_t max_elements) const {
  return to_literal(*this, max_elements);
}

bool equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return false;
  auto same = [](auto x, auto y) { return std::equal(x.begin(), x.end(), y.begin()); };
  switch (a.dtype()) {
  case DType::invalid:
    return true;
  case DType::string:
    return same(a.data<std::string>(), b.data<std::string>());
  case DType::resource:
    return same(a.data<ResourceHandle>(), b.data<ResourceHandle>());
  case DType::variant:
    return same(a.data<Variant>(), b.data<Variant>());
  default:
    return a.num_elements() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes().size()) == 0;
  }
}

} // namespace troupe
