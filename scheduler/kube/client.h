// SPDX-License-Identifier: Apache-2.0
// KubeClient: one API server, one thread (`kube-io`), and the doors of this room.
//
//   KubeClient client(config, options, clock, sink);
//   client.feed().Start(kinds);                 // the sink gets events, on kube-io
//   client.Elect(lease) or client.LeadAlone();  // until then the writer sends nothing
//   client.writer().Submit(commands);           // the sink gets answers, on kube-io
//   client.Shutdown(5'000);
//
// Every public function may be called from any thread but kube-io itself. The sink is called on kube-io, and must
// neither block nor call back. `clock` and `sink` outlive the client.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/ports.h"
#include "kube/config.h"
#include "kube/lease.h"
#include "kube/writer.h"

namespace tutti::kube {

class KubeClient {
 public:
  struct Options {
    std::string component = "tutti";  // in the User-Agent; also the reporter of Events that have none
    std::string version = "0";
    int in_flight = 64;                     // writes at a time
    base::Millis write_timeout_ms = 5'000;  // each, enforced by the API server
    uint64_t seed = 0;                      // of jitter; 0: from the machine
    // Called on kube-io for each request that ended. May be empty.
    std::function<void(const Answered&)> on_answer;
  };

  KubeClient(const Config& config, const Options& options, const base::Clock& clock, cluster::EventSink& sink);
  ~KubeClient();  // without Shutdown: at once
  KubeClient(const KubeClient&) = delete;
  KubeClient& operator=(const KubeClient&) = delete;

  cluster::ClusterFeed& feed();
  cluster::ClusterWriter& writer();
  // Returns the time since kube-io last began a turn. A healthy loop begins one every few seconds.
  base::Millis SinceLastTurnMs() const;

  // REQUIRES: one of these is called, once. They post Leadership to the sink when pods, and what leaders record in
  // other objects, were listed after the lease was won. At that instant the former leader's last write is over, and
  // plan_after_ms has passed. They post Leadership{false} when the lease is lost, perhaps before that list. This
  // process does not try for it again.
  void LeadAlone();
  void Elect(LeaseOptions options);

  // Returns the holder of the lease as last seen; "" if none is known.
  std::string lease_holder() const;
  bool holds_lease() const;
  // Returns how long ago this process's lease ran out; 0 if it did not, or if another process holds it.
  base::Millis LeaseOverdueMs() const;

  // Refuses writes that were not sent, waits for answers to the others, gives the lease up, and ends the thread. It
  // takes `patience_ms` at most. It gives the lease up only if no write can take effect any more. From then on Get and
  // Post fail, also those under way.
  void Shutdown(base::Millis patience_ms);

  // Send one request outside of feed and writer (TokenReview, SubjectAccessReview, ...), and wait for its answer. A
  // long one goes by kStream, so that the lease does not wait for it.
  struct Reply {
    int status = 0;
    std::string body;  // JSON
  };
  base::Result<Reply> Get(const std::string& target, Channel channel = Channel::kControl);
  base::Result<Reply> Post(const std::string& target, std::string json);
  // A merge patch.
  base::Result<Reply> Patch(const std::string& target, std::string json);
  // Gets an answer that goes on, such as a watch. `read` gets the body of a 2xx answer piece by piece, on the thread of
  // the caller, and some times a second an empty piece. Returns when the answer has ended, also if the connection broke
  // in the middle, or when `read` is false.
  base::Result<Reply> Follow(const std::string& target, const std::function<bool(std::string_view piece)>& read);

 private:
  struct Parts;
  base::Result<Reply> Call(Request request);

  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::kube
