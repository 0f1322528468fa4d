// DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation and SetSize: the
// last dimension of a tensor holds a set for each index before it; what is the same twice counts
// once.
#include <algorithm>
#include <iterator>
#include <span>
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

/// All sets of a tensor that are not empty, by their numbers: the members of each, sorted and each
/// once, lie one after the other.
template <class T>
struct Sets {
  struct Run {
    std::int64_t set;
    std::size_t begin, end;
  };
  std::vector<Member<T>> members;
  std::vector<Run> runs;

  auto of(const Run& run) const {
    return std::span(members).subspan(run.begin, run.end - run.begin);
  }
};

/// Sorts each run and leaves out what is there twice.
template <class T>
void put_in_order(KernelContext& c, Sets<T>& sets) {
  const auto size = static_cast<double>(sets.members.size());
  const auto runs = static_cast<std::int64_t>(sets.runs.size());
  c.parallel_for(runs, 20 + 20 * size / static_cast<double>(std::max<std::int64_t>(runs, 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) {
                     auto& run = sets.runs[static_cast<std::size_t>(r)];
                     const auto members =
                         std::span(sets.members).subspan(run.begin, run.end - run.begin);
                     std::ranges::sort(members);
                     run.end -= std::ranges::unique(members).size();
                   }
                 });
}

/// Of the sets themselves: all dimensions but the last.
Result<Dims> group_shape(std::span<const std::int64_t> shape) {
  if (shape.size() < 2)
    return invalid_argument(
        str_cat("Shape [", sparse::listed(shape), "] has rank ", shape.size(), " < 2"));
  return Dims(shape.begin(), shape.end() - 1);
}

