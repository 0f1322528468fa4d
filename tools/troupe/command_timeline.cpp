// troupe timeline FILE: where the time of a traced step went.
#include <algorithm>
#include <fstream>
#include <map>

#include "core/base/strings.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/table.hpp"
#include "tools/troupe/timeline_svg.hpp"
#include "tools/troupe/trace_file.hpp"

namespace troupe {
namespace {

/// Ops that are listed for a device.
constexpr std::size_t listed_ops = 12;

class TimelineCommand final : public Command {
public:
  std::string summary() const override {
    return "Shows where the time of a traced step went, also as a picture";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe run local graph.pb --fetch y --trace step.json && troupe timeline step.json",
             "for each device the ops that took longest"},
            {"troupe timeline step.json --svg step.svg --title 'a step over two nodes'",
             "the same as a picture, time from left to right"}};
  }
  void declare(Options& options) override {
    options.text("FILE", file_, "what `troupe run --trace` or the prompt's `timeline` wrote", true);
    options.text("--svg", svg_, "a file for the picture");
    options.text("--title", title_, "stands above the picture; the file's name without it");
  }

  int run() override {
    auto stats = read_trace_file(file_);
    if (!stats)
      return failed(stats.status());
    if (stats->devices.empty())
      return failed(failed_precondition(str_cat(file_, ": no event in it lasts; trace a step with "
                                                       "`troupe run … --trace FILE`")));
    if (svg_.empty()) {
      print_table(*stats);
      return exit_ok;
    }
    std::ofstream out(svg_, std::ios::binary);
    out << to_svg(*stats, title_.empty() ? file_ : title_);
    out.close();
    return out ? exit_ok : failed(unavailable(str_cat(svg_, ": cannot be written")));
  }

private:
  static void print_table(const StepStats& stats) {
    for (const DeviceStats& device : stats.devices) {
      struct Sum {
        std::int64_t micros = 0, count = 0;
      };
      std::map<std::string, Sum> ops;
      for (const NodeStats& span : device.nodes) {
        ops[span.op].micros += span.end_us - span.start_us;
        ++ops[span.op].count;
      }
      std::vector<std::pair<std::string, Sum>> sorted(ops.begin(), ops.end());
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](auto& a, auto& b) { return a.second.micros > b.second.micros; });
      std::vector<std::vector<std::string>> rows;
      for (const auto& [op, sum] : sorted)
        if (rows.size() < listed_ops)
          rows.push_back({op, str_cat(sum.count, " times"), format_micros(sum.micros)});
      print(
          str_cat(device.device, ": ", device.nodes.size(), " spans\n", format_table(rows, "  ")));
    }
  }

  std::string file_, svg_, title_;
};

} // namespace

std::unique_ptr<Command> make_command_timeline() {
  return std::make_unique<TimelineCommand>();
}

} // namespace troupe
