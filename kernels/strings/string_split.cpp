// StringSplit, StringSplitV2: texts cut at separators, as a sparse matrix of pieces.
#include <algorithm>

#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_string_split {
namespace {

using Pieces = std::vector<std::string_view>;

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_TRY(c.set_output(0, PartialShape{-1, 2}));
  TROUPE_TRY(c.set_output(1, PartialShape{-1}));
  return c.set_output(2, PartialShape{2});
}

Status check_inputs(const KernelContext& c, std::string_view separator) {
  if (c.input(0).shape().rank() != 1)
    return invalid_argument(str_cat("input must be a vector, got shape: ", c.input(0).shape()));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat(separator, " must be a scalar, got shape: ", c.input(1).shape()));
  return {};
}

/// Every character of `delimiters` separates; none: every byte is a piece.
Pieces split_at_any(std::string_view text, std::string_view delimiters, bool skip_empty) {
  Pieces out;
  if (text.empty())
    return out;
  if (delimiters.empty()) {
    for (std::size_t i = 0; i < text.size(); ++i)
      out.push_back(text.substr(i, 1));
    return out;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(delimiters, begin), text.size());
    if (!skip_empty || end > begin)
      out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

Pieces split_at_blanks(std::string_view text, std::int64_t most) {
  Pieces out;
  auto skip = [&] {
    while (!text.empty() && is_blank(text[0]))
      text.remove_prefix(1);
  };
  for (skip(); !text.empty(); skip()) {
    if (most > 0 && static_cast<std::int64_t>(out.size()) == most) {
      out.push_back(text);
      return out;
    }
    const auto end = std::ranges::find_if(text, is_blank);
    out.push_back(text.substr(0, static_cast<std::size_t>(end - text.begin())));
    text.remove_prefix(out.back().size());
  }
  // What is left after the last cut counts as a piece, even if it is empty.
  if (most > 0 && static_cast<std::int64_t>(out.size()) == most)
    out.push_back(text);
  return out;
}

Pieces split_like_python(std::string_view text, std::string_view separator, std::int64_t most) {
  if (most == 0)
    return {text};
  if (separator.empty())
    return split_at_blanks(text, most);
  Pieces out;
  for (std::size_t at; (at = text.find(separator)) != std::string_view::npos;) {
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
    if (most > 0 && static_cast<std::int64_t>(out.size()) == most)
      break;
  }
  out.push_back(text);
  return out;
}

Status put(KernelContext& c, const std::vector<Pieces>& rows) {
  std::int64_t count = 0, widest = 0;
  for (const Pieces& row : rows) {
    count += static_cast<std::int64_t>(row.size());
    widest = std::max(widest, static_cast<std::int64_t>(row.size()));
  }
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, Shape{count, 2}));
  TROUPE_ASSIGN(Tensor values, c.allocate_output(1, Shape{count}));
  TROUPE_ASSIGN(Tensor shape, c.allocate_output(2, Shape{2}));
  auto* index = indices.mutable_data<std::int64_t>().data();
  auto* value = values.mutable_data<std::string>().data();
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      *index++ = static_cast<std::int64_t>(row);
      *index++ = static_cast<std::int64_t>(column);
      *value++ = rows[row][column];
    }
  shape.mutable_data<std::int64_t>()[0] = static_cast<std::int64_t>(rows.size());
  shape.mutable_data<std::int64_t>()[1] = widest;
  return {};
}

Status split(KernelContext& c) {
  TROUPE_TRY(check_inputs(c, "delimiter"));
  const bool skip_empty = c.attrs().get_or("skip_empty", true);
  const auto& delimiters = c.input(1).value<std::string>();
  std::vector<Pieces> rows;
  for (const std::string& text : c.input(0).data<std::string>())
    rows.push_back(split_at_any(text, delimiters, skip_empty));
  return put(c, rows);
}

Status split_v2(KernelContext& c) {
  TROUPE_TRY(check_inputs(c, "sep"));
  const auto most = c.attrs().get_or<std::int64_t>("maxsplit", -1);
  const auto& separator = c.input(1).value<std::string>();
  std::vector<Pieces> rows;
  for (const std::string& text : c.input(0).data<std::string>())
    rows.push_back(split_like_python(text, separator, most));
  return put(c, rows);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StringSplit")
      .input("input: string; delimiter: string")
      .output("indices: int64; values: string; shape: int64")
      .attr("skip_empty: bool = true")
      .shape_fn(infer_shape)
      .not_differentiable("its value is text")
      .cpu_kernel(split)
      .doc("Pieces of each text between characters of `delimiter`; without any its bytes.");
  library.op("StringSplitV2")
      .input("input: string; sep: string")
      .output("indices: int64; values: string; shape: int64")
      .attr("maxsplit: int = -1")
      .shape_fn(infer_shape)
      .not_differentiable("its value is text")
      .cpu_kernel(split_v2)
      .doc("Pieces of each text between `sep`, cut at most `maxsplit` times; without `sep` between "
           "runs of blanks.");
}

} // namespace troupe::strings_string_split
