// GuardedDoorman: takes connections at a port, also when the process has no file descriptor left.
//
// A connection that cannot be taken stays at the head of the kernel's queue. The loop would be told
// of it again and again, and would turn without a pause. Therefore one descriptor is held in
// reserve. It is given up for the connection, which is taken and closed at once, so that its other
// end knows.
#pragma once

#include <functional>
#include <string>

#include <caf/io/doorman.hpp>
#include <caf/io/network/acceptor_impl.hpp>
#include <caf/io/network/default_multiplexer.hpp>

namespace troupe {

/// On the network's thread only, but for the constructor.
class GuardedDoorman final : public caf::io::doorman {
public:
  using Report = std::function<void(const std::string& sentence)>;
  /// For a socket that listens. `report` hears of each connection that was refused.
  GuardedDoorman(caf::io::network::default_multiplexer& loop,
                 caf::io::network::native_socket socket, Report report);

  bool new_connection() override;
  void graceful_shutdown() override;
  void launch() override;
  std::string addr() const override;
  std::uint16_t port() const override;
  void add_to_loop() override;
  void remove_from_loop() override;

private:
  /// Accepts connections in the way that CAF asks for.
  class Door {
  public:
    explicit Door(Report report);
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;
    ~Door();
    /// `out` is the connection's socket, or -1 if there is none to be had.
    bool try_accept(caf::io::network::native_socket& out, caf::io::network::native_socket listener);

  private:
    void turn_away(int listener, int why);
    Report report_;
    int reserve_;
  };

  caf::io::network::acceptor_impl<Door> acceptor_;
};

} // namespace troupe
