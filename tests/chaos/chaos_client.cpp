// A training program under fire: an MLP with its variables on ps/0 and a tower on each worker, told
// what to do line by line, and telling every call with its time, code and message.
//
//   chaos_client CLUSTER.CONF          task 0 of job worker is its master
//   open | close | steps N | quit      on standard input; "steps" stops at the first error
//   {"call":"step","begin":12.5}       before a call; seconds of the monotonic clock
//   {"call":"step","begin":12.5,"end":12.6,"code":"OK","message":""}
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>

#include "api/ops.hpp"
#include "api/scope.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "net/cluster/node_config.hpp"

namespace troupe {
namespace {

constexpr std::int64_t batch = 64, pixels = 256, hidden = 512, classes = 10;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      str_append(out, '\\', c);
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out + '"';
}

double now() {
  return static_cast<double>(steady_micros()) * 1e-6;
}

// Tells the call's begin, makes it, tells its end.
template <class Call>
Status tell(const char* name, Call call) {
  double begin = now();
  std::printf("{\"call\":\"%s\",\"begin\":%.6f}\n", name, begin);
  std::fflush(stdout);
  Status status = call();
  std::printf("{\"call\":\"%s\",\"begin\":%.6f,\"end\":%.6f,\"code\":\"%s\",\"message\":%s}\n",
              name, begin, now(), std::string(to_string(status.code())).c_str(),
              quoted(status.message()).c_str());
  std::fflush(stdout);
  return status;
}

struct Model {
  Scope root = Scope::root();
  Operation initialize;
  std::vector<std::string> losses, steps;
};

Tensor filled(const Shape& shape, int seed, float size) {
  Tensor out = Tensor::make(DType::float32, shape);
  std::int64_t i = seed;
  for (float& x : out.mutable_data<float>())
    x = size * std::sin(static_cast<float>(++i));
  return out;
}

Model build(int workers) {
  Model model;
  Scope ps = model.root.on("/job:ps/task:0");
  auto weights = [&](const char* name, std::int64_t from, std::int64_t to) {
    return variable(ps, name, DType::float32, {from, to}, filled({from, to}, 7, 0.05f));
  };
  std::vector<GraphVariable> variables{weights("w1", pixels, hidden), weights("w2", hidden, hidden),
                                       weights("w3", hidden, classes)};
  for (int i = 0; i < workers; ++i) {
    Scope s = model.root.on(str_cat("/job:worker/task:", i)).sub(str_cat("tower", i));
    Tensor labels = Tensor::make(DType::int64, {batch});
    for (std::int64_t j = 0; j < batch; ++j)
      labels.mutable_data<std::int64_t>()[static_cast<std::size_t>(j)] = (j + i) % classes;
    Output x = Input(filled({batch, pixels}, i, 1)).resolve(s);
    x = ops::relu(s, ops::mat_mul(s, x, variables[0].read()));
    x = ops::relu(s, ops::mat_mul(s, x, variables[1].read()));
    x = ops::mat_mul(s, x, variables[2].read());
    Output each = ops::sparse_softmax_cross_entropy_with_logits(s, x, labels).loss;
    Output loss = ops::mean(s.named("loss"), each, Tensor::vector<std::int32_t>({0}));
    model.losses.push_back(loss.name());
    model.steps.push_back(minimize_sgd(s, loss, variables, 0.01f).step.name());
  }
  model.initialize = initialize_all(ps, variables);
  return model;
}

class Client {
public:
  Client(std::string target, int workers) : target_(std::move(target)), model_(build(workers)) {}

  Status open() {
    TROUPE_TRY(model_.root.status());
    session_.reset();
    TROUPE_TRY(tell("open", [&] {
      auto session = Session::open(target_);
      if (!session.ok())
        return session.status();
      session_ = *std::move(session);
      return Status{};
    }));
    TROUPE_TRY(tell("extend", [&] { return session_->extend(model_.root); }));
    return tell("init", [&] { return session_->run({}, {}, {model_.initialize.name()}).status(); });
  }
  Status step() {
    return tell("step", [&]() -> Status {
      if (!session_)
        return failed_precondition("there is no session");
      TROUPE_ASSIGN(std::vector<Tensor> losses, session_->run({}, model_.losses, model_.steps));
      for (const Tensor& loss : losses)
        if (!std::isfinite(loss.value<float>()))
          return data_loss("the loss is no number");
      return {};
    });
  }
  Status close() {
    return tell("close", [&] {
      session_.reset();
      return Status{};
    });
  }

private:
  std::string target_;
  Model model_;
  std::optional<Session> session_;
};

int run(const char* file) {
  auto config = read_cluster_config(file);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.status().to_string().c_str());
    return 1;
  }
  int workers = 0;
  for (const NodeConfig& task : config->tasks)
    workers += task.job == "worker";
  auto master = config->task("worker", 0);
  if (!master.ok()) {
    std::fprintf(stderr, "%s\n", master.status().to_string().c_str());
    return 1;
  }
  Client client(str_cat("caf://", master->address), workers);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::istringstream words(line);
    std::string verb;
    int count = 1;
    words >> verb >> count;
    Status last;
    if (verb == "open")
      last = client.open();
    else if (verb == "close")
      last = client.close();
    else if (verb == "steps")
      for (int i = 0; i < count && last.ok(); ++i)
        last = client.step();
    std::printf("{\"done\":%s,\"code\":\"%s\"}\n", quoted(verb).c_str(),
                std::string(to_string(last.code())).c_str());
    std::fflush(stdout);
  }
  return 0;
}

} // namespace
} // namespace troupe

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: chaos_client CLUSTER.CONF\n");
    return 2;
  }
  return troupe::run(argv[1]);
}
