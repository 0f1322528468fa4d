// Collectives as kernels see them: what the devices of a group compute together. The actors
// implement it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/framework/context.hpp"
#include "kernels/framework/functions.hpp"
#include "kernels/framework/wait.hpp"

namespace troupe {

enum class CollectiveKind : std::uint8_t {
  reduce,         ///< everybody gets the merged inputs
  gather,         ///< everybody gets all inputs, one after the other along dimension 0, by rank
  broadcast,      ///< everybody gets the input of the source
  reduce_scatter, ///< rank r gets the r-th part along dimension 0 of the merged inputs
  all_to_all,     ///< rank r gets the r-th part along dimension 0 of each input, by rank
  barrier,        ///< all are there; the output is what it was before
};
inline constexpr std::uint8_t num_collective_kinds = 6;
enum class MergeOp : std::uint8_t { none, add, mul, min, max };
inline constexpr std::uint8_t num_merge_ops = 5;
/// "all-reduce", "all-gather", "broadcast", …
std::string_view to_string(CollectiveKind kind);
/// As the attribute merge_op spells it: "Add"; "none".
std::string_view to_string(MergeOp op);

/// What all members of a group must say alike.
struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::reduce;
  std::int64_t group_key = 0, instance_key = 0;
  std::int32_t group_size = 0;
  DType dtype = DType::invalid;
  Shape shape; ///< of each member's input; of a broadcast, of its value
  MergeOp merge = MergeOp::none;
  bool divides = false; ///< the merged value is divided by the group's size
};

/// Arithmetic on plain elements. Any thread.
struct CollectiveMath {
  /// out[i] = a[i] op b[i]; out may be a or b.
  std::function<void(const void* a, const void* b, void* out, std::int64_t count)> merge;
  /// x[i] /= size; empty where nothing is divided.
  std::function<void(void* x, std::int64_t count, int size)> divide;
};

/// One device's part in one collective of one step.
struct CollectiveCall {
  CollectiveSpec spec;
  std::string node, device; ///< device: full name
  std::uint64_t step = 0, frame = 0;
  std::int64_t iteration = 0;
  int rank = -1; ///< that the program gives it; -1: by the order of device names
  bool is_source = false;
  std::int64_t timeout_us = 0; ///< 0: as long as the step may take
  /// Those of its step that may be in the group. If they are as many as the group has members, the
  /// group is theirs alone; else other steps, of other sessions, have the rest.
  std::vector<std::string> step_devices;
  Tensor input;  ///< none of a member that only receives
  Tensor output; ///< written by threads of the node until the call is answered
  std::shared_ptr<const CollectiveMath> math; ///< null where nothing is merged
};

/// Of a session on a task. Any thread.
class Collectives {
public:
  virtual ~Collectives() = default;
  /// A new name for a call.
  virtual std::uint64_t ticket() = 0;
  /// `arrived` is called once, before the return or later from any thread, with the output.
  virtual void begin(std::uint64_t ticket, CollectiveCall call, Arrived arrived) = 0;
  /// Its step is cancelled. May come before `begin`, and then comes again.
  virtual void withdraw(std::uint64_t ticket) = 0;
  /// What the call waits for, for people.
  virtual std::string waits_for(std::uint64_t ticket) = 0;
  /// A step in which the device has begun a call has ended there, well or not.
  virtual void step_ended(const std::string& device, std::uint64_t step, const Status& status) = 0;
};

/// Keeps a session's collectives where its kernels find them. Once, before the first step.
void keep_collectives(NodeStates& session, std::shared_ptr<Collectives> collectives);

/// For an asynchronous kernel: begins `call` and waits for its output, which becomes output 0. Who,
/// where in which step is filled in here. A group of one needs nobody, and no output in the call.
/// INTERNAL in a step that has no collectives.
void run_collective(KernelContext& c, CollectiveCall call, KernelDone done);

} // namespace troupe
