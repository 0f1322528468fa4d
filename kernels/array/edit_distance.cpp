// EditDistance: how many insertions, deletions and replacements make one sequence of another, for
// the sequences in the last dimension of two sparse tensors (Levenshtein 1966).
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_edit_distance {
namespace {

using Dims = std::vector<std::int64_t>;
using Elements = Types<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                       std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool, Half,
                       BFloat16, std::complex<float>, std::complex<double>, std::string>;

/// Sequences in a sparse tensor: the entries that share all coordinates but the last.
struct Sequences {
  std::span<const std::int64_t> indices, shape;
  std::size_t entries = 0, rank = 0;

  std::span<const std::int64_t> place(std::size_t entry) const {
    return indices.subspan(entry * rank, rank - 1);
  }
  /// The end of the sequence that begins at an entry.
  std::size_t end_of(std::size_t begin) const {
    std::size_t end = begin + 1;
    while (end < entries && std::ranges::equal(place(end), place(begin)))
      ++end;
    return end;
  }
};

Result<Sequences> read(KernelContext& c, int first, const std::string& name) {
  const Shape &indices = c.input(first).shape(), &values = c.input(first + 1).shape(),
              &shape = c.input(first + 2).shape();
  if (indices.rank() != 2)
    return invalid_argument(str_cat(name, "_indices should be a matrix, but got shape: ", indices));
  if (values.rank() != 1)
    return invalid_argument(str_cat(name, "_values should be a vector, but got shape: ", values));
  if (shape.rank() != 1)
    return invalid_argument(str_cat(name, "_shape should be a vector, but got shape: ", shape));
  if (values[0] != indices[0])
    return invalid_argument(str_cat("Expected ", name, "_values.NumElements == #rows(", name,
                                    "_indices), their shapes are: ", values, " and ", indices));
  if (shape[0] < 2)
    return invalid_argument(str_cat("Input SparseTensors must have rank at least 2, but ", name,
                                    "_shape rank is: ", shape[0]));
  if (shape[0] != indices[1])
    return invalid_argument(str_cat("Expected ", name, "_shape.NumElements == #cols(", name,
                                    "_indices), their shapes are: ", shape, " and ", indices));
  return Sequences{c.input(first).data<std::int64_t>(), c.input(first + 2).data<std::int64_t>(),
                   static_cast<std::size_t>(indices[0]), static_cast<std::size_t>(indices[1])};
}

template <class T>
std::int64_t distance(KernelContext& c, std::span<const T> a, std::span<const T> b) {
  Dims row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j)
    row[j] = static_cast<std::int64_t>(j);
  c.serial_for(static_cast<std::int64_t>(a.size()), 4.0 * static_cast<double>(b.size() + 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   std::int64_t before = row[0]; // of the row above, one to the left
                   row[0] = i + 1;
                   for (std::size_t j = 0; j < b.size(); ++j) {
                     const std::int64_t above = row[j + 1];
                     const bool same = a[static_cast<std::size_t>(i)] == b[j];
                     row[j + 1] = std::min({above + 1, row[j] + 1, before + (same ? 0 : 1)});
                     before = above;
                   }
                 }
               });
  return row.back();
}

