#include "api/variable.hpp"

#include <doctest/doctest.h>

#include "api/ops.hpp"
#include "api/session.hpp"

namespace troupe {

namespace {

// loss = Σ w², from w = [1, 2]; its gradient is 2 w.
struct Problem {
  explicit Problem(VariableKind kind)
      : w(variable(root, "w", DType::float32, {2}, Tensor::vector<float>({1, 2}), kind)),
        loss(ops::sum(root.named("loss"), ops::square(root, w.read()),
                      Tensor::vector<std::int32_t>({0}))) {}

  Scope root = Scope::root();
  GraphVariable w;
  Output loss;
};

// The values of w after one and after two steps.
void train(Problem& problem, const Minimized& minimized, const std::vector<float>& first,
           const std::vector<float>& second) {
  std::vector<GraphVariable> all{problem.w};
  all.insert(all.end(), minimized.slots.begin(), minimized.slots.end());
  Operation init = initialize_all(problem.root, all);
  auto session = Session::open("local");
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  Status extended = session->extend(problem.root);
  REQUIRE_MESSAGE(extended.ok(), extended.to_string());
  auto done = session->run({}, {}, {init.name()});
  REQUIRE_MESSAGE(done.ok(), done.status().to_string());
  for (const auto& wanted : {first, second}) {
    done = session->run({}, {}, {minimized.step.name()});
    REQUIRE_MESSAGE(done.ok(), done.status().to_string());
    auto w = session->run({}, {problem.w.read().name()});
    REQUIRE_MESSAGE(w.ok(), w.status().to_string());
    for (std::size_t i = 0; i < 2; ++i)
      CHECK((*w)[0].data<float>()[i] == doctest::Approx(wanted[i]).epsilon(1e-5));
  }
}

constexpr VariableKind kinds[] = {VariableKind::resource, VariableKind::reference};

} // namespace

TEST_CASE("sgd: w falls by rate times gradient") {
  for (VariableKind kind : kinds) {
    Problem problem(kind);
    Minimized step = minimize_sgd(problem.root, problem.loss, {problem.w}, 0.1f);
    train(problem, step, {0.8f, 1.6f}, {0.64f, 1.28f});
  }
}

TEST_CASE("momentum: the second step carries 0.9 of the first") {
  for (VariableKind kind : kinds) {
    Problem problem(kind);
    Minimized step = minimize_momentum(problem.root, problem.loss, {problem.w}, 0.1f);
    CHECK(step.slots.size() == 1);
    train(problem, step, {0.8f, 1.6f}, {0.46f, 0.92f});
  }
}

// m = .2 .4, v = .004 .016, rate √(1-.999)/(1-.9): a step of 0.1. Then m = .36 .74, v = .007236
// .030424, rate √(1-.999²)/(1-.9²) = .0235317: steps of .0995877 and .0998333.
TEST_CASE("adam: moments and their corrections") {
  for (VariableKind kind : kinds) {
    Problem problem(kind);
    Minimized step = minimize_adam(problem.root, problem.loss, {problem.w}, 0.1f);
    train(problem, step, {0.9f, 1.9f}, {0.8004123f, 1.8001667f});
  }
}

TEST_CASE("a variable that the loss does not read is named") {
  Problem problem(VariableKind::resource);
  GraphVariable other = variable(problem.root, "other", DType::float32, {}, 0.0f);
  (void)minimize_sgd(problem.root, problem.loss, {problem.w, other}, 0.1f);
  CHECK(problem.root.status().code() == Code::invalid_argument);
  CHECK(problem.root.status().message().find("'other'") != std::string::npos);
}

TEST_CASE("a variable and its initial value have one dtype and one shape") {
  for (VariableKind kind : {VariableKind::resource, VariableKind::reference}) {
    Scope root = Scope::root();
    (void)variable(root, "v", DType::float32, {2}, Tensor::zeros(DType::float32, {3}), kind);
    CHECK(root.status().code() == Code::invalid_argument);
    CHECK(root.status().message().find("variable 'v' is float of shape [2], but its initial value "
                                       "is float of shape [3]") != std::string::npos);
    Scope other = Scope::root();
    (void)variable(other, "v", DType::float32, {2}, Tensor::zeros(DType::int32, {2}), kind);
    CHECK(other.status().message().find("is int32 of shape [2]") != std::string::npos);
  }
}

TEST_CASE("a variable that was not initialised is named") {
  Problem problem(VariableKind::resource);
  auto session = Session::open("");
  REQUIRE(session.ok());
  REQUIRE(session->extend(problem.root).ok());
  Status status = session->run({}, {"loss"}).status();
  CHECK(status.code() == Code::failed_precondition);
  CHECK(status.message().find("variable w.") != std::string::npos);
}

TEST_CASE("gradients: of a product at a point, by hand") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output y = ops::placeholder(root.named("y"), DType::float32);
  Output f = ops::mul(root, ops::square(root, x), y); // x² y: 2 x y and x²
  auto found = gradients(root, {f}, {x, y});
  REQUIRE(root.status().ok());
  auto session = Session::open("");
  REQUIRE(session.ok());
  REQUIRE(session->extend(root).ok());
  auto out = session->run({{"x", Tensor::scalar(3.0f)}, {"y", Tensor::scalar(5.0f)}},
                          {found[0].name(), found[1].name()});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].value<float>() == doctest::Approx(30));
  CHECK((*out)[1].value<float>() == doctest::Approx(9));
}

