// Text in, text out. Records are written one to a line:
//   task NAME [silent [MS] | ended | not-begun]
//   device NAME [silent] [unfinished=N]          of the task above
//   NODE OP waiting|queued|running [SECONDS] [async] [edge=E peer=D] [skipped=N] [more=N] [round=N]
//   < INPUT… lies KEY                                     a value in the task's rendezvous
// Names of tasks and devices are short: "ps" is /job:ps/replica:0/task:0, "ps.1" its CPU:1.
#include "actors/step/why_tree.hpp"

#include <sstream>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "kernels/framework/rendezvous.hpp"

using namespace troupe;

namespace {

std::string task_name(const std::string& text) {
  return str_cat("/job:", text, "/replica:0/task:0");
}
std::string device_name(const std::string& text) {
  std::size_t dot = text.find('.');
  return str_cat(task_name(text.substr(0, dot)), "/device:CPU:", text.substr(dot + 1));
}

void read_option(const std::string& word, NodeRecord& node) {
  auto value = [&] { return word.substr(word.find('=') + 1); };
  if (word == "async")
    node.is_async = true;
  else if (word.starts_with("edge="))
    node.edge = value();
  else if (word.starts_with("peer="))
    node.peer = device_name(value());
  else if (word.starts_with("skipped="))
    node.skipped = std::stoul(value());
  else if (word.starts_with("round=")) {
    node.frame = 1;
    node.iteration = std::stol(value()) - 1;
  } else if (word.starts_with("more="))
    node.more_missing = std::stoul(value());
  else if (word.starts_with("for="))
    node.waits_for = value();
  else
    node.running_us = static_cast<std::int64_t>(std::stod(word) * 1e6);
}

NodeRecord read_node(const std::string& name, std::istringstream& line) {
  NodeRecord node;
  node.node = name;
  std::string word;
  line >> node.op >> word;
  node.end = node.op == "_Send"     ? NodeRecord::End::send
             : node.op == "_Recv"   ? NodeRecord::End::receive
             : node.op == "_Retval" ? NodeRecord::End::fetch
                                    : NodeRecord::End::none;
  node.state = word == "running"  ? NodeRecord::State::running
               : word == "queued" ? NodeRecord::State::queued
                                  : NodeRecord::State::waiting;
  bool inputs = false;
  while (line >> word)
    if (word == "<")
      inputs = true;
    else if (inputs)
      node.missing.push_back(word);
    else
      read_option(word, node);
  return node;
}

std::vector<TaskRecord> read(const std::string& text) {
  std::vector<TaskRecord> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, name, word;
    if (!(words >> first))
      continue;
    if (first == "task") {
      words >> name;
      TaskRecord& task = out.emplace_back();
      task.task = task_name(name);
      task.answered = task.has_begun = true;
      if (!(words >> word))
        continue;
      task.answered = word != "silent";
      task.has_ended = word == "ended";
      task.has_begun = word != "not-begun";
      if (std::int64_t ms = 0; words >> ms)
        task.silence = {SilenceRecord::Kind::heard, ms * 1000, {}};
    } else if (first == "device") {
      words >> name;
      DeviceRecord& device = out.back().devices.emplace_back();
      device.device = device_name(name);
      device.answered = true;
      while (words >> word)
        if (word == "silent")
          device.answered = false;
        else
          device.unfinished = std::stoul(word.substr(word.find('=') + 1));
    } else if (first == "lies") {
      words >> name;
      out.back().edges.push_back({name, EdgeRecord::State::lies_here});
    } else {
      out.back().devices.back().nodes.push_back(read_node(first, words));
    }
  }
  return out;
}

std::string tree(const std::string& records, WhyLimits limits = {}) {
  return str_join(explain_step(read(records), limits).tree, "\n");
}
std::string cause(const std::string& records) {
  return explain_step(read(records)).cause;
}

} // namespace

