// LoadAndRemapMatrix: a matrix of a checkpoint with its rows and columns in another order.
#include <algorithm>
#include <unordered_map>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "storage/checkpoint/checkpoint.hpp"

namespace troupe::io_remap_matrix {
namespace {

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_ASSIGN(const auto rows, c.attr<std::int64_t>("num_rows"));
  TROUPE_ASSIGN(const auto columns, c.attr<std::int64_t>("num_cols"));
  return c.set_output(0, PartialShape{rows, columns});
}

/// Where old rows or columns go, and which new ones have an old one.
struct Remapping {
  std::unordered_map<std::int64_t, std::int64_t> new_of_old;
  std::vector<bool> is_present;
  std::int64_t least = -1, most = -1; ///< old ones that are asked for

  static Result<Remapping> of(const Tensor& tensor) {
    Remapping out;
    const auto old = tensor.data<std::int64_t>();
    out.is_present.resize(old.size());
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (old[i] < 0)
        continue;
      out.is_present[i] = true;
      const auto [found, is_new] = out.new_of_old.emplace(old[i], static_cast<std::int64_t>(i));
      if (!is_new)
        return unimplemented(str_cat("Old ID ", old[i], " is mapped to both new ID ", found->second,
                                     " and ", i, ", which is not supported."));
      out.least = out.least < 0 ? old[i] : std::min(out.least, old[i]);
      out.most = std::max(out.most, old[i]);
    }
    return out;
  }
};

struct Sizes {
  std::int64_t rows = 0, columns = 0, most_rows = -1;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Sizes out;
  TROUPE_ASSIGN(out.rows, c.attr<std::int64_t>("num_rows"));
  TROUPE_ASSIGN(out.columns, c.attr<std::int64_t>("num_cols"));
  TROUPE_ASSIGN(out.most_rows, c.attr<std::int64_t>("max_rows_in_memory"));
  return prepared(out);
}

Status check_matrix(const CheckpointEntry& entry, const std::string& name, std::int64_t columns,
                    bool remaps_columns) {
  if (entry.dtype != DType::float32)
    return invalid_argument(str_cat("Tensor ", name, " has invalid type ", to_string(entry.dtype),
                                    " instead of expected type float"));
  if (entry.shape.rank() != 2)
    return invalid_argument(str_cat("Tensor ", name, " has shape ", entry.shape,
                                    " of invalid rank ", entry.shape.rank(),
                                    " instead of expected shape of rank 2."));
  if (!remaps_columns && entry.shape[1] != columns)
    return invalid_argument(str_cat("Tensor ", name, " has shape ", entry.shape,
                                    ", where the size of its 2nd dimension is ", entry.shape[1],
                                    " instead of being equal to num_cols=", columns));
  return {};
}

/// Copies old rows, of which the first is number `first`, to their places.
void place(const Tensor& loaded, std::int64_t first, const Remapping& rows,
           const Remapping* columns, std::int64_t num_columns, Tensor& to) {
  const auto from = loaded.data<float>();
  const auto out = to.mutable_data<float>();
  const std::int64_t old_columns = loaded.shape()[1];
  for (std::int64_t row = 0; row < loaded.shape()[0]; ++row) {
    const auto new_row = rows.new_of_old.find(first + row);
    if (new_row == rows.new_of_old.end())
      continue;
    const float* in = from.data() + row * old_columns;
    float* at = out.data() + new_row->second * num_columns;
    if (!columns) {
      std::copy_n(in, old_columns, at);
      continue;
    }
    for (const auto& [old_column, new_column] : columns->new_of_old)
      if (old_column < old_columns)
        at[new_column] = in[old_column];
  }
}

Status fill_rest(const Tensor& values, const Remapping& rows, const Remapping* columns,
                 const Sizes& sizes, Tensor& to) {
  const auto from = values.data<float>();
  const auto out = to.mutable_data<float>();
  std::size_t used = 0;
  for (std::int64_t i = 0; i < sizes.rows; ++i)
    for (std::int64_t j = 0; j < sizes.columns; ++j) {
      if (rows.is_present[static_cast<std::size_t>(i)] &&
          (!columns || columns->is_present[static_cast<std::size_t>(j)]))
        continue;
      if (used == from.size())
        return invalid_argument(str_cat("initializing_values contained ", from.size(),
                                        " elements, but more missing values remain."));
      out[static_cast<std::size_t>(i * sizes.columns + j)] = from[used++];
    }
  if (used != from.size())
    return invalid_argument(str_cat("initializing_values contained ", from.size(),
                                    " elements, but only ", used,
                                    " elements were used to fill in missing values."));
  return {};
}

