// SPDX-License-Identifier: Apache-2.0
// KubeWriter: commands to the API server, one answer each.
//
// Submit may be called from any thread; all else is the loop's thread only.
//
// Invariants
//   (1) every command with an id gets exactly one Answer, at its deadline at the latest;
//   (2) no write is sent at or after the writable deadline (SetWritable), nor after the command's own;
//   (3) at most `in_flight` writes are under way, and a quarter as many reads;
//   (4) every write leaves within kGraceMs or not at all, and carries a server-side timeout of at most
//       `write_timeout_ms`: after both it cannot take effect; nor after the instant that SetWritable names;
//   (5) a bind is answered kDone or kRefused only when that is known: from the server's answer, or by reading the pod
//       back; "not bound" is believed only after (4).
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "cluster/ports.h"
#include "kube/encode.h"
#include "kube/event_book.h"
#include "kube/feed.h"
#include "kube/lanes.h"
#include "kube/loop.h"
#include "kube/retry.h"
#include "kube/transport.h"

namespace tutti::kube {

// What a writer must know of the kinds it writes.
class KindResolver {
 public:
  virtual ~KindResolver() = default;
  // The version to use where a command names none; empty when the kind is not served.
  virtual std::string VersionOf(const std::string& group, const std::string& resource) const = 0;
  virtual bool HasStatus(const std::string& group, const std::string& version, const std::string& resource) const = 0;
};

class KubeWriter final : public cluster::ClusterWriter {
 public:
  static constexpr base::Millis kGraceMs = 500;
  // After a start's answer the background is still held back for so long: the bind that makes a gang whole is decided
  // only when all others are answered, and would find 64 Events before it (40 ms).
  static constexpr base::Millis kHeldAfterStartsMs = 20;

  struct Options {
    int in_flight = 64;
    base::Millis write_timeout_ms = 5'000;
    std::string component = "tutti";  // reportingController where an event names none
    std::string instance;             // reportingInstance; "<component>-<hostname>"
  };

  KubeWriter(Options options, Loop& loop, Transport& transport, base::Random& random, const KindResolver& kinds,
             cluster::EventSink& sink);
  ~KubeWriter() override;

  void Submit(std::vector<cluster::Command> commands) override;

  // Writes may leave until `until_ms`, and take effect until `over_ms` (monotonic), which only the lease moves. At the
  // start: never.
  void SetWritable(base::Millis until_ms, base::Millis over_ms);
  // Refuses what has not left, answers the rest as it comes, without another try but for a bind that may have taken
  // effect, and runs `done` once no write can take effect any more, be it one that was answered as unknown. Events do
  // not count: nobody decides by them.
  void Drain(Task done);

  size_t in_flight() const { return in_flight_; }

 private:
  struct Job;

  void Enqueue(cluster::Command command);
  bool NoteEvent(Job& job);
  void Pump();
  void PumpAt(base::Millis at_ms);
  void SendWrite(Job& job);
  void CountWriting(Job& job, bool writing);
  base::Result<Request> BuildRequest(Job& job, base::Millis server_timeout_ms);
  base::Result<Request> BuildPatch(const cluster::Patch& patch) const;
  Request BuildEvent(Job& job) const;
  void OnAnswer(uint64_t number, const Response& response);
  void OnBindJudged(Job& job, const Judgement& judgement);
  void OnOtherJudged(Job& job, const Judgement& judgement);
  void OnEventJudged(Job& job, const Judgement& judgement);
  void ReadBack(Job& job);
  void ReadLater(Job& job, base::Millis wait_ms);
  void PumpReads();
  void SendRead(Job& job);
  void OnReadBack(uint64_t number, const Response& response);
  void OnPodRead(Job& job, const Response& response);
  void AfterUnbound(Job& job, const model::Pod& pod);
  void RetryLater(Job& job, base::Millis wait_ms, const Judgement& judgement);
  void Requeue(Job& job);
  void OnDeadline(uint64_t number);
  void Expire(Job& job);
  void GiveUp(Job& job);
  void Finish(Job& job, cluster::Outcome outcome, int http_status, std::string message);
  void CheckDrained();
  std::string Version(const cluster::ObjectRef& ref) const;

  const Options options_;
  Loop& loop_;
  Transport& transport_;
  base::Random& random_;
  const KindResolver& kinds_;
  cluster::EventSink& sink_;

  std::unordered_map<uint64_t, std::unique_ptr<Job>> jobs_;
  uint64_t last_job_ = 0;
  Lanes lanes_;
  EventBook events_;
  std::deque<uint64_t> to_read_;                     // jobs whose pods are to be read back
  size_t reading_ = 0;                               // reads under way
  SpecCache specs_;                                  // for pods read back
  size_t in_flight_ = 0, background_in_flight_ = 0;  // writes; those of the background among them
  base::Millis held_until_ms_ = 0;                   // the background, if no start is on its way
  TimerId pump_timer_ = 0;
  base::Millis pump_at_ms_ = 0;  // of that timer
  base::Millis writable_until_ms_ = 0, over_ms_ = 0;
  Encoding encoding_ = Encoding::kProtobuf;
  base::Millis unsettled_until_ms_ = 0;  // what was answered as unknown may take effect until then
  bool draining_ = false;
  TimerId drain_timer_ = 0;
  Task drained_;
};

}  // namespace tutti::kube
