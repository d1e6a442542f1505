// SPDX-License-Identifier: Apache-2.0
// Decides from an answer what became of a command, and what the writer does next. Pure functions.
#pragma once

#include <memory>
#include <string>

#include "kube/write_job.h"
#include "model/pod.h"

namespace tutti::kube {

// A write leaves within this time, or not at all.
inline constexpr base::Millis kWriteGraceMs = 500;
inline constexpr base::Millis kReadTimeoutMs = 2'000;

struct Verdict {
  enum class Next {
    kFinish,     // with `answer`, which only lacks the id
    kRetry,      // send the same request again, in `wait_ms` at the earliest
    kReadBack,   // read the object, in `wait_ms` at the earliest
    kReadAgain,  // read the pod after a growing pause, because the read itself failed
  };
  Next next = Next::kFinish;
  base::Millis wait_ms = 0;
  cluster::CommandReply answer;
};

// Decide after the answer to a Bind, and after the answer to a Delete, Patch or Create.
Verdict AfterBind(const WriteJob& job, const Judgement& judgement);
Verdict AfterWrite(const WriteJob& job, const Judgement& judgement);

// Returns the object in the answer to a create or to a read; null when it cannot be read.
std::shared_ptr<const model::Object> ObjectIn(const cluster::ObjectRef& ref, const Response& response);
// Decides after the object was read that has the name of one that was to be created.
Verdict AfterReadOfTaken(const WriteJob& job, const Response& response);

// Decides after an object was read that is to be deleted if its controller is the one that is named. kRetry: it is, and
// `answer` has the object, by whose UID it is deleted.
Verdict AfterReadOfOwned(const WriteJob& job, const Response& response);

// Returns the pod in the answer to a read; null when there is none, or when it cannot be read.
std::shared_ptr<const model::Pod> PodReadBack(const Response& response, SpecCache* specs);
// Decides after the pod was read back.
Verdict AfterRead(const WriteJob& job, const Response& response, const model::Pod* pod, base::Millis now_ms);

}  // namespace tutti::kube
