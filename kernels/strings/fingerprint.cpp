// Fingerprint: eight bytes for each row of a tensor, of its bytes as they lie in memory; of several
// texts in a row, of their fingerprints.
#include <bit>
#include <cstring>

#include "core/base/strings.hpp"
#include "graph/op/attr_value.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/strings/internal/hashes.hpp"

namespace troupe::strings_fingerprint {
namespace {

constexpr std::int64_t width = 8;
static_assert(std::endian::native == std::endian::little, "rows are hashed as they lie in memory");

void write(std::uint64_t fingerprint, std::uint8_t* to) {
  std::memcpy(to, &fingerprint, sizeof fingerprint);
}

Status check_method(const Tensor& method) {
  if (!method.shape().is_scalar())
    return invalid_argument(str_cat("`method` should be a scalar string: ", method.shape()));
  if (const std::string& name = method.value<std::string>(); name != "farmhash64")
    return invalid_argument(str_cat("Unsupported fingerprint method: ", name));
  return {};
}

std::string of_texts(std::span<const std::string> texts) {
  std::string out(texts.size() * width, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    write(strings::farm_fingerprint(texts[i]),
          reinterpret_cast<std::uint8_t*>(out.data()) + i * width);
  return out;
}

Status compute(KernelContext& c) {
  const Tensor& data = c.input(0);
  TROUPE_TRY(check_method(c.input(1)));
  const Shape& shape = data.shape();
  if (shape.rank() == 0)
    return invalid_argument(str_cat("`data` should have at least one dimension: ", shape));
  if (is_object(data.dtype()) && data.dtype() != DType::string)
    return invalid_argument(
        str_cat("Data type not supported: ", to_string(AttrValue(data.dtype()))));
  const std::int64_t rows = shape[0];
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{rows, width}));
  std::uint8_t* to = out.mutable_data<std::uint8_t>().data();
  if (rows == 0)
    return {};
  const auto size = static_cast<std::size_t>(shape.num_elements() / rows);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    std::string of_several;
    std::string_view bytes;
    if (data.dtype() != DType::string) {
      const std::size_t length = size * dtype_size(data.dtype());
      bytes = {static_cast<const char*>(data.raw()) + row * length, length};
    } else if (size == 1) {
      bytes = data.data<std::string>()[row];
    } else {
      of_several = of_texts(data.data<std::string>().subspan(row * size, size));
      bytes = of_several;
    }
    write(strings::farm_fingerprint(bytes), to + row * static_cast<std::size_t>(width));
  }
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank(1, 0));
  return c.set_output(0, {c.input(0).has_rank() ? c.input(0).dim(0) : -1, width});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Fingerprint")
      .input("data: T; method: string")
      .output("fingerprint: uint8")
      .attr("T: type")
      .shape_fn(infer)
      .not_differentiable("it is a hash")
      .cpu_kernel(compute)
      .doc("A hash of 64 bits of each row, the same on every machine.");
}

} // namespace troupe::strings_fingerprint
