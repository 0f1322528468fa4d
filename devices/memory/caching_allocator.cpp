// Each thread has a cache for each allocator that it uses: lists of free small blocks, which only
// that thread touches, so they need no lock. A list that runs empty takes a batch from the shared
// list of its size, and one that grows too long gives a batch back; thus blocks that one thread
// allocates and another frees travel in batches.
//
// Lifetimes: an allocator owns the caches of its threads. Threads find theirs by the allocator's
// id, which is never used again, so entries of dead allocators are never followed. The registry of
// live allocators orders a thread's end and an allocator's end.
//
// Memory order: the numbers of a cache are written by its thread alone and read by stats(), so
// relaxed atomics with plain loads and stores do. Blocks move between threads only under the lock
// of a shared list.
#include "devices/memory/caching_allocator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <sys/mman.h>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "devices/memory/internal/size_class.hpp"

#if defined(__has_feature) // clang's way to say it
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace troupe {

namespace {

using memory::class_bytes;
using memory::class_of;

constexpr auto relaxed = std::memory_order_relaxed;
/// What a thread keeps of one size, and by how much its count of bytes may be off.
constexpr std::size_t local_bytes_per_class = std::size_t{128} << 10;
constexpr std::int64_t uncounted_bytes = 64 << 10;
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Blocks of each size that a thread keeps.
constexpr auto local_limits = [] {
  std::array<std::uint32_t, memory::small_classes> out{};
  for (int i = 0; i < memory::small_classes; ++i)
    out[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(local_bytes_per_class / class_bytes(i), 2, 512));
  return out;
}();

constexpr std::uint32_t local_limit(int index) {
  return local_limits[static_cast<std::size_t>(index)];
}

/// Upper bound of what one thread keeps.
constexpr std::size_t local_bytes() {
  std::size_t total = 0;
  for (int i = 0; i < memory::small_classes; ++i)
    total += local_limit(i) * class_bytes(i);
  return total;
}

struct FreeBlock {
  FreeBlock* next;
};

void* from_system(std::size_t bytes) {
  if (bytes < 2 * huge_page)
    return std::aligned_alloc(Allocator::alignment, bytes);
  void* memory = std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
  if (memory) // fewer page faults; a refusal changes nothing else
    madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
  return memory;
}

FreeBlock* as_free(void* memory, int index) {
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(memory) + sizeof(FreeBlock),
                            class_bytes(index) - sizeof(FreeBlock));
  return static_cast<FreeBlock*>(memory);
}

/// What was asked for, without what its class adds to it.
void* as_used(void* block, int index, std::size_t bytes) {
  ASAN_POISON_MEMORY_REGION(block, class_bytes(index));
  ASAN_UNPOISON_MEMORY_REGION(block, std::max(bytes, sizeof(FreeBlock)));
  return block;
}

void to_system(FreeBlock* block, int index) {
  std::free(as_used(block, index, class_bytes(index)));
}

template <class T>
void add_alone(std::atomic<T>& number, T amount) { // we are its only writer
  number.store(number.load(relaxed) + amount, relaxed);
}

struct LocalList {
  FreeBlock* head = nullptr;
  std::atomic<std::uint32_t> count{0};
};

/// One thread's free blocks of one allocator, and its share of the counts.
struct alignas(64) ThreadCache {
  std::array<LocalList, memory::small_classes> lists;
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::int64_t> in_use{0}; // not yet in the allocator's count
  std::atomic<std::int64_t> peak{0};   // of in_use since then
  std::uint64_t generation = 0;        // of the allocator's last trim that this obeyed

  FreeBlock* pop(int index) {
    LocalList& list = lists[static_cast<std::size_t>(index)];
    FreeBlock* block = list.head;
    if (block) {
      list.head = block->next;
      list.count.store(list.count.load(relaxed) - 1, relaxed);
    }
    return block;
  }
  void push(int index, FreeBlock* block) {
    LocalList& list = lists[static_cast<std::size_t>(index)];
    block->next = list.head;
    list.head = block;
    list.count.store(list.count.load(relaxed) + 1, relaxed);
  }
};

struct alignas(64) SharedList {
  std::mutex lock;
  FreeBlock* head = nullptr;
  std::uint32_t count = 0;
};

} // namespace

