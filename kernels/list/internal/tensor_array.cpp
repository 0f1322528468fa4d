#include "kernels/list/internal/tensor_array.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "core/tensor/variant.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/list/internal/variant_math.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::list {

template <class... Parts>
Status TensorArray::refuse(const Parts&... parts) const {
  return invalid_argument(str_cat("TensorArray ", traits_.name, parts...));
}

Status TensorArray::check_open() const {
  return closed_ ? refuse(" has already been closed.") : Status{};
}

Status TensorArray::make_room(std::size_t size, Allocator& account) {
  if (size <= elements_.capacity())
    return {};
  const std::size_t wanted = std::max(size, 2 * elements_.capacity());
  TROUPE_TRY(charge_.raise_to(wanted * sizeof(Element), account));
  elements_.reserve(wanted);
  return {};
}

Status TensorArray::set_size(std::int32_t size, Allocator& account) {
  std::scoped_lock guard(lock_);
  TROUPE_TRY(make_room(static_cast<std::size_t>(size), account));
  elements_.resize(static_cast<std::size_t>(size));
  return {};
}

Status TensorArray::write(KernelContext& c, std::span<const std::int32_t> indices,
                          std::vector<Tensor> values) {
  std::scoped_lock guard(lock_);
  for (std::size_t i = 0; i < indices.size(); ++i)
    TROUPE_TRY(write_one(c, indices[i], std::move(values[i])));
  return {};
}

Status TensorArray::write_one(KernelContext& c, std::int32_t index, Tensor value) {
  TROUPE_TRY(check_open());
  const auto at = static_cast<std::size_t>(index);
  if (index < 0 || (!traits_.dynamic_size && at >= elements_.size()))
    return refuse(": Tried to write to index ", index,
                  " but array is not resizeable and size is: ", elements_.size());
  if (at >= elements_.size()) {
    TROUPE_TRY(make_room(at + 1, c.device().host_side_allocator()));
    elements_.resize(at + 1);
  }
  Element& element = elements_[at];
  const std::string what = str_cat(": Could not write to TensorArray index ", index);
  if (value.dtype() != traits_.dtype)
    return refuse(what, " because the value dtype is ", to_string(value.dtype()),
                  " but TensorArray dtype is ", to_string(traits_.dtype), ".");
  if (!traits_.element_shape.is_compatible_with(value.shape()))
    return refuse(what, " because the value shape is ", value.shape(),
                  " which is incompatible with the TensorArray's inferred element shape: ",
                  text_of(traits_.element_shape), " (consider setting infer_shape=False).");
  if (traits_.identical_element_shapes && !traits_.element_shape.is_fully_defined())
    traits_.element_shape = value.shape();
  if (element.read)
    return refuse(what, " because it has already been read.");
  if (element.written && !traits_.is_gradient)
    return refuse(what, " because it has already been written to.");
  TROUPE_TRY(check_nesting(value));
  if (element.written)
    return aggregate(c, index, element, std::move(value));
  element.shape = value.shape();
  element.value = std::move(value);
  element.written = true;
  return {};
}

Status TensorArray::aggregate(KernelContext& c, std::int32_t index, Element& element,
                              Tensor value) {
  if (!(value.shape() == element.shape))
    return refuse(": Could not aggregate to TensorArray index ", index,
                  " because the existing shape is ", element.shape, " but the new input shape is ",
                  value.shape(), ".");
  if (!element.value.has_value() || element.value.num_elements() == 0) {
    element.value = std::move(value);
    return {};
  }
  summed_ = true;
  const bool is_alone = element.value.is_unique();
  if (value.kind() == MemoryKind::device) {
    Tensor sum = element.value;
    if (!is_alone) {
      TROUPE_ASSIGN(sum, c.allocate_temp(value.dtype(), value.shape()));
    }
    TROUPE_TRY(math::binary_on_gpu(c, arith::BinaryOp::add, arith::flat_plan(value.num_elements()),
                                   element.value.raw(), value.raw(), sum));
    element.value = std::move(sum);
    return {};
  }
  if (value.dtype() == DType::variant || !is_alone) {
    TROUPE_ASSIGN(element.value, add(c, element.value, value));
    return {};
  }
  TROUPE_ASSIGN(const arith::AddNKernel kernel, arith::add_n(value.dtype()));
  void* to = element.value.mutable_raw();
  const void* inputs[] = {to, value.raw()};
  c.parallel_for(value.num_elements(), 0.2,
                 [&](std::int64_t begin, std::int64_t end) { kernel(inputs, 2, to, begin, end); });
  return {};
}

Result<std::vector<Tensor>> TensorArray::read(KernelContext& c,
                                              std::span<const std::int32_t> indices) {
  std::scoped_lock guard(lock_);
  std::vector<Tensor> out;
  out.reserve(indices.size());
  for (std::int32_t index : indices) {
    TROUPE_ASSIGN(Tensor value, read_one(c, index));
    out.push_back(std::move(value));
  }
  return out;
}

// A gradient's element may be read though nothing flowed there, even beyond its end.
Status TensorArray::shape_of_unwritten(KernelContext& c, std::int32_t index) {
  const auto at = static_cast<std::size_t>(index);
  Shape shape;
  if (traits_.is_gradient && at < elements_.size() && elements_[at].shape.rank() > 0) {
    shape = elements_[at].shape;
  } else {
    const auto full = traits_.element_shape.to_shape();
    if (!full)
      return refuse(": Could not read from TensorArray index ", index,
                    ".  Furthermore, the element shape is not fully defined: ",
                    text_of(traits_.element_shape),
                    ".  It is possible you are working with a resizeable TensorArray and "
                    "stop_gradients is not allowing the gradients to be written.  If you set the "
                    "full element_shape property on the forward TensorArray, the proper all-zeros "
                    "tensor will be returned instead of incurring this error.");
    shape = *full;
  }
  std::size_t first = at;
  if (at >= elements_.size()) {
    first = elements_.size();
    TROUPE_TRY(make_room(at + 1, c.device().host_side_allocator()));
    elements_.resize(at + 1);
  }
  for (std::size_t i = first; i <= at; ++i) {
    elements_[i].shape = shape;
    elements_[i].written = true;
  }
  return {};
}

