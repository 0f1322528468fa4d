#include "tests/support/ops/internal/text_mutants.hpp"

#include <cctype>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "tests/support/ops/internal/mutants.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::testing {
namespace {

struct Word {
  std::size_t at = 0, length = 0;
};

bool is_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == '-' || c == '+';
}

/// Numbers and truths that are words by themselves; not the slot in "node:1".
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_part(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_part(text[end]))
      ++end;
    const std::string_view word = text.substr(at, end - at);
    const char first = word[0] == '-' && word.size() > 1 ? word[1] : word[0];
    if ((std::isdigit(static_cast<unsigned char>(first)) || word == "true" || word == "false") &&
        (at == 0 || text[at - 1] != ':'))
      out.push_back({at, end - at});
    at = end;
  }
  return out;
}

struct Edit {
  Word word;
  std::string_view now;
};

/// At most three, the last of the text first.
std::vector<Edit> edits_of(std::string_view text, std::mt19937_64& source) {
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
  const auto words = words_of(text);
  std::vector<Edit> out;
  for (std::uint64_t left = source() % 3 + 1; left > 0 && !words.empty(); --left) {
    const Edit edit{words[source() % words.size()], numbers[source() % std::size(numbers)]};
    if (out.empty() || edit.word.at < out.back().word.at)
      out.push_back(edit);
  }
  return out;
}

std::string changed(std::string text, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits)
    if (edit.word.at + edit.word.length <= text.size())
      text.replace(edit.word.at, edit.word.length, edit.now);
  return text;
}

/// Cancels a tenth of a second after it was made, unless it is gone by then.
class Watchdog {
public:
  explicit Watchdog(Cancellation& cancellation)
      : thread_([this, &cancellation] {
          std::unique_lock guard(lock_);
          if (!changed_.wait_for(guard, std::chrono::milliseconds(100),
                                 [this] { return is_done_; }))
            cancellation.cancel(cancelled("a mutant that waits for ever"));
        }) {}
  ~Watchdog() {
    {
      std::scoped_lock guard(lock_);
      is_done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;

private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::thread thread_;
};

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
             const std::vector<Edit>& edits) {
  Interpreter interpreter(make_small_device());
  Cancellation& cancellation = *interpreter.device().step().cancellation;
  const Watchdog watchdog(cancellation);
  for (const LinesRun& run : runs) {
    auto graph = parse_graph(changed(text.substr(0, run.length), edits), op_library().ops);
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

void run_text_mutants(const std::string& text, const std::vector<LinesRun>& runs) {
  std::mt19937_64 source(seed_of(text));
  for (int i = 0; i < mutants_of_each_row() && !runs.empty(); ++i) {
    const auto edits = edits_of(text, source);
    const std::string now = changed(text, edits);
    INFO("mutant ", i, ":\n", now);
    if (mutants_are_told())
      std::cerr << "graph mutant " << i << ":\n" << now << std::endl;
    run_one(text, runs, edits);
  }
}

} // namespace troupe::testing
