#include "devices/resource/queue.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"

namespace troupe {
namespace {

std::size_t bytes_of(const Queue::Tuple& tuple) {
  std::size_t sum = 0;
  for (const Tensor& tensor : tuple)
    sum += tensor.byte_size();
  return sum;
}

/// [rows] + shape
PartialShape batch_shape(std::int64_t rows, const PartialShape& shape) {
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return PartialShape(std::move(dims));
}

/// The smallest shape that all rows fit in; unknown dimensions of `shape` are as large as need be.
Result<Shape> common_shape(const PartialShape& shape, std::span<const Tensor> rows) {
  std::vector<std::int64_t> dims = shape.dims();
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] >= 0)
      continue;
    dims[k] = 0;
    for (const Tensor& row : rows)
      dims[k] = std::max(dims[k], row.shape()[static_cast<int>(k)]);
  }
  return Shape::make(dims);
}

} // namespace

Queue::Queue(QueueSpec spec, std::string name, Allocator& memory)
    : spec_(std::move(spec)), name_(std::move(name)), memory_(memory),
      elements_(make_queue_elements(spec_)) {}

Status Queue::check_same(const QueueSpec& other, std::string_view op) const {
  const std::string queue = str_cat("Shared queue '", name_, "' has ");
  if (other.op != spec_.op)
    return invalid_argument(str_cat("Expected ", spec_.op, ", found ", op));
  if (other.capacity != spec_.capacity)
    return invalid_argument(str_cat(queue, "capacity ", spec_.capacity,
                                    " but requested capacity was ", other.capacity));
  if (other.types != spec_.types)
    return invalid_argument(str_cat(queue, "component types ", names_of(spec_.types),
                                    " but requested component types were ", names_of(other.types)));
  if (other.shapes != spec_.shapes)
    return invalid_argument(str_cat(queue, "component shapes [", str_join(spec_.shapes, ", "),
                                    "] but requested component shapes were [",
                                    str_join(other.shapes, ", "), "]"));
  if (other.min_after_dequeue != spec_.min_after_dequeue)
    return invalid_argument(str_cat(queue, "min_after_dequeue ", spec_.min_after_dequeue,
                                    " but requested min_after_dequeue was ",
                                    other.min_after_dequeue, "."));
  const bool any_seed = other.seed == 0 && other.seed2 == 0;
  if (!any_seed && (other.seed != spec_.seed || other.seed2 != spec_.seed2))
    return invalid_argument(str_cat(queue, "random seeds (", spec_.seed, ", ", spec_.seed2,
                                    ") but requested seeds are (", other.seed, ", ", other.seed2,
                                    ")."));
  return {};
}

Queue::Ticket Queue::ticket() {
  std::scoped_lock guard(lock_);
  return ++last_ticket_;
}

Status Queue::check_count_and_types(const Tuple& tuple) const {
  if (tuple.size() != spec_.types.size())
    return invalid_argument(str_cat("Wrong number of components in tuple. Expected ",
                                    spec_.types.size(), ", got ", tuple.size()));
  for (std::size_t i = 0; i < tuple.size(); ++i)
    if (tuple[i].dtype() != spec_.types[i])
      return invalid_argument(str_cat("Type mismatch in tuple component ", i, ". Expected ",
                                      to_string(spec_.types[i]), ", got ",
                                      to_string(tuple[i].dtype())));
  return {};
}

Status Queue::check_tuple(const Tuple& tuple, bool is_batch) const {
  TROUPE_TRY(check_count_and_types(tuple));
  for (std::size_t i = 0; is_batch && i < tuple.size(); ++i)
    if (tuple[i].shape().rank() == 0)
      return invalid_argument(str_cat("All input tensors must have at least one dimension, but "
                                      "component ",
                                      i, " is a scalar"));
  const std::int64_t rows = is_batch && !tuple.empty() ? tuple[0].shape()[0] : 0;
  for (std::size_t i = 0; i < spec_.shapes.size(); ++i) {
    const PartialShape expected = is_batch ? batch_shape(rows, spec_.shapes[i]) : spec_.shapes[i];
    if (!expected.is_compatible_with(PartialShape(tuple[i].shape())))
      return invalid_argument(str_cat("Shape mismatch in tuple component ", i, ". Expected ",
                                      expected, ", got ", tuple[i].shape()));
  }
  for (std::size_t i = 1; is_batch && i < tuple.size(); ++i)
    if (tuple[i].shape()[0] != rows)
      return invalid_argument(str_cat("All input tensors must have the same size in the 0th "
                                      "dimension. Component ",
                                      i, " has ", tuple[i].shape()[0], ", and should have ", rows));
  return {};
}