Status compute(KernelContext& c) {
  const auto& sizes = c.prepared<Sizes>();
  for (int i : {2, 3})
    if (c.input(i).shape().rank() != 1)
      return invalid_argument(
          str_cat("The `", c.node().schema->inputs[static_cast<std::size_t>(i)].name,
                  "` tensor must be 1-D, got a tensor of shape ", c.input(i).shape()));
  if (c.input(2).num_elements() != sizes.rows)
    return invalid_argument(str_cat("Size of row_remapping is ", c.input(2).num_elements(),
                                    " instead of being equal to num_rows=", sizes.rows));
  TROUPE_ASSIGN(const Remapping rows, Remapping::of(c.input(2)));
  const bool remaps_columns = c.input(3).num_elements() > 0;
  if (remaps_columns && c.input(3).num_elements() != sizes.columns)
    return invalid_argument(str_cat("Provided col_remapping, but its size is ",
                                    c.input(3).num_elements(),
                                    " instead of being equal to num_cols=", sizes.columns));
  TROUPE_ASSIGN(const Remapping all_columns, Remapping::of(c.input(3)));
  const Remapping* columns = remaps_columns ? &all_columns : nullptr;
  if (c.input(0).num_elements() != 1)
    return invalid_argument(str_cat("The `ckpt_path` tensor must have exactly one element, got "
                                    "tensor of shape ",
                                    c.input(0).shape()));
  TROUPE_ASSIGN(const std::string name, scalar_text(c, 1, "old_tensor_name"));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  const std::string& prefix = c.input(0).data<std::string>()[0];
  auto opened = CheckpointReader::open(*files, prefix);
  if (opened.status().code() == Code::not_found)
    return not_found(str_cat(checkpoint_index_name(prefix), "; No such file or directory"));
  TROUPE_ASSIGN(auto reader, std::move(opened));
  TROUPE_ASSIGN(const CheckpointEntry entry, reader.entry(name));
  TROUPE_TRY(check_matrix(entry, name, sizes.columns, remaps_columns));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{sizes.rows, sizes.columns}));
  std::ranges::fill(out.mutable_data<float>(), 0.0F);
  // A tensor that lies there whole is read at once anyway.
  const bool at_once = sizes.most_rows <= 0 || entry.slices.empty();
  for (std::int64_t first = rows.least; first >= 0 && first <= rows.most;) {
    c.stop_if_cancelled();
    const std::int64_t rest = rows.most - first + 1;
    const std::int64_t length = at_once ? rest : std::min(sizes.most_rows, rest);
    ShapeAndSlice part{.full = entry.shape, .slice = {}, .shape = {}};
    part.slice.extents = {{first, length}, {}};
    TROUPE_ASSIGN(part.shape, part.slice.shape_in(entry.shape));
    TROUPE_ASSIGN(const Tensor loaded,
                  reader.read_slice(name, part, c.device().host_side_allocator()));
    place(loaded, first, rows, columns, sizes.columns, out);
    first += length;
  }
  return fill_rest(c.input(4), rows, columns, sizes, out);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("LoadAndRemapMatrix")
      .input("ckpt_path: string; old_tensor_name: string; row_remapping: int64")
      .input("col_remapping: int64; initializing_values: float")
      .output("output_matrix: float")
      .attr("num_rows: int >= 0; num_cols: int >= 1; max_rows_in_memory: int = -1")
      .stateful()
      .shape_fn(infer)
      .not_differentiable("its inputs are names")
      .cpu_kernel(compute, {.prepare = prepare, .expensive = true})
      .doc("A matrix of a checkpoint whose row i was row row_remapping[i], and so the columns, if "
           "`col_remapping` is not empty. Where there is -1, and for what the old matrix lacks, "
           "`initializing_values` are taken in their order.");
}

} // namespace troupe::io_remap_matrix
