#include "tools/troupe/calling.hpp"

#include <algorithm>
#include <cctype>

#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"

namespace troupe {
namespace {

class OptionRecorder final : public Options {
public:
  explicit OptionRecorder(std::vector<OptionInfo>& out) : out_(out) {}
  void text(const std::string& name, std::string&, const std::string& help,
            bool required) override {
    add(name, help).required = required;
  }
  void number(const std::string& name, int&, const std::string& help, bool required) override {
    add(name, help).required = required;
  }
  void texts(const std::string& name, std::vector<std::string>&, const std::string& help) override {
    add(name, help).repeats = true;
  }
  void flag(const std::string& name, bool&, const std::string& help) override {
    add(name, help).takes_value = false;
  }

private:
  OptionInfo& add(const std::string& name, const std::string& help) {
    OptionInfo& info = out_.emplace_back();
    for (std::string_view one : str_split(name, ','))
      info.names.emplace_back(one);
    info.help = help;
    return info;
  }
  std::vector<OptionInfo>& out_;
};

// "-5" is a value.
bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' &&
         std::isdigit(static_cast<unsigned char>(word[1])) == 0 && word[1] != '.';
}

const OptionInfo* find_option(const CommandInfo& command, std::string_view name) {
  for (const OptionInfo& option : command.options)
    for (const std::string& known : option.names)
      if (!option.is_position() && known == name)
        return &option;
  return nullptr;
}

std::string example_of(const CommandInfo& command) {
  return command.examples.empty() ? std::string()
                                  : str_cat("; for example `", command.examples[0].first, "`");
}

std::string unknown_option(const CommandInfo& command, std::string_view name) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    if (!option.is_position())
      names.insert(names.end(), option.names.begin(), option.names.end());
  std::string hint = did_you_mean(name, names);
  if (hint.empty())
    hint = names.empty() ? "; it has none" : str_cat("; its options are ", str_join(names, ", "));
  return str_cat("`troupe ", command.name, "` has no option '", name, "'", hint);
}

} // namespace

CommandInfo describe_command(std::string name, Command& command) {
  CommandInfo out{std::move(name), command.summary(), command.examples(), {}};
  OptionRecorder recorder(out.options);
  command.declare(recorder);
  return out;
}

std::string find_wrong_word(const CommandInfo& command, std::span<const std::string> words) {
  std::vector<const OptionInfo*> given;
  std::size_t positions = 0;
  const std::string* surplus = nullptr;
  std::size_t most = 0;
  bool takes_more = false;
  for (const OptionInfo& option : command.options)
    if (option.is_position()) {
      ++most;
      takes_more |= option.repeats;
    }
  bool only_positions = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!only_positions && word == "--") {
      only_positions = true;
      continue;
    }
    if (only_positions || !looks_like_option(word)) {
      if (++positions > most && !takes_more && !surplus)
        surplus = &word;
      continue;
    }
    std::size_t equals = word.find('=');
    std::string_view name = std::string_view(word).substr(0, equals);
    if (name == "-h" || name == "--help")
      continue;
    bool is_joined = equals != std::string::npos;
    const OptionInfo* option = find_option(command, name);
    if (!option && word[1] != '-' && word.size() > 2) { // "-cVALUE"
      option = find_option(command, name.substr(0, 2));
      is_joined = true;
    }
    if (!option)
      return unknown_option(command, name);
    given.push_back(option);
    if (!option->takes_value || is_joined)
      continue;
    if (++i == words.size())
      return str_cat("after ", word, " stands no value; write one, or leave the option out");
  }
  if (surplus)
    return str_cat("'", *surplus, "' is a word too many; call it as `", usage_of(command), "`");
  std::size_t position = 0;
  for (const OptionInfo& option : command.options) {
    bool is_there = option.is_position()
                        ? position++ < positions
                        : std::find(given.begin(), given.end(), &option) != given.end();
    if (option.required && !is_there)
      return str_cat("`troupe ", command.name, "` wants ", option.names[0], ", ", option.help,
                     example_of(command));
  }
  return {};
}

std::string usage_of(const CommandInfo& command) {
  std::string out = str_cat("troupe ", command.name), optional;
  bool has_options = false;
  for (const OptionInfo& option : command.options) {
    std::string repeats = option.repeats ? "…" : "";
    if (option.is_position())
      str_append(out, option.required ? " " : " [", option.names[0], repeats,
                 option.required ? "" : "]");
    else if (option.required)
      str_append(optional, " ", option.names[0], " VALUE");
    else
      has_options = true;
  }
  return str_cat(out, optional, has_options ? " [OPTIONS]" : "");
}

} // namespace troupe
