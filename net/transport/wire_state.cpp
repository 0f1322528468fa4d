#include "net/transport/wire_state.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

bool leads_to(int fd, const std::string& host, std::uint16_t port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return false;
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohs(v4.sin_port) == port && ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text) &&
           host == text;
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return ntohs(v6.sin6_port) == port && ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text) &&
           host == text;
  }
  return false;
}

std::uint16_t local_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// This process's descriptors.
std::vector<int> descriptors() {
  std::vector<int> out;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (!folder)
    return out;
  while (const dirent* entry = ::readdir(folder.get())) {
    int fd = -1;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, fd).ptr == end)
      out.push_back(fd);
  }
  return out;
}

std::optional<tcp_info> info_of(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return std::nullopt;
  return info;
}

std::chrono::milliseconds round_trip(const tcp_info& info) {
  return std::chrono::milliseconds((info.tcpi_rtt + 4 * info.tcpi_rttvar) / 1000);
}

using Clock = std::chrono::steady_clock;

// How many segments with data a connection had got when it was last asked for, and since when. The
// kernel tells when the last byte came in order; on a slow link with losses that may be long ago
// while others come all the time.
class SegmentCounts {
public:
  std::chrono::milliseconds silent(const std::string& wire, const tcp_info& info) {
    auto now = Clock::now();
    auto in_order = now - std::chrono::milliseconds(info.tcpi_last_data_recv);
    std::scoped_lock guard(lock_);
    std::erase_if(seen_, [&](const auto& entry) { return now - entry.second.asked > forgotten; });
    auto it = seen_.try_emplace(wire, Seen{info.tcpi_data_segs_in, in_order, now}).first;
    Seen& seen = it->second;
    bool has_more = std::exchange(seen.segments, info.tcpi_data_segs_in) != info.tcpi_data_segs_in;
    // Of those that came since it was asked for some were in order, or none: then one came now.
    if (has_more && in_order + tick < seen.asked)
      seen.last = now;
    seen.last = std::max(seen.last, in_order);
    seen.asked = now;
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - seen.last);
  }

private:
  struct Seen {
    std::uint32_t segments;
    Clock::time_point last, asked;
  };
  static constexpr std::chrono::minutes forgotten{10};
  static constexpr std::chrono::milliseconds tick{10}; // of the kernel's clock, at most
  std::mutex lock_;
  std::map<std::string, Seen> seen_;
};

SegmentCounts& segment_counts() {
  static SegmentCounts counts;
  return counts;
}

} // namespace

bool WireState::lives(std::chrono::microseconds lease) const {
  using std::chrono::microseconds;
  return silent < std::max({lease, std::min<microseconds>(2 * round_trip, 12 * lease),
                            std::min<microseconds>(2 * longest_round_trip, 3 * lease)});
}

std::optional<WireState> wire_state(const std::string& host, std::uint16_t port) {
  std::optional<WireState> out;
  std::chrono::milliseconds longest{0};
  for (int fd : descriptors()) {
    auto info = info_of(fd);
    if (!info)
      continue;
    longest = std::max(longest, round_trip(*info));
    if (!leads_to(fd, host, port))
      continue;
    WireState state;
    state.local_port = local_port(fd);
    state.silent = segment_counts().silent(str_cat(state.local_port, "-", host, ":", port), *info);
    state.is_cut = info->tcpi_unacked > 0 && info->tcpi_retransmits > 0;
    state.round_trip = round_trip(*info);
    if (!out || state.silent < out->silent)
      out = state;
  }
  if (out)
    out->longest_round_trip = longest;
  return out;
}

bool close_wire(const std::string& host, std::uint16_t port) {
  bool found = false;
  for (int fd : descriptors()) {
    if (!leads_to(fd, host, port))
      continue;
    linger at_once{1, 0}; // what waits to be sent is thrown away when the descriptor closes
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::shutdown(fd, SHUT_RDWR);
    found = true;
  }
  return found;
}

} // namespace troupe
