// StringFormat: a template whose placeholders are filled with tensors in words.
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/tensor_text.hpp"

namespace troupe::strings_string_format {
namespace {

struct Template {
  std::vector<std::string> pieces; ///< one more than there are placeholders
  std::int64_t summarize = 3;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Template out;
  TROUPE_ASSIGN(const std::string text, c.attr<std::string>("template"));
  TROUPE_ASSIGN(const std::string placeholder, c.attr<std::string>("placeholder"));
  TROUPE_ASSIGN(out.summarize, c.attr<std::int64_t>("summarize"));
  std::string_view rest = text;
  if (placeholder.empty()) { // between any two characters, as TensorFlow splits
    for (char one : rest)
      out.pieces.emplace_back(1, one);
    if (rest.empty())
      out.pieces.emplace_back();
  } else {
    for (std::size_t at; (at = rest.find(placeholder)) != std::string_view::npos;) {
      out.pieces.emplace_back(rest.substr(0, at));
      rest.remove_prefix(at + placeholder.size());
    }
    out.pieces.emplace_back(rest);
  }
  if (static_cast<int>(out.pieces.size()) - 1 != c.num_inputs())
    return invalid_argument(str_cat("num placeholders in template and num inputs must match: ",
                                    out.pieces.size() - 1, " vs. ", c.num_inputs()));
  return prepared(std::move(out));
}

Status compute(KernelContext& c) {
  const auto& pieces = c.prepared<Template>();
  std::string out = pieces.pieces[0];
  for (int i = 0; i < c.num_inputs(); ++i) {
    out += summarize_nested(c.input(i), pieces.summarize);
    out += pieces.pieces[static_cast<std::size_t>(i) + 1];
  }
  return c.set_output(0, Tensor::scalar(std::move(out)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StringFormat")
      .input("inputs: T")
      .output("output: string")
      .attr("T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; "
            "summarize: int = 3")
      .shape_fn(shape_scalar)
      .not_differentiable("its value is text")
      .cpu_kernel(compute, {.prepare = prepare})
      .doc("`template` with each `placeholder` replaced by an input, of each dimension of which "
           "`summarize` elements are shown at both ends.");
}

} // namespace troupe::strings_string_format
