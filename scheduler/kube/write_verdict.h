// SPDX-License-Identifier: Apache-2.0
// What an answer says of the command that asked, and what is to be done next. Pure functions: the writer does it.
#pragma once

#include <memory>
#include <string>

#include "kube/write_job.h"
#include "model/pod.h"

namespace tutti::kube {

// Every write leaves within so long, or not at all.
inline constexpr base::Millis kWriteGraceMs = 500;
inline constexpr base::Millis kReadTimeoutMs = 2'000;

struct Verdict {
  enum class Next {
    kFinish,     // with `answer`, of which only the id is missing
    kRetry,      // the same request, in `wait_ms` at the earliest
    kReadBack,   // the pod is to be read, in `wait_ms` at the earliest
    kReadAgain,  // the same, after a pause that grows: the read itself failed
  };
  Next next = Next::kFinish;
  base::Millis wait_ms = 0;
  cluster::Answer answer;
};

// After the answer to a Bind, and to a Delete, Patch or Create.
Verdict AfterBind(const WriteJob& job, const Judgement& judgement);
Verdict AfterWrite(const WriteJob& job, const Judgement& judgement);

// The object that a create was answered with; null when it cannot be read.
std::shared_ptr<const model::Object> CreatedObject(const cluster::Create& create, const Response& response);

// The pod that a read back found; null when the answer is none, or cannot be read.
std::shared_ptr<const model::Pod> PodReadBack(const Response& response, SpecCache* specs);
// After reading the pod back.
Verdict AfterRead(const WriteJob& job, const Response& response, const model::Pod* pod, base::Millis now_ms);

}  // namespace tutti::kube
