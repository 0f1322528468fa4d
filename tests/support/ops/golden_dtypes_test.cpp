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

/// Families that have f32 and f64, and integers where the arithmetic has them: "op attr" and the dtypes of
/// TensorFlow's that are missing. An entry goes when its dtypes come.
const std::map<std::string, std::string>& missing() {
  static const std::map<std::string, std::string> all = {
      {"Add T", "string"},
      {"AddN T", "variant"},
      {"ApplyAdam T", "complex64,bfloat16,complex128,half"},
      {"ApplyGradientDescent T", "complex64,bfloat16,complex128,half"},
      {"ApplyMomentum T", "complex64,bfloat16,complex128,half"},
      {"ArgMax output_type", "int16,uint16"},
      {"AvgPool T", "bfloat16,half"},
      {"AvgPoolGrad T", "bfloat16,half"},
      {"BatchMatMul T", "int16,complex64,bfloat16,complex128,half"},
      {"BatchMatMulV2 T", "int16,complex64,bfloat16,complex128,half"},
      {"BatchMatMulV3 Ta", "uint8,int16,int8,complex64,bfloat16,complex128"},
      {"BatchMatMulV3 Tb", "uint8,int16,int8,complex64,bfloat16,complex128"},
      {"BatchMatMulV3 Tout", "int16,complex64,bfloat16,complex128"},
      {"BiasAdd T", "uint8,int16,int8,complex64,bfloat16,uint16,complex128,half,uint32,uint64"},
      {"BiasAddGrad T", "uint8,int16,int8,complex64,bfloat16,uint16,complex128,half,uint32,uint64"},
      {"BiasAddV1 T", "uint8,int16,int8,complex64,bfloat16,uint16,complex128,half,uint32,uint64"},
      {"ClipByValue T", "complex64,complex128"},
      {"Conv2D T", "int32,bfloat16,half"},
      {"Conv2DBackpropFilter T", "bfloat16,half"},
      {"Conv2DBackpropInput T", "int32,bfloat16,half"},
      {"Equal T", "qint8,quint8,qint32,qint16,quint16"},
      {"FusedBatchNormGradV3 T", "bfloat16,half"},
      {"FusedBatchNormV3 T", "bfloat16,half"},
      {"Gather Tindices", "int16"},
      {"GatherV2 Tindices", "int16"},
      {"LogSoftmax T", "bfloat16,half"},
      {"MatMul T", "int16,complex64,bfloat16,complex128,half"},
      {"MaxPool T", "int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64"},
      {"MaxPoolGrad T", "int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64"},
      {"NotEqual T", "qint8,quint8,qint32,qint16,quint16"},
      {"ResourceApplyAdam T", "complex64,bfloat16,complex128,half"},
      {"ResourceApplyGradientDescent T", "complex64,bfloat16,complex128,half"},
      {"ResourceApplyKerasMomentum T", "complex64,bfloat16,complex128,half"},
      {"ResourceApplyMomentum T", "complex64,bfloat16,complex128,half"},
      {"ResourceGather dtype", "string,qint8,quint8,qint32,resource,variant"},
      {"ResourceScatterUpdate dtype", "string,variant"},
      {"Softmax T", "bfloat16,half"},
      {"SoftmaxCrossEntropyWithLogits T", "bfloat16,half"},
      {"SparseSoftmaxCrossEntropyWithLogits T", "bfloat16,half"},
      {"TopK T", "uint8,int16,int8,bfloat16,uint16,half,uint32,uint64"},
      {"TopKV2 T", "uint8,int16,int8,bfloat16,uint16,half,uint32,uint64"},
  };
  return all;
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
    const std::string expected = listed == missing().end() ? "" : listed->second;
    CHECK_MESSAGE(str_join(lacking, ",") == expected, key, " lacks ", str_join(lacking, ","));
    seen.insert(key);
  }
  for (const auto& [key, dtypes] : missing())
    CHECK_MESSAGE(seen.contains(key), key, " is no attribute of a kernel");
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
    std::vector<std::pair<std::string, AttrValue>> attrs;
    if (const auto at = row[1].find('='); at != std::string::npos)
      attrs.emplace_back(row[1].substr(0, at), AttrValue(*parse_dtype(row[1].substr(at + 1))));
    auto node = make_case_node(*schema, inputs, attrs);
    REQUIRE_MESSAGE(node.ok(), node.status().to_string());
    TestDevice device;
    auto bound = bind_kernel(op_library().kernels, "node", *schema, node->attrs, device.device());
    CHECK_MESSAGE(bound.ok(), bound.status().to_string());
    if (!bound.ok())
      continue;
    const std::vector<std::string> names(inputs.size(), "x");
    auto outputs = run_kernel(*bound, device.step(), make_entries(inputs, device), names);
    CHECK_MESSAGE(outputs.ok(), outputs.status().to_string());
    const auto texts = str_split(row[3], ';');
    for (std::size_t i = 0; outputs.ok() && i < texts.size(); ++i) {
      auto expected = parse_literal(str_trim(texts[i]));
      REQUIRE_MESSAGE(expected.ok(), expected.status().to_string());
      const auto wrong =
          difference((*outputs)[i].tensor, *expected, tolerance_of(expected->dtype()));
      CHECK_MESSAGE(!wrong, wrong.value_or(""));
      ++compared;
    }
  }
  CHECK(compared > 900);
}

} // namespace troupe::testing
