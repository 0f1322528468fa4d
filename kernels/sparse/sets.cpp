// DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation and SetSize: the last
// dimension of a tensor holds a set for each index before it; what is the same twice counts once.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_sets {
namespace {

using sparse::Dims;
using sparse::Sparse;
using Members = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                      std::uint16_t, std::string>;

template <class T>
using Member = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;

/// All sets of a tensor: (which set, member), sorted and each once, so that an operation on these
/// pairs is the operation on every set.
template <class T>
using Sets = std::vector<std::pair<std::int64_t, Member<T>>>;

template <class T>
Sets<T> in_order(Sets<T> sets) {
  std::ranges::sort(sets);
  const auto twice = std::ranges::unique(sets);
  sets.erase(twice.begin(), twice.end());
  return sets;
}

/// Of the sets themselves: all dimensions but the last.
Result<Dims> group_shape(std::span<const std::int64_t> shape) {
  if (shape.size() < 2)
    return invalid_argument(
        str_cat("Shape [", sparse::listed(shape), "] has rank ", shape.size(), " < 2"));
  return Dims(shape.begin(), shape.end() - 1);
}

template <class T>
Sets<T> dense_sets(const Tensor& x) {
  const auto values = x.data<T>();
  const auto size = static_cast<std::size_t>(x.shape()[x.shape().rank() - 1]);
  Sets<T> out;
  out.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    out.emplace_back(static_cast<std::int64_t>(i / size), Member<T>(values[i]));
  return in_order<T>(std::move(out));
}

/// Of the inputs from `first` on.
Result<Sparse> input_sets(KernelContext& c, int first) {
  const Tensor& shape = c.input(first + 2);
  if (shape.shape().rank() != 1)
    return invalid_argument("Shape must be a 1D tensor.");
  TROUPE_TRY(sparse::check_shape(shape.data<std::int64_t>()));
  if (shape.num_elements() < 2)
    return invalid_argument(str_cat("Invalid rank ", shape.num_elements(), "."));
  TROUPE_ASSIGN(const Sparse s, sparse::sparse_tensor(c.input(first), c.input(first + 1), shape));
  TROUPE_TRY(c.attrs().get_or("validate_indices", true) ? sparse::check_indices(s)
                                                        : sparse::check_bounds(s));
  return s;
}

template <class T>
Sets<T> sparse_sets(const Sparse& s) {
  const auto values = s.values->data<T>();
  Sets<T> out;
  out.reserve(values.size());
  for (std::int64_t i = 0; i < s.entries; ++i) {
    std::int64_t set = 0;
    for (std::size_t d = 0; d + 1 < s.shape.size(); ++d)
      set = set * s.shape[d] + s.index(i)[d];
    out.emplace_back(set, Member<T>(values[static_cast<std::size_t>(i)]));
  }
  return in_order<T>(std::move(out));
}

template <class T>
Sets<T> combine(std::string_view operation, const Sets<T>& a, const Sets<T>& b) {
  Sets<T> out;
  auto to = std::back_inserter(out);
  if (operation == "a-b")
    std::ranges::set_difference(a, b, to);
  else if (operation == "b-a")
    std::ranges::set_difference(b, a, to);
  else if (operation == "intersection")
    std::ranges::set_intersection(a, b, to);
  else
    std::ranges::set_union(a, b, to);
  return out;
}

/// The attribute, in lower case.
Result<std::string> set_operation(const KernelContext& c) {
  TROUPE_ASSIGN(std::string out, c.attrs().get<std::string>("set_operation"));
  for (char& letter : out)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  for (std::string_view known : {"a-b", "b-a", "intersection", "union"})
    if (out == known)
      return out;
  return invalid_argument(str_cat("Invalid set_operation ", out, "."));
}

/// The result on the sets of two tensors with as many of them, `shape`, as a sparse tensor.
template <class T>
Status give(KernelContext& c, std::string_view operation, const Dims& shape, const Sets<T>& a,
            const Sets<T>& b) {
  const Sets<T> sets = combine<T>(operation, a, b);
  Dims indices, whole = shape;
  indices.reserve(sets.size() * (shape.size() + 1));
  std::int64_t largest = 0, in_set = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    in_set = i > 0 && sets[i - 1].first == sets[i].first ? in_set + 1 : 0;
    largest = std::max(largest, in_set + 1);
    const std::size_t begin = indices.size();
    indices.resize(begin + shape.size() + 1);
    indices.back() = in_set;
    std::int64_t left = sets[i].first;
    for (std::size_t d = shape.size(); d-- > 0; left /= shape[d])
      indices[begin + d] = left % shape[d];
  }
  whole.push_back(largest);
  TROUPE_TRY(sparse::give_indices(c, 0, indices, static_cast<std::int64_t>(whole.size())));
  TROUPE_ASSIGN(Tensor values, c.allocate_output(1, Shape{static_cast<std::int64_t>(sets.size())}));
  const auto to = values.mutable_data<T>();
  for (std::size_t i = 0; i < sets.size(); ++i)
    to[i] = T(sets[i].second);
  return sparse::give(c, 2, whole);
}

