// troupe run: steps of a graph, with NumPy files in and out.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "api/session.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "core/trace/chrome.hpp"
#include "net/cluster/cluster.hpp"
#include "storage/npy/npy.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/graph_file.hpp"

namespace troupe {
namespace {

void note(std::string_view text) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

// "x=file.npy" or "x=f32[2] 1 2"
bool is_feed(const std::string& text) {
  std::size_t equals = text.find('=');
  return equals != std::string::npos && equals > 0;
}
Result<std::pair<std::string, Tensor>> read_feed(const std::string& text) {
  std::size_t equals = text.find('=');
  std::string value = text.substr(equals + 1);
  auto tensor = value.ends_with(".npy") ? read_npy(value) : parse_literal(value);
  if (!tensor)
    return tensor.status().with_context(str_cat("--feed ", text.substr(0, equals)));
  return std::pair(text.substr(0, equals), *std::move(tensor));
}

// A tensor's name as a file's.
std::string file_name(const std::string& tensor) {
  std::string out = tensor;
  for (char& c : out)
    if (c == '/' || c == ':' || c == '\\')
      c = '_';
  return out + ".npy";
}

class RunCommand final : public Command {
public:
  std::string summary() const override { return "Runs steps of a graph, here or on a cluster"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe run local graph.pb --feed x=x.npy --fetch y:0",
             "one step in this process; prints y"},
            {"troupe run caf://127.0.0.1:7271 train.pb --init init --target train --fetch loss "
             "--steps 100",
             "runs `init` once, then 100 steps on the cluster whose master listens there"},
            {"troupe run local saved_model/1 --feed 'x=f32[2] 1 2' --fetch y --out results "
             "--timeout 10s",
             "a literal as input, results/y.npy as output, no step longer than 10 s"}};
  }
  void declare(Options& options) override {
    options.text("TARGET", target_, "local, or caf://HOST:PORT of the master", true);
    options.text("GRAPH", graph_,
                 "GraphDef (binary or text), text form, .meta file or SavedModel folder", true);
    options.texts("--feed", feeds_, "NAME=FILE.npy or NAME='f32[2] 1 2'; may be given again");
    options.texts("--fetch", fetches_, "a tensor to print; may be given again");
    options.texts("--target", targets_, "an op to run; may be given again");
    options.texts("--init", init_, "an op to run once, before the steps; may be given again");
    options.number("--steps", steps_, "how many; 1 without it");
    options.text("--out", out_, "a folder for the last step's values, as NumPy files");
    options.text("--timeout", timeout_, "the longest that a step may take, such as 500ms, 10s");
    options.text("--trace", trace_,
                 "a file for the last step's trace, for chrome://tracing or Perfetto");
  }

  int run() override {
    auto timeout = timeout_.empty() ? std::chrono::milliseconds(0) : parse_duration(timeout_);
    if (!timeout)
      return called_wrongly(
          str_cat("--timeout '", timeout_, "' is no duration; write 500ms, 10s or 2min"));
    if (steps_ < 1)
      return called_wrongly("--steps must be at least 1");
    options_.timeout_ms = timeout->count();
    if (std::string wrong = find_wrong_argument(); !wrong.empty())
      return called_wrongly(wrong);
    auto file = read_graph_file(graph_);
    if (!file)
      return failed(file.status());
    if (fetches_.empty() && targets_.empty()) {
      std::string sentence = "name something to run: --fetch a tensor or --target an op";
      for (const ModelSignature& signature : file->signatures)
        str_append(sentence, "\n  ", graph_, " has ", signature);
      return called_wrongly(sentence);
    }
    if (file->has_saved_variables)
      note(str_cat(
          graph_,
          ": its saved variables are not restored; run the graph's own initialisers with --init"));
    Status status = run_steps(*file);
    return status.ok() ? exit_ok : failed(status);
  }

private:
  // The sentence for an argument that is wrong whatever the graph is, or nothing.
  std::string find_wrong_argument() const {
    if (!target_.empty() && target_ != "local")
      if (auto address = Address::of_target(target_); !address)
        return address.status().message();
    for (const std::string& feed : feeds_)
      if (!is_feed(feed))
        return str_cat("--feed '", feed, "' should be NAME=FILE.npy or NAME='f32[2] 1 2'");
    if (out_.empty())
      return {};
    std::map<std::string, std::string> files;
    for (const std::string& fetch : fetches_) {
      auto [at, is_new] = files.emplace(file_name(fetch), fetch);
      if (!is_new && at->second != fetch)
        return str_cat("--out would write the values of ", at->second, " and ", fetch,
                       " to one file, ", at->first, "; fetch them in two runs");
    }
    return {};
  }

