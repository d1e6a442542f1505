// SPDX-License-Identifier: Apache-2.0
// The decoders beside protoc's library: the same bytes, read by both.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <fstream>
#include <set>

#include "cluster/json_decode.h"
#include "cluster/selections.h"
#include "kube/decode.h"
#include "kube/encode.h"
#include "model/field_counts.h"
#include "sim/schema/type_table.h"
#include "tests/kube/wire/random_message.h"
#include "tests/kube/wire/to_json.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

namespace pb = google::protobuf;
using base::Json;

// The messages of proto/kubernetes, as protoc reads them.
class Messages {
 public:
  Messages() {
    std::ifstream file(DESCRIPTORS, std::ios::binary);
    REQUIRE(set_.ParseFromIstream(&file));
    std::set<std::string> built;
    while (built.size() < static_cast<size_t>(set_.file_size()))  // those that others import come first
      for (const auto& one : set_.file()) {
        const auto& needs = one.dependency();
        if (std::ranges::all_of(needs, [&](const std::string& name) { return built.contains(name); }) &&
            built.insert(one.name()).second)
          REQUIRE(pool_.BuildFile(one) != nullptr);
      }
  }
  std::unique_ptr<pb::Message> New(const std::string& name) {
    const auto* type = pool_.FindMessageTypeByName("kubernetes." + name);
    REQUIRE(type != nullptr);
    return std::unique_ptr<pb::Message>(factory_.GetPrototype(type)->New());
  }
  std::unique_ptr<pb::Message> Parse(const std::string& name, std::string_view bytes) {
    auto message = New(name);
    REQUIRE(message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    return message;
  }
  template <typename Each>
  void ForEach(Each each) {
    for (const auto& file : set_.file())
      for (const auto& message : file.message_type())
        each(*pool_.FindMessageTypeByName("kubernetes." + message.name()));
  }

 private:
  pb::FileDescriptorSet set_;
  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_{&pool_};
};

sim::Shape ShapeOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) return sim::Shape::kMap;
  if (field.is_repeated()) return sim::Shape::kList;
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_BOOL: return sim::Shape::kBool;
    case pb::FieldDescriptor::CPPTYPE_INT32: return sim::Shape::kInt32;
    case pb::FieldDescriptor::CPPTYPE_INT64: return sim::Shape::kInt64;
    case pb::FieldDescriptor::CPPTYPE_STRING: return sim::Shape::kString;
    default: break;
  }
  const std::string& message = field.message_type()->name();
  if (message == "Quantity") return sim::Shape::kQuantity;
  if (message == "Time") return sim::Shape::kTime;
  return message == "MicroTime" ? sim::Shape::kMicroTime : sim::Shape::kStruct;
}

// In the table that was made from the API's own types, what JSON shows: a volume's source is a part of the volume.
const sim::Field* InTable(const pb::FieldDescriptor& field) {
  const std::string& message = field.containing_type()->name();
  const bool source = message == "VolumeSource";
  const bool event = message.starts_with("Event") && message != "EventSource";
  const auto* type = sim::TypeTable::Get().Find(source ? "Volume" : event ? "Events" + message : message);
  if (type == nullptr) return nullptr;
  for (const sim::Field& one : type->fields)
    if (one.name == field.name() && one.outer == (source ? 2 : 0)) return &one;
  return nullptr;
}

TEST_CASE("The numbers and types of proto/kubernetes are the API's") {
  // The frame, which no table of kinds has.
  const std::set<std::string> frame = {"TypeMeta", "Unknown",  "RawExtension", "WatchEvent",    "Time",   "MicroTime",
                                       "Quantity", "ListMeta", "Status",       "StatusDetails", "PodList"};
  Messages messages;
  size_t compared = 0;
  messages.ForEach([&](const pb::Descriptor& message) {
    if (frame.contains(message.name())) return;
    for (int i = 0; i < message.field_count(); ++i) {
      const auto& field = *message.field(i);
      INFO(field.full_name());
      if (field.name() == "volumeSource") continue;  // not in JSON; its fields are compared
      const sim::Field* known = InTable(field);
      REQUIRE(known != nullptr);
      CHECK(field.number() == known->number);
      CHECK(ShapeOf(field) == known->type.shape);
      ++compared;
    }
  });
  CHECK(compared > 150);
}

// The message, and what an older or newer server may add to it.
std::string Bytes(pb::Message* message, base::Random* random) {
  std::string bytes = message->SerializeAsString();
  WireWriter writer(&bytes);
  if (random->OneIn(2)) writer.Number(900, 7);
  if (random->OneIn(2)) writer.Bytes(901, "of another version");
  return bytes;
}

constexpr int kMessages = 2'000;

template <typename Check>
void ForRandom(const std::string& kind, Check check) {
  Messages messages;
  base::Random random(20'260'101);
  for (int i = 0; i < kMessages; ++i) {
    tests::RandomMessage fill(random.Next());
    const auto message = messages.New(kind);
    fill.Fill(message.get());
    const std::string bytes = Bytes(message.get(), &random);
    const Json json = tests::ToJson(*messages.Parse(kind, bytes));
    INFO(json.dump(1));
    check(bytes, json);
  }
}

