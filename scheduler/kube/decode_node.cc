// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"
#include "kube/decode_meta.h"
#include "kube/field_numbers.h"

namespace tutti::kube {
namespace {

model::Taint DecodeTaint(std::string_view message) {
  using F = field::Taint;
  model::Taint taint;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kKey: taint.key = r.text(); break;
      case F::kValue: taint.value = r.text(); break;
      case F::kEffect: taint.effect = r.text(); break;
    }
  return taint;
}

model::ContainerImage DecodeImage(std::string_view message) {
  model::ContainerImage image;
  for (WireReader r(message); r.Next();) {
    if (r.field() == field::ContainerImage::kNames) image.names.push_back(r.text());
    if (r.field() == field::ContainerImage::kSizeBytes) image.size_bytes = r.number();
  }
  return image;
}

void DecodeCondition(std::string_view message, model::Node* node) {
  std::string_view type, status;
  for (WireReader r(message); r.Next();) {
    if (r.field() == field::NodeCondition::kType) type = r.bytes();
    if (r.field() == field::NodeCondition::kStatus) status = r.bytes();
  }
  if (type == "Ready") node->ready = status == "True";
}

void DecodeNodeStatus(std::string_view message, model::Node* node) {
  using F = field::NodeStatus;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kAllocatable: SetResource(r.bytes(), &node->allocatable); break;  // an unreadable amount counts as none
      case F::kConditions: DecodeCondition(r.bytes(), node); break;
      case F::kImages: node->images.push_back(DecodeImage(r.bytes())); break;
    }
}

}  // namespace

std::shared_ptr<const model::Node> DecodeNode(std::string_view message) {
  using F = field::Node;
  auto node = std::make_shared<model::Node>();
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kMetadata: node->meta = DecodeMeta(r.bytes()); break;
      case F::kSpec:
        for (WireReader spec(r.bytes()); spec.Next();) {
          if (spec.field() == field::NodeSpec::kUnschedulable) node->unschedulable = spec.flag();
          if (spec.field() == field::NodeSpec::kTaints) node->taints.push_back(DecodeTaint(spec.bytes()));
        }
        break;
      case F::kStatus: DecodeNodeStatus(r.bytes(), node.get()); break;
    }
  return node;
}

}  // namespace tutti::kube
