// A null step on every task of a large cluster, in one process and on one thread, under virtual
// time: how many events it takes and how long they are worked on.  usage: bench_tasks COUNT
//
//   step N      {"events": of a step, "median": microseconds of its handlers at the median of N
//   steps,
//                "started": seconds until the cluster stood and the first step was through,
//                "resident": MiB}
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "tests/support/sim/sim_cluster.hpp"

#include <caf/detail/get_process_id.hpp>

// CAF tells systems of one process apart by a byte, so that the 257th would be taken for the first.
// They differ in the process id too, since each system asks here for its own.
unsigned caf::detail::get_process_id() {
  static std::atomic<unsigned> asked{0};
  return static_cast<unsigned>(::getpid()) + asked++;
}

using namespace troupe;
using namespace troupe::testing;

namespace {

double resident_mib() {
  long total = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &total, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

int complain(const Status& status) {
  std::cout << "{\"error\": \"a null step failed: " << status.message() << "\"}" << std::endl;
  return 1;
}

} // namespace

int main(int count, char** arguments) {
  int tasks = count > 1 ? std::atoi(arguments[1]) : 50;
  std::int64_t begun = steady_micros();
  std::vector<std::string> names;
  std::string graph;
  RunStep step;
  for (int i = 0; i < tasks; ++i) {
    names.push_back(str_cat("/job:worker/replica:0/task:", i));
    str_append(graph, "node { name: \"done", i, "\" op: \"NoOp\" device: \"", names.back(),
               "\" }\n");
    step.targets.push_back(str_cat("done", i));
  }
  SimCluster cluster(names, names.front());
  SessionActor session = cluster.open_session(names.front(), graph);
  auto run = [&] { return cluster.ask<RunStepResult>(cluster.client(), session, step).status(); };
  if (Status first = run(); !first.ok())
    return complain(first);
  double started = static_cast<double>(steady_micros() - begun) / 1e6;
  for (std::string command; std::cin >> command;) {
    int steps = 1;
    std::cin >> steps;
    std::vector<double> times;
    std::size_t before = cluster.steps;
    for (int i = 0; i < steps; ++i) {
      Duration handlers = cluster.handler_time;
      if (Status status = run(); !status.ok())
        return complain(status);
      times.push_back(
          std::chrono::duration<double, std::micro>(cluster.handler_time - handlers).count());
    }
    std::sort(times.begin(), times.end());
    std::cout << str_cat(
                     "{\"events\": ", (cluster.steps - before) / static_cast<std::size_t>(steps),
                     ", \"median\": ", times[times.size() / 2], ", \"started\": ", started,
                     ", \"resident\": ", resident_mib(), "}")
              << std::endl;
  }
}
