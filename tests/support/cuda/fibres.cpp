#include "tests/support/cuda/fibres.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <ucontext.h>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "kernels/gpu/device_on_host.hpp"

namespace troupe::testing {
namespace {

constexpr std::size_t stack_bytes = 64 << 10;
constexpr unsigned warp = 32;

enum class Waits : std::uint8_t { for_nobody, for_its_warp, for_the_block, has_ended };

struct Shown {
  unsigned char bytes[16];
};

struct Fibre {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  Waits waits = Waits::for_nobody;
  Shown shown[2]; ///< in turns, so that a slow neighbour still finds the one before
  unsigned turn = 0;
};

// On one thread of the host at a time, which is the one that runs kernels.
struct Block {
  ucontext_t scheduler;
  std::vector<Fibre> fibres;
  unsigned running = 0;
  const std::function<void()>* thread = nullptr;
};
Block block; // its stacks are kept

void start() {
  (*block.thread)();
  block.fibres[block.running].waits = Waits::has_ended;
}

void wait(Waits what) {
  Fibre& self = block.fibres[block.running];
  self.waits = what;
  swapcontext(&self.context, &block.scheduler);
}

} // namespace

std::string run_block(unsigned threads, const std::function<void()>& thread) {
  if (block.fibres.size() < threads)
    block.fibres = std::vector<Fibre>(threads);
  block.thread = &thread;
  for (unsigned i = 0; i < threads; ++i) {
    Fibre& fibre = block.fibres[i];
    if (!fibre.stack)
      fibre.stack = std::make_unique<char[]>(stack_bytes);
    fibre.waits = Waits::for_nobody;
    fibre.turn = 0;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.get();
    fibre.context.uc_stack.ss_size = stack_bytes;
    fibre.context.uc_link = &block.scheduler;
    makecontext(&fibre.context, start, 0);
  }
  const gpu::HostThread place = gpu::host_thread;
  for (;;) {
    unsigned ran = 0, ended = 0;
    for (unsigned i = 0; i < threads; ++i) {
      Fibre& fibre = block.fibres[i];
      ended += fibre.waits == Waits::has_ended;
      if (fibre.waits == Waits::for_the_block || fibre.waits == Waits::has_ended)
        continue;
      ++ran;
      block.running = i;
      gpu::host_thread = place;
      gpu::host_thread.thread = i;
      swapcontext(&block.scheduler, &fibre.context);
    }
    if (ran > 0)
      continue;
    if (ended == threads)
      return "";
    if (ended > 0)
      return str_cat(ended, " of ", threads,
                     " threads of a block ended while the others wait at a barrier");
    for (unsigned i = 0; i < threads; ++i)
      block.fibres[i].waits = Waits::for_nobody;
  }
}

} // namespace troupe::testing

namespace troupe::gpu {

HostThread host_thread;

void wait_for_block() {
  testing::wait(testing::Waits::for_the_block);
}

void exchange_in_warp(void* value, unsigned bytes, unsigned lanes) {
  using testing::block;
  TROUPE_CHECK(bytes <= sizeof(testing::Shown), "a value of at most 16 bytes");
  const unsigned self = block.running;
  const unsigned turn = block.fibres[self].turn++ % 2;
  std::memcpy(block.fibres[self].shown[turn].bytes, value, bytes);
  testing::wait(testing::Waits::for_its_warp);
  if (self % testing::warp + lanes < testing::warp)
    std::memcpy(value, block.fibres[self + lanes].shown[turn].bytes, bytes);
}

} // namespace troupe::gpu
