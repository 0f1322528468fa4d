// The transport: bytes of large tensors.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct CheckLeases;
struct FetchTensor;
struct FetchedTensor;
struct OfferTensor;
struct OpenPath;
struct PathOffer;
struct PullChunk;
struct ReleaseTensor;
struct TensorChunk;
struct TransportEvent;

/// TRANSPORT: moves large tensors between nodes over the best path that both have, straight into
/// the receiver's buffer.
/// Drain: Local: answers when nothing is offered any more.
using TransportActor = DrainActor::extend<
    // Local: holds the tensor for its receiver.
    caf::reacts_to<OfferTensor>,
    // From a peer: a piece of an offered tensor, sent from its buffer. Fails: NOT_FOUND when it was
    // released or its lease ran out.
    caf::replies_to<PullChunk>::with<TensorChunk>,
    // From a peer: forget the ticket.
    caf::reacts_to<ReleaseTensor>,
    // From a peer that will pull: where and how it can. Fails: FAILED_PRECONDITION when a path that
    // one of the two asks for by name is not to be had.
    caf::replies_to<OpenPath>::with<PathOffer>,
    // Local: pulls the whole tensor. Fails: UNAVAILABLE when the sender is lost or the path breaks;
    // FAILED_PRECONDITION without the path that was asked for; RESOURCE_EXHAUSTED when there is no
    // memory for it.
    caf::replies_to<FetchTensor>::with<FetchedTensor>,
    // Internal: looks for leases that ran out.
    caf::reacts_to<CheckLeases>, caf::reacts_to<TransportEvent>>;

} // namespace troupe
