// Runs case tables: values, shapes, errors and gradients of each row.
#include "tests/support/ops/op_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "kernels/arith/types.hpp"
#include "tests/support/ops/compare.hpp"
#include "tests/support/ops/internal/case_node.hpp"
#include "tests/support/ops/internal/gpu_rows.hpp"
#include "tests/support/ops/internal/gradient_check.hpp"
#include "tests/support/ops/internal/mutants.hpp"

namespace troupe::testing {
namespace {

/// One way to compute, in force while it lives.
class Arithmetic {
public:
  Arithmetic(arith::Isa isa, bool onednn) {
    arith::use_isa(isa);
    arith::use_onednn(onednn);
  }
  ~Arithmetic() {
    arith::use_isa(isa_);
    arith::use_onednn(onednn_);
  }
  Arithmetic(const Arithmetic&) = delete;

private:
  arith::Isa isa_ = arith::isa();
  bool onednn_ = arith::onednn_in_use();
};

struct Row {
  const OpCase& row;
  const OpSchema& schema;
  std::vector<CaseInput> inputs;
  std::vector<Tensor> outputs; // without value: any, or dead
  std::vector<std::pair<int, Tensor>> after;

  Tolerance tolerance(DType dtype) const {
    return row.tolerance > 0 ? Tolerance{row.tolerance, row.tolerance} : tolerance_of(dtype);
  }
};

Status run_once(const Row& row, const CaseNode& node, TestDevice& device,
                std::vector<Entry> entries, std::vector<Entry>& outputs) {
  TROUPE_ASSIGN(KernelNode bound,
                bind_kernel(op_library().kernels, "node", row.schema, node.attrs, device.device()));
  std::vector<std::string> names(entries.size(), "v");
  TROUPE_ASSIGN(outputs, run_kernel(bound, device.step(), std::move(entries), names));
  return {};
}

void check_outputs(const Row& row, std::vector<Entry>& outputs) {
  REQUIRE_MESSAGE(outputs.size() == row.outputs.size(), "the op has ", outputs.size(),
                  " outputs, the row ", row.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& text = row.row.outputs[i];
    Entry& entry = outputs[i];
    Tensor value = entry.ref ? entry.ref->snapshot() : entry.tensor;
    if (text.empty()) {
      CHECK_MESSAGE(!entry.has_value(), "output ", i, " should be dead");
      continue;
    }
    CHECK_MESSAGE(entry.has_value(), "output ", i, " has no value");
    if (text == "?" || !entry.has_value())
      continue;
    auto wrong = difference(value, row.outputs[i], row.tolerance(value.dtype()));
    CHECK_MESSAGE(!wrong, "output ", i, ": ", wrong.value_or(""));
  }
}

void check_after(const Row& row, const std::vector<Entry>& entries, TestDevice& device) {
  for (const auto& [input, expected] : row.after) {
    auto variable = variable_of(row.inputs, entries, input, device);
    const Tensor value = variable ? variable->snapshot() : Tensor();
    if (!expected.has_value()) {
      CHECK_MESSAGE(!value.has_value(), "variable ", input, " should hold no value");
      continue;
    }
    REQUIRE_MESSAGE(value.has_value(), "variable ", input, " holds no value");
    auto wrong = difference(value, expected, row.tolerance(value.dtype()));
    CHECK_MESSAGE(!wrong, "variable ", input, " afterwards: ", wrong.value_or(""));
  }
}

void check_shapes(const Row& row, const CaseNode& node, const std::vector<Entry>& outputs) {
  std::vector<PartialShape> coarse(outputs.size());
  for (auto [shapes, values] : {std::pair{false, false}, {true, false}, {true, true}}) {
    auto inferred = infer_case_shapes(node, row.inputs, shapes, values);
    REQUIRE_MESSAGE(inferred.ok(), "shape function: ", inferred.status().to_string());
    REQUIRE(inferred->size() == outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const PartialShape& now = (*inferred)[i];
      // Knowing more must not lead to saying less, or something else.
      auto merged = now.merge(coarse[i]);
      CHECK_MESSAGE((merged && *merged == now), "output ", i, ": inferred ", now.to_string(),
                    " after ", coarse[i].to_string());
      coarse[i] = now;
      Tensor value = outputs[i].ref ? outputs[i].ref->snapshot() : outputs[i].tensor;
      if (value.has_value())
        CHECK_MESSAGE(now.is_compatible_with(PartialShape(value.shape())), "output ", i,
                      ": inferred ", now.to_string(), ", it is ", value.shape().to_string());
    }
  }
}

/// On a GPU, if the op has a kernel there for the row's dtypes.
void run_on_gpu(const Row& row, const CaseNode& node) {
  auto kernel = op_library().kernels.find(row.schema.name, node.attrs, "GPU");
  if (!kernel.ok() || row.schema.name == "DeviceIndex") // which says where it runs
    return;
  INFO("on a GPU");
  GpuRun run(row.inputs, **kernel, node);
  std::vector<Entry> outputs;
  Status status = run_once(row, node, run.device(), run.entries(), outputs);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  run.to_host(outputs);
  check_outputs(row, outputs);
  run.variables_to_host();
  check_after(row, run.variables(), run.device());
  outputs.clear();
  for (const std::string& problem : run.end())
    FAIL_CHECK(problem);
}

/// What the row's inputs hold must not change under others who hold it too.
void check_inputs_untouched(const Row& row, const CaseNode& node) {
  TestDevice device;
  auto entries = make_entries(row.inputs, device);
  const auto shared = entries;
  std::vector<Entry> outputs;
  Status status = run_once(row, node, device, std::move(entries), outputs);
  CHECK_MESSAGE(status.ok(), status.to_string());
  for (std::size_t i = 0; i < shared.size(); ++i)
    if (row.inputs[i].kind == CaseInput::Kind::value)
      CHECK_MESSAGE(equal(shared[i].tensor, row.inputs[i].value), "input ", i,
                    " was overwritten while somebody else held it");
}

void run_values(const Row& row, const CaseNode& node) {
  bool first = true;
  for (arith::Isa isa : {arith::Isa::base, arith::Isa::avx2, arith::Isa::avx512}) {
    for (bool onednn : {false, true}) {
      if (!arith::has_isa(isa) || (onednn && !arith::has_onednn()))
        continue;
      const std::string set = arith::name_of(isa), library = onednn ? "on" : "off";
      INFO("instruction set ", set, ", oneDNN ", library);
      Arithmetic arithmetic(isa, onednn);
      TestDevice device;
      auto entries = make_entries(row.inputs, device);
      std::vector<Entry> variables = entries;
      for (Entry& entry : variables)
        entry.tensor = Tensor(); // so that plain inputs have one owner
      std::vector<Entry> outputs;
      Status status = run_once(row, node, device, std::move(entries), outputs);
      REQUIRE_MESSAGE(status.ok(), status.to_string());
      check_outputs(row, outputs);
      check_after(row, variables, device);
      if (first)
        check_shapes(row, node, outputs);
      first = false;
    }
  }
  check_inputs_untouched(row, node);
  run_on_gpu(row, node);
}

void run_error(const Row& row, const Result<CaseNode>& node) {
  auto says = [&](const Status& status) {
    return status.message().find(row.row.error) != std::string::npos;
  };
  if (!node.ok()) {
    CHECK_MESSAGE(says(node.status()), "refused with: ", node.status().to_string());
    return;
  }
  const Status inferred = infer_case_shapes(*node, row.inputs, true, true).status();
  const bool attrs_alone = !infer_case_shapes(*node, row.inputs, false, false).ok();
  TestDevice device;
  std::vector<Entry> outputs;
  const Status run = run_once(row, *node, device, make_entries(row.inputs, device), outputs);
  CHECK_MESSAGE((says(inferred) || says(run)), "shape function: ", inferred.to_string(),
                "; kernel: ", run.to_string());
  // Shapes are often unknown before a step runs, so the kernel must not rely on the shape function.
  CHECK_MESSAGE((attrs_alone || !run.ok()), "only the shape function refuses the row");
}

bool has_plain_values(const Row& row) {
  return std::ranges::all_of(
             row.inputs,
             [](const CaseInput& input) { return input.kind == CaseInput::Kind::value; }) &&
         std::ranges::none_of(row.row.outputs,
                              [](const std::string& text) { return text.empty(); });
}

void run_gradient(const Row& row) {
  const bool has_float = std::ranges::any_of(
      row.inputs, [](const CaseInput& input) { return is_floating(input.dtype); });
  if (!row.schema.gradient || !has_float || !has_plain_values(row))
    return;
  if (!row.row.check_gradient) {
    CHECK_MESSAGE(!row.row.no_gradient_reason.empty(), "no reason for leaving out the gradient");
    return;
  }
  auto wrong = check_gradient(row.schema, row.inputs, row.row.attrs, row.row.gradient_inputs);
  CHECK_MESSAGE(!wrong, "gradient: ", wrong.value_or(""));
}

Result<Row> make_row(const OpCase& row, const OpSchema& schema) {
  Row out{.row = row, .schema = schema, .inputs = {}, .outputs = {}, .after = {}};
  for (const std::string& text : row.inputs) {
    TROUPE_ASSIGN(CaseInput input, parse_case_input(text));
    out.inputs.push_back(std::move(input));
  }
  for (const std::string& text : row.outputs) {
    if (text.empty() || text == "?") {
      out.outputs.emplace_back();
      continue;
    }
    TROUPE_ASSIGN(Tensor value, parse_literal(text));
    out.outputs.push_back(std::move(value));
  }
  for (const auto& [input, text] : row.after) {
    if (text == "uninit") {
      out.after.emplace_back(input, Tensor());
      continue;
    }
    TROUPE_ASSIGN(Tensor value, parse_literal(text));
    out.after.emplace_back(input, std::move(value));
  }
  return out;
}

void run_row(const OpCase& row, const OpSchema& schema) {
  auto parsed = make_row(row, schema);
  REQUIRE_MESSAGE(parsed.ok(), "the row: ", parsed.status().to_string());
  CHECK_MESSAGE((row.tolerance == 0 || !row.tolerance_reason.empty()),
                "no reason for the row's own tolerance");
  run_mutants(schema, row.name, parsed->inputs, row.attrs);
  auto node = make_case_node(schema, parsed->inputs, row.attrs);
  if (!row.error.empty()) {
    run_error(*parsed, node);
    return;
  }
  REQUIRE_MESSAGE(node.ok(), node.status().to_string());
  run_values(*parsed, *node);
  run_gradient(*parsed);
}

} // namespace

std::vector<OpCaseTable>& op_case_tables() {
  static std::vector<OpCaseTable> tables;
  return tables;
}

bool add_op_cases(OpCaseTable table) {
  op_case_tables().push_back(table);
  return true;
}

void run_op_cases(const OpCaseTable& table) {
  const auto rows = table.rows();
  CHECK_MESSAGE(!rows.empty(), "the table of ", table.op, " is empty");
  for (const OpCase& row : rows) {
    const std::string op = row.op.empty() ? table.op : row.op;
    INFO(op, ": ", row.name);
    const OpSchema* schema = op_library().ops.find(op);
    REQUIRE_MESSAGE(schema, "the library has no op ", op);
    run_row(row, *schema);
  }
}

} // namespace troupe::testing