  Status run_steps(const GraphFile& file) {
    // What would make the steps' work vain is found before them.
    TROUPE_TRY(prepare_outputs());
    Feeds feeds;
    for (const std::string& text : feeds_) {
      TROUPE_ASSIGN(auto feed, read_feed(text));
      feeds.push_back(std::move(feed));
    }
    SessionOptions session_options;
    session_options.allow_soft_placement = true;
    TROUPE_ASSIGN(Session session, Session::open(target_, session_options));
    TROUPE_TRY(session.extend_graph_def(file.bytes));
    if (!init_.empty()) {
      auto done = session.run({}, {}, init_, options_);
      TROUPE_TRY(done.status());
    }
    std::vector<std::int64_t> times;
    std::vector<Tensor> values;
    RunMetadata metadata;
    for (int step = 0; step < steps_; ++step) {
      bool traced = !trace_.empty() && step + 1 == steps_;
      RunOptions options = options_;
      if (traced)
        options.trace_level = TraceLevel::full;
      std::int64_t start = steady_micros();
      auto result = session.run(feeds, fetches_, targets_, options, traced ? &metadata : nullptr);
      times.push_back(steady_micros() - start);
      if (!result && shown_us_ > 0)
        note(""); // the error begins a line
      if (!result)
        return steps_ > 1 ? result.status().with_context(str_cat("step ", step + 1, " of ", steps_))
                          : result.status();
      values = *std::move(result);
      show_progress(step + 1);
    }
    print_times(times);
    for (std::size_t i = 0; i < values.size(); ++i)
      print(str_cat(fetches_[i], " = ", values[i], "\n"));
    TROUPE_TRY(write_values(values));
    TROUPE_TRY(write_trace(metadata));
    return session.close();
  }

  // On a terminal only, at most some ten times a second.
  void show_progress(int done) {
    std::int64_t now = steady_micros();
    if (steps_ == 1 || !isatty(STDERR_FILENO) || (done < steps_ && now - shown_us_ < 100000))
      return;
    shown_us_ = now;
    std::fprintf(stderr, "\rstep %d of %d%s", done, steps_, done == steps_ ? "\n" : "");
  }

  void print_times(std::vector<std::int64_t> times) const {
    std::int64_t total = 0, first = times.front();
    for (std::int64_t t : times)
      total += t;
    std::sort(times.begin(), times.end());
    if (times.size() == 1)
      note(str_cat("1 step in ", format_micros(total)));
    else
      note(str_cat(times.size(), " steps in ", format_micros(total), ": first ",
                   format_micros(first), ", median ", format_micros(times[times.size() / 2]),
                   ", slowest ", format_micros(times.back())));
  }

  Status prepare_outputs() const {
    if (!out_.empty()) {
      std::error_code error;
      std::filesystem::create_directories(out_, error);
      if (error)
        return unavailable(str_cat(out_, ": cannot be created: ", error.message()));
      if (access(out_.c_str(), W_OK | X_OK) != 0)
        return unavailable(str_cat(out_, ": cannot be written: ", std::strerror(errno)));
    }
    if (!trace_.empty() && !std::ofstream(trace_, std::ios::binary | std::ios::app))
      return unavailable(str_cat(trace_, ": cannot be written: ", std::strerror(errno)));
    return {};
  }

  Status write_values(const std::vector<Tensor>& values) const {
    if (out_.empty())
      return {};
    for (std::size_t i = 0; i < values.size(); ++i)
      TROUPE_TRY(write_npy(str_cat(out_, "/", file_name(fetches_[i])), values[i]));
    return {};
  }

  Status write_trace(const RunMetadata& metadata) const {
    if (trace_.empty())
      return {};
    std::ofstream out(trace_, std::ios::binary);
    out << to_chrome_trace(metadata.step_stats);
    out.close();
    return out ? Status{}
               : unavailable(str_cat(trace_, ": cannot be written: ", std::strerror(errno)));
  }

  std::string target_, graph_, out_, timeout_, trace_;
  std::vector<std::string> feeds_, fetches_, targets_, init_;
  int steps_ = 1;
  RunOptions options_;
  std::int64_t shown_us_ = 0;
};

} // namespace

std::unique_ptr<Command> make_command_run() {
  return std::make_unique<RunCommand>();
}

} // namespace troupe
