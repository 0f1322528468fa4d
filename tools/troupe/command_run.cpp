// troupe run: steps of a graph, with NumPy files in and out.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

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
#include "tools/troupe/graph_prune.hpp"
#include "tools/troupe/node_watch.hpp"
#include "tools/troupe/run_flags.hpp"
#include "tools/troupe/run_progress.hpp"
#include "tools/troupe/stop_signals.hpp"
#include "tools/troupe/target.hpp"

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
  std::error_code none;
  if (!tensor && !value.ends_with(".npy") && std::filesystem::exists(value, none))
    return invalid_argument(str_cat("--feed ", text.substr(0, equals), ": ", value,
                                    " is a file whose name does not end in .npy; save it with "
                                    "numpy.save, which makes one array of a file"));
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
             "a literal as input, results/y.npy as output, no step longer than 10 s; Ctrl-C prints "
             "the last step's values"}};
  }
  void declare(Options& options) override {
    options.text("TARGET", target_, session_target_help, true);
    options.text("GRAPH", graph_,
                 "GraphDef (binary or text), text form, .meta file or SavedModel folder", true);
    options.texts("--feed", feeds_, "NAME=FILE.npy or NAME='f32[2] 1 2'; may be given again");
    options.texts("--fetch", fetches_, "a tensor to print; may be given again");
    options.texts("--target", targets_, "an op to run; may be given again");
    options.texts("--device-filter", device_filters_,
                  "a task that the session uses, such as /job:ps, besides its master; without it "
                  "all; may be given again");
    options.texts("--init", init_, "an op to run once, before the steps; may be given again");
    options.number("--steps", steps_, "how many; 1 without it");
    options.text("--out", out_, "a folder for the last step's values, as NumPy files");
    options.text("--timeout", timeout_,
                 "the longest that opening the session, or a step, may take: 500ms, 10s, 2min");
    options.text("--trace", trace_,
                 "a file for the last step's trace, for chrome://tracing or Perfetto");
    flags_.declare(options);
  }

  int run() override {
    auto timeout = timeout_.empty() ? Result(std::chrono::milliseconds(0))
                                    : read_duration("--timeout", timeout_);
    if (!timeout)
      return called_wrongly(timeout.status().message());
    if (steps_ < 1)
      return called_wrongly("--steps must be at least 1");
    options_.timeout_ms = timeout->count();
    if (std::string mistake = flags_.find_mistake(); !mistake.empty())
      return called_wrongly(mistake);
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
    return run_steps(*file);
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

  // What would make the steps' work vain is found before them.
  Status prepare(const GraphFile& file) {
    TROUPE_TRY(prepare_outputs());
    std::vector<FedTensor> fed;
    for (const std::string& text : feeds_) {
      TROUPE_ASSIGN(auto feed, read_feed(text));
      fed.push_back({feed.first, feed.second.dtype()});
      read_feeds_.push_back(std::move(feed));
    }
    std::vector<std::string> wanted = fetches_;
    wanted.insert(wanted.end(), targets_.begin(), targets_.end());
    wanted.insert(wanted.end(), init_.begin(), init_.end());
    auto needed = needed_part_of_graph(file.bytes, wanted, fed);
    if (!needed)
      return needed.status().with_context(graph_);
    graph_bytes_ = *std::move(needed);
    return {};
  }

  // On a thread of its own, so that the main one can show how it goes and end it.
  Status work() {
    SessionOptions session_options;
    session_options.allow_soft_placement = true;
    session_options.device_filters = device_filters_;
    session_options.operation_timeout_ms = options_.timeout_ms; // of opening, above all
    flags_.apply(session_options, steps_);
    begin(str_cat("opening a session at ", target_));
    auto opened = Session::open(target_, session_options);
    if (!opened)
      return with_unreached_tasks(opened.status());
    {
      std::scoped_lock guard(lock_);
      session_.emplace(*std::move(opened));
    }
    Session& session = *session_;
    begin("reading the graph");
    TROUPE_TRY(session.extend_graph_def(graph_bytes_));
    if (!init_.empty()) {
      begin(str_cat("running ", str_join(init_, ", ")));
      TROUPE_TRY(session.run(read_feeds_, {}, init_, options_).status());
    }
    begin("");
    for (int step = 0; step < steps_; ++step) {
      const bool is_last = step + 1 == steps_;
      RunOptions options = options_;
      if (is_last && !trace_.empty())
        options.trace_level = TraceLevel::full;
      flags_.apply(options, is_last);
      const bool tells = is_last && (!trace_.empty() || flags_.wants_metadata());
      std::int64_t start = steady_micros();
      auto result =
          session.run(read_feeds_, fetches_, targets_, options, tells ? &metadata_ : nullptr);
      std::scoped_lock guard(lock_);
      if (!result)
        return steps_ > 1 ? result.status().with_context(str_cat("step ", step + 1, " of ", steps_))
                          : result.status();
      began_us_ = steady_micros();
      times_.push_back(began_us_ - start);
      progress_.done = step + 1;
      values_ = *std::move(result);
    }
    return {};
  }

  // A session that was not opened in time waited for tasks; the node at the target knows which.
  Status with_unreached_tasks(const Status& why) const {
    auto address = Address::of_target(target_);
    bool is_wait = why.code() == Code::deadline_exceeded || why.code() == Code::unavailable;
    if (!is_wait || !address.ok())
      return why;
    auto watch = NodeWatch::dial(*address, std::chrono::seconds(1));
    auto node = watch ? watch->status() : Result<NodeStatus>(watch.status());
    std::vector<std::string> unreached;
    if (node)
      for (const PeerInfo& peer : node->peers)
        if (!peer.is_connected)
          unreached.push_back(str_cat(peer.task, " at ", peer.address));
    if (unreached.empty())
      return why;
    return Status(why.code(),
                  str_cat(why.message(), "; ", node->task, " has no connection to ",
                          str_join(unreached, ", "),
                          ": start what is missing, or leave it out with --device-filter"));
  }

  void begin(std::string doing) {
    std::scoped_lock guard(lock_);
    progress_.doing = std::move(doing);
    began_us_ = steady_micros();
    if (progress_.doing.empty())
      steps_began_us_ = began_us_;
  }

  // Waits for the work's end; an interrupt closes the session, which ends the step that runs.
  Status watch_work() {
    StopSignals signals;
    progress_.steps = steps_;
    bool has_ended = false;
    Status end;
    std::condition_variable changed;
    std::thread worker([&] {
      Status status = work();
      std::scoped_lock guard(lock_);
      end = status;
      has_ended = true;
      changed.notify_all();
    });
    signals.on_stop([&](const std::string&) {
      std::scoped_lock guard(lock_);
      interrupted_ = true;
      changed.notify_all();
    });
    bool is_closing = false;
    std::unique_lock guard(lock_);
    while (!has_ended) {
      changed.wait_for(guard, std::chrono::milliseconds(100),
                       [&] { return has_ended || (interrupted_ && !is_closing); });
      if (has_ended)
        break;
      if (!interrupted_) {
        show_progress(guard);
      } else if (!is_closing && !session_) { // nothing has been done that could be lost
        hide_progress();
        note("interrupted before the first step");
        std::_Exit(exit_interrupted);
      } else if (!is_closing) {
        is_closing = true;
        guard.unlock();
        (void)session_->close();
        guard.lock();
      }
    }
    guard.unlock();
    worker.join();
    signals.forget();
    hide_progress();
    return end;
  }

  int run_steps(const GraphFile& file) {
    if (Status status = prepare(file); !status.ok())
      return failed(status);
    Status status = watch_work();
    interrupted_ &= !status.ok(); // one that came too late changes nothing
    if (!status.ok() && !interrupted_)
      return failed(status);
    if (interrupted_)
      note(str_cat("interrupted after ", times_.size(), " of ", steps_, " steps"));
    if (!times_.empty())
      print_times(times_);
    for (std::size_t i = 0; i < values_.size(); ++i)
      print(str_cat(fetches_[i], " = ", values_[i], "\n"));
    Status written = write_values(values_);
    if (written.ok() && !interrupted_)
      written = write_trace(metadata_);
    if (written.ok() && !interrupted_)
      written = flags_.write(metadata_);
    if (written.ok() && !interrupted_)
      written = session_->close();
    if (!written.ok())
      return failed(written);
    return interrupted_ ? exit_interrupted : exit_ok;
  }

  // On a terminal only. What a long step waits for is asked now and then: it takes up to two
  // seconds. The lock is held before and after.
  void show_progress(std::unique_lock<std::mutex>& guard) {
    std::size_t width = progress_width();
    std::int64_t now = steady_micros();
    RunProgress shown = progress_;
    shown.running_us = now - began_us_;
    shown.steps_us = began_us_ - steps_began_us_; // until the last step ended
    if (width == 0 || (steps_ == 1 && shown.running_us < 1'000'000))
      return;
    bool ask = session_ && shown.running_us >= 1'000'000 && now >= ask_again_us_;
    guard.unlock();
    if (ask) {
      auto report = session_->why();
      waits_for_ = report && !report->steps.empty() ? report->steps[0].cause : std::string();
      ask_again_us_ = steady_micros() + 2'000'000;
    }
    shown.waits_for = shown.running_us >= 1'000'000 ? waits_for_ : std::string();
    std::fprintf(stderr, "\r%s\033[K", format_progress(shown, width).c_str());
    has_shown_ = true;
    guard.lock();
  }

  void hide_progress() {
    if (std::exchange(has_shown_, false))
      std::fputs("\r\033[K", stderr);
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
  std::vector<std::string> feeds_, fetches_, targets_, init_, device_filters_;
  int steps_ = 1;
  RunFlags flags_;
  RunOptions options_;
  Feeds read_feeds_;
  std::string graph_bytes_;

  std::mutex lock_;                // guards what follows while the thread of the steps runs
  std::optional<Session> session_; // made by that thread, then only used
  RunProgress progress_;
  std::int64_t began_us_ = 0, steps_began_us_ = 0; // what is being done; the steps
  std::vector<std::int64_t> times_;
  std::vector<Tensor> values_; // of the last step that ended well
  bool interrupted_ = false;

  RunMetadata metadata_; // of the last step; read when all have ended
  // The main thread's alone.
  std::string waits_for_;
  std::int64_t ask_again_us_ = 0;
  bool has_shown_ = false;
};

} // namespace

std::unique_ptr<Command> make_command_run() {
  return std::make_unique<RunCommand>();
}

} // namespace troupe
