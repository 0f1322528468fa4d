// late_reads: what TensorFlow's programs know of reference variables, whose readers share their
// memory.
#pragma once

#include "graph/ir/graph.hpp"

namespace troupe {

/// An Identity of a variable takes a snapshot when it runs. In TensorFlow it is the variable's
/// memory itself, and programs rely on it: session.run([train, global_step]) gives the new step,
/// and the tokens of a SyncReplicasOptimizer hold it. Therefore, of each variable by reference:
///
/// - what is ordered after an op that writes it, and reads it through an Identity that is not,
///   reads the reference itself, once both have run;
/// - if it is on another device, it is sent what an Identity on the variable's reads after those
///   ops;
/// - a fetch (role `result`) always reads the reference: at the end of its step;
/// - what a loop that writes it reads in all iterations is read anew as each of them begins.
///
/// An Identity is any node that passes a value on (role `passes_on`) on the variable's device, a
/// Switch that does so into a branch, and an Enter that does so into every iteration of a loop:
/// what a loop's body writes, its next iteration reads, and a branch or loop that comes after a
/// write reads what was written. Readers that no edge orders after a write keep the Identity's
/// snapshot. For pruned and placed graphs.
void read_references_late(Graph& graph);

} // namespace troupe
