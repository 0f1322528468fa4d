// What all that runs oneDNN's primitives shares. The library runs on OpenMP: it is held to the
// calling thread, because the caller has already split the work. Each call brings its own
// scratchpad, each thread its own stream.
#pragma once

#include <atomic>
#include <string_view>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

namespace troupe::arith::onednn {

/// Limits OpenMP to one thread for calls from this thread, and puts the old limit back.
class OneThread {
public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

private:
  int before_;
};

const dnnl::engine& engine();
dnnl::stream& stream();

/// What lies at `data`, which the caller keeps.
dnnl::memory view(const dnnl::memory::desc& desc, const void* data);

using Arguments = std::unordered_map<int, dnnl::memory>;

/// New until it has run once and stayed within its scratchpad; refused if it did not.
///
///   untried ── first run ─┬─ stayed within ─▶ trusted
///                         └─ left it ───────▶ refused
enum class Trust : int { untried, trusted, refused };

struct Compiled {
  dnnl::primitive run;
  dnnl::memory::desc scratchpad;
  std::atomic<Trust> trust{Trust::untried};
};

/// False if `p` turned out to leave its scratchpad, now or before: its results are not to be used.
bool execute(Compiled& p, Arguments& arguments);

/// Whether oneDNN has only its reference code, which is slow.
template <class Description>
bool is_reference(const Description& found) {
  return std::string_view(found.impl_info_str()).find("ref") != std::string_view::npos;
}

} // namespace troupe::arith::onednn
