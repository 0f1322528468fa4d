#include "devices/resource/monitor.hpp"

#include <algorithm>

namespace troupe {

Monitor::Ticket Monitor::ticket() {
  std::scoped_lock guard(lock_);
  return ++last_ticket_;
}

void Monitor::submit(Ticket ticket, int lane, Attempt attempt, Done done) {
  std::vector<Answer> answers;
  {
    std::scoped_lock guard(lock_);
    waiting_.push_back({ticket, lane, std::move(attempt), std::move(done)});
    serve(answers);
  }
  tell(answers);
}

void Monitor::withdraw(Ticket ticket) {
  std::list<Request> gone; // destroyed outside the lock
  std::vector<Answer> answers;
  {
    std::scoped_lock guard(lock_);
    for (auto it = waiting_.begin(); it != waiting_.end();)
      if (auto here = it++; here->ticket == ticket)
        gone.splice(gone.end(), waiting_, here);
    serve(answers); // it may have been in somebody's way
  }
  tell(answers);
}

// An answer may change what the ones before it wait for.
void Monitor::serve(std::vector<Answer>& answers) {
  for (bool moved = true; moved;) {
    moved = false;
    std::vector<int> blocked;
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      auto here = it++;
      if (here->lane != no_lane && std::ranges::find(blocked, here->lane) != blocked.end())
        continue;
      if (auto result = here->attempt()) {
        answers.push_back({std::move(here->done), *std::move(result)});
        waiting_.erase(here);
        moved = true;
      } else if (here->lane != no_lane) {
        blocked.push_back(here->lane);
      }
    }
  }
}

void Monitor::tell(std::vector<Answer>& answers) {
  for (Answer& answer : answers)
    answer.done(std::move(answer.result));
}

} // namespace troupe
