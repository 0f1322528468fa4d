// StringJoin: the texts of several tensors, element by element.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::strings_string_join {
namespace {

Status infer_shape(ShapeContext& c) {
  PartialShape shape{};
  bool has_tensor = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).has_rank())
      return c.set_output(0, PartialShape());
    if (c.input(i).rank() == 0)
      continue;
    TROUPE_ASSIGN(shape, has_tensor ? shape_rules::merge_shapes(shape, c.input(i))
                                    : Result<PartialShape>(c.input(i)));
    has_tensor = true;
  }
  return c.set_output(0, std::move(shape));
}

Status compute(KernelContext& c) {
  Shape shape;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& one = c.input(i).shape();
    if (one.is_scalar())
      continue;
    if (!shape.is_scalar() && shape != one)
      return invalid_argument(str_cat("Input shapes do not match: ", shape, " vs. ", one));
    shape = one;
  }
  const auto separator = c.attrs().get_or<std::string>("separator", "");
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  std::size_t bytes = 0;
  const auto elements = static_cast<std::size_t>(shape.num_elements());
  for (int i = 0; i < c.num_inputs(); ++i) {
    const auto in = c.input(i).data<std::string>();
    for (const std::string& text : in)
      bytes += (text.size() + separator.size()) * (in.size() == elements ? 1 : elements);
  }
  TROUPE_TRY(out.charge(bytes));
  auto to = out.mutable_data<std::string>();
  for (int i = 0; i < c.num_inputs(); ++i) {
    const auto in = c.input(i).data<std::string>();
    const bool repeats = c.input(i).shape().is_scalar();
    for (std::size_t e = 0; e < elements; ++e) {
      if (i > 0)
        to[e] += separator;
      to[e] += in[repeats ? 0 : e];
    }
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StringJoin")
      .input("inputs: N * string")
      .output("output: string")
      .attr("N: int >= 0; separator: string = ''")
      .shape_fn(infer_shape)
      .not_differentiable("its value is text")
      .cpu_kernel(compute)
      .doc("Its inputs' texts, element by element, with `separator` between; scalars go with every "
           "element.");
}

} // namespace troupe::strings_string_join
