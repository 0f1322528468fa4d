// TensorFlow's side of a comparison, through its C API; built by tools/dev/bench against the wheel
// of a Python environment, never by CMake.
#include <map>

#include "../runner/runner.hpp"
#include "tensorflow/c/c_api.h"

namespace bench {
namespace {

// A graph and its session, of one client or several.
struct Opened {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Session* session = nullptr;
  Opened() = default;
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (session) {
      TF_CloseSession(session, status);
      TF_DeleteSession(session, status);
    }
    TF_DeleteGraph(graph);
    TF_DeleteStatus(status);
  }
};

class TensorFlowClient final : public Client {
public:
  TensorFlowClient() : opened_(std::make_shared<Opened>()) {}
  TensorFlowClient(std::shared_ptr<Opened> opened, const ClientSpec& spec)
      : opened_(std::move(opened)), spec_(spec) {
    bind(); // as it has been for another one
  }
  ~TensorFlowClient() override {
    for (Run& run : runs_)
      for (TF_Tensor* tensor : run.inputs)
        TF_DeleteTensor(tensor);
    if (run_options_)
      TF_DeleteBuffer(run_options_);
    TF_DeleteStatus(status_);
  }

  std::string open(const ClientSpec& spec) {
    spec_ = spec;
    TF_Graph* graph = opened_->graph;
    TF_Session*& session = opened_->session;
    TF_Buffer* bytes = TF_NewBufferFromString(spec.graph.data(), spec.graph.size());
    TF_ImportGraphDefOptions* import = TF_NewImportGraphDefOptions();
    TF_GraphImportGraphDef(graph, bytes, import, status_);
    TF_DeleteImportGraphDefOptions(import);
    TF_DeleteBuffer(bytes);
    if (failed())
      return message();
    TF_SessionOptions* options = TF_NewSessionOptions();
    if (!spec.target.empty())
      TF_SetTarget(options, spec.target.c_str());
    TF_SetConfig(options, spec.config.data(), spec.config.size(), status_);
    if (!failed())
      session = TF_NewSession(graph, options, status_);
    TF_DeleteSessionOptions(options);
    if (failed())
      return message();
    for (const std::string& init : spec.inits) {
      const TF_Operation* operation = TF_GraphOperationByName(graph, init.c_str());
      if (!operation)
        return "no node " + init;
      TF_SessionRun(session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, &operation, 1,
                    nullptr, status_);
      if (failed())
        return message();
    }
    return bind();
  }

  std::unique_ptr<Client> again() const override {
    return std::make_unique<TensorFlowClient>(opened_, spec_);
  }

  std::string step(std::vector<Fetched>* values) override {
    for (const Run& run : runs_) {
      TF_SessionRun(opened_->session, run_options_, run.ends.data(), run.inputs.data(),
                    static_cast<int>(run.inputs.size()), output_ends_.data(), outputs_.data(),
                    static_cast<int>(outputs_.size()), targets_.data(),
                    static_cast<int>(targets_.size()), nullptr, status_);
      if (failed())
        return message();
      if (values)
        values->push_back(numbers_of(outputs_));
      for (TF_Tensor* tensor : outputs_)
        TF_DeleteTensor(tensor);
    }
    return "";
  }

private:
  // The feeds of one run.
  struct Run {
    std::vector<TF_Output> ends;
    std::vector<TF_Tensor*> inputs;
  };

  static Fetched numbers_of(const std::vector<TF_Tensor*>& tensors) {
    Fetched out;
    for (const TF_Tensor* tensor : tensors) {
      TF_DataType dtype = TF_TensorType(tensor);
      out.push_back(elements_of(dtype == TF_FLOAT   ? "float"
                                : dtype == TF_INT32 ? "int32"
                                : dtype == TF_INT64 ? "int64"
                                                    : "",
                                TF_TensorData(tensor),
                                static_cast<std::size_t>(TF_TensorElementCount(tensor))));
    }
    return out;
  }

  bool failed() const { return TF_GetCode(status_) != TF_OK; }
  std::string message() const { return TF_Message(status_); }

  // Names of the step's signature as the C API wants them.
  std::string bind() {
    TF_Graph* graph = opened_->graph;
    if (!spec_.run_options.empty())
      run_options_ = TF_NewBufferFromString(spec_.run_options.data(), spec_.run_options.size());
    static const std::map<std::string, TF_DataType> dtypes = {
        {"float", TF_FLOAT}, {"int32", TF_INT32}, {"int64", TF_INT64}};
    for (const std::vector<FeedSpec>& feeds : spec_.runs) {
      Run& run = runs_.emplace_back();
      for (const FeedSpec& feed : feeds) {
        TF_DataType dtype = dtypes.at(feed.dtype);
        TF_Tensor* tensor =
            TF_AllocateTensor(dtype, feed.dims.data(), static_cast<int>(feed.dims.size()),
                              static_cast<std::size_t>(feed.elements()) * TF_DataTypeSize(dtype));
        fill_feed(feed, TF_TensorData(tensor));
        run.inputs.push_back(tensor);
        run.ends.push_back({TF_GraphOperationByName(graph, feed.name.c_str()), 0});
        if (!run.ends.back().oper)
          return "a fed node is not in the graph";
      }
    }
    for (const std::string& fetch : spec_.fetches)
      output_ends_.push_back({TF_GraphOperationByName(graph, fetch.c_str()), 0});
    for (const std::string& target : spec_.targets)
      targets_.push_back(TF_GraphOperationByName(graph, target.c_str()));
    outputs_.resize(output_ends_.size());
    for (const TF_Output& end : output_ends_)
      if (!end.oper)
        return "a fetched node is not in the graph";
    for (const TF_Operation* target : targets_)
      if (!target)
        return "a target is not in the graph";
    return "";
  }

  std::shared_ptr<Opened> opened_;
  ClientSpec spec_;
  TF_Status* status_ = TF_NewStatus();
  TF_Buffer* run_options_ = nullptr;
  std::vector<Run> runs_;
  std::vector<TF_Output> output_ends_;
  std::vector<TF_Tensor*> outputs_;
  std::vector<const TF_Operation*> targets_;
};

} // namespace

std::unique_ptr<Client> open_client(const ClientSpec& spec, std::string& error) {
  auto client = std::make_unique<TensorFlowClient>();
  error = client->open(spec);
  if (!error.empty())
    client.reset();
  return client;
}

} // namespace bench

int main() {
  return bench::serve();
}
