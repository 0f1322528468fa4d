#include "kernels/io/internal/reader.hpp"

#include <algorithm>
#include <utility>

#include "core/base/strings.hpp"
#include "storage/message/message.hpp"

namespace troupe::io {
namespace {

/// ReaderBaseState.
struct Counts {
  std::int64_t started = 0, finished = 0, produced = 0;
  std::string file;

  std::string to_message() const {
    MessageWriter out;
    const std::int64_t numbers[] = {started, finished, produced};
    for (int i = 0; i < 3; ++i)
      if (numbers[i] != 0)
        out.signed_integer(i + 1, numbers[i]);
    if (!file.empty())
      out.bytes(4, file);
    return out.take();
  }
  static std::optional<Counts> from_message(std::string_view message) {
    Counts out;
    MessageReader in(message);
    while (in.next()) {
      if (in.field() == 1)
        out.started = in.signed_integer();
      else if (in.field() == 2)
        out.finished = in.signed_integer();
      else if (in.field() == 3)
        out.produced = in.signed_integer();
      else if (in.field() == 4)
        out.file = in.bytes();
    }
    return in.ok() ? std::optional(std::move(out)) : std::nullopt;
  }
  /// As protobuf prints it.
  std::string to_string() const {
    std::string out;
    if (started != 0)
      str_append(out, "work_started: ", started, "\n");
    if (finished != 0)
      str_append(out, "work_finished: ", finished, "\n");
    if (produced != 0)
      str_append(out, "num_records_produced: ", produced, "\n");
    if (!file.empty())
      str_append(out, "current_work: ", str_quote(file), "\n");
    return out;
  }
};

Result<std::string> name_in(const Queue::Tuple& tuple) {
  if (tuple.size() != 1)
    return invalid_argument("Expected single component queue");
  if (tuple[0].dtype() != DType::string)
    return invalid_argument("Expected queue with single string component");
  if (tuple[0].num_elements() != 1)
    return invalid_argument("Expected to dequeue a one-element string tensor");
  return tuple[0].data<std::string>()[0];
}

} // namespace

/// Memory that is counted while records are not yet in tensors, which count theirs.
class Reader::Charge {
public:
  explicit Charge(Allocator& account) : account_(account) {}
  Charge(const Charge&) = delete;
  ~Charge() { release(); }
  Status add(std::size_t bytes) {
    if (!account_.charge(bytes))
      return resource_exhausted(str_cat("allocator '", account_.name(), "' has no room for ", bytes,
                                        " more bytes of a file's record: ", account_.refusal()));
    bytes_ += bytes;
    return {};
  }
  void release() {
    account_.discharge(bytes_);
    bytes_ = 0;
  }

private:
  Allocator& account_;
  std::size_t bytes_ = 0;
};

std::string Reader::name() const {
  return str_cat(spec_.kind, " '", spec_.node, "'");
}

Reader::Ticket Reader::ticket() {
  std::scoped_lock guard(lock_);
  return ++last_ticket_;
}

void Reader::read(Ticket ticket, std::shared_ptr<Queue> queue, Done done) {
  submit({.ticket = ticket, .queue = std::move(queue), .done = std::move(done)});
}

void Reader::read_up_to(Ticket ticket, std::shared_ptr<Queue> queue, std::int64_t most, Done done) {
  submit({.ticket = ticket,
          .queue = std::move(queue),
          .most = most,
          .is_batch = true,
          .done = std::move(done)});
}

void Reader::submit(Request request) {
  std::scoped_lock guard(lock_);
  requests_.push_back(std::move(request));
  if (!std::exchange(is_busy_, true))
    schedule();
}

void Reader::schedule() {
  threads_.submit([self = shared_from_this()] { self->work(); });
}

// One thread at a time is in here: is_busy_ is its, until it gives it up or hands it on.
void Reader::work() {
  while (Request* request = front()) {
    Charge charge(memory_);
    if (std::optional<Status> status = serve(*request, charge)) {
      end(*request, *std::move(status), charge);
      return;
    }
    if (!ask(*request))
      return;
  }
}

void Reader::end(Request& request, Status status, Charge& charge) {
  std::list<Request> ended; // from now on it cannot be withdrawn
  bool withdrawn = false;
  {
    std::scoped_lock guard(lock_);
    withdrawn = request.withdrawn;
    if (name_ && !name_->ok())
      name_.reset(); // it was told, or nobody wants to know
    ended.splice(ended.end(), requests_, requests_.begin());
  }
  if (withdrawn) {
    std::scoped_lock guard(file_lock_);
    returned_.insert(returned_.begin(), std::make_move_iterator(request.records.begin()),
                     std::make_move_iterator(request.records.end()));
  } else {
    request.done(status.ok() ? tensors_of(request, charge) : Outcome(std::move(status)));
  }
  ended.clear();
  // The next one's turn comes behind other work.
  std::scoped_lock guard(lock_);
  is_busy_ = !requests_.empty();
  if (is_busy_)
    schedule();
}

Reader::Request* Reader::front() {
  std::scoped_lock guard(lock_);
  return requests_.empty() ? nullptr : &requests_.front();
}

bool Reader::is_withdrawn(const Request& request) const {
  std::scoped_lock guard(lock_);
  return request.withdrawn;
}

std::optional<Status> Reader::serve(Request& request, Charge& charge) {
  while (std::ssize(request.records) < request.most && !is_withdrawn(request)) {
    Record record;
    auto got = next(record, charge);
    if (!got.ok())
      return got.status();
    if (!*got) {
      if (!request.records.empty()) // the reader was reset meanwhile
        break;
      return std::nullopt;
    }
    if ((*got)->record)
      request.records.push_back(std::move(record));
    if ((*got)->end && !request.records.empty())
      break;
  }
  return Status{};
}

Result<std::optional<FileRecords::Got>> Reader::next(Record& record, Charge& charge) {
  using Got = std::optional<FileRecords::Got>;
  std::scoped_lock guard(file_lock_);
  if (!returned_.empty()) {
    record = std::move(returned_.front());
    returned_.pop_front();
    return Got(FileRecords::Got{.record = true});
  }
  if (!records_) {
    TROUPE_ASSIGN(const bool has_begun, begin_file());
    if (!has_begun)
      return Got();
  }
  TROUPE_TRY(charge.add(sizeof(Record) + file_.size()));
  TROUPE_ASSIGN(const auto got,
                records_->next(record, [&](std::size_t bytes) { return charge.add(bytes); }));
  if (got.record)
    ++produced_;
  if (got.end) {
    records_.reset();
    finished_ = started_.load();
  }
  return Got(got);
}

/// False while its name is missing.
Result<bool> Reader::begin_file() {
  std::optional<Result<Queue::Tuple>> name;
  {
    std::scoped_lock guard(lock_);
    name.swap(name_);
  }
  if (!name)
    return false;
  TROUPE_ASSIGN(const Queue::Tuple tuple, *std::move(name));
  TROUPE_ASSIGN(file_, name_in(tuple));
  TROUPE_ASSIGN(records_, spec_.open(file_));
  ++started_;
  return true;
}

/// Whether the work goes on at once.
bool Reader::ask(Request& request) {
  const Queue::Ticket ticket = request.queue->ticket();
  {
    std::scoped_lock guard(lock_);
    if (request.withdrawn)
      return true;
    asked_ = request.queue;
    asked_as_ = ticket;
  }
  request.queue->dequeue(ticket, [self = shared_from_this()](Result<Queue::Tuple> name) {
    self->arrived(std::move(name));
  });
  std::unique_lock guard(lock_);
  if (!asked_)
    return true;
  parked_ = true;
  if (!request.withdrawn)
    return false;
  // It was withdrawn before the queue knew of the request.
  const std::shared_ptr<Queue> queue = asked_;
  guard.unlock();
  if (queue->withdraw(ticket))
    arrived(cancelled("the request was withdrawn"));
  return false;
}

void Reader::arrived(Result<Queue::Tuple> name) {
  bool goes_on = false;
  std::shared_ptr<Queue> asked; // destroyed outside the lock
  {
    std::scoped_lock guard(lock_);
    // An error is that of the request which asked.
    if (name.ok() || !requests_.front().withdrawn)
      name_ = std::move(name);
    asked.swap(asked_);
    goes_on = std::exchange(parked_, false);
  }
  if (goes_on)
    schedule();
}

void Reader::withdraw(Ticket ticket) {
  std::list<Request> gone; // its callback is destroyed outside the lock
  std::shared_ptr<Queue> queue;
  Queue::Ticket asked_as = 0;
  {
    std::scoped_lock guard(lock_);
    const auto found = std::ranges::find(requests_, ticket, &Request::ticket);
    if (found == requests_.end())
      return;
    if (found != requests_.begin()) {
      gone.splice(gone.end(), requests_, found);
      return;
    }
    found->withdrawn = true;
    queue = asked_;
    asked_as = asked_as_;
  }
  if (queue && queue->withdraw(asked_as))
    arrived(cancelled("the request was withdrawn"));
}

Reader::Outcome Reader::tensors_of(Request& request, Charge& charge) {
  const auto count = static_cast<std::int64_t>(request.records.size());
  const Shape shape = request.is_batch ? Shape{count} : Shape{};
  TROUPE_ASSIGN(Tensor keys, Tensor::allocate(memory_, DType::string, shape));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(memory_, DType::string, shape));
  charge.release();
  for (std::size_t i = 0; i < request.records.size(); ++i) {
    keys.mutable_data<std::string>()[i] = std::move(request.records[i].key);
    values.mutable_data<std::string>()[i] = std::move(request.records[i].value);
  }
  TROUPE_TRY(keys.settle(memory_));
  TROUPE_TRY(values.settle(memory_));
  return std::vector<Tensor>{std::move(keys), std::move(values)};
}

