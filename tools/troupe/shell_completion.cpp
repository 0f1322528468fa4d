#include "tools/troupe/shell_completion.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool is_file(const OptionInfo& position) {
  return position.names[0] == "FILE" || position.names[0] == "GRAPH";
}

bool takes_files(const CommandInfo& command) {
  return std::ranges::any_of(command.options, [](const OptionInfo& option) {
    return option.is_position() && is_file(option);
  });
}

// What may stand for a position, besides files.
std::string words_for(const OptionInfo& position, std::span<const CommandInfo> commands) {
  const std::string& name = position.names[0];
  if (name == "TARGET")
    return position.help.starts_with("local") ? "local caf://127.0.0.1:" : "caf://127.0.0.1:";
  if (name == "SHELL")
    return "bash zsh fish";
  if (name != "COMMAND")
    return {};
  std::vector<std::string_view> names;
  for (const CommandInfo& command : commands)
    names.push_back(command.name);
  return str_join(names, " ");
}

std::string option_names(const CommandInfo& command, bool with_values_only) {
  std::vector<std::string_view> out;
  for (const OptionInfo& option : command.options)
    if (!option.is_position() && (option.takes_value || !with_values_only))
      out.insert(out.end(), option.names.begin(), option.names.end());
  if (!with_values_only)
    out.push_back("--help");
  return str_join(out, " ");
}

std::string position_words(const CommandInfo& command, std::span<const CommandInfo> commands) {
  std::vector<std::string> out;
  for (const OptionInfo& option : command.options)
    if (option.is_position())
      if (std::string words = words_for(option, commands); !words.empty())
        out.push_back(words);
  return str_join(out, " ");
}

// In single quotes, for all three shells.
std::string single_quoted(std::string_view text, bool fish) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += fish ? "\\'" : "'\\''";
    else if (c == '\\' && fish)
      out += "\\\\";
    else
      out.push_back(c);
  }
  return out + "'";
}

// Readline cuts words at `:` and `=` too, and puts what is chosen in place of the last piece.
constexpr std::string_view bash_begin = R"(_troupe_files() {
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$1")
  compopt -o filenames
}
_troupe_words() {
  local typed=${COMP_LINE:0:COMP_POINT} cut= choice
  typed=${typed##*[[:blank:]]}
  if [[ $COMP_WORDBREAKS == *:* ]]; then cut=${typed%"${typed##*:}"}; fi
  for choice in $1; do
    if [[ $choice == "$typed"* ]]; then COMPREPLY+=("${choice#"$cut"}"); fi
  done
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]]; then compopt -o nospace; fi
}
)";

