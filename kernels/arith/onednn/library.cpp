#include "kernels/arith/onednn/library.hpp"

#include <cstdlib>

#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/internal/scratch.hpp"

extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);

namespace troupe::arith {
namespace onednn {

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1)
    omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (before_ != 1)
    omp_set_num_threads(before_);
}

const dnnl::engine& engine() {
  static const dnnl::engine the_engine(dnnl::engine::kind::cpu, 0);
  return the_engine;
}

dnnl::stream& stream() {
  static thread_local dnnl::stream the_stream(engine());
  return the_stream;
}

dnnl::memory view(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, engine(), const_cast<void*>(data));
}

bool execute(Compiled& p, Arguments& arguments) {
  const auto run = [&](void* scratchpad) {
    arguments.insert_or_assign(DNNL_ARG_SCRATCHPAD, view(p.scratchpad, scratchpad));
    p.run.execute(stream(), arguments);
    stream().wait();
  };
  const size_t bytes = p.scratchpad.get_size();
  switch (p.trust.load(std::memory_order_relaxed)) {
  case Trust::refused:
    return false;
  case Trust::trusted:
    run(thread_scratch(Scratch::onednn, bytes));
    return true;
  case Trust::untried:
    break;
  }
  const bool stayed = runs_within(Scratch::onednn, bytes, run);
  p.trust.store(stayed ? Trust::trusted : Trust::refused, std::memory_order_relaxed);
  return stayed;
}

} // namespace onednn

namespace {

std::atomic<bool>& onednn_on() {
  static std::atomic<bool> on = [] {
    const char* variable = std::getenv("TROUPE_ONEDNN");
    return variable == nullptr || std::string_view(variable) != "0";
  }();
  return on;
}

} // namespace

bool has_onednn() {
  return true;
}

bool onednn_in_use() {
  return onednn_on().load(std::memory_order_relaxed);
}

void use_onednn(bool on) {
  onednn_on().store(on, std::memory_order_relaxed);
}

} // namespace troupe::arith
