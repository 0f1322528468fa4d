// Our side of a comparison: the public API, in this process or on a cluster.
#include "api/session.hpp"
#include "bench/runner/runner.hpp"

namespace bench {
namespace {

using namespace troupe;

Tensor make_feed(const FeedSpec& feed) {
  DType dtype = feed.dtype == "int64"   ? DType::int64
                : feed.dtype == "int32" ? DType::int32
                                        : DType::float32;
  Tensor tensor = Tensor::make(dtype, Shape(std::span<const std::int64_t>(feed.dims)));
  fill_feed(feed, tensor.mutable_raw());
  return tensor;
}

class TroupeClient final : public Client {
public:
  TroupeClient(std::shared_ptr<Session> session, RunOptions options, const ClientSpec& spec)
      : session_(std::move(session)), options_(options), spec_(spec) {
    for (const std::vector<FeedSpec>& feeds : spec.runs) {
      runs_.emplace_back();
      for (const FeedSpec& feed : feeds)
        runs_.back().emplace_back(feed.name, make_feed(feed));
    }
  }

  std::string step(std::vector<Fetched>* values) override {
    for (const Feeds& feeds : runs_) {
      auto result = session_->run(feeds, spec_.fetches, spec_.targets, options_);
      if (!result)
        return result.status().to_string();
      if (values)
        values->push_back(numbers_of(*result));
    }
    return "";
  }
  std::unique_ptr<Client> again() const override {
    return std::make_unique<TroupeClient>(session_, options_, spec_);
  }

private:
  static Fetched numbers_of(const std::vector<Tensor>& tensors) {
    Fetched out;
    for (const Tensor& tensor : tensors) {
      DType dtype = tensor.dtype();
      out.push_back(elements_of(dtype == DType::float32 ? "float"
                                : dtype == DType::int32 ? "int32"
                                : dtype == DType::int64 ? "int64"
                                                        : "",
                                tensor.raw(), static_cast<std::size_t>(tensor.num_elements())));
    }
    return out;
  }

  std::shared_ptr<Session> session_;
  RunOptions options_;
  ClientSpec spec_;
  std::vector<Feeds> runs_;
};

Result<std::unique_ptr<Client>> open_session(const ClientSpec& spec) {
  TROUPE_ASSIGN(SessionOptions options, session_options_from_bytes(spec.config));
  TROUPE_ASSIGN(RunOptions run_options, run_options_from_bytes(spec.run_options));
  TROUPE_ASSIGN(Session session, Session::open(spec.target, options));
  TROUPE_TRY(session.extend_graph_def(spec.graph));
  for (const std::string& init : spec.inits)
    TROUPE_TRY(session.run({}, {}, {init}).status());
  return std::unique_ptr<Client>(std::make_unique<TroupeClient>(
      std::make_shared<Session>(std::move(session)), run_options, spec));
}

} // namespace

std::unique_ptr<Client> open_client(const ClientSpec& spec, std::string& error) {
  auto client = open_session(spec);
  if (client)
    return *std::move(client);
  error = client.status().to_string();
  return nullptr;
}

} // namespace bench

int main() {
  return bench::serve();
}
