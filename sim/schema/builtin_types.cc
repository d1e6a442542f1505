// SPDX-License-Identifier: Apache-2.0
// The fields of the built-in kinds, their numbers in protobuf and their types. Made by tests/sim/list_types.
//   Type: field=number type, list=number []type, map=number {}type
// "!" after the number: required. "*" before the type: absent and zero differ. A number of two parts is of a message
// within a message, whose fields JSON shows as the outer one's; 0: not on the wire.
#include "sim/schema/type_table.h"

namespace tutti::sim {

const char kBuiltinTypes[] = R"types(
AWSElasticBlockStoreVolumeSource: fsType=2 string, partition=3 int32, readOnly=4 bool, volumeID=1! string
Affinity: nodeAffinity=1 *NodeAffinity, podAffinity=2 *PodAffinity, podAntiAffinity=3 *PodAntiAffinity
AggregationRule: clusterRoleSelectors=1 []LabelSelector
AllocatedDeviceStatus: conditions=4! []Condition, data=5 *raw, device=3! string, driver=1! string,
  networkData=6 *NetworkDeviceData, pool=2! string, shareID=7 *string
AllocationResult: allocationTimestamp=5 *time, devices=1 DeviceAllocationResult, nodeSelector=3 *NodeSelector
AppArmorProfile: localhostProfile=2 *string, type=1! string
AttachedVolume: devicePath=2! string, name=1! string
AzureDiskVolumeSource: cachingMode=3 *string, diskName=1! string, diskURI=2! string, fsType=4 *string, kind=6 *string,
  readOnly=5 *bool
AzureFilePersistentVolumeSource: readOnly=3 bool, secretName=1! string, secretNamespace=4! *string,
  shareName=2! string
AzureFileVolumeSource: readOnly=3 bool, secretName=1! string, shareName=2! string
BasicSchedulingPolicy:
Binding: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, target=2! ObjectReference
CELDeviceSelector: expression=1! string
CSIDriver: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! CSIDriverSpec
CSIDriverSpec: attachRequired=1 *bool, fsGroupPolicy=5 *string, nodeAllocatableUpdatePeriodSeconds=9 *int64,
  podInfoOnMount=2 *bool, preventPodSchedulingIfMissing=11 *bool, requiresRepublish=7 *bool, seLinuxMount=8 *bool,
  serviceAccountTokenInSecrets=10 *bool, storageCapacity=4 *bool, tokenRequests=6 []TokenRequest,
  volumeLifecycleModes=3 []string
CSINode: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! CSINodeSpec
CSINodeDriver: allocatable=4 *VolumeNodeResources, name=1! string, nodeID=2! string, topologyKeys=3! []string
CSINodeSpec: drivers=1! []CSINodeDriver
CSIPersistentVolumeSource: controllerExpandSecretRef=9 *SecretReference, controllerPublishSecretRef=6 *SecretReference,
  driver=1! string, fsType=4 string, nodeExpandSecretRef=10 *SecretReference, nodePublishSecretRef=8 *SecretReference,
  nodeStageSecretRef=7 *SecretReference, readOnly=3 bool, volumeAttributes=5 {}string, volumeHandle=2! string
CSIStorageCapacity: apiVersion=0 string, capacity=4 *quantity, kind=0 string, maximumVolumeSize=5 *quantity,
  metadata=1 ObjectMeta, nodeTopology=2 *LabelSelector, storageClassName=3! string
CSIVolumeSource: driver=1! string, fsType=3 *string, nodePublishSecretRef=5 *LocalObjectReference, readOnly=2 *bool,
  volumeAttributes=4 {}string
Capabilities: add=1 []string, drop=2 []string
CapacityRequestPolicy: default=1! *quantity, validRange=4 *CapacityRequestPolicyRange, validValues=3 []quantity
CapacityRequestPolicyRange: max=2 *quantity, min=1 *quantity, step=3 *quantity
CapacityRequirements: requests=1 {}quantity
CephFSPersistentVolumeSource: monitors=1! []string, path=2 string, readOnly=6 bool, secretFile=4 string,
  secretRef=5 *SecretReference, user=3 string
CephFSVolumeSource: monitors=1! []string, path=2 string, readOnly=6 bool, secretFile=4 string,
  secretRef=5 *LocalObjectReference, user=3 string
CinderPersistentVolumeSource: fsType=2 string, readOnly=3 bool, secretRef=4 *SecretReference, volumeID=1! string
CinderVolumeSource: fsType=2 string, readOnly=3 bool, secretRef=4 *LocalObjectReference, volumeID=1! string
ClientIPConfig: timeoutSeconds=1 *int32
ClusterRole: aggregationRule=3 *AggregationRule, apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta,
  rules=2! []PolicyRule
ClusterRoleBinding: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, roleRef=3! RoleRef,
  subjects=2 []Subject
ClusterTrustBundleProjection: labelSelector=3 *LabelSelector, name=1 *string, optional=5 *bool, path=4! string,
  signerName=2 *string
Condition: lastTransitionTime=4! time, message=6! string, observedGeneration=3 int64, reason=5! string,
  status=2! string, type=1! string
ConfigMap: apiVersion=0 string, binaryData=3 {}bytes, data=2 {}string, immutable=4 *bool, kind=0 string,
  metadata=1 ObjectMeta
ConfigMapEnvSource: name=1.1 string, optional=2 *bool
ConfigMapKeySelector: key=2! string, name=1.1 string, optional=3 *bool
ConfigMapNodeConfigSource: kubeletConfigKey=5! string, name=2! string, namespace=1! string, resourceVersion=4 string,
  uid=3 string
ConfigMapProjection: items=2 []KeyToPath, name=1.1 string, optional=4 *bool
ConfigMapVolumeSource: defaultMode=3 *int32, items=2 []KeyToPath, name=1.1 string, optional=4 *bool
Container: args=4 []string, command=3 []string, env=7 []EnvVar, envFrom=19 []EnvFromSource, image=2 string,
  imagePullPolicy=14 string, lifecycle=12 *Lifecycle, livenessProbe=10 *Probe, name=1! string, ports=6 []ContainerPort,
  readinessProbe=11 *Probe, resizePolicy=23 []ContainerResizePolicy, resources=8 ResourceRequirements,
  restartPolicy=24 *string, restartPolicyRules=25 []ContainerRestartRule, securityContext=15 *SecurityContext,
  startupProbe=22 *Probe, stdin=16 bool, stdinOnce=17 bool, terminationMessagePath=13 string,
  terminationMessagePolicy=20 string, tty=18 bool, volumeDevices=21 []VolumeDevice, volumeMounts=9 []VolumeMount,
  workingDir=5 string
ContainerExtendedResourceRequest: containerName=1! string, requestName=3! string, resourceName=2! string
ContainerImage: names=1! []string, sizeBytes=2 int64
ContainerPort: containerPort=3! int32, hostIP=5 string, hostPort=2 int32, name=1 string, protocol=4 string
ContainerResizePolicy: resourceName=1! string, restartPolicy=2! string
ContainerResourceClaim: name=1! string, request=2 string
ContainerRestartRule: action=1 string, exitCodes=2 *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator=1 string, values=2 []int32
ContainerState: running=2 *ContainerStateRunning, terminated=3 *ContainerStateTerminated,
  waiting=1 *ContainerStateWaiting
ContainerStateRunning: startedAt=1 time
ContainerStateTerminated: containerID=7 string, exitCode=1! int32, finishedAt=6 time, message=4 string,
  reason=3 string, signal=2 int32, startedAt=5 time
ContainerStateWaiting: message=2 string, reason=1 string
ContainerStatus: allocatedResources=10 {}quantity, allocatedResourcesStatus=14 []ResourceStatus, containerID=8 string,
  image=6! string, imageID=7! string, lastState=3 ContainerState, name=1! string, ready=4! bool,
  resources=11 *ResourceRequirements, restartCount=5! int32, started=9 *bool, state=2 ContainerState,
  stopSignal=15 *string, user=13 *ContainerUser, volumeMounts=12 []VolumeMountStatus
ContainerUser: linux=1 *LinuxContainerUser
ControllerRevision: apiVersion=0 string, data=2 raw, kind=0 string, metadata=1 ObjectMeta, revision=3! int64
Counter: value=1! quantity
CounterSet: counters=2 {}Counter, name=1! string
CronJob: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 CronJobSpec, status=3 CronJobStatus
CronJobSpec: concurrencyPolicy=3 string, failedJobsHistoryLimit=7 *int32, jobTemplate=5! JobTemplateSpec,
  schedule=1! string, startingDeadlineSeconds=2 *int64, successfulJobsHistoryLimit=6 *int32, suspend=4 *bool,
  timeZone=8 *string
CronJobStatus: active=1 []ObjectReference, lastScheduleTime=4 *time, lastSuccessfulTime=5 *time
DaemonEndpoint: Port=1! int32
DaemonSet: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 DaemonSetSpec, status=3 DaemonSetStatus
DaemonSetCondition: lastTransitionTime=3 time, message=5 string, reason=4 string, status=2! string, type=1! string
DaemonSetSpec: minReadySeconds=4 int32, revisionHistoryLimit=6 *int32, selector=1! *LabelSelector,
  template=2! PodTemplateSpec, updateStrategy=3 DaemonSetUpdateStrategy
DaemonSetStatus: collisionCount=9 *int32, conditions=10 []DaemonSetCondition, currentNumberScheduled=1! int32,
  desiredNumberScheduled=3! int32, numberAvailable=7 int32, numberMisscheduled=2! int32, numberReady=4! int32,
  numberUnavailable=8 int32, observedGeneration=5 int64, updatedNumberScheduled=6 int32
DaemonSetUpdateStrategy: rollingUpdate=2 *RollingUpdateDaemonSet, type=1 string
DeleteOptions: apiVersion=0 string, dryRun=5 []string, gracePeriodSeconds=1 *int64,
  ignoreStoreReadErrorWithClusterBreakingPotential=6 *bool, kind=0 string, orphanDependents=3 *bool,
  preconditions=2 *Preconditions, propagationPolicy=4 *string
Deployment: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 DeploymentSpec,
  status=3 DeploymentStatus
DeploymentCondition: lastTransitionTime=7 time, lastUpdateTime=6 time, message=5 string, reason=4 string,
  status=2! string, type=1! string
DeploymentSpec: minReadySeconds=5 int32, paused=7 bool, progressDeadlineSeconds=9 *int32, replicas=1 *int32,
  revisionHistoryLimit=6 *int32, selector=2! *LabelSelector, strategy=4 DeploymentStrategy,
  template=3! PodTemplateSpec
DeploymentStatus: availableReplicas=4 int32, collisionCount=8 *int32, conditions=6 []DeploymentCondition,
  observedGeneration=1 int64, readyReplicas=7 int32, replicas=2 int32, terminatingReplicas=9 *int32,
  unavailableReplicas=5 int32, updatedReplicas=3 int32
DeploymentStrategy: rollingUpdate=2 *RollingUpdateDeployment, type=1 string
Device: allNodes=7 *bool, allowMultipleAllocations=12 *bool, attributes=2 {}DeviceAttribute,
  bindingConditions=10 []string, bindingFailureConditions=11 []string, bindsToNode=9 *bool,
  capacity=3 {}DeviceCapacity, consumesCounters=4 []DeviceCounterConsumption, name=1! string,
  nodeAllocatableResourceMappings=13 {}NodeAllocatableResourceMapping, nodeName=5 *string,
  nodeSelector=6 *NodeSelector, taints=8 []DeviceTaint
DeviceAllocationConfiguration: opaque=3.1 *OpaqueDeviceConfiguration, requests=2 []string, source=1! string
DeviceAllocationResult: config=2 []DeviceAllocationConfiguration, results=1 []DeviceRequestAllocationResult
DeviceAttribute: bool=3 *bool, bools=7 []bool, int=2 *int64, ints=6 []int64, string=4 *string, strings=8 []string,
  version=5 *string, versions=9 []string
DeviceCapacity: requestPolicy=2 *CapacityRequestPolicy, value=1! quantity
DeviceClaim: config=3 []DeviceClaimConfiguration, constraints=2 []DeviceConstraint, requests=1! []DeviceRequest
DeviceClaimConfiguration: opaque=2.1 *OpaqueDeviceConfiguration, requests=1 []string
DeviceClass: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! DeviceClassSpec
DeviceClassConfiguration: opaque=1.1 *OpaqueDeviceConfiguration
DeviceClassSpec: config=2 []DeviceClassConfiguration, extendedResourceName=4 *string, selectors=1 []DeviceSelector
DeviceConstraint: distinctAttribute=3 *string, matchAttribute=2 *string, requests=1 []string
DeviceCounterConsumption: counterSet=1! string, counters=2 {}Counter
DeviceRequest: exactly=2 *ExactDeviceRequest, firstAvailable=3 []DeviceSubRequest, name=1! string
DeviceRequestAllocationResult: adminAccess=5 *bool, bindingConditions=7 []string, bindingFailureConditions=8 []string,
  consumedCapacity=10 {}quantity, device=4! string, driver=2! string, pool=3! string, request=1! string,
  shareID=9 *string, tolerations=6 []DeviceToleration
DeviceSelector: cel=1 *CELDeviceSelector
DeviceSubRequest: allocationMode=4 string, capacity=7 *CapacityRequirements, count=5 int64, deviceClassName=2! string,
  name=1! string, selectors=3 []DeviceSelector, tolerations=6 []DeviceToleration
DeviceTaint: effect=3! string, key=1! string, timeAdded=4 *time, value=2 string
DeviceToleration: effect=4 string, key=1 string, operator=2 string, tolerationSeconds=5 *int64, value=3 string
DownwardAPIProjection: items=1 []DownwardAPIVolumeFile
DownwardAPIVolumeFile: fieldRef=2 *ObjectFieldSelector, mode=4 *int32, path=1! string,
  resourceFieldRef=3 *ResourceFieldSelector
DownwardAPIVolumeSource: defaultMode=2 *int32, items=1 []DownwardAPIVolumeFile
EmptyDirVolumeSource: medium=1 string, sizeLimit=2 *quantity
Endpoint: addresses=1! []string, conditions=2 EndpointConditions, deprecatedTopology=5 {}string,
  hints=8 *EndpointHints, hostname=3 *string, nodeName=6 *string, targetRef=4 *ObjectReference, zone=7 *string
EndpointAddress: hostname=3 string, ip=1! string, nodeName=4 *string, targetRef=2 *ObjectReference
EndpointConditions: ready=1 *bool, serving=2 *bool, terminating=3 *bool
EndpointHints: forNodes=2 []ForNode, forZones=1 []ForZone
EndpointPort: appProtocol=4 *string, name=1 string, port=2! int32, protocol=3 string
EndpointSlice: addressType=4! string, apiVersion=0 string, endpoints=2! []Endpoint, kind=0 string,
  metadata=1 ObjectMeta, ports=3! []EndpointSlicePort
EndpointSlicePort: appProtocol=4 *string, name=1 *string, port=3 *int32, protocol=2 *string
EndpointSubset: addresses=1 []EndpointAddress, notReadyAddresses=2 []EndpointAddress, ports=3 []EndpointPort
Endpoints: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, subsets=2 []EndpointSubset
EnvFromSource: configMapRef=2 *ConfigMapEnvSource, prefix=1 string, secretRef=3 *SecretEnvSource
EnvVar: name=1! string, value=2 string, valueFrom=3 *EnvVarSource
EnvVarSource: configMapKeyRef=3 *ConfigMapKeySelector, fieldRef=1 *ObjectFieldSelector, fileKeyRef=5 *FileKeySelector,
  resourceFieldRef=2 *ResourceFieldSelector, secretKeyRef=4 *SecretKeySelector
EphemeralContainer: args=1.4 []string, command=1.3 []string, env=1.7 []EnvVar, envFrom=1.19 []EnvFromSource,
  image=1.2 string, imagePullPolicy=1.14 string, lifecycle=1.12 *Lifecycle, livenessProbe=1.10 *Probe,
  name=1.1! string, ports=1.6 []ContainerPort, readinessProbe=1.11 *Probe, resizePolicy=1.23 []ContainerResizePolicy,
  resources=1.8 ResourceRequirements, restartPolicy=1.24 *string, restartPolicyRules=1.25 []ContainerRestartRule,
  securityContext=1.15 *SecurityContext, startupProbe=1.22 *Probe, stdin=1.16 bool, stdinOnce=1.17 bool,
  targetContainerName=2 string, terminationMessagePath=1.13 string, terminationMessagePolicy=1.20 string,
  tty=1.18 bool, volumeDevices=1.21 []VolumeDevice, volumeMounts=1.9 []VolumeMount, workingDir=1.5 string
EphemeralVolumeSource: volumeClaimTemplate=1 *PersistentVolumeClaimTemplate
Event: action=12 string, apiVersion=0 string, count=8 int32, eventTime=10 microtime, firstTimestamp=6 time,
  involvedObject=2! ObjectReference, kind=0 string, lastTimestamp=7 time, message=4 string, metadata=1! ObjectMeta,
  reason=3 string, related=13 *ObjectReference, reportingComponent=14! string, reportingInstance=15! string,
  series=11 *EventSeries, source=5 EventSource, type=9 string
EventSeries: count=1 int32, lastObservedTime=2 microtime
EventSource: component=1 string, host=2 string
EventsEvent: action=6 string, apiVersion=0 string, deprecatedCount=15 int32, deprecatedFirstTimestamp=13 time,
  deprecatedLastTimestamp=14 time, deprecatedSource=12 EventSource, eventTime=2! microtime, kind=0 string,
  metadata=1! ObjectMeta, note=10 string, reason=7 string, regarding=8 ObjectReference, related=9 *ObjectReference,
  reportingController=4 string, reportingInstance=5 string, series=3 *EventsEventSeries, type=11 string
EventsEventSeries: count=1! int32, lastObservedTime=2! microtime
Eviction: apiVersion=0 string, deleteOptions=2 *DeleteOptions, kind=0 string, metadata=1 ObjectMeta
ExactDeviceRequest: adminAccess=5 *bool, allocationMode=3 string, capacity=7 *CapacityRequirements, count=4 int64,
  deviceClassName=1! string, selectors=2 []DeviceSelector, tolerations=6 []DeviceToleration
ExecAction: command=1 []string
FCVolumeSource: fsType=3 string, lun=2 *int32, readOnly=4 bool, targetWWNs=1 []string, wwids=5 []string
FieldSelectorAttributes: rawSelector=1 string, requirements=2 []FieldSelectorRequirement
FieldSelectorRequirement: key=1! string, operator=2! string, values=3 []string
FileKeySelector: key=3! string, optional=4 *bool, path=2! string, volumeName=1! string
FlexPersistentVolumeSource: driver=1! string, fsType=2 string, options=5 {}string, readOnly=4 bool,
  secretRef=3 *SecretReference
FlexVolumeSource: driver=1! string, fsType=2 string, options=5 {}string, readOnly=4 bool,
  secretRef=3 *LocalObjectReference
FlockerVolumeSource: datasetName=1 string, datasetUUID=2 string
ForNode: name=1! string
ForZone: name=1! string
GCEPersistentDiskVolumeSource: fsType=2 string, partition=3 int32, pdName=1! string, readOnly=4 bool
GRPCAction: port=1! int32, service=2! *string
GangSchedulingPolicy: minCount=1! int32
GitRepoVolumeSource: directory=3 string, repository=1! string, revision=2 string
GlusterfsPersistentVolumeSource: endpoints=1! string, endpointsNamespace=4 *string, path=2! string, readOnly=3 bool
GlusterfsVolumeSource: endpoints=1! string, path=2! string, readOnly=3 bool
HTTPGetAction: host=3 string, httpHeaders=5 []HTTPHeader, path=1 string, port=2! int-or-string, scheme=4 string
HTTPHeader: name=1! string, value=2! string
HTTPIngressPath: backend=2! IngressBackend, path=1 string, pathType=3! *string
HTTPIngressRuleValue: paths=1! []HTTPIngressPath
HostAlias: hostnames=2 []string, ip=1! string
HostIP: ip=1! string
HostPathVolumeSource: path=1! string, type=2 *string
ISCSIPersistentVolumeSource: chapAuthDiscovery=8 bool, chapAuthSession=11 bool, fsType=5 string,
  initiatorName=12 *string, iqn=2! string, iscsiInterface=4 string, lun=3! int32, portals=7 []string, readOnly=6 bool,
  secretRef=10 *SecretReference, targetPortal=1! string
ISCSIVolumeSource: chapAuthDiscovery=8 bool, chapAuthSession=11 bool, fsType=5 string, initiatorName=12 *string,
  iqn=2! string, iscsiInterface=4 string, lun=3! int32, portals=7 []string, readOnly=6 bool,
  secretRef=10 *LocalObjectReference, targetPortal=1! string
ImageVolumeSource: pullPolicy=2 string, reference=1 string
ImageVolumeStatus: imageRef=1 string
Ingress: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 IngressSpec, status=3 IngressStatus
IngressBackend: resource=3 *TypedLocalObjectReference, service=4 *IngressServiceBackend
IngressLoadBalancerIngress: hostname=2 string, ip=1 string, ports=4 []IngressPortStatus
IngressLoadBalancerStatus: ingress=1 []IngressLoadBalancerIngress
IngressPortStatus: error=3 *string, port=1! int32, protocol=2! string
IngressRule: host=1 string, http=2.1 *HTTPIngressRuleValue
IngressServiceBackend: name=1! string, port=2 ServiceBackendPort
IngressSpec: defaultBackend=1 *IngressBackend, ingressClassName=4 *string, rules=3 []IngressRule, tls=2 []IngressTLS
IngressStatus: loadBalancer=1 IngressLoadBalancerStatus
IngressTLS: hosts=1 []string, secretName=2 string
Job: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 JobSpec, status=3 JobStatus
JobCondition: lastProbeTime=3 time, lastTransitionTime=4 time, message=6 string, reason=5 string, status=2! string,
  type=1! string
JobSpec: activeDeadlineSeconds=3 *int64, backoffLimit=7 *int32, backoffLimitPerIndex=12 *int32,
  completionMode=9 *string, completions=2 *int32, managedBy=15 *string, manualSelector=5 *bool,
  maxFailedIndexes=13 *int32, parallelism=1 *int32, podFailurePolicy=11 *PodFailurePolicy,
  podReplacementPolicy=14 *string, selector=4 *LabelSelector, successPolicy=16 *SuccessPolicy, suspend=10 *bool,
  template=6! PodTemplateSpec, ttlSecondsAfterFinished=8 *int32
JobStatus: active=4 int32, completedIndexes=7 string, completionTime=3 *time, conditions=1 []JobCondition,
  failed=6 int32, failedIndexes=10 *string, ready=9 *int32, startTime=2 *time, succeeded=5 int32,
  terminating=11 *int32, uncountedTerminatedPods=8 *UncountedTerminatedPods
JobTemplateSpec: metadata=1 ObjectMeta, spec=2 JobSpec
KeyToPath: key=1! string, mode=3 *int32, path=2! string
LabelSelector: matchExpressions=2 []LabelSelectorRequirement, matchLabels=1 {}string
LabelSelectorAttributes: rawSelector=1 string, requirements=2 []LabelSelectorRequirement
LabelSelectorRequirement: key=1! string, operator=2! string, values=3 []string
Lease: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 LeaseSpec
LeaseSpec: acquireTime=3 *microtime, holderIdentity=1 *string, leaseDurationSeconds=2 *int32,
  leaseTransitions=5 *int32, preferredHolder=7 *string, renewTime=4 *microtime, strategy=6 *string
Lifecycle: postStart=1 *LifecycleHandler, preStop=2 *LifecycleHandler, stopSignal=3 *string
LifecycleHandler: exec=1 *ExecAction, httpGet=2 *HTTPGetAction, sleep=4 *SleepAction, tcpSocket=3 *TCPSocketAction
LimitRange: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 LimitRangeSpec
LimitRangeItem: default=4 {}quantity, defaultRequest=5 {}quantity, max=2 {}quantity, maxLimitRequestRatio=6 {}quantity,
  min=3 {}quantity, type=1! string
LimitRangeSpec: limits=1! []LimitRangeItem
LinuxContainerUser: gid=2! int64, supplementalGroups=3 []int64, uid=1! int64
LoadBalancerIngress: hostname=2 string, ip=1 string, ipMode=3 *string, ports=4 []PortStatus
LoadBalancerStatus: ingress=1 []LoadBalancerIngress
LocalObjectReference: name=1 string
LocalVolumeSource: fsType=2 *string, path=1! string
ManagedFieldsEntry: apiVersion=3 string, fieldsType=6 string, fieldsV1=7 *raw, manager=1 string, operation=2 string,
  subresource=8 string, time=4 *time
ModifyVolumeStatus: status=2! string, targetVolumeAttributesClassName=1 string
NFSVolumeSource: path=2! string, readOnly=3 bool, server=1! string
Namespace: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 NamespaceSpec, status=3 NamespaceStatus
NamespaceCondition: lastTransitionTime=4 time, message=6 string, reason=5 string, status=2! string, type=1! string
NamespaceSpec: finalizers=1 []string
NamespaceStatus: conditions=2 []NamespaceCondition, phase=1 string
NetworkDeviceData: hardwareAddress=3 string, interfaceName=1 string, ips=2 []string
Node: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 NodeSpec, status=3 NodeStatus
NodeAddress: address=2! string, type=1! string
NodeAffinity: preferredDuringSchedulingIgnoredDuringExecution=2 []PreferredSchedulingTerm,
  requiredDuringSchedulingIgnoredDuringExecution=1 *NodeSelector
NodeAllocatableResourceClaimStatus: containers=2 []string, resourceClaimName=1! string, resources=3! {}quantity
NodeAllocatableResourceMapping: allocationMultiplier=2 *quantity, capacityKey=1 *string
NodeCondition: lastHeartbeatTime=3 time, lastTransitionTime=4 time, message=6 string, reason=5 string,
  status=2! string, type=1! string
NodeConfigSource: configMap=2 *ConfigMapNodeConfigSource
NodeConfigStatus: active=2 *NodeConfigSource, assigned=1 *NodeConfigSource, error=4 string,
  lastKnownGood=3 *NodeConfigSource
NodeDaemonEndpoints: kubeletEndpoint=1 DaemonEndpoint
NodeFeatures: supplementalGroupsPolicy=1 *bool
NodeRuntimeHandler: features=2 *NodeRuntimeHandlerFeatures, name=1! string
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts=1 *bool, userNamespaces=2 *bool
NodeSelector: nodeSelectorTerms=1! []NodeSelectorTerm
NodeSelectorRequirement: key=1! string, operator=2! string, values=3 []string
NodeSelectorTerm: matchExpressions=1 []NodeSelectorRequirement, matchFields=2 []NodeSelectorRequirement
NodeSpec: configSource=6 *NodeConfigSource, externalID=2 string, podCIDR=1 string, podCIDRs=7 []string,
  providerID=3 string, taints=5 []Taint, unschedulable=4 bool
NodeStatus: addresses=5 []NodeAddress, allocatable=2 {}quantity, capacity=1 {}quantity, conditions=4 []NodeCondition,
  config=11 *NodeConfigStatus, daemonEndpoints=6 NodeDaemonEndpoints, declaredFeatures=14 []string,
  features=13 *NodeFeatures, images=8 []ContainerImage, nodeInfo=7 NodeSystemInfo, phase=3 string,
  runtimeHandlers=12 []NodeRuntimeHandler, volumesAttached=10 []AttachedVolume, volumesInUse=9 []string
NodeSwapStatus: capacity=1 *int64
NodeSystemInfo: architecture=10! string, bootID=3! string, containerRuntimeVersion=6! string, kernelVersion=4! string,
  kubeProxyVersion=8! string, kubeletVersion=7! string, machineID=1! string, operatingSystem=9! string,
  osImage=5! string, swap=11 *NodeSwapStatus, systemUUID=2! string
NonResourceAttributes: path=1 string, verb=2 string
ObjectFieldSelector: apiVersion=1 string, fieldPath=2! string
ObjectMeta: annotations=12 {}string, creationTimestamp=8 time, deletionGracePeriodSeconds=10 *int64,
  deletionTimestamp=9 *time, finalizers=14 []string, generateName=2 string, generation=7 int64, labels=11 {}string,
  managedFields=17 []ManagedFieldsEntry, name=1 string, namespace=3 string, ownerReferences=13 []OwnerReference,
  resourceVersion=6 string, selfLink=4 string, uid=5 string
ObjectReference: apiVersion=5 string, fieldPath=7 string, kind=1 string, name=3 string, namespace=2 string,
  resourceVersion=6 string, uid=4 string
OpaqueDeviceConfiguration: driver=1! string, parameters=2! raw
Overhead: podFixed=1 {}quantity
OwnerReference: apiVersion=5! string, blockOwnerDeletion=7 *bool, controller=6 *bool, kind=1! string, name=3! string,
  uid=4! string
PersistentVolume: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 PersistentVolumeSpec,
  status=3 PersistentVolumeStatus
PersistentVolumeClaim: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 PersistentVolumeClaimSpec,
  status=3 PersistentVolumeClaimStatus
PersistentVolumeClaimCondition: lastProbeTime=3 time, lastTransitionTime=4 time, message=6 string, reason=5 string,
  status=2! string, type=1! string
PersistentVolumeClaimSpec: accessModes=1 []string, dataSource=7 *TypedLocalObjectReference,
  dataSourceRef=8 *TypedObjectReference, resources=2 VolumeResourceRequirements, selector=4 *LabelSelector,
  storageClassName=5 *string, volumeAttributesClassName=9 *string, volumeMode=6 *string, volumeName=3 string
PersistentVolumeClaimStatus: accessModes=2 []string, allocatedResourceStatuses=7 {}string,
  allocatedResources=5 {}quantity, capacity=3 {}quantity, conditions=4 []PersistentVolumeClaimCondition,
  currentVolumeAttributesClassName=8 *string, modifyVolumeStatus=9 *ModifyVolumeStatus, phase=1 string
PersistentVolumeClaimTemplate: metadata=1 ObjectMeta, spec=2! PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName=1! string, readOnly=2 bool
PersistentVolumeSpec: accessModes=3 []string, awsElasticBlockStore=2.2 *AWSElasticBlockStoreVolumeSource,
  azureDisk=2.16 *AzureDiskVolumeSource, azureFile=2.13 *AzureFilePersistentVolumeSource, capacity=1 {}quantity,
  cephfs=2.9 *CephFSPersistentVolumeSource, cinder=2.8 *CinderPersistentVolumeSource, claimRef=4 *ObjectReference,
  csi=2.22 *CSIPersistentVolumeSource, fc=2.10 *FCVolumeSource, flexVolume=2.12 *FlexPersistentVolumeSource,
  flocker=2.11 *FlockerVolumeSource, gcePersistentDisk=2.1 *GCEPersistentDiskVolumeSource,
  glusterfs=2.4 *GlusterfsPersistentVolumeSource, hostPath=2.3 *HostPathVolumeSource,
  iscsi=2.7 *ISCSIPersistentVolumeSource, local=2.20 *LocalVolumeSource, mountOptions=7 []string,
  nfs=2.5 *NFSVolumeSource, nodeAffinity=9 *VolumeNodeAffinity, persistentVolumeReclaimPolicy=5 string,
  photonPersistentDisk=2.17 *PhotonPersistentDiskVolumeSource, portworxVolume=2.18 *PortworxVolumeSource,
  quobyte=2.15 *QuobyteVolumeSource, rbd=2.6 *RBDPersistentVolumeSource, scaleIO=2.19 *ScaleIOPersistentVolumeSource,
  storageClassName=6 string, storageos=2.21 *StorageOSPersistentVolumeSource, volumeAttributesClassName=10 *string,
  volumeMode=8 *string, vsphereVolume=2.14 *VsphereVirtualDiskVolumeSource
PersistentVolumeStatus: lastPhaseTransitionTime=4 *time, message=2 string, phase=1 string, reason=3 string
PhotonPersistentDiskVolumeSource: fsType=2 string, pdID=1! string
Pod: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 PodSpec, status=3 PodStatus
PodAffinity: preferredDuringSchedulingIgnoredDuringExecution=2 []WeightedPodAffinityTerm,
  requiredDuringSchedulingIgnoredDuringExecution=1 []PodAffinityTerm
PodAffinityTerm: labelSelector=1 *LabelSelector, matchLabelKeys=5 []string, mismatchLabelKeys=6 []string,
  namespaceSelector=4 *LabelSelector, namespaces=2 []string, topologyKey=3! string
PodAntiAffinity: preferredDuringSchedulingIgnoredDuringExecution=2 []WeightedPodAffinityTerm,
  requiredDuringSchedulingIgnoredDuringExecution=1 []PodAffinityTerm
PodCertificateProjection: certificateChainPath=6 string, credentialBundlePath=4 string, keyPath=5 string,
  keyType=2 string, maxExpirationSeconds=3 *int32, signerName=1 string, userAnnotations=7 {}string
PodCondition: lastProbeTime=3 time, lastTransitionTime=4 time, message=6 string, observedGeneration=7 int64,
  reason=5 string, status=2! string, type=1! string
PodDNSConfig: nameservers=1 []string, options=3 []PodDNSConfigOption, searches=2 []string
PodDNSConfigOption: name=1 string, value=2 *string
PodDisruptionBudget: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 PodDisruptionBudgetSpec,
  status=3 PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: maxUnavailable=3 *int-or-string, minAvailable=1 *int-or-string, selector=2 *LabelSelector,
  unhealthyPodEvictionPolicy=4 *string
PodDisruptionBudgetStatus: conditions=7 []Condition, currentHealthy=4! int32, desiredHealthy=5! int32,
  disruptedPods=2 {}time, disruptionsAllowed=3! int32, expectedPods=6! int32, observedGeneration=1 int64
PodExtendedResourceClaimStatus: requestMappings=1! []ContainerExtendedResourceRequest, resourceClaimName=2! string
PodFailurePolicy: rules=1! []PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement: containerName=1 *string, operator=2! string, values=3! []int32
PodFailurePolicyOnPodConditionsPattern: status=2! string, type=1! string
PodFailurePolicyRule: action=1! string, onExitCodes=2 *PodFailurePolicyOnExitCodesRequirement,
  onPodConditions=3 []PodFailurePolicyOnPodConditionsPattern
PodGroup: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! PodGroupSpec, status=3 PodGroupStatus
PodGroupResourceClaim: name=1! string, resourceClaimName=2 *string, resourceClaimTemplateName=3 *string
PodGroupResourceClaimStatus: name=1! string, resourceClaimName=2 *string
PodGroupSchedulingConstraints: topology=1 []TopologyConstraint
PodGroupSchedulingPolicy: basic=1 *BasicSchedulingPolicy, gang=2 *GangSchedulingPolicy
PodGroupSpec: disruptionMode=5 *string, podGroupTemplateRef=1! *PodGroupTemplateReference, priority=7 *int32,
  priorityClassName=6 string, resourceClaims=4 []PodGroupResourceClaim,
  schedulingConstraints=3 *PodGroupSchedulingConstraints, schedulingPolicy=2! PodGroupSchedulingPolicy
PodGroupStatus: conditions=1 []Condition, resourceClaimStatuses=2 []PodGroupResourceClaimStatus
PodGroupTemplate: disruptionMode=5 *string, name=1! string, priority=7 *int32, priorityClassName=6 string,
  resourceClaims=4 []PodGroupResourceClaim, schedulingConstraints=3! *PodGroupSchedulingConstraints,
  schedulingPolicy=2! PodGroupSchedulingPolicy
PodGroupTemplateReference: workload=1! *WorkloadPodGroupTemplateReference
PodIP: ip=1! string
PodOS: name=1! string
PodReadinessGate: conditionType=1! string
PodResourceClaim: name=1! string, resourceClaimName=3 *string, resourceClaimTemplateName=4 *string
PodResourceClaimStatus: name=1! string, resourceClaimName=2 *string
PodSchedulingGate: name=1! string
PodSchedulingGroup: podGroupName=1 *string
PodSecurityContext: appArmorProfile=11 *AppArmorProfile, fsGroup=5 *int64, fsGroupChangePolicy=9 *string,
  runAsGroup=6 *int64, runAsNonRoot=3 *bool, runAsUser=2 *int64, seLinuxChangePolicy=13 *string,
  seLinuxOptions=1 *SELinuxOptions, seccompProfile=10 *SeccompProfile, supplementalGroups=4 []int64,
  supplementalGroupsPolicy=12 *string, sysctls=7 []Sysctl, windowsOptions=8 *WindowsSecurityContextOptions
PodSpec: activeDeadlineSeconds=5 *int64, affinity=18 *Affinity, automountServiceAccountToken=21 *bool,
  containers=2! []Container, dnsConfig=26 *PodDNSConfig, dnsPolicy=6 string, enableServiceLinks=30 *bool,
  ephemeralContainers=34 []EphemeralContainer, hostAliases=23 []HostAlias, hostIPC=13 bool, hostNetwork=11 bool,
  hostPID=12 bool, hostUsers=37 *bool, hostname=16 string, hostnameOverride=41 *string,
  imagePullSecrets=15 []LocalObjectReference, initContainers=20 []Container, nodeName=10 string,
  nodeSelector=7 {}string, os=36 *PodOS, overhead=32 {}quantity, preemptionPolicy=31 *string, priority=25 *int32,
  priorityClassName=24 string, readinessGates=28 []PodReadinessGate, resourceClaims=39 []PodResourceClaim,
  resources=40 *ResourceRequirements, restartPolicy=3 string, runtimeClassName=29 *string, schedulerName=19 string,
  schedulingGates=38 []PodSchedulingGate, schedulingGroup=43 *PodSchedulingGroup,
  securityContext=14 *PodSecurityContext, serviceAccount=9 string, serviceAccountName=8 string,
  setHostnameAsFQDN=35 *bool, shareProcessNamespace=27 *bool, subdomain=17 string,
  terminationGracePeriodSeconds=4 *int64, tolerations=22 []Toleration,
  topologySpreadConstraints=33 []TopologySpreadConstraint, volumes=1 []Volume
PodStatus: allocatedResources=19 {}quantity, conditions=2 []PodCondition, containerStatuses=8 []ContainerStatus,
  ephemeralContainerStatuses=13 []ContainerStatus, extendedResourceClaimStatus=18 *PodExtendedResourceClaimStatus,
  hostIP=5 string, hostIPs=16 []HostIP, initContainerStatuses=10 []ContainerStatus, message=3 string,
  nodeAllocatableResourceClaimStatuses=21 []NodeAllocatableResourceClaimStatus, nominatedNodeName=11 string,
  observedGeneration=17 int64, phase=1 string, podIP=6 string, podIPs=12 []PodIP, qosClass=9 string, reason=4 string,
  resize=14 string, resourceClaimStatuses=15 []PodResourceClaimStatus, resources=20 *ResourceRequirements,
  startTime=7 *time
PodTemplate: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, template=2 PodTemplateSpec
PodTemplateSpec: metadata=1 ObjectMeta, spec=2 PodSpec
PolicyRule: apiGroups=2 []string, nonResourceURLs=5 []string, resourceNames=4 []string, resources=3 []string,
  verbs=1! []string
PortStatus: error=3 *string, port=1! int32, protocol=2! string
PortworxVolumeSource: fsType=2 string, readOnly=3 bool, volumeID=1! string
Preconditions: resourceVersion=2 *string, uid=1 *string
PreferredSchedulingTerm: preference=2! NodeSelectorTerm, weight=1! int32
PriorityClass: apiVersion=0 string, description=4 string, globalDefault=3 bool, kind=0 string, metadata=1 ObjectMeta,
  preemptionPolicy=5 *string, value=2! int32
Probe: exec=1.1 *ExecAction, failureThreshold=6 int32, grpc=1.4 *GRPCAction, httpGet=1.2 *HTTPGetAction,
  initialDelaySeconds=2 int32, periodSeconds=4 int32, successThreshold=5 int32, tcpSocket=1.3 *TCPSocketAction,
  terminationGracePeriodSeconds=7 *int64, timeoutSeconds=3 int32
ProjectedVolumeSource: defaultMode=2 *int32, sources=1! []VolumeProjection
QuobyteVolumeSource: group=5 string, readOnly=3 bool, registry=1! string, tenant=6 string, user=4 string,
  volume=2! string
RBDPersistentVolumeSource: fsType=3 string, image=2! string, keyring=6 string, monitors=1! []string, pool=4 string,
  readOnly=8 bool, secretRef=7 *SecretReference, user=5 string
RBDVolumeSource: fsType=3 string, image=2! string, keyring=6 string, monitors=1! []string, pool=4 string,
  readOnly=8 bool, secretRef=7 *LocalObjectReference, user=5 string
ReplicaSet: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 ReplicaSetSpec,
  status=3 ReplicaSetStatus
ReplicaSetCondition: lastTransitionTime=3 time, message=5 string, reason=4 string, status=2! string, type=1! string
ReplicaSetSpec: minReadySeconds=4 int32, replicas=1 *int32, selector=2! *LabelSelector, template=3 PodTemplateSpec
ReplicaSetStatus: availableReplicas=5 int32, conditions=6 []ReplicaSetCondition, fullyLabeledReplicas=2 int32,
  observedGeneration=3 int64, readyReplicas=4 int32, replicas=1! int32, terminatingReplicas=7 *int32
ReplicationController: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 ReplicationControllerSpec,
  status=3 ReplicationControllerStatus
ReplicationControllerCondition: lastTransitionTime=3 time, message=5 string, reason=4 string, status=2! string,
  type=1! string
ReplicationControllerSpec: minReadySeconds=4 int32, replicas=1 *int32, selector=2 {}string,
  template=3 *PodTemplateSpec
ReplicationControllerStatus: availableReplicas=5 int32, conditions=6 []ReplicationControllerCondition,
  fullyLabeledReplicas=2 int32, observedGeneration=3 int64, readyReplicas=4 int32, replicas=1! int32
ResourceAttributes: fieldSelector=8 *FieldSelectorAttributes, group=3 string, labelSelector=9 *LabelSelectorAttributes,
  name=7 string, namespace=1 string, resource=5 string, subresource=6 string, verb=2 string, version=4 string
ResourceClaim: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! ResourceClaimSpec,
  status=3 ResourceClaimStatus
ResourceClaimConsumerReference: apiGroup=1 string, name=4! string, resource=3! string, uid=5! string
ResourceClaimSpec: devices=1! DeviceClaim
ResourceClaimStatus: allocation=1 *AllocationResult, devices=4 []AllocatedDeviceStatus,
  reservedFor=2 []ResourceClaimConsumerReference
ResourceClaimTemplate: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! ResourceClaimTemplateSpec
ResourceClaimTemplateSpec: metadata=1 ObjectMeta, spec=2! ResourceClaimSpec
ResourceFieldSelector: containerName=1 string, divisor=3 quantity, resource=2! string
ResourceHealth: health=2 string, message=6 *string, resourceID=1! string
ResourcePool: generation=2! int64, name=1! string, resourceSliceCount=3! int64
ResourceQuota: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 ResourceQuotaSpec,
  status=3 ResourceQuotaStatus
ResourceQuotaSpec: hard=1 {}quantity, scopeSelector=3 *ScopeSelector, scopes=2 []string
ResourceQuotaStatus: hard=1 {}quantity, used=2 {}quantity
ResourceRequirements: claims=3 []ContainerResourceClaim, limits=1 {}quantity, requests=2 {}quantity
ResourceSlice: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! ResourceSliceSpec
ResourceSliceSpec: allNodes=5 *bool, devices=6 []Device, driver=1! string, nodeName=3 *string,
  nodeSelector=4 *NodeSelector, perDeviceNodeSelection=7 *bool, pool=2! ResourcePool, sharedCounters=8 []CounterSet
ResourceStatus: name=1! string, resources=2 []ResourceHealth
Role: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, rules=2! []PolicyRule
RoleBinding: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, roleRef=3! RoleRef, subjects=2 []Subject
RoleRef: apiGroup=1! string, kind=2! string, name=3! string
RollingUpdateDaemonSet: maxSurge=2 *int-or-string, maxUnavailable=1 *int-or-string
RollingUpdateDeployment: maxSurge=2 *int-or-string, maxUnavailable=1 *int-or-string
RollingUpdateStatefulSetStrategy: maxUnavailable=2 *int-or-string, partition=1 *int32
RuntimeClass: apiVersion=0 string, handler=2! string, kind=0 string, metadata=1 ObjectMeta, overhead=3 *Overhead,
  scheduling=4 *Scheduling
SELinuxOptions: level=4 string, role=2 string, type=3 string, user=1 string
Scale: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 ScaleSpec, status=3 ScaleStatus
ScaleIOPersistentVolumeSource: fsType=9 string, gateway=1! string, protectionDomain=5 string, readOnly=10 bool,
  secretRef=3! *SecretReference, sslEnabled=4 bool, storageMode=7 string, storagePool=6 string, system=2! string,
  volumeName=8 string
ScaleIOVolumeSource: fsType=9 string, gateway=1! string, protectionDomain=5 string, readOnly=10 bool,
  secretRef=3! *LocalObjectReference, sslEnabled=4 bool, storageMode=7 string, storagePool=6 string, system=2! string,
  volumeName=8 string
ScaleSpec: replicas=1 int32
ScaleStatus: replicas=1! int32, selector=2 string
Scheduling: nodeSelector=1 {}string, tolerations=2 []Toleration
SchedulingTypedLocalObjectReference: apiGroup=1 string, kind=2! string, name=3! string
ScopeSelector: matchExpressions=1 []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: operator=2! string, scopeName=1! string, values=3 []string
SeccompProfile: localhostProfile=2 *string, type=1! string
Secret: apiVersion=0 string, data=2 {}bytes, immutable=5 *bool, kind=0 string, metadata=1 ObjectMeta,
  stringData=4 {}string, type=3 string
SecretEnvSource: name=1.1 string, optional=2 *bool
SecretKeySelector: key=2! string, name=1.1 string, optional=3 *bool
SecretProjection: items=2 []KeyToPath, name=1.1 string, optional=4 *bool
SecretReference: name=1 string, namespace=2 string
SecretVolumeSource: defaultMode=3 *int32, items=2 []KeyToPath, optional=4 *bool, secretName=1 string
SecurityContext: allowPrivilegeEscalation=7 *bool, appArmorProfile=12 *AppArmorProfile, capabilities=1 *Capabilities,
  privileged=2 *bool, procMount=9 *string, readOnlyRootFilesystem=6 *bool, runAsGroup=8 *int64, runAsNonRoot=5 *bool,
  runAsUser=4 *int64, seLinuxOptions=3 *SELinuxOptions, seccompProfile=11 *SeccompProfile,
  windowsOptions=10 *WindowsSecurityContextOptions
SelfSubjectAccessReview: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta,
  spec=2! SelfSubjectAccessReviewSpec, status=3 SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: nonResourceAttributes=2 *NonResourceAttributes, resourceAttributes=1 *ResourceAttributes
SelfSubjectReview: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, status=2 SelfSubjectReviewStatus
SelfSubjectReviewStatus: userInfo=1 UserInfo
SelfSubjectRulesReview: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! SelfSubjectRulesReviewSpec,
  status=3 SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: namespace=1 string
Service: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 ServiceSpec, status=3 ServiceStatus
ServiceAccount: apiVersion=0 string, automountServiceAccountToken=4 *bool, imagePullSecrets=3 []LocalObjectReference,
  kind=0 string, metadata=1 ObjectMeta, secrets=2 []ObjectReference
ServiceAccountTokenProjection: audience=1 string, expirationSeconds=2 *int64, path=3! string
ServiceBackendPort: name=1 string, number=2 int32
ServicePort: appProtocol=6 *string, name=1 string, nodePort=5 int32, port=3! int32, protocol=2 string,
  targetPort=4 int-or-string
ServiceSpec: allocateLoadBalancerNodePorts=20 *bool, clusterIP=3 string, clusterIPs=18 []string,
  externalIPs=5 []string, externalName=10 string, externalTrafficPolicy=11 string, healthCheckNodePort=12 int32,
  internalTrafficPolicy=22 *string, ipFamilies=19 []string, ipFamilyPolicy=17 *string, loadBalancerClass=21 *string,
  loadBalancerIP=8 string, loadBalancerSourceRanges=9 []string, ports=1 []ServicePort,
  publishNotReadyAddresses=13 bool, selector=2 {}string, sessionAffinity=7 string,
  sessionAffinityConfig=14 *SessionAffinityConfig, trafficDistribution=23 *string, type=4 string
ServiceStatus: conditions=2 []Condition, loadBalancer=1 LoadBalancerStatus
SessionAffinityConfig: clientIP=1 *ClientIPConfig
SleepAction: seconds=1! int64
StatefulSet: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2 StatefulSetSpec,
  status=3 StatefulSetStatus
StatefulSetCondition: lastTransitionTime=3 time, message=5 string, reason=4 string, status=2! string, type=1! string
StatefulSetOrdinals: start=1! int32
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted=1 string, whenScaled=2 string
StatefulSetSpec: minReadySeconds=9 int32, ordinals=11 *StatefulSetOrdinals,
  persistentVolumeClaimRetentionPolicy=10 *StatefulSetPersistentVolumeClaimRetentionPolicy,
  podManagementPolicy=6 string, replicas=1 *int32, revisionHistoryLimit=8 *int32, selector=2! *LabelSelector,
  serviceName=5! string, template=3! PodTemplateSpec, updateStrategy=7 StatefulSetUpdateStrategy,
  volumeClaimTemplates=4 []PersistentVolumeClaim
StatefulSetStatus: availableReplicas=11! int32, collisionCount=9 *int32, conditions=10 []StatefulSetCondition,
  currentReplicas=4 int32, currentRevision=6 string, observedGeneration=1 int64, readyReplicas=3 int32,
  replicas=2! int32, updateRevision=7 string, updatedReplicas=5 int32
StatefulSetUpdateStrategy: rollingUpdate=2 *RollingUpdateStatefulSetStrategy, type=1 string
StorageClass: allowVolumeExpansion=6 *bool, allowedTopologies=8 []TopologySelectorTerm, apiVersion=0 string,
  kind=0 string, metadata=1 ObjectMeta, mountOptions=5 []string, parameters=3 {}string, provisioner=2! string,
  reclaimPolicy=4 *string, volumeBindingMode=7 *string
StorageOSPersistentVolumeSource: fsType=3 string, readOnly=4 bool, secretRef=5 *ObjectReference, volumeName=1 string,
  volumeNamespace=2 string
StorageOSVolumeSource: fsType=3 string, readOnly=4 bool, secretRef=5 *LocalObjectReference, volumeName=1 string,
  volumeNamespace=2 string
Subject: apiGroup=2 string, kind=1! string, name=3! string, namespace=4 string
SubjectAccessReview: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! SubjectAccessReviewSpec,
  status=3 SubjectAccessReviewStatus
SubjectAccessReviewSpec: extra=5 {}any, groups=4 []string, nonResourceAttributes=2 *NonResourceAttributes,
  resourceAttributes=1 *ResourceAttributes, uid=6 string, user=3 string
SubjectAccessReviewStatus: allowed=1! bool, denied=4 bool, evaluationError=3 string, reason=2 string
SubjectNonResourceRule: nonResourceURLs=2 []string, verbs=1! []string
SubjectResourceRule: apiGroups=2 []string, resourceNames=4 []string, resources=3 []string, verbs=1! []string
SubjectRulesReviewStatus: evaluationError=4 string, incomplete=3! bool, nonResourceRules=2! []SubjectNonResourceRule,
  resourceRules=1! []SubjectResourceRule
SuccessPolicy: rules=1! []SuccessPolicyRule
SuccessPolicyRule: succeededCount=2 *int32, succeededIndexes=1 *string
Sysctl: name=1! string, value=2! string
TCPSocketAction: host=2 string, port=1! int-or-string
Taint: effect=3! string, key=1! string, timeAdded=4 *time, value=2 string
TokenRequest: audience=1! string, expirationSeconds=2 *int64
TokenReview: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! TokenReviewSpec,
  status=3 TokenReviewStatus
TokenReviewSpec: audiences=2 []string, token=1 string
TokenReviewStatus: audiences=4 []string, authenticated=1 bool, error=3 string, user=2 UserInfo
Toleration: effect=4 string, key=1 string, operator=2 string, tolerationSeconds=5 *int64, value=3 string
TopologyConstraint: key=1! string
TopologySelectorLabelRequirement: key=1! string, values=2! []string
TopologySelectorTerm: matchLabelExpressions=1 []TopologySelectorLabelRequirement
TopologySpreadConstraint: labelSelector=4 *LabelSelector, matchLabelKeys=8 []string, maxSkew=1! int32,
  minDomains=5 *int32, nodeAffinityPolicy=6 *string, nodeTaintsPolicy=7 *string, topologyKey=2! string,
  whenUnsatisfiable=3! string
TypedLocalObjectReference: apiGroup=1! *string, kind=2! string, name=3! string
TypedObjectReference: apiGroup=1! *string, kind=2! string, name=3! string, namespace=4 *string
UncountedTerminatedPods: failed=2 []string, succeeded=1 []string
UserInfo: extra=4 {}any, groups=3 []string, uid=2 string, username=1 string
Volume: awsElasticBlockStore=2.4 *AWSElasticBlockStoreVolumeSource, azureDisk=2.22 *AzureDiskVolumeSource,
  azureFile=2.18 *AzureFileVolumeSource, cephfs=2.14 *CephFSVolumeSource, cinder=2.13 *CinderVolumeSource,
  configMap=2.19 *ConfigMapVolumeSource, csi=2.28 *CSIVolumeSource, downwardAPI=2.16 *DownwardAPIVolumeSource,
  emptyDir=2.2 *EmptyDirVolumeSource, ephemeral=2.29 *EphemeralVolumeSource, fc=2.17 *FCVolumeSource,
  flexVolume=2.12 *FlexVolumeSource, flocker=2.15 *FlockerVolumeSource,
  gcePersistentDisk=2.3 *GCEPersistentDiskVolumeSource, gitRepo=2.5 *GitRepoVolumeSource,
  glusterfs=2.9 *GlusterfsVolumeSource, hostPath=2.1 *HostPathVolumeSource, image=2.30 *ImageVolumeSource,
  iscsi=2.8 *ISCSIVolumeSource, name=1! string, nfs=2.7 *NFSVolumeSource,
  persistentVolumeClaim=2.10 *PersistentVolumeClaimVolumeSource,
  photonPersistentDisk=2.23 *PhotonPersistentDiskVolumeSource, portworxVolume=2.24 *PortworxVolumeSource,
  projected=2.26 *ProjectedVolumeSource, quobyte=2.21 *QuobyteVolumeSource, rbd=2.11 *RBDVolumeSource,
  scaleIO=2.25 *ScaleIOVolumeSource, secret=2.6 *SecretVolumeSource, storageos=2.27 *StorageOSVolumeSource,
  vsphereVolume=2.20 *VsphereVirtualDiskVolumeSource
VolumeAttachment: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! VolumeAttachmentSpec,
  status=3 VolumeAttachmentStatus
VolumeAttachmentSource: inlineVolumeSpec=2 *PersistentVolumeSpec, persistentVolumeName=1 *string
VolumeAttachmentSpec: attacher=1! string, nodeName=3! string, source=2! VolumeAttachmentSource
VolumeAttachmentStatus: attachError=3 *VolumeError, attached=1! bool, attachmentMetadata=2 {}string,
  detachError=4 *VolumeError
VolumeDevice: devicePath=2! string, name=1! string
VolumeError: errorCode=3 *int32, message=2 string, time=1 time
VolumeMount: mountPath=3! string, mountPropagation=5 *string, name=1! string, readOnly=2 bool,
  recursiveReadOnly=7 *string, subPath=4 string, subPathExpr=6 string
VolumeMountStatus: mountPath=2! string, name=1! string, readOnly=3 bool, recursiveReadOnly=4 *string,
  volumeStatus=5 *VolumeStatus
VolumeNodeAffinity: required=1 *NodeSelector
VolumeNodeResources: count=1 *int32
VolumeProjection: clusterTrustBundle=5 *ClusterTrustBundleProjection, configMap=3 *ConfigMapProjection,
  downwardAPI=2 *DownwardAPIProjection, podCertificate=6 *PodCertificateProjection, secret=1 *SecretProjection,
  serviceAccountToken=4 *ServiceAccountTokenProjection
VolumeResourceRequirements: limits=1 {}quantity, requests=2 {}quantity
VolumeStatus: image=1 *ImageVolumeStatus
VsphereVirtualDiskVolumeSource: fsType=2 string, storagePolicyID=4 string, storagePolicyName=3 string,
  volumePath=1! string
WeightedPodAffinityTerm: podAffinityTerm=2! PodAffinityTerm, weight=1! int32
WindowsSecurityContextOptions: gmsaCredentialSpec=2 *string, gmsaCredentialSpecName=1 *string, hostProcess=4 *bool,
  runAsUserName=3 *string
Workload: apiVersion=0 string, kind=0 string, metadata=1 ObjectMeta, spec=2! WorkloadSpec
WorkloadPodGroupTemplateReference: podGroupTemplateName=2! string, workloadName=1! string
WorkloadSpec: controllerRef=1 *SchedulingTypedLocalObjectReference, podGroupTemplates=2! []PodGroupTemplate
)types";

}  // namespace tutti::sim
