// A tenant of a cluster under fire: told what to do line by line, it tells every call with its
// time, code and message, and knows what its variables must hold.
//
//   chaos_client CLUSTER.CONF NAME MASTER    task MASTER of job worker is its master
//
// Commands on standard input:
//   open, close, init                a session; its variables at their initial values
//   steps N, for SECONDS             ordinary steps, every 16th a large one; until the first error
//   long                             one step of a second or so over all tasks, beside it small ones
//   expect A MAYBE_A B MAYBE_B       what a client that was killed knew of its steps
//   check                            reads all variables and compares them with what they must hold
//   quit
//
// Lines on standard output:
//   {"call":"step","begin":12.5}     before a call; seconds of the monotonic clock
//   {"call":"step","begin":12.5,"end":12.6,"code":"OK","message":""}
//   {"done":"steps","code":"OK","wrong":""}     after a command; "wrong" is what no fault excuses
//
// The program. All arithmetic is of int32, modulo 2^32, so that the values say which steps were
// done: a step is an injective function of what was there, and no two states within reach are
// alike.
//
//   step    a' = 3 a + (5 a + 1) + (7 a + 2)    the terms in brackets on worker 0 and worker 1
//   large   b' = 3 b + (4 b + 1)                the bracket on worker 1; b has 5 MiB
//
// An acknowledged step has been done once. The one that failed may have been done once, or not: it
// is `maybe`. Counters move after their variable, so that one ahead of its counter is told apart
// too.
#include <charconv>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>

#include "api/scope.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "net/cluster/node_config.hpp"

namespace troupe {
namespace {

constexpr std::int64_t small = 65'536, large = 5 << 18; // elements: 256 KiB and 5 MiB
constexpr int large_every = 16, long_hops = 24;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      str_append(out, '\\', c);
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out + '"';
}

double now() {
  return static_cast<double>(steady_micros()) * 1e-6;
}

// Tells the call's begin, makes it, tells its end.
template <class Call>
Status tell(const char* name, Call call) {
  double begin = now();
  std::printf("{\"call\":\"%s\",\"begin\":%.6f}\n", name, begin);
  std::fflush(stdout);
  Status status = call();
  std::printf("{\"call\":\"%s\",\"begin\":%.6f,\"end\":%.6f,\"code\":\"%s\",\"message\":%s}\n",
              name, begin, now(), std::string(to_string(status.code())).c_str(),
              quoted(status.message()).c_str());
  std::fflush(stdout);
  return status;
}

Tensor counting(std::int64_t size) {
  Tensor out = Tensor::make(DType::int32, {size});
  std::int32_t i = 0;
  for (std::int32_t& x : out.mutable_data<std::int32_t>())
    x = i++;
  return out;
}

// What the program makes of one element in `rounds` rounds of x' = factor x + addend.
std::uint32_t after_rounds(std::uint32_t x, std::int64_t rounds, std::uint32_t factor,
                           std::uint32_t addend) {
  for (std::int64_t i = 0; i < rounds; ++i)
    x = factor * x + addend;
  return x;
}
bool is_after(const Tensor& value, std::int64_t rounds, std::uint32_t factor,
              std::uint32_t addend) {
  // A round is x → f x + c; so is any number of them, with an f and a c of their own.
  std::uint32_t c = after_rounds(0, rounds, factor, addend);
  std::uint32_t f = after_rounds(1, rounds, factor, addend) - c;
  std::uint32_t i = 0;
  for (std::int32_t x : value.data<std::int32_t>())
    if (static_cast<std::uint32_t>(x) != f * i++ + c)
      return false;
  return true;
}

struct Graph {
  Scope root = Scope::root();
  std::string init, step, big, bump;         ///< targets
  std::vector<std::string> state;            ///< fetches: a, n, b, m
  std::vector<std::string> canary, long_run; ///< fetches
};

Output times(const Scope& s, const Output& x, std::int32_t factor, std::int32_t addend) {
  Output product = s.add("Mul", std::vector<Input>{x, factor}).output(0);
  return s.add("AddV2", std::vector<Input>{product, addend}).output(0);
}
Output sum(const Scope& s, const Output& x, const Output& y) {
  return s.add("AddV2", std::vector<Output>{x, y}).output(0);
}
Operation assign(const Scope& s, const GraphVariable& v, const Output& value) {
  return s.add("AssignVariableOp", std::vector<Output>{v.handle(), value});
}
Operation count(const Scope& s, const GraphVariable& v) {
  return s.add("AssignAddVariableOp", std::vector<Input>{v.handle(), std::int64_t{1}});
}
Output extreme(const Scope& s, const char* op, const Output& x) {
  return s.add(op, std::vector<Input>{x, Tensor::vector<std::int32_t>({0})}).output(0);
}
// Zero, after some milliseconds of products that no pass can take away.
Output delay(const Scope& s) {
  Output noise =
      s.add("RandomUniform", std::vector<Input>{Tensor::vector<std::int32_t>({512, 512})},
            {{"dtype", DType::float32}})
          .output(0);
  for (int i = 0; i < 4; ++i)
    noise = s.add("Tanh",
                  std::vector<Output>{s.add("MatMul", std::vector<Output>{noise, noise}).output(0)})
                .output(0);
  Output most =
      s.add("Max", std::vector<Input>{noise, Tensor::vector<std::int32_t>({0, 1})}).output(0);
  Output none = s.add("Mul", std::vector<Input>{most, 0.0f}).output(0);
  return s.add("Cast", std::vector<Output>{none}, {{"DstT", DType::int32}}).output(0);
}

Graph build(const std::string& name) {
  Graph g;
  Scope top = g.root.sub(name);
  Scope ps = top.on("/job:ps/task:0");
  Scope workers[2] = {top.on("/job:worker/task:0"), top.on("/job:worker/task:1")};
  GraphVariable a = variable(ps, "a", DType::int32, {small}, counting(small));
  GraphVariable b = variable(ps, "b", DType::int32, {large}, counting(large));
  GraphVariable c = variable(ps, "c", DType::int32, {small}, Tensor::zeros(DType::int32, {small}));
  GraphVariable n = variable(ps, "n", DType::int64, {}, Tensor::scalar<std::int64_t>(0));
  GraphVariable m = variable(ps, "m", DType::int64, {}, Tensor::scalar<std::int64_t>(0));
  g.init = initialize_all(ps, {a, b, c, n, m}).name();
  Output terms = sum(ps, times(workers[0], a.read(), 5, 1), times(workers[1], a.read(), 7, 2));
  g.step = count(ps.after({assign(ps, a, sum(ps, times(ps, a.read(), 3, 0), terms))}), n).name();
  Output term = times(workers[1], b.read(), 4, 1);
  g.big = count(ps.after({assign(ps, b, sum(ps, times(ps, b.read(), 3, 0), term))}), m).name();
  Output ones = ps.add("OnesLike", std::vector<Output>{c.read()}).output(0);
  g.bump = ps.add("AssignAddVariableOp", std::vector<Output>{c.handle(), ones}).name();
  for (const GraphVariable* v : {&a, &n, &b, &m})
    g.state.push_back(v->read().name());

  // A value that goes to and fro, and a variable that others change while it is looked at.
  Output x = a.read();
  Output seen = workers[0].add("Identity", std::vector<Output>{c.read()}).output(0);
  for (int i = 0; i < long_hops; ++i) {
    const Scope& s = i + 1 == long_hops ? workers[0] : workers[i % 2];
    x = sum(s, times(s, x, 5, 1), delay(s));
  }
  g.long_run = {x.name()};
  for (const Scope& s : {workers[0], workers[0].after(x)})
    for (const char* op : {"Min", "Max"})
      g.long_run.push_back(extreme(s, op, seen).name());
  return g;
}

class Client {
public:
  Client(std::string target, const std::string& name)
      : target_(std::move(target)), graph_(build(name)) {}