struct CachingAllocator::Impl {
  const std::uint64_t id;
  const std::size_t max_cached;
  const std::int64_t limit;
  std::array<SharedList, memory::classes> shared;

  // Bytes in shared lists, and for each thread's cache the most that it may hold.
  std::atomic<std::size_t> reserved{0};
  std::atomic<std::int64_t> cached{0}; // bytes in shared lists
  std::atomic<std::int64_t> in_use{0};
  std::atomic<std::int64_t> peak{0};
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::uint64_t> system_allocations{0};
  std::atomic<std::uint64_t> generation{0};

  mutable std::mutex caches_lock;
  std::vector<std::unique_ptr<ThreadCache>> caches; // of live threads
  std::vector<std::unique_ptr<ThreadCache>> spare;  // of ended ones, empty

  Impl(std::uint64_t id, std::size_t max_cached, std::size_t limit)
      : id(id), max_cached(max_cached),
        limit(static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX))) {}

  void* allocate(std::size_t bytes);
  void deallocate(void* memory, std::size_t bytes);
  ThreadCache* cache();
  ThreadCache* find_cache();
  ThreadCache* make_cache();
  void retire(ThreadCache* cache);

  bool count_allocation(ThreadCache* cache, std::int64_t bytes);
  bool count_bytes(std::int64_t bytes);
  void count_deallocation(ThreadCache* cache, std::int64_t bytes);
  void publish(ThreadCache& cache);
  void raise_peak(std::int64_t value);

  FreeBlock* take(ThreadCache* cache, int index);
  void give(FreeBlock* block, int index);
  void spill(ThreadCache& cache, int index, std::uint32_t keep);
  void obey_trim(ThreadCache& cache);
  void drop_shared();
  void drop_local(ThreadCache& cache);
};

namespace {

/// Live allocators by id; never destroyed, so that threads may end whenever they like.
struct Registry {
  std::mutex lock;
  std::uint64_t last_id = 0;
  std::unordered_map<std::uint64_t, CachingAllocator*> alive;
};
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

// The quick way to a thread's caches: a table by the low bits of the id, plain memory without
// constructor. `ended` is set once the caches were given back.
struct Shortcut {
  std::uint64_t id;
  void* cache;
};
constexpr std::size_t shortcuts = 16;
constinit thread_local Shortcut t_shortcuts[shortcuts] = {};
constinit thread_local bool t_ended = false;

/// All caches of a thread by allocator id; its end gives them back.
struct ThreadCaches {
  std::unordered_map<std::uint64_t, ThreadCache*> by_id;
  std::size_t purge_at = 64; // entries of dead allocators go when there are that many
  void (*retire)(CachingAllocator*, ThreadCache*) = nullptr;

  ~ThreadCaches() {
    t_ended = true;
    for (Shortcut& s : t_shortcuts)
      s = {};
    Registry& all = registry();
    std::scoped_lock guard(all.lock);
    for (auto [id, cache] : by_id)
      if (auto it = all.alive.find(id); it != all.alive.end())
        retire(it->second, cache);
  }
};
thread_local ThreadCaches t_caches;

} // namespace

ThreadCache* CachingAllocator::Impl::cache() {
  const Shortcut& s = t_shortcuts[id % shortcuts];
  if (s.id == id) [[likely]]
    return static_cast<ThreadCache*>(s.cache);
  return find_cache();
}

/// Null when the thread is ending or there is no room for one more cache.
[[gnu::noinline]] ThreadCache* CachingAllocator::Impl::find_cache() {
  if (t_ended)
    return nullptr;
  ThreadCache* found = nullptr;
  if (auto it = t_caches.by_id.find(id); it != t_caches.by_id.end()) {
    found = it->second;
  } else {
    found = make_cache();
    if (t_caches.by_id.size() >= t_caches.purge_at) {
      Registry& all = registry();
      std::scoped_lock guard(all.lock);
      std::erase_if(t_caches.by_id, [&](auto& e) { return !all.alive.contains(e.first); });
      t_caches.purge_at = t_caches.by_id.size() * 2 + 64;
    }
    if (found)
      t_caches.by_id.emplace(id, found);
  }
  t_shortcuts[id % shortcuts] = {id, found};
  return found;
}

