// FaultyStream: a connection that gives and takes a few bytes at a time, is not ready now and then,
// and breaks when it is told to. For tests of whoever uses a ByteStream.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <random>
#include <utility>

#include "net/data/byte_stream.hpp"

namespace troupe::data {

struct StreamFaults {
  unsigned seed = 1;
  std::size_t most_bytes = 1 << 20; ///< of one call
  int not_ready_in = 4;             ///< of so many calls one says later; 0: none
  std::size_t breaks_after = 0;     ///< bytes, both ways; 0: never
};

class FaultyStream final : public ByteStream {
public:
  FaultyStream(std::unique_ptr<ByteStream> below, StreamFaults faults)
      : below_(std::move(below)), faults_(faults), sending_(faults.seed),
        receiving_(faults.seed + 1) {}
  using ByteStream::receive;
  using ByteStream::send;

  int fd() const override { return below_->fd(); }
  Moved send(std::span<const iovec> from) override {
    return some(sending_, from, [&](std::span<const iovec> part) { return below_->send(part); });
  }
  Moved receive(std::span<const iovec> into) override {
    return some(receiving_, into,
                [&](std::span<const iovec> part) { return below_->receive(part); });
  }
  Moved send_passing(std::span<const std::byte> from, int passed) override {
    return below_->send_passing(from, passed);
  }
  Moved receive_passing(std::span<std::byte> into, Fd& passed) override {
    return below_->receive_passing(into, passed);
  }
  Progress progress() const override { return below_->progress(); }
  void finish() override { below_->finish(); }

private:
  using Dice = std::mt19937;
  template <class Call>
  Moved some(Dice& dice, std::span<const iovec> pieces, Call call) {
    if (faults_.breaks_after != 0 && moved_ >= faults_.breaks_after)
      return {Moved::What::over, 0, ECONNRESET};
    if (faults_.not_ready_in != 0 &&
        std::uniform_int_distribution<>(1, faults_.not_ready_in)(dice) == 1)
      return {};
    std::size_t left = std::uniform_int_distribution<std::size_t>(1, faults_.most_bytes)(dice);
    std::array<iovec, 2> part{};
    std::size_t count = 0;
    for (const iovec& piece : pieces.first(std::min<std::size_t>(pieces.size(), part.size()))) {
      part[count++] = {piece.iov_base, std::min(piece.iov_len, left)};
      left -= part[count - 1].iov_len;
      if (left == 0)
        break;
    }
    const Moved moved = call(std::span<const iovec>(part.data(), count));
    moved_ += moved.bytes;
    return moved;
  }

  const std::unique_ptr<ByteStream> below_;
  const StreamFaults faults_;
  Dice sending_, receiving_;
  std::atomic<std::size_t> moved_ = 0; // both ways: a thread for each direction
};

/// For the options of a DataServer or DataClient.
inline StreamWrapper faulty(StreamFaults faults) {
  return [faults](std::unique_ptr<ByteStream> below) -> std::unique_ptr<ByteStream> {
    return std::make_unique<FaultyStream>(std::move(below), faults);
  };
}

} // namespace troupe::data
