#include "tests/schedules/fault_plan.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <sstream>

#include "core/base/strings.hpp"

namespace troupe::testing {

namespace {

constexpr std::array point_names{"at", "before", "after", "answer"};
constexpr std::array action_names{"kill", "crash", "freeze", "cut", "hold", "slow"};

// Who is asked for what. A session's master runs on worker/0; parts run on all three tasks.
struct Target {
  const char* actor;
  std::vector<const char*> nodes;
  std::vector<const char*> messages;
};
const std::vector<Target>& targets() {
  static const std::vector<const char*> tasks{"ps/0", "worker/0", "worker/1"};
  static const std::vector<Target> all{
      {"guardian", tasks, {"Hello", "GetNodeStatus", "PeerList", "any"}},
      {"membership", tasks, {"GetPeer", "Welcome", "Heartbeat", "WatchPeer"}},
      {"transport", tasks, {"OfferTensor", "PullChunk", "FetchTensor", "TensorChunk"}},
      {"worker", tasks, {"CreateWorkerSession", "FindWorkerSession", "DeleteWorkerSession"}},
      {"worker-session",
       tasks,
       {"RegisterGraph", "GraphRegistered", "RunGraph", "GraphRun", "ReceiveTensors",
        "EdgesArrived", "WantEdges", "EdgesSent", "FindPeerSession", "WorkerSessionCreated",
        "CleanupStep", "CancelStep", "RenewLease", "ConfirmLease"}},
      {"graph-manager", tasks, {"RegisterGraph", "GraphCompiled", "ExecuteGraph", "PartExecuted"}},
      {"executor", tasks, {"ExecutePart", "EdgeTaken", "NextSlice", "CancelExecutor"}},
      {"rendezvous",
       tasks,
       {"PutEdge", "TakeEdge", "FlushEdges", "ReceiveTensors", "EdgesArrived", "EdgesSent"}},
      {"collectives",
       tasks,
       {"BeginCollective", "JoinCollective", "CollectiveFormed", "CollectivePiece",
        "CollectiveWorked", "LeaveCollective", "SeatEnded"}},
      {"master", {"worker/0"}, {"CreateSession", "Peer", "WorkerSessionCreated", "GraphExtended"}},
      {"master-session",
       {"worker/0"},
       {"ExtendGraph", "GraphParsed", "RunStep", "ClientGraphBuilt", "GraphRegistered", "RunPart",
        "CleanupPart", "StepFinished", "MakeCallable", "RunCallable", "ExplainGraph", "CancelRun",
        "CloseSession"}},
      {"step", {"worker/0"}, {"BeginStep", "GraphRun", "PartRun", "EndStep"}},
      {"session",
       {"client"},
       {"OpenSession", "Welcome", "SessionCreated", "RunStep", "RunStepResult", "RunCallable",
        "FetchedTensor", "CloseSession"}},
      {"explainer", {"worker/0"}, {"ExplainGraph"}},
      {"dialer", tasks, {"any"}},
  };
  return all;
}

std::vector<Fault> single_kills() {
  std::vector<Fault> out;
  for (const Target& target : targets())
    for (const char* node : target.nodes)
      for (const char* message : target.messages)
        for (auto point : {Fault::Point::before, Fault::Point::after, Fault::Point::answer})
          for (int nth : {1, 3}) {
            Fault fault;
            fault.point = point;
            fault.node = node;
            fault.actor = target.actor;
            fault.message = message;
            fault.nth = nth;
            out.push_back(std::move(fault));
          }
  return out;
}
const std::vector<Fault>& systematic() {
  static const std::vector<Fault> all = single_kills();
  return all;
}

Fault random_fault(std::mt19937_64& random) {
  auto pick = [&](std::uint64_t n) { return random() % n; };
  Fault fault;
  if (pick(3) == 0) {
    fault.at_ms = static_cast<std::int64_t>(pick(4) == 0 ? pick(3000) : pick(150));
  } else {
    fault = systematic()[pick(systematic().size())];
    fault.nth = 1 + static_cast<int>(pick(pick(3) == 0 ? 20 : 4));
    if (pick(12) == 0)
      fault.message = "any", fault.nth = 1 + static_cast<int>(pick(60));
  }
  static const std::vector<std::string> nodes{"ps/0", "worker/0", "worker/1", "client"};
  fault.action = static_cast<Fault::Action>(fault.point == Fault::Point::at_time ? 1 + pick(5)
                                            : pick(2) == 0                       ? 0
                                                                                 : 1 + pick(5));
  static const std::array<std::int64_t, 8> times{1, 20, 200, 900, 2500, 4900, 7000, 12000};
  fault.for_ms = times[pick(times.size())];
  if (fault.action == Fault::Action::crash) {
    fault.a = nodes[pick(3)];
  } else if (fault.action == Fault::Action::freeze) {
    fault.a = nodes[pick(4)];
  } else if (fault.action == Fault::Action::kill) {
    fault.for_ms = 0;
  } else {
    std::size_t a = pick(4), b = (a + 1 + pick(3)) % 4;
    fault.a = nodes[std::min(a, b)];
    fault.b = nodes[std::max(a, b)];
  }
  return fault;
}

template <std::size_t N>
int find(const std::array<const char*, N>& names, std::string_view word) {
  for (std::size_t i = 0; i < N; ++i)
    if (word == names[i])
      return static_cast<int>(i);
  return -1;
}

Result<Fault> parse_fault(const std::string& text) {
  std::istringstream in(text);
  Fault fault;
  std::string word;
  auto wrong = [&](std::string_view what) {
    return invalid_argument(str_cat("fault '", text, "': ", what));
  };
  in >> word;
  if (word == "at") {
    if (!(in >> fault.at_ms))
      return wrong("a time in milliseconds is missing after 'at'");
  } else if (word == "on") {
    in >> fault.node >> fault.actor >> word >> fault.message >> fault.nth;
    int point = find(point_names, word);
    if (!in || point < 1 || fault.nth < 1)
      return wrong("expected 'on NODE ACTOR before|after|answer MESSAGE N'");
    fault.point = static_cast<Fault::Point>(point);
  } else {
    return wrong("expected 'at' or 'on'");
  }
  in >> word;
  int action = find(action_names, word);
  if (!in || action < 0)
    return wrong(str_cat("unknown action '", word, "'"));
  fault.action = static_cast<Fault::Action>(action);
  if (fault.action == Fault::Action::kill && fault.point == Fault::Point::at_time)
    return wrong("only 'on' says which actor to kill");
  if (fault.action != Fault::Action::kill)
    in >> fault.a;
  if (fault.action >= Fault::Action::cut)
    in >> fault.b;
  if (fault.action != Fault::Action::kill)
    in >> fault.for_ms;
  if (!in)
    return wrong("too few words");
  if (in >> word)
    return wrong("too many words");
  for (const std::string* node : {&fault.node, &fault.a, &fault.b})
    if (!node->empty() && *node != "ps/0" && *node != "worker/0" && *node != "worker/1" &&
        *node != "client")
      return wrong(str_cat("there is no node '", *node, "'"));
  return fault;
}

} // namespace

std::string Fault::to_text() const {
  std::string out = point == Point::at_time ? str_cat("at ", at_ms)
                                            : str_cat("on ", node, " ", actor, " ",
                                                      point_names[static_cast<std::size_t>(point)],
                                                      " ", message, " ", nth);
  out += str_cat(" ", action_names[static_cast<std::size_t>(action)]);
  if (action != Action::kill)
    out += str_cat(" ", a, b.empty() ? "" : " ", b, " ", for_ms);
  return out;
}

std::string FaultPlan::to_text() const {
  std::string out;
  for (const Fault& fault : faults)
    out += str_cat(out.empty() ? "" : "; ", fault.to_text());
  return out;
}

Result<FaultPlan> FaultPlan::parse(std::string_view text) {
  FaultPlan plan;
  std::istringstream in{std::string(text)};
  for (std::string piece; std::getline(in, piece, ';');) {
    if (piece.find_first_not_of(' ') == std::string::npos)
      continue;
    TROUPE_ASSIGN(Fault fault, parse_fault(piece.substr(piece.find_first_not_of(' '))));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

std::uint64_t FaultPlan::num_systematic() {
  return systematic().size();
}

FaultPlan FaultPlan::generate(std::uint64_t seed) {
  FaultPlan plan;
  if (seed < systematic().size()) {
    plan.faults.push_back(systematic()[seed]);
    return plan;
  }
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15ull);
  for (std::size_t n = 1 + random() % 4; n > 0; --n)
    plan.faults.push_back(random_fault(random));
  return plan;
}

std::int64_t FaultPlan::total_ms() const {
  std::int64_t out = 0;
  for (const Fault& fault : faults)
    out += fault.for_ms;
  return out;
}

} // namespace troupe::testing
