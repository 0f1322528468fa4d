// ConditionalAccumulator, ResourceConditionalAccumulator, SparseConditionalAccumulator: gradients
// of many workers become one, once enough of them have come.
#include "devices/resource/accumulator.hpp"

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"

namespace troupe::train_accumulator {
namespace {

using Accumulator = GradientAccumulator;

struct Kept {
  NodeResource resource;
  Accumulator::Spec spec;
};

template <bool sparse>
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Kept kept;
  TROUPE_ASSIGN(kept.resource, named_resource(c));
  TROUPE_ASSIGN(kept.spec.dtype, c.attr<DType>("dtype"));
  TROUPE_ASSIGN(kept.spec.shape, c.attr<PartialShape>("shape"));
  kept.spec.is_mean = c.attrs().get_or("reduction_type", std::string("MEAN")) == "MEAN";
  kept.spec.is_sparse = sparse;
  return prepared(std::move(kept));
}

Status make(KernelContext& c) {
  const auto& kept = c.prepared<Kept>();
  TROUPE_ASSIGN(
      auto accumulator, node_resource<Accumulator>(c, kept.resource, [&](const std::string& name) {
        return Result<std::shared_ptr<Accumulator>>(
            std::make_shared<Accumulator>(kept.spec, name, c.device().host_side_allocator()));
      }));
  return accumulator->check_same(kept.spec);
}

/// The one of input 0, whose gradients must be of that kind and of the node's dtype.
Result<std::shared_ptr<Accumulator>> find(KernelContext& c, bool sparse) {
  TROUPE_ASSIGN(auto accumulator, input_resource<Accumulator>(c, 0));
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("dtype"));
  if (accumulator->spec().is_sparse != sparse || accumulator->spec().dtype != dtype)
    return invalid_argument(str_cat("the accumulator has ", accumulator->description(),
                                    ", the node asks for ", sparse ? "sparse" : "dense",
                                    " ones of ", to_string(dtype)));
  return accumulator;
}

Result<std::int64_t> step_of(KernelContext& c, int i) {
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(
        str_cat("Argument local_step must be scalar, but had bad shape ", c.input(i).shape()));
  return c.input(i).value<std::int64_t>();
}

Status apply(KernelContext& c) {
  TROUPE_ASSIGN(auto accumulator, find(c, false));
  TROUPE_ASSIGN(const std::int64_t step, step_of(c, 1));
  return accumulator->apply(step, c.input(2));
}

Status apply_sparse(KernelContext& c) {
  TROUPE_ASSIGN(auto accumulator, find(c, true));
  TROUPE_ASSIGN(const std::int64_t step, step_of(c, 1));
  const bool has_shape = c.attrs().get_or("has_known_shape", false);
  if (has_shape && c.input(4).shape().rank() != 1)
    return invalid_argument(
        str_cat("Input shape should be a vector but received shape: ", c.input(4).shape()));
  return accumulator->apply_sparse(step, c.input(2), c.input(3), has_shape ? c.input(4) : Tensor());
}

Status take(KernelContext& c, const KernelDone& done, bool sparse) {
  TROUPE_ASSIGN(auto accumulator, find(c, sparse));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat("Argument num_required must be scalar, but had bad shape ", c.input(1).shape()));
  const std::int64_t required = c.input(1).value<std::int32_t>();
  wait_on(c, done, accumulator, [&](Monitor::Ticket ticket, Arrived arrived) {
    accumulator->take(ticket, required, std::move(arrived));
  });
  return {};
}

template <bool sparse>
void compute_take(KernelContext& c, KernelDone done) {
  if (Status status = take(c, done, sparse); !status.ok())
    done(std::move(status));
}

Status count(KernelContext& c) {
  TROUPE_ASSIGN(auto accumulator, input_resource<Accumulator>(c, 0));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(accumulator->num_accumulated())));
}

