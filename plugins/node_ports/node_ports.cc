// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_ports/node_ports.h"

#include <algorithm>

namespace tutti::plugins {
namespace {

using cluster::PortEntry;
using framework::Verdict;

class NodePortsState final : public framework::FilterState {
 public:
  NodePortsState(const std::vector<model::HostPort>& ports, const cluster::Snapshot& snapshot)
      : snapshot_(snapshot),
        no_ip_(snapshot.symbols().Intern("")),
        every_ip_(snapshot.symbols().Intern("0.0.0.0")),
        tcp_(snapshot.symbols().Intern("TCP")) {
    for (const model::HostPort& port : ports)
      wanted_.push_back(
          Plain({port.port, snapshot.symbols().Intern(port.protocol), snapshot.symbols().Intern(port.ip)}));
  }

  Verdict Check(model::NodeId n) const override {
    const std::vector<PortEntry>& used = snapshot_.node(n).ports;
    const bool conflict = std::ranges::any_of(wanted_, [&](const PortEntry& wanted) {
      const auto same_port = std::ranges::equal_range(used, wanted.port, {}, &PortEntry::port);
      return std::ranges::any_of(same_port, [&](const PortEntry& taken) { return Conflict(wanted, Plain(taken)); });
    });
    return conflict ? Verdict::kNotNow : Verdict::kFits;
  }
  void Explain(model::NodeId, std::vector<std::string>* reasons) const override {
    reasons->emplace_back("node(s) didn't have free ports for the requested pod ports");
  }
  int64_t Room(model::NodeId) const override { return 1; }  // the next one wants the same ports

 private:
  // Returns the port with the defaults of fields that a spec may leave out.
  PortEntry Plain(PortEntry port) const {
    if (port.ip == no_ip_) port.ip = every_ip_;
    if (port.protocol == no_ip_) port.protocol = tcp_;
    return port;
  }
  // Whether two uses of the same port number conflict.
  bool Conflict(const PortEntry& a, const PortEntry& b) const {
    return a.protocol == b.protocol && (a.ip == b.ip || a.ip == every_ip_ || b.ip == every_ip_);
  }

  const cluster::Snapshot& snapshot_;
  const model::Symbol no_ip_, every_ip_, tcp_;
  std::vector<PortEntry> wanted_;
};

}  // namespace

std::unique_ptr<framework::FilterState> NodePorts::PrepareFilter(const cluster::PodClass& pod_class,
                                                                 const cluster::Snapshot& snapshot) const {
  const auto& ports = pod_class.spec->host_ports;
  return ports.empty() ? nullptr : std::make_unique<NodePortsState>(ports, snapshot);
}

}  // namespace tutti::plugins
