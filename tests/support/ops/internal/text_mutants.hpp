// Graphs in text form with numbers changed, run as the test ran the graph itself.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/framework/cancellation.hpp"

namespace troupe::testing {

/// A run of the lines so far.
struct LinesRun {
  std::size_t length = 0; ///< of the text
  std::vector<std::string> fetches;
};

/// Repeats the runs, with other numbers and truths in the text: nothing ends the process, and a
/// refusal has a sentence. What then waits for ever is cancelled after a twentieth of a second. A
/// third as many as run_mutants takes of each row, since graphs that wait take their time.
void run_text_mutants(const std::string& text, const std::vector<LinesRun>& runs);

/// Other numbers and truths in a text, each time.
class TextMutator {
public:
  explicit TextMutator(std::string_view text);
  void next(); ///< chooses up to three words anew
  /// The part of the text that begins at `begin`, as it is now.
  std::string part(std::size_t begin, std::string text) const;

private:
  struct Word {
    std::size_t at = 0, length = 0;
  };
  struct Edit {
    Word word;
    std::string_view now;
  };
  std::vector<Word> words_;
  std::vector<Edit> edits_; ///< the last of the text first
  std::mt19937_64 source_;
};

/// Cancels a twentieth of a second after it was made, unless it is gone by then.
class Watchdog {
public:
  explicit Watchdog(Cancellation& cancellation);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;

private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::thread thread_;
};

} // namespace troupe::testing
