// The wires of a FaultCluster, and the faults that befall them and the nodes.
#include <algorithm>
#include <cstdlib>

#include "core/base/strings.hpp"
#include "tests/support/sim/fault_cluster.hpp"
#include "tests/support/sim/internal/fault_wires.hpp"

namespace troupe::testing {

bool FaultCluster::is_whole() const {
  for (std::size_t from = 0; from < nodes_.size(); ++from) {
    if (!runs(from))
      return false;
    for (std::size_t to = 0; to + 1 < nodes_.size(); ++to)
      if (from != to &&
          (!nodes_[to] || !nodes_[from]->guardians.count(str_cat("sim:", nodes_[to]->port()))))
        return false;
  }
  return true;
}

void FaultCluster::dial_missing() {
  for (auto& node : nodes_)
    if (node)
      std::erase_if(node->guardians, [](auto& entry) { return is_gone(entry.second); });
  for (std::size_t from = 0; from < nodes_.size(); ++from)
    for (std::size_t to = 0; to + 1 < nodes_.size(); ++to) {
      if (from == to || !runs(from) || !nodes_[to])
        continue;
      FaultNode& a = *nodes_[from];
      FaultNode& b = *nodes_[to];
      Dial& dial = dials_[{from, to}];
      if (dial.under_way || dial.retry_at > now_ || pair(from, to).blocked_until > now_ ||
          a.guardians.count(str_cat("sim:", b.port())))
        continue;
      dial.under_way = true;
      // A dial that CAF answered from its memory has left its socket unused: that one is taken.
      if (!a.net.has_pending_scribe("sim", b.port())) {
        auto link = std::make_unique<Link>();
        link->ends[0].node = from;
        link->ends[0].handle = caf::io::connection_handle::from_int(next_handle_++);
        link->ends[1].node = to;
        link->ends[1].handle = caf::io::connection_handle::from_int(next_handle_++);
        a.net.provide_scribe("sim", b.port(), link->ends[0].handle);
        b.net.add_pending_connect(caf::io::accept_handle::from_int(b.port()), link->ends[1].handle);
        links_.push_back(std::move(link));
      }
      caf::anon_send(a.keeper, caf::connect_atom::value, std::uint64_t{to}, b.port());
    }
}

void FaultCluster::dialled(std::size_t from, std::size_t to, caf::strong_actor_ptr guardian) {
  Dial& dial = dials_[{from, to}];
  dial.under_way = false;
  dial.retry_at = now_ + std::chrono::milliseconds(100);
  bool open = std::any_of(links_.begin(), links_.end(), [&](const auto& link) {
    const End* e = link->ends;
    bool ours = (e[0].node == from && e[1].node == to) || (e[0].node == to && e[1].node == from);
    return ours && !e[0].closed && !e[1].closed && !e[0].eof && !e[1].eof;
  });
  // CAF answers from its memory until it has heard that the old connection is gone.
  if (guardian && is_gone(guardian))
    open = false;
  note(str_cat(names_[from], " has dialled ", names_[to], guardian && open ? "" : " in vain"));
  if (guardian && open && nodes_[from] && nodes_[to])
    nodes_[from]->guardians[str_cat("sim:", nodes_[to]->port())] = std::move(guardian);
}

void FaultCluster::pump(std::size_t node) {
  if (!nodes_[node])
    return;
  auto& net = nodes_[node]->net;
  for (auto& link : links_)
    for (int side = 0; side < 2; ++side) {
      End& end = link->ends[side];
      End& other = link->ends[1 - side];
      if (end.node != node || end.closed)
        continue;
      auto& out = net.output_buffer(end.handle);
      if (!out.empty()) {
        if (!other.closed && !other.eof) {
          other.last_due = std::max(other.last_due, now_ + latency(end.node, other.node));
          other.in.push_back({other.last_due, std::move(out)});
        }
        out.clear();
      }
      bool is_attached = net.impl_ptr(end.handle) != nullptr;
      end.attached = end.attached || is_attached;
      if (end.attached && (!is_attached || net.stopped_reading(end.handle))) {
        end.closed = true;
        other.eof = true;
        other.eof_due = std::max(other.last_due, now_ + latency(end.node, other.node));
      }
    }
}

void FaultCluster::deliver(Link& link, int side) {
  End& end = link.ends[side];
  FaultNode& node = *nodes_[end.node];
  Packet packet = std::move(end.in.front());
  end.in.pop_front();
  auto& buffer = node.net.virtual_network_buffer(end.handle);
  buffer.insert(buffer.end(), packet.bytes.begin(), packet.bytes.end());
  note(str_cat(node.name, " reads ", packet.bytes.size()));
  node.net.read_data(end.handle);
}

void FaultCluster::close_end(Link& link, int side) {
  End& end = link.ends[side];
  End& other = link.ends[1 - side];
  end.closed = true;
  FaultNode& node = *nodes_[end.node];
  note(str_cat(node.name, " loses a connection"));
  if (auto& scribe = node.net.impl_ptr(end.handle))
    scribe->io_failure(&node.net, caf::io::network::operation::read);
  if (!other.closed && !other.eof) {
    other.eof = true;
    other.eof_due = std::max(other.last_due, now_ + latency(end.node, other.node));
  }
}

void FaultCluster::forget_guardians() {
  std::set<std::pair<std::size_t, std::size_t>> connected;
  for (auto& link : links_)
    if (!link->ends[0].closed && !link->ends[1].closed)
      connected.insert(std::minmax(link->ends[0].node, link->ends[1].node));
  for (auto& from : nodes_)
    if (from)
      std::erase_if(from->guardians, [&](auto& entry) {
        std::size_t to = static_cast<std::size_t>(std::atoi(entry.first.c_str() + 4)) - first_port;
        return !connected.count(std::minmax(from->index, to));
      });
}

// Cuts a connection in the middle of whatever is under way: each side still reads some of it.
void FaultCluster::sever(Link& link, bool at_once, std::size_t dead) {
  for (int side = 0; side < 2; ++side) {
    End& end = link.ends[side];
    if (end.node == dead) {
      end.closed = true;
      end.in.clear();
      continue;
    }
    if (end.closed || end.eof)
      continue;
    std::size_t bytes = 0;
    for (const Packet& packet : end.in)
      bytes += packet.bytes.size();
    std::size_t kept = pick(3) == 0 ? bytes : pick(bytes + 1);
    std::deque<Packet> left;
    for (Packet& packet : end.in) {
      packet.bytes.resize(std::min(kept, packet.bytes.size()));
      kept -= packet.bytes.size();
      if (!packet.bytes.empty())
        left.push_back(std::move(packet));
    }
    end.in = std::move(left);
    end.eof = true;
    end.eof_due = std::max(end.last_due,
                           at_once ? now_ : now_ + latency(link.ends[0].node, link.ends[1].node));
  }
}

// Faults.

void FaultCluster::crash(const std::string& name, SimTime away) {
  std::size_t node = index_of(name);
  if (!nodes_[node])
    return;
  note(str_cat("fault: ", name, " crashes"));
  doomed_.push_back({node, away});
}

void FaultCluster::freeze(const std::string& name, SimTime duration) {
  if (FaultNode* node = find(name)) {
    note(str_cat("fault: ", name, " freezes"));
    node->frozen_until = std::max(node->frozen_until, now_ + duration);
  }
}

void FaultCluster::cut(const std::string& a, const std::string& b, SimTime duration) {
  std::size_t x = index_of(a), y = index_of(b);
  note(str_cat("fault: ", a, " and ", b, " are cut"));
  for (auto& link : links_)
    if (std::minmax(link->ends[0].node, link->ends[1].node) == std::minmax(x, y))
      sever(*link, false, names_.size());
  Pair& p = pair(x, y);
  p.blocked_until = std::max(p.blocked_until, now_ + duration);
}

void FaultCluster::hold(const std::string& a, const std::string& b, SimTime duration) {
  note(str_cat("fault: between ", a, " and ", b, " everything stands still"));
  Pair& p = pair(index_of(a), index_of(b));
  p.held_from = Pair::all;
  p.held_until = std::max(p.held_until, now_ + duration);
}

void FaultCluster::hold_one_way(const std::string& from, const std::string& to, SimTime duration) {
  note(str_cat("fault: from ", from, " to ", to, " everything stands still"));
  Pair& p = pair(index_of(from), index_of(to));
  p.held_from = index_of(from);
  p.held_until = std::max(p.held_until, now_ + duration);
}

void FaultCluster::slow(const std::string& a, const std::string& b, SimTime extra,
                        SimTime duration) {
  note(str_cat("fault: between ", a, " and ", b, " everything takes longer"));
  Pair& p = pair(index_of(a), index_of(b));
  p.slow_by = extra;
  p.slow_until = std::max(p.slow_until, now_ + duration);
}

void FaultCluster::heal() {
  for (auto& [who, p] : pairs_)
    p = Pair{};
  for (auto& node : nodes_)
    if (node && node->frozen_until > now_)
      node->frozen_until = now_;
  bury();
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    boot(i);
  for (auto& node : nodes_)
    turn_clock(*node);
}

void FaultCluster::bury() {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i] && !nodes_[i]->ended.empty() &&
        std::none_of(doomed_.begin(), doomed_.end(), [&](auto& d) { return d.node == i; })) {
      note(str_cat(names_[i], ": ", nodes_[i]->ended));
      doomed_.push_back({i, std::chrono::milliseconds(300)});
    }
  for (auto doomed = std::move(doomed_); auto [index, away] : doomed) {
    if (!nodes_[index])
      continue;
    pump(index); // what it has written already is under way
    for (auto& link : links_)
      if (link->ends[0].node == index || link->ends[1].node == index)
        sever(*link, false, index);
    for (auto& [who, dial] : dials_)
      if (who.first == index)
        dial = Dial{};
    nodes_[index].reset();
    at(now_ + away, [this, index = index] { boot(index); });
  }
  doomed_.clear();
}

} // namespace troupe::testing
