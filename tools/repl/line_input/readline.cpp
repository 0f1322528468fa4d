// LineInput on GNU Readline. Its callbacks have no argument for us, hence the one pointer below.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "core/base/check.hpp"
#include "tools/repl/line_input.hpp"

namespace troupe {
namespace {

/// Statements that the history file keeps.
constexpr int kept_statements = 2000;

class ReadlineInput;
ReadlineInput* active = nullptr; // read by Readline's callbacks, all on the main thread
volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) {
  interrupted = 1;
}

// Readline counts what lies between these as taking no room on the screen.
std::string hide_colours(const std::string& prompt) {
  std::string out;
  bool in_colour = false;
  for (char c : prompt) {
    if (c == '\033') {
      out.push_back(RL_PROMPT_START_IGNORE);
      in_colour = true;
    }
    out.push_back(c);
    if (in_colour && c == 'm') {
      out.push_back(RL_PROMPT_END_IGNORE);
      in_colour = false;
    }
  }
  return out;
}

class ReadlineInput final : public LineInput {
public:
  explicit ReadlineInput(LineInputOptions options) : options_(std::move(options)) {
    TROUPE_CHECK(!active, "one prompt at a time");
    active = this;
    rl_readline_name = "troupe";
    rl_catch_signals = 0;
    rl_attempted_completion_function = complete;
    // Names hold slashes, colons and more: only blanks and what parts statements ends a word.
    rl_completer_word_break_characters = " \t\n;\"'";
    using_history();
    stifle_history(kept_statements);
    if (!options_.history_file.empty())
      (void)read_history(options_.history_file.c_str()); // the first time there is none
  }
  ~ReadlineInput() override {
    if (!options_.history_file.empty() && added_ > 0)
      if (int error = keep_added(options_.history_file.c_str()))
        std::fprintf(stderr, "%s: the history cannot be written: %s\n",
                     options_.history_file.c_str(), std::strerror(error));
    rl_attempted_completion_function = nullptr;
    active = nullptr;
  }

  std::optional<Line> read(const std::string& prompt, const std::string& before) override {
    before_ = before.empty() ? "" : before + "\n";
    // Readline's callback interface: the wait is ours, so that an interrupt ends it.
    interrupted = 0;
    struct sigaction ours {
    }, theirs{};
    ours.sa_handler = on_interrupt;
    sigaction(SIGINT, &ours, &theirs);
    sigset_t interrupt, usual;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &usual);
    sigset_t waiting = usual;
    sigdelset(&waiting, SIGINT);
    done_ = false;
    line_.reset();
    rl_callback_handler_install(hide_colours(prompt).c_str(), take_line);
    while (!done_ && !interrupted) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (ppoll(&input, 1, nullptr, &waiting) > 0)
        rl_callback_read_char();
      else if (errno != EINTR)
        done_ = true;
    }
    if (interrupted) {
      rl_free_line_state();
      rl_callback_sigcleanup();
    }
    rl_callback_handler_remove();
    sigprocmask(SIG_SETMASK, &usual, nullptr);
    sigaction(SIGINT, &theirs, nullptr);
    // Also one that came while the line was being taken: whoever pressed it wants no run of it.
    if (interrupted) {
      std::fputs("^C\n", rl_outstream);
      line_ = Line{"", true};
    }
    return std::move(line_);
  }

  void remember(const std::string& statement) override {
    if (statement.empty())
      return;
    HIST_ENTRY* last =
        history_length > 0 ? history_get(history_base + history_length - 1) : nullptr;
    if (last && statement == last->line)
      return;
    add_history(statement.c_str());
    added_ = std::min(added_ + 1, kept_statements);
  }

private:
  // Behind what other prompts have put into the file meanwhile. 0, or an errno.
  int keep_added(const char* file) const {
    int error = append_history(added_, file);
    if (error == ENOENT)
      error = write_history(file);
    return error ? error : history_truncate_file(file, kept_statements);
  }

  static void take_line(char* text) {
    active->done_ = true;
    if (text)
      active->line_ = Line{text, false};
    std::free(text);
    // Readline would print the prompt again at once.
    rl_callback_handler_remove();
  }

  // Readline frees what it gets.
  static char** complete(const char*, int, int end) {
    rl_attempted_completion_over = 1; // no files of Readline's own
    auto words = active->options_.complete(
        active->before_ + std::string(rl_line_buffer, static_cast<std::size_t>(end)));
    if (words.empty())
      return nullptr;
    std::string common = words[0];
    for (const std::string& word : words) {
      std::size_t i = 0;
      while (i < common.size() && i < word.size() && common[i] == word[i])
        ++i;
      common.resize(i);
    }
    bool alone = words.size() == 1;
    // More follows a folder or a scheme.
    rl_completion_append_character = alone && words[0].ends_with('/') ? '\0' : ' ';
    std::size_t count = alone ? 1 : words.size() + 1;
    char** out = static_cast<char**>(std::calloc(count + 1, sizeof(char*)));
    if (!out)
      return nullptr;
    out[0] = strdup(common.c_str());
    if (!alone)
      for (std::size_t i = 0; i < words.size(); ++i)
        out[i + 1] = strdup(words[i].c_str());
    return out;
  }

  LineInputOptions options_;
  std::string before_;
  std::optional<Line> line_;
  bool done_ = false;
  int added_ = 0; // statements that the file does not have yet
};

} // namespace

std::unique_ptr<LineInput> make_line_input(LineInputOptions options) {
  return std::make_unique<ReadlineInput>(std::move(options));
}

} // namespace troupe
