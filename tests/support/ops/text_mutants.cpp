#include "tests/support/ops/internal/text_mutants.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iostream>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "tests/support/ops/internal/mutants.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::testing {
namespace {

bool is_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == '-' || c == '+';
}

/// Numbers and truths, not names.
bool can_change(std::string_view word) {
  const char first = word[0] == '-' && word.size() > 1 ? word[1] : word[0];
  return std::isdigit(static_cast<unsigned char>(first)) || word == "true" || word == "false";
}

/// Of what is not quoted: paths may be others each time.
std::uint64_t seed_of(std::string_view text) {
  std::uint64_t out = 14695981039346656037u;
  bool is_quoted = false;
  for (const char c : text) {
    is_quoted ^= c == '"';
    out = is_quoted ? out : (out ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return out;
}

void run_one(const std::string& text, const std::vector<LinesRun>& runs,
             const TextMutator& mutator) {
  Interpreter interpreter(make_small_device());
  Cancellation& cancellation = *interpreter.device().step().cancellation;
  const Watchdog watchdog(cancellation);
  for (const LinesRun& run : runs) {
    auto graph = parse_graph(mutator.part(0, text.substr(0, run.length)), op_library().ops);
    if (!graph.ok())
      return;
    try {
      auto values = interpreter.run(*graph, {}, run.fetches);
      CHECK((values.ok() || !values.status().message().empty()));
    } catch (const StepCancelled&) {
    }
    if (cancellation.is_cancelled())
      return;
  }
}

} // namespace

TextMutator::TextMutator(std::string_view text) : source_(seed_of(text)) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_part(text[end]))
      ++end;
    // Not the slot in "node:1".
    if (end > at && (at == 0 || text[at - 1] != ':') && can_change(text.substr(at, end - at)))
      words_.push_back({at, end - at});
    at = std::max(end, at + 1);
  }
}

void TextMutator::next() {
  static constexpr std::string_view numbers[] = {"0",
                                                 "1",
                                                 "2",
                                                 "3",
                                                 "-1",
                                                 "-2",
                                                 "7",
                                                 "100",
                                                 "1000000",
                                                 "2147483647",
                                                 "-2147483648",
                                                 "2147483648",
                                                 "4294967296",
                                                 "9223372036854775807",
                                                 "-9223372036854775808",
                                                 "1e30",
                                                 "nan",
                                                 "0.5",
                                                 "true",
                                                 "false"};
  edits_.clear();
  for (std::uint64_t left = source_() % 3 + 1; left > 0 && !words_.empty(); --left) {
    const Word word = words_[source_() % words_.size()];
    const std::string_view now = numbers[source_() % std::size(numbers)];
    if (edits_.empty() || word.at < edits_.back().word.at)
      edits_.push_back({word, now});
  }
}

std::string TextMutator::part(std::size_t begin, std::string text) const {
  const std::size_t end = begin + text.size();
  for (const Edit& edit : edits_)
    if (edit.word.at >= begin && edit.word.at + edit.word.length <= end)
      text.replace(edit.word.at - begin, edit.word.length, edit.now);
  return text;
}

Watchdog::Watchdog(Cancellation& cancellation)
    : thread_([this, &cancellation] {
        std::unique_lock guard(lock_);
        if (!changed_.wait_for(guard, std::chrono::milliseconds(50), [this] { return is_done_; }))
          cancellation.cancel(cancelled("a mutant that waits for ever"));
      }) {}

Watchdog::~Watchdog() {
  {
    std::scoped_lock guard(lock_);
    is_done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void run_text_mutants(const std::string& text, const std::vector<LinesRun>& runs) {
  TextMutator mutator(text);
  for (int i = 0; i < mutants_of_each_graph() && !runs.empty(); ++i) {
    mutator.next();
    const std::string now = mutator.part(0, text);
    INFO("mutant ", i, ":\n", now);
    if (mutants_are_told())
      std::cerr << "mutant " << i << ":\n" << now << std::endl;
    run_one(text, runs, mutator);
  }
}

} // namespace troupe::testing
