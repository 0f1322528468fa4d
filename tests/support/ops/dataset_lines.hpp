// DatasetLines: datasets of a graph in text form, iterated over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/strings.hpp"
#include "tests/support/ops/function_lines.hpp"

namespace troupe::testing {

/// The attributes of a dataset whose elements are one scalar.
inline constexpr auto of_int64 = "[output_types=[int64], output_shapes=[[]]]";
/// Lines that make dataset `name`: 0 and so on, `count` numbers.
std::string range_lines(std::string_view name, std::int64_t count);
/// A line that makes a constant: constant("n", "i64[] 3").
std::string constant(std::string_view name, std::string_view literal);

/// What is known of a dataset.
struct DatasetFacts {
  std::string cardinality = {}; ///< empty: that of the elements
  bool can_be_saved = true;
  bool is_unordered = false; ///< the elements come in any order
};

class DatasetLines : public FunctionLines {
public:
  /// The elements of the dataset that a node makes, "i64[] 1 f32[] 2" each, "error CODE: …" where
  /// asking for one fails; at most `limit` of them.
  std::vector<std::string> elements(const std::string& dataset, std::size_t limit = 100);
  /// Checks that the dataset has these elements, again and again, also when it is saved after each
  /// of them and goes on from there in an iterator of another device. An expected "error …" has to
  /// be found in what is said.
  void check(const std::string& dataset, const std::vector<std::string>& expected,
             const DatasetFacts& facts = {});
  /// Checks that making the dataset, or its iterator, fails with a text that holds this.
  void check_refused(const std::string& dataset, std::string_view text);

private:
  void add_iterator(const std::string& dataset);
  std::string next(const std::string& dataset);
  std::vector<std::string> rest(const std::string& dataset, std::size_t limit);
  std::vector<std::string> with_iterators_;
};

} // namespace troupe::testing
