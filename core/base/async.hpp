// Async: the result of a coroutine that may wait without holding a thread.
//
//   Async<Result<int>> sum(Source& a, Source& b) {
//     TROUPE_CO_ASSIGN(int x, co_await a.next());
//     TROUPE_CO_ASSIGN(int y, co_await b.next());
//     co_return x + y;
//   }
//
// A coroutine runs at once on its caller's thread, until it waits for something that is not there.
// It goes on where that becomes there. Its caller awaits it to its end, always: what it waits for
// is cancelled to end it, it is never dropped. Its references must live until then.
//
// A temporary that braces make, `{}` or `Options{…}`, has no place in an expression with co_await:
// g++ 12 destroys it twice. It gets a name in a statement before.
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/status.hpp"

namespace troupe {

/// T is Status or a Result. Awaited once. What escapes a coroutine as an exception becomes
/// INTERNAL.
///
/// Ending and being awaited meet in one word of the coroutine: null while neither has happened, the
/// waiter's address, or the address of the word itself once it has ended. Both sides exchange it
/// (acquire and release), so the second sees what the first wrote, and does the rest.
template <class T>
class [[nodiscard]] Async {
public:
  struct promise_type {
    std::optional<T> value;
    std::atomic<void*> state{nullptr};

    struct End {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<>
      await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        // After the exchange the waiter may free the coroutine.
        void* waiter =
            self.promise().state.exchange(&self.promise().state, std::memory_order_acq_rel);
        return waiter ? std::coroutine_handle<>::from_address(waiter) : std::noop_coroutine();
      }
      void await_resume() const noexcept {}
    };

    Async get_return_object() {
      return Async(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    End final_suspend() const noexcept { return {}; }
    void return_value(T result) { value.emplace(std::move(result)); }
    void unhandled_exception() noexcept {
      try {
        throw;
      } catch (const std::exception& e) {
        value.emplace(internal(std::string("a coroutine threw: ") + e.what()));
      } catch (...) {
        value.emplace(internal("a coroutine threw"));
      }
    }
    bool has_ended() const { return state.load(std::memory_order_acquire) == &state; }
  };

  /// A result that is there already; no coroutine.
  Async(T ready) : ready_(std::move(ready)) {}
  template <class U>
  requires(!std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Async> && std::is_convertible_v<U&&, T>)
      Async(U&& ready)
      : ready_(T(std::forward<U>(ready))) {}
  Async(Async&& other) noexcept
      : ready_(std::move(other.ready_)), coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Async& operator=(Async&&) = delete;
  ~Async() {
    if (!coroutine_)
      return;
    TROUPE_CHECK(coroutine_.promise().has_ended(), "a coroutine is awaited to its end");
    coroutine_.destroy();
  }

  /// Whether awaiting it would not wait.
  bool is_ready() const { return ready_.has_value() || coroutine_.promise().has_ended(); }

  bool await_ready() const { return is_ready(); }
  bool await_suspend(std::coroutine_handle<> waiter) {
    void* running = nullptr;
    return coroutine_.promise().state.compare_exchange_strong(running, waiter.address(),
                                                              std::memory_order_acq_rel);
  }
  T await_resume() {
    if (!coroutine_)
      return *std::move(ready_);
    T out = *std::move(coroutine_.promise().value);
    std::exchange(coroutine_, nullptr).destroy();
    return out;
  }

private:
  explicit Async(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}

  std::optional<T> ready_;
  std::coroutine_handle<promise_type> coroutine_ = nullptr;
};

namespace detail {

/// A coroutine that nobody awaits; it frees itself.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

template <class T>
Detached run_detached(Async<T> async, std::function<void(T)> done) {
  done(co_await std::move(async));
}

} // namespace detail

/// Awaits it and then calls `done`, before this returns or later where it ends.
template <class T>
void when_done(Async<T> async, std::function<void(T)> done) {
  detail::run_detached(std::move(async), std::move(done));
}

/// Makes an awaitable of what calls back: `T value = co_await Callback<T>(begin)`. `begin(done)` is
/// called when it is awaited; `done` is called once, before `begin` returns or later from any
/// thread, and the coroutine goes on there.
template <class T>
class [[nodiscard]] Callback {
public:
  using Done = std::function<void(T)>;
  explicit Callback(std::function<void(Done)> begin) : begin_(std::move(begin)) {}
  Callback(const Callback&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    begin_([this](T value) {
      value_.emplace(std::move(value));
      if (is_second_.exchange(true, std::memory_order_acq_rel))
        waiter_.resume();
    });
    // Once we are the first, the coroutine may go on elsewhere, and we are gone.
    return !is_second_.exchange(true, std::memory_order_acq_rel);
  }
  T await_resume() { return *std::move(value_); }

private:
  std::function<void(Done)> begin_;
  std::coroutine_handle<> waiter_;
  std::optional<T> value_;
  std::atomic<bool> is_second_{false};
};

/// TROUPE_TRY and TROUPE_ASSIGN of coroutines.
#define TROUPE_CO_TRY(expr)                                                                        \
  do {                                                                                             \
    if (::troupe::Status troupe_status_ = (expr); !troupe_status_.ok())                            \
      co_return troupe_status_;                                                                    \
  } while (false)

#define TROUPE_CO_ASSIGN_IMPL(tmp, declaration, expr)                                              \
  auto tmp = (expr);                                                                               \
  if (!tmp.ok())                                                                                   \
    co_return tmp.status();                                                                        \
  declaration = *std::move(tmp)

#define TROUPE_CO_ASSIGN(declaration, expr)                                                        \
  TROUPE_CO_ASSIGN_IMPL(TROUPE_CONCAT(troupe_result_, __LINE__), declaration, expr)

} // namespace troupe
