// UnicodeScript: in which script a character is written, by the numbers of the ICU library.
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/icu.hpp"

namespace troupe::strings_unicode_script {
namespace {

std::int32_t script_of(const strings::Icu& icu, std::int32_t code) {
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = icu.script_of(code, &error);
  return U_SUCCESS(error) ? static_cast<std::int32_t>(script) : -1;
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const strings::Icu* icu, strings::icu());
  const auto codes = c.input(0).data<std::int32_t>();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, c.input(0).shape()));
  const auto scripts = out.mutable_data<std::int32_t>();
  constexpr double cost = 5; // ns for a character, about
  c.parallel_for(
      static_cast<std::int64_t>(codes.size()), cost, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          scripts[i] = script_of(*icu, codes[i]);
      });
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("UnicodeScript")
      .input("input: int32")
      .output("output: int32")
      .shape_fn(shape_unchanged)
      .not_differentiable("its values are numbers of scripts")
      .cpu_kernel(compute)
      .doc("The script of each code point, such as 25 for Latin; -1 for what is no code point.");
}

} // namespace troupe::strings_unicode_script
