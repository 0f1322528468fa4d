// Runs graphs of the comparison with TensorFlow, many in one process: asked on standard input,
// answered on standard output. tests/peer/troupe_side.py is the other end.
//
// A message is its length (u32) and as many bytes; numbers are little-endian, a text is its length
// (u32) and its bytes, a list its length (u32) and its items. Requests:
//
//   g  options (u8), GraphDef                   a fresh session with that graph; 1: without passes
//   d  list of ys, list of xs                   adds d sum(ys) / dx: names, "" where none depends
//   r  list of (name, tensor), fetches, targets one step: the fetched tensors
//
// Every answer is a code (u8; 0 is ok), a message, a list of names and a list of tensors. A tensor
// is its dtype's number (i32), its rank (u8), its dimensions (i64) and its elements: bytes, or
// texts. Those of resources and variants stay here.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>

#include "api/scope.hpp"
#include "api/session.hpp"
#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::int64_t step_limit_ms = 10'000;
constexpr std::int64_t memory_limit = std::int64_t{1} << 30;

/// Reads a request. The other end is a script of ours, so what is malformed ends the process.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T number() {
    T out;
    std::memcpy(&out, take(sizeof(T)).data(), sizeof(T));
    return out;
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
  std::vector<std::string> texts() {
    std::vector<std::string> out(number<std::uint32_t>());
    for (std::string& item : out)
      item = text();
    return out;
  }
  Result<Tensor> tensor() {
    const auto dtype = static_cast<DType>(number<std::int32_t>());
    std::vector<std::int64_t> dims(number<std::uint8_t>());
    for (std::int64_t& dim : dims)
      dim = number<std::int64_t>();
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
    Tensor out = Tensor::make(dtype, shape);
    if (dtype == DType::string)
      for (std::string& item : out.mutable_data<std::string>())
        item = text();
    else
      take_into(out.mutable_raw(), out.bytes().size());
    return out;
  }
  std::string_view take(std::size_t n) {
    TROUPE_CHECK(n <= rest_.size(), "a request holds what it announces");
    const std::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }

private:
  void take_into(void* to, std::size_t n) {
    if (n > 0)
      std::memcpy(to, take(n).data(), n);
  }
  std::string_view rest_;
};

class Writer {
public:
  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
  }
  void tensor(const Tensor& value) {
    number(static_cast<std::int32_t>(value.dtype()));
    number(static_cast<std::uint8_t>(value.shape().rank()));
    for (std::int64_t dim : value.shape().dims())
      number(dim);
    if (value.dtype() == DType::string)
      for (const std::string& item : value.data<std::string>())
        text(item);
    else if (!is_object(value.dtype()))
      bytes_.append(static_cast<const char*>(value.raw()), value.bytes().size());
  }
  const std::string& bytes() const { return bytes_; }

private:
  std::string bytes_;
};

struct Answer {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

class Runner {
public:
  Result<Answer> answer(Reader request) {
    switch (request.number<char>()) {
    case 'g': {
      const bool is_plain = request.number<std::uint8_t>() == 1;
      return begin(request.text(), is_plain);
    }
    case 'd': {
      const std::vector<std::string> ys = request.texts();
      return differentiate(ys, request.texts());
    }
    default:
      return run(request);
    }
  }

private:
  Result<Answer> begin(const std::string& graph, bool is_plain) {
    session_.reset();
    graph_ = graph;
    SessionOptions options{.memory_limit = memory_limit};
    options.intra_op_threads = 1;
    if (is_plain)
      options.opt_level = -1;
    TROUPE_ASSIGN(Session session, Session::open("local", options));
    session_.emplace(std::move(session));
    TROUPE_TRY(session_->extend_graph_def(graph));
    return Answer{};
  }

  Result<Answer> differentiate(const std::vector<std::string>& ys,
                               const std::vector<std::string>& xs) {
    const Scope scope = Scope::root();
    TROUPE_TRY(scope.import(graph_));
    const NodeId first = scope.graph()->num_nodes();
    auto find_all = [&](const std::vector<std::string>& names) -> Result<std::vector<Output>> {
      std::vector<Output> out;
      for (const std::string& name : names) {
        TROUPE_ASSIGN(Output found, scope.find(name));
        out.push_back(std::move(found));
      }
      return out;
    };
    TROUPE_ASSIGN(const std::vector<Output> y, find_all(ys));
    TROUPE_ASSIGN(const std::vector<Output> x, find_all(xs));
    Answer answer;
    for (const Output& grad : gradients(scope.sub("autodiff"), y, x))
      answer.names.push_back(grad.is_valid() ? grad.name() : "");
    TROUPE_TRY(scope.status());
    TROUPE_ASSIGN(const std::string more, scope.graph_def_from(first));
    TROUPE_TRY(session_->extend_graph_def(more));
    return answer;
  }

  Result<Answer> run(Reader& request) {
    Feeds feeds;
    for (auto left = request.number<std::uint32_t>(); left > 0; --left) {
      std::string name = request.text();
      TROUPE_ASSIGN(Tensor value, request.tensor());
      feeds.emplace_back(std::move(name), std::move(value));
    }
    const std::vector<std::string> fetches = request.texts();
    TROUPE_ASSIGN(std::vector<Tensor> values,
                  session_->run(feeds, fetches, request.texts(), {.timeout_ms = step_limit_ms}));
    return Answer{{}, std::move(values)};
  }

  std::string graph_;
  std::optional<Session> session_;
};

std::optional<std::string> read_message() {
  std::uint32_t size = 0;
  if (std::fread(&size, sizeof(size), 1, stdin) != 1)
    return std::nullopt;
  std::string bytes(size, '\0');
  if (std::fread(bytes.data(), 1, size, stdin) != size)
    return std::nullopt;
  return bytes;
}

void write_answer(const Result<Answer>& answer) {
  Writer out;
  out.number(static_cast<std::uint8_t>(answer.status().code()));
  out.text(answer.status().message());
  const Answer nothing, &said = answer.ok() ? *answer : nothing;
  out.number(static_cast<std::uint32_t>(said.names.size()));
  for (const std::string& name : said.names)
    out.text(name);
  out.number(static_cast<std::uint32_t>(said.tensors.size()));
  for (const Tensor& tensor : said.tensors)
    out.tensor(tensor);
  const auto size = static_cast<std::uint32_t>(out.bytes().size());
  std::fwrite(&size, sizeof(size), 1, stdout);
  std::fwrite(out.bytes().data(), 1, size, stdout);
  std::fflush(stdout);
}

} // namespace
} // namespace troupe

int main() {
  troupe::Runner runner;
  while (auto request = troupe::read_message())
    troupe::write_answer(runner.answer(troupe::Reader(*request)));
}
