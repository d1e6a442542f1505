// SPDX-License-Identifier: Apache-2.0
#include "tests/kube/wire/random_message.h"

#include <vector>

namespace tutti::tests {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

using Words = std::vector<const char*>;
const Words kNames = {"", "a", "bb", "ccc", "zone", "x.io/y", "Überlänge"};
const std::map<std::string, Words> kWords = {
    {"operator", {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "else", ""}},
    {"effect", {"NoSchedule", "NoExecute", "PreferNoSchedule", ""}},
    {"phase", {"Pending", "Running", "Succeeded", "Failed", "Unknown", "else", ""}},
    {"restartPolicy", {"Always", "Never", ""}},
    {"whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway", ""}},
    {"nodeAffinityPolicy", {"Honor", "Ignore", ""}},
    {"status", {"True", "False", "Unknown"}},
    {"reason", {"Infeasible", "Deferred", "GangNotWhole", "Unschedulable", ""}},
    {"string", {"0", "1", "250m", "1500m", "2", "1Gi", "3M", "1e3", "0.5"}},
    {"schedulerName", {"tutti", "default-scheduler"}},
};
const Words kConditions = {"PodScheduled", "DisruptionTarget", "PodResizePending", "Ready"};
const Words kAmounts = {"cpu", "memory", "nvidia.com/gpu"};

// Fields that the API server sets in every object.
bool Always(const FieldDescriptor* field) {
  return field->name() == "metadata" || field->name() == "spec" || field->name() == "schedulerName" ||
         field->name() == "maxSkew" || field->name() == "string" ||
         field->containing_type()->name() == "ResourceRequirements" ||
         (field->name() == "name" && field->containing_type()->name().starts_with("Container")) ||
         (field->name() == "name" && field->containing_type()->name() == "ObjectMeta") ||
         (field->name() == "type" && field->containing_type()->name() == "PodCondition");
}

bool HasOneField(const std::string& message) { return message == "VolumeSource"; }

size_t MostOf(const FieldDescriptor* field) {
  if (field->name() == "ownerReferences") return 1;
  return field->name() == "conditions" ? kConditions.size() : 3;
}

}  // namespace

void RandomMessage::Fill(Message* message) {
  const auto* type = message->GetDescriptor();
  if (type->name() == "Pod") named_.clear();
  if (HasOneField(type->name()))
    return FillField(message, type->field(static_cast<int>(random_.Below(static_cast<uint64_t>(type->field_count())))));
  for (int i = 0; i < type->field_count(); ++i)
    if (Always(type->field(i)) || !random_.OneIn(3)) FillField(message, type->field(i));
}

void RandomMessage::FillField(Message* message, const FieldDescriptor* field) {
  const auto* reflection = message->GetReflection();
  if (field->is_map()) return FillMap(message, field);
  const size_t times = field->is_repeated() ? random_.Below(MostOf(field) + 1) : 1;
  for (size_t i = 0; i < times; ++i) switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(field->is_repeated() ? reflection->AddMessage(message, field)
                                  : reflection->MutableMessage(message, field));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        if (field->is_repeated())
          reflection->AddString(message, field, Text(field));
        else
          reflection->SetString(message, field, Text(field));
        break;
      case FieldDescriptor::CPPTYPE_BOOL: reflection->SetBool(message, field, random_.OneIn(2)); break;
      case FieldDescriptor::CPPTYPE_INT32:  // a Time is of whole seconds
        reflection->SetInt32(message, field, field->name() == "nanos" ? 0 : static_cast<int>(random_.Below(6)));
        break;
      default: reflection->SetInt64(message, field, random_.Between(0, 4'000'000'000)); break;
    }
}

// Of a requirement's two maps the API server has made one of the other, so both have the same keys.
void RandomMessage::FillMap(Message* message, const FieldDescriptor* field) {
  const auto* key = field->message_type()->map_key();
  const auto* value = field->message_type()->map_value();
  const bool amounts = value->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  const bool all = field->containing_type()->name() == "ResourceRequirements";
  for (const char* name : amounts ? kAmounts : kNames) {
    if (!all && random_.OneIn(2)) continue;
    Message* entry = message->GetReflection()->AddMessage(message, field);
    entry->GetReflection()->SetString(entry, key, name);
    FillField(entry, value);
  }
}

std::string RandomMessage::Text(const FieldDescriptor* field) {
  const std::string& type = field->containing_type()->name();
  if (type == "PodCondition" && field->name() == "type")
    return kConditions[static_cast<size_t>(named_[type]++) % kConditions.size()];
  if (type == "NodeCondition" && field->name() == "type") return kConditions[random_.Below(kConditions.size())];
  if (type == "ObjectMeta" && field->name() == "name") return "an-object";
  if (type.starts_with("Container") && field->name() == "name") return "c" + std::to_string(named_[type]++);
  const auto at = kWords.find(field->name());
  const Words& words = at == kWords.end() ? kNames : at->second;
  return words[random_.Below(words.size())];
}

}  // namespace tutti::tests
