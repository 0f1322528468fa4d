// MapDefun: a function for each row of its arguments, and the results below each other.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"
#include "kernels/framework/functions.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_map_defun {
namespace {

struct MapAttrs {
  FunctionRef function;
  std::vector<PartialShape> shapes; ///< of a row of each output
  int num_arguments = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  MapAttrs out;
  TROUPE_ASSIGN(out.function, c.attr<FunctionRef>("f"));
  TROUPE_ASSIGN(out.shapes, c.attr<std::vector<PartialShape>>("output_shapes"));
  TROUPE_ASSIGN(const auto arguments, c.attr<std::vector<DType>>("Targuments"));
  out.num_arguments = static_cast<int>(arguments.size());
  if (static_cast<int>(out.shapes.size()) != c.num_outputs())
    return invalid_argument("Length of output_shapes and output_types must match.");
  return prepared(std::move(out));
}

Result<std::int64_t> rows_of(KernelContext& c, int num_arguments) {
  std::int64_t rows = -1;
  for (int i = 0; i < num_arguments; ++i) {
    const Shape& shape = c.input(i).shape();
    if (shape.rank() == 0)
      return invalid_argument(
          str_cat("All inputs must have rank at least 1. Input ", i, " has a rank of 0."));
    if (rows < 0)
      rows = shape.dim(0);
    if (shape.dim(0) != rows)
      return invalid_argument(str_cat("All inputs must have the same dimension 0. Input ", i,
                                      " has leading dimension ", shape.dim(0),
                                      ", while all previous inputs have leading dimension ", rows));
  }
  return rows;
}

/// Calls of one run of the node. It begins so many at first, and each that ends begins the next
/// one.
class Mapping : public std::enable_shared_from_this<Mapping> {
public:
  Mapping(KernelContext& c, KernelDone done, std::shared_ptr<Functions> functions,
          std::shared_ptr<const Function> function, std::int64_t rows)
      : c_(c), attrs_(c.prepared<MapAttrs>()), done_(std::move(done)),
        functions_(std::move(functions)), function_(std::move(function)), rows_(rows),
        results_(static_cast<std::size_t>(c.num_outputs()),
                 Tensors(static_cast<std::size_t>(rows))) {}

  void begin() {
    static constexpr std::int64_t most_at_once = 256;
    const std::int64_t first = std::min(rows_, most_at_once);
    left_ = first + 1;
    next_ = first;
    for (std::int64_t row = 0; row < first; ++row)
      functions_->submit([self = shared_from_this(), row] { self->call(row); });
    leave();
  }

private:
  void call(std::int64_t row) {
    auto args = args_of(row);
    if (!args.ok())
      return fail(args.status());
    function_->call(call_from(c_, *std::move(args)),
                    [self = shared_from_this(), row](Result<Tensors> results) {
                      Status status = results.status();
                      if (status.ok())
                        status = self->keep(row, *std::move(results));
                      if (!status.ok())
                        return self->fail(status);
                      const std::int64_t next = self->next_.fetch_add(1);
                      if (next >= self->rows_ || self->has_failed_)
                        return self->leave();
                      self->functions_->submit([self, next] { self->call(next); });
                    });
  }

  Result<Tensors> args_of(std::int64_t row) {
    Tensors args;
    for (int i = 0; i < c_.num_inputs(); ++i) {
      if (i >= attrs_.num_arguments) {
        args.push_back(c_.input(i));
        continue;
      }
      TROUPE_ASSIGN(Tensor arg, row_of(c_.input(i), row, c_.device().allocator()));
      args.push_back(std::move(arg));
    }
    return args;
  }

