// What a cut edge costs before any byte is sent: the tensor codec, keys, the table of a rendezvous.
#include <benchmark/benchmark.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include "actors/rendezvous/edge_table.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "net/wire/wire_tensor.hpp"

namespace {

using namespace troupe;

Tensor floats(std::int64_t bytes) {
  return Tensor::zeros(DType::float32, Shape{bytes / 4});
}

// Never destroyed: when the process ends, what CAF keeps in statics may be gone before it.
caf::actor_system& actor_system() {
  static auto& config = *new caf::actor_system_config;
  static auto& system = *new caf::actor_system(config);
  return system;
}

void tensor_to_message(benchmark::State& state) {
  WireTensor tensor(floats(state.range(0)));
  std::vector<char> bytes;
  for (auto _ : state) {
    bytes.clear();
    caf::binary_serializer sink{actor_system(), bytes};
    if (sink(tensor))
      state.SkipWithError("the tensor cannot be written");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void tensor_from_message(benchmark::State& state) {
  WireTensor tensor(floats(state.range(0)));
  std::vector<char> bytes;
  caf::binary_serializer sink{actor_system(), bytes};
  if (sink(tensor))
    state.SkipWithError("the tensor cannot be written");
  for (auto _ : state) {
    WireTensor out;
    caf::binary_deserializer source{actor_system(), bytes};
    if (source(out))
      state.SkipWithError("the tensor cannot be read");
    benchmark::DoNotOptimize(out);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void tensor_to_proto(benchmark::State& state) {
  Tensor tensor = floats(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(tensor_to_bytes(tensor));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void tensor_from_proto(benchmark::State& state) {
  std::string bytes = tensor_to_bytes(floats(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(tensor_from_bytes(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

std::string key_of(int edge) {
  return rendezvous_key("/job:ps/replica:0/task:0/device:CPU:0", 7,
                        "/job:worker/replica:0/task:0/device:CPU:0", str_cat("edge_", edge), 0, 0);
}

void making_a_key(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(key_of(3));
}

// A step's edges, each put and taken once; in turn the value comes first and the taker does.
void edge_table(benchmark::State& state) {
  int edges = static_cast<int>(state.range(0));
  std::vector<std::string> keys;
  for (int i = 0; i < edges; ++i)
    keys.push_back(key_of(i));
  EdgeValue value{Tensor::scalar(1.0f), false};
  for (auto _ : state) {
    EdgeTable<int> table;
    for (int i = 0; i < edges; ++i)
      if (i % 2 == 0)
        table.put(keys[static_cast<std::size_t>(i)], value);
      else
        table.take(keys[static_cast<std::size_t>(i)], i);
    for (int i = 0; i < edges; ++i)
      if (i % 2 == 0)
        benchmark::DoNotOptimize(table.take(keys[static_cast<std::size_t>(i)], i));
      else
        benchmark::DoNotOptimize(table.put(keys[static_cast<std::size_t>(i)], value));
  }
  state.counters["edge"] = benchmark::Counter(edges, benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

BENCHMARK(tensor_to_message)->Arg(4)->Arg(4 << 10)->Arg(64 << 10);
BENCHMARK(tensor_from_message)->Arg(4)->Arg(4 << 10)->Arg(64 << 10);
BENCHMARK(tensor_to_proto)->Arg(4)->Arg(4 << 10)->Arg(1 << 20);
BENCHMARK(tensor_from_proto)->Arg(4)->Arg(4 << 10)->Arg(1 << 20);
BENCHMARK(making_a_key);
BENCHMARK(edge_table)->Arg(2)->Arg(100)->Arg(10'000);

} // namespace
