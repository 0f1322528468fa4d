// A session in this process, and the small graphs that its tests run.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "api/ops.hpp"
#include "api/session.hpp"
#include "graph/ir/text.hpp"
#include "tests/support/endless_graph.hpp"

namespace troupe::testing {

inline bool has(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

inline Session local(const SessionOptions& options = {}) {
  auto session = Session::open("local", options);
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  return *std::move(session);
}

/// y = 2 x + 1, z = x².
inline Scope small_graph() {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  ops::add_v2(root.named("y"), ops::mul(root, x, 2.0f), 1.0f);
  ops::square(root.named("z"), x);
  return root;
}

inline Tensor floats(std::initializer_list<float> values) {
  return Tensor::vector<float>(values);
}

/// The small graph beside a loop that only a deadline, a cancellation or a close ends.
inline Scope small_and_endless_graph() {
  Scope root = small_graph();
  Status parsed = parse_into(endless_graph, *root.graph());
  REQUIRE_MESSAGE(parsed.ok(), parsed.to_string());
  return root;
}

} // namespace troupe::testing
