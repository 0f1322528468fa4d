// Forward declarations of kernels.
#pragma once

namespace troupe {
class KernelContext;
class PrepareContext;
class KernelRegistry;
class OpLibrary;
class Rendezvous;
class Cancellation;
struct KernelDef;
struct KernelNode;
struct StepEnvironment;
struct Entry;
} // namespace troupe
