#include "kernels/list/internal/held_tensors.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::list {

Status MemoryCharge::raise_to(std::size_t bytes, Allocator& account) {
  if (bytes <= bytes_)
    return {};
  if (!account_)
    account_ = &account;
  if (!account_->charge(bytes - bytes_))
    return resource_exhausted(str_cat("allocator '", account_->name(), "' has no room for ",
                                      bytes - bytes_,
                                      " bytes of a list's places: ", account_->refusal()));
  bytes_ = bytes;
  return {};
}

Status HeldTensors::make_room(std::size_t size, Allocator& account) {
  if (size <= tensors_.capacity())
    return {};
  const std::size_t wanted = std::max(size, 2 * tensors_.capacity());
  TROUPE_TRY(charge_.raise_to(wanted * sizeof(Tensor), account));
  tensors_.reserve(wanted);
  return {};
}

Status HeldTensors::push(Tensor tensor, Allocator& account) {
  TROUPE_TRY(make_room(tensors_.size() + 1, account));
  tensors_.push_back(std::move(tensor));
  return {};
}

Status HeldTensors::resize(std::size_t size, Allocator& account) {
  TROUPE_TRY(make_room(size, account));
  tensors_.resize(size);
  return {};
}

Tensor HeldTensors::pop() {
  Tensor last = std::move(tensors_.back());
  tensors_.pop_back();
  return last;
}

std::string text_of(const PartialShape& shape) {
  return shape.has_rank() ? shape.to_string() : "<unknown>";
}

Result<PartialShape> merge(const PartialShape& a, const PartialShape& b) {
  if (auto merged = a.merge(b))
    return *std::move(merged);
  if (a.rank() != b.rank())
    return invalid_argument(str_cat(
        "PartialTensorShape: Incompatible ranks during merge: ", a.rank(), " vs. ", b.rank()));
  return invalid_argument(str_cat(
      "PartialTensorShape: Incompatible shapes during merge: ", text_of(a), " vs. ", text_of(b)));
}

PartialShape without_first(const PartialShape& shape) {
  if (!shape.has_rank())
    return {};
  return PartialShape(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

Result<Shape> with_first(std::int64_t first, const Shape& rest) {
  std::vector<std::int64_t> dims{first};
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return Shape::make(dims);
}

namespace {

Status join_on_gpu(KernelContext& c, std::span<const Piece> pieces,
                   std::span<const std::int64_t> begins, Tensor& out) {
  const std::size_t size = dtype_size(out.dtype());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    void* to =
        static_cast<std::byte*>(out.mutable_raw()) + static_cast<std::size_t>(begins[i]) * size;
    const std::size_t bytes = static_cast<std::size_t>(pieces[i].elements) * size;
    TROUPE_TRY(pieces[i].from ? gpu::copy(c, to, pieces[i].from->raw(), bytes)
                              : gpu::fill(c, to, 0, bytes));
  }
  return {};
}

} // namespace

Status join(KernelContext& c, std::span<const Piece> pieces, Tensor& out) {
  const bool objects = is_object(out.dtype());
  std::vector<std::int64_t> begins;
  begins.reserve(pieces.size());
  std::int64_t at = 0;
  std::size_t text = 0;
  for (const Piece& piece : pieces) {
    begins.push_back(at);
    at += piece.elements;
    if (objects && piece.from)
      text += array::text_bytes(*piece.from, 0, piece.elements);
  }
  if (objects)
    TROUPE_TRY(out.charge(text));
  if (out.kind() == MemoryKind::device)
    return join_on_gpu(c, pieces, begins, out);
  const auto size = objects ? std::size_t{64} : dtype_size(out.dtype());
  const double each = pieces.empty() ? 0
                                     : static_cast<double>(at) * static_cast<double>(size) * 0.1 /
                                           static_cast<double>(pieces.size());
  c.parallel_for(static_cast<std::int64_t>(pieces.size()), 10 + each,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end);
                        ++i) {
                     const Piece& piece = pieces[i];
                     if (piece.from)
                       array::copy_elements(*piece.from, 0, out, begins[i], piece.elements);
                     else if (!objects)
                       std::memset(static_cast<std::byte*>(out.mutable_raw()) +
                                       static_cast<std::size_t>(begins[i]) * size,
                                   0, static_cast<std::size_t>(piece.elements) * size);
                   }
                 });
  return {};
}

Result<Tensor> part(KernelContext& c, const Tensor& tensor, std::int64_t begin, std::int64_t end,
                    const Shape& shape) {
  if (Tensor shared = array::shared_rows(tensor, begin, end); shared.has_value())
    return shared.reshaped(shape);
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(tensor.dtype(), shape));
  const std::int64_t row = end > begin ? shape.num_elements() / (end - begin) : 0;
  if (tensor.kind() == MemoryKind::device) {
    TROUPE_TRY(array::copy_runs(c, tensor, begin * row, 0, out, 0, 0, 1, shape.num_elements()));
    return out;
  }
  TROUPE_TRY(out.charge(array::text_bytes(tensor, begin * row, shape.num_elements())));
  array::copy_elements(tensor, begin * row, out, 0, shape.num_elements());
  return out;
}

Result<Tensor> zeros(KernelContext& c, DType dtype, const Shape& shape) {
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(dtype, shape));
  TROUPE_TRY(array::fill_with_zeros(c, out));
  return out;
}

Result<std::int32_t> scalar_input(KernelContext& c, int i, std::string_view name) {
  const Tensor& value = c.input(i);
  if (!value.shape().is_scalar())
    return invalid_argument(str_cat(name, " must be a scalar, but had shape: ", value.shape()));
  return value.value<std::int32_t>();
}

} // namespace troupe::list
