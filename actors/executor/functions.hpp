// The functions that kernels of one graph run by themselves (kernels/framework/functions.hpp): each
// a graph of its own, compiled for one device and run by StepRuns on compute threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/family/services.hpp"
#include "graph/ir/functions.hpp"
#include "kernels/framework/functions.hpp"

namespace troupe {

struct FunctionsOrigin {
  std::shared_ptr<const FunctionLibrary> library; ///< null: none
  Device* device = nullptr;
  /// Not kept: functions are held by what lies in a device's resources, such as iterators.
  std::weak_ptr<const NodeServices> services;
  /// What the device lives in. Held while a call runs and while submitted work does.
  std::weak_ptr<const void> home;
  /// Finds a device of the same home by its full name; null if there is none.
  std::function<Device*(std::string_view)> device_named;
  std::vector<std::string> disabled_passes; ///< as of the graph
  int graph_version = 0;                    ///< of the graph's producer
};

std::shared_ptr<Functions> make_functions(FunctionsOrigin origin);

} // namespace troupe