std::string Reader::waits_for(Ticket ticket) const {
  std::scoped_lock guard(lock_);
  const auto found = std::ranges::find(requests_, ticket, &Request::ticket);
  if (found == requests_.end())
    return "its turn";
  if (found != requests_.begin())
    return str_cat("its turn: other steps read from ", name());
  if (asked_)
    return str_cat("the name of a file from queue '", asked_->name(), "' (", asked_->description(),
                   ")");
  return str_cat("records of ", name());
}

void Reader::reset() {
  std::unique_ptr<FileRecords> records;
  std::scoped_lock guard(file_lock_);
  records.swap(records_);
  file_.clear();
  returned_.clear();
  started_ = finished_ = produced_ = 0;
}

Result<std::string> Reader::state() const {
  if (!spec_.has_state)
    return unimplemented("Reader SerializeState");
  std::scoped_lock guard(file_lock_);
  return Counts{.started = started_, .finished = finished_, .produced = produced_, .file = file_}
      .to_message();
}

Status Reader::restore(const std::string& state) {
  const auto restored = [&]() -> Status {
    if (!spec_.has_state)
      return unimplemented("Reader RestoreState");
    const auto counts = Counts::from_message(state);
    if (!counts)
      return invalid_argument(
          str_cat("Could not parse state for ", name(), ": ", str_quote(state)));
    if (counts->started < 0 || counts->finished < 0 || counts->produced < 0)
      return invalid_argument(str_cat("Unexpected negative value when restoring in ", name(), ": ",
                                      counts->to_string()));
    if (counts->started > counts->finished)
      return invalid_argument(str_cat("Inconsistent work started vs. finished when restoring in ",
                                      name(), ": ", counts->to_string()));
    reset();
    std::scoped_lock guard(file_lock_);
    started_ = counts->started;
    finished_ = counts->finished;
    produced_ = counts->produced;
    file_ = counts->file;
    return {};
  }();
  if (!restored.ok())
    reset();
  return restored;
}

std::string Reader::description() const {
  return str_cat(spec_.kind, ", ", produced_.load(), " records of ", started_.load(), " files");
}

} // namespace troupe::io
