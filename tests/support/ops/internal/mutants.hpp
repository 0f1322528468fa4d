// Rows of case tables and of golden files with something changed: what users get wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/ops/internal/case_node.hpp"

namespace troupe::testing {

/// What a shape function says of an output: it must hold, or, as of the elements of a list, repeats
/// what the graph claims.
enum class SaidShapes : std::uint8_t { hold, repeat };

/// Runs changed copies of a row: other values, dimensions, ranks, dtypes and attributes, extreme
/// ones among them. Each is computed, in agreement with the shape function and the declared dtypes,
/// or refused in a sentence; sanitizers see the rest. The changes depend on the row and its `name`
/// alone. TROUPE_MUTANTS in the environment says how many there are for each row;
/// TROUPE_TELL_MUTANTS=1 prints each before it runs, and how long slow ones took.
void run_mutants(const OpSchema& schema, std::string_view name,
                 const std::vector<CaseInput>& inputs,
                 const std::vector<std::pair<std::string, AttrValue>>& attrs,
                 SaidShapes shapes = SaidShapes::hold);

/// What the environment says.
int mutants_of_each_row();
int mutants_of_each_graph();
/// One with so little memory that a mutant which asks for much is refused before it costs time.
std::unique_ptr<Device> make_small_device();
bool mutants_are_told();

} // namespace troupe::testing
