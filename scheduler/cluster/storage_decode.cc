// SPDX-License-Identifier: Apache-2.0
#include "cluster/storage_decode.h"

#include "base/json.h"
#include "cluster/json_reader.h"

namespace tutti::cluster {
namespace {

constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

std::string ReadClass(JsonReader& read, const model::ObjectMeta& meta, const JsonField& spec) {
  const std::string* beta = model::Find(meta.annotations, kBetaClass);
  return beta ? *beta : read.Text(spec["storageClassName"]);
}

std::string ReadMode(JsonReader& read, const JsonField& spec) {
  std::string mode = read.Text(spec["volumeMode"]);
  return mode.empty() ? "Filesystem" : mode;
}

// "storage" of a list of resources; a quantity that stands alone is wrapped into such a list.
std::optional<int64_t> Storage(const model::ResourceList& list) {
  if (!list.Has("storage")) return std::nullopt;
  return list.Get("storage");
}

std::optional<int64_t> ReadSize(JsonReader& read, const JsonField& field) {
  if (!field.present()) return std::nullopt;
  const base::Json wrapped = {{"storage", field.value()}};
  return Storage(read.Resources(JsonField(wrapped)));
}

model::CsiDisk ReadDisk(JsonReader& read, const model::ObjectMeta& meta, const JsonField& spec) {
  if (const JsonField csi = spec["csi"]; csi.present())
    return {read.Text(csi["driver"]), read.Text(csi["volumeHandle"])};
  const std::string* beta = model::Find(meta.labels, kBetaZone);
  const std::string* zone = beta && !beta->empty() ? beta : model::Find(meta.labels, kZone);
  static constexpr std::pair<const char*, const char*> kIds[] = {{"gcePersistentDisk", "pdName"},
                                                                 {"awsElasticBlockStore", "volumeID"},
                                                                 {"azureDisk", "diskURI"},
                                                                 {"cinder", "volumeID"},
                                                                 {"portworxVolume", "volumeID"}};
  for (const auto& [source, id] : kIds)
    if (const JsonField disk = spec[source]; disk.present())
      return model::MovedDisk(source, read.Text(disk[id]), zone ? *zone : "");
  return {};
}

std::optional<model::NodeSelector> ReadNodeSelector(JsonReader& read, const JsonField& required) {
  if (!required.present()) return std::nullopt;
  model::NodeSelector selector;
  read.Items(required["nodeSelectorTerms"], [&](const JsonField& term) {
    selector.terms.push_back({read.Requirements(term["matchExpressions"]), read.Requirements(term["matchFields"])});
  });
  return selector;
}

// Made from `object` by `fill`, which is given a reader, the root and the value to fill.
template <typename T, typename Fill>
std::shared_ptr<const T> Decode(const model::Object& object, std::vector<std::string>* problems, Fill fill) {
  JsonReader read;
  auto value = std::make_shared<T>();
  value->meta = object.meta;
  fill(read, JsonField(*object.body), *value);
  *problems = read.TakeProblems();
  return value;
}

}  // namespace

std::shared_ptr<const model::Claim> DecodeClaim(const model::Object& object, std::vector<std::string>* problems) {
  return Decode<model::Claim>(object, problems, [](JsonReader& read, const JsonField& root, model::Claim& claim) {
    const JsonField spec = root["spec"], status = root["status"], resources = spec["resources"];
    claim.storage_class = ReadClass(read, claim.meta, spec);
    claim.access_modes = read.Texts(spec["accessModes"]);
    claim.size = Storage(read.Resources(resources["requests"]));
    claim.selector = read.Selector(spec["selector"]);
    claim.volume_mode = ReadMode(read, spec);
    claim.attributes_class = read.Text(spec["volumeAttributesClassName"]);
    claim.volume = read.Text(spec["volumeName"]);
    claim.bind_completed = model::Find(claim.meta.annotations, model::kBindCompleted) != nullptr;
    if (const std::string* node = model::Find(claim.meta.annotations, model::kSelectedNode))
      claim.selected_node = *node;
    claim.lost = read.Text(status["phase"]) == "Lost";
  });
}

std::shared_ptr<const model::Volume> DecodeVolume(const model::Object& object, std::vector<std::string>* problems) {
  return Decode<model::Volume>(object, problems, [](JsonReader& read, const JsonField& root, model::Volume& volume) {
    const JsonField spec = root["spec"], status = root["status"], claim = spec["claimRef"],
                    affinity = spec["nodeAffinity"];
    volume.storage_class = ReadClass(read, volume.meta, spec);
    volume.access_modes = read.Texts(spec["accessModes"]);
    volume.size = Storage(read.Resources(spec["capacity"])).value_or(0);
    volume.volume_mode = ReadMode(read, spec);
    volume.attributes_class = read.Text(spec["volumeAttributesClassName"]);
    if (claim.present())
      volume.claim =
          model::ClaimReference{read.Text(claim["namespace"]), read.Text(claim["name"]), read.Text(claim["uid"])};
    volume.node_affinity = ReadNodeSelector(read, affinity["required"]);
    const std::string phase = read.Text(status["phase"]);
    // The API server never leaves it out; a file that does means a volume to be had.
    volume.available = phase == "Available" || phase.empty();
    volume.disk = ReadDisk(read, volume.meta, spec);
    volume.in_tree = !spec["csi"].present();
  });
}

std::shared_ptr<const model::StorageClass> DecodeStorageClass(const model::Object& object,
                                                              std::vector<std::string>* problems) {
  return Decode<model::StorageClass>(
      object, problems, [](JsonReader& read, const JsonField& root, model::StorageClass& made) {
        made.provisioner = read.Text(root["provisioner"]);
        made.waits_for_consumer = read.Text(root["volumeBindingMode"]) == "WaitForFirstConsumer";
        read.Items(root["allowedTopologies"], [&](const JsonField& term) {
          std::vector<model::Requirement>& requirements = made.topologies.emplace_back();
          read.Items(term["matchLabelExpressions"], [&](const JsonField& expression) {
            requirements.push_back(
                {read.Text(expression["key"]), model::Operator::kIn, read.Texts(expression["values"])});
          });
        });
      });
}

std::shared_ptr<const model::CsiNode> DecodeCsiNode(const model::Object& object, std::vector<std::string>* problems) {
  return Decode<model::CsiNode>(object, problems, [](JsonReader& read, const JsonField& root, model::CsiNode& node) {
    const JsonField spec = root["spec"];
    read.Items(spec["drivers"], [&](const JsonField& driver) {
      const JsonField allocatable = driver["allocatable"], count = allocatable["count"];
      model::CsiNode::Driver& made = node.drivers.emplace_back();
      made.name = read.Text(driver["name"]);
      if (count.present()) made.limit = read.Integer(count, 0);
    });
  });
}

std::shared_ptr<const model::CsiDriver> DecodeCsiDriver(const model::Object& object,
                                                        std::vector<std::string>* problems) {
  return Decode<model::CsiDriver>(object, problems,
                                  [](JsonReader& read, const JsonField& root, model::CsiDriver& driver) {
                                    const JsonField spec = root["spec"];
                                    driver.counts_capacity = read.Flag(spec["storageCapacity"]);
                                  });
}

std::shared_ptr<const model::StorageCapacity> DecodeStorageCapacity(const model::Object& object,
                                                                    std::vector<std::string>* problems) {
  return Decode<model::StorageCapacity>(object, problems,
                                        [](JsonReader& read, const JsonField& root, model::StorageCapacity& made) {
                                          made.storage_class = read.Text(root["storageClassName"]);
                                          made.nodes = read.Selector(root["nodeTopology"]);
                                          made.largest = ReadSize(read, root["maximumVolumeSize"]);
                                          if (!made.largest) made.largest = ReadSize(read, root["capacity"]);
                                        });
}

std::shared_ptr<const model::VolumeAttachment> DecodeVolumeAttachment(const model::Object& object,
                                                                      std::vector<std::string>* problems) {
  return Decode<model::VolumeAttachment>(object, problems,
                                         [](JsonReader& read, const JsonField& root, model::VolumeAttachment& made) {
                                           const JsonField spec = root["spec"], source = spec["source"];
                                           made.driver = read.Text(spec["attacher"]);
                                           made.node = read.Text(spec["nodeName"]);
                                           made.volume = read.Text(source["persistentVolumeName"]);
                                         });
}

}  // namespace tutti::cluster