ThreadCache* CachingAllocator::Impl::make_cache() {
  t_caches.retire = [](CachingAllocator* owner, ThreadCache* cache) {
    owner->impl_->retire(cache);
  };
  std::scoped_lock guard(caches_lock);
  if (!spare.empty()) {
    caches.push_back(std::move(spare.back()));
    spare.pop_back();
    return caches.back().get();
  }
  // At most half of what may be kept goes to threads.
  if (reserved.fetch_add(local_bytes()) + local_bytes() > max_cached / 2) {
    reserved.fetch_sub(local_bytes());
    return nullptr;
  }
  caches.push_back(std::make_unique<ThreadCache>());
  return caches.back().get();
}

/// At the end of a thread: its blocks go to the shared lists.
void CachingAllocator::Impl::retire(ThreadCache* cache) {
  for (int i = 0; i < memory::small_classes; ++i)
    spill(*cache, i, 0);
  std::scoped_lock guard(caches_lock);
  publish(*cache);
  allocations.fetch_add(cache->allocations.exchange(0));
  auto it =
      std::find_if(caches.begin(), caches.end(), [&](const auto& c) { return c.get() == cache; });
  spare.push_back(std::move(*it));
  caches.erase(it);
}

void CachingAllocator::Impl::raise_peak(std::int64_t value) {
  std::int64_t seen = peak.load(relaxed);
  while (value > seen && !peak.compare_exchange_weak(seen, value, relaxed)) {
  }
}

void CachingAllocator::Impl::publish(ThreadCache& cache) {
  std::int64_t amount = cache.in_use.load(relaxed);
  std::int64_t before = in_use.fetch_add(amount, relaxed);
  raise_peak(before + cache.peak.load(relaxed));
  cache.in_use.store(0, relaxed);
  cache.peak.store(0, relaxed);
}

/// False when the limit forbids it.
bool CachingAllocator::Impl::count_allocation(ThreadCache* cache, std::int64_t bytes) {
  if (cache) [[likely]] {
    std::int64_t now = cache->in_use.load(relaxed) + bytes;
    if (limit && in_use.load(relaxed) + now > limit) [[unlikely]]
      return false;
    add_alone<std::uint64_t>(cache->allocations, 1);
    cache->in_use.store(now, relaxed);
    if (now > cache->peak.load(relaxed))
      cache->peak.store(now, relaxed);
    if (now > uncounted_bytes) [[unlikely]]
      publish(*cache);
    return true;
  }
  allocations.fetch_add(1, relaxed);
  return count_bytes(bytes);
}

bool CachingAllocator::Impl::count_bytes(std::int64_t bytes) {
  std::int64_t now = in_use.fetch_add(bytes, relaxed) + bytes;
  if (limit && now > limit) {
    in_use.fetch_sub(bytes, relaxed);
    return false;
  }
  raise_peak(now);
  return true;
}

void CachingAllocator::Impl::count_deallocation(ThreadCache* cache, std::int64_t bytes) {
  if (cache) [[likely]] {
    std::int64_t now = cache->in_use.load(relaxed) - bytes;
    cache->in_use.store(now, relaxed);
    if (now < -uncounted_bytes) [[unlikely]]
      publish(*cache);
    return;
  }
  in_use.fetch_sub(bytes, relaxed);
}

