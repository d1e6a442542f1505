// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"
#include "kube/decode_affinity.h"
#include "kube/decode_meta.h"
#include "kube/field_numbers.h"

namespace tutti::kube {

// Decodes spec.selector, which has the same field number in all four messages. It is a map in Service and
// ReplicationController, and a LabelSelector in the others.
model::Selection DecodeSelection(model::Selection::Kind kind, std::string_view message) {
  using Kind = model::Selection::Kind;
  const bool is_map = kind == Kind::kService || kind == Kind::kReplicationController;
  model::Selection selection;
  selection.kind = kind;
  const MetaView meta = DecodeMetaView(message);
  selection.ns = meta.ns;
  selection.name = meta.name;
  for (WireReader spec(FindBytes(message, field::ReplicaSet::kSpec)); spec.Next();) {
    if (spec.field() != field::ReplicaSetSpec::kSelector) continue;
    if (is_map)
      AddEntry(spec.bytes(), &selection.selector.match_labels);
    else
      selection.selector = DecodeSelector(spec.bytes());
  }
  SortMap(&selection.selector.match_labels);
  return selection;
}

}  // namespace tutti::kube
