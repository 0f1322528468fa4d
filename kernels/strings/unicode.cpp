// UnicodeTranscode, UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode.
#include "kernels/strings/internal/unicode.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_unicode {
namespace {

using strings::Encoding;
using strings::ErrorPolicy;
using strings::Utf;

struct Settings {
  std::shared_ptr<const Encoding> from; ///< null: UnicodeEncode's input is code points
  Utf to = Utf::utf8;
  bool transcodes = false;
  ErrorPolicy errors;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Settings out;
  if (auto name = c.attr<std::string>("input_encoding"); name.ok()) {
    TROUPE_ASSIGN(out.from, Encoding::find(*name));
  }
  if (auto name = c.attr<std::string>("output_encoding"); name.ok())
    out.to = strings::utf_of(*name);
  out.transcodes = out.from && c.attrs().find("output_encoding");
  TROUPE_ASSIGN(out.errors, ErrorPolicy::from(c));
  return prepared(std::move(out));
}

/// Each code point that stays, or stands for what is none. INVALID_ARGUMENT for that if it is not
/// allowed; UnicodeTranscode, unlike UnicodeDecode, counts a control character that is replaced.
Status for_each_code(const Settings& settings, std::string_view text,
                     FunctionView<void(std::int32_t code, std::size_t at)> visit) {
  const ErrorPolicy& errors = settings.errors;
  bool is_damaged = false;
  settings.from->for_each(text, [&](std::int32_t code, std::string_view bytes, bool is_valid) {
    if (!is_valid || (errors.replaces_controls && code <= 0x1F)) {
      is_damaged = is_damaged || !is_valid || settings.transcodes;
      if (errors.ignore)
        return;
      code = errors.replacement;
    }
    visit(code, static_cast<std::size_t>(bytes.data() - text.data()));
  });
  if (is_damaged && errors.strict)
    return invalid_argument("Invalid formatting on input string");
  return {};
}

Status transcode(KernelContext& c) {
  const auto& settings = c.prepared<Settings>();
  const auto in = c.input(0).data<std::string>();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const auto to = out.mutable_data<std::string>();
  for (std::size_t i = 0; i < in.size(); ++i)
    TROUPE_TRY(for_each_code(settings, in[i], [&](std::int32_t code, std::size_t) {
      strings::append_code(to[i], settings.to, code);
    }));
  return {};
}

template <class T>
Status put_numbers(KernelContext& c, int output, const std::vector<std::int64_t>& numbers) {
  TROUPE_ASSIGN(Tensor out,
                c.allocate_output(output, Shape{static_cast<std::int64_t>(numbers.size())}));
  std::ranges::transform(numbers, out.mutable_data<T>().begin(),
                         [](std::int64_t number) { return static_cast<T>(number); });
  return {};
}

Status decode(KernelContext& c) {
  const auto& settings = c.prepared<Settings>();
  std::vector<std::int64_t> splits{0}, codes, starts;
  for (const std::string& text : c.input(0).data<std::string>()) {
    TROUPE_TRY(for_each_code(settings, text, [&](std::int32_t code, std::size_t at) {
      codes.push_back(code);
      starts.push_back(static_cast<std::int64_t>(at));
    }));
    splits.push_back(static_cast<std::int64_t>(codes.size()));
  }
  if (c.output_type(0) == DType::int32) {
    TROUPE_TRY(put_numbers<std::int32_t>(c, 0, splits));
  } else {
    TROUPE_TRY(put_numbers<std::int64_t>(c, 0, splits));
  }
  TROUPE_TRY(put_numbers<std::int32_t>(c, 1, codes));
  return c.num_outputs() > 2 ? put_numbers<std::int64_t>(c, 2, starts) : Status{};
}

Status encode(KernelContext& c) {
  const auto& settings = c.prepared<Settings>();
  const auto codes = c.input(0).data<std::int32_t>();
  TROUPE_ASSIGN(const Integers splits, integers(c.input(1)));
  if (c.input(0).shape().rank() != 1 || c.input(1).shape().rank() != 1)
    return invalid_argument("Both the input_tensor and input_splits should be of rank 1.");
  if (splits.empty())
    return invalid_argument(
        "Input_splits should contain elements, but given input_values has 0 elements");
  if (splits[0] != 0)
    return invalid_argument("First value in input_splits must be zero.");
  if (splits[splits.size() - 1] != static_cast<std::int64_t>(codes.size()))
    return invalid_argument("Last value in input_splits must be equal to length of input_tensor.");
  for (std::size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] < splits[i - 1])
      return invalid_argument("Values in input_splits must be equal or in ascending order.");
    if (splits[i] > static_cast<std::int64_t>(codes.size()))
      return invalid_argument(
          "Values in input_splits must be less than or equal to input_tensor length.");
  }
  TROUPE_ASSIGN(Tensor out,
                c.allocate_output(0, Shape{static_cast<std::int64_t>(splits.size()) - 1}));
  const auto to = out.mutable_data<std::string>();
  for (std::size_t row = 0; row + 1 < splits.size(); ++row)
    for (auto i = splits[row]; i < splits[row + 1]; ++i) {
      std::int32_t code = codes[static_cast<std::size_t>(i)];
      if (!strings::is_code_point(code)) {
        if (settings.errors.strict)
          return invalid_argument("Code point is out of range for Unicode, or is a surrogate.");
        if (settings.errors.ignore)
          continue;
        code = settings.errors.replacement;
      }
      strings::append_code(to[row], settings.to, code);
    }
  return {};
}

