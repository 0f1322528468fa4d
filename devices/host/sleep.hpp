// Sleeping until a number changes. std::atomic::wait does so too, but first calls sched_yield: with
// more threads than cores its thread is then runnable behind all others, so that nobody can wake
// it, and comes back a time slice later (4 ms).
#pragma once

#include <atomic>
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe {

static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);

/// Sleeps while `number` is `seen`. May return for no reason: look again.
inline void sleep_while(const std::atomic<int>& number, int seen) {
  syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

/// Wakes so many threads that sleep on `number`, which has been changed before. A call of the
/// system even if there is none.
inline void wake_sleepers(const std::atomic<int>& number, int count = INT_MAX) {
  syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

} // namespace troupe
