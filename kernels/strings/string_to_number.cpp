// StringToNumber: texts as numbers.
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_string_to_number {
namespace {

template <class T>
Status convert(KernelContext& c) {
  const auto from = c.input(0).data<std::string>();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const auto to = out.mutable_data<T>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto number = strings::parse_number<T>(from[i]);
    if (!number)
      return invalid_argument(
          str_cat("StringToNumberOp could not correctly convert string: ", from[i]));
    to[i] = *number;
  }
  return {};
}

Status compute(KernelContext& c) {
  return dispatch(Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{},
                  c.output_type(0), [&]<class T>() { return convert<T>(c); });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StringToNumber")
      .input("string_tensor: string")
      .output("output: out_type")
      .attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT")
      .shape_fn(shape_unchanged)
      .not_differentiable("its input is text")
      .cpu_kernel(compute)
      .doc("Each text as a number.");
}

} // namespace troupe::strings_string_to_number
