// TensorArray: an array of tensors that lives as long as its step; each element is written once
// and, in gradients, summed up.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kernels/list/internal/held_tensors.hpp"

namespace troupe::list {

/// A kernel on arrays whose elements, of the attribute `type`, are in a GPU's memory.
KernelOptions elements_on_gpu(const KernelOptions& options, const char* type);

/// What a TensorArray is made with.
struct TensorArrayTraits {
  std::string name; ///< for people
  DType dtype = DType::invalid;
  PartialShape element_shape;
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool identical_element_shapes = false;
  bool is_gradient = false; ///< several writes to an element add up
  std::int32_t marked_size = -1;
};

/// Safe for several kernels at a time. Errors are TensorFlow's, INVALID_ARGUMENT all of them.
class TensorArray final : public Resource {
public:
  explicit TensorArray(TensorArrayTraits traits) : traits_(std::move(traits)) {}

  /// Writes values[i] to element indices[i]; adds to it in a gradient.
  Status write(KernelContext& c, std::span<const std::int32_t> indices, std::vector<Tensor> values);
  /// What the elements hold; zeros where the shape is known and nothing was written.
  Result<std::vector<Tensor>> read(KernelContext& c, std::span<const std::int32_t> indices);

  DType dtype() const { return traits_.dtype; }
  Result<std::int32_t> size() const;
  /// Before it is used: RESOURCE_EXHAUSTED.
  Status set_size(std::int32_t size, Allocator& account);
  /// The size that Pack and Concat make their tensor of.
  Result<std::int32_t> packed_size() const;
  Status mark_size(std::int32_t size);
  bool is_dynamic() const;
  Status narrow_shape(const PartialShape& shape);
  /// An array for the gradients of its elements, whose shapes have `prepended` in front. From now
  /// on its own size is fixed.
  Result<std::shared_ptr<TensorArray>> make_gradient(std::string name, const Shape& prepended,
                                                     Allocator& account);
  void close();
  std::string description() const override;

private:
  struct Element {
    Tensor value; ///< none: zeros of `shape`
    Shape shape;
    bool written = false, read = false, cleared = false;
  };
  Status check_open() const;
  Status make_room(std::size_t size, Allocator& account);
  Status write_one(KernelContext& c, std::int32_t index, Tensor value);
  Status aggregate(KernelContext& c, std::int32_t index, Element& element, Tensor value);
  Result<Tensor> read_one(KernelContext& c, std::int32_t index);
  Status shape_of_unwritten(KernelContext& c, std::int32_t index);
  template <class... Parts>
  Status refuse(const Parts&... parts) const;

  mutable std::mutex lock_;
  TensorArrayTraits traits_;
  std::vector<Element> elements_;
  MemoryCharge charge_;
  bool closed_ = false, summed_ = false;
};

/// The array whose handle is input 0. INVALID_ARGUMENT, or NOT_FOUND where its step has ended.
Result<std::shared_ptr<TensorArray>> input_array(KernelContext& c);
/// The same; INVALID_ARGUMENT "TensorArray dtype is … but Op is trying to write dtype …" (or "but
/// Op requested dtype") if it holds another dtype.
Result<std::shared_ptr<TensorArray>> input_array_to_write(KernelContext& c, DType dtype);
Result<std::shared_ptr<TensorArray>> input_array_to_read(KernelContext& c);
/// Handles of one step begin with these.
inline constexpr std::string_view arrays_prefix = "_tensor_arrays";
inline constexpr std::string_view gradients_prefix = "_tensor_array_grads";

} // namespace troupe::list
