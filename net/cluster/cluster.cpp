#include "net/cluster/cluster.hpp"

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe {

Result<Address> Address::parse(std::string_view text) {
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return invalid_argument(
        str_cat("'", text, "' is no address; write host:port, such as 127.0.0.1:7000"));
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return invalid_argument(
        str_cat("'", text, "' is no address; write an IPv6 host in brackets, such as [::1]:7000"));
  auto port = parse_uint(text.substr(colon + 1));
  if (!port || *port == 0 || *port > 65535)
    return invalid_argument(
        str_cat("'", text.substr(colon + 1), "' in '", text, "' is no port; use 1 to 65535"));
  return Address{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string Address::to_string() const {
  return host.find(':') == std::string::npos ? str_cat(host, ":", port)
                                             : str_cat("[", host, "]:", port);
}

bool Address::is_loopback() const {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Status Cluster::add(std::string_view job, int task, Address address) {
  std::string name = task_name(job, task);
  for (const auto& [other, taken] : tasks_)
    if (taken == address)
      return already_exists(str_cat("address ", address, " of ", name, " is also that of ", other,
                                    "; give each task its own"));
  if (!tasks_.emplace(name, std::move(address)).second)
    return already_exists(str_cat("task ", name, " is described twice"));
  return {};
}

Result<Address> Cluster::address_of(std::string_view task) const {
  auto it = tasks_.find(std::string(task));
  if (it == tasks_.end())
    return not_found(
        str_cat("task ", task, " is not in the cluster; it has ", str_join(tasks(), ", ")));
  return it->second;
}

std::vector<std::string> Cluster::tasks() const {
  std::vector<std::string> out;
  for (const auto& [name, address] : tasks_)
    out.push_back(name);
  return out;
}

} // namespace troupe
