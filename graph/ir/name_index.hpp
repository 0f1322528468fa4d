// NameIndex: from a node's name to its id. It holds no names: who asks knows what they are, so a
// copy of it serves a copy of the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace troupe {

/// Open addressing with linear probing, at most three quarters full. `name_of` gives the name of an
/// id that is in the index.
class NameIndex {
public:
  /// Room for that many names in all.
  void reserve(std::size_t names) {
    if (std::size_t wanted = size_for(names); wanted > slots_.size())
      rehash(wanted);
  }

  /// -1 if absent.
  template <class NameOf>
  std::int32_t find(std::string_view name, NameOf name_of) const {
    if (slots_.empty())
      return -1;
    std::uint32_t hash = hash_of(name);
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      if (slots_[i].id == never_used)
        return -1;
      if (slots_[i].hash == hash && slots_[i].id >= 0 && name_of(slots_[i].id) == name)
        return slots_[i].id;
    }
  }

  /// False, and nothing added, if the name is there.
  template <class NameOf>
  bool add(std::string_view name, std::int32_t id, NameOf name_of) {
    if (find(name, name_of) >= 0)
      return false;
    if ((used_ + 1) * 4 > slots_.size() * 3)
      rehash(size_for(live_ + 1));
    std::uint32_t hash = hash_of(name);
    std::size_t i = hash & mask();
    while (slots_[i].id >= 0)
      i = (i + 1) & mask();
    used_ += slots_[i].id == never_used;
    slots_[i] = {hash, id};
    ++live_;
    return true;
  }

  /// The pair must be there.
  void remove(std::string_view name, std::int32_t id) {
    std::size_t i = hash_of(name) & mask();
    while (slots_[i].id != id)
      i = (i + 1) & mask();
    slots_[i].id = left;
    --live_;
  }

private:
  static constexpr std::int32_t never_used = -1; // a search ends here
  static constexpr std::int32_t left = -2;       // and goes on here
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t id = never_used;
  };

  std::size_t mask() const { return slots_.size() - 1; }
  static std::uint32_t hash_of(std::string_view name) {
    std::uint64_t hash = std::hash<std::string_view>{}(name);
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
  }
  static std::size_t size_for(std::size_t names) {
    std::size_t size = 16;
    while (size < names * 2)
      size *= 2;
    return size;
  }
  void rehash(std::size_t size) {
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (Slot slot : old) {
      if (slot.id < 0)
        continue;
      std::size_t i = slot.hash & mask();
      while (slots_[i].id != never_used)
        i = (i + 1) & mask();
      slots_[i] = slot;
    }
    used_ = live_;
  }

  std::vector<Slot> slots_; // a power of two of them, or none
  std::size_t live_ = 0;
  std::size_t used_ = 0; // live ones and those left
};

} // namespace troupe