void* CachingAllocator::Impl::allocate(std::size_t bytes) {
  if (bytes > memory::max_request)
    return nullptr;
  ThreadCache* mine = cache();
  if (bytes > memory::max_small && mine) { // counted at once, and the thread's small ones with it
    publish(*mine);
    mine = nullptr;
  }
  if (!count_allocation(mine, static_cast<std::int64_t>(bytes))) [[unlikely]]
    return nullptr;
  int index = class_of(bytes);
  if (mine) [[likely]]
    if (FreeBlock* block = mine->pop(index)) [[likely]]
      return as_used(block, index, bytes);
  if (FreeBlock* block = take(mine, index))
    return as_used(block, index, bytes);
  system_allocations.fetch_add(1, relaxed);
  if (limit && in_use.load(relaxed) + cached.load(relaxed) > limit) [[unlikely]]
    drop_shared();
  void* memory = from_system(class_bytes(index));
  if (!memory) {
    drop_shared(); // blocks of other sizes may make room
    memory = from_system(class_bytes(index));
  }
  if (memory)
    return as_used(memory, index, bytes);
  count_deallocation(mine, static_cast<std::int64_t>(bytes));
  return nullptr;
}

void CachingAllocator::Impl::deallocate(void* memory, std::size_t bytes) {
  ThreadCache* mine = bytes <= memory::max_small ? cache() : nullptr;
  count_deallocation(mine, static_cast<std::int64_t>(bytes));
  int index = class_of(bytes);
  if (!mine)
    return give(as_free(memory, index), index);
  mine->push(index, as_free(memory, index));
  std::uint32_t most = local_limit(index);
  if (mine->lists[static_cast<std::size_t>(index)].count.load(relaxed) >= most) [[unlikely]] {
    spill(*mine, index, most / 2);
    obey_trim(*mine);
  }
}

/// One block of the shared list, and for a thread's cache some more.
FreeBlock* CachingAllocator::Impl::take(ThreadCache* cache, int index) {
  if (cache)
    obey_trim(*cache);
  SharedList& list = shared[static_cast<std::size_t>(index)];
  FreeBlock *first = nullptr, *rest = nullptr;
  std::uint32_t taken = 0;
  {
    std::scoped_lock guard(list.lock);
    first = list.head;
    if (!first)
      return nullptr;
    taken = cache ? std::min(list.count, local_limit(index) / 2) : 1;
    FreeBlock* last = first;
    for (std::uint32_t i = 1; i < taken; ++i)
      last = last->next;
    rest = first->next;
    list.head = last->next;
    last->next = nullptr;
    list.count -= taken;
  }
  auto bytes = taken * class_bytes(index);
  reserved.fetch_sub(bytes, relaxed);
  cached.fetch_sub(static_cast<std::int64_t>(bytes), relaxed);
  for (std::uint32_t i = 1; i < taken; ++i) {
    FreeBlock* next = rest->next;
    cache->push(index, rest);
    rest = next;
  }
  return first;
}

/// To the shared list, or to the system when enough is kept.
void CachingAllocator::Impl::give(FreeBlock* block, int index) {
  std::size_t bytes = class_bytes(index);
  if (reserved.fetch_add(bytes, relaxed) + bytes > max_cached) {
    reserved.fetch_sub(bytes, relaxed);
    return to_system(block, index);
  }
  cached.fetch_add(static_cast<std::int64_t>(bytes), relaxed);
  SharedList& list = shared[static_cast<std::size_t>(index)];
  std::scoped_lock guard(list.lock);
  block->next = list.head;
  list.head = block;
  ++list.count;
}

/// Gives all but `keep` blocks of a thread's list away.
void CachingAllocator::Impl::spill(ThreadCache& cache, int index, std::uint32_t keep) {
  while (cache.lists[static_cast<std::size_t>(index)].count.load(relaxed) > keep)
    give(cache.pop(index), index);
}

void CachingAllocator::Impl::obey_trim(ThreadCache& cache) {
  std::uint64_t now = generation.load(relaxed);
  if (cache.generation == now) [[likely]]
    return;
  cache.generation = now;
  drop_local(cache);
}

void CachingAllocator::Impl::drop_local(ThreadCache& cache) {
  for (int i = 0; i < memory::small_classes; ++i)
    while (FreeBlock* block = cache.pop(i))
      to_system(block, i);
}