TEST_CASE("why: a chain over three devices ends in the kernel that runs") {
  std::string records = R"(
    task worker
    device worker.0
    recv_b _Recv running 4.2 async edge=edge_1_b peer=worker.1
    y Neg waiting < recv_b:0
    fetch _Retval waiting < y:0
    device worker.1
    recv_a _Recv running 4.2 async edge=edge_7_a peer=ps.0
    b MatMul waiting < recv_a:0
    send_b _Send waiting edge=edge_1_b peer=worker.0 < b:0
    task ps
    device ps.0
    a Dequeue running 4.15 async
    send_a _Send waiting edge=edge_7_a peer=worker.1 < a:2
  )";
  CHECK(tree(records) ==
        "└─ 'y' (Neg) on /job:worker/replica:0/task:0/device:CPU:0 waits for 'b:0'\n"
        "   └─ 'b:0' from /job:worker/replica:0/task:0/device:CPU:1: its op 'b' (MatMul) waits for "
        "'a:2'\n"
        "      └─ 'a:2' from /job:ps/replica:0/task:0/device:CPU:0: its op 'a' (Dequeue) has been "
        "running for 4.1 s, asynchronously: it waits for something outside the graph");
  CHECK(cause(records) ==
        "waiting for 'a:2' from /job:ps/replica:0/task:0/device:CPU:0: its op 'a' (Dequeue) has "
        "been running for 4.1 s, asynchronously: it waits for something outside the graph");
}

TEST_CASE("why: a kernel that has said what it waits for") {
  std::string records = R"(
    task worker
    device worker.0
    take QueueDequeueV2 running 2.5 async for=elements
    y Neg waiting < take:0
    fetch _Retval waiting < y:0
  )";
  CHECK(cause(records) ==
        "'take' (QueueDequeueV2) on /job:worker/replica:0/task:0/device:CPU:0 has "
        "been running for 2.5 s, asynchronously: it waits for elements");
}

TEST_CASE("why: a silent task is the cause, with its last word") {
  std::string records = R"(
    task worker
    device worker.0
    recv _Recv running async edge=edge_1_a peer=ps.0
    y Neg waiting < recv:0
    task ps silent 3200
  )";
  CHECK(tree(records) ==
        "└─ 'y' (Neg) on /job:worker/replica:0/task:0/device:CPU:0 waits for 'a'\n"
        "   └─ 'a' from /job:ps/replica:0/task:0/device:CPU:0: /job:ps/replica:0/task:0 does not "
        "answer (last heard of 3200 ms ago)");
}

TEST_CASE("why: a silent task that nothing is known to wait for is told all the same") {
  CHECK(tree("task ps silent") == "└─ /job:ps/replica:0/task:0 does not answer");
  CHECK(
      tree("task ps not-begun")
          .starts_with("└─ /job:ps/replica:0/task:0 does not run its part of the step: its start"));
}

TEST_CASE("why: the likeliest cause comes last, whatever waits for it") {
  std::string text = tree(R"(
    task worker
    device worker.0
    quick Add running 0.2
    slow MatMul running 9
    ready Mul queued
    y Sum waiting < quick:0 slow:0 ready:0
    z Sum waiting < ready:0
  )");
  CHECK(text == "├─ 'z' (Sum) on /job:worker/replica:0/task:0/device:CPU:0 waits for 'ready:0'\n"
                "│  └─ 'ready' (Mul) is ready, and waits for its turn on the device\n"
                "└─ 'y' (Sum) on /job:worker/replica:0/task:0/device:CPU:0 waits for 'quick:0', "
                "'slow:0', 'ready:0'\n"
                "   ├─ 'ready' (Mul) is ready, and waits for its turn on the device\n"
                "   ├─ 'quick' (Add) has been running for 200 ms\n"
                "   └─ 'slow' (MatMul) has been running for 9.0 s");
}

