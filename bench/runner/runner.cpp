#include "runner.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double micros_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, at);)
    out.push_back(part);
  return out;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      out.append({'\\', c});
    else if (static_cast<unsigned char>(c) < 0x20)
      out.push_back(' ');
    else
      out.push_back(c);
  return out + "\"";
}

void answer(const std::string& json) {
  std::cout << json << std::endl;
}

void answer_error(const std::string& sentence) {
  answer("{\"error\": " + quoted(sentence) + "}");
}

FeedSpec parse_feed(const std::string& text) {
  auto parts = split(text, ':');
  FeedSpec feed{parts.at(0), parts.at(1), {}};
  if (parts.size() > 2)
    for (const std::string& dim : split(parts[2], ','))
      feed.dims.push_back(std::stoll(dim));
  return feed;
}

void add_feed(std::vector<std::vector<FeedSpec>>& runs, FeedSpec feed) {
  for (const FeedSpec& other : runs.back())
    if (other.name == feed.name) {
      runs.emplace_back();
      break;
    }
  runs.back().push_back(std::move(feed));
}

ClientSpec parse_client(const std::vector<std::string>& fields) {
  ClientSpec spec;
  spec.runs.emplace_back();
  for (const std::string& field : fields) {
    auto equals = field.find('=');
    std::string key = field.substr(0, equals), value = field.substr(equals + 1);
    if (key == "graph")
      spec.graph = read_file(value);
    else if (key == "target")
      spec.target = value;
    else if (key == "config")
      spec.config = read_file(value);
    else if (key == "run_options")
      spec.run_options = read_file(value);
    else if (key == "init")
      spec.inits.push_back(value);
    else if (key == "fetch")
      spec.fetches.push_back(value);
    else if (key == "op")
      spec.targets.push_back(value);
    else if (key == "feed")
      add_feed(spec.runs, parse_feed(value));
  }
  return spec;
}

// Numbers as Python's JSON reads them, which knows NaN and Infinity.
std::string number(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  std::ostringstream out;
  out.precision(9); // all of a float
  out << value;
  return out.str();
}

template <class T, class F>
std::string list(const std::vector<T>& items, F text_of) {
  std::string out;
  for (const T& item : items)
    out += (out.empty() ? "" : ", ") + text_of(item);
  return "[" + out + "]";
}

// Times of one client's steps.
struct Series {
  std::vector<double> micros;
  double wall = 0;
  std::string error;

  std::string json() {
    std::sort(micros.begin(), micros.end());
    auto at = [&](double share) {
      if (micros.empty())
        return 0.0;
      return micros[std::min(micros.size() - 1,
                             static_cast<std::size_t>(share * static_cast<double>(micros.size())))];
    };
    std::ostringstream out;
    out.precision(9);
    out << "{\"steps\": " << micros.size() << ", \"wall\": " << wall << ", \"min\": " << at(0)
        << ", \"p10\": " << at(.1) << ", \"median\": " << at(.5) << ", \"p90\": " << at(.9)
        << ", \"p99\": " << at(.99) << ", \"max\": " << at(1) << "}";
    return out.str();
  }
};

class Server {
public:
  void handle(const std::string& line) {
    auto fields = split(line, '\t');
    if (fields.size() < 2)
      return answer_error("a command and its fields are separated by tabs: " + line);
    std::string command = fields[0];
    fields.erase(fields.begin());
    if (command == "open")
      open(fields);
    else if (command == "again")
      again(fields);
    else if (command == "measure")
      measure(fields);
    else if (command == "values")
      values(fields);
    else if (command == "close") {
      clients_.erase(fields[0]);
      answer("{}");
    } else
      answer_error("no such command: " + command);
  }

private:
  void open(std::vector<std::string>& fields) {
    std::string name = fields[0];
    ClientSpec spec = parse_client({fields.begin() + 1, fields.end()});
    auto start = Clock::now();
    std::string error;
    auto client = open_client(spec, error);
    double opened = micros_since(start);
    if (client)
      error = client->step();
    double first = micros_since(start);
    if (!error.empty())
      return answer_error(error);
    clients_[name] = std::move(client);
    answer("{\"opened\": " + std::to_string(opened) + ", \"first\": " + std::to_string(first) +
           "}");
  }