TEST_CASE("variable: two of one name in different scopes are two") {
  for (VariableKind kind : kinds) {
    Scope root = Scope::root();
    GraphVariable one = variable(root.sub("one"), "w", DType::float32, {}, 1.0f, kind);
    GraphVariable two = variable(root.sub("two"), "w", DType::float32, {}, 2.0f, kind);
    Operation init = initialize_all(root, {one, two});
    auto session = Session::open("local");
    REQUIRE(session.ok());
    REQUIRE(session->extend(root).ok());
    REQUIRE(session->run({}, {}, {init.name()}).ok());
    auto values = session->run({}, {one.read().name(), two.read().name()});
    REQUIRE_MESSAGE(values.ok(), values.status().to_string());
    CHECK((*values)[0].value<float>() == 1.0f);
    CHECK((*values)[1].value<float>() == 2.0f);
  }
}

TEST_CASE("adam and momentum: variables of double train, those of other dtypes are refused") {
  for (VariableKind kind : kinds) {
    Scope root = Scope::root();
    GraphVariable w =
        variable(root, "w", DType::float64, {2}, Tensor::vector<double>({1, 2}), kind);
    Output loss = ops::sum(root, ops::square(root, w.read()), Tensor::vector<std::int32_t>({0}));
    Minimized adam = minimize_adam(root, loss, {w}, 0.1),
              momentum = minimize_momentum(root, loss, {w}, 0.1);
    REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
    CHECK(adam.slots[0].handle().node_name() == "w/adam_m");
    std::vector<GraphVariable> all{w};
    for (const Minimized* made : {&adam, &momentum})
      all.insert(all.end(), made->slots.begin(), made->slots.end());
    Operation init = initialize_all(root, all);
    auto session = Session::open("local");
    REQUIRE(session.ok());
    REQUIRE(session->extend(root).ok());
    REQUIRE(session->run({}, {}, {init.name()}).ok());
    for (const Minimized* made : {&adam, &momentum}) {
      auto step = session->run({}, {}, {made->step.name()});
      CHECK_MESSAGE(step.ok(), step.status().to_string());
    }
    Scope half = Scope::root();
    GraphVariable h =
        variable(half, "h", DType::float16, {1}, Tensor::zeros(DType::float16, {1}), kind);
    (void)minimize_adam(half, ops::square(half, h.read()), {h}, 0.1f);
    CHECK(half.status().code() == Code::invalid_argument);
    CHECK(half.status().message().find("'h' has dtype half") != std::string::npos);
  }
}

TEST_CASE("a read comes before an update that nothing orders with it, whichever was made first") {
  Scope root = Scope::root();
  GraphVariable v = variable(root, "v", DType::float32, {}, Tensor::scalar(0.0f));
  Operation add = root.named("add").add("AssignAddVariableOp",
                                        std::vector<Input>{v.handle(), Tensor::scalar(1.0f)});
  AttrMap type;
  type.set("dtype", DType::float32);
  Output late =
      root.named("late").add("ReadVariableOp", std::vector<Output>{v.handle()}, type).output(0);
  Output twice = ops::add(root.named("twice"), late, late);
  auto session = Session::open("local");
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  REQUIRE(session->extend(root).ok());
  REQUIRE(session->run({}, {}, {v.initializer().name()}).ok());
  for (int i = 0; i < 100; ++i) {
    auto read = session->run({}, {"twice"}, {add.name()});
    REQUIRE_MESSAGE(read.ok(), read.status().to_string());
    CHECK((*read)[0].value<float>() == 2.0f * static_cast<float>(i));
  }
}

TEST_CASE(
    "whether a variable holds a value is asked before an initializer that nothing orders with it") {
  for (const bool has_handle : {false, true}) {
    Scope root = Scope::root();
    Output value = ops::const_(root.named("value"), Tensor::scalar(1.0f), DType::float32);
    std::string init;
    if (has_handle) {
      GraphVariable v = variable(root, "v", DType::float32, {}, value);
      init = v.initializer().name();
      ops::var_is_initialized_op(root.named("asked"), v.handle());
    } else {
      Output v = ops::variable_v2(root.named("v"), PartialShape(Shape{}), DType::float32);
      init = ops::assign(root.named("assign"), v, value).node_name();
      ops::is_variable_initialized(root.named("asked"), v);
    }
    for (int i = 0; i < 20; ++i) {
      auto session = Session::open("local");
      REQUIRE_MESSAGE(session.ok(), session.status().to_string());
      REQUIRE(session->extend(root).ok());
      auto out = session->run({}, {"asked"}, {init});
      REQUIRE_MESSAGE(out.ok(), out.status().to_string());
      CHECK((*out)[0].value<bool>() == false);
    }
  }
}

} // namespace troupe
