// SPDX-License-Identifier: Apache-2.0
#include "model/storage.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::model {
namespace {

// k8s.io/csi-translation-lib, and isCSIMigrationOn of the plugin NodeVolumeLimits.
struct Moved {
  std::string_view source, provisioner, driver;
};
constexpr Moved kMoved[] = {
    {"awsElasticBlockStore", "kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
    {"gcePersistentDisk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
    {"azureDisk", "kubernetes.io/azure-disk", "disk.csi.azure.com"},
    {"cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org"},
    {"portworxVolume", "kubernetes.io/portworx-volume", "pxd.portworx.com"},
};
// Provisioners that moved too, and whose volumes no plugin counts.
constexpr std::string_view kUncounted[] = {"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"};

}  // namespace

bool Claim::HasMode(std::string_view mode) const { return std::ranges::find(access_modes, mode) != access_modes.end(); }

CsiDisk MovedDisk(std::string_view in_tree_source, const std::string& id, const std::string& zone) {
  const auto at = std::ranges::find(kMoved, in_tree_source, &Moved::source);
  if (at == std::end(kMoved) || id.empty()) return {};
  if (at->source == "gcePersistentDisk")
    return {std::string(at->driver),
            fmt::format("projects/UNSPECIFIED/zones/{}/disks/{}", zone.empty() ? "UNSPECIFIED" : zone, id)};
  if (at->source == "awsElasticBlockStore" && id.starts_with("aws://"))  // aws://zone/vol-...
    return {std::string(at->driver), id.substr(id.rfind('/') + 1)};
  return {std::string(at->driver), id};
}

std::string_view CsiDriverOfProvisioner(std::string_view provisioner) {
  if (std::ranges::find(kUncounted, provisioner) != std::end(kUncounted)) return {};
  const auto at = std::ranges::find(kMoved, provisioner, &Moved::provisioner);
  return at == std::end(kMoved) ? provisioner : at->driver;
}

}  // namespace tutti::model
