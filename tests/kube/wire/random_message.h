// SPDX-License-Identifier: Apache-2.0
// Messages of proto/kubernetes with random fields, as an API server may send them: words are drawn from those that mean
// something, of a volume there is one source, and containers have names of their own.
#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <string>

#include "base/random.h"

namespace tutti::tests {

class RandomMessage {
 public:
  explicit RandomMessage(uint64_t seed) : random_(seed) {}

  void Fill(google::protobuf::Message* message);

 private:
  using Field = google::protobuf::FieldDescriptor;
  void FillField(google::protobuf::Message* message, const Field* field);
  void FillMap(google::protobuf::Message* message, const Field* field);
  std::string Text(const Field* field);

  base::Random random_;
  std::map<std::string, int> named_;  // how many names each kind of message has been given
};

}  // namespace tutti::tests
