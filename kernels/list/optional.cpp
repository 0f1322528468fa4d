// Optionals: tensors in a variant, or nothing.
#include "kernels/list/internal/optional.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_by_attr.hpp"
#include "kernels/list/internal/held_tensors.hpp"

namespace troupe::list_optional {
namespace {

Status from_value(KernelContext& c) {
  std::vector<Tensor> components;
  components.reserve(static_cast<std::size_t>(c.num_inputs()));
  for (int i = 0; i < c.num_inputs(); ++i) {
    TROUPE_TRY(check_nesting(c.input(i)));
    components.push_back(c.take_input(i));
  }
  return c.set_output(0,
                      Tensor::scalar(list::make_optional(list::Optional(std::move(components)))));
}

Status none(KernelContext& c) {
  return c.set_output(0, Tensor::scalar(list::make_optional(list::Optional())));
}

// TensorFlow's texts name OptionalHasValue in both ops.
Result<std::shared_ptr<const list::Optional>> input_optional(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("Input to OptionalHasValue must be a scalar tensor containing an "
                            "OptionalVariant object.");
  auto optional = list::optional_in(c.input(0).data<Variant>()[0]);
  if (!optional)
    return invalid_argument("Input to OptionalHasValue must be an OptionalVariant object.");
  return optional;
}

Status has_value(KernelContext& c) {
  TROUPE_ASSIGN(const auto optional, input_optional(c));
  return c.set_output(0, Tensor::scalar(optional->has_value()));
}

Status get_value(KernelContext& c) {
  TROUPE_ASSIGN(const auto optional, input_optional(c));
  TROUPE_ASSIGN(const auto shapes, c.attr<std::vector<PartialShape>>("output_shapes"));
  if (!optional->has_value())
    return invalid_argument("The given optional does not have a value.");
  const auto& components = optional->components();
  if (static_cast<int>(components.size()) != c.num_outputs())
    return invalid_argument(str_cat("The given optional has ", components.size(),
                                    " components, expected ", c.num_outputs()));
  for (int i = 0; i < c.num_outputs(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Tensor& component = components[at];
    if (component.dtype() != c.output_type(i))
      return invalid_argument(
          str_cat("The given optional does not match the expected type for component ", i,
                  ". Expected: ", to_string(c.output_type(i)),
                  ". Actual: ", to_string(component.dtype()), "."));
    if (at < shapes.size() && !shapes[at].is_compatible_with(component.shape()))
      return invalid_argument(
          str_cat("The given optional does not match the expected shape for component ", i,
                  ". Expected: ", list::text_of(shapes[at]), ". Actual: ", component.shape(), "."));
    TROUPE_TRY(c.set_output(i, component));
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("OptionalFromValue")
      .input("components: Toutput_types")
      .output("optional: variant")
      .attr("Toutput_types: list(type) >= 1")
      .shape_fn(shape_scalar)
      .not_differentiable("TensorFlow's clients bring its gradient")
      .cpu_kernel(from_value)
      .doc("An optional that holds the tensors.");
  library.op("OptionalNone")
      .output("optional: variant")
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(none)
      .doc("An optional that holds nothing.");
  library.op("OptionalHasValue")
      .input("optional: variant")
      .output("has_value: bool")
      .shape_fn(shape_scalar)
      .not_differentiable("its value is true or false")
      .cpu_kernel(has_value)
      .doc("Whether the optional holds tensors.");
  library.op("OptionalGetValue")
      .input("optional: variant")
      .output("components: output_types")
      .attr("output_types: list(type) >= 1; output_shapes: list(shape) >= 1")
      .shape_fn(shape_by_attr)
      .not_differentiable("TensorFlow's clients bring its gradient")
      .cpu_kernel(get_value)
      .doc("The tensors that the optional holds; an error if there are none.");
}

} // namespace troupe::list_optional
