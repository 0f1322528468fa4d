// troupe check FILE: does a config file say what its author meant? --keys: what may it say?
#include "core/base/json.hpp"
#include "core/base/machine.hpp"
#include "core/base/strings.hpp"
#include "net/cluster/node_config.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/config_reference.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

std::string describe_memory(const NodeConfig& task) {
  auto limit = task.memory_limit(machine_memory());
  if (limit == 0)
    return "no bound on memory";
  std::string size = str_cat(limit >> 20, " MiB");
  if (task.settings.memory_limit)
    return str_cat("at most ", size);
  int tasks = task.tasks_on_host();
  return str_cat("at most ", size, " (80 % of this machine's memory",
                 tasks == 1 ? "" : str_cat(", shared by ", tasks, " tasks"),
                 "; memory-limit sets another)");
}

std::string describe(const NodeConfig& task) {
  const TaskSettings& s = task.settings;
  std::vector<std::string> parts;
  parts.push_back(s.cpu_devices == 1 ? "1 CPU device" : str_cat(s.cpu_devices, " CPU devices"));
  if (s.gpu_devices > 0)
    parts.push_back(s.gpu_devices == 1 ? "1 GPU" : str_cat(s.gpu_devices, " GPUs"));
  parts.push_back(s.compute_threads == 0   ? "a compute thread for each core"
                  : s.compute_threads == 1 ? "1 compute thread"
                                           : str_cat(s.compute_threads, " compute threads"));
  parts.push_back(s.actor_threads == 1 ? "1 actor thread"
                                       : str_cat(s.actor_threads, " actor threads"));
  parts.push_back(describe_memory(task));
  if (!s.winograd)
    parts.push_back("convolutions by plain sums");
  if (task.listen != task.address)
    parts.push_back(str_cat("listens at ", task.listen));
  return str_join(parts, ", ");
}

class CheckCommand final : public Command {
public:
  std::string summary() const override { return "Checks a config file and prints its tasks"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe check cluster.conf", "every mistake as FILE:LINE: sentence, or the tasks"},
            {"troupe check --json cluster.conf", "the tasks or the mistakes, for a program"},
            {"troupe check --keys", "every key that a config file may have, with its default"}};
  }
  void declare(Options& options) override {
    options.text("FILE", file_, "the config file");
    options.flag("--json", json_, "print JSON");
    options.flag("--keys", keys_, "print the reference of all keys instead of reading a file");
  }

  int run() override {
    if (keys_ != file_.empty())
      return called_wrongly("name a config file, or write --keys; for example `troupe check "
                            "cluster.conf`");
    if (keys_) {
      print(json_ ? keys_as_json() : format_config_keys());
      return exit_ok;
    }
    std::vector<ConfigProblem> problems;
    auto config = read_cluster_config(file_, &problems);
    if (!config && json_) {
      if (problems.empty())
        problems.push_back({0, config.status().message()});
      print_json(problems);
      return exit_failed;
    }
    if (!config)
      return failed_in_file(config.status());
    if (json_)
      print_json(*config);
    else
      print_text(*config);
    return exit_ok;
  }

private:
  void print_text(const ClusterConfig& config) const {
    std::vector<std::vector<std::string>> rows;
    for (const NodeConfig& task : config.tasks)
      rows.push_back({task.name(), task.address.to_string(), describe(task)});
    print(str_cat(config.file, ": ", rows.size(), rows.size() == 1 ? " task\n" : " tasks\n",
                  format_table(rows, "  ")));
    if (config.insecure)
      print("insecure = true: whoever reaches these ports may use the cluster\n");
  }

  static std::string keys_as_json() {
    JsonWriter w;
    w.open('[');
    for (const ConfigKey& key : config_keys())
      w.open('{')
          .key("key")
          .value(key.key)
          .key("sections")
          .value(key.sections)
          .key("wants")
          .value(key.wants)
          .key("default")
          .value(key.preset)
          .key("meaning")
          .value(key.doc)
          .close('}');
    return w.close(']').text() + "\n";
  }

  void print_json(const std::vector<ConfigProblem>& problems) const {
    JsonWriter w;
    w.open('{').key("file").value(file_).key("problems").open('[');
    for (const ConfigProblem& problem : problems)
      w.open('{').key("line").value(problem.line).key("message").value(problem.sentence).close('}');
    print(w.close(']').close('}').text() + "\n");
  }

  void print_json(const ClusterConfig& config) const {
    JsonWriter w;
    w.open('{')
        .key("file")
        .value(config.file)
        .key("insecure")
        .value(config.insecure)
        .key("tasks")
        .open('[');
    for (const NodeConfig& task : config.tasks)
      w.open('{')
          .key("job")
          .value(task.job)
          .key("task")
          .value(task.task)
          .key("address")
          .value(task.address.to_string())
          .key("listen")
          .value(task.listen.to_string())
          .key("cpu_devices")
          .value(task.settings.cpu_devices)
          .key("compute_threads")
          .value(task.settings.compute_threads)
          .key("actor_threads")
          .value(task.settings.actor_threads)
          .key("winograd")
          .value(task.settings.winograd)
          .key("memory_limit")
          .value(task.memory_limit(machine_memory()))
          .close('}');
    print(w.close(']').close('}').text() + "\n");
  }

  std::string file_;
  bool json_ = false, keys_ = false;
};

} // namespace

std::unique_ptr<Command> make_command_check() {
  return std::make_unique<CheckCommand>();
}

} // namespace troupe
