// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/graph_execs.hpp"

#include <map>
#include <string>
#include <string_view>

namespace gpufl::backend {
namespace {

using base::Json;

// Long names are cut, and those beyond the bound left out: a line must stay small enough to read.
constexpr size_t kMaxNameBytes = 512;
constexpr size_t kMaxNamesBytes = size_t{1} << 20;

// Each text once, by the place at which it was first needed.
class TextList {
 public:
  int64_t add(std::string_view text) {
    text = text.substr(0, kMaxNameBytes);
    if (text.empty()) return -1;
    const auto known = places_.find(text);
    if (known != places_.end()) return known->second;
    if (bytes_ + text.size() > kMaxNamesBytes) return -1;
    bytes_ += text.size();
    list_.push(text);
    const auto place = static_cast<int64_t>(places_.size());
    places_.emplace(text, place);
    return place;
  }
  Json take() { return std::move(list_); }

 private:
  std::map<std::string, int64_t, std::less<>> places_;
  Json list_ = Json::array();
  size_t bytes_ = 0;
};

}  // namespace

Json topology_line(const GraphInstance& instance, int64_t origin_ns) {
  const GraphTopology& topology = *instance.topology;
  Json ids = Json::array(), kinds = Json::array(), parents = Json::array(), names = Json::array();
  TextList kind_names, kernel_names;
  for (const GraphTopology::Node& node : topology.nodes) {
    ids.push(std::to_string(node.id));  // 64 bits, of which some readers of JSON keep 53
    kinds.push(kind_names.add(node.kind));
    parents.push(node.parent);
    names.push(kernel_names.add(node.name));
  }
  Json from = Json::array(), to = Json::array();
  for (const auto& [source, target] : topology.edges) {
    from.push(int64_t{source});
    to.push(int64_t{target});
  }
  Json line = Json::object();
  line.set("time", instance.time_ns - origin_ns).set("name", "graph_instantiated");
  line.set("graph", int64_t{instance.graph});
  if (instance.kernels) line.set("kernels", int64_t{*instance.kernels});
  line.set("node_count", topology.node_count).set("edge_count", topology.edge_count);
  line.set("kinds", kind_names.take()).set("kernel_names", kernel_names.take());
  line.set("node", std::move(ids)).set("kind", std::move(kinds)).set("parent", std::move(parents));
  line.set("kernel", std::move(names)).set("from", std::move(from)).set("to", std::move(to));
  return line;
}

}  // namespace gpufl::backend
