// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"
#include "kube/decode_meta.h"

namespace tutti::kube {
namespace {

model::Taint DecodeTaint(std::string_view message) {
  model::Taint taint;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: taint.key = r.text(); break;
      case 2: taint.value = r.text(); break;
      case 3: taint.effect = r.text(); break;
    }
  return taint;
}

model::ContainerImage DecodeImage(std::string_view message) {
  model::ContainerImage image;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) image.names.push_back(r.text());
    if (r.field() == 2) image.size_bytes = r.number();
  }
  return image;
}

void DecodeCondition(std::string_view message, model::Node* node) {
  std::string_view type, status;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) type = r.bytes();
    if (r.field() == 2) status = r.bytes();
  }
  if (type == "Ready") node->ready = status == "True";
}

void DecodeNodeStatus(std::string_view message, model::Node* node) {
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 2: SetResource(r.bytes(), &node->allocatable); break;  // what cannot be read is no room
      case 4: DecodeCondition(r.bytes(), node); break;
      case 8: node->images.push_back(DecodeImage(r.bytes())); break;
    }
}

}  // namespace

std::shared_ptr<const model::Node> DecodeNode(std::string_view message) {
  auto node = std::make_shared<model::Node>();
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: node->meta = DecodeMeta(r.bytes()); break;
      case 2:
        for (WireReader spec(r.bytes()); spec.Next();) {
          if (spec.field() == 4) node->unschedulable = spec.flag();
          if (spec.field() == 5) node->taints.push_back(DecodeTaint(spec.bytes()));
        }
        break;
      case 3: DecodeNodeStatus(r.bytes(), node.get()); break;
    }
  return node;
}

}  // namespace tutti::kube
