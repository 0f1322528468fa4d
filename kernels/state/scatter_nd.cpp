// ScatterNdUpdate, Add, Sub, Min, Max and their Resource forms: slices of a variable, each named by
// a row of indices, are changed in place, one after the other. ResourceGatherNd reads such slices.
#include <algorithm>
#include <optional>

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/scatter_nd.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/state/internal/change.hpp"

namespace troupe::state_scatter_nd {
namespace {

using arith::BinaryOp;

/// Where the slices lie: `count` of them, `size` elements each.
struct Slices {
  std::int64_t count = 1, size = 1;
  std::vector<std::int64_t> at; ///< first element of each
};

std::string row_text(const Integers& all, std::int64_t row, int depth) {
  std::vector<std::int64_t> out;
  for (int k = 0; k < depth; ++k)
    out.push_back(all[static_cast<std::size_t>(row * depth + k)]);
  return str_join(out, ", ");
}

/// The position of row `i` of the indices: "2" or "0,1".
std::string position_text(const Shape& indices, std::int64_t i) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(std::max(indices.rank() - 1, 0)));
  for (std::size_t k = out.size(); k-- > 0;) {
    out[k] = i % indices[static_cast<int>(k)];
    i /= indices[static_cast<int>(k)];
  }
  return str_join(out, ",");
}

/// Indices outside are an error, or -1 where they are ignored.
Result<Slices> find_slices(const Shape& params, const Tensor& given, std::string_view of,
                           bool ignore = false) {
  // As many indices of one dimension.
  const bool is_vector = of == "shape" && given.shape().rank() == 1;
  const Tensor indices = is_vector ? given.reshaped(Shape{given.num_elements(), 1}) : given;
  const Shape& shape = indices.shape();
  if (shape.rank() < 1)
    return invalid_argument("indices must be at least a vector");
  const std::int64_t depth = shape[shape.rank() - 1];
  if (depth > params.rank())
    return invalid_argument(
        str_cat("index innermost dimension length must be <= params rank; saw: ", depth, " vs. ",
                params.rank()));
  Slices out;
  for (int i = 0; i + 1 < shape.rank(); ++i)
    out.count *= shape[i];
  for (int i = static_cast<int>(depth); i < params.rank(); ++i)
    out.size *= params[i];
  out.at.resize(static_cast<std::size_t>(out.count));
  if (find_nd_rows(indices, params, 0, out.count, out.at.data()) >= 0 && !ignore) {
    TROUPE_ASSIGN(const Integers all, integers(indices));
    const std::int64_t first = std::ranges::find(out.at, -1) - out.at.begin();
    return invalid_argument(str_cat(
        "indices", shape.rank() == 1 ? "" : str_cat("[", position_text(shape, first), "]"), " = [",
        row_text(all, first, static_cast<int>(depth)), "] does not index into ", of, " ", params));
  }
  for (std::int64_t& at : out.at)
    at = at < 0 ? -1 : at * out.size;
  return out;
}

/// What `op` is for a dtype: sums of booleans are their or, differences whether they differ.
BinaryOp of_dtype(BinaryOp op, DType dtype) {
  if (dtype != DType::bool_)
    return op;
  return op == BinaryOp::add ? BinaryOp::logical_or : BinaryOp::not_equal;
}

Status scatter(KernelContext& c, std::optional<BinaryOp> op) {
  TROUPE_ASSIGN(auto variable, state::variable_to_change(c, 0));
  const Tensor &indices = c.input(1), &updates = c.input(2);
  if (variable->dtype() != updates.dtype())
    return invalid_argument(str_cat("Trying to scatter into variable with wrong dtype. Expected ",
                                    to_string(variable->dtype()), " got ",
                                    to_string(updates.dtype())));
  TROUPE_ASSIGN(const bool ignore,
                ignores_bad_indices(c.attrs().get_or("bad_indices_policy", std::string())));
  TROUPE_TRY(variable->update([&](Tensor& params) -> Status {
    TROUPE_TRY(check_scatter_nd(params.shape(), indices.shape(), updates.shape()));
    TROUPE_ASSIGN(const Slices slices, find_slices(params.shape(), indices, "shape", ignore));
    arith::BinaryKernel kernel;
    if (op) {
      TROUPE_ASSIGN(kernel, arith::binary(of_dtype(*op, updates.dtype()), updates.dtype()));
    }
    const std::size_t size = dtype_size(updates.dtype());
    for (std::int64_t i = 0; i < slices.count; ++i) {
      const std::int64_t at = slices.at[static_cast<std::size_t>(i)];
      if (at < 0)
        continue;
      if (!op) {
        copy_elements(updates, i * slices.size, params, at, slices.size);
        continue;
      }
      std::byte* to =
          static_cast<std::byte*>(params.mutable_raw()) + static_cast<std::size_t>(at) * size;
      const std::byte* from = static_cast<const std::byte*>(updates.raw()) +
                              static_cast<std::size_t>(i * slices.size) * size;
      kernel.row(to, from, to, slices.size, arith::RowMode::both_rows);
    }
    return {};
  }));
  state::give_ref(c, std::move(variable));
  return {};
}

Status infer_scatter(ShapeContext& c) {
  return c.num_outputs() > 0 ? c.output_like(0, 0) : Status{};
}

