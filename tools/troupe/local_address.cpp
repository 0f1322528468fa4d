#include "tools/troupe/local_address.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>

namespace troupe {
namespace {

bool same_host(const sockaddr* a, const sockaddr* b) {
  if (!a || !b || a->sa_family != b->sa_family)
    return false;
  if (a->sa_family == AF_INET)
    return std::memcmp(&reinterpret_cast<const sockaddr_in*>(a)->sin_addr,
                       &reinterpret_cast<const sockaddr_in*>(b)->sin_addr, sizeof(in_addr)) == 0;
  if (a->sa_family == AF_INET6)
    return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                       &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
  return false;
}

bool is_loopback(const sockaddr* a) {
  if (a->sa_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr) >> 24) == 127;
  return a->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr);
}

// Whether one of the host's addresses that are wanted is an interface's.
template <class Wanted>
bool has_interface(const Address& address, Wanted is_wanted) {
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), nullptr, nullptr, &found) != 0)
    return false;
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> resolved(found, freeaddrinfo);
  ifaddrs* listed = nullptr;
  if (getifaddrs(&listed) != 0)
    return false;
  std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> interfaces(listed, freeifaddrs);
  for (const addrinfo* a = resolved.get(); a; a = a->ai_next)
    for (const ifaddrs* i = interfaces.get(); i; i = i->ifa_next)
      if (is_wanted(a->ai_addr) && same_host(a->ai_addr, i->ifa_addr))
        return true;
  return false;
}

} // namespace

bool is_on_this_host(const Address& address) {
  return address.is_loopback() || has_interface(address, [](const sockaddr*) { return true; });
}

bool is_heard_at(const Address& address) {
  return address.is_loopback() || address.host == "0.0.0.0" || address.host == "::" ||
         has_interface(address, [](const sockaddr* a) { return !is_loopback(a); });
}

} // namespace troupe
