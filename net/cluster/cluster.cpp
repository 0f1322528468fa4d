#include "net/cluster/cluster.hpp"

#include <algorithm>
#include <cctype>

#include <arpa/inet.h>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

// A name or an IPv4 address.
bool is_host(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
  });
}

// FNV-1a.
std::uint64_t digest_of(std::string_view text) {
  std::uint64_t out = 14695981039346656037u;
  for (char c : text)
    out = (out ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return out;
}

bool is_ipv6(const std::string& text) {
  in6_addr ignored;
  return inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &ignored) == 1;
}

} // namespace

Result<Address> Address::parse(std::string_view text, std::uint16_t lowest_port) {
  auto wrong = [&](std::string_view sentence) {
    return invalid_argument(str_cat("'", text, "' is no address; ", sentence));
  };
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return wrong("write host:port, such as 127.0.0.1:7000");
  std::string host(text.substr(0, colon));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host))
      return wrong("what stands in brackets is no IPv6 host, such as [::1]:7000");
  } else if (is_ipv6(host)) {
    return wrong("write an IPv6 host in brackets, such as [::1]:7000");
  } else if (!is_host(host)) {
    return wrong("write host:port, such as 127.0.0.1:7000; a host consists of letters, digits, "
                 "'.', '-' and '_'");
  }
  auto port = parse_uint(text.substr(colon + 1));
  if (!port || *port < lowest_port || *port > 65535)
    return invalid_argument(str_cat("'", text.substr(colon + 1), "' in '", text,
                                    "' is no port; use ", lowest_port, " to 65535"));
  return Address{std::move(host), static_cast<std::uint16_t>(*port)};
}

Result<Address> Address::of_target(std::string_view target) {
  constexpr std::string_view scheme = "caf://";
  if (target.starts_with(scheme))
    return parse(target.substr(scheme.size()));
  if (target.find("://") == std::string_view::npos)
    if (auto address = parse(target); address.ok() || target.find(':') != std::string_view::npos)
      return address;
  return invalid_argument(str_cat("'", target, "' is no target; use 'local' or 'caf://host:port'"));
}

std::string Address::to_string() const {
  return host.find(':') == std::string::npos ? str_cat(host, ":", port)
                                             : str_cat("[", host, "]:", port);
}

bool Address::is_loopback() const {
  in_addr ipv4;
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && inet_pton(AF_INET, host.c_str(), &ipv4) == 1);
}

namespace {

std::string host_of(const Address& address) {
  return address.is_loopback() ? std::string() : address.host;
}

} // namespace

int Cluster::tasks_on_host_of(const Address& address) const {
  auto found = on_host_.find(host_of(address));
  return found == on_host_.end() ? 0 : found->second;
}

Status Cluster::add(std::string_view job, int task, Address address) {
  std::string name = task_name(job, task);
  if (auto taken = by_address_.find(address); taken != by_address_.end())
    return already_exists(str_cat("address ", address, " of ", name, " is also that of ",
                                  taken->second, "; give each task its own"));
  if (!tasks_.emplace(name, address).second)
    return already_exists(str_cat("task ", name, " is described twice"));
  by_address_.emplace(address, name);
  ++on_host_[host_of(address)];
  const std::uint64_t with_address = digest_of(str_cat(name, " at ", address));
  digest_of_tasks_ += digest_of(name);
  digest_of_addresses_ += with_address;
  return {};
}

Result<Address> Cluster::address_of(std::string_view task) const {
  auto it = tasks_.find(std::string(task));
  if (it == tasks_.end())
    return not_found(
        str_cat("task ", task, " is not in the cluster; it has ", str_join(tasks(), ", ")));
  return it->second;
}

ClusterIdentity Cluster::identity() const {
  ClusterIdentity out;
  if (tasks_.empty())
    return out;
  out.name = name_;
  out.tasks = static_cast<std::uint32_t>(tasks_.size());
  out.digest = name_.empty() ? digest_of_addresses_ : digest_of_tasks_ + digest_of(name_);
  out.digest += out.digest == 0;
  return out;
}

ClusterIdentity Cluster::identity_between(std::string_view own, std::string_view peer) const {
  ClusterIdentity out = identity();
  if (!is_partial_)
    return out;
  out.digest = 1;
  for (std::string_view task : {own, peer})
    if (auto address = address_of(task); address.ok())
      out.digest += digest_of(str_cat(task, " at port ", address->port));
  return out;
}

std::string ClusterIdentity::to_string() const {
  return str_cat(name.empty() ? "a cluster without a name" : str_cat("cluster '", name, "'"), " (",
                 tasks, tasks == 1 ? " task" : " tasks", ", digest ", hex16(digest), ")");
}

std::vector<std::string> Cluster::tasks() const {
  std::vector<std::string> out;
  for (const auto& [name, address] : tasks_)
    out.push_back(name);
  return out;
}

} // namespace troupe