  Status open() {
    TROUPE_TRY(graph_.root.status());
    session_.reset();
    TROUPE_TRY(tell("open", [&] {
      auto session = Session::open(target_);
      if (!session.ok())
        return session.status();
      session_ = *std::move(session);
      return Status{};
    }));
    return tell("extend", [&] { return session_->extend(graph_.root); });
  }
  Status init() {
    TROUPE_TRY(run("init", {}, {graph_.init}).status());
    a_ = b_ = {};
    return {};
  }
  Status step() {
    bool is_large = ++number_ % large_every == 0;
    Known& known = is_large ? b_ : a_;
    Status status =
        run(is_large ? "large" : "step", {}, {is_large ? graph_.big : graph_.step}).status();
    if (status.ok())
      ++known.done;
    else
      ++known.maybe;
    return status;
  }
  Status long_step() {
    std::vector<Tensor> values;
    Status status = tell("long", [&]() -> Status {
      if (!session_)
        return failed_precondition("there is no session");
      PendingRun run = session_->run_async({}, graph_.long_run);
      do // the look-out changes meanwhile
        if (Status bumped = session_->run({}, {}, {graph_.bump}).status(); !bumped.ok())
          break;
      while (!run.wait_for(std::chrono::milliseconds(2)));
      TROUPE_ASSIGN(values, run.get());
      return {};
    });
    if (!status.ok())
      return status;
    // The chain began with `a` as the steps left it.
    std::int64_t rounds = a_.done;
    std::uint32_t c = after_rounds(after_rounds(0, rounds, 15, 3), long_hops, 5, 1);
    std::uint32_t f = after_rounds(after_rounds(1, rounds, 15, 3), long_hops, 5, 1) - c, i = 0;
    for (std::int32_t x : values[0].data<std::int32_t>())
      if (static_cast<std::uint32_t>(x) != f * i++ + c) {
        wrong(str_cat("element ", i - 1, " of a long step's chain is wrong"));
        break;
      }
    std::int32_t first = values[1].value<std::int32_t>();
    for (std::size_t k = 2; k < values.size(); ++k)
      if (std::int32_t x = values[k].value<std::int32_t>(); x != first)
        wrong(str_cat("a variable that a step had read changed under it: ", first, ", then ", x));
    return {};
  }
  void expect(std::int64_t a, std::int64_t maybe_a, std::int64_t b, std::int64_t maybe_b) {
    a_ = {a, maybe_a};
    b_ = {b, maybe_b};
  }
  // Afterwards only `init` makes sense: a step that was done in part has left a variable ahead of
  // its counter.
  Status check() {
    auto values = run("check", graph_.state, {});
    TROUPE_TRY(values.status());
    compare("step", a_, (*values)[0], (*values)[1].value<std::int64_t>(), 15, 3);
    compare("large step", b_, (*values)[2], (*values)[3].value<std::int64_t>(), 7, 1);
    return {};
  }
  Status close() {
    return tell("close", [&] {
      session_.reset();
      return Status{};
    });
  }
  std::string take_wrong() { return std::exchange(wrong_, {}); }

private:
  struct Known {
    std::int64_t done = 0, maybe = 0; ///< steps
  };

