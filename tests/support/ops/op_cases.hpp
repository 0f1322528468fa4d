// Case tables of ops: one row is run five ways (values, inferred shape, each device and library,
// gradient, benchmark).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/op/attr_value.hpp"

namespace troupe::testing {

/// One row. Tensors are literals (core/tensor/literal.hpp). Dtype attrs and list lengths that
/// inputs determine are filled in; `attrs` gives the rest. An input written "var f32[2] 1 2" is a
/// reference variable holding that value, "uninit f32" one without; "res f32[2] 1 2" is a resource
/// variable's handle, "res uninit f32" that of one which nobody assigned; "dead f32" is a dead
/// input. An op that writes its variable is checked with `after` (literal of the variable's value,
/// or "uninit", by input index).
struct OpCase {
  std::string name;
  std::string op = {}; ///< empty: the table's op
  std::vector<std::string> inputs = {};
  std::vector<std::pair<std::string, AttrValue>> attrs = {};
  std::vector<std::string> outputs = {}; ///< "?" accepts any value; "" stands for a dead output
  std::string error = {};                ///< part of the error's text; then outputs are empty
  std::vector<std::pair<int, std::string>> after = {};
  double tolerance = 0;              ///< 0: the table's for the dtype
  std::string tolerance_reason = {}; ///< required when a tolerance is given
  bool check_gradient =
      true; ///< compare with finite differences where the op has a gradient and a float input
  std::vector<int> gradient_inputs = {}; ///< empty: every floating input
  std::string no_gradient_reason =
      {}; ///< required when check_gradient is false for an op with a gradient
};

/// Every table of the process; filled by TROUPE_OP_CASES before main.
struct OpCaseTable {
  const char* op;
  const char* file;
  std::vector<OpCase> (*rows)();
};
std::vector<OpCaseTable>& op_case_tables();
bool add_op_cases(OpCaseTable table);
/// Runs one table's rows as doctest checks: every row by value and shape at each instruction set
/// and with oneDNN on and off, its gradient against central differences in double.
void run_op_cases(const OpCaseTable& table);

} // namespace troupe::testing

/// In softmax_test.cpp:
///   TROUPE_OP_CASES(Softmax) { return {{.name = "no rows", .inputs = {"f32[0,2]"}, .outputs =
///   {"f32[0,2]"}}}; }
#define TROUPE_OP_CASES(OP)                                                                        \
  [[gnu::cold]] static std::vector<::troupe::testing::OpCase> troupe_cases_##OP();                 \
  static const bool troupe_cases_added_##OP =                                                      \
      ::troupe::testing::add_op_cases({#OP, __FILE__, &troupe_cases_##OP});                        \
  TEST_CASE("op cases: " #OP) {                                                                    \
    CHECK(troupe_cases_added_##OP);                                                                \
    ::troupe::testing::run_op_cases({#OP, __FILE__, &troupe_cases_##OP});                          \
  }                                                                                                \
  static std::vector<::troupe::testing::OpCase> troupe_cases_##OP()

/// Names ops that no row can run, because they need what another node of a graph has made, such as
/// a queue: the file's test cases run them in graphs. For the tests of the whole library, which
/// read these names.
#define TROUPE_OPS_IN_GRAPHS(...) TROUPE_OPS_IN_GRAPHS_AS(__COUNTER__, __VA_ARGS__)
#define TROUPE_OPS_IN_GRAPHS_AS(NUMBER, ...) TROUPE_OPS_IN_GRAPHS_NAMED(NUMBER, __VA_ARGS__)
#define TROUPE_OPS_IN_GRAPHS_NAMED(NUMBER, ...)                                                    \
  [[maybe_unused]] static constexpr const char* troupe_ops_in_graphs_##NUMBER[] = {__VA_ARGS__}
