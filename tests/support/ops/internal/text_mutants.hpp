// Graphs in text form with numbers changed, run as the test ran the graph itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace troupe::testing {

/// A run of the lines so far.
struct LinesRun {
  std::size_t length = 0; ///< of the text
  std::vector<std::string> fetches;
};

/// Repeats the runs, with other numbers and truths in the text: nothing ends the process, and a refusal has a
/// sentence. What then waits for ever is cancelled after a tenth of a second. As many as run_mutants takes of each row.
void run_text_mutants(const std::string& text, const std::vector<LinesRun>& runs);

} // namespace troupe::testing
