// A session that ends with its process, or while a thread that used it lives on:
//   static_session global | function | thread
// Ends with 0 if every step gave what it should and nothing went wrong on the way out.
#include <cstdio>
#include <cstdlib>
#include <future>
#include <optional>
#include <string_view>
#include <thread>

#include "api/ops.hpp"
#include "api/session.hpp"

namespace {

using namespace troupe;

[[noreturn]] void give_up(const Status& why) {
  std::fprintf(stderr, "%s\n", why.to_string().c_str());
  std::_Exit(1);
}

Session open() {
  auto session = Session::open("local");
  if (!session.ok())
    give_up(session.status());
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  ops::add_v2(root.named("y"), x, 1.0f);
  if (Status status = session->extend(root); !status.ok())
    give_up(status);
  return *std::move(session);
}

void use(Session& session) {
  Feeds feeds = {{"x", Tensor::scalar(2.0f)}};
  auto check = [](const Result<std::vector<Tensor>>& values) {
    if (!values.ok())
      give_up(values.status());
    if (!equal((*values)[0], Tensor::scalar(3.0f)))
      give_up(internal("2 + 1 is not 3"));
  };
  for (int i = 0; i < 3; ++i) {
    check(session.run_async(feeds, {"y"}).get());
    check(session.run(feeds, {"y"}));
    check(session.run_async(feeds, {"y"}).get());
  }
}

std::optional<Session> global;

Session& of_function() {
  static Session session = open();
  return session;
}

// The thread ends after the session, which must not wait for that.
void in_a_thread() {
  std::optional<Session> session = open();
  std::promise<void> used, ended;
  std::thread user([&] {
    use(*session);
    used.set_value();
    ended.get_future().wait();
  });
  used.get_future().wait();
  session.reset();
  ended.set_value();
  user.join();
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  if (kind == "global") {
    global = open();
    use(*global);
  } else if (kind == "function") {
    use(of_function());
  } else if (kind == "thread") {
    in_a_thread();
  } else {
    std::fprintf(stderr, "static_session global | function | thread\n");
    return 2;
  }
  return 0;
}