constexpr std::string_view bash_end = R"(  if [[ -z $command ]]; then
    _troupe_words "$commands --help --version"
    return
  fi
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  local at
  for at in $valued; do
    if [[ $at == "$before" ]]; then
      _troupe_files "$word"
      return
    fi
  done
  if [[ $word == -* ]]; then
    _troupe_words "$options"
    return
  fi
  _troupe_words "$words"
  if [[ -n $files && ${#COMPREPLY[@]} == 0 ]]; then
    _troupe_files "$word"
  elif [[ -n $files && -z $word ]]; then
    _troupe_files ''
  fi
}
complete -F _troupe troupe
)";

std::string bash_script(std::span<const CommandInfo> commands) {
  std::vector<std::string_view> names;
  for (const CommandInfo& command : commands)
    names.push_back(command.name);
  std::string out = str_cat(
      "# Completion of troupe for bash; made by `troupe completion bash`.\n", bash_begin,
      "_troupe() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= options= "
      "valued= words= files=\n  local commands=",
      single_quoted(str_join(names, " "), false), "\n  COMPREPLY=()\n",
      "  if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi\n  case $command in\n");
  for (const CommandInfo& command : commands)
    str_append(out, "  ", command.name,
               ")\n    options=", single_quoted(option_names(command, false), false),
               "\n    valued=", single_quoted(option_names(command, true), false),
               "\n    words=", single_quoted(position_words(command, commands), false),
               takes_files(command) ? "\n    files=yes" : "", "\n    ;;\n");
  return str_cat(out, "  esac\n", bash_end);
}

// zsh takes these for its own in a description.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

// A blank follows a word that is chosen, unless there is more to come of it.
std::string zsh_words(std::string_view words) {
  std::string out;
  for (std::string_view word : str_split(words, ' '))
    if (!word.empty())
      str_append(out, out.empty() ? "{" : "; ", "compadd ", word.ends_with(':') ? "-S \"\" " : "",
                 "-- ", zsh_text(word));
  return out.empty() ? " " : out + "}";
}

std::string zsh_script(std::span<const CommandInfo> commands) {
  std::string out = "#compdef troupe\n# Completion of troupe for zsh; made by `troupe completion "
                    "zsh`.\n_troupe() {\n  local -a commands\n  commands=(\n";
  for (const CommandInfo& command : commands)
    str_append(out, "    ",
               single_quoted(str_cat(command.name, ":", zsh_text(command.summary)), false), "\n");
  out += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
         "  case $words[2] in\n";
  for (const CommandInfo& command : commands) {
    str_append(out, "  ", command.name, ")\n    shift words; ((CURRENT--))\n    _arguments");
    for (const OptionInfo& option : command.options) {
      if (option.is_position()) {
        std::string action = is_file(option) ? "_files" : zsh_words(words_for(option, commands));
        str_append(out, " \\\n      ",
                   single_quoted(str_cat(option.repeats    ? "*"
                                         : option.required ? ""
                                                           : ":",
                                         ":", zsh_text(option.names[0]), ":", action),
                                 false));
        continue;
      }
      for (const std::string& name : option.names)
        str_append(out, " \\\n      ",
                   single_quoted(str_cat(option.repeats ? "*" : "", name,
                                         option.takes_value && name.starts_with("--") ? "=" : "",
                                         "[", zsh_text(option.help), "]",
                                         option.takes_value ? ":value:_files" : ""),
                                 false));
    }
    out += " \\\n      '--help[show what the command does]'\n    ;;\n";
  }
  // Loaded by compinit it is the function that completes; read by `source` it makes itself known.
  return out + "  esac\n}\nif [[ $funcstack[1] == _troupe ]]; then\n  _troupe \"$@\"\nelse\n  "
               "compdef _troupe troupe\nfi\n";
}

std::string fish_script(std::span<const CommandInfo> commands) {
  std::string out = "# Completion of troupe for fish; made by `troupe completion fish`.\n";
  for (const CommandInfo& command : commands)
    str_append(out, "complete -c troupe -n __fish_use_subcommand -f -a ", command.name, " -d ",
               single_quoted(command.summary, true), "\n");
  str_append(out, "complete -c troupe -n __fish_use_subcommand -s V -l version -d ",
             single_quoted("print the version", true), "\n");
  for (const CommandInfo& command : commands) {
    std::string begin =
        str_cat("complete -c troupe -n '__fish_seen_subcommand_from ", command.name, "'");
    if (!takes_files(command))
      str_append(out, begin, " -f\n");
    str_append(out, begin, " -s h -l help -d ", single_quoted("show what the command does", true),
               "\n");
    for (const OptionInfo& option : command.options) {
      if (option.is_position()) {
        if (std::string words = words_for(option, commands); !words.empty())
          str_append(out, begin, " -a ", single_quoted(words, true), " -d ",
                     single_quoted(option.help, true), "\n");
        continue;
      }
      str_append(out, begin);
      for (const std::string& name : option.names)
        str_append(out, name.starts_with("--") ? str_cat(" -l ", name.substr(2))
                                               : str_cat(" -s ", name.substr(1)));
      str_append(out, option.takes_value ? " -r" : "", " -d ", single_quoted(option.help, true),
                 "\n");
    }
  }
  return out;
}

} // namespace

Result<std::string> completion_script(std::string_view shell,
                                      std::span<const CommandInfo> commands) {
  if (shell == "bash")
    return bash_script(commands);
  if (shell == "zsh")
    return zsh_script(commands);
  if (shell == "fish")
    return fish_script(commands);
  return invalid_argument(str_cat("there is no completion for the shell '", shell,
                                  "'; there is one for bash, zsh and fish"));
}

} // namespace troupe
