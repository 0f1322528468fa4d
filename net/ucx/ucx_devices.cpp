#include <filesystem>
#include <memory>

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include "core/base/strings.hpp"
#include "net/ucx/ucx_worker.hpp"

namespace troupe {

namespace {

const char* rdma_folder = "/sys/class/infiniband";

bool are_same(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family)
    return false;
  if (a.sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  return a.sa_family == AF_INET6 &&
         IN6_ARE_ADDR_EQUAL(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                            &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr);
}

// The interface with one of the addresses that `host` stands for.
const ifaddrs* interface_of(const ifaddrs* all, const std::string& host) {
  addrinfo* found = nullptr;
  if (host.empty() || ::getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0)
    return nullptr;
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  for (const addrinfo* address = found; address; address = address->ai_next)
    for (const ifaddrs* one = all; one; one = one->ifa_next)
      if (one->ifa_addr && are_same(*one->ifa_addr, *address->ai_addr))
        return one;
  return nullptr;
}

} // namespace

bool has_rdma_device() {
  std::error_code error;
  return !std::filesystem::is_empty(rdma_folder, error) && !error;
}

std::string ucx_devices(const std::string& host) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0)
    return {};
  std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> interfaces(all, ::freeifaddrs);
  const ifaddrs* own = interface_of(all, host);
  if (!own)
    return {};
  std::string out = own->ifa_name;
  if ((own->ifa_flags & IFF_LOOPBACK) != 0)
    return out;
  std::error_code error;
  for (const auto& device : std::filesystem::directory_iterator(rdma_folder, error))
    for (const auto& port : std::filesystem::directory_iterator(device.path() / "ports", error))
      out += str_cat(",", device.path().filename().string(), ":", port.path().filename().string());
  return out;
}

} // namespace troupe