Status infer_decode(ShapeContext& c) {
  const auto shape = c.input(0).to_shape();
  TROUPE_TRY(c.set_output(0, PartialShape{shape ? shape->num_elements() + 1 : -1}));
  for (int i = 1; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, PartialShape{-1}));
  return {};
}

Status infer_encode(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  const std::int64_t splits = c.input(1).rank() == 1 ? c.input(1).dim(0) : -1;
  return c.set_output(0, PartialShape{splits > 0 ? splits - 1 : -1});
}

constexpr auto decode_attrs =
    "input_encoding: string; errors: {'strict', 'replace', 'ignore'} = 'replace'; "
    "replacement_char: int = 65533; replace_control_characters: bool = false; "
    "Tsplits: {int32, int64} = DT_INT64";
constexpr auto of_text = "its value is text, or made of it";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("UnicodeTranscode")
      .input("input: string")
      .output("output: string")
      .attr("input_encoding: string; output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; "
            "errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533; "
            "replace_control_characters: bool = false")
      .shape_fn(shape_unchanged)
      .not_differentiable(of_text)
      .cpu_kernel(transcode, {.prepare = prepare})
      .doc("Each text in another encoding.");
  library.op("UnicodeDecode")
      .input("input: string")
      .output("row_splits: Tsplits; char_values: int32")
      .attr(decode_attrs)
      .shape_fn(infer_decode)
      .not_differentiable(of_text)
      .cpu_kernel(decode, {.prepare = prepare})
      .doc("Code points of each text, one text after the other; `row_splits` says where each "
           "begins.");
  library.op("UnicodeDecodeWithOffsets")
      .input("input: string")
      .output("row_splits: Tsplits; char_values: int32; char_to_byte_starts: int64")
      .attr(decode_attrs)
      .shape_fn(infer_decode)
      .not_differentiable(of_text)
      .cpu_kernel(decode, {.prepare = prepare})
      .doc("UnicodeDecode, with the byte of its text at which each character begins.");
  library.op("UnicodeEncode")
      .input("input_values: int32; input_splits: Tsplits")
      .output("output: string")
      .attr("errors: {'ignore', 'replace', 'strict'} = 'replace'; "
            "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; replacement_char: int = 65533; "
            "Tsplits: {int32, int64} = DT_INT64")
      .shape_fn(infer_encode)
      .not_differentiable(of_text)
      .cpu_kernel(encode, {.prepare = prepare})
      .doc("Texts of code points; text i has those from input_splits[i] to input_splits[i + 1].");
}

} // namespace troupe::strings_unicode
