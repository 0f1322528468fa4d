// Dtypes of our CPU kernels against those of TensorFlow's, and what they compute of small inputs.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/compare.hpp"
#include "tests/support/ops/internal/case_node.hpp"

namespace troupe::testing {
namespace {

/// Lines of a file of tests/golden, without its first.
std::vector<std::vector<std::string>> golden_rows(std::string_view name) {
  std::ifstream file(str_cat(TROUPE_GOLDEN_DIR "/", name));
  REQUIRE(file.good());
  std::vector<std::vector<std::string>> out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('#'))
      continue;
    std::vector<std::string> fields;
    for (std::string_view field : str_split(line, '\t'))
      fields.emplace_back(field);
    out.push_back(std::move(fields));
  }
  return out;
}

/// Whether some CPU kernel of the op takes the dtype for the attribute.
bool has_kernel(const std::vector<const KernelDef*>& kernels, const std::string& attr,
                DType dtype) {
  for (const KernelDef* kernel : kernels) {
    const auto& types = kernel->options.types;
    const auto found = std::ranges::find(types, attr, &TypeConstraint::attr);
    if (kernel->device_type == "CPU" &&
        (found == types.end() || std::ranges::find(found->dtypes, dtype) != found->dtypes.end()))
      return true;
  }
  return false;
}

struct Missing {
  std::string dtypes, why;
};

/// "op attr", the dtypes of TensorFlow's that are missing, and why. An entry goes when its dtypes come.
const std::map<std::string, Missing>& missing() {
  constexpr auto no_variants = "variants are only moved";
  constexpr auto objects = "rows of objects are read whole and chosen by GatherV2";
  static const std::map<std::string, Missing> all = {
      {"AddN T", {"variant", no_variants}},
      {"ClipByValue T",
       {"complex64,complex128", "numbers without an order: TensorFlow compares their real parts"}},
      {"Conj T", {"variant", no_variants}},
      {"ResourceGather dtype", {"string,resource,variant", objects}},
      {"ResourceScatterUpdate dtype", {"string,variant", objects}},
  };
  return all;
}

/// The value of an attribute as make_cpu_dtypes.py writes it.
AttrValue attr_value(std::string_view text) {
  if (text == "true" || text == "false")
    return text == "true";
  if (const auto dtype = parse_dtype(text))
    return *dtype;
  if (text.starts_with('[')) {
    std::vector<std::int64_t> numbers;
    for (std::string_view number : str_split(text.substr(1, text.size() - 2), ','))
      numbers.push_back(std::stoll(std::string(number)));
    return numbers;
  }
  if (text.find('.') != std::string_view::npos)
    return std::stof(std::string(text));
  return std::string(text);
}

std::vector<std::pair<std::string, AttrValue>> attrs_of(std::string_view text) {
  std::vector<std::pair<std::string, AttrValue>> out;
  for (std::string_view attr : str_split(text, ' '))
    if (const auto at = attr.find('='); at != std::string_view::npos)
      out.emplace_back(attr.substr(0, at), attr_value(attr.substr(at + 1)));
  return out;
}

/// What the run of a row is held to: its outputs, or what its variables hold afterwards.
std::vector<Tensor> results(const std::vector<CaseInput>& inputs, const std::vector<Entry>& given,
                            const std::vector<Entry>& outputs, TestDevice& device) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].kind != CaseInput::Kind::value)
      out.push_back(variable_of(inputs, given, static_cast<int>(i), device)->snapshot());
  if (!out.empty())
    return out;
  for (const Entry& output : outputs)
    out.push_back(output.tensor);
  return out;
}

} // namespace

TEST_CASE("op library: kernels have the dtypes of TensorFlow's CPU kernels, but for a list") {
  std::set<std::string> seen;
  for (const auto& row : golden_rows("cpu_dtypes.tsv")) {
    const auto kernels = op_library().kernels.of(row[0]);
    if (kernels.empty())
      continue;
    std::vector<std::string> lacking;
    for (std::string_view name : str_split(row[2], ',')) {
      const auto dtype = parse_dtype(name);
      REQUIRE_MESSAGE(dtype, name);
      if (!has_kernel(kernels, row[1], *dtype))
        lacking.emplace_back(name);
    }
    const std::string key = str_cat(row[0], " ", row[1]);
    const auto listed = missing().find(key);
    const std::string expected = listed == missing().end() ? "" : listed->second.dtypes;
    CHECK_MESSAGE(str_join(lacking, ",") == expected, key, " lacks ", str_join(lacking, ","));
    seen.insert(key);
  }
  for (const auto& [key, entry] : missing()) {
    CHECK_MESSAGE(seen.contains(key), key, " is no attribute of a kernel");
    CHECK_MESSAGE(!entry.why.empty(), key, " has no reason");
  }
}

TEST_CASE("op library: kernels compute TensorFlow's values with every dtype") {
  int compared = 0;
  for (const auto& row : golden_rows("dtype_values.tsv")) {
    REQUIRE(row.size() == 4);
    const OpSchema* schema = op_library().ops.find(row[0]);
    REQUIRE_MESSAGE(schema, row[0]);
    CAPTURE(row[0]);
    CAPTURE(row[1]);
    CAPTURE(row[2]);
    std::vector<CaseInput> inputs;
    for (std::string_view text : str_split(row[2], ';')) {
      auto input = parse_case_input(str_trim(text));
      REQUIRE_MESSAGE(input.ok(), input.status().to_string());
      inputs.push_back(*std::move(input));
    }
    auto node = make_case_node(*schema, inputs, attrs_of(row[1]));
    REQUIRE_MESSAGE(node.ok(), node.status().to_string());
    TestDevice device;
    auto bound = bind_kernel(op_library().kernels, "node", *schema, node->attrs, device.device());
    CHECK_MESSAGE(bound.ok(), bound.status().to_string());
    if (!bound.ok())
      continue;
    const std::vector<std::string> names(inputs.size(), "x");
    const auto entries = make_entries(inputs, device);
    auto outputs = run_kernel(*bound, device.step(), entries, names);
    CHECK_MESSAGE(outputs.ok(), outputs.status().to_string());
    if (!outputs.ok())
      continue;
    const auto found = results(inputs, entries, *outputs, device);
    const auto texts = str_split(row[3], ';');
    for (std::size_t i = 0; i < texts.size(); ++i) {
      auto expected = parse_literal(str_trim(texts[i]));
      REQUIRE_MESSAGE(expected.ok(), expected.status().to_string());
      // Updates round after each operation, as TensorFlow's do: half and bfloat16 are equal.
      const bool exact = row[0].find("Apply") != std::string::npos &&
                         dtype_size(expected->dtype()) == sizeof(std::uint16_t);
      const auto wrong =
          difference(found[i], *expected, exact ? Tolerance{} : tolerance_of(expected->dtype()));
      CHECK_MESSAGE(!wrong, wrong.value_or(""));
      ++compared;
    }
  }
  CHECK(compared > 1400);
}

} // namespace troupe::testing
