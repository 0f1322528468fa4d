// RegexFullMatch, RegexReplace and their static forms: RE2's regular expressions.
#include <re2/re2.h>

#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_regex {
namespace {

using Pattern = std::shared_ptr<const RE2>;

Result<Pattern> compile(const std::string& pattern) {
  RE2::Options options(RE2::Quiet); // what is wrong is our answer, not a line of a log
  auto out = std::make_shared<const RE2>(pattern, options);
  if (!out->ok())
    return invalid_argument(str_cat("Invalid pattern: ", pattern, ", error: ", out->error()));
  return Pattern(out);
}

/// The static forms' pattern, compiled once.
struct Static {
  Pattern pattern;
  std::string rewrite;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Static out;
  TROUPE_ASSIGN(const std::string pattern, c.attr<std::string>("pattern"));
  TROUPE_ASSIGN(out.pattern, compile(pattern));
  if (auto rewrite = c.attr<std::string>("rewrite"); rewrite.ok())
    out.rewrite = *rewrite;
  return prepared(std::move(out));
}

Status match(KernelContext& c, const RE2& pattern) {
  return strings::map_text<bool>(
      c, [&](const std::string& text) { return RE2::FullMatch(text, pattern); });
}

Status replace(KernelContext& c, const RE2& pattern, const std::string& rewrite) {
  const bool everywhere = c.attrs().get_or("replace_global", true);
  return strings::map_text(c, [&](std::string text) {
    if (everywhere)
      RE2::GlobalReplace(&text, pattern, rewrite);
    else
      RE2::Replace(&text, pattern, rewrite);
    return text;
  });
}

Result<std::string> scalar(const KernelContext& c, int i, std::string_view what) {
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(str_cat(what, " must be scalar, but received ", c.input(i).shape()));
  return c.input(i).value<std::string>();
}

Status full_match(KernelContext& c) {
  TROUPE_ASSIGN(const std::string text, scalar(c, 1, "Pattern"));
  TROUPE_ASSIGN(const Pattern pattern, compile(text));
  return match(c, *pattern);
}

Status regex_replace(KernelContext& c) {
  TROUPE_ASSIGN(const std::string text, scalar(c, 1, "Pattern"));
  TROUPE_ASSIGN(const Pattern pattern, compile(text));
  TROUPE_ASSIGN(const std::string rewrite, scalar(c, 2, "Rewrite"));
  return replace(c, *pattern, rewrite);
}

Status infer_shape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  return c.output_like(0, 0);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RegexFullMatch")
      .input("input: string; pattern: string")
      .output("output: bool")
      .shape_fn(infer_shape)
      .not_differentiable("its value is true or false")
      .cpu_kernel(full_match)
      .doc("Whether the whole of each text matches `pattern`.");
  library.op("StaticRegexFullMatch")
      .input("input: string")
      .output("output: bool")
      .attr("pattern: string")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is true or false")
      .cpu_kernel([](KernelContext& c) { return match(c, *c.prepared<Static>().pattern); },
                  {.prepare = prepare})
      .doc("Whether the whole of each text matches `pattern`.");
  library.op("RegexReplace")
      .input("input: string; pattern: string; rewrite: string")
      .output("output: string")
      .attr("replace_global: bool = true")
      .shape_fn(infer_shape)
      .not_differentiable("its value is text")
      .cpu_kernel(regex_replace)
      .doc("Each text, with what matches `pattern` replaced by `rewrite`: everywhere or once.");
  library.op("StaticRegexReplace")
      .input("input: string")
      .output("output: string")
      .attr("pattern: string; rewrite: string; replace_global: bool = true")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel(
          [](KernelContext& c) {
            const auto& all = c.prepared<Static>();
            return replace(c, *all.pattern, all.rewrite);
          },
          {.prepare = prepare})
      .doc("Each text, with what matches `pattern` replaced by `rewrite`: everywhere or once.");
}

} // namespace troupe::strings_regex
