#include "actors/master_session/task_health.hpp"

#include "core/base/strings.hpp"

namespace troupe {

void TaskHealth::use(std::string_view task) {
  tasks_.try_emplace(std::string(task));
}

bool TaskHealth::is_well(std::string_view task) const {
  return loss(task) == nullptr;
}

const Status* TaskHealth::loss(std::string_view task) const {
  auto known = tasks_.find(task);
  return known == tasks_.end() || known->second.state == State::well ? nullptr : &known->second.why;
}

TaskHealth::Task* TaskHealth::find(std::string_view task, State state) {
  auto known = tasks_.find(task);
  return known != tasks_.end() && known->second.state == state ? &known->second : nullptr;
}

bool TaskHealth::lose(std::string_view name, const Status& why) {
  Task* task = find(name, State::well);
  if (!task)
    return false;
  task->state = State::lost;
  task->why = why.with_origin({"", "", std::string(name), 0});
  return true;
}

std::vector<std::string> TaskHealth::to_ask(std::int64_t now_us, std::int64_t pause_us) {
  std::vector<std::string> out;
  if (now_us - asked_us_ < pause_us)
    return out;
  asked_us_ = now_us;
  for (auto& [name, task] : tasks_)
    if (task.state == State::lost) {
      task.state = State::asked;
      out.push_back(name);
    }
  return out;
}

void TaskHealth::returned(std::string_view name) {
  Task* task = find(name, State::asked);
  if (!task)
    return;
  task->state = State::back;
  task->why = aborted(str_cat("task ", name, " is back after it was lost (", task->why.message(),
                              "); what it held of this session is gone: make a new session"))
                  .with_origin({"", "", std::string(name), 0});
}

void TaskHealth::unreachable(std::string_view name) {
  if (Task* task = find(name, State::asked))
    task->state = State::lost;
}

} // namespace troupe