Status gather(KernelContext& c) {
  TROUPE_ASSIGN(auto variable, resource_variable(c, 0));
  const Tensor params = variable->snapshot();
  const Tensor& indices = c.input(1);
  if (params.dtype() != c.output_type(0))
    return invalid_argument(str_cat("Trying to gather from variable with wrong dtype. Expected ",
                                    to_string(c.output_type(0)), " got ",
                                    to_string(params.dtype())));
  if (params.shape().rank() < 1)
    return invalid_argument("params must be at least a vector");
  if (params.num_elements() == 0 && indices.shape().rank() > 0 && indices.num_elements() > 0)
    return invalid_argument(str_cat(
        "Requested more than 0 entries, but params is empty.  Params shape: ", params.shape()));
  const auto of_indices = indices.shape().dims(), of_params = params.shape().dims();
  // Objects, and what is wrong, one by one.
  Slices slices;
  const bool can_be_quick = !is_object(params.dtype()) && !of_indices.empty() &&
                            of_indices.back() <= params.shape().rank() && params.num_elements() > 0;
  if (!can_be_quick) {
    TROUPE_ASSIGN(slices, find_slices(params.shape(), indices, "param shape"));
  }
  std::vector<std::int64_t> dims(of_indices.begin(), of_indices.end() - 1);
  dims.insert(dims.end(), of_params.begin() + of_indices.back(), of_params.end());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  if (!can_be_quick && slices.count > 0 && params.num_elements() == 0)
    return invalid_argument(str_cat(
        "Requested more than 0 entries, but params is empty.  Params shape: ", params.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (can_be_quick) {
    std::int64_t row = 1;
    for (auto i = static_cast<std::size_t>(of_indices.back()); i < of_params.size(); ++i)
      row *= of_params[i];
    return gather_nd_rows(c, params, indices, row, false, out) < 0
               ? Status()
               : find_slices(params.shape(), indices, "param shape").status();
  }
  for (std::int64_t i = 0; i < slices.count; ++i)
    copy_elements(params, slices.at[static_cast<std::size_t>(i)], out, i * slices.size,
                  slices.size);
  return {};
}

constexpr auto in_place = "it changes a variable in place";
constexpr auto any_number = "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
                            "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, "
                            "uint32, uint64}";

/// One function. Without `op` slices are replaced.
struct Kind {
  std::string_view name, doc;
  std::optional<BinaryOp> op;
  KernelFn kernel;
};

constexpr Kind kinds[] = {
    {"ScatterNdUpdate", "The slices of a variable that the rows of indices name = updates.",
     std::nullopt, [](KernelContext& c) { return scatter(c, std::nullopt); }},
    {"ScatterNdAdd", "The slices of a variable that the rows of indices name += updates.",
     BinaryOp::add, [](KernelContext& c) { return scatter(c, BinaryOp::add); }},
    {"ScatterNdSub", "The slices of a variable that the rows of indices name -= updates.",
     BinaryOp::sub, [](KernelContext& c) { return scatter(c, BinaryOp::sub); }},
    {"ScatterNdMin", "Slices of a variable = min(slices, updates).", BinaryOp::clip_above,
     [](KernelContext& c) { return scatter(c, BinaryOp::clip_above); }},
    {"ScatterNdMax", "Slices of a variable = max(slices, updates).", BinaryOp::clip_below,
     [](KernelContext& c) { return scatter(c, BinaryOp::clip_below); }},
};

void add_op(OpLibrary& library, const Kind& kind, bool resource) {
  std::vector<DType> dtypes = arith::dtypes_of(kind.op.value_or(BinaryOp::add));
  if (!kind.op || kind.op == BinaryOp::add || kind.op == BinaryOp::sub)
    dtypes.push_back(DType::bool_);
  if (!kind.op)
    dtypes.push_back(DType::string);
  KernelOptions options;
  options.types = {{"Tindices", {DType::int32, DType::int64}}, {"T", std::move(dtypes)}};
  options.expensive = true;
  auto op = library.op(str_cat(resource ? "Resource" : "", kind.name));
  op.input(resource ? "ref: resource" : "ref: Ref(T)")
      .input("indices: Tindices; updates: T")
      .attr(resource || !kind.op ? std::string("T: type") : str_cat("T: ", any_number))
      .attr("Tindices: {int32, int64}")
      .attr(resource || !kind.op ? "use_locking: bool = true" : "use_locking: bool = false")
      .attr("bad_indices_policy: string = ''")
      .roles(Role::side_effect)
      .shape_fn(infer_scatter)
      .not_differentiable(in_place)
      .cpu_kernel(kind.kernel, std::move(options))
      .doc(kind.doc);
  if (resource)
    op.stateful();
  else
    op.output("output_ref: Ref(T)");
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const Kind& kind : kinds)
    for (const bool resource : {false, true})
      add_op(library, kind, resource);
  library.op("ResourceGatherNd")
      .input("resource: resource; indices: Tindices")
      .output("output: dtype")
      .attr("dtype: type; Tindices: {int32, int64}")
      .stateful()
      .shape_fn(shape_unknown)
      .not_differentiable("read the variable first: GatherNd has a gradient")
      .cpu_kernel(gather, {.types = {{"Tindices", {DType::int32, DType::int64}}}})
      .doc("The slices of a variable that the rows of indices name.");
}

} // namespace troupe::state_scatter_nd
