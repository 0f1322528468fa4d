// Unique: the different elements of a vector in the order of their first coming, and for each
// element which of them it is. UniqueWithCounts: how often each comes, too. UniqueV2 and
// UniqueWithCountsV2: the same for the slices along an axis.
#include <algorithm>
#include <bit>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_unique {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(i == 1 ? c.output_like(1, 0) : c.set_output(i, PartialShape{-1}));
  return {};
}

/// What an element is looked up by: text by its characters, small floats by their value.
template <class T>
using Key = std::conditional_t<
    std::is_same_v<T, std::string>, std::string_view,
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>>;

/// Which of the different elements one is, by numbers from 0 on in the order of their first coming.
template <class T>
class Seen {
public:
  explicit Seen(std::span<const T> x) : x_(x) { seen_.reserve(x.size()); }
  /// Of element i, and whether it is the first of its kind.
  std::pair<std::size_t, bool> find(std::size_t i) {
    const auto [found, is_new] = seen_.try_emplace(Key<T>(x_[i]), first_.size());
    if (is_new)
      first_.push_back(i);
    return {found->second, is_new};
  }
  /// The first of each kind.
  const std::vector<std::size_t>& first() const { return first_; }

private:
  std::span<const T> x_;
  std::unordered_map<Key<T>, std::size_t> seen_;
  std::vector<std::size_t> first_;
};

/// Numbers: a table that is at most half full. A number lies at the first free place from the one
/// its hash says.
template <class T>
requires(!std::is_same_v<T, std::string>) class Seen<T> {
public:
  explicit Seen(std::span<const T> x) : x_(x), places_(std::size_t{1} << bits_) {}
  std::pair<std::size_t, bool> find(std::size_t i) {
    const Key<T> key(x_[i]);
    Place& place = place_of(key);
    if (place.number != 0)
      return {place.number - 1, false};
    first_.push_back(i);
    place = {key, first_.size()};
    if (2 * first_.size() > places_.size())
      grow();
    return {first_.size() - 1, true};
  }
  const std::vector<std::size_t>& first() const { return first_; }

private:
  struct Place {
    Key<T> key = {};
    std::size_t number = 0; // from 1 on
  };

  /// The upper bits of a product, which all bits of the number change. Zeros of both signs are
  /// equal.
  std::size_t hash(Key<T> key) const {
    std::uint64_t bits = 0;
    if constexpr (std::is_floating_point_v<Key<T>>)
      bits = key == 0 ? 0 : std::bit_cast<Bits>(key);
    else
      bits = static_cast<std::uint64_t>(key);
    return static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15U) >> (64 - bits_));
  }
  /// Where the number is, or where it goes; NaN is equal to none.
  Place& place_of(Key<T> key) {
    for (std::size_t at = hash(key);; ++at) {
      Place& place = places_[at & (places_.size() - 1)];
      if (place.number == 0 || place.key == key)
        return place;
    }
  }
  void grow() {
    bits_ += 2;
    places_.assign(std::size_t{1} << bits_, Place());
    for (std::size_t k = 0; k < first_.size(); ++k) {
      const Key<T> key(x_[first_[k]]);
      place_of(key) = {key, k + 1};
    }
  }
  using Bits = std::conditional_t<sizeof(Key<T>) == 8, std::uint64_t, std::uint32_t>;

  std::span<const T> x_;
  int bits_ = 8; // of a place's number
  std::vector<Place> places_;
  std::vector<std::size_t> first_;
};

template <class T, class I>
Status find_unique(KernelContext& c) {
  const auto x = c.input(0).data<T>();
  TROUPE_ASSIGN(Tensor index, c.allocate_output(1, c.input(0).shape()));
  auto at = index.mutable_data<I>();
  Seen<T> seen(x);
  std::vector<std::size_t> count;
  c.serial_for(c.input(0).num_elements(), 20, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto [found, is_new] = seen.find(i);
      if (is_new)
        count.push_back(0);
      at[i] = static_cast<I>(found);
      ++count[found];
    }
  });
  const std::vector<std::size_t>& first = seen.first();
  const Shape shape{static_cast<std::int64_t>(first.size())};
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  auto out = y.mutable_data<T>();
  for (std::size_t k = 0; k < first.size(); ++k)
    out[k] = x[first[k]];
  if (c.num_outputs() < 3)
    return {};
  TROUPE_ASSIGN(Tensor counts, c.allocate_output(2, shape));
  auto number = counts.mutable_data<I>();
  for (std::size_t k = 0; k < first.size(); ++k)
    number[k] = static_cast<I>(count[k]);
  return {};
}