void Queue::enqueue(Ticket ticket, Tuple element, Done done) {
  if (Status status = check_tuple(element, false); !status.ok())
    return done(status);
  submit(puts_, {.ticket = ticket, .done = std::move(done), .tensors = std::move(element)});
}

void Queue::enqueue_many(Ticket ticket, Tuple batch, Done done) {
  if (Status status = check_tuple(batch, true); !status.ok())
    return done(status);
  if (batch[0].shape()[0] == 0)
    return done(Tuple{});
  submit(
      puts_,
      {.ticket = ticket, .done = std::move(done), .tensors = std::move(batch), .is_batch = true});
}

void Queue::dequeue(Ticket ticket, Done done) {
  submit(takes_, {.ticket = ticket, .done = std::move(done)});
}

void Queue::dequeue_many(Ticket ticket, std::int64_t n, bool up_to, Done done) {
  if (spec_.shapes.empty())
    return done(invalid_argument(str_cat(spec_.op,
                                         "'s DequeueMany and DequeueUpTo require the components to "
                                         "have specified shapes.")));
  if (n < 0)
    return done(invalid_argument(str_cat("DequeueManyOp requested ", n, " < 0 elements")));
  if (n == 0) {
    std::vector<Tuple> none;
    return done(batch_of(none, 0));
  }
  submit(
      takes_,
      {.ticket = ticket, .done = std::move(done), .is_batch = true, .wanted = n, .up_to = up_to});
}

void Queue::close(Ticket ticket, bool cancel_pending, Done done) {
  if (!cancel_pending)
    return submit(puts_, {.ticket = ticket, .done = std::move(done), .closes = true});
  std::vector<Answer> answers;
  {
    std::scoped_lock guard(lock_);
    closed_ = true;
    for (Request& request : std::exchange(puts_, {}))
      answers.push_back({std::move(request.done), cancelled("Enqueue operation was cancelled")});
    serve(answers);
  }
  answers.push_back({std::move(done), Tuple{}});
  for (Answer& answer : answers)
    answer.done(std::move(answer.result));
}

bool Queue::withdraw(Ticket ticket) {
  std::vector<Answer> answers;
  std::deque<Request> gone; // their callbacks are destroyed outside the lock
  {
    std::scoped_lock guard(lock_);
    for (std::deque<Request>* requests : {&puts_, &takes_})
      for (auto it = requests->begin(); it != requests->end();) {
        if (it->ticket != ticket) {
          ++it;
          continue;
        }
        give_back(*it);
        gone.push_back(std::move(*it));
        it = requests->erase(it);
      }
    serve(answers);
  }
  for (Answer& answer : answers)
    answer.done(std::move(answer.result));
  return !gone.empty();
}

void Queue::submit(std::deque<Request>& to, Request request) {
  std::vector<Answer> answers;
  {
    std::scoped_lock guard(lock_);
    to.push_back(std::move(request));
    serve(answers);
  }
  for (Answer& answer : answers)
    answer.done(std::move(answer.result));
}

// Serves the oldest put and the oldest take as long as either gets on.
void Queue::serve(std::vector<Answer>& answers) {
  const auto serve_one = [&](std::deque<Request>& requests, auto attempt) {
    bool moved = false;
    while (!requests.empty()) {
      const Progress progress = attempt(requests.front());
      moved = moved || progress != Progress::none;
      if (progress != Progress::complete)
        break;
      requests.pop_front();
    }
    return moved;
  };
  bool moved = true;
  while (moved) {
    moved = serve_one(puts_, [&](Request& request) { return try_put(request, answers); });
    moved |= serve_one(takes_, [&](Request& request) { return try_take(request, answers); });
  }
}

// TensorFlow's padding queue is a FIFOQueue in all but its batches.
std::string_view Queue::kind_in_refusals(bool of_batch) const {
  const bool is_padding = spec_.order == QueueSpec::Order::padding_fifo;
  return is_padding && !of_batch ? std::string_view("FIFOQueue") : spec_.op;
}

Status Queue::closed() const {
  return cancelled(str_cat(kind_in_refusals(false), " '", name_, "' is closed."));
}

