// Substr: a part of each text, counted in bytes or in characters of UTF-8.
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_substr {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(shape_rules::merge_shapes(c.input(1), c.input(2)).status());
  TROUPE_ASSIGN(PartialShape shape, broadcast_partial(c.input(0), c.input(1)));
  return c.set_output(0, std::move(shape));
}

/// The byte where the character lies that `steps` characters from `at` on begins; past the end, how
/// far it came.
bool go_forward(std::string_view text, std::int64_t steps, std::size_t& at) {
  for (; steps > 0 && at < text.size(); --steps)
    do
      ++at;
    while (at < text.size() && strings::is_trail_byte(text[at]));
  return steps == 0;
}

bool go_back(std::string_view text, std::int64_t steps, std::size_t& at) {
  for (; steps > 0 && at > 0; --steps)
    do
      --at;
    while (at > 0 && strings::is_trail_byte(text[at]));
  return steps == 0;
}

/// Nothing where the text does not reach to `pos`.
std::optional<std::string_view> characters(std::string_view text, std::int64_t pos,
                                           std::int64_t len) {
  std::size_t begin = pos < 0 ? text.size() : 0;
  if (!(pos < 0 ? go_back(text, pos == INT64_MIN ? INT64_MAX : -pos, begin)
                : go_forward(text, pos, begin)))
    return {};
  std::size_t end = begin;
  (void)go_forward(text, std::max<std::int64_t>(len, 0), end);
  return text.substr(begin, end - begin);
}

std::optional<std::string_view> bytes(std::string_view text, std::int64_t pos, std::int64_t len) {
  const auto size = static_cast<std::int64_t>(text.size());
  const std::int64_t begin = pos < 0 ? pos + size : pos;
  if (begin < 0 || begin > size)
    return {};
  return text.substr(static_cast<std::size_t>(begin),
                     static_cast<std::size_t>(len)); // negative: all
}

/// The offset in a tensor that is broadcast to `shape`, of the element at `index`.
std::size_t offset_in(const Shape& from, const Shape& shape, std::int64_t index) {
  std::int64_t out = 0, stride = 1;
  for (int i = shape.rank() - 1, j = from.rank() - 1; j >= 0; --i, --j) {
    const std::int64_t dim = index % shape.dim(i);
    index /= shape.dim(i);
    out += from.dim(j) == 1 ? 0 : dim * stride;
    stride *= from.dim(j);
  }
  return static_cast<std::size_t>(out);
}

template <class T>
Status cut(KernelContext& c) {
  const Tensor &text = c.input(0), &pos = c.input(1), &len = c.input(2);
  if (pos.shape() != len.shape())
    return invalid_argument(str_cat("pos and len should have the same shape, got: ", pos.shape(),
                                    " vs. ", len.shape()));
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(text.shape(), pos.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const bool in_bytes = c.prepared<std::string>() == "BYTE";
  const auto from = text.data<std::string>();
  const auto to = out.mutable_data<std::string>();
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    const std::string& one = from[offset_in(text.shape(), shape, i)];
    const std::size_t where = offset_in(pos.shape(), shape, i);
    const std::int64_t begin = pos.data<T>()[where], size = len.data<T>()[where];
    const auto part = in_bytes ? bytes(one, begin, size) : characters(one, begin, size);
    if (!part)
      return invalid_argument(
          in_bytes ? str_cat("pos ", begin, " out of range for string b'", one, "' at index ", i)
                   : str_cat("pos ", begin, " out of range for string at index ", i));
    to[static_cast<std::size_t>(i)] = *part;
  }
  return {};
}

Status compute(KernelContext& c) {
  return dispatch(Indices{}, c.input(1).dtype(), [&]<class T>() { return cut<T>(c); });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Substr")
      .input("input: string; pos: T; len: T")
      .output("output: string")
      .attr("T: {int32, int64}; unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
      .shape_fn(infer_shape)
      .not_differentiable("its value is text")
      .cpu_kernel(compute, {.prepare = keep_attr<std::string, "unit">})
      .doc("Of each text `len` bytes or characters from `pos` on, which counts from the end where "
           "it "
           "is negative.");
}

} // namespace troupe::strings_substr
