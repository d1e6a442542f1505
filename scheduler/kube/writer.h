// SPDX-License-Identifier: Apache-2.0
// KubeWriter: sends commands to the API server, and gives each one answer.
//
// Submit may be called on any thread; the rest is the loop's thread only.
//
// Invariants
//   (1) every command with an id gets exactly one CommandReply, by its deadline;
//   (2) no write is sent at or after the writable deadline (SetWritable), nor after the command's own;
//   (3) at most `in_flight` writes are under way, and a quarter as many reads;
//   (4) every write leaves within kGraceMs or not at all, and has a server-side timeout of at most
//       `write_timeout_ms`: it cannot take effect after both, nor after `over_ms` of SetWritable;
//   (5) a bind is answered kDone or kRefused only when that is known: from the server's answer, or from reading the pod
//       back; "not bound" is believed only after (4).
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "cluster/ports.h"
#include "kube/command_request.h"
#include "kube/event_book.h"
#include "kube/loop.h"
#include "kube/retry.h"
#include "kube/transport.h"
#include "kube/write_gate.h"
#include "kube/write_job.h"
#include "kube/write_verdict.h"

namespace tutti::kube {

class KubeWriter final : public cluster::ClusterWriter {
 public:
  static constexpr base::Millis kGraceMs = kWriteGraceMs;
  static constexpr base::Millis kHeldAfterStartsMs = WriteGate::kHeldAfterStartsMs;

  struct Options {
    int in_flight = 64;
    base::Millis write_timeout_ms = 5'000;
    std::string component = "tutti";  // reportingController of an Event that has none
    std::string instance;             // reportingInstance; "<component>-<hostname>"
  };

  KubeWriter(Options options, Loop& loop, Transport& transport, base::Random& random, const KindResolver& kinds,
             cluster::EventSink& sink);
  ~KubeWriter() override;

  void Submit(std::vector<cluster::Command> commands) override;

  // Allows sending writes until `until_ms`; they may take effect until `over_ms` (monotonic). Only the lease calls it.
  // Initially no write may be sent.
  void SetWritable(base::Millis until_ms, base::Millis over_ms);
  // Refuses commands that were not sent, and lets the others end. It tries again only a bind that may have taken
  // effect. Runs `done` when no write can take effect any more, including writes that were answered as unknown. It does
  // not wait for Events, because nothing depends on them.
  void Drain(Task done);

  size_t in_flight() const { return gate_.in_flight(); }

 private:
  void Enqueue(cluster::Command command);
  bool NoteEvent(WriteJob& job);
  void Pump();
  void SendWrite(WriteJob& job);
  base::Result<Request> BuildRequest(WriteJob& job) const;
  void OnAnswer(uint64_t number, const Response& response);
  void OnEventJudged(WriteJob& job, const Judgement& judgement);
  void Follow(WriteJob& job, Verdict verdict);
  void ReadLater(WriteJob& job, base::Millis wait_ms);
  void PumpReads();
  void SendRead(WriteJob& job);
  void OnReadBack(uint64_t number, const Response& response);
  void RetryLater(WriteJob& job, base::Millis wait_ms, std::string why);
  void Requeue(WriteJob& job);
  void OnDeadline(uint64_t number);
  void Expire(WriteJob& job);
  void GiveUp(WriteJob& job);
  void Finish(WriteJob& job, cluster::Outcome outcome, int http_status, std::string message);
  void Finish(WriteJob& job, cluster::CommandReply answer);
  void CheckDrained();

  const Options options_;
  Loop& loop_;
  Transport& transport_;
  base::Random& random_;
  const KindResolver& kinds_;
  cluster::EventSink& sink_;

  WriteGate gate_;
  std::unordered_map<uint64_t, std::unique_ptr<WriteJob>> jobs_;
  uint64_t last_job_ = 0;
  EventBook events_;
  std::deque<uint64_t> to_read_;  // jobs whose pods are to be read back
  size_t reading_ = 0;            // reads under way
  SpecCache specs_;               // for pods read back
  Encoding encoding_ = Encoding::kProtobuf;
  base::Millis unsettled_until_ms_ = 0;  // until then a write that was answered as unknown may take effect
  bool draining_ = false;
  TimerId drain_timer_ = 0;
  Task drained_;
};

}  // namespace tutti::kube
