// One data connection of a DataClient.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "net/data/byte_stream.hpp"
#include "net/data/data_client.hpp"
#include "net/data/event_loop.hpp"
#include "net/data/frames.hpp"
#include "net/data/internal/unasked_tensors.hpp"
#include "net/ucx/ucx_worker.hpp"

namespace troupe::data {

struct PendingPull {
  BufferRef into;
  std::uint64_t bytes = 0, arrived = 0;
  std::int64_t since_us = 0;
  DataLink::Pulled done;
  // By UCX: how much is on its way or has come, and whether the sender has said that it was all.
  std::uint64_t begun = 0;
  bool is_confirmed = false;
};

/// Where the bytes of an open connection belong: a frame, then the bytes of the piece that it
/// speaks of.
class PieceReader {
public:
  /// Room for the rest of a piece, and for the frame behind it in the same call. How many of
  /// `parts`.
  std::size_t parts(std::array<iovec, 2>& parts);
  /// So many bytes have come where parts() said.
  void took(std::uint64_t bytes);
  /// The number of the tensor whose last piece is whole, once; 0: none.
  std::uint64_t take_finished() { return left_ == 0 ? std::exchange(finishing_, 0) : 0; }
  /// The next frame, once, when it is whole.
  std::optional<Piece> take_frame();
  /// Of the frame taken last: its piece's bytes go to `to`, or nowhere if that is null.
  /// `finishing`: the number of the tensor that is whole with them, or 0.
  void expect(std::byte* to, std::uint64_t bytes, std::uint64_t finishing) {
    at_ = to;
    left_ = bytes;
    finishing_ = finishing;
  }

private:
  std::array<std::byte, piece_bytes> frame_;
  std::size_t frame_have_ = 0;
  std::byte* at_ = nullptr;
  std::uint64_t left_ = 0;
  std::uint64_t finishing_ = 0;
  std::vector<std::byte> dropped_; // where bytes go that nobody keeps
};

/// The opening on its way out, then the acceptance on its way in.
struct Greeting {
  std::vector<std::byte> bytes; ///< what is left of the one, what has come of the other
  bool is_said = false;
  Fd passed; ///< with the acceptance
};

/// A path by UCX stands only when its sender has been heard there: until then `opened_` is kept.
enum class Phase : std::uint8_t { connecting, greeting, open, ended };

class Link;

} // namespace troupe::data

namespace troupe {

/// What the links of a client share.
struct DataClient::Impl {
  DataClientOptions options;
  std::shared_ptr<PathBook> book;
  std::unordered_set<std::shared_ptr<data::Link>> links; // of the loop's thread
  std::int64_t trimmed_us = steady_micros();
  Counter& counted = counter("data_connections_out");
  std::unique_ptr<EventLoop> loop;

  void tick();
};

} // namespace troupe

namespace troupe::data {

// What other threads touch lies under the lock; the rest is of the loop's thread.
class Link final : public DataLink, public std::enable_shared_from_this<Link> {
public:
  Link(DataClient::Impl& client, DataEndpoint endpoint, std::shared_ptr<SharedRegion> region,
       std::function<void(Status)> opened, std::function<void(Status)> broken)
      : client_(client), endpoint_(std::move(endpoint)), region_(std::move(region)),
        opened_(std::move(opened)), broken_(std::move(broken)),
        record_(client.book->record(PathBook::Direction::from, endpoint_.task)),
        since_us_(steady_micros()), moved_us_(since_us_), unasked_(endpoint_.lent) {}

  TensorPath path() const override { return endpoint_.path; }
  const std::shared_ptr<SharedRegion>& region() const override { return region_; }

  void pull(std::uint64_t ticket, std::uint64_t bytes, BufferRef into, std::uint64_t offset,
            Pulled done) override;
  std::uint64_t lane() const override { return lane_of(endpoint_.token); }
  void claim(std::uint64_t ticket, std::uint64_t bytes, Claimed done) override;
  void close(Status why) override;

  // Of the loop's thread.
  void start();
  void end(const Status& why, bool by_us = false);
  void check(std::int64_t now_us);
  void trim() {
    if (region_)
      region_->trim();
  }

private:
  bool is_local() const { return endpoint_.path == TensorPath::shared_memory; }
  bool by_ucx() const { return endpoint_.path == TensorPath::ucx; }
  Status broke(std::string_view why) const {
    return unavailable(str_cat("the ", to_string(endpoint_.path), " path from ", endpoint_.task,
                               " broke: ", why))
        .with_origin({"", "", endpoint_.task, 0});
  }
  // The peer's process or its network has gone, of which others say more: derived. `error` is an
  // errno, 0 for an orderly end.
  Status lost(int error) const {
    bool is_closed = error == 0 || error == ECONNRESET || error == EPIPE;
    return lost(is_closed ? "it closed its connection" : std::strerror(error));
  }
  Status lost(std::string_view why) const {
    return broke(str_cat(why, "; if its process has ended, look at its log and start it again"))
        .as_derived();
  }
  void on_event(std::uint32_t events);
  void greet();
  void say_greeting();
  void read_acceptance();
  void flush();
  void read_pieces();
  bool take_piece(const Piece& piece);
  bool take_unasked(const Piece& piece);
  void piece_ended(std::uint64_t number);
  void stands();
  Status make_worker();
  bool take_piece_by_ucx(const Piece& piece);
  void meet();
  std::optional<UcxWorker::Arrival> arriving(std::string_view header, std::uint64_t bytes);
  void arrived(std::uint64_t number, std::uint64_t bytes, const Status& status);
  void turn();
  void do_as(UnaskedTensors::Effect effect, std::uint64_t ticket);
  bool say(const Request& request);
  void flush_soon();
  bool is_owed() const { return !pulls_.empty() || unasked_.is_owed(); }
  void drop_unclaimed(std::int64_t now_us);
  void finish(std::uint64_t number, const Status& status);
  void update_watch();
  Status refusal(Code code) const;

  DataClient::Impl& client_;
  const DataEndpoint endpoint_;
  const std::shared_ptr<SharedRegion> region_;
  std::function<void(Status)> opened_, broken_;
  const std::shared_ptr<PathRecord> record_;
  const std::int64_t since_us_;
  std::atomic<std::int64_t> moved_us_;
  Progress progress_;

  std::mutex lock_;
  Phase phase_ = Phase::connecting;
  Status ended_;
  std::unique_ptr<ByteStream> stream_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, PendingPull> pulls_; // by number
  std::vector<std::byte> out_;                 // requests that the socket did not take yet
  UnaskedTensors unasked_;

  std::uint32_t events_ = 0;
  Greeting greeting_;
  PieceReader reader_;
  std::shared_ptr<UcxWorker> worker_;
  std::string peers_worker_; // its address
};

} // namespace troupe::data
