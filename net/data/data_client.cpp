#include "net/data/data_client.hpp"

#include <utility>
#include <vector>

#include "net/data/internal/link.hpp"

namespace troupe {

namespace {

constexpr std::chrono::milliseconds tick_period{250};
constexpr std::chrono::seconds trim_period{5};

} // namespace

void DataClient::Impl::tick() {
  std::int64_t now = steady_micros();
  std::vector<std::shared_ptr<data::Link>> all(links.begin(), links.end());
  bool is_time = now - trimmed_us > std::chrono::microseconds(trim_period).count();
  if (is_time)
    trimmed_us = now;
  for (const auto& link : all) {
    link->check(now);
    if (is_time)
      link->trim();
  }
}

DataClient::DataClient(DataClientOptions options, std::shared_ptr<PathBook> book)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  if (!impl_->options.allocate)
    impl_->options.allocate = [](std::uint64_t bytes) -> Result<BufferRef> {
      auto buffer = Buffer::allocate(host_allocator(), bytes);
      if (!buffer)
        return resource_exhausted(str_cat("there is no room for a tensor of ", bytes, " bytes"));
      return buffer;
    };
  impl_->book = std::move(book);
  impl_->loop = std::make_unique<EventLoop>("tensors in", tick_period,
                                            [impl = impl_.get()] { impl->tick(); });
}

DataClient::~DataClient() {
  impl_->loop->stop();
  auto links = impl_->links;
  for (const auto& link : links)
    link->end(cancelled("this node ends"), true);
}

std::shared_ptr<DataLink> DataClient::open(DataEndpoint endpoint,
                                           std::shared_ptr<SharedRegion> region,
                                           std::function<void(Status)> opened,
                                           std::function<void(Status)> broken) {
  auto link = std::make_shared<data::Link>(*impl_, std::move(endpoint), std::move(region),
                                           std::move(opened), std::move(broken));
  impl_->loop->post([link] { link->start(); });
  return link;
}

} // namespace troupe