TEST_CASE("A pod's protobuf says what protoc's library reads in it") {
  SpecCache specs;
  size_t bound = 0;
  ForRandom("Pod", [&](const std::string& bytes, const Json& json) {
    std::vector<std::string> problems;
    const model::Pod expected = cluster::DecodePodLeniently(json, &problems);
    REQUIRE(problems == std::vector<std::string>());
    const auto pod = DecodePod(bytes, &specs);
    bound += pod->bound();
    REQUIRE(*pod->spec == *expected.spec);
    REQUIRE(model::SameBut(pod->meta, expected.meta));
    REQUIRE(model::SameBut(*pod, expected, &model::Pod::meta, &model::Pod::spec));
    const MetaView meta = DecodeMetaView(bytes);
    REQUIRE((meta.ns == expected.meta.ns && meta.name == expected.meta.name && meta.uid == expected.meta.uid &&
             meta.resource_version == expected.meta.resource_version));
  });
  CHECK(bound > kMessages / 4);
  CHECK(bound < kMessages);
}

TEST_CASE("A node's protobuf says what protoc's library reads in it") {
  ForRandom("Node", [](const std::string& bytes, const Json& json) {
    std::vector<std::string> problems;
    const model::Node expected = cluster::DecodeNodeLeniently(json, &problems);
    REQUIRE(problems == std::vector<std::string>());
    const auto node = DecodeNode(bytes);
    REQUIRE(model::SameBut(node->meta, expected.meta));
    REQUIRE(model::SameBut(*node, expected, &model::Node::meta));
  });
}

TEST_CASE("A selection's protobuf says what protoc's library reads in it") {
  for (const model::ObjectKind& kind : cluster::SelectionKinds()) {
    const auto which = *cluster::FindSelectionKind(kind.Name());
    ForRandom(kind.kind, [&](const std::string& bytes, const Json& json) {
      std::vector<std::string> problems;
      REQUIRE(DecodeSelection(which, bytes) == cluster::DecodeSelection(which, json, &problems));
      REQUIRE(problems == std::vector<std::string>());
    });
  }
}

TEST_CASE("A status, a watch event and a list say what protoc's library reads in them") {
  Messages messages;
  ForRandom("Status", [&](const std::string& bytes, const Json& json) {
    Json object = json;
    object["kind"] = "Status";
    const ApiStatus expected = DecodeStatusObject(object), status = DecodeStatusMessage(bytes);
    REQUIRE(status.code == expected.code);
    REQUIRE(status.reason == expected.reason);
    REQUIRE(status.message == expected.message);
    REQUIRE(status.retry_after_ms == expected.retry_after_ms);
  });
  ForRandom("PodList", [&](const std::string& bytes, const Json& json) {
    ListMeta meta;
    size_t items = 0;
    REQUIRE(ForEachItem(bytes, &meta, [&](std::string_view) { ++items; }));
    REQUIRE(meta.resource_version == json["metadata"].value("resourceVersion", Json("")));
    REQUIRE(meta.continue_token == json["metadata"].value("continue", Json("")));
    REQUIRE(items == (json.contains("items") ? json["items"].size() : 0));
  });
}

// --- What is written ---

std::shared_ptr<const model::Pod> SomePod() {
  auto pod = std::make_shared<model::Pod>();
  pod->meta.ns = "ml", pod->meta.name = "w-0", pod->meta.uid = "u-1";
  pod->spec = std::make_shared<model::PodSpec>();
  return pod;
}

TEST_CASE("A binding that is written is read by protoc's library") {
  Messages messages;
  cluster::Bind bind{cluster::RefOf(SomePod()), "n1", {{"k", "v"}, {"l", ""}}};
  bind.pod.resource_version = "12";
  const std::string body = EncodeBinding(bind, Encoding::kProtobuf);
  const auto envelope = OpenEnvelope(body).value();
  CHECK(envelope.kind == "Binding");
  const Json written = tests::ToJson(*messages.Parse("Binding", envelope.raw));
  CHECK(written == Json{{"metadata",
                         {{"name", "w-0"},
                          {"namespace", "ml"},
                          {"uid", "u-1"},
                          {"resourceVersion", "12"},
                          {"annotations", {{"k", "v"}, {"l", ""}}}}},
                        {"target", {{"kind", "Node"}, {"name", "n1"}}}});
}

TEST_CASE("An event that is written is read by protoc's library") {
  Messages messages;
  cluster::EmitEvent event{cluster::RefOf(SomePod()), true, "FailedScheduling", "Scheduling", "no room", ""};
  EventBody body{"ml", "w-0.1", 1'000, 2'500, 3, "tutti", "tutti-host", "v1", &event};
  const std::string bytes = EncodeEvent(body, Encoding::kProtobuf);
  const Json written = tests::ToJson(*messages.Parse("Event", OpenEnvelope(bytes).value().raw));
  const Json expected = {
      {"metadata", {{"name", "w-0.1"}, {"namespace", "ml"}}},
      {"eventTime", {{"seconds", 1}}},
      {"series", {{"count", 3}, {"lastObservedTime", {{"seconds", 2}, {"nanos", 500'000'000}}}}},
      {"reportingController", "tutti"},
      {"reportingInstance", "tutti-host"},
      {"action", "Scheduling"},
      {"reason", "FailedScheduling"},
      {"regarding", {{"kind", "Pod"}, {"namespace", "ml"}, {"name", "w-0"}, {"uid", "u-1"}, {"apiVersion", "v1"}}},
      {"note", "no room"},
      {"type", "Warning"}};
  CHECK(written == expected);
}

}  // namespace
}  // namespace tutti::kube
