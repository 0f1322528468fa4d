#include "actors/step/step_collector.hpp"

#include "core/base/check.hpp"
#include "core/base/strings.hpp"

namespace troupe {

void StepCollector::part_done(std::size_t part, std::vector<Tensor> retvals,
                              const std::vector<int>& fetch_of) {
  TROUPE_CHECK(retvals.size() == fetch_of.size(),
               "a part answers with every value that it was registered for");
  for (std::size_t i = 0; i < retvals.size(); ++i)
    take(part, fetch_of[i], std::move(retvals[i]));
  part_done(part);
}

void StepCollector::part_done(std::size_t part) {
  if (!open_[part])
    return;
  open_[part] = false;
  --outstanding_;
}

void StepCollector::part_failed(std::size_t part, const Status& why) {
  if (!open_[part])
    return;
  open_[part] = false;
  --outstanding_;
  record(why);
}

void StepCollector::part_lost_at_deadline(std::size_t part, const Status& why) {
  if (open_[part] && status_.code() == Code::deadline_exceeded)
    status_ = why;
  part_failed(part, why);
}

void StepCollector::fail(const Status& why) {
  record(why);
}

void StepCollector::explain(const Status& error, std::string_view clause) {
  if (status_ == error && !status_.ok())
    status_ = Status(status_.code(), str_cat(status_.message(), "; ", clause))
                  .with_origin(status_.origin());
}

void StepCollector::record(const Status& why) {
  if (status_.ok())
    status_ = why;
  else if (status_.derived() && !why.derived())
    status_ = why, ++further_errors_;
  else
    ++further_errors_;
  cancel_requested_ = true;
}

bool StepCollector::take_cancel_request() {
  return cancel_requested_ && !std::exchange(cancel_taken_, true);
}

} // namespace troupe