template <class T>
Sets<T> dense_sets(KernelContext& c, const Tensor& x) {
  const auto values = x.data<T>();
  const auto size = static_cast<std::size_t>(x.shape()[x.shape().rank() - 1]);
  Sets<T> out;
  out.members.assign(values.begin(), values.end());
  for (std::size_t begin = 0; begin < values.size(); begin += size)
    out.runs.push_back({static_cast<std::int64_t>(begin / size), begin, begin + size});
  put_in_order(c, out);
  return out;
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
Sets<T> sparse_sets(KernelContext& c, const Sparse& s) {
  const auto values = s.values->data<T>();
  std::vector<std::pair<std::int64_t, Member<T>>> all;
  all.reserve(values.size());
  bool in_order = true;
  const std::int64_t* at = s.indices.data();
  for (std::int64_t i = 0; i < s.entries; ++i, at += s.rank) {
    std::int64_t set = 0;
    for (std::size_t d = 0; d + 1 < s.shape.size(); ++d)
      set = set * s.shape[d] + at[d];
    in_order &= i == 0 || all.back().first <= set;
    all.emplace_back(set, Member<T>(values[static_cast<std::size_t>(i)]));
  }
  if (!in_order) // whoever does not ask for a check may bring that
    std::ranges::stable_sort(all, {}, [](const auto& entry) { return entry.first; });
  Sets<T> out;
  out.members.reserve(all.size());
  for (const auto& [set, member] : all) {
    if (out.runs.empty() || out.runs.back().set != set)
      out.runs.push_back({set, out.members.size(), out.members.size()});
    out.members.push_back(member);
    ++out.runs.back().end;
  }
  put_in_order(c, out);
  return out;
}

enum class Operation : std::uint8_t { a_without_b, b_without_a, intersection, in_either };

/// The attribute, in any case.
Result<Operation> set_operation(const KernelContext& c) {
  TROUPE_ASSIGN(std::string name, c.attrs().get<std::string>("set_operation"));
  for (char& letter : name)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  if (name == "a-b")
    return Operation::a_without_b;
  if (name == "b-a")
    return Operation::b_without_a;
  if (name == "intersection")
    return Operation::intersection;
  if (name == "union")
    return Operation::in_either;
  return invalid_argument(str_cat("Invalid set_operation ", name, "."));
}

template <class T>
Sets<T> combine(Operation operation, const Sets<T>& a, const Sets<T>& b) {
  Sets<T> out;
  out.members.reserve(a.members.size() + b.members.size());
  auto to = std::back_inserter(out.members);
  auto x = a.runs.begin(), y = b.runs.begin();
  while (x != a.runs.end() || y != b.runs.end()) {
    const bool has_a = x != a.runs.end() && (y == b.runs.end() || x->set <= y->set);
    const bool has_b = y != b.runs.end() && (x == a.runs.end() || y->set <= x->set);
    const std::int64_t set = has_a ? x->set : y->set;
    const auto first = has_a ? a.of(*x) : std::span<const Member<T>>();
    const auto second = has_b ? b.of(*y) : std::span<const Member<T>>();
    const std::size_t begin = out.members.size();
    if (operation == Operation::a_without_b)
      std::ranges::set_difference(first, second, to);
    else if (operation == Operation::b_without_a)
      std::ranges::set_difference(second, first, to);
    else if (operation == Operation::intersection)
      std::ranges::set_intersection(first, second, to);
    else
      std::ranges::set_union(first, second, to);
    if (out.members.size() > begin)
      out.runs.push_back({set, begin, out.members.size()});
    x += has_a ? 1 : 0;
    y += has_b ? 1 : 0;
  }
  return out;
}

/// The result on the sets of two tensors with as many of them, `shape`, as a sparse tensor.
template <class T>
Status give(KernelContext& c, Operation operation, const Dims& shape, const Sets<T>& a,
            const Sets<T>& b) {
  const Sets<T> sets = combine<T>(operation, a, b);
  const auto count = static_cast<std::int64_t>(sets.members.size());
  const auto rank = static_cast<std::int64_t>(shape.size()) + 1;
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, Shape{count, rank}));
  std::int64_t* to = indices.mutable_data<std::int64_t>().data();
  Dims place(shape.size()), whole = shape;
  whole.push_back(0);
  for (const auto& run : sets.runs) {
    std::int64_t left = run.set;
    for (std::size_t d = shape.size(); d-- > 0; left /= shape[d])
      place[d] = left % shape[d];
    const auto size = static_cast<std::int64_t>(run.end - run.begin);
    whole.back() = std::max(whole.back(), size);
    for (std::int64_t i = 0; i < size; ++i) {
      to = std::ranges::copy(place, to).out;
      *to++ = i;
    }
  }
  TROUPE_ASSIGN(Tensor values, c.allocate_output(1, Shape{count}));
  std::ranges::transform(sets.members, values.mutable_data<T>().begin(),
                         [](const Member<T>& member) { return T(member); });
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
  TROUPE_ASSIGN(const Operation operation, set_operation(c));
  TROUPE_ASSIGN(const Dims a, dense_groups(c.input(0)));
  TROUPE_ASSIGN(const Dims b, dense_groups(c.input(1)));
  TROUPE_TRY(check_same(a, b));
  return dispatch(Members{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return give<T>(c, operation, a, dense_sets<T>(c, c.input(0)), dense_sets<T>(c, c.input(1)));
  });
}

Status compute_dense_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const Operation operation, set_operation(c));
  TROUPE_ASSIGN(const Sparse second, input_sets(c, 1));
  TROUPE_ASSIGN(const Dims a, dense_groups(c.input(0)));
  TROUPE_ASSIGN(const Dims b, group_shape(second.shape));
  TROUPE_TRY(check_same(a, b));
  return dispatch(Members{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return give<T>(c, operation, a, dense_sets<T>(c, c.input(0)), sparse_sets<T>(c, second));
  });
}

Status compute_sparse_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const Operation operation, set_operation(c));
  TROUPE_ASSIGN(const Sparse first, input_sets(c, 0));
  TROUPE_ASSIGN(const Sparse second, input_sets(c, 3));
  TROUPE_ASSIGN(const Dims a, group_shape(first.shape));
  TROUPE_ASSIGN(const Dims b, group_shape(second.shape));
  TROUPE_TRY(check_same(a, b));
  return dispatch(Members{}, c.input(1).dtype(), [&]<class T>() -> Status {
    return give<T>(c, operation, a, sparse_sets<T>(c, first), sparse_sets<T>(c, second));
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
    for (const auto& run : sparse_sets<T>(c, s).runs)
      sizes[static_cast<std::size_t>(run.set)] = static_cast<std::int32_t>(run.end - run.begin);
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
