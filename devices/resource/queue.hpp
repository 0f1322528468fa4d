// Queue: tuples of tensors that some steps put in and others take out, in the queue's order.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/tensor/shape.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {

/// What makes a queue. Two nodes that name one queue must say the same.
struct QueueSpec {
  enum class Order { fifo, padding_fifo, random, priority };
  Order order = Order::fifo;
  std::string op;                   ///< "FIFOQueue": the kind, in messages
  std::vector<DType> types;         ///< of the components; a priority first
  std::vector<PartialShape> shapes; ///< empty: any; partial ones for padding_fifo alone
  std::int64_t capacity = -1;       ///< below 0: any number of elements
  std::int64_t min_after_dequeue = 0, seed = 0, seed2 = 0; ///< random alone
  /// Uniform words, which say whose turn it is, for random alone; null: from the system's source.
  std::function<std::uint32_t()> draw = {};
};

/// The elements of a queue, and which goes next.
class QueueElements {
public:
  using Tuple = std::vector<Tensor>;
  virtual ~QueueElements() = default;
  virtual void push(Tuple element) = 0;
  /// The next one. Requires that there is one.
  virtual Tuple pop() = 0;
  /// Gives back what was the last to be popped.
  virtual void put_back(Tuple element) = 0;
  virtual std::int64_t size() const = 0;
};
std::unique_ptr<QueueElements> make_queue_elements(const QueueSpec& spec);

/// Requests are served in the order of their arrival, those that put and those that take each
/// among themselves; one that needs several elements takes what is there and waits for the rest. A
/// request's `Done` is called once: before the function returns or later from any thread, never
/// with a lock held. Puts answer with no tensors.
class Queue final : public Resource {
public:
  using Tuple = std::vector<Tensor>;
  using Done = std::function<void(Result<Tuple>)>;
  using Ticket = std::uint64_t;

  /// `name` as messages have it. Elements of batches are copied into `memory`, which outlives the
  /// queue.
  Queue(QueueSpec spec, std::string name, Allocator& memory);
  const QueueSpec& spec() const { return spec_; }
  const std::string& name() const { return name_; }
  /// INVALID_ARGUMENT "Shared queue 'q' has capacity 3 but requested capacity was 4"
  /// `op` is the name of the op that says `other`.
  Status check_same(const QueueSpec& other, std::string_view op) const;

  /// Names a request; it can be withdrawn by it.
  Ticket ticket();
  /// INVALID_ARGUMENT for components that do not fit. CANCELLED "… is closed.".
  void enqueue(Ticket ticket, Tuple element, Done done);
  /// Each row is an element.
  void enqueue_many(Ticket ticket, Tuple batch, Done done);
  /// OUT_OF_RANGE "… is closed and has insufficient elements …".
  void dequeue(Ticket ticket, Done done);
  /// `n` elements as one batch; fewer if the queue is closed and `up_to` says so, at least one.
  void dequeue_many(Ticket ticket, std::int64_t n, bool up_to, Done done);
  /// Refuses later puts. With `cancel_pending` ends the waiting ones, too, at once; without it
  /// waits its turn among them. CANCELLED if the queue is closed already.
  void close(Ticket ticket, bool cancel_pending, Done done);
  /// The request will not be answered, and what it had taken goes back. False if it was answered,
  /// is being answered or is not known: then nothing happens.
  bool withdraw(Ticket ticket);

  std::int64_t size() const;
  bool is_closed() const;
  std::string description() const override;
  std::size_t bytes() const override;

private:
  enum class Progress { none, some, complete };
  struct Request {
    Ticket ticket = 0;
    Done done = {};
    // Puts: the element, or the batch and how much of it is in.
    Tuple tensors = {};
    bool is_batch = false, closes = false;
    std::int64_t next = 0;
    // Takes.
    std::int64_t wanted = 1;
    bool up_to = false;
    std::vector<Tuple> taken = {};
  };
  struct Answer {
    Done done;
    Result<Tuple> result;
  };

  void submit(std::deque<Request>& to, Request request);
  void serve(std::vector<Answer>& answers);
  Progress try_put(Request& request, std::vector<Answer>& answers);
  Progress try_take(Request& request, std::vector<Answer>& answers);
  std::int64_t available() const;
  void give_back(Request& request);
  Result<Tuple> element_of(const Request& request);
  Result<Tuple> batch_of(std::vector<Tuple>& taken, std::int64_t n);
  Status check_tuple(const Tuple& tuple, bool is_batch) const;
  Status check_count_and_types(const Tuple& tuple) const;
  std::string_view kind_in_refusals(bool of_batch) const;
  Status closed() const;

  const QueueSpec spec_;
  const std::string name_;
  Allocator& memory_;
  mutable std::mutex lock_;
  std::unique_ptr<QueueElements> elements_;
  std::deque<Request> puts_, takes_;
  Ticket last_ticket_ = 0;
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

} // namespace troupe
