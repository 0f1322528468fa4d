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
#include "tests/support/ops/internal/mutants.hpp"

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

/// "op attr", the dtypes of TensorFlow's that are missing, and why. An entry goes when its dtypes
/// come.
const std::map<std::string, Missing>& missing() {
  constexpr auto integers = "int32,uint8,int16,int8,int64,uint16,uint32,uint64";
  constexpr auto floats_alone = "the op's signature allows floats alone";
  static const std::map<std::string, Missing> all = {
      {"Acos T", {"int32,int16,int8,int64", "kernels that the op's signature shuts out"}},
      {"ClipByValue T",
       {"complex64,complex128", "numbers without an order: TensorFlow compares their real parts"}},
      {"LeakyRelu T", {integers, floats_alone}},
      {"LeakyReluGrad T", {integers, floats_alone}},
  };
  return all;
}

/// The value of an attribute as make_cpu_dtypes.py writes it.
AttrValue attr_value(AttrType type, std::string_view text) {
  if (type.list) {
    std::vector<std::int64_t> numbers;
    std::vector<float> reals;
    for (std::string_view item : str_split(text.substr(1, text.size() - 2), ','))
      if (type.kind == AttrKind::real)
        reals.push_back(std::stof(std::string(item)));
      else if (!item.empty())
        numbers.push_back(std::stoll(std::string(item)));
    if (type.kind == AttrKind::real)
      return reals;
    return numbers;
  }
  switch (type.kind) {
  case AttrKind::boolean:
    return text == "true";
  case AttrKind::integer:
    return std::int64_t{std::stoll(std::string(text))};
  case AttrKind::real:
    return std::stof(std::string(text));
  case AttrKind::type:
    return parse_dtype(text).value_or(DType::invalid);
  case AttrKind::shape: {
    std::vector<std::int64_t> dims;
    for (std::string_view dim : str_split(text.substr(1, text.size() - 2), ','))
      dims.push_back(std::stoll(std::string(dim)));
    return PartialShape(dims);
  }
  default:
    return std::string(text);
  }
}

std::vector<std::pair<std::string, AttrValue>> attrs_of(const OpSchema& schema,
                                                        std::string_view text) {
  std::vector<std::pair<std::string, AttrValue>> out;
  for (std::string_view attr : str_split(text, ' '))
    if (const auto at = attr.find('='); at != std::string_view::npos) {
      const std::string name(attr.substr(0, at));
      const AttrDef* def = schema.find_attr(name);
      REQUIRE_MESSAGE(def, schema.name, " has no attribute ", name);
      out.emplace_back(name, attr_value(def->type, attr.substr(at + 1)));
    }
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

/// Whether half and bfloat16 variables must be equal after an update, which rounds after each
/// operation as TensorFlow's does.
enum class Updates : std::uint8_t { exact, within_tolerance };

/// "! CODE", or "! CODE sentence", of which the error must have every word.
void check_refusal(const Status& status, std::string_view said) {
  said.remove_prefix(2);
  const auto end = std::min(said.find(' '), said.size());
  CHECK_MESSAGE(to_string(status.code()) == said.substr(0, end), status.to_string());
  CHECK_MESSAGE(status.message().find(str_trim(said.substr(end))) != std::string::npos,
                status.to_string());
}

/// What a row says that there is: outputs, or a refusal.
void check_outcome(const Result<std::vector<Entry>>& outputs, const std::vector<CaseInput>& inputs,
                   const std::vector<Entry>& entries, const std::string& op, std::string_view said,
                   Updates updates, TestDevice& device) {
  if (said.starts_with("! ")) {
    CHECK_MESSAGE(!outputs.ok(), "TensorFlow refuses it");
    if (!outputs.ok())
      check_refusal(outputs.status(), said);
    return;
  }
  CHECK_MESSAGE(outputs.ok(), outputs.status().to_string());
  if (!outputs.ok())
    return;
  const auto found = results(inputs, entries, *outputs, device);
  const auto texts = str_split(said, ';');
  REQUIRE(found.size() >= texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto expected = parse_literal(str_trim(texts[i]));
    REQUIRE_MESSAGE(expected.ok(), expected.status().to_string());
    const bool exact = updates == Updates::exact && op.find("Apply") != std::string::npos &&
                       dtype_size(expected->dtype()) == sizeof(std::uint16_t);
    const auto wrong =
        difference(found[i], *expected, exact ? Tolerance{} : tolerance_of(expected->dtype()));
    CHECK_MESSAGE(!wrong, wrong.value_or(""));
  }
}

/// Runs one row: op, attributes, inputs, what TensorFlow gave.
void check_row(const OpSchema& schema, const std::vector<std::string>& row, Updates updates) {
  CAPTURE(row[0]);
  CAPTURE(row[1]);
  CAPTURE(row[2]);
  std::vector<CaseInput> inputs;
  for (std::string_view text : str_split(row[2], ';')) {
    auto input = parse_case_input(str_trim(text));
    REQUIRE_MESSAGE(input.ok(), input.status().to_string());
    inputs.push_back(*std::move(input));
  }
  run_mutants(schema, str_cat(row[1], row[2]), inputs, attrs_of(schema, row[1]));
  auto node = make_case_node(schema, inputs, attrs_of(schema, row[1]));
  if (!node.ok() && row[3].starts_with("! ")) // there is no such node
    return check_refusal(node.status(), row[3]);
  CHECK_MESSAGE(node.ok(), node.status().to_string());
  if (!node.ok())
    return;
  TestDevice device;
  auto bound = bind_kernel(op_library().kernels, "node", schema, node->attrs, device.device());
  if (!bound.ok() && row[3].starts_with("! ")) // before it runs
    return check_refusal(bound.status(), row[3]);
  CHECK_MESSAGE(bound.ok(), bound.status().to_string());
  if (!bound.ok())
    return;
  const std::vector<std::string> names(inputs.size(), "x");
  const auto entries = make_entries(inputs, device);
  check_outcome(run_kernel(*bound, device.step(), entries, names), inputs, entries, row[0], row[3],
                updates, device);
}

/// Checks the rows of `file` whose ops there are, and gives how many.
int check_rows(std::string_view file, Updates updates = Updates::exact) {
  int compared = 0;
  for (const auto& row : golden_rows(file)) {
    REQUIRE(row.size() == 4);
    const OpSchema* schema = op_library().ops.find(row[0]);
    if (!schema || op_library().kernels.of(row[0]).empty())
      continue; // of the census, not of the library
    check_row(*schema, row, updates);
    ++compared;
  }
  return compared;
}

} // namespace

TEST_CASE("op library: kernels have the dtypes of TensorFlow's CPU kernels, but for a list") {
  std::set<std::string> seen;
  for (const auto& row : golden_rows("cpu_dtypes.tsv")) {
    const auto kernels = op_library().kernels.of(row[0]);
    if (kernels.empty() || row[2].empty()) // constrained by something else than dtypes
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
  CHECK(check_rows("dtype_values.tsv") > 1400);
}

TEST_CASE("op library: optimizers do TensorFlow's steps, to all elements and to rows") {
  CHECK(check_rows("optimizer_values.tsv", Updates::within_tolerance) > 300);
}

TEST_CASE("op library: kernels compute and refuse what TensorFlow's do") {
  CHECK(check_rows("op_values.tsv") > 900);
}

TEST_CASE("op library: what is wrong with an op's inputs is said in TensorFlow's words") {
  CHECK(check_rows("refusals.tsv") > 1000);
}

} // namespace troupe::testing