  Result<std::vector<Tensor>> run(const char* name, const std::vector<std::string>& fetches,
                                  const std::vector<std::string>& targets) {
    std::vector<Tensor> values;
    TROUPE_TRY(tell(name, [&]() -> Status {
      if (!session_)
        return failed_precondition("there is no session");
      TROUPE_ASSIGN(values, session_->run({}, fetches, targets));
      return {};
    }));
    return values;
  }
  void compare(const char* what, const Known& known, const Tensor& value, std::int64_t counter,
               std::uint32_t factor, std::uint32_t addend) {
    std::string of = str_cat(" (", known.done, " acknowledged, ", known.maybe, " unknown)");
    if (counter < known.done)
      wrong(str_cat(known.done - counter, " acknowledged ", what, "s are lost", of));
    if (counter > known.done + known.maybe)
      wrong(str_cat("a ", what, " was done more than once: ", counter, of));
    for (std::int64_t rounds = counter; rounds <= known.done + known.maybe; ++rounds)
      if (is_after(value, rounds, factor, addend))
        return;
    wrong(str_cat("the variable of the ", what, "s holds what no number of them makes, counter ",
                  counter, of));
  }
  void wrong(std::string what) {
    if (wrong_.empty())
      wrong_ = std::move(what);
  }

  std::string target_, wrong_;
  Graph graph_;
  std::optional<Session> session_;
  Known a_, b_;
  int number_ = 0;
};

Status obey(Client& client, const std::string& verb, std::istringstream& words) {
  if (verb == "open")
    return client.open();
  if (verb == "close")
    return client.close();
  if (verb == "init")
    return client.init();
  if (verb == "long")
    return client.long_step();
  if (verb == "check")
    return client.check();
  Status last;
  if (verb == "steps") {
    int count = 1;
    words >> count;
    for (int i = 0; i < count && last.ok(); ++i)
      last = client.step();
    return last;
  }
  if (verb == "for") {
    double seconds = 1;
    words >> seconds;
    for (double end = now() + seconds; last.ok() && now() < end;)
      last = client.step();
    return last;
  }
  if (verb == "expect") {
    std::int64_t a = 0, maybe_a = 0, b = 0, maybe_b = 0;
    words >> a >> maybe_a >> b >> maybe_b;
    client.expect(a, maybe_a, b, maybe_b);
    return {};
  }
  return invalid_argument(str_cat("'", verb, "' is no command of this client"));
}

int run(const char* file, const std::string& name, int master_task) {
  auto config = read_cluster_config(file);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.status().to_string().c_str());
    return 1;
  }
  auto master = config->task("worker", master_task);
  if (!master.ok()) {
    std::fprintf(stderr, "%s\n", master.status().to_string().c_str());
    return 1;
  }
  Client client(str_cat("caf://", master->address), name);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    Status last = obey(client, verb, words);
    std::printf("{\"done\":%s,\"code\":\"%s\",\"wrong\":%s}\n", quoted(verb).c_str(),
                std::string(to_string(last.code())).c_str(), quoted(client.take_wrong()).c_str());
    std::fflush(stdout);
  }
  return 0;
}

} // namespace
} // namespace troupe

int main(int argc, char** argv) {
  int master = 0;
  if (argc != 4 ||
      std::from_chars(argv[3], argv[3] + std::char_traits<char>::length(argv[3]), master).ec !=
          std::errc()) {
    std::fprintf(stderr, "usage: chaos_client CLUSTER.CONF NAME MASTER\n");
    return 2;
  }
  return troupe::run(argv[1], argv[2], master);
}