TEST_CASE("why: a loop that goes on says in which round it is") {
  CHECK(cause("task ps\ndevice ps.0\nmore Less queued round=90210") ==
        "'more' (Less) on /job:ps/replica:0/task:0/device:CPU:0 is about to run in round 90210 of "
        "its loop");
}

TEST_CASE("why: a silent task comes before a kernel that runs long") {
  CHECK(cause(R"(
    task worker
    device worker.0
    slow MatMul running 4000
    recv _Recv running async edge=edge_1_a peer=ps.0
    y Add waiting < slow:0 recv:0
    task ps silent
  )") ==
        "waiting for 'a' from /job:ps/replica:0/task:0/device:CPU:0: /job:ps/replica:0/task:0 does "
        "not answer");
}

TEST_CASE("why: a device that a kernel holds is told with the kernel") {
  std::string worker = R"(
    task worker
    device worker.0
    recv _Recv running async edge=edge_1_a peer=ps.0
    y Neg waiting < recv:0
    task ps
    device ps.0 silent
  )";
  CHECK(cause(worker + "a MatMul running 75") ==
        "waiting for 'a' from /job:ps/replica:0/task:0/device:CPU:0: its op 'a' (MatMul) has been "
        "running for 1 min 15 s");
  CHECK(
      cause(worker + "b MatMul running 7300")
          .ends_with("its device is taken by 'b' (MatMul), which has been running for 2 h 1 min"));
  CHECK(cause(worker).ends_with("its device does not answer: a kernel holds its thread"));
}

TEST_CASE("why: a value that is on its way is told so") {
  std::string worker = R"(
    task worker
    device worker.0
    recv _Recv running async edge=edge_1_a peer=ps.0
    y Neg waiting < recv:0
  )";
  std::string key =
      rendezvous_key(device_name("ps.0"), 5, device_name("worker.0"), "edge_1_a", 0, 0);
  CHECK(cause(worker + "task ps ended").ends_with("its op 'a' has run, its value is on the way"));
  CHECK(cause(str_cat(worker, "task ps\nlies ", key)) ==
        "waiting for 'a' from /job:ps/replica:0/task:0/device:CPU:0: its op 'a' has run, its "
        "value waits there to be asked for");
  CHECK(
      cause(worker + "task ps\ndevice ps.0\nother Mul running 1")
          .ends_with("'other' (Mul) on /job:ps/replica:0/task:0/device:CPU:0 has been running for "
                     "1.0 s"));
  CHECK(tree(worker + "task ps\ndevice ps.0\nother Mul running 1")
            .find("its op 'a' has run, its value is on the way") != std::string::npos);
  CHECK(cause(worker + "task ps not-begun") ==
        "waiting for 'a' from /job:ps/replica:0/task:0/device:CPU:0: /job:ps/replica:0/task:0 does "
        "not run its part of the step: its start or its fed values are on the way there, or its "
        "answer is on the way back");
}

TEST_CASE("why: a task without part in the step is named") {
  CHECK(cause(R"(
    task worker
    device worker.0
    recv _Recv running async edge=edge_1_a peer=ps.0
  )") ==
        "waiting for 'a' from /job:ps/replica:0/task:0/device:CPU:0: task /job:ps/replica:0/task:0 "
        "has no part in the step");
}

TEST_CASE("why: an edge goes on through a device that only passes it on") {
  CHECK(tree(R"(
    task worker
    device worker.0
    recv _Recv running async edge=edge_1_a/_3 peer=worker.1
    y Neg waiting < recv:0
    device worker.1
    a/_3 _Recv running async edge=edge_9_a peer=ps.0
    send _Send waiting edge=edge_1_a/_3 peer=worker.0 < a/_3:0
    task ps silent
  )") == "└─ 'y' (Neg) on /job:worker/replica:0/task:0/device:CPU:0 waits for 'a/_3:0'\n"
         "   └─ 'a/_3:0' from /job:worker/replica:0/task:0/device:CPU:1: it has not come there "
         "itself\n"
         "      └─ 'a' from /job:ps/replica:0/task:0/device:CPU:0: /job:ps/replica:0/task:0 does "
         "not answer");
}