using Keys =
    Types<float, double, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
          std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16, std::string>;

Status compute(KernelContext& c) {
  if (c.input(0).shape().rank() != 1)
    return invalid_argument("unique expects a 1D vector.");
  return dispatch(Keys{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return dispatch(Indices{}, c.output_type(1),
                    [&]<class I>() -> Status { return find_unique<T, I>(c); });
  });
}

/// The axis of UniqueV2, which a vector of at most one number names; -1 without one, of vectors.
Result<int> axis_of(const Shape& x, std::span<const std::int64_t> given) {
  if (given.size() > 1)
    return invalid_argument("axis does not support input tensors larger than 1 elements");
  if (given.empty() && x.rank() != 1)
    return invalid_argument("unique expects a 1D vector.");
  const std::int64_t axis = given.empty() ? 0 : given[0] < 0 ? given[0] + x.rank() : given[0];
  if (axis < 0 || axis >= x.rank())
    return invalid_argument(str_cat("axis has to be between [0, ", x.rank(), ")"));
  return static_cast<int>(axis);
}

/// Slices along an axis that have been seen, by their hash; those that are alike are compared.
template <class T>
class Slices {
public:
  Slices(std::span<const T> x, const array::AroundAxis& dims) : x_(x), dims_(dims) {}
  /// Which of the different slices this one is, and whether it is the first of its kind.
  std::pair<std::size_t, bool> find(std::int64_t slice) {
    std::size_t hash = 0;
    for_each(slice, [&](std::size_t at) {
      hash = (hash ^ std::hash<Key<T>>{}(Key<T>(x_[at]))) * 0x9e3779b97f4a7c15U + (hash >> 29);
      return true;
    });
    const auto [begin, end] = seen_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (same(first_[it->second], slice))
        return {it->second, false};
    seen_.emplace(hash, first_.size());
    first_.push_back(slice);
    return {first_.size() - 1, true};
  }
  const std::vector<std::int64_t>& first() const { return first_; }

private:
  template <class Body>
  bool for_each(std::int64_t slice, Body body) const {
    for (std::int64_t o = 0; !x_.empty() && o < dims_.outer; ++o)
      for (std::int64_t i = 0; i < dims_.inner; ++i)
        if (!body(static_cast<std::size_t>((o * dims_.middle + slice) * dims_.inner + i)))
          return false;
    return true;
  }
  bool same(std::int64_t a, std::int64_t b) const {
    const auto ahead = static_cast<std::size_t>((b - a) * dims_.inner);
    return for_each(a, [&](std::size_t at) { return Key<T>(x_[at]) == Key<T>(x_[at + ahead]); });
  }

  std::span<const T> x_;
  array::AroundAxis dims_;
  std::unordered_multimap<std::size_t, std::size_t> seen_;
  std::vector<std::int64_t> first_;
};

template <class T, class I>
Status find_unique_slices(KernelContext& c, int axis) {
  const Tensor& x = c.input(0);
  const array::AroundAxis dims = array::around_axis(x.shape(), axis);
  TROUPE_ASSIGN(Tensor index, c.allocate_output(1, Shape{dims.middle}));
  auto at = index.mutable_data<I>();
  Slices<T> slices(x.data<T>(), dims);
  std::vector<I> count;
  c.serial_for(dims.middle, 20.0 * static_cast<double>(dims.outer * dims.inner + 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const auto [which, is_new] = slices.find(i);
                   if (is_new)
                     count.push_back(0);
                   at[static_cast<std::size_t>(i)] = static_cast<I>(which);
                   ++count[which];
                 }
               });
  const auto number = static_cast<std::int64_t>(count.size());
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape().with_dim(axis, number)));
  TROUPE_TRY(y.charge(array::text_bytes(x, 0, x.num_elements())));
  for (std::int64_t o = 0; y.num_elements() > 0 && o < dims.outer; ++o)
    for (std::int64_t k = 0; k < number; ++k)
      array::copy_elements(
          x, (o * dims.middle + slices.first()[static_cast<std::size_t>(k)]) * dims.inner, y,
          (o * number + k) * dims.inner, dims.inner);
  if (c.num_outputs() < 3)
    return {};
  TROUPE_ASSIGN(Tensor counts, c.allocate_output(2, Shape{number}));
  std::ranges::copy(count, counts.mutable_data<I>().begin());
  return {};
}

