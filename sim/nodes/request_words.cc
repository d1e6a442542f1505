// SPDX-License-Identifier: Apache-2.0
#include "sim/nodes/request_words.h"

namespace tutti::sim {
namespace {

const RequestWords& Queued() {
  static const RequestWords words = {
      {{kAccepted, "False", "NotAccepted", "Provisioning Request wasn't accepted."},
       {kProvisioned, "False", "NotProvisioned", "Provisioning Request wasn't provisioned."},
       {kFailed, "False", "NotFailed", "Provisioning Request hasn't failed."}},
      {kAccepted, "True", "SuccessfullyQueued", "Provisioning Request was successfully queued."},
      {kProvisioned, "True", "Provisioned", "Provisioning Request was successfully provisioned."},
      {kProvisioned, "False", "ResourcePoolExhausted", "Waiting for resources."},
      {kFailed, "True", "OutOfResources", "Provisioning Request failed."},
      {kBookingExpired, "True", "BookingExpired", "Capacity booking has expired."},
      {kCapacityRevoked, "True", "CapacityRevoked", "Capacity was revoked."}};
  return words;
}

const RequestWords& Atomic() {
  static const RequestWords words = {
      {},
      {kAccepted, "True", "Accepted", "ProvisioningRequest is accepted by ClusterAutoscaler"},
      {kProvisioned, "True", "CapacityIsProvisioned", "Capacity is provisioned in the cluster"},
      {kProvisioned, "False", "CapacityIsNotFound", "Capacity is not found, CA will try to find it later."},
      {kFailed, "True", "CapacityIsNotFound", "CA could not find requested capacity"},
      {kBookingExpired, "True", "CapacityReservationTimeExpired", "Capacity reservation time is expired"},
      {kCapacityRevoked, "True", "CapacityRevoked", "Capacity was revoked."}};
  return words;
}

}  // namespace

const RequestWords* WordsOf(std::string_view provisioning_class) {
  if (provisioning_class == "queued-provisioning.gke.io") return &Queued();
  if (provisioning_class == "best-effort-atomic-scale-up.autoscaling.x-k8s.io") return &Atomic();
  return nullptr;
}

}  // namespace tutti::sim
