// Reader: takes names of files from a queue, and gives the records of the files to steps, one file
// after the other.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/tensor.hpp"
#include "devices/host/compute_pool.hpp"
#include "devices/resource/queue.hpp"
#include "devices/resource/resource_manager.hpp"
#include "kernels/io/internal/file_records.hpp"

namespace troupe::io {

/// Steps are served in the order in which they ask. Nobody's thread waits for the queue; files are
/// read on compute threads. Any thread.
///
///   idle ──a step asks──▶ reading ──the file is over──▶ asking the queue ──a name comes──▶ reading
///     ▲                      └──the step is answered──▶ the next step, or idle              …
///     └──────────────────────────────────────────────────────┘
///
/// A step that is cancelled loses nothing: a name that has come meanwhile, and records that were
/// read for it, go to the next one.
class Reader final : public Resource, public std::enable_shared_from_this<Reader> {
public:
  struct Spec {
    std::string kind; ///< "TFRecordReader"
    std::string node; ///< of whoever made it, for messages
    OpenRecords open;
    bool has_state = false; ///< whether its state can be saved
  };
  using Ticket = std::uint64_t;
  using Done = std::function<void(Result<std::vector<Tensor>>)>;

  /// `memory` and `threads` outlive it.
  Reader(Spec spec, Allocator& memory, ComputePool& threads)
      : spec_(std::move(spec)), memory_(memory), threads_(threads) {}

  /// Names a request; it can be withdrawn by it.
  Ticket ticket();
  /// The next record, as the two scalars key and value. `done` is called once, later, from any
  /// thread.
  void read(Ticket ticket, std::shared_ptr<Queue> queue, Done done);
  /// Up to `most` records of one file, at least one if `most` is above 0, as two vectors.
  void read_up_to(Ticket ticket, std::shared_ptr<Queue> queue, std::int64_t most, Done done);
  /// The request will not be answered. Nothing if it was answered.
  void withdraw(Ticket ticket);
  /// What keeps the request from its answer, for people: "the name of a file, which an empty queue
  /// has not given it".
  std::string waits_for(Ticket ticket) const;

  std::int64_t records_produced() const { return produced_; }
  std::int64_t files_completed() const { return finished_; }
  /// Forgets the file that is being read, and what was counted.
  void reset();
  /// A ReaderBaseState message. UNIMPLEMENTED for kinds that cannot go on within a file.
  Result<std::string> state() const;
  /// INVALID_ARGUMENT for what is no state; the reader is reset then.
  Status restore(const std::string& state);

  std::string description() const override;

private:
  struct Request {
    Ticket ticket = 0;
    std::shared_ptr<Queue> queue;
    std::int64_t most = 1;
    bool is_batch = false;
    Done done;
    bool withdrawn = false;
    std::vector<Record> records = {};
  };
  using Outcome = Result<std::vector<Tensor>>;
  class Charge;

  void submit(Request request);
  void schedule();
  void work();
  Request* front();
  /// Reads what the request is to have; nothing while the name of a file is missing.
  std::optional<Status> serve(Request& request, Charge& charge);
  /// The request is over: its records go to whoever asked, or back if nobody wants them.
  void end(Request& request, Status status, Charge& charge);
  /// One more record, and whether its file is over; nothing while a name is missing.
  Result<std::optional<FileRecords::Got>> next(Record& record, Charge& charge);
  Result<bool> begin_file();
  bool ask(Request& request);
  void arrived(Result<Queue::Tuple> name);
  Outcome tensors_of(Request& request, Charge& charge);
  bool is_withdrawn(const Request& request) const;
  std::string name() const;

  const Spec spec_;
  Allocator& memory_;
  ComputePool& threads_;

  mutable std::mutex lock_;     // of what follows
  std::list<Request> requests_; ///< the first is served next, or is being served
  bool is_busy_ = false;        ///< a thread works, or will when a name comes
  Ticket last_ticket_ = 0;
  std::shared_ptr<Queue> asked_; ///< while a name is asked for
  Queue::Ticket asked_as_ = 0;
  bool parked_ = false;                      ///< the name's arrival goes on with the work
  std::optional<Result<Queue::Tuple>> name_; ///< has come, and is not yet used

  // Of what is being read: held while a record is.
  mutable std::mutex file_lock_;
  std::unique_ptr<FileRecords> records_; ///< null: the next file is to begin
  std::string file_;
  std::deque<Record> returned_; ///< read for steps that were cancelled
  std::atomic<std::int64_t> started_{0}, finished_{0}, produced_{0};
};

} // namespace troupe::io