void CachingAllocator::Impl::drop_shared() {
  for (int i = 0; i < memory::classes; ++i) {
    SharedList& list = shared[static_cast<std::size_t>(i)];
    FreeBlock* block = nullptr;
    std::size_t bytes = 0;
    {
      std::scoped_lock guard(list.lock);
      block = std::exchange(list.head, nullptr);
      bytes = std::exchange(list.count, 0) * class_bytes(i);
    }
    reserved.fetch_sub(bytes, relaxed);
    cached.fetch_sub(static_cast<std::int64_t>(bytes), relaxed);
    while (block) {
      FreeBlock* next = block->next;
      to_system(block, i);
      block = next;
    }
  }
}

CachingAllocator::CachingAllocator(std::size_t max_cached, std::size_t limit) {
  Registry& all = registry();
  std::scoped_lock guard(all.lock);
  impl_ = std::make_unique<Impl>(++all.last_id, max_cached, limit);
  all.alive.emplace(impl_->id, this);
}

CachingAllocator::~CachingAllocator() {
  {
    Registry& all = registry();
    std::scoped_lock guard(all.lock);
    all.alive.erase(impl_->id);
  }
  std::int64_t in_use = stats().bytes_in_use;
  TROUPE_CHECK(in_use == 0, str_cat("a caching allocator ends while ", in_use,
                                    " bytes are in use; it must outlive its tensors"));
  for (auto& cache : impl_->caches)
    impl_->drop_local(*cache);
  impl_->drop_shared();
}

void* CachingAllocator::allocate(std::size_t bytes) {
  return impl_->allocate(bytes);
}

void CachingAllocator::deallocate(void* memory, std::size_t bytes) {
  if (memory)
    impl_->deallocate(memory, bytes);
}

bool CachingAllocator::charge(std::size_t bytes) {
  if (bytes > memory::max_request)
    return false;
  if (ThreadCache* mine = impl_->limit ? impl_->cache() : nullptr)
    impl_->publish(*mine);
  if (!impl_->count_bytes(static_cast<std::int64_t>(bytes)))
    return false;
  if (impl_->limit && impl_->in_use.load(relaxed) + impl_->cached.load(relaxed) > impl_->limit)
    impl_->drop_shared();
  return true;
}

void CachingAllocator::discharge(std::size_t bytes) {
  impl_->in_use.fetch_sub(static_cast<std::int64_t>(bytes), relaxed);
}

std::string CachingAllocator::refusal() const {
  if (impl_->limit == 0)
    return Allocator::refusal();
  return str_cat(
      stats().bytes_in_use, " of the ", impl_->limit,
      " bytes that memory-limit allows are in use. Raise memory-limit, or run smaller or "
      "fewer steps at a time");
}

AllocatorStats CachingAllocator::stats() const {
  AllocatorStats out;
  std::scoped_lock guard(impl_->caches_lock);
  out.allocations = impl_->allocations.load(relaxed);
  out.system_allocations = impl_->system_allocations.load(relaxed);
  const std::int64_t counted = impl_->in_use.load(relaxed);
  out.bytes_in_use = counted;
  out.peak_bytes_in_use = impl_->peak.load(relaxed);
  out.bytes_cached = impl_->cached.load(relaxed);
  for (const auto& cache : impl_->caches) {
    out.allocations += cache->allocations.load(relaxed);
    out.bytes_in_use += cache->in_use.load(relaxed);
    out.peak_bytes_in_use = std::max(out.peak_bytes_in_use, counted + cache->peak.load(relaxed));
    for (int i = 0; i < memory::small_classes; ++i)
      out.bytes_cached += static_cast<std::int64_t>(
          cache->lists[static_cast<std::size_t>(i)].count.load(relaxed) * class_bytes(i));
  }
  out.peak_bytes_in_use = std::max(out.peak_bytes_in_use, out.bytes_in_use);
  return out;
}

void CachingAllocator::trim() {
  impl_->generation.fetch_add(1, relaxed);
  impl_->drop_shared();
  if (ThreadCache* mine = impl_->cache())
    impl_->obey_trim(*mine);
}

} // namespace troupe
