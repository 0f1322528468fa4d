#include "graph/passes/optimize.hpp"

#include <algorithm>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "graph/ir/verify.hpp"

namespace troupe {
namespace {

#ifdef __OPTIMIZE__
constexpr bool debug_build = false;
#else
constexpr bool debug_build = true;
#endif

Status check_names(const std::vector<std::string>& disabled) {
  for (const auto& name : disabled)
    if (std::ranges::find(all_passes(), std::string_view(name), &Pass::name) ==
        all_passes().end()) {
      std::vector<std::string_view> known;
      for (const Pass& pass : all_passes())
        known.push_back(pass.name);
      return invalid_argument(str_cat("there is no optimisation pass '", name,
                                      "' to switch off; the passes are ", str_join(known, ", ")));
    }
  return {};
}

} // namespace

Status optimize(Graph& graph, const OptimizeOptions& options, std::vector<PassTiming>* timings) {
  TROUPE_TRY(check_names(options.disabled));
  PassContext context({options.preserve.begin(), options.preserve.end()}, options.evaluator,
                      options.max_constant_bytes, options.max_folded_bytes, options.should_stop);
  for (int round = 0; round < options.max_rounds; ++round) {
    std::int64_t changes_before = context.changes();
    for (const Pass& pass : all_passes()) {
      if (std::ranges::find(options.disabled, pass.name) != options.disabled.end() ||
          (pass.on_request &&
           std::ranges::find(options.enabled, pass.name) == options.enabled.end()))
        continue;
      if (context.should_stop())
        return PassContext::stopped();
      std::int64_t start = steady_micros(), changes = context.changes(), work = context.work();
      if (Status status = pass.run(graph, context); !status.ok())
        return status.with_context(str_cat("optimisation pass '", pass.name, "'"));
      if (timings)
        timings->push_back({std::string(pass.name), round, steady_micros() - start,
                            context.changes() - changes, context.work() - work});
      if (options.verify || debug_build)
        if (Status broken = troupe::verify(graph); !broken.ok())
          return internal(str_cat("optimisation pass '", pass.name, "' broke the graph: ",
                                  broken.message(), "; switch it off by its name to go on"));
    }
    if (context.changes() == changes_before)
      break;
  }
  return {};
}

} // namespace troupe
