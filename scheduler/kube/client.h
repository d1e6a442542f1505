// SPDX-License-Identifier: Apache-2.0
// KubeClient: one API server, one thread (`kube-io`), and the doors of this room.
//
//   KubeClient client(config, options, clock, sink);
//   client.feed().Start(kinds);                 // events arrive in the sink, on kube-io
//   client.Elect(lease) or client.LeadAlone();  // until then the writer sends nothing
//   client.writer().Submit(commands);           // answers arrive in the sink, on kube-io
//   client.Shutdown(5'000);
//
// Every public function may be called from any thread but kube-io itself. The sink is called on kube-io, and must
// neither block nor call back. `clock` and `sink` outlive the client.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cluster/ports.h"
#include "kube/config.h"
#include "kube/lease.h"
#include "kube/writer.h"

namespace tutti::kube {

class KubeClient {
 public:
  struct Options {
    std::string component = "tutti";  // in the User-Agent, and the reporter of Events that name none
    std::string version = "0";
    int in_flight = 64;                     // writes at a time
    base::Millis write_timeout_ms = 5'000;  // each, enforced by the API server
    uint64_t seed = 0;                      // of jitter; 0: from the machine
    // Told of each request that ends, on kube-io. May be empty.
    std::function<void(const Answered&)> on_answer;
  };

  KubeClient(const Config& config, const Options& options, const base::Clock& clock, cluster::EventSink& sink);
  ~KubeClient();  // without Shutdown: at once
  KubeClient(const KubeClient&) = delete;
  KubeClient& operator=(const KubeClient&) = delete;

  cluster::ClusterFeed& feed();
  cluster::ClusterWriter& writer();
  // How long kube-io has been at its last turn; asleep it is for some seconds at most.
  base::Millis SinceLastTurnMs() const;

  // One of these, once. Leadership is posted to the sink when pods have been listed since the lease was won, at which
  // instant the former leader's last write was over; plan_after_ms is no later than its arrival. Leadership{false} says
  // that the lease was lost, even before they were listed; it is not tried for again.
  void LeadAlone();
  void Elect(LeaseOptions options);

  // Of the lease, as it was last seen; "" while nobody is known to hold it.
  std::string lease_holder() const;
  bool holds_lease() const;
  // How long ago the lease that this process holds ran out; 0: it did not, or is another's.
  base::Millis LeaseOverdueMs() const;

  // Refuses what has not left, waits for the answers to what has, gives the lease up, and ends the thread. Takes
  // `patience_ms` at most; the lease is only given up if no write can take effect any more. Get and Post fail from then
  // on, those under way too.
  void Shutdown(base::Millis patience_ms);

  // One request outside of feed and writer (TokenReview, SubjectAccessReview, ...); waits for its answer.
  struct Reply {
    int status = 0;
    std::string body;  // JSON
  };
  base::Result<Reply> Get(const std::string& target);
  base::Result<Reply> Post(const std::string& target, std::string json);

 private:
  struct Parts;
  base::Result<Reply> Call(Request request);

  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::kube
