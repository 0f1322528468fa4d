// troupe variables TARGET: what a node's devices hold for all sessions, or every task's of a config
// file.
#include "core/base/json.hpp"
#include "core/base/strings.hpp"
#include "net/data/tensor_path.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/node_targets.hpp"
#include "tools/troupe/node_watch.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

class VariablesCommand final : public Command {
public:
  std::string summary() const override { return "Lists variables: where they live, their bytes"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe variables caf://127.0.0.1:7270", "those of one task"},
            {"troupe variables --config=cluster.conf --json", "those of all, for a program"}};
  }
  void declare(Options& options) override {
    targets_.declare(options);
    options.flag("--json", json_, "print JSON");
  }

  int run() override {
    auto budget = targets_.timeout();
    if (!budget)
      return called_wrongly(budget.status().message());
    bool in_file = false;
    auto nodes = targets_.read(in_file);
    if (!nodes)
      return in_file ? failed_in_file(nodes.status()) : called_wrongly(nodes.status().message());
    std::vector<Result<ResourceList>> lists(nodes->size(), Result<ResourceList>(ResourceList{}));
    for_each_node(nodes->size(), [&](std::size_t i) {
      auto watch = NodeWatch::dial((*nodes)[i].address, *budget);
      lists[i] = watch ? watch->resources() : Result<ResourceList>(watch.status());
    });
    // With a config file the tasks that answer are shown beside those that do not.
    int exit_code = exit_ok;
    std::vector<ResourceInfo> all;
    for (std::size_t i = 0; i < lists.size(); ++i)
      if (lists[i])
        for (ResourceInfo& resource : lists[i]->resources)
          all.push_back(std::move(resource));
      else
        exit_code =
            failed(targets_.has_config()
                       ? Status(lists[i].status().code(),
                                str_cat((*nodes)[i].name, ": ", lists[i].status().message()))
                       : lists[i].status());
    if (exit_code == exit_ok || targets_.has_config())
      json_ ? print_json(all) : print_text(all);
    return exit_code;
  }

private:
  static void print_text(const std::vector<ResourceInfo>& all) {
    std::vector<std::vector<std::string>> rows;
    std::int64_t bytes = 0;
    for (const ResourceInfo& r : all) {
      rows.push_back({r.device, r.container, r.name, r.description,
                      format_bytes(static_cast<std::uint64_t>(r.bytes))});
      bytes += r.bytes;
    }
    print(str_cat(format_table(rows), rows.size(),
                  rows.size() == 1 ? " resource, " : " resources, ",
                  format_bytes(static_cast<std::uint64_t>(bytes)), "\n"));
  }

  static void print_json(const std::vector<ResourceInfo>& all) {
    JsonWriter w;
    w.open('[');
    for (const ResourceInfo& r : all) {
      w.open('{').key("device").value(r.device).key("container").value(r.container);
      w.key("name").value(r.name).key("description").value(r.description);
      w.key("bytes").value(r.bytes).close('}');
    }
    print(w.close(']').text() + "\n");
  }

  NodeTargets targets_;
  bool json_ = false;
};

} // namespace

std::unique_ptr<Command> make_command_variables() {
  return std::make_unique<VariablesCommand>();
}

} // namespace troupe
