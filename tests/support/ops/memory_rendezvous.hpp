// MemoryRendezvous: a step's mailbox within one process, for tests.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "kernels/framework/rendezvous.hpp"

namespace troupe::testing {

class MemoryRendezvous final : public Rendezvous {
public:
  Status send(const std::string& key, EdgeValue value) override {
    std::unique_lock guard(lock_);
    if (!aborted_.ok())
      return aborted_;
    Edge& edge = edges_[key];
    if (edge.takers.empty()) {
      edge.values.push_back(std::move(value));
      return {};
    }
    auto taker = std::move(edge.takers.front());
    edge.takers.pop_front();
    guard.unlock();
    taker(std::move(value));
    return {};
  }

  void recv(const std::string& key, std::function<void(Result<EdgeValue>)> done) override {
    std::unique_lock guard(lock_);
    if (!aborted_.ok()) {
      const Status why = aborted_;
      guard.unlock();
      done(why);
      return;
    }
    Edge& edge = edges_[key];
    if (edge.values.empty()) {
      edge.takers.push_back(std::move(done));
      return;
    }
    EdgeValue value = std::move(edge.values.front());
    edge.values.pop_front();
    guard.unlock();
    done(std::move(value));
  }

  /// Answers every taker; later calls fail with the same.
  void abort(Status why) {
    std::unique_lock guard(lock_);
    aborted_ = why;
    auto edges = std::move(edges_);
    edges_.clear();
    guard.unlock();
    for (auto& [key, edge] : edges)
      for (auto& taker : edge.takers)
        taker(why);
  }

  /// Keys with takers that still wait, or with values that nobody took.
  std::size_t pending() const {
    std::scoped_lock guard(lock_);
    std::size_t out = 0;
    for (const auto& [key, edge] : edges_)
      out += edge.takers.size() + edge.values.size();
    return out;
  }

private:
  struct Edge {
    std::deque<EdgeValue> values;
    std::deque<std::function<void(Result<EdgeValue>)>> takers;
  };
  mutable std::mutex lock_;
  Status aborted_;
  std::map<std::string, Edge> edges_;
};

} // namespace troupe::testing