TEST_CASE("why: devices that wait for each other are a circle, not a loop") {
  std::string text = tree(R"(
    task worker
    device worker.0
    ra _Recv running async edge=edge_1_a peer=ps.0
    b Neg waiting < ra:0
    sb _Send waiting edge=edge_2_b peer=ps.0 < b:0
    task ps
    device ps.0
    rb _Recv running async edge=edge_2_b peer=worker.0
    a Neg waiting < rb:0
    sa _Send waiting edge=edge_1_a peer=worker.0 < a:0
  )");
  CHECK(text.ends_with(", in a circle"));
}

TEST_CASE("why: a node that waits for itself is a circle") {
  CHECK(tree("task ps\ndevice ps.0\na Merge waiting < a:0").ends_with("waits for 'a:0'"));
  CHECK(tree("task ps\ndevice ps.0\na Merge waiting < b:0\nb Neg waiting < a:0")
            .ends_with(", in a circle"));
}

TEST_CASE("why: a chain that was left out is counted, nodes that nobody listed too") {
  CHECK(tree(R"(
    task ps
    device ps.0 unfinished=5000
    x MatMul running 2
    y Neg waiting skipped=994 < x:0
  )") == "└─ 'y' (Neg) on /job:ps/replica:0/task:0/device:CPU:0 waits through 994 more nodes for "
         "'x:0'\n"
         "   └─ 'x' (MatMul) has been running for 2.0 s");
  CHECK(tree("task ps\ndevice ps.0 unfinished=5000\ny Neg waiting more=7 < x:0")
            .ends_with("waits for 'x:0' and 7 more, one of 5000 unfinished nodes there"));
}

TEST_CASE("why: thousands of waiting nodes make a bounded tree that ends in the cause") {
  std::ostringstream records;
  records << "task worker\ndevice worker.0\n";
  for (int i = 0; i < 3000; ++i)
    records << "r" << i << " _Recv running async edge=edge_" << i << "_a" << i << " peer=ps.0\n"
            << "n" << i << " Neg waiting < r" << i << ":0 n" << i / 2 << ":0\n";
  records << "task ps\ndevice ps.0\nguilty MatMul running 11\n";
  for (int i = 0; i < 3000; ++i)
    records << "a" << i << " Neg waiting < guilty:0\n"
            << "s" << i << " _Send waiting edge=edge_" << i << "_a" << i << " peer=worker.0 < a"
            << i << ":0\n";
  Why why = explain_step(read(records.str()));
  CHECK(why.tree.size() < 150);
  CHECK(why.tree.back().ends_with("'guilty' (MatMul) has been running for 11.0 s"));
  CHECK(why.cause ==
        "'guilty' (MatMul) on /job:ps/replica:0/task:0/device:CPU:0 has been running for 11.0 s");
}

TEST_CASE(
    "why: a chain without end through devices is cut at its depth and still names the cause") {
  std::ostringstream records;
  int hops = 100;
  for (int i = 0; i < hops; ++i) {
    records << "task t" << i << "\ndevice t" << i << ".0\n";
    records << "r _Recv running async edge=edge_1_v peer=t" << i + 1 << ".0\n";
    records << "v Neg waiting < r:0\n";
    if (i > 0)
      records << "s _Send waiting edge=edge_1_v peer=t" << i - 1 << ".0 < v:0\n";
  }
  records << "task t" << hops << " silent\n";
  Why why = explain_step(read(records.str()));
  CHECK(why.tree.size() <= 26);
  CHECK(why.tree.back().ends_with("/job:t100/replica:0/task:0 does not answer"));
  CHECK(why.cause.starts_with("waiting for 'v' from /job:t100/"));
}

TEST_CASE("why: when every part has ended, that is said") {
  CHECK(tree("task ps ended") == "└─ every part has ended; its answer is on the way");
}
