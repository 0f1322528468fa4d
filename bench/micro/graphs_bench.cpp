// What a master does with a new signature, stage by stage, on a graph of 10 000 nodes over a ps and
// two workers: bytes in, placed, cut, optimised, bytes out.
#include <benchmark/benchmark.h>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "graph/partition/partition.hpp"
#include "graph/passes/optimize.hpp"
#include "graph/placement/place.hpp"
#include "kernels/framework/op_library.hpp"

namespace {

using namespace troupe;

constexpr int count = 10'000;
const char* const tasks[] = {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0",
                             "/job:worker/replica:0/task:1"};

// Sums of the two before; every hundred nodes the next task.
const Graph& source_graph() {
  static const Graph graph = [] {
    std::string text = "x = Placeholder[dtype=DT_FLOAT]()\nn0 = Neg(x)\nn1 = Neg(x)\n";
    for (int i = 2; i < count; ++i)
      str_append(text, "n", i, " = AddV2(n", i - 1, ", n", i - 2, ") @\"", tasks[i / 100 % 3],
                 "\"\n");
    auto parsed = parse_graph(text, op_library().ops);
    TROUPE_CHECK(parsed.ok(), parsed.status().message());
    return *std::move(parsed);
  }();
  return graph;
}

PlacementOptions cluster() {
  PlacementOptions options;
  for (const char* task : tasks)
    options.devices.push_back({*DeviceName::parse(str_cat(task, "/device:CPU:0")), "CPU", 7});
  options.supported_types = [](const Node&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"CPU"};
  };
  return options;
}

void per_node(benchmark::State& state) {
  state.counters["node"] = benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

void export_bytes(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(export_graph(source_graph()));
  per_node(state);
}

void import_bytes(benchmark::State& state) {
  std::string bytes = export_graph(source_graph());
  for (auto _ : state)
    benchmark::DoNotOptimize(read_graph_bytes(bytes, op_library().ops));
  per_node(state);
}

void copying(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(source_graph().clone());
  per_node(state);
}

// The rest includes a copy of the graph.
void optimizing(benchmark::State& state) {
  for (auto _ : state) {
    Graph graph = source_graph().clone();
    if (!optimize(graph, {.preserve = {str_cat("n", count - 1)}}).ok())
      state.SkipWithError("the graph cannot be optimised");
  }
  per_node(state);
}

void placing(benchmark::State& state) {
  PlacementOptions options = cluster();
  for (auto _ : state) {
    Graph graph = source_graph().clone();
    if (!place(graph, options).ok())
      state.SkipWithError("the graph cannot be placed");
  }
  per_node(state);
}

void partitioning(benchmark::State& state) {
  Graph placed = source_graph().clone();
  TROUPE_CHECK(place(placed, cluster()).ok(), "the graph can be placed");
  PartitionOptions options;
  options.location = task_location;
  for (auto _ : state) {
    auto parts = partition(placed.clone(), options);
    if (!parts.ok() || parts->size() != 3)
      state.SkipWithError("the graph is not cut in three");
  }
  per_node(state);
}

BENCHMARK(export_bytes)->Unit(benchmark::kMillisecond);
BENCHMARK(import_bytes)->Unit(benchmark::kMillisecond);
BENCHMARK(copying)->Unit(benchmark::kMillisecond);
BENCHMARK(optimizing)->Unit(benchmark::kMillisecond);
BENCHMARK(placing)->Unit(benchmark::kMillisecond);
BENCHMARK(partitioning)->Unit(benchmark::kMillisecond);

} // namespace