  void values(const std::vector<std::string>& fields) {
    auto it = clients_.find(fields.at(0));
    if (it == clients_.end())
      return answer_error("no such client: " + fields[0]);
    std::vector<Fetched> runs;
    for (int left = std::stoi(fields.at(1)); left > 0; --left)
      if (std::string error = it->second->step(&runs); !error.empty())
        return answer_error(error);
    answer("{\"runs\": " +
           list(runs,
                [](const Fetched& fetched) {
                  return list(fetched, [](const std::vector<double>& elements) {
                    return list(elements, number);
                  });
                }) +
           "}");
  }

  void again(const std::vector<std::string>& fields) {
    auto other = clients_.find(fields.at(1));
    if (other == clients_.end())
      return answer_error("no such client: " + fields[1]);
    auto client = other->second->again();
    if (std::string error = client->step(); !error.empty())
      return answer_error(error);
    clients_[fields[0]] = std::move(client);
    answer("{}");
  }

  // The clients before "beside" end by time or by steps; those after it go on until these are done.
  void measure(const std::vector<std::string>& fields) {
    double seconds = std::stod(fields.at(0));
    auto steps = static_cast<std::size_t>(std::stoull(fields.at(1)));
    std::vector<Client*> main_clients, beside;
    bool is_beside = false;
    for (std::size_t i = 2; i < fields.size(); ++i) {
      if (fields[i] == "beside") {
        is_beside = true;
        continue;
      }
      auto it = clients_.find(fields[i]);
      if (it == clients_.end())
        return answer_error("no such client: " + fields[i]);
      (is_beside ? beside : main_clients).push_back(it->second.get());
    }
    std::vector<Series> series(main_clients.size() + beside.size());
    auto start = Clock::now();
    std::atomic<bool> done{false};
    auto run = [&](Client& client, Series& out, bool ends_by_itself) {
      out.micros.reserve(std::min<std::size_t>(steps, 1 << 20));
      auto goes_on = [&] {
        if (!ends_by_itself)
          return !done.load();
        return out.micros.size() < steps &&
               (out.micros.size() < 3 || micros_since(start) < seconds * 1e6);
      };
      while (goes_on()) {
        auto begin = Clock::now();
        out.error = client.step();
        if (!out.error.empty())
          break;
        out.micros.push_back(micros_since(begin));
      }
      out.wall = micros_since(start);
    };
    std::vector<std::thread> main_threads, beside_threads;
    for (std::size_t i = 0; i < beside.size(); ++i)
      beside_threads.emplace_back(run, std::ref(*beside[i]),
                                  std::ref(series[main_clients.size() + i]), false);
    for (std::size_t i = 1; i < main_clients.size(); ++i)
      main_threads.emplace_back(run, std::ref(*main_clients[i]), std::ref(series[i]), true);
    run(*main_clients.at(0), series[0], true);
    for (std::thread& thread : main_threads)
      thread.join();
    done = true;
    for (std::thread& thread : beside_threads)
      thread.join();
    report(series);
  }

  static void report(std::vector<Series>& series) {
    std::string out;
    for (Series& one : series) {
      if (!one.error.empty())
        return answer_error(one.error);
      out += (out.empty() ? "" : ", ") + one.json();
    }
    answer("{\"clients\": [" + out + "]}");
  }

  std::map<std::string, std::unique_ptr<Client>> clients_;
};

} // namespace

std::int64_t FeedSpec::elements() const {
  std::int64_t count = 1;
  for (std::int64_t dim : dims)
    count *= dim;
  return count;
}

void fill_feed(const FeedSpec& feed, void* elements) {
  for (std::int64_t i = 0; i < feed.elements(); ++i)
    if (feed.dtype == "int64")
      static_cast<std::int64_t*>(elements)[i] = i % 10;
    else if (feed.dtype == "int32")
      static_cast<std::int32_t*>(elements)[i] = static_cast<std::int32_t>(i % 10);
    else
      static_cast<float*>(elements)[i] =
          static_cast<float>(static_cast<double>(i * 2654435761 % 1000) / 1000.0 - 0.5);
}

std::vector<double> elements_of(const std::string& dtype, const void* data, std::size_t count) {
  auto from = [&]<class T>(const T* elements) {
    return std::vector<double>(elements, elements + count);
  };
  if (dtype == "float")
    return from(static_cast<const float*>(data));
  if (dtype == "int32")
    return from(static_cast<const std::int32_t*>(data));
  if (dtype == "int64")
    return from(static_cast<const std::int64_t*>(data));
  return {};
}

int serve() {
  Server server;
  for (std::string line; std::getline(std::cin, line);)
    if (!line.empty())
      server.handle(line);
  return 0;
}

} // namespace bench
