#include "kernels/data/internal/pipeline.hpp"

#include <algorithm>

#include "devices/file_host.hpp"

namespace troupe::data {

namespace {

CapturedFunction::Errors errors_of(std::string_view op, std::string_view attr) {
  if (attr == "reduce_func" && op.ends_with("GroupByWindowDataset"))
    return CapturedFunction::Errors::internal;
  for (std::string_view transformation : {"Map", "Filter", "Interleave"})
    if (op.find(str_cat(transformation, "Dataset")) != op.npos)
      return CapturedFunction::Errors::of_op;
  return CapturedFunction::Errors::plain;
}

} // namespace

Result<CapturedFunction> captured_function(const KernelContext& c, std::string_view attr,
                                           std::string_view captured) {
  CapturedFunction out;
  out.op = c.node().schema->name;
  out.errors = errors_of(out.op, attr);
  TROUPE_ASSIGN(out.from, functions(c));
  TROUPE_ASSIGN(out.function, c.attr<FunctionRef>(attr));
  const OpSchema& schema = *c.node().schema;
  TROUPE_ASSIGN(const auto ranges, arg_ranges(schema.inputs, c.attrs()));
  for (std::size_t i = 0; i < schema.inputs.size(); ++i)
    if (schema.inputs[i].name == captured)
      for (int k = ranges[i].begin; k < ranges[i].end; ++k)
        out.captured.push_back(c.input(k));
  return out;
}

Status CapturedFunction::check_external_state() const {
  TROUPE_ASSIGN(const auto compiled, from->find(function));
  if (const std::string& op = compiled->stateful_op(); !op.empty())
    return failed_precondition(str_cat(op, " is stateful."));
  return {};
}

Next after_map(Result<Tensors> mapped, bool keeps_cardinality) {
  if (mapped.ok())
    return one_more(*std::move(mapped));
  const Status status = mapped.status();
  if (status.code() != Code::out_of_range)
    return status;
  if (keeps_cardinality)
    return invalid_argument(
        str_cat("Function invocation produced OutOfRangeError: ", status.message()));
  return end_of_sequence();
}

Async<Result<Tensors>> BoundFunction::operator()(Tensors args, ElementPull& pull) const {
  args.insert(args.end(), captured_.begin(), captured_.end());
  FunctionCall call;
  call.args = std::move(args);
  call.cancellation = &pull.cancellation();
  call.states = states_;
  call.depth = pull.pipeline().depth();
  Callback<Result<Tensors>> called(
      [&](FunctionDone done) { function_->call(std::move(call), std::move(done)); });
  Result<Tensors> results = co_await called;
  if (!results.ok() && !results.status().derived())
    co_return told(results.status());
  co_return results;
}

Result<Tensors> BoundFunction::told(Status status) const {
  std::string_view text =
      status.message(); // the mark of the function is left out, as in TensorFlow
  if (const std::size_t mark = text.find("}} ");
      text.starts_with("{{function_node ") && mark != text.npos)
    text.remove_prefix(mark + 3);
  switch (errors_) {
  case CapturedFunction::Errors::plain:
    break;
  case CapturedFunction::Errors::of_op:
    return Status(status.code(), str_cat("Error in user-defined function passed to ", op_,
                                         " transformation: ", text));
  case CapturedFunction::Errors::internal:
    return internal(str_cat("Got error code ", to_string(status.code()), " and message: {\n", text,
                            "\n} \nfrom running user-defined function ", function_->name(), ": "));
  }
  return status;
}

Async<Result<Tensors>> BoundFunction::elsewhere(Tensors args, ElementPull& pull) const {
  Callback<Status> moved([&](std::function<void(Status)> done) {
    pull.pipeline().submit([done = std::move(done)] { done({}); });
  });
  TROUPE_CO_TRY(co_await moved);
  Async<Result<Tensors>> results = (*this)(std::move(args), pull);
  co_return co_await std::move(results);
}

Async<Result<bool>> BoundFunction::test(Tensors args, ElementPull& pull, const char* wrong) const {
  TROUPE_CO_ASSIGN(Tensors results, co_await (*this)(std::move(args), pull));
  if (results.size() != 1 || results[0].dtype() != DType::bool_ || results[0].num_elements() != 1)
    co_return invalid_argument(wrong);
  co_return results[0].data<bool>()[0];
}

Result<std::shared_ptr<Pipeline>> Pipeline::make(const KernelContext& c) {
  TROUPE_ASSIGN(auto all, functions(c));
  return std::make_shared<Pipeline>(std::move(all), c.device(), c.step().call_depth + 1);
}

Result<std::shared_ptr<Pipeline>> Pipeline::within(const Dataset& dataset) {
  auto out = std::make_shared<Pipeline>(functions_, device_, depth_);
  out->root_ = root_ ? root_ : shared_from_this();
  out->options_ = options_;
  out->nesting_ = nesting_ + dataset.depth();
  if (out->nesting_ > max_nesting)
    return resource_exhausted(str_cat("more than ", max_nesting,
                                      " datasets are iterated over within each other; does a "
                                      "function make a dataset that calls it again?"));
  return out;
}

Result<std::shared_ptr<AllowedFiles>> Pipeline::files() const {
  auto out = files_of(device_);
  if (!out)
    return no_files(device_.name());
  return out;
}

Result<BoundFunction> Pipeline::bind(const CapturedFunction& function) {
  TROUPE_ASSIGN(auto compiled, function.from->find(function.function));
  BoundFunction out;
  out.op_ = function.op;
  out.errors_ = function.errors;
  out.captured_ = function.captured;
  const std::size_t args = compiled->arg_types().size();
  if (args < out.captured_.size())
    return invalid_argument(str_cat("Function '", compiled->name(), "' takes ", args,
                                    " arguments, and has captured ", out.captured_.size(),
                                    " values"));
  Pipeline& all = root();
  std::scoped_lock guard(all.lock_);
  auto at = std::ranges::find(all.instances_, compiled, &Instance::compiled);
  if (at == all.instances_.end()) {
    all.instances_.push_back({compiled, std::make_shared<NodeStates>()});
    at = std::prev(all.instances_.end());
  }
  out.function_ = at->compiled;
  out.states_ = at->states;
  return out;
}

std::string Pipeline::activity() const {
  std::vector<std::shared_ptr<const Function>> all;
  {
    std::scoped_lock guard(root().lock_);
    for (const Instance& one : root().instances_)
      all.push_back(one.compiled);
  }
  for (const auto& function : all)
    if (std::string text = function->activity(); !text.empty())
      return text;
  return {};
}

Async<Result<IteratorRef>> iterator_of_element(const BoundFunction& function, Element element,
                                               std::shared_ptr<Pipeline> pipeline,
                                               ElementPull& pull) {
  TROUPE_CO_ASSIGN(const Tensors made, co_await function(std::move(element), pull));
  if (made.size() != 1 || made[0].dtype() != DType::variant || !made[0].shape().is_scalar())
    co_return invalid_argument("Function must return a single scalar of dtype DT_VARIANT.");
  TROUPE_CO_ASSIGN(const DatasetRef dataset, dataset_in(made[0]));
  TROUPE_CO_ASSIGN(const auto inner, pipeline->within(*dataset));
  co_return dataset->iterate(inner);
}

Async<Status> ElementPull::look() {
  static constexpr std::int64_t at_once_us = 2000;
  if (cancellation_.must_stop())
    co_return cancellation_.status();
  if (steady_micros() - since_us_ < at_once_us)
    co_return Status();
  Callback<Status> moved([this](std::function<void(Status)> done) {
    pipeline_->submit([done = std::move(done)] { done({}); });
  });
  TROUPE_CO_TRY(co_await moved);
  since_us_ = steady_micros();
  co_return cancellation_.status();
}

Async<Status> Gate::wait(std::unique_lock<std::mutex>& lock, ElementPull& pull) {
  auto waiter = std::make_shared<Waiter>();
  Cancellation::Token token = 0;
  Callback<Status> gone_on([&](std::function<void(Status)> go_on) {
    waiter->go_on = std::move(go_on);
    waiters_.push_back(waiter);
    Cancellation& cancellation = pull.cancellation();
    token =
        cancellation.on_cancel([waiter, &cancellation] { waiter->finish(cancellation.status()); });
    lock.unlock();
    if (token == 0)
      waiter->finish(cancellation.status());
  });
  Status status = co_await gone_on;
  if (token != 0)
    pull.cancellation().forget(token);
  lock.lock();
  std::erase(waiters_, waiter);
  co_return status;
}

void Gate::notify(std::unique_lock<std::mutex>& lock, const Pipeline& pipeline) {
  auto waiters = std::exchange(waiters_, {});
  lock.unlock(); // work may be done at once where nobody is left to do it
  for (auto& waiter : waiters)
    pipeline.submit([waiter = std::move(waiter)] { waiter->finish({}); });
}

Async<Status> Turnstile::enter(ElementPull& pull) {
  std::unique_lock lock(lock_);
  while (is_taken_)
    TROUPE_CO_TRY(co_await free_.wait(lock, pull));
  is_taken_ = true;
  co_return Status();
}

void Turnstile::leave(const Pipeline& pipeline) {
  std::unique_lock lock(lock_);
  is_taken_ = false;
  free_.notify(lock, pipeline);
}

Background::Background(std::shared_ptr<Pipeline> pipeline) : pipeline_(std::move(pipeline)) {
  const std::weak_ptr<Cancellation> ours = ended_;
  Cancellation& whole = pipeline_->ended();
  token_ = whole.on_cancel([ours, &whole] {
    if (auto ended = ours.lock())
      ended->cancel(whole.status());
  });
  if (token_ == 0)
    ended_->cancel(whole.status());
}

void Background::end() {
  if (const auto token = std::exchange(token_, 0))
    pipeline_->ended().forget(token);
  ended_->cancel(cancelled("the iterator has ended"));
}

void Background::run(std::function<Async<Status>()> work) const {
  auto kept = std::make_shared<std::function<Async<Status>()>>(std::move(work));
  // It tells by its state alone how it has ended.
  pipeline_->submit([kept] { when_done<Status>((*kept)(), [kept](Status) {}); });
}

} // namespace troupe::data
