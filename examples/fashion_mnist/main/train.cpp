// Trains a classifier of Fashion-MNIST, in this process or on a cluster:
//   fashion_mnist --local
//   troupe up --config-file=cluster.conf &   fashion_mnist --config=cluster.conf --model=cnn
#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/strings.hpp"
#include "examples/fashion_mnist/trainer.hpp"

namespace troupe::fashion_mnist {
namespace {

struct CommandLine {
  Training training;
  bool local = false;
  std::string config = "examples/fashion_mnist/cluster.conf";
  std::string data = "/usr/share/datasets/fashion-mnist";
};

constexpr std::string_view usage =
    R"(usage: fashion_mnist [--model=mlp|cnn] [--local | --config=FILE] [--epochs=N] [--data=FOLDER]

  --model=mlp    two hidden layers (as usual), or cnn: two convolutions
  --local        train in this process
  --config=FILE  train on the workers of this running cluster, with variables on its job "ps";
                 as usual examples/fashion_mnist/cluster.conf
  --epochs=N     times around the 60 000 training pictures; as usual 8
  --data=FOLDER  where the pictures are; as usual /usr/share/datasets/fashion-mnist

Prints the accuracy on the 10 000 test pictures; the exit code is 1 if it is below 0.87 (mlp) or
0.90 (cnn), or if training failed, and 2 for a wrong command line.
)";

Status parse(int argc, char** argv, CommandLine& line) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    auto value_of = [&](std::string_view name, std::string& to) {
      if (!argument.starts_with(name) || !argument.substr(name.size()).starts_with('='))
        return false;
      to = argument.substr(name.size() + 1);
      return true;
    };
    std::string number;
    if (argument == "--local") {
      line.local = true;
    } else if (value_of("--epochs", number)) {
      auto epochs = parse_int(number);
      if (!epochs || *epochs < 1 || *epochs > 10'000)
        return invalid_argument(str_cat("--epochs is a number from 1 on, not '", number, "'"));
      line.training.epochs = static_cast<int>(*epochs);
    } else if (!value_of("--model", line.training.model) && !value_of("--config", line.config) &&
               !value_of("--data", line.data)) {
      return invalid_argument(str_cat("'", argument, "' is not understood"));
    }
  }
  if (line.training.model != "mlp" && line.training.model != "cnn")
    return invalid_argument(
        str_cat("there is no model '", line.training.model, "'; there are mlp and cnn"));
  return {};
}

Result<Outcome> run(const CommandLine& line) {
  TROUPE_ASSIGN(Dataset data, load_dataset(line.data));
  std::vector<WorkerPlan> workers = plan_local();
  if (!line.local) {
    TROUPE_ASSIGN(workers, plan_cluster(line.config));
  }
  std::printf("training %s on %s, %d epochs\n", line.training.model.c_str(),
              line.local ? "this process" : str_cat(workers.size(), " worker(s)").c_str(),
              line.training.epochs);
  return train(workers, line.training, data);
}

} // namespace
} // namespace troupe::fashion_mnist

int main(int argc, char** argv) {
  using namespace troupe::fashion_mnist;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--help") {
      std::fwrite(usage.data(), 1, usage.size(), stdout);
      return 0;
    }
  CommandLine line;
  if (auto status = parse(argc, argv, line); !status.ok()) {
    std::fprintf(stderr, "fashion_mnist: %s; see --help\n", status.message().c_str());
    return 2;
  }
  auto outcome = run(line);
  if (!outcome.ok()) {
    std::fprintf(stderr, "fashion_mnist: %s\n", outcome.status().to_string().c_str());
    return 1;
  }
  double bar = line.training.model == "mlp" ? 0.87 : 0.90;
  std::printf("trained with %.0f images/s\n", outcome->images_per_second);
  if (outcome->accuracy < bar)
    std::printf("below the bar of %.2f\n", bar);
  std::printf("test accuracy %.4f\n", outcome->accuracy);
  return outcome->accuracy < bar ? 1 : 0;
}