Queue::Progress Queue::try_put(Request& request, std::vector<Answer>& answers) {
  const auto answer = [&](Result<Tuple> result) {
    answers.push_back({std::move(request.done), std::move(result)});
    return Progress::complete;
  };
  if (request.closes) {
    if (closed_)
      return answer(cancelled(str_cat("Queue '", name_, "' is already closed.")));
    closed_ = true;
    return answer(Tuple{});
  }
  if (closed_)
    return answer(closed());
  Progress progress = Progress::none;
  while (spec_.capacity < 0 || elements_->size() < spec_.capacity) {
    progress = Progress::some;
    Result<Tuple> element = element_of(request);
    if (!element.ok())
      return answer(element.status());
    bytes_ += bytes_of(*element);
    elements_->push(*std::move(element));
    ++request.next;
    if (!request.is_batch || request.next == request.tensors[0].shape()[0])
      return answer(Tuple{});
  }
  return progress;
}

/// What may be taken now.
std::int64_t Queue::available() const {
  const std::int64_t kept = closed_ ? 0 : spec_.min_after_dequeue;
  return std::max<std::int64_t>(elements_->size() - kept, 0);
}

Queue::Progress Queue::try_take(Request& request, std::vector<Answer>& answers) {
  const auto answer = [&](Result<Tuple> result) {
    answers.push_back({std::move(request.done), std::move(result)});
    return Progress::complete;
  };
  const auto missing = [&] { return request.wanted - std::ssize(request.taken); };
  if (closed_ && elements_->size() < missing()) {
    Status insufficient =
        out_of_range(str_cat(kind_in_refusals(request.is_batch), " '", name_,
                             "' is closed and has insufficient elements (requested ", missing(),
                             ", current size ", elements_->size(), ")"));
    give_back(request);
    if (!request.up_to || elements_->size() == 0)
      return answer(std::move(insufficient));
    request.wanted = std::min(request.wanted, elements_->size());
  }
  // Taken one by one as they come, the elements of a batch would not be in their order.
  if (spec_.order == QueueSpec::Order::priority && available() < missing())
    return Progress::none;
  Progress progress = Progress::none;
  while (missing() > 0 && available() > 0) {
    progress = Progress::some;
    request.taken.push_back(elements_->pop());
    bytes_ -= bytes_of(request.taken.back());
  }
  if (missing() > 0)
    return progress;
  if (!request.is_batch)
    return answer(std::move(request.taken.front()));
  return answer(batch_of(request.taken, request.wanted));
}

void Queue::give_back(Request& request) {
  for (; !request.taken.empty(); request.taken.pop_back()) {
    bytes_ += bytes_of(request.taken.back());
    elements_->put_back(std::move(request.taken.back()));
  }
}

Result<Queue::Tuple> Queue::element_of(const Request& request) {
  if (!request.is_batch)
    return request.tensors;
  Tuple out;
  for (const Tensor& tensor : request.tensors) {
    TROUPE_ASSIGN(Tensor row, row_of(tensor, request.next, memory_));
    out.push_back(std::move(row));
  }
  return out;
}

Result<Queue::Tuple> Queue::batch_of(std::vector<Tuple>& taken, std::int64_t n) {
  Tuple out;
  for (std::size_t i = 0; i < spec_.types.size(); ++i) {
    std::vector<Tensor> rows;
    rows.reserve(static_cast<std::size_t>(n));
    for (Tuple& element : taken)
      rows.push_back(std::move(element[i]));
    TROUPE_ASSIGN(const Shape shape, common_shape(spec_.shapes[i], rows));
    TROUPE_ASSIGN(Tensor batch, stack_rows(rows, spec_.types[i], shape, memory_));
    out.push_back(std::move(batch));
  }
  return out;
}

std::int64_t Queue::size() const {
  std::scoped_lock guard(lock_);
  return elements_->size();
}

bool Queue::is_closed() const {
  std::scoped_lock guard(lock_);
  return closed_;
}

std::string Queue::description() const {
  std::scoped_lock guard(lock_);
  return str_cat(spec_.op, " of ", names_of(spec_.types), ", ", elements_->size(),
                 spec_.capacity < 0 ? std::string() : str_cat(" of ", spec_.capacity), " elements",
                 closed_ ? ", closed" : "");
}

std::size_t Queue::bytes() const {
  std::scoped_lock guard(lock_);
  return bytes_;
}

} // namespace troupe
