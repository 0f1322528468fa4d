// SharedLoop: an event loop that a thread which waits for an answer from the network runs itself.
//
// Then a blocking caller's request and its answer need no other thread of the process: the caller
// writes to the socket, waits for it and reads from it. Otherwise the network's thread would be
// woken to send, and the caller to take what that thread has read.
//
//              a caller asks; after this round            the caller has its answer
//   network's thread ─────────────────────▶ the caller ─────────────────────────────▶ free
//          ▲                                    ▲           another caller               │
//          │                                    └────────────────────────────────────────┤
//          └──── soon after; at once if another thread sends or waits for the network ───┘
//
// One thread at a time runs the loop: the network's own thread by default.
//
// A wait for sockets begins awake where the last ones were short (short_waits.hpp).
//
// Jobs (brokers, and functions that were posted) wait in lists of the loop's own. CAF would ask the
// kernel for events after each round of them, and would put each job of another thread through a
// pipe; here the pipe only wakes a loop that sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <caf/fwd.hpp>
#include <caf/intrusive_ptr.hpp>
#include <caf/io/network/default_multiplexer.hpp>

#include "net/transport/short_waits.hpp"

namespace troupe {

class SharedLoop : public caf::io::network::default_multiplexer {
public:
  /// Bytes that arrive after a caller has left wait for at most twice as long. Callers that come
  /// back sooner find the loop free.
  static constexpr std::chrono::microseconds grace{5000};

  explicit SharedLoop(caf::actor_system* system);
  ~SharedLoop() override;
  void run() override; ///< the network's own thread
  void exec_later(caf::resumable* job) override;

  /// One caller's time with the loop, on one thread. Made before the request is sent.
  class Guest {
  public:
    explicit Guest(SharedLoop& loop);
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    ~Guest();
    /// Runs the loop until `done()` holds. Returns at once if another caller has the loop: then
    /// that caller or the network's thread will make `done` hold. Any other thread that makes it
    /// hold must call `wake`.
    template <class Done>
    void run_until(Done done) {
      while (!done() && loop_.next_round(*this)) {
      }
    }

  private:
    friend class SharedLoop;
    SharedLoop& loop_;
    bool has_it_ = false;
  };

  /// Makes the thread that runs the loop check again whether it is done. Any thread.
  void wake();

protected:
  /// Sends what connections have put off. Called by the holder when a broker has run, before it
  /// waits for sockets, and before it leaves the loop.
  virtual void send_due() {}

private:
  enum class Holder { own_thread, guest, nobody, ended };
  class Bell;

  bool next_round(Guest& guest);
  void take(Guest& guest);                        // the lock is held
  void call_back();                               // likewise; the network's thread is to take over
  void lend(std::unique_lock<std::mutex>& guard); // the network's thread, until it is its own again

  // What follows is for the holder of the loop.
  void round(); // runs what was posted; waits for sockets only if that was nothing
  void wait();  // for something to happen, at first awake where that is worth it
  void run_jobs();
  void settle();     // nothing is put off any more
  void take_inbox(); // the lock is held
  void ring(std::unique_lock<std::mutex>& guard);

  // CAF compares its `thread_id` with the calling thread's, to see whether it may do at once what
  // the loop does. It is written by the thread that takes the loop and put back when it leaves; a
  // thread that does not hold the loop never finds its own there.
  std::thread::id own_;
  std::deque<caf::resumable*> jobs_; // the holder's; each holds one reference
  bool polls_ = false;               // the holder's: the last round has left the sockets alone
  const bool may_poll_;              // what the config says
  ShortWaits waits_;                 // the holder's
  std::atomic<int> wanted_ = 0;      // guests that wait for the network's thread to leave
  std::mutex lock_;                  // guards what follows
  Holder holder_ = Holder::own_thread;
  std::condition_variable back_; // the network's thread waits here while others have the loop
  std::condition_variable free_; // guests that wait for the network's thread
  int guests_ = 0;
  bool called_back_ = false;
  bool used_ = false;                 // a guest has had it since the network's thread last looked
  bool watched_ = false;              // the network's thread wants to know when the guest leaves
  std::deque<caf::resumable*> inbox_; // jobs of other threads
  bool sleeps_ = false;               // the holder waits for sockets, or is about to
  bool look_ = false;                 // the holder is to come back from its next round at once
  bool rung_ = false;                 // the bell is in the pipe
  caf::intrusive_ptr<Bell> bell_;
};

/// The loop of a system's network, null if it has none that can be shared.
SharedLoop* shared_loop(caf::actor_system& system);

} // namespace troupe
