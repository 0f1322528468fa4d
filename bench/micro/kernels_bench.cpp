// Each kernel once per row of its case table: what a call costs that does next to nothing. Names
// are family/op/row; `--benchmark_filter=^nn/` chooses. Rows that are refused are left out, as are
// those that cannot run twice.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <benchmark/benchmark.h>

#include <set>

#include "core/base/strings.hpp"
#include "tests/support/ops/internal/case_node.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace {

using namespace troupe;
using namespace troupe::testing;

// One row, bound and ready to run again and again on the same inputs.
struct BoundRow {
  TestDevice device;
  std::vector<CaseInput> inputs;
  CaseNode node;
  KernelNode kernel;
  std::vector<Entry> entries;
  std::vector<std::string> names;
};

Status bind(const std::string& op, const OpCase& row, BoundRow& out) {
  const OpSchema* schema = op_library().ops.find(op);
  if (!schema)
    return not_found(str_cat("the library has no op ", op));
  for (const std::string& text : row.inputs) {
    TROUPE_ASSIGN(CaseInput input, parse_case_input(text));
    out.inputs.push_back(std::move(input));
  }
  TROUPE_ASSIGN(out.node, make_case_node(*schema, out.inputs, row.attrs));
  TROUPE_ASSIGN(out.kernel, bind_kernel(op_library().kernels, "node", *schema, out.node.attrs,
                                        out.device.device()));
  out.entries = make_entries(out.inputs, out.device);
  out.names.assign(out.inputs.size(), "v");
  return {};
}

void run_case(benchmark::State& state, const std::string& op, const OpCase& row) {
  BoundRow bound;
  Status status = bind(op, row, bound);
  for (auto _ : state) {
    if (status.ok()) {
      auto outputs = run_kernel(bound.kernel, bound.device.step(), bound.entries, bound.names);
      benchmark::DoNotOptimize(outputs);
      status = outputs.status();
    }
    if (!status.ok()) {
      state.SkipWithError(status.message().c_str());
      break;
    }
  }
}

// ".../kernels/nn/softmax_test.cpp" → "nn"
std::string family_of(std::string_view file) {
  std::size_t end = file.rfind('/');
  std::size_t begin = file.rfind('/', end - 1);
  return std::string(file.substr(begin + 1, end - begin - 1));
}

void register_rows() {
  for (const OpCaseTable& table : op_case_tables())
    for (const OpCase& row : table.rows()) {
      if (!row.error.empty())
        continue;
      std::string op = row.op.empty() ? table.op : row.op;
      std::string name = str_cat(family_of(table.file), "/", op, "/", row.name);
      benchmark::RegisterBenchmark(name.c_str(), [op, row](benchmark::State& state) {
        run_case(state, op, row);
      })->MinTime(0.02);
    }
}

} // namespace

int main(int count, char** arguments) {
  register_rows();
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