Status compute_slices(KernelContext& c) {
  if (c.input(1).shape().rank() != 1)
    return invalid_argument("axis expects a 1D vector.");
  TROUPE_ASSIGN(const Integers given, integers(c.input(1)));
  TROUPE_ASSIGN(const int axis, axis_of(c.input(0).shape(), given));
  return dispatch(Keys{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return dispatch(Indices{}, c.output_type(1),
                    [&]<class I>() -> Status { return find_unique_slices<T, I>(c, axis); });
  });
}

Status infer_slices(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  for (int i = 1; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, PartialShape{-1}));
  const auto given = c.input_as_ints(1);
  const PartialShape& x = c.input(0);
  if (!x.has_rank() || !given)
    return {};
  std::vector<std::int64_t> dims = x.dims();
  const std::vector<std::int64_t> ones(dims.size(), 1);
  TROUPE_ASSIGN(const int axis, axis_of(Shape(ones), *given));
  TROUPE_TRY(c.set_output(1, PartialShape{dims[static_cast<std::size_t>(axis)]}));
  dims[static_cast<std::size_t>(axis)] = -1;
  return c.set_output(0, PartialShape(std::move(dims)));
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T",
                {DType::float32, DType::float64, DType::bool_, DType::int8, DType::int16,
                 DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
                 DType::uint64, DType::float16, DType::bfloat16, DType::string}}};
  out.expensive = true;
  return out;
}

/// How many there are decides shapes, which the host has to know: it finds them. Of ids, which are
/// few beside what they choose.
KernelOptions ids_on_host() {
  KernelOptions out = options();
  out.types = {{"T", {DType::int32, DType::int64}}};
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Unique")
      .input("x: T")
      .output("y: T; idx: out_idx")
      .attr("T: type; out_idx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .not_differentiable("troupe has no gradient rule for it, as TensorFlow has none")
      .cpu_kernel(compute, options())
      .host_kernel_on_gpu(compute, ids_on_host())
      .doc("The different elements of x, and for each element of x its position among them.");
  library.op("UniqueWithCounts")
      .input("x: T")
      .output("y: T; idx: out_idx; count: out_idx")
      .attr("T: type; out_idx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .not_differentiable("troupe has no gradient rule for it, as TensorFlow has none")
      .cpu_kernel(compute, options())
      .host_kernel_on_gpu(compute, ids_on_host())
      .doc("As Unique, and how often each element comes.");
  library.op("UniqueV2")
      .input("x: T; axis: Taxis")
      .output("y: T; idx: out_idx")
      .attr("T: type; Taxis: {int32, int64} = DT_INT64; out_idx: {int32, int64} = DT_INT32")
      .shape_fn(infer_slices)
      .not_differentiable("troupe has no gradient rule for it, as TensorFlow has none")
      .cpu_kernel(compute_slices, options())
      .host_kernel_on_gpu(compute_slices, ids_on_host())
      .doc("The different slices of x along an axis, and for each slice its position among them.");
  library.op("UniqueWithCountsV2")
      .input("x: T; axis: Taxis")
      .output("y: T; idx: out_idx; count: out_idx")
      .attr("T: type; Taxis: {int32, int64} = DT_INT64; out_idx: {int32, int64} = DT_INT32")
      .shape_fn(infer_slices)
      .not_differentiable("troupe has no gradient rule for it, as TensorFlow has none")
      .cpu_kernel(compute_slices, options())
      .host_kernel_on_gpu(compute_slices, ids_on_host())
      .doc("As UniqueV2, and how often each slice comes.");
}

} // namespace troupe::array_unique