Status set_step(KernelContext& c) {
  TROUPE_ASSIGN(auto accumulator, input_resource<Accumulator>(c, 0));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat("Argument new_global_step must be scalar, but had bad shape ", c.input(1).shape()));
  accumulator->set_global_step(c.input(1).value<std::int64_t>());
  return {};
}

constexpr auto dtypes =
    "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
    "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, "
    "uint32, uint64}";
constexpr auto no_gradient = "gradients themselves are not differentiated";
const char* const handles[] = {"handle: Ref(string)", "handle: resource"};

KernelOptions options(PrepareFn prepare = nullptr) {
  KernelOptions out;
  out.types = {{"dtype", accumulated_dtypes()}};
  out.prepare = prepare;
  return out;
}

/// An accumulator and what dense gradients go through, by reference (0) or handle (1).
void add_dense(OpLibrary& library, int form) {
  const std::string prefix = form == 1 ? "Resource" : "";
  const auto begin = [&](OpLibrary::Builder& op) -> OpLibrary::Builder& {
    if (form == 1)
      op.stateful();
    return op.not_differentiable(no_gradient);
  };
  {
    auto op = library.op(prefix + "AccumulatorApplyGradient");
    begin(op)
        .input(handles[form])
        .input("local_step: int64; gradient: dtype")
        .attr(dtypes)
        .roles(Role::side_effect)
        .shape_fn(shape_none)
        .cpu_kernel(apply, options())
        .doc("Adds a gradient, unless it is of an earlier step than the accumulator's.");
  }
  {
    auto op = library.op(prefix + "AccumulatorTakeGradient");
    begin(op)
        .input(handles[form])
        .input("num_required: int32")
        .output("average: dtype")
        .attr(dtypes)
        .roles({Role::side_effect, Role::blocks})
        .shape_fn(shape_unknown)
        .cpu_kernel_async(compute_take<false>, options())
        .doc("The mean or sum of the gradients, once there are num_required; the accumulator goes "
             "on to the next step with none.");
  }
  {
    auto op = library.op(prefix + "AccumulatorNumAccumulated");
    begin(op)
        .input(handles[form])
        .output("num_accumulated: int32")
        .roles(Role::random)
        .shape_fn(shape_scalar)
        .cpu_kernel(count)
        .doc("How many gradients have been added.");
  }
  {
    auto op = library.op(prefix + "AccumulatorSetGlobalStep");
    begin(op)
        .input(handles[form])
        .input("new_global_step: int64")
        .roles(Role::side_effect)
        .shape_fn(shape_none)
        .cpu_kernel(set_step)
        .doc("Sets the step below which gradients are dropped.");
  }
}

void add_accumulator(OpLibrary& library, std::string_view name, int form, PrepareFn prepare) {
  library.op(name)
      .output(handles[form])
      .attr(dtypes)
      .attr("shape: shape; container: string = ''; shared_name: string = ''")
      .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
      .stateful()
      .shape_fn(shape_of_handle)
      .not_differentiable("it has no inputs")
      .cpu_kernel(make, options(prepare))
      .doc("An accumulator of gradients.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add_accumulator(library, "ConditionalAccumulator", 0, prepare<false>);
  add_accumulator(library, "ResourceConditionalAccumulator", 1, prepare<false>);
  add_accumulator(library, "SparseConditionalAccumulator", 0, prepare<true>);
  for (const int form : {0, 1})
    add_dense(library, form);
  library.op("SparseAccumulatorApplyGradient")
      .input("handle: Ref(string); local_step: int64; gradient_indices: int64")
      .input("gradient_values: dtype; gradient_shape: int64")
      .attr(dtypes)
      .attr("has_known_shape: bool")
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(apply_sparse, options())
      .doc("Adds the rows of a gradient, unless it is of an earlier step.");
  library.op("SparseAccumulatorTakeGradient")
      .input("handle: Ref(string); num_required: int32")
      .output("indices: int64; values: dtype; shape: int64")
      .attr(dtypes)
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute_take<true>, options())
      .doc("The rows of the mean or sum of the gradients, once there are num_required.");
}

} // namespace troupe::train_accumulator
