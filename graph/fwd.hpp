// Forward declarations of graph.
#pragma once

namespace troupe {
struct OpSchema;
class OpRegistry;
class AttrMap;
class ShapeContext;
class GradContext;
class Graph;
struct Node;
struct Endpoint;
} // namespace troupe
