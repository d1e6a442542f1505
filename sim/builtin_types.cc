// SPDX-License-Identifier: Apache-2.0
// The fields of the built-in kinds and their types, as a kube-apiserver 1.36 lists them in its OpenAPI document:
//   Type: field type, required! type, list []type, map {}type
#include "sim/builtin_schema.h"

namespace tutti::sim {

const char kBuiltinTypes[] = R"types(
AWSElasticBlockStoreVolumeSource: fsType string, partition int32, readOnly bool, volumeID! string
Affinity: nodeAffinity NodeAffinity, podAffinity PodAffinity, podAntiAffinity PodAntiAffinity
AggregationRule: clusterRoleSelectors []LabelSelector
AllocatedDeviceStatus: conditions []Condition, data any, device! string, driver! string, networkData
  NetworkDeviceData, pool! string, shareID string
AllocationResult: allocationTimestamp time, devices DeviceAllocationResult, nodeSelector NodeSelector
AppArmorProfile: localhostProfile string, type! string
AttachedVolume: devicePath! string, name! string
AzureDiskVolumeSource: cachingMode string, diskName! string, diskURI! string, fsType string, kind string, readOnly
  bool
AzureFilePersistentVolumeSource: readOnly bool, secretName! string, secretNamespace string, shareName! string
AzureFileVolumeSource: readOnly bool, secretName! string, shareName! string
BasicSchedulingPolicy:
CELDeviceSelector: expression! string
CSIDriver: apiVersion string, kind string, metadata ObjectMeta, spec! CSIDriverSpec
CSIDriverSpec: attachRequired bool, fsGroupPolicy string, nodeAllocatableUpdatePeriodSeconds int64, podInfoOnMount
  bool, preventPodSchedulingIfMissing bool, requiresRepublish bool, seLinuxMount bool, serviceAccountTokenInSecrets
  bool, storageCapacity bool, tokenRequests []TokenRequest, volumeLifecycleModes []string
CSINode: apiVersion string, kind string, metadata ObjectMeta, spec! CSINodeSpec
CSINodeDriver: allocatable VolumeNodeResources, name! string, nodeID! string, topologyKeys []string
CSINodeSpec: drivers! []CSINodeDriver
CSIPersistentVolumeSource: controllerExpandSecretRef SecretReference, controllerPublishSecretRef SecretReference,
  driver! string, fsType string, nodeExpandSecretRef SecretReference, nodePublishSecretRef SecretReference,
  nodeStageSecretRef SecretReference, readOnly bool, volumeAttributes {}string, volumeHandle! string
CSIStorageCapacity: apiVersion string, capacity quantity, kind string, maximumVolumeSize quantity, metadata
  ObjectMeta, nodeTopology LabelSelector, storageClassName! string
CSIVolumeSource: driver! string, fsType string, nodePublishSecretRef LocalObjectReference, readOnly bool,
  volumeAttributes {}string
Capabilities: add []string, drop []string
CapacityRequestPolicy: default quantity, validRange CapacityRequestPolicyRange, validValues []quantity
CapacityRequestPolicyRange: max quantity, min! quantity, step quantity
CapacityRequirements: requests {}quantity
CephFSPersistentVolumeSource: monitors! []string, path string, readOnly bool, secretFile string, secretRef
  SecretReference, user string
CephFSVolumeSource: monitors! []string, path string, readOnly bool, secretFile string, secretRef LocalObjectReference,
  user string
CinderPersistentVolumeSource: fsType string, readOnly bool, secretRef SecretReference, volumeID! string
CinderVolumeSource: fsType string, readOnly bool, secretRef LocalObjectReference, volumeID! string
ClientIPConfig: timeoutSeconds int32
ClusterRole: aggregationRule AggregationRule, apiVersion string, kind string, metadata ObjectMeta, rules []PolicyRule
ClusterRoleBinding: apiVersion string, kind string, metadata ObjectMeta, roleRef! RoleRef, subjects []Subject
ClusterTrustBundleProjection: labelSelector LabelSelector, name string, optional bool, path! string, signerName string
Condition: lastTransitionTime! time, message! string, observedGeneration int64, reason! string, status! string, type!
  string
ConfigMap: apiVersion string, binaryData {}string, data {}string, immutable bool, kind string, metadata ObjectMeta
ConfigMapEnvSource: name string, optional bool
ConfigMapKeySelector: key! string, name string, optional bool
ConfigMapNodeConfigSource: kubeletConfigKey! string, name! string, namespace! string, resourceVersion string, uid
  string
ConfigMapProjection: items []KeyToPath, name string, optional bool
ConfigMapVolumeSource: defaultMode int32, items []KeyToPath, name string, optional bool
Container: args []string, command []string, env []EnvVar, envFrom []EnvFromSource, image string, imagePullPolicy
  string, lifecycle Lifecycle, livenessProbe Probe, name! string, ports []ContainerPort, readinessProbe Probe,
  resizePolicy []ContainerResizePolicy, resources ResourceRequirements, restartPolicy string, restartPolicyRules
  []ContainerRestartRule, securityContext SecurityContext, startupProbe Probe, stdin bool, stdinOnce bool,
  terminationMessagePath string, terminationMessagePolicy string, tty bool, volumeDevices []VolumeDevice, volumeMounts
  []VolumeMount, workingDir string
ContainerExtendedResourceRequest: containerName! string, requestName! string, resourceName! string
ContainerImage: names []string, sizeBytes int64
ContainerPort: containerPort! int32, hostIP string, hostPort int32, name string, protocol string
ContainerResizePolicy: resourceName! string, restartPolicy! string
ContainerResourceClaim: name! string, request string
ContainerRestartRule: action! string, exitCodes ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator! string, values []int32
ContainerState: running ContainerStateRunning, terminated ContainerStateTerminated, waiting ContainerStateWaiting
ContainerStateRunning: startedAt time
ContainerStateTerminated: containerID string, exitCode! int32, finishedAt time, message string, reason string, signal
  int32, startedAt time
ContainerStateWaiting: message string, reason string
ContainerStatus: allocatedResources {}quantity, allocatedResourcesStatus []ResourceStatus, containerID string, image!
  string, imageID! string, lastState ContainerState, name! string, ready! bool, resources ResourceRequirements,
  restartCount! int32, started bool, state ContainerState, stopSignal string, user ContainerUser, volumeMounts
  []VolumeMountStatus
ContainerUser: linux LinuxContainerUser
Counter: value! quantity
CounterSet: counters! {}Counter, name! string
DaemonEndpoint: Port! int32
DaemonSet: apiVersion string, kind string, metadata ObjectMeta, spec DaemonSetSpec, status DaemonSetStatus
DaemonSetCondition: lastTransitionTime time, message string, reason string, status! string, type! string
DaemonSetSpec: minReadySeconds int32, revisionHistoryLimit int32, selector! LabelSelector, template! PodTemplateSpec,
  updateStrategy DaemonSetUpdateStrategy
DaemonSetStatus: collisionCount int32, conditions []DaemonSetCondition, currentNumberScheduled! int32,
  desiredNumberScheduled! int32, numberAvailable int32, numberMisscheduled! int32, numberReady! int32,
  numberUnavailable int32, observedGeneration int64, updatedNumberScheduled int32
DaemonSetUpdateStrategy: rollingUpdate RollingUpdateDaemonSet, type string
Deployment: apiVersion string, kind string, metadata ObjectMeta, spec DeploymentSpec, status DeploymentStatus
DeploymentCondition: lastTransitionTime time, lastUpdateTime time, message string, reason string, status! string,
  type! string
DeploymentSpec: minReadySeconds int32, paused bool, progressDeadlineSeconds int32, replicas int32,
  revisionHistoryLimit int32, selector! LabelSelector, strategy DeploymentStrategy, template! PodTemplateSpec
DeploymentStatus: availableReplicas int32, collisionCount int32, conditions []DeploymentCondition, observedGeneration
  int64, readyReplicas int32, replicas int32, terminatingReplicas int32, unavailableReplicas int32, updatedReplicas
  int32
DeploymentStrategy: rollingUpdate RollingUpdateDeployment, type string
Device: allNodes bool, allowMultipleAllocations bool, attributes {}DeviceAttribute, bindingConditions []string,
  bindingFailureConditions []string, bindsToNode bool, capacity {}DeviceCapacity, consumesCounters
  []DeviceCounterConsumption, name! string, nodeAllocatableResourceMappings {}NodeAllocatableResourceMapping, nodeName
  string, nodeSelector NodeSelector, taints []DeviceTaint
DeviceAllocationConfiguration: opaque OpaqueDeviceConfiguration, requests []string, source! string
DeviceAllocationResult: config []DeviceAllocationConfiguration, results []DeviceRequestAllocationResult
DeviceAttribute: bool bool, bools []bool, int int64, ints []int64, string string, strings []string, version string,
  versions []string
DeviceCapacity: requestPolicy CapacityRequestPolicy, value! quantity
DeviceClaim: config []DeviceClaimConfiguration, constraints []DeviceConstraint, requests []DeviceRequest
DeviceClaimConfiguration: opaque OpaqueDeviceConfiguration, requests []string
DeviceClass: apiVersion string, kind string, metadata ObjectMeta, spec! DeviceClassSpec
DeviceClassConfiguration: opaque OpaqueDeviceConfiguration
DeviceClassSpec: config []DeviceClassConfiguration, extendedResourceName string, selectors []DeviceSelector
DeviceConstraint: distinctAttribute string, matchAttribute string, requests []string
DeviceCounterConsumption: counterSet! string, counters! {}Counter
DeviceRequest: exactly ExactDeviceRequest, firstAvailable []DeviceSubRequest, name! string
DeviceRequestAllocationResult: adminAccess bool, bindingConditions []string, bindingFailureConditions []string,
  consumedCapacity {}quantity, device! string, driver! string, pool! string, request! string, shareID string,
  tolerations []DeviceToleration
DeviceSelector: cel CELDeviceSelector
DeviceSubRequest: allocationMode string, capacity CapacityRequirements, count int64, deviceClassName! string, name!
  string, selectors []DeviceSelector, tolerations []DeviceToleration
DeviceTaint: effect! string, key! string, timeAdded time, value string
DeviceToleration: effect string, key string, operator string, tolerationSeconds int64, value string
DownwardAPIProjection: items []DownwardAPIVolumeFile
DownwardAPIVolumeFile: fieldRef ObjectFieldSelector, mode int32, path! string, resourceFieldRef ResourceFieldSelector
DownwardAPIVolumeSource: defaultMode int32, items []DownwardAPIVolumeFile
EmptyDirVolumeSource: medium string, sizeLimit quantity
EndpointAddress: hostname string, ip! string, nodeName string, targetRef ObjectReference
EndpointPort: appProtocol string, name string, port! int32, protocol string
EndpointSubset: addresses []EndpointAddress, notReadyAddresses []EndpointAddress, ports []EndpointPort
Endpoints: apiVersion string, kind string, metadata ObjectMeta, subsets []EndpointSubset
EnvFromSource: configMapRef ConfigMapEnvSource, prefix string, secretRef SecretEnvSource
EnvVar: name! string, value string, valueFrom EnvVarSource
EnvVarSource: configMapKeyRef ConfigMapKeySelector, fieldRef ObjectFieldSelector, fileKeyRef FileKeySelector,
  resourceFieldRef ResourceFieldSelector, secretKeyRef SecretKeySelector
EphemeralContainer: args []string, command []string, env []EnvVar, envFrom []EnvFromSource, image string,
  imagePullPolicy string, lifecycle Lifecycle, livenessProbe Probe, name! string, ports []ContainerPort,
  readinessProbe Probe, resizePolicy []ContainerResizePolicy, resources ResourceRequirements, restartPolicy string,
  restartPolicyRules []ContainerRestartRule, securityContext SecurityContext, startupProbe Probe, stdin bool,
  stdinOnce bool, targetContainerName string, terminationMessagePath string, terminationMessagePolicy string, tty
  bool, volumeDevices []VolumeDevice, volumeMounts []VolumeMount, workingDir string
EphemeralVolumeSource: volumeClaimTemplate PersistentVolumeClaimTemplate
Event: action string, apiVersion string, count int32, eventTime time, firstTimestamp time, involvedObject!
  ObjectReference, kind string, lastTimestamp time, message string, metadata! ObjectMeta, reason string, related
  ObjectReference, reportingComponent string, reportingInstance string, series EventSeries, source EventSource, type
  string
EventSeries: count int32, lastObservedTime time
EventSource: component string, host string
EventsEvent: action string, apiVersion string, deprecatedCount int32, deprecatedFirstTimestamp time,
  deprecatedLastTimestamp time, deprecatedSource EventSource, eventTime! time, kind string, metadata ObjectMeta, note
  string, reason string, regarding ObjectReference, related ObjectReference, reportingController string,
  reportingInstance string, series EventsEventSeries, type string
EventsEventSeries: count! int32, lastObservedTime! time
ExactDeviceRequest: adminAccess bool, allocationMode string, capacity CapacityRequirements, count int64,
  deviceClassName! string, selectors []DeviceSelector, tolerations []DeviceToleration
ExecAction: command []string
FCVolumeSource: fsType string, lun int32, readOnly bool, targetWWNs []string, wwids []string
FileKeySelector: key! string, optional bool, path! string, volumeName! string
FlexPersistentVolumeSource: driver! string, fsType string, options {}string, readOnly bool, secretRef SecretReference
FlexVolumeSource: driver! string, fsType string, options {}string, readOnly bool, secretRef LocalObjectReference
FlockerVolumeSource: datasetName string, datasetUUID string
GCEPersistentDiskVolumeSource: fsType string, partition int32, pdName! string, readOnly bool
GRPCAction: port! int32, service string
GangSchedulingPolicy: minCount! int32
GitRepoVolumeSource: directory string, repository! string, revision string
GlusterfsPersistentVolumeSource: endpoints! string, endpointsNamespace string, path! string, readOnly bool
GlusterfsVolumeSource: endpoints! string, path! string, readOnly bool
HTTPGetAction: host string, httpHeaders []HTTPHeader, path string, port! int-or-string, scheme string
HTTPHeader: name! string, value! string
HostAlias: hostnames []string, ip! string
HostIP: ip! string
HostPathVolumeSource: path! string, type string
ISCSIPersistentVolumeSource: chapAuthDiscovery bool, chapAuthSession bool, fsType string, initiatorName string, iqn!
  string, iscsiInterface string, lun! int32, portals []string, readOnly bool, secretRef SecretReference, targetPortal!
  string
ISCSIVolumeSource: chapAuthDiscovery bool, chapAuthSession bool, fsType string, initiatorName string, iqn! string,
  iscsiInterface string, lun! int32, portals []string, readOnly bool, secretRef LocalObjectReference, targetPortal!
  string
ImageVolumeSource: pullPolicy string, reference string
ImageVolumeStatus: imageRef! string
Job: apiVersion string, kind string, metadata ObjectMeta, spec JobSpec, status JobStatus
JobCondition: lastProbeTime time, lastTransitionTime time, message string, reason string, status! string, type! string
JobSpec: activeDeadlineSeconds int64, backoffLimit int32, backoffLimitPerIndex int32, completionMode string,
  completions int32, managedBy string, manualSelector bool, maxFailedIndexes int32, parallelism int32,
  podFailurePolicy PodFailurePolicy, podReplacementPolicy string, selector LabelSelector, successPolicy SuccessPolicy,
  suspend bool, template! PodTemplateSpec, ttlSecondsAfterFinished int32
JobStatus: active int32, completedIndexes string, completionTime time, conditions []JobCondition, failed int32,
  failedIndexes string, ready int32, startTime time, succeeded int32, terminating int32, uncountedTerminatedPods
  UncountedTerminatedPods
KeyToPath: key! string, mode int32, path! string
LabelSelector: matchExpressions []LabelSelectorRequirement, matchLabels {}string
LabelSelectorRequirement: key! string, operator! string, values []string
Lease: apiVersion string, kind string, metadata ObjectMeta, spec LeaseSpec
LeaseSpec: acquireTime time, holderIdentity string, leaseDurationSeconds int32, leaseTransitions int32,
  preferredHolder string, renewTime time, strategy string
Lifecycle: postStart LifecycleHandler, preStop LifecycleHandler, stopSignal string
LifecycleHandler: exec ExecAction, httpGet HTTPGetAction, sleep SleepAction, tcpSocket TCPSocketAction
LimitRange: apiVersion string, kind string, metadata ObjectMeta, spec LimitRangeSpec
LimitRangeItem: default {}quantity, defaultRequest {}quantity, max {}quantity, maxLimitRequestRatio {}quantity, min
  {}quantity, type! string
LimitRangeSpec: limits! []LimitRangeItem
LinuxContainerUser: gid! int64, supplementalGroups []int64, uid! int64
LoadBalancerIngress: hostname string, ip string, ipMode string, ports []PortStatus
LoadBalancerStatus: ingress []LoadBalancerIngress
LocalObjectReference: name string
LocalVolumeSource: fsType string, path! string
ManagedFieldsEntry: apiVersion string, fieldsType string, fieldsV1 any, manager string, operation string, subresource
  string, time time
ModifyVolumeStatus: status! string, targetVolumeAttributesClassName string
NFSVolumeSource: path! string, readOnly bool, server! string
Namespace: apiVersion string, kind string, metadata ObjectMeta, spec NamespaceSpec, status NamespaceStatus
NamespaceCondition: lastTransitionTime time, message string, reason string, status! string, type! string
NamespaceSpec: finalizers []string
NamespaceStatus: conditions []NamespaceCondition, phase string
NetworkDeviceData: hardwareAddress string, interfaceName string, ips []string
Node: apiVersion string, kind string, metadata ObjectMeta, spec NodeSpec, status NodeStatus
NodeAddress: address! string, type! string
NodeAffinity: preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm,
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector
NodeAllocatableResourceClaimStatus: containers []string, resourceClaimName! string, resources! {}quantity
NodeAllocatableResourceMapping: allocationMultiplier quantity, capacityKey string
NodeCondition: lastHeartbeatTime time, lastTransitionTime time, message string, reason string, status! string, type!
  string
NodeConfigSource: configMap ConfigMapNodeConfigSource
NodeConfigStatus: active NodeConfigSource, assigned NodeConfigSource, error string, lastKnownGood NodeConfigSource
NodeDaemonEndpoints: kubeletEndpoint DaemonEndpoint
NodeFeatures: supplementalGroupsPolicy bool
NodeRuntimeHandler: features NodeRuntimeHandlerFeatures, name string
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts bool, userNamespaces bool
NodeSelector: nodeSelectorTerms! []NodeSelectorTerm
NodeSelectorRequirement: key! string, operator! string, values []string
NodeSelectorTerm: matchExpressions []NodeSelectorRequirement, matchFields []NodeSelectorRequirement
NodeSpec: configSource NodeConfigSource, externalID string, podCIDR string, podCIDRs []string, providerID string,
  taints []Taint, unschedulable bool
NodeStatus: addresses []NodeAddress, allocatable {}quantity, capacity {}quantity, conditions []NodeCondition, config
  NodeConfigStatus, daemonEndpoints NodeDaemonEndpoints, declaredFeatures []string, features NodeFeatures, images
  []ContainerImage, nodeInfo NodeSystemInfo, phase string, runtimeHandlers []NodeRuntimeHandler, volumesAttached
  []AttachedVolume, volumesInUse []string
NodeSwapStatus: capacity int64
NodeSystemInfo: architecture! string, bootID! string, containerRuntimeVersion! string, kernelVersion! string,
  kubeProxyVersion! string, kubeletVersion! string, machineID! string, operatingSystem! string, osImage! string, swap
  NodeSwapStatus, systemUUID! string
ObjectFieldSelector: apiVersion string, fieldPath! string
ObjectMeta: annotations {}string, creationTimestamp time, deletionGracePeriodSeconds int64, deletionTimestamp time,
  finalizers []string, generateName string, generation int64, labels {}string, managedFields []ManagedFieldsEntry,
  name string, namespace string, ownerReferences []OwnerReference, resourceVersion string, selfLink string, uid string
ObjectReference: apiVersion string, fieldPath string, kind string, name string, namespace string, resourceVersion
  string, uid string
OpaqueDeviceConfiguration: driver! string, parameters! any
OwnerReference: apiVersion! string, blockOwnerDeletion bool, controller bool, kind! string, name! string, uid! string
PersistentVolume: apiVersion string, kind string, metadata ObjectMeta, spec PersistentVolumeSpec, status
  PersistentVolumeStatus
PersistentVolumeClaim: apiVersion string, kind string, metadata ObjectMeta, spec PersistentVolumeClaimSpec, status
  PersistentVolumeClaimStatus
PersistentVolumeClaimCondition: lastProbeTime time, lastTransitionTime time, message string, reason string, status!
  string, type! string
PersistentVolumeClaimSpec: accessModes []string, dataSource TypedLocalObjectReference, dataSourceRef
  TypedObjectReference, resources VolumeResourceRequirements, selector LabelSelector, storageClassName string,
  volumeAttributesClassName string, volumeMode string, volumeName string
PersistentVolumeClaimStatus: accessModes []string, allocatedResourceStatuses {}string, allocatedResources {}quantity,
  capacity {}quantity, conditions []PersistentVolumeClaimCondition, currentVolumeAttributesClassName string,
  modifyVolumeStatus ModifyVolumeStatus, phase string
PersistentVolumeClaimTemplate: metadata ObjectMeta, spec! PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName! string, readOnly bool
PersistentVolumeSpec: accessModes []string, awsElasticBlockStore AWSElasticBlockStoreVolumeSource, azureDisk
  AzureDiskVolumeSource, azureFile AzureFilePersistentVolumeSource, capacity {}quantity, cephfs
  CephFSPersistentVolumeSource, cinder CinderPersistentVolumeSource, claimRef ObjectReference, csi
  CSIPersistentVolumeSource, fc FCVolumeSource, flexVolume FlexPersistentVolumeSource, flocker FlockerVolumeSource,
  gcePersistentDisk GCEPersistentDiskVolumeSource, glusterfs GlusterfsPersistentVolumeSource, hostPath
  HostPathVolumeSource, iscsi ISCSIPersistentVolumeSource, local LocalVolumeSource, mountOptions []string, nfs
  NFSVolumeSource, nodeAffinity VolumeNodeAffinity, persistentVolumeReclaimPolicy string, photonPersistentDisk
  PhotonPersistentDiskVolumeSource, portworxVolume PortworxVolumeSource, quobyte QuobyteVolumeSource, rbd
  RBDPersistentVolumeSource, scaleIO ScaleIOPersistentVolumeSource, storageClassName string, storageos
  StorageOSPersistentVolumeSource, volumeAttributesClassName string, volumeMode string, vsphereVolume
  VsphereVirtualDiskVolumeSource
PersistentVolumeStatus: lastPhaseTransitionTime time, message string, phase string, reason string
PhotonPersistentDiskVolumeSource: fsType string, pdID! string
Pod: apiVersion string, kind string, metadata ObjectMeta, spec PodSpec, status PodStatus
PodAffinity: preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm,
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
PodAffinityTerm: labelSelector LabelSelector, matchLabelKeys []string, mismatchLabelKeys []string, namespaceSelector
  LabelSelector, namespaces []string, topologyKey! string
PodAntiAffinity: preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm,
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
PodCertificateProjection: certificateChainPath string, credentialBundlePath string, keyPath string, keyType! string,
  maxExpirationSeconds int32, signerName! string, userAnnotations {}string
PodCondition: lastProbeTime time, lastTransitionTime time, message string, observedGeneration int64, reason string,
  status! string, type! string
PodDNSConfig: nameservers []string, options []PodDNSConfigOption, searches []string
PodDNSConfigOption: name string, value string
PodDisruptionBudget: apiVersion string, kind string, metadata ObjectMeta, spec PodDisruptionBudgetSpec, status
  PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: maxUnavailable int-or-string, minAvailable int-or-string, selector LabelSelector,
  unhealthyPodEvictionPolicy string
PodDisruptionBudgetStatus: conditions []Condition, currentHealthy int32, desiredHealthy int32, disruptedPods {}time,
  disruptionsAllowed int32, expectedPods int32, observedGeneration int64
PodExtendedResourceClaimStatus: requestMappings! []ContainerExtendedResourceRequest, resourceClaimName! string
PodFailurePolicy: rules! []PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement: containerName string, operator! string, values! []int32
PodFailurePolicyOnPodConditionsPattern: status string, type! string
PodFailurePolicyRule: action! string, onExitCodes PodFailurePolicyOnExitCodesRequirement, onPodConditions
  []PodFailurePolicyOnPodConditionsPattern
PodGroup: apiVersion string, kind string, metadata ObjectMeta, spec! PodGroupSpec, status PodGroupStatus
PodGroupResourceClaim: name! string, resourceClaimName string, resourceClaimTemplateName string
PodGroupResourceClaimStatus: name! string, resourceClaimName string
PodGroupSchedulingConstraints: topology []TopologyConstraint
PodGroupSchedulingPolicy: basic BasicSchedulingPolicy, gang GangSchedulingPolicy
PodGroupSpec: disruptionMode string, podGroupTemplateRef PodGroupTemplateReference, priority int32, priorityClassName
  string, resourceClaims []PodGroupResourceClaim, schedulingConstraints PodGroupSchedulingConstraints,
  schedulingPolicy! PodGroupSchedulingPolicy
PodGroupStatus: conditions []Condition, resourceClaimStatuses []PodGroupResourceClaimStatus
PodGroupTemplate: disruptionMode string, name! string, priority int32, priorityClassName string, resourceClaims
  []PodGroupResourceClaim, schedulingConstraints PodGroupSchedulingConstraints, schedulingPolicy!
  PodGroupSchedulingPolicy
PodGroupTemplateReference: workload WorkloadPodGroupTemplateReference
PodIP: ip! string
PodOS: name! string
PodReadinessGate: conditionType! string
PodResourceClaim: name! string, resourceClaimName string, resourceClaimTemplateName string
PodResourceClaimStatus: name! string, resourceClaimName string
PodSchedulingGate: name! string
PodSchedulingGroup: podGroupName string
PodSecurityContext: appArmorProfile AppArmorProfile, fsGroup int64, fsGroupChangePolicy string, runAsGroup int64,
  runAsNonRoot bool, runAsUser int64, seLinuxChangePolicy string, seLinuxOptions SELinuxOptions, seccompProfile
  SeccompProfile, supplementalGroups []int64, supplementalGroupsPolicy string, sysctls []Sysctl, windowsOptions
  WindowsSecurityContextOptions
PodSpec: activeDeadlineSeconds int64, affinity Affinity, automountServiceAccountToken bool, containers! []Container,
  dnsConfig PodDNSConfig, dnsPolicy string, enableServiceLinks bool, ephemeralContainers []EphemeralContainer,
  hostAliases []HostAlias, hostIPC bool, hostNetwork bool, hostPID bool, hostUsers bool, hostname string,
  hostnameOverride string, imagePullSecrets []LocalObjectReference, initContainers []Container, nodeName string,
  nodeSelector {}string, os PodOS, overhead {}quantity, preemptionPolicy string, priority int32, priorityClassName
  string, readinessGates []PodReadinessGate, resourceClaims []PodResourceClaim, resources ResourceRequirements,
  restartPolicy string, runtimeClassName string, schedulerName string, schedulingGates []PodSchedulingGate,
  schedulingGroup PodSchedulingGroup, securityContext PodSecurityContext, serviceAccount string, serviceAccountName
  string, setHostnameAsFQDN bool, shareProcessNamespace bool, subdomain string, terminationGracePeriodSeconds int64,
  tolerations []Toleration, topologySpreadConstraints []TopologySpreadConstraint, volumes []Volume
PodStatus: allocatedResources {}quantity, conditions []PodCondition, containerStatuses []ContainerStatus,
  ephemeralContainerStatuses []ContainerStatus, extendedResourceClaimStatus PodExtendedResourceClaimStatus, hostIP
  string, hostIPs []HostIP, initContainerStatuses []ContainerStatus, message string,
  nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus, nominatedNodeName string,
  observedGeneration int64, phase string, podIP string, podIPs []PodIP, qosClass string, reason string, resize string,
  resourceClaimStatuses []PodResourceClaimStatus, resources ResourceRequirements, startTime time
PodTemplateSpec: metadata ObjectMeta, spec PodSpec
PolicyRule: apiGroups []string, nonResourceURLs []string, resourceNames []string, resources []string, verbs! []string
PortStatus: error string, port! int32, protocol! string
PortworxVolumeSource: fsType string, readOnly bool, volumeID! string
PreferredSchedulingTerm: preference! NodeSelectorTerm, weight! int32
PriorityClass: apiVersion string, description string, globalDefault bool, kind string, metadata ObjectMeta,
  preemptionPolicy string, value int32
Probe: exec ExecAction, failureThreshold int32, grpc GRPCAction, httpGet HTTPGetAction, initialDelaySeconds int32,
  periodSeconds int32, successThreshold int32, tcpSocket TCPSocketAction, terminationGracePeriodSeconds int64,
  timeoutSeconds int32
ProjectedVolumeSource: defaultMode int32, sources []VolumeProjection
QuobyteVolumeSource: group string, readOnly bool, registry! string, tenant string, user string, volume! string
RBDPersistentVolumeSource: fsType string, image! string, keyring string, monitors! []string, pool string, readOnly
  bool, secretRef SecretReference, user string
RBDVolumeSource: fsType string, image! string, keyring string, monitors! []string, pool string, readOnly bool,
  secretRef LocalObjectReference, user string
ReplicaSet: apiVersion string, kind string, metadata ObjectMeta, spec ReplicaSetSpec, status ReplicaSetStatus
ReplicaSetCondition: lastTransitionTime time, message string, reason string, status! string, type! string
ReplicaSetSpec: minReadySeconds int32, replicas int32, selector! LabelSelector, template PodTemplateSpec
ReplicaSetStatus: availableReplicas int32, conditions []ReplicaSetCondition, fullyLabeledReplicas int32,
  observedGeneration int64, readyReplicas int32, replicas! int32, terminatingReplicas int32
ReplicationController: apiVersion string, kind string, metadata ObjectMeta, spec ReplicationControllerSpec, status
  ReplicationControllerStatus
ReplicationControllerCondition: lastTransitionTime time, message string, reason string, status! string, type! string
ReplicationControllerSpec: minReadySeconds int32, replicas int32, selector {}string, template PodTemplateSpec
ReplicationControllerStatus: availableReplicas int32, conditions []ReplicationControllerCondition,
  fullyLabeledReplicas int32, observedGeneration int64, readyReplicas int32, replicas! int32
ResourceClaim: apiVersion string, kind string, metadata ObjectMeta, spec! ResourceClaimSpec, status
  ResourceClaimStatus
ResourceClaimConsumerReference: apiGroup string, name! string, resource! string, uid! string
ResourceClaimSpec: devices DeviceClaim
ResourceClaimStatus: allocation AllocationResult, devices []AllocatedDeviceStatus, reservedFor
  []ResourceClaimConsumerReference
ResourceClaimTemplate: apiVersion string, kind string, metadata ObjectMeta, spec! ResourceClaimTemplateSpec
ResourceClaimTemplateSpec: metadata ObjectMeta, spec! ResourceClaimSpec
ResourceFieldSelector: containerName string, divisor quantity, resource! string
ResourceHealth: health string, message string, resourceID! string
ResourcePool: generation! int64, name! string, resourceSliceCount! int64
ResourceQuota: apiVersion string, kind string, metadata ObjectMeta, spec ResourceQuotaSpec, status ResourceQuotaStatus
ResourceQuotaSpec: hard {}quantity, scopeSelector ScopeSelector, scopes []string
ResourceQuotaStatus: hard {}quantity, used {}quantity
ResourceRequirements: claims []ContainerResourceClaim, limits {}quantity, requests {}quantity
ResourceSlice: apiVersion string, kind string, metadata ObjectMeta, spec! ResourceSliceSpec
ResourceSliceSpec: allNodes bool, devices []Device, driver! string, nodeName string, nodeSelector NodeSelector,
  perDeviceNodeSelection bool, pool! ResourcePool, sharedCounters []CounterSet
ResourceStatus: name! string, resources []ResourceHealth
Role: apiVersion string, kind string, metadata ObjectMeta, rules []PolicyRule
RoleBinding: apiVersion string, kind string, metadata ObjectMeta, roleRef! RoleRef, subjects []Subject
RoleRef: apiGroup string, kind! string, name! string
RollingUpdateDaemonSet: maxSurge int-or-string, maxUnavailable int-or-string
RollingUpdateDeployment: maxSurge int-or-string, maxUnavailable int-or-string
RollingUpdateStatefulSetStrategy: maxUnavailable int-or-string, partition int32
SELinuxOptions: level string, role string, type string, user string
ScaleIOPersistentVolumeSource: fsType string, gateway! string, protectionDomain string, readOnly bool, secretRef!
  SecretReference, sslEnabled bool, storageMode string, storagePool string, system! string, volumeName string
ScaleIOVolumeSource: fsType string, gateway! string, protectionDomain string, readOnly bool, secretRef!
  LocalObjectReference, sslEnabled bool, storageMode string, storagePool string, system! string, volumeName string
SchedulingTypedLocalObjectReference: apiGroup string, kind! string, name! string
ScopeSelector: matchExpressions []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: operator! string, scopeName! string, values []string
SeccompProfile: localhostProfile string, type! string
Secret: apiVersion string, data {}string, immutable bool, kind string, metadata ObjectMeta, stringData {}string, type
  string
SecretEnvSource: name string, optional bool
SecretKeySelector: key! string, name string, optional bool
SecretProjection: items []KeyToPath, name string, optional bool
SecretReference: name string, namespace string
SecretVolumeSource: defaultMode int32, items []KeyToPath, optional bool, secretName string
SecurityContext: allowPrivilegeEscalation bool, appArmorProfile AppArmorProfile, capabilities Capabilities, privileged
  bool, procMount string, readOnlyRootFilesystem bool, runAsGroup int64, runAsNonRoot bool, runAsUser int64,
  seLinuxOptions SELinuxOptions, seccompProfile SeccompProfile, windowsOptions WindowsSecurityContextOptions
Service: apiVersion string, kind string, metadata ObjectMeta, spec ServiceSpec, status ServiceStatus
ServiceAccount: apiVersion string, automountServiceAccountToken bool, imagePullSecrets []LocalObjectReference, kind
  string, metadata ObjectMeta, secrets []ObjectReference
ServiceAccountTokenProjection: audience string, expirationSeconds int64, path! string
ServicePort: appProtocol string, name string, nodePort int32, port! int32, protocol string, targetPort int-or-string
ServiceSpec: allocateLoadBalancerNodePorts bool, clusterIP string, clusterIPs []string, externalIPs []string,
  externalName string, externalTrafficPolicy string, healthCheckNodePort int32, internalTrafficPolicy string,
  ipFamilies []string, ipFamilyPolicy string, loadBalancerClass string, loadBalancerIP string,
  loadBalancerSourceRanges []string, ports []ServicePort, publishNotReadyAddresses bool, selector {}string,
  sessionAffinity string, sessionAffinityConfig SessionAffinityConfig, trafficDistribution string, type string
ServiceStatus: conditions []Condition, loadBalancer LoadBalancerStatus
SessionAffinityConfig: clientIP ClientIPConfig
SleepAction: seconds! int64
StatefulSet: apiVersion string, kind string, metadata ObjectMeta, spec StatefulSetSpec, status StatefulSetStatus
StatefulSetCondition: lastTransitionTime time, message string, reason string, status! string, type! string
StatefulSetOrdinals: start int32
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted string, whenScaled string
StatefulSetSpec: minReadySeconds int32, ordinals StatefulSetOrdinals, persistentVolumeClaimRetentionPolicy
  StatefulSetPersistentVolumeClaimRetentionPolicy, podManagementPolicy string, replicas int32, revisionHistoryLimit
  int32, selector! LabelSelector, serviceName string, template! PodTemplateSpec, updateStrategy
  StatefulSetUpdateStrategy, volumeClaimTemplates []PersistentVolumeClaim
StatefulSetStatus: availableReplicas int32, collisionCount int32, conditions []StatefulSetCondition, currentReplicas
  int32, currentRevision string, observedGeneration int64, readyReplicas int32, replicas! int32, updateRevision
  string, updatedReplicas int32
StatefulSetUpdateStrategy: rollingUpdate RollingUpdateStatefulSetStrategy, type string
StorageClass: allowVolumeExpansion bool, allowedTopologies []TopologySelectorTerm, apiVersion string, kind string,
  metadata ObjectMeta, mountOptions []string, parameters {}string, provisioner! string, reclaimPolicy string,
  volumeBindingMode string
StorageOSPersistentVolumeSource: fsType string, readOnly bool, secretRef ObjectReference, volumeName string,
  volumeNamespace string
StorageOSVolumeSource: fsType string, readOnly bool, secretRef LocalObjectReference, volumeName string,
  volumeNamespace string
Subject: apiGroup string, kind! string, name! string, namespace string
SuccessPolicy: rules! []SuccessPolicyRule
SuccessPolicyRule: succeededCount int32, succeededIndexes string
Sysctl: name! string, value! string
TCPSocketAction: host string, port! int-or-string
Taint: effect! string, key! string, timeAdded time, value string
TokenRequest: audience! string, expirationSeconds int64
Toleration: effect string, key string, operator string, tolerationSeconds int64, value string
TopologyConstraint: key! string
TopologySelectorLabelRequirement: key! string, values! []string
TopologySelectorTerm: matchLabelExpressions []TopologySelectorLabelRequirement
TopologySpreadConstraint: labelSelector LabelSelector, matchLabelKeys []string, maxSkew! int32, minDomains int32,
  nodeAffinityPolicy string, nodeTaintsPolicy string, topologyKey! string, whenUnsatisfiable! string
TypedLocalObjectReference: apiGroup string, kind! string, name! string
TypedObjectReference: apiGroup string, kind! string, name! string, namespace string
UncountedTerminatedPods: failed []string, succeeded []string
Volume: awsElasticBlockStore AWSElasticBlockStoreVolumeSource, azureDisk AzureDiskVolumeSource, azureFile
  AzureFileVolumeSource, cephfs CephFSVolumeSource, cinder CinderVolumeSource, configMap ConfigMapVolumeSource, csi
  CSIVolumeSource, downwardAPI DownwardAPIVolumeSource, emptyDir EmptyDirVolumeSource, ephemeral
  EphemeralVolumeSource, fc FCVolumeSource, flexVolume FlexVolumeSource, flocker FlockerVolumeSource,
  gcePersistentDisk GCEPersistentDiskVolumeSource, gitRepo GitRepoVolumeSource, glusterfs GlusterfsVolumeSource,
  hostPath HostPathVolumeSource, image ImageVolumeSource, iscsi ISCSIVolumeSource, name! string, nfs NFSVolumeSource,
  persistentVolumeClaim PersistentVolumeClaimVolumeSource, photonPersistentDisk PhotonPersistentDiskVolumeSource,
  portworxVolume PortworxVolumeSource, projected ProjectedVolumeSource, quobyte QuobyteVolumeSource, rbd
  RBDVolumeSource, scaleIO ScaleIOVolumeSource, secret SecretVolumeSource, storageos StorageOSVolumeSource,
  vsphereVolume VsphereVirtualDiskVolumeSource
VolumeAttachment: apiVersion string, kind string, metadata ObjectMeta, spec! VolumeAttachmentSpec, status
  VolumeAttachmentStatus
VolumeAttachmentSource: inlineVolumeSpec PersistentVolumeSpec, persistentVolumeName string
VolumeAttachmentSpec: attacher! string, nodeName! string, source! VolumeAttachmentSource
VolumeAttachmentStatus: attachError VolumeError, attached! bool, attachmentMetadata {}string, detachError VolumeError
VolumeDevice: devicePath! string, name! string
VolumeError: errorCode int32, message string, time time
VolumeMount: mountPath! string, mountPropagation string, name! string, readOnly bool, recursiveReadOnly string,
  subPath string, subPathExpr string
VolumeMountStatus: mountPath! string, name! string, readOnly bool, recursiveReadOnly string, volumeStatus VolumeStatus
VolumeNodeAffinity: required NodeSelector
VolumeNodeResources: count int32
VolumeProjection: clusterTrustBundle ClusterTrustBundleProjection, configMap ConfigMapProjection, downwardAPI
  DownwardAPIProjection, podCertificate PodCertificateProjection, secret SecretProjection, serviceAccountToken
  ServiceAccountTokenProjection
VolumeResourceRequirements: limits {}quantity, requests {}quantity
VolumeStatus: image ImageVolumeStatus
VsphereVirtualDiskVolumeSource: fsType string, storagePolicyID string, storagePolicyName string, volumePath! string
WeightedPodAffinityTerm: podAffinityTerm! PodAffinityTerm, weight! int32
WindowsSecurityContextOptions: gmsaCredentialSpec string, gmsaCredentialSpecName string, hostProcess bool,
  runAsUserName string
Workload: apiVersion string, kind string, metadata ObjectMeta, spec! WorkloadSpec
WorkloadPodGroupTemplateReference: podGroupTemplateName! string, workloadName! string
WorkloadSpec: controllerRef SchedulingTypedLocalObjectReference, podGroupTemplates! []PodGroupTemplate
)types";

}  // namespace tutti::sim
