// SPDX-License-Identifier: Apache-2.0
// ExtenderClient: asks scheduler extenders over HTTP, in the messages of kube-scheduler
// (k8s.io/kube-scheduler/extender/v1).
//
// An extender may take seconds, so this class has threads of its own that wait for the answers. It sends the pod and
// the nodes as JSON from the API server. An extender with a cache of nodes gets only their names.
//
// Thread safety: Ask, AskToPreempt and Bind may be called on any thread. Each gets exactly one reply (answer), unless
// Stop was called before.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mailbox.h"
#include "base/result.h"
#include "cluster/extenders.h"
#include "cluster/ports.h"
#include "kube/extender_nodes.h"

namespace tutti::kube {

// One entry of extenders[] as written, with kube-scheduler's fields.
struct ExtenderSpec {
  std::string url_prefix;  // without a slash at its end
  std::string filter_verb, prioritize_verb, bind_verb, preempt_verb;
  int64_t weight = 1;
  base::Millis http_timeout_ms = 5'000;
  bool node_cache_capable = false;
  bool ignorable = false;
  std::vector<std::string> managed_resources;

  bool https = false;
  bool insecure = false;  // the server's certificate is not checked
  std::string server_name;
  std::string ca_pem, cert_pem, key_pem;

  cluster::Extender ForCore() const {
    return {url_prefix,         !filter_verb.empty(), !prioritize_verb.empty(),
            !bind_verb.empty(), managed_resources,    !preempt_verb.empty()};
  }
};

class ExtenderClient final : public cluster::Extenders {
 public:
  static constexpr size_t kThreads = 8;             // questions at a time
  static constexpr size_t kMostBytes = 256u << 20;  // of an answer

  // `clock` and `sink` must outlive it, and so must what `read` needs.
  ExtenderClient(std::vector<ExtenderSpec> specs, ReadObject read, const base::Clock& clock, cluster::EventSink& sink);
  ~ExtenderClient() override;

  void Ask(cluster::ExtenderQuestion question) override;
  void AskToPreempt(cluster::PreemptionQuestion question) override;
  void Bind(size_t index, cluster::CommandId id, base::Millis deadline_ms, const cluster::Bind& bind) override;
  // Stops sending, and waits for requests under way, at most for the time-outs of the extenders.
  void Stop();

 private:
  class Connection;
  class Consultation;
  class Preemption;
  using Task = std::function<void(Connection&)>;

  struct Worker {
    base::Mailbox<Task> tasks;
    std::thread thread;
  };

  void Post(Task task);
  void Work(Worker& worker);
  cluster::ExtenderReply Consult(Connection& connection, const cluster::ExtenderQuestion& question) const;
  base::Result<std::string> ReadPod(const model::ObjectMeta& pod) const;
  cluster::CommandReply BindBy(Connection& connection, const ExtenderSpec& spec, const cluster::Bind& bind) const;

  // Constant after construction.
  const std::vector<ExtenderSpec> specs_;
  const ReadObject read_;
  const base::Clock& clock_;
  cluster::EventSink& sink_;

  mutable ExtenderNodes nodes_;
  std::atomic<bool> stopped_ = false;
  std::atomic<size_t> next_ = 0;  // the worker that gets the next task
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace tutti::kube