Status check_same(const Dims& a, const Dims& b) {
  if (a != b)
    return invalid_argument(
        str_cat("Mismatched shapes [", sparse::listed(a), "] vs [", sparse::listed(b), "]"));
  return {};
}

Result<Dims> dense_groups(const Tensor& x) {
  const auto dims = x.shape().dims();
  return group_shape(Dims(dims.begin(), dims.end()));
}

Status compute_dense_dense(KernelContext& c) {
  TROUPE_ASSIGN(const std::string operation, set_operation(c));
  TROUPE_ASSIGN(const Dims a, dense_groups(c.input(0)));
  TROUPE_ASSIGN(const Dims b, dense_groups(c.input(1)));
  TROUPE_TRY(check_same(a, b));
  return dispatch(Members{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return give<T>(c, operation, a, dense_sets<T>(c.input(0)), dense_sets<T>(c.input(1)));
  });
}

Status compute_dense_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const std::string operation, set_operation(c));
  TROUPE_ASSIGN(const Sparse second, input_sets(c, 1));
  TROUPE_ASSIGN(const Dims a, dense_groups(c.input(0)));
  TROUPE_ASSIGN(const Dims b, group_shape(second.shape));
  TROUPE_TRY(check_same(a, b));
  return dispatch(Members{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return give<T>(c, operation, a, dense_sets<T>(c.input(0)), sparse_sets<T>(second));
  });
}

Status compute_sparse_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const std::string operation, set_operation(c));
  TROUPE_ASSIGN(const Sparse first, input_sets(c, 0));
  TROUPE_ASSIGN(const Sparse second, input_sets(c, 3));
  TROUPE_ASSIGN(const Dims a, group_shape(first.shape));
  TROUPE_ASSIGN(const Dims b, group_shape(second.shape));
  TROUPE_TRY(check_same(a, b));
  return dispatch(Members{}, c.input(1).dtype(), [&]<class T>() -> Status {
    return give<T>(c, operation, a, sparse_sets<T>(first), sparse_sets<T>(second));
  });
}

Status compute_size(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse s, input_sets(c, 0));
  TROUPE_ASSIGN(const Dims groups, group_shape(s.shape));
  TROUPE_ASSIGN(const Shape shape, Shape::make(groups));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const auto sizes = out.mutable_data<std::int32_t>();
  std::ranges::fill(sizes, 0);
  return dispatch(Members{}, s.values->dtype(), [&]<class T>() -> Status {
    for (const auto& [set, member] : sparse_sets<T>(s))
      ++sizes[static_cast<std::size_t>(set)];
    return {};
  });
}

Status infer_operation(ShapeContext& c) {
  std::int64_t rank = shape_rules::unknown_dim;
  if (c.input(0).has_rank() && c.num_inputs() < 6) {
    rank = c.input(0).rank();
    if (rank < 2)
      return invalid_argument(str_cat("Input 0 must have rank at least 2, not ", rank));
  }
  TROUPE_TRY(c.set_output(0, {-1, rank}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.set_output(2, {rank});
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T",
                {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16,
                 DType::string}}};
  out.expensive = true;
  return out;
}

constexpr const char* members = "T: {int8, int16, int32, int64, uint8, uint16, string}";
constexpr const char* results = "result_indices: int64; result_values: T; result_shape: int64";

} // namespace

void register_ops(OpLibrary& library) {
  auto operation = [&](const char* name, const char* inputs, Status (*compute)(KernelContext&),
                       const char* doc) {
    library.op(name)
        .input(inputs)
        .output(results)
        .attr("set_operation: string; validate_indices: bool = true")
        .attr(members)
        .shape_fn(infer_operation)
        .not_differentiable("sets are chosen, not computed")
        .cpu_kernel(compute, options())
        .doc(doc);
  };
  operation(
      "DenseToDenseSetOperation", "set1: T; set2: T", compute_dense_dense,
      "The difference, intersection or union of the sets in the last dimension of two tensors.");
  operation("DenseToSparseSetOperation",
            "set1: T; set2_indices: int64; set2_values: T; set2_shape: int64", compute_dense_sparse,
            "The same for a tensor and a sparse one.");
  operation("SparseToSparseSetOperation",
            "set1_indices: int64; set1_values: T; set1_shape: int64; set2_indices: int64; "
            "set2_values: T; set2_shape: int64",
            compute_sparse_sparse, "The same for two sparse tensors.");
  library.op("SetSize")
      .input("set_indices: int64; set_values: T; set_shape: int64")
      .output("size: int32")
      .attr("validate_indices: bool = true")
      .attr(members)
      .shape_fn([](ShapeContext& c) { return c.set_output(0, PartialShape()); })
      .not_differentiable("it counts")
      .cpu_kernel(compute_size, options())
      .doc("How many different members each set in the last dimension of a sparse tensor has.");
}

} // namespace troupe::sparse_sets
