// WireStream: the bytes of one connection between nodes, with as few system calls as they need.
//
// The reader asks for a header, then for its payload. CAF's own stream makes a system call for each
// of the two, and one more to learn that nothing is left. Here a read takes all bytes that have
// come, up to a few kilobytes more than the reader wants, and the next pieces are cut from these. A
// read that is not filled was the last. Written bytes are sent at once, as long as nothing waits
// before them.
//
// A payload larger than the bytes read ahead is read to where it belongs, so it is copied no more
// than by CAF.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <caf/intrusive_ptr.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/event_handler.hpp>
#include <caf/io/network/stream_manager.hpp>

#include "net/data/byte_stream.hpp"

namespace troupe {

/// On the network's thread only, but for the constructor. Part of the manager that it reads for,
/// which it keeps alive while the loop knows it.
class WireStream final : public caf::io::network::event_handler {
public:
  using Manager = caf::io::network::stream_manager;
  static constexpr std::size_t ahead_bytes = 8 * 1024; ///< read beyond what is wanted, at most
  /// More than that is left to the event loop, piece by piece.
  static constexpr std::size_t at_once_bytes = 64 * 1024;
  /// The capacity that a buffer may keep once its bytes are sent.
  static constexpr std::size_t kept_bytes = 1024 * 1024;

  /// `bytes` is a layer between the connection and the wire; without it the socket is used as it
  /// is.
  WireStream(caf::io::network::default_multiplexer& loop, caf::io::network::native_socket socket,
             std::unique_ptr<data::ByteStream> bytes = nullptr);

  /// From now on what comes is given to `manager`.
  void start(Manager& manager);
  /// The next `consume` of the manager gets so many bytes, in `read_buffer`.
  void expect(std::size_t bytes) { wanted_ = bytes; }
  std::vector<char>& read_buffer() { return piece_; }
  /// What is appended here is sent by the next `flush`.
  std::vector<char>& write_buffer() { return pending_; }
  void flush(Manager& manager);

  void handle_event(caf::io::network::operation operation) override;
  void removed_from_loop(caf::io::network::operation operation) override;
  void graceful_shutdown() override; ///< once everything is sent

private:
  void read();
  bool deliver(Manager& manager); // false: nothing more is to be read
  void send_now();
  void send_waiting();

  std::unique_ptr<data::ByteStream> bytes_;

  // Reading. Of the piece that is wanted the first `collected_` bytes are in `piece_`; what follows
  // it is in `ahead_`, from `first_` to `last_`.
  std::size_t max_reads_; // in a row, while other connections wait
  caf::intrusive_ptr<Manager> reader_;
  std::size_t wanted_ = 0;
  std::size_t collected_ = 0;
  std::vector<char> piece_;
  std::unique_ptr<char[]> ahead_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;

  // Writing. `sending_` goes through the event loop while `state_.writing`; `pending_` follows.
  caf::intrusive_ptr<Manager> writer_;
  std::vector<char> sending_;
  std::size_t sent_ = 0;
  std::vector<char> pending_;
};

} // namespace troupe