Result<Tensor> TensorArray::read_one(KernelContext& c, std::int32_t index) {
  TROUPE_TRY(check_open());
  const auto at = static_cast<std::size_t>(index);
  if (index < 0 || (!traits_.is_gradient && at >= elements_.size()))
    return invalid_argument(
        str_cat("Tried to read from index ", index, " but array size is: ", elements_.size()));
  if (at >= elements_.size() || !elements_[at].written)
    TROUPE_TRY(shape_of_unwritten(c, index));
  Element& element = elements_[at];
  if (element.cleared)
    return refuse(": Could not read index ", index,
                  " twice because it was cleared after a previous read (perhaps try setting "
                  "clear_after_read = false?).");
  if (!element.value.has_value()) {
    TROUPE_ASSIGN(element.value, zeros(c, traits_.dtype, element.shape));
  }
  Tensor value = element.value;
  if (traits_.clear_after_read) {
    element.value = Tensor{};
    element.cleared = true;
  }
  element.read = true;
  return value;
}

Result<std::int32_t> TensorArray::size() const {
  std::scoped_lock guard(lock_);
  TROUPE_TRY(check_open());
  return static_cast<std::int32_t>(elements_.size());
}

Result<std::int32_t> TensorArray::packed_size() const {
  std::scoped_lock guard(lock_);
  TROUPE_TRY(check_open());
  return traits_.is_gradient ? traits_.marked_size : static_cast<std::int32_t>(elements_.size());
}

Status TensorArray::mark_size(std::int32_t size) {
  std::scoped_lock guard(lock_);
  TROUPE_TRY(check_open());
  if (!traits_.is_gradient)
    traits_.marked_size = size;
  return {};
}

bool TensorArray::is_dynamic() const {
  std::scoped_lock guard(lock_);
  return traits_.dynamic_size;
}

Status TensorArray::narrow_shape(const PartialShape& shape) {
  std::scoped_lock guard(lock_);
  TROUPE_ASSIGN(traits_.element_shape, merge(traits_.element_shape, shape));
  return {};
}

Result<std::shared_ptr<TensorArray>>
TensorArray::make_gradient(std::string name, const Shape& prepended, Allocator& account) {
  std::scoped_lock guard(lock_);
  TROUPE_TRY(check_open());
  traits_.dynamic_size = false;
  if (summed_)
    return invalid_argument(
        str_cat("Unable to create a gradients TensorArray for ", traits_.name,
                ".  Perhaps you used the multiple_writes_aggregate flag on a previous write?  "
                "Gradient calculation is impossible when multiple writes are performed to the same "
                "index."));
  auto with_prepended = [&](const Shape& shape) {
    std::vector<std::int64_t> dims(prepended.dims().begin(), prepended.dims().end());
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    return Shape::make(dims);
  };
  TensorArrayTraits traits = traits_;
  traits.name = std::move(name);
  traits.is_gradient = true;
  traits.clear_after_read = true;
  if (traits.element_shape.has_rank()) {
    std::vector<std::int64_t> dims(prepended.dims().begin(), prepended.dims().end());
    dims.insert(dims.end(), traits.element_shape.dims().begin(), traits.element_shape.dims().end());
    traits.element_shape = PartialShape(std::move(dims));
  }
  auto out = std::make_shared<TensorArray>(std::move(traits));
  TROUPE_TRY(out->set_size(static_cast<std::int32_t>(elements_.size()), account));
  // What was written has a shape, of which a gradient without writes is zeros.
  for (std::size_t i = 0; i < elements_.size(); ++i)
    if (elements_[i].written) {
      TROUPE_ASSIGN(out->elements_[i].shape, with_prepended(elements_[i].shape));
      out->elements_[i].written = true;
    }
  return out;
}

void TensorArray::close() {
  std::scoped_lock guard(lock_);
  elements_.clear();
  closed_ = true;
}

std::string TensorArray::description() const {
  std::scoped_lock guard(lock_);
  return str_cat("TensorArray[", elements_.size(), "]");
}

Result<std::shared_ptr<TensorArray>> input_array(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  return c.step().step_resources->lookup<TensorArray>(handle->container, handle->name);
}

Result<std::shared_ptr<TensorArray>> input_array_to_write(KernelContext& c, DType dtype) {
  TROUPE_ASSIGN(auto array, input_array(c));
  if (array->dtype() != dtype)
    return invalid_argument(str_cat("TensorArray dtype is ", to_string(array->dtype()),
                                    " but Op is trying to write dtype ", to_string(dtype), "."));
  return array;
}

Result<std::shared_ptr<TensorArray>> input_array_to_read(KernelContext& c) {
  TROUPE_ASSIGN(auto array, input_array(c));
  if (array->dtype() != c.output_type(0))
    return invalid_argument(str_cat("TensorArray dtype is ", to_string(array->dtype()),
                                    " but Op requested dtype ", to_string(c.output_type(0)), "."));
  return array;
}

KernelOptions elements_on_gpu(const KernelOptions& options, const char* type) {
  KernelOptions out =
      array::on_gpu(options, type, {"handle", "index", "indices", "lengths", "flow_in"});
  out.host_outputs = {"flow_out", "lengths"};
  return out;
}

} // namespace troupe::list