template <class T>
Status write(KernelContext& c, const Sequences& hypothesis, const Sequences& truth, Tensor& out) {
  const auto from = c.input(1).data<T>(), wanted = c.input(4).data<T>();
  const auto to = out.mutable_data<float>();
  const bool normalize = c.prepared<bool>();
  std::size_t h = 0, t = 0;
  while (h < hypothesis.entries || t < truth.entries) {
    c.stop_if_cancelled();
    const bool no_h = h == hypothesis.entries, no_t = t == truth.entries;
    const bool takes_h =
        !no_h &&
        (no_t || !std::ranges::lexicographical_compare(truth.place(t), hypothesis.place(h)));
    const bool takes_t =
        !no_t &&
        (no_h || !std::ranges::lexicographical_compare(hypothesis.place(h), truth.place(t)));
    const auto place = takes_h ? hypothesis.place(h) : truth.place(t);
    const std::size_t h_end = takes_h ? hypothesis.end_of(h) : h,
                      t_end = takes_t ? truth.end_of(t) : t;
    std::int64_t at = 0;
    bool inside = true;
    for (std::size_t d = 0; d < place.size() && inside; ++d)
      inside = !__builtin_mul_overflow(at, out.shape()[static_cast<int>(d)], &at) &&
               !__builtin_add_overflow(at, place[d], &at);
    if (!inside || at < 0 || at >= out.num_elements())
      return internal(str_cat("Got an inner product ", at,
                              " which would require writing to outside of the buffer for the "
                              "output tensor (max elements ",
                              out.num_elements(), ")"));
    auto result = static_cast<float>(
        distance<T>(c, wanted.subspan(t, t_end - t), from.subspan(h, h_end - h)));
    if (normalize)
      result = t_end > t ? result / static_cast<float>(t_end - t)
                         : std::numeric_limits<float>::infinity();
    to[static_cast<std::size_t>(at)] = result;
    h = h_end;
    t = t_end;
  }
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Sequences hypothesis, read(c, 0, "hypothesis"));
  TROUPE_ASSIGN(const Sequences truth, read(c, 3, "truth"));
  if (hypothesis.rank != truth.rank)
    return invalid_argument(
        str_cat("Expected truth and hypothesis to have matching ranks, but their shapes are: ",
                c.input(5).shape(), " and ", c.input(2).shape()));
  Dims dims;
  for (std::size_t d = 0; d + 1 < truth.rank; ++d)
    dims.push_back(std::max(hypothesis.shape[d], truth.shape[d]));
  for (const Sequences* s : {&hypothesis, &truth})
    TROUPE_TRY(Shape::make(s->shape).status());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  std::ranges::fill(out.mutable_data<float>(), 0.0F);
  return dispatch(Elements{}, c.input(1).dtype(),
                  [&]<class T>() -> Status { return write<T>(c, hypothesis, truth, out); });
}

Status infer(ShapeContext& c) {
  for (int i : {0, 3}) {
    TROUPE_TRY(c.require_rank(i, 2));
    TROUPE_TRY(c.require_rank(i + 1, 1));
    TROUPE_TRY(c.require_rank(i + 2, 1));
  }
  const auto hypothesis = c.input_as_ints(2), truth = c.input_as_ints(5);
  if (!hypothesis || !truth)
    return {};
  if (hypothesis->size() != truth->size())
    return invalid_argument(str_cat("Num elements of hypothesis_shape does not match truth_shape: ",
                                    hypothesis->size(), " vs. ", truth->size()));
  Dims dims;
  for (std::size_t d = 0; d + 1 < truth->size(); ++d)
    dims.push_back(std::max({(*hypothesis)[d], (*truth)[d], std::int64_t{-1}}));
  return c.set_output(0, PartialShape(std::move(dims)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {
      {"T",
       {DType::float32, DType::float64, DType::int8, DType::int16, DType::int32, DType::int64,
        DType::uint8, DType::uint16, DType::uint32, DType::uint64, DType::bool_, DType::float16,
        DType::bfloat16, DType::complex64, DType::complex128, DType::string}}};
  options.prepare = keep_attr<bool, "normalize">;
  options.expensive = true;
  library.op("EditDistance")
      .input("hypothesis_indices: int64; hypothesis_values: T; hypothesis_shape: int64; "
             "truth_indices: int64; truth_values: T; truth_shape: int64")
      .output("output: float")
      .attr("normalize: bool = true; T: type")
      .shape_fn(infer)
      .not_differentiable("it counts")
      .cpu_kernel(compute, options)
      .doc("How many changes make each hypothesis of its truth, by the truth's length or not.");
}

} // namespace troupe::array_edit_distance
