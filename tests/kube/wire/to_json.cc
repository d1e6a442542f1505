// SPDX-License-Identifier: Apache-2.0
#include "tests/kube/wire/to_json.h"

#include "base/clock.h"

namespace tutti::tests {
namespace {

using base::Json;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

Json Inner(const Message& message) {
  const auto* type = message.GetDescriptor();
  const auto number = [&](const char* name) {
    return message.GetReflection()->GetInt64(message, type->FindFieldByName(name));
  };
  if (type->name() == "Quantity") return message.GetReflection()->GetString(message, type->FindFieldByName("string"));
  if (type->name() == "Time") return base::FormatTime(number("seconds") * 1000);
  return ToJson(message);
}

// One value; `index` is -1 for a field that is not repeated.
Json Value(const Message& message, const FieldDescriptor* field, int index) {
  const auto* r = message.GetReflection();
  const bool one = index < 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Inner(one ? r->GetMessage(message, field) : r->GetRepeatedMessage(message, field, index));
    case FieldDescriptor::CPPTYPE_STRING:
      return one ? r->GetString(message, field) : r->GetRepeatedString(message, field, index);
    case FieldDescriptor::CPPTYPE_BOOL: return r->GetBool(message, field);
    case FieldDescriptor::CPPTYPE_INT32: return r->GetInt32(message, field);
    default: return r->GetInt64(message, field);
  }
}

Json Entries(const Message& message, const FieldDescriptor* field) {
  Json map = Json::object();
  const auto* r = message.GetReflection();
  for (int i = 0; i < r->FieldSize(message, field); ++i) {
    const Message& entry = r->GetRepeatedMessage(message, field, i);
    const std::string key = entry.GetReflection()->GetString(entry, field->message_type()->map_key());
    map[key] = Value(entry, field->message_type()->map_value(), -1);
  }
  return map;
}

}  // namespace

Json ToJson(const Message& message) {
  Json object = Json::object();
  std::vector<const FieldDescriptor*> fields;
  const auto* r = message.GetReflection();
  r->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_map()) {
      object[field->name()] = Entries(message, field);
    } else if (field->is_repeated()) {
      Json& list = object[field->name()] = Json::array();
      for (int i = 0; i < r->FieldSize(message, field); ++i) list.push_back(Value(message, field, i));
    } else if (field->name() == "volumeSource") {  // JSON shows its fields as those of the volume
      object.update(Value(message, field, -1));
    } else {
      object[field->name()] = Value(message, field, -1);
    }
  }
  return object;
}

}  // namespace tutti::tests
