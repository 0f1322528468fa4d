#include "examples/fashion_mnist/trainer.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "api/session.hpp"
#include "core/base/strings.hpp"
#include "examples/fashion_mnist/progress.hpp"
#include "net/cluster/node_config.hpp"

namespace troupe::fashion_mnist {

namespace {

constexpr std::int64_t step_timeout_ms = 60'000;
constexpr std::int64_t test_batch = 500;
constexpr int initialization_polls = 600;
constexpr std::chrono::milliseconds poll_interval{100};

// The first error of any worker, which ends the others.
class Failure {
public:
  void report(const Status& status) {
    std::scoped_lock guard(lock_);
    if (status_.ok())
      status_ = status;
    seen_ = true;
    changed_.notify_all();
  }
  bool seen() const { return seen_; }
  Status status() const {
    std::scoped_lock guard(lock_);
    return status_;
  }
  /// Returns at once after a failure, and then true.
  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock guard(lock_);
    return changed_.wait_for(guard, time, [&] { return seen_.load(); });
  }

private:
  mutable std::mutex lock_;
  std::condition_variable changed_;
  Status status_;
  std::atomic<bool> seen_ = false;
};

// A worker's client: its graph, its session, its share of the examples.
class Worker {
public:
  static Result<Worker> open(const WorkerPlan& plan, const Training& training) {
    Scope root = Scope::root();
    TROUPE_ASSIGN(Model model, build_model(root, training.model, plan.devices));
    SessionOptions options;
    options.operation_timeout_ms = step_timeout_ms;
    TROUPE_ASSIGN(Session session, Session::open(plan.target, options));
    TROUPE_TRY(session.extend(root));
    return Worker(std::move(model), std::move(session), training.learning_rate);
  }

  Status initialize() { return session_.run({}, {}, {model_.initialize.name()}).status(); }

  /// Waits for another's `initialize`; also ends when somebody failed.
  Status wait_until_initialized(Failure& failure) {
    std::vector<std::string> flags;
    for (const Output& flag : model_.is_initialized)
      flags.push_back(flag.name());
    for (int poll = 0; poll < initialization_polls && !failure.seen(); ++poll) {
      TROUPE_ASSIGN(std::vector<Tensor> values, session_.run({}, flags));
      if (std::all_of(values.begin(), values.end(),
                      [](const Tensor& value) { return value.value<bool>(); }))
        return {};
      failure.wait_for(poll_interval);
    }
    return deadline_exceeded("the first worker did not initialise the variables in time");
  }

  Status train(Batches& batches, std::int64_t steps, Progress& progress, const Failure& failure) {
    TROUPE_ASSIGN(
        Session::Callable step,
        session_.make_callable({model_.images.name(), model_.labels.name(), model_.rate.name()},
                               {model_.loss.name()}, {model_.train.name()}));
    for (std::int64_t i = 0; i < steps && !failure.seen(); ++i) {
      Examples batch = batches.next();
      TROUPE_ASSIGN(std::vector<Tensor> loss,
                    step({batch.images, batch.labels, Tensor::scalar(rate_at(i, steps))}));
      progress.step_done(loss[0].value<float>());
    }
    return {};
  }

  Result<double> accuracy(const Examples& examples) {
    double correct = 0;
    for (std::int64_t at = 0; at < examples.size(); at += test_batch) {
      std::int64_t end = std::min(at + test_batch, examples.size());
      TROUPE_ASSIGN(std::vector<Tensor> hits,
                    session_.run({{model_.images.name(), examples.images.rows(at, end)},
                                  {model_.labels.name(), examples.labels.rows(at, end)}},
                                 {model_.correct.name()}));
      correct += hits[0].value<float>();
    }
    return correct / static_cast<double>(std::max<std::int64_t>(examples.size(), 1));
  }

private:
  Worker(Model model, Session session, float rate)
      : model_(std::move(model)), session_(std::move(session)), rate_(rate) {}

  // Large steps at first; small ones at the end, so that what the workers do to each other's
  // updates evens out.
  float rate_at(std::int64_t step, std::int64_t steps) const {
    float left = 1 - static_cast<float>(step) / static_cast<float>(steps);
    return rate_ * std::max(left, 0.05f);
  }

  Model model_;
  Session session_;
  float rate_;
};

} // namespace

std::vector<WorkerPlan> plan_local() {
  return {{"local", {}}};
}

Result<std::vector<WorkerPlan>> plan_cluster(const std::string& config_file) {
  TROUPE_ASSIGN(ClusterConfig config, read_cluster_config(config_file));
  std::vector<std::string> homes;
  std::vector<WorkerPlan> out;
  for (const NodeConfig& task : config.tasks) {
    std::string device = str_cat("/job:", task.job, "/task:", task.task);
    if (task.job == "ps")
      homes.push_back(device);
    if (task.job == "worker")
      out.push_back({str_cat("caf://", task.address.to_string()), {device, {}}});
  }
  if (out.empty())
    return invalid_argument(str_cat("'", config_file, "' has no task of job 'worker'"));
  if (homes.empty())
    homes.push_back(out[0].devices.compute);
  for (WorkerPlan& plan : out)
    plan.devices.variables = homes;
  return out;
}

Result<Outcome> train(const std::vector<WorkerPlan>& plans, const Training& training,
                      const Dataset& data) {
  std::vector<Worker> workers;
  std::vector<Batches> batches;
  int count = static_cast<int>(plans.size());
  for (int i = 0; i < count; ++i) {
    TROUPE_ASSIGN(Worker worker, Worker::open(plans[static_cast<std::size_t>(i)], training));
    workers.push_back(std::move(worker));
    batches.emplace_back(data.train, training.batch, i, count);
  }
  if (batches[0].per_epoch() == 0)
    return invalid_argument(str_cat("a worker's share of the ", data.train.size(),
                                    " examples is smaller than a batch of ", training.batch));
  std::int64_t per_epoch = 0;
  for (const Batches& share : batches)
    per_epoch += share.per_epoch();
  Progress progress(per_epoch * training.epochs, per_epoch, training.batch);
  Failure failure;
  auto work = [&](std::size_t i) -> Status {
    TROUPE_TRY(i == 0 ? workers[i].initialize() : workers[i].wait_until_initialized(failure));
    return workers[i].train(batches[i], batches[i].per_epoch() * training.epochs, progress,
                            failure);
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers.size(); ++i)
      threads.emplace_back([&, i] {
        if (Status status = work(i); !status.ok())
          failure.report(status.with_context(str_cat("worker ", i)));
      });
  }
  progress.finish();
  TROUPE_TRY(failure.status());
  Outcome out;
  out.images_per_second = progress.images_per_second();
  TROUPE_ASSIGN(out.accuracy, workers[0].accuracy(data.test));
  return out;
}

} // namespace troupe::fashion_mnist
