// Children: the actors that an actor spawned and answers for; and how the live tree is told.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include <caf/typed_response_promise.hpp>

#include "actors/family/ask.hpp"
#include "actors/family/gather.hpp"
#include "actors/protocol/local/node.hpp"

namespace troupe {

/// Children by name, which is unique among siblings. An entry goes when the child's DOWN arrives or
/// its parent drops the child.
class Children {
public:
  void add(std::string name, TreeActor actor) { actors_[std::move(name)] = std::move(actor); }
  void remove(const std::string& name) { actors_.erase(name); }
  /// The name of a child that has ended, now forgotten; empty if it is none of ours.
  std::string remove(const caf::actor_addr& address) {
    for (auto it = actors_.begin(); it != actors_.end(); ++it)
      if (it->second == address) {
        std::string name = it->first;
        actors_.erase(it);
        return name;
      }
    return {};
  }
  const std::map<std::string, TreeActor>& all() const { return actors_; }
  std::size_t size() const { return actors_.size(); }
  void stop_all() {
    for (auto& [name, actor] : actors_)
      stop(actor);
    actors_.clear();
  }

private:
  std::map<std::string, TreeActor> actors_;
};

/// Whether the message that `self` handles came from another node.
template <class Self>
bool asked_from_elsewhere(Self* self) {
  auto sender = self->current_sender();
  return sender && sender->node() != self->node();
}

/// Takes the handles out of a tree that leaves its node: whoever has a handle can send to the actor
/// for as long as that lives, and other nodes have nothing to send to most of them.
inline void hide_handles(ActorTree& tree) {
  for (ActorInfo& info : tree.actors)
    info.actor = nullptr;
}

/// Answers GetActors for `self` and everything below it. A child that does not answer within a
/// second is listed without its own children.
template <class Self>
caf::result<ActorTree> describe_tree(Self* self, std::string detail, const Children& children) {
  auto tree = std::make_shared<ActorTree>();
  ActorInfo own;
  own.id = self->id();
  own.mailbox = self->mailbox().size();
  own.detail = std::move(detail);
  const bool is_elsewhere = asked_from_elsewhere(self);
  if (!is_elsewhere)
    own.actor = caf::actor_cast<TreeActor>(self);
  tree->actors.push_back(std::move(own));
  if (children.size() == 0)
    return std::move(*tree);
  auto promise = self->template make_response_promise<ActorTree>();
  auto answered = gather(children.size(), [=]() mutable {
    if (is_elsewhere)
      hide_handles(*tree);
    promise.deliver(std::move(*tree));
  });
  for (const auto& [name, child] : children.all()) {
    std::string prefix = name;
    TreeActor handle = child;
    ask(self, child, std::chrono::seconds(1), GetActors{})
        .then(
            [=](ActorTree& below) mutable {
              for (ActorInfo& info : below.actors) {
                info.path = info.path.empty() ? prefix : prefix + "/" + info.path;
                tree->actors.push_back(std::move(info));
              }
              answered();
            },
            [=](caf::error&) mutable {
              ActorInfo info;
              info.path = prefix;
              info.id = handle.id();
              info.detail = "does not answer";
              info.actor = handle;
              tree->actors.push_back(std::move(info));
              answered();
            });
  }
  return promise;
}

} // namespace troupe