  // Rows are different elements of the vectors.
  Status keep(std::int64_t row, Tensors results) {
    if (static_cast<int>(results.size()) != c_.num_outputs())
      return invalid_argument("Mismatch in number of function outputs.");
    for (int i = 0; i < c_.num_outputs(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (results[at].dtype() != c_.output_type(i))
        return invalid_argument(
            str_cat("Mismatch in function return type and expected output type for output: ", i));
      if (!attrs_.shapes[at].is_compatible_with(results[at].shape()))
        return invalid_argument(str_cat("Mismatch in function retval shape, ", results[at].shape(),
                                        ", and expected output shape, ", attrs_.shapes[at], "."));
      results_[at][static_cast<std::size_t>(row)] = std::move(results[at]);
    }
    return {};
  }

  void fail(const Status& status) {
    {
      std::scoped_lock guard(lock_);
      if (status_.ok() || (status_.derived() && !status.derived()))
        status_ = status;
      has_failed_ = true;
    }
    leave();
  }

  void leave() {
    if (--left_ > 0)
      return;
    Status status = status_;
    for (int i = 0; status.ok() && i < c_.num_outputs(); ++i)
      status = stack(i);
    std::exchange(done_, nullptr)(std::move(status));
  }

  Status stack(int i) {
    const auto at = static_cast<std::size_t>(i);
    const Tensors& rows = results_[at];
    if (rows.empty() && !attrs_.shapes[at].is_fully_defined())
      return invalid_argument(str_cat("there are no rows, and output_shapes say ",
                                      attrs_.shapes[at], " of output ", i,
                                      ", which is no shape of its own"));
    TROUPE_ASSIGN(const Shape shape,
                  Shape::make(rows.empty() ? attrs_.shapes[at].dims() : rows[0].shape().dims()));
    for (const Tensor& row : rows)
      if (row.shape() != shape)
        return invalid_argument(str_cat("Mismatch in function retval shape, ", row.shape(),
                                        ", and expected output shape, ", shape, "."));
    TROUPE_ASSIGN(Tensor all, stack_rows(rows, c_.output_type(i), shape, c_.device().allocator()));
    return c_.set_output(i, std::move(all));
  }

  KernelContext& c_;
  const MapAttrs& attrs_;
  KernelDone done_;
  std::shared_ptr<Functions> functions_;
  std::shared_ptr<const Function> function_;
  const std::int64_t rows_;
  std::vector<Tensors> results_; // by output and row
  std::atomic<std::int64_t> next_{0}, left_{0};
  std::atomic<bool> has_failed_{false};
  std::mutex lock_;
  Status status_;
};

void compute(KernelContext& c, KernelDone done) {
  const auto begin = [&]() -> Status {
    TROUPE_ASSIGN(const std::int64_t rows, rows_of(c, c.prepared<MapAttrs>().num_arguments));
    TROUPE_ASSIGN(auto all, functions(c));
    TROUPE_ASSIGN(auto function, all->find(c.prepared<MapAttrs>().function));
    std::make_shared<Mapping>(c, done, std::move(all), std::move(function), rows)->begin();
    return {};
  };
  if (Status status = begin(); !status.ok())
    done(std::move(status));
}

Status infer_shapes(ShapeContext& c) {
  TROUPE_ASSIGN(const auto shapes, c.attr<std::vector<PartialShape>>("output_shapes"));
  if (static_cast<int>(shapes.size()) != c.num_outputs())
    return invalid_argument(str_cat("`output_shapes` must be the same length as `output_types` (",
                                    shapes.size(), " vs. ", c.num_outputs(), ")"));
  TROUPE_ASSIGN(const ArgRange arguments, c.input_range("arguments"));
  std::int64_t rows = -1;
  for (int i = arguments.begin; i < arguments.end; ++i) {
    if (!c.input(i).has_rank())
      continue;
    if (c.input(i).rank() == 0)
      return invalid_argument(
          str_cat("Arguments must have rank at least 1. Input ", i, " has rank of 0."));
    const std::int64_t here = c.input(i).dim(0);
    if (here >= 0 && rows >= 0 && here != rows)
      return invalid_argument("Arguments must have the same dimension 0.");
    rows = std::max(rows, here);
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const PartialShape& row = shapes[static_cast<std::size_t>(i)];
    if (!row.has_rank()) {
      TROUPE_TRY(c.set_output(i, PartialShape()));
      continue;
    }
    std::vector<std::int64_t> dims{rows};
    dims.insert(dims.end(), row.dims().begin(), row.dims().end());
    TROUPE_TRY(c.set_output(i, PartialShape(dims)));
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MapDefun")
      .input("arguments: Targuments; captured_inputs: Tcaptured")
      .output("output: output_types")
      .attr("Targuments: list(type) >= 1; Tcaptured: list(type) >= 0 = []")
      .attr("output_types: list(type) >= 1; output_shapes: list(shape) >= 1; f: func")
      .attr("max_intra_op_parallelism: int = 1")
      .roles(Role::runs_functions)
      .shape_fn(infer_shapes)
      .not_differentiable("it has no gradient in TensorFlow")
      .cpu_kernel_async(compute, {.prepare = prepare})
      .doc("Calls `f` for each row of the arguments and puts the results below each other.");
}

} // namespace troupe::control_map_defun
