#include "api/grpc/foreign_run.hpp"

#include "core/base/node_mark.hpp"
#include "core/base/strings.hpp"

namespace troupe {

std::string worker_message(const Status& status) {
  const Origin& origin = status.origin();
  return origin.node.empty() ? status.message() : naming_node(status.message(), origin.node);
}

void ForeignRun::got(std::size_t index, Result<EdgeValue> value) {
  std::scoped_lock guard(lock_);
  if (!value.ok()) {
    if (of_value_.ok())
      of_value_ = value.status();
  } else if (value->is_dead) {
    if (of_value_.ok())
      of_value_ =
          invalid_argument(str_cat("The tensor returned for ", keys_[index], " was not valid."));
  } else {
    values_[index] = *std::move(value);
  }
  --missing_;
  answer_if_whole();
}

void ForeignRun::ran(StepStats stats) {
  std::scoped_lock guard(lock_);
  stats_ = std::move(stats);
  waits_for_run_ = false;
  answer_if_whole();
}

void ForeignRun::failed(const Status& why) {
  std::scoped_lock guard(lock_);
  fail(why);
}

void ForeignRun::overdue() {
  std::scoped_lock guard(lock_);
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (!values_[i])
      return fail(internal(str_cat("the graph has run, and has sent nothing under ", keys_[i])));
}

bool ForeignRun::is_answered() {
  std::scoped_lock guard(lock_);
  return answered_;
}

void ForeignRun::begin() {
  std::scoped_lock guard(lock_);
  answer_if_whole();
}

void ForeignRun::answer_if_whole() {
  if (answered_ || waits_for_run_ || missing_ > 0)
    return;
  if (!of_value_.ok())
    return fail(of_value_);
  std::vector<Tensor> tensors;
  tensors.reserve(values_.size());
  for (std::optional<EdgeValue>& value : values_)
    tensors.push_back(std::move(value->tensor));
  auto bytes = worker_codec::write_graph_run(keys_, tensors, stats_);
  if (!bytes.ok())
    return fail(bytes.status());
  answered_ = true;
  call_->answer(*std::move(bytes));
}

void ForeignRun::fail(const Status& why) {
  if (std::exchange(answered_, true))
    return;
  if (errors_in_body_)
    call_->answer(worker_codec::write_run_failed(why.code(), worker_message(why)));
  else
    call_->fail(Status(why.code(), worker_message(why)));
}

} // namespace troupe
