#include "tools/repl/signature.hpp"

#include "core/base/strings.hpp"
#include "tools/troupe/duration.hpp"

namespace troupe {
namespace {

constexpr std::string_view timeout_option = "timeout=";

// False if the word is none of them.
Result<bool> read_option(const Word& word, StepCommand& out) {
  if (word.quoted)
    return false;
  if (word.text == "trace") {
    out.trace = true;
  } else if (word.text == "&") {
    out.in_background = true;
  } else if (word.text.starts_with(timeout_option)) {
    std::string_view text = std::string_view(word.text).substr(timeout_option.size());
    TROUPE_ASSIGN(auto duration, read_duration("timeout", text));
    out.timeout_ms = duration.count();
  } else {
    return false;
  }
  return true;
}

Result<StepCommand> read(const Statement& statement, bool with_options) {
  StepCommand out;
  bool after_arrow = false;
  for (std::size_t i = 1; i < statement.words.size(); ++i) {
    const Word& word = statement.words[i];
    if (with_options) {
      TROUPE_ASSIGN(bool is_option, read_option(word, out));
      if (is_option)
        continue;
    }
    if (word.text == "->" && !word.quoted) {
      if (after_arrow)
        return invalid_argument("`->` stands twice; fetches come before it, targets after it");
      after_arrow = true;
      continue;
    }
    (after_arrow ? out.targets : out.fetches).push_back(word.text);
  }
  if (after_arrow && out.targets.empty())
    return invalid_argument("no target follows `->`; name an op to run, or leave it out");
  if (out.fetches.empty() && out.targets.empty())
    return invalid_argument(str_cat("`", statement.name(),
                                    "` has nothing to run; name a tensor to fetch, "
                                    "or an op after `->`"));
  return out;
}

} // namespace

Result<StepCommand> read_run(const Statement& statement) {
  return read(statement, true);
}

Result<StepCommand> read_signature(const Statement& statement) {
  return read(statement, false);
}

} // namespace troupe
