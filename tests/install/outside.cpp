// Fits y = 2 x + 1 by descent with nothing but installed headers; fails if the fit is bad.
#include <cmath>
#include <cstdio>

#include "api/scope.hpp"

#include <troupe/device.hpp>
#include <troupe/ops.hpp>
#include <troupe/scope.hpp>
#include <troupe/session.hpp>
#include <troupe/status.hpp>
#include <troupe/tensor.hpp>
#include <troupe/variable.hpp>

namespace {

using namespace troupe;

// A header of the user's own at a path where ours has one, too.
static_assert(users_own_header);

Status fit(double& slope, double& offset) {
  Scope root = Scope::root();
  GraphVariable a = variable(root, "a", DType::float32, {}, 0.0f);
  GraphVariable b = variable(root, "b", DType::float32, {}, 0.0f);
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output y = ops::placeholder(root.named("y"), DType::float32);
  Output guess = ops::add_v2(root, ops::mul(root, a.read(), x), b.read());
  Output loss =
      ops::mean(root, ops::squared_difference(root, guess, y), Tensor::vector<std::int32_t>({0}));
  Minimized descent = minimize_sgd(root, loss, {a, b}, 0.1f);
  Operation init = initialize_all(root, {a, b});

  TROUPE_ASSIGN(Session session, Session::open("local", {.allow_soft_placement = true}));
  TROUPE_ASSIGN(auto devices, session.devices());
  std::printf("on %s\n", devices.at(0).name.c_str());
  TROUPE_TRY(session.extend(root));
  TROUPE_TRY(session.run({}, {}, {init.name()}).status());
  Feeds feeds{{"x", Tensor::vector<float>({-1, 0, 1, 2})},
              {"y", Tensor::vector<float>({-1, 1, 3, 5})}};
  for (int i = 0; i < 200; ++i)
    TROUPE_TRY(session.run(feeds, {}, {descent.step.name()}).status());
  TROUPE_ASSIGN(auto values, session.run({}, {a.read().name(), b.read().name()}));
  slope = values[0].value<float>();
  offset = values[1].value<float>();
  return {};
}

} // namespace

int main() {
  double slope = 0, offset = 0;
  if (troupe::Status status = fit(slope, offset); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.to_string().c_str());
    return 1;
  }
  std::printf("y = %.3f x + %.3f\n", slope, offset);
  return std::abs(slope - 2) < 1e-3 && std::abs(offset - 1) < 1e-3 ? 0 : 1;
}
