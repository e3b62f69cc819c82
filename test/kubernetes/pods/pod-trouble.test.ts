import { describe, expect, it } from '@jest/globals';
import { createPodReader, readTrouble } from '../../../src/kubernetes/pods/watched-pod.js';
import { readWatchedTarget, toScaleTarget } from '../../../src/kubernetes/targets.js';
import { apiDeployment, apiPod } from '../fake-api-server.js';

const WEB = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

const scheduled = (status: string, reason: string, message = '') => ({
  conditions: [{ type: 'PodScheduled', status, reason, message }],
});
const containers = (reason: string) => [
  { name: 'proxy', state: { running: {} } },
  { name: 'app', state: { waiting: { reason } } },
];

describe('the reason why a pod does not become ready', () => {
  it.each([
    ['0/9 nodes are available: 9 Insufficient cpu. preemption: no victims found.', 'cpu'],
    ['0/9 nodes are available: 3 Insufficient nvidia.com/gpu, 6 Insufficient cpu.', 'cpu, nvidia.com/gpu'],
    ['0/4 nodes are available: 4 cannot allocate all claims.', 'resource claims'],
    ['0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {x: }.', 'memory'],
    ['0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}.', 'taints'],
    ['0/1 nodes are available: 1 node(s) had untolerated taint {example.com/volume-host: }.', 'taints'],
    ['0/1 nodes are available: 1 node(s) had untolerated taint {team: Insufficient cpu}.', 'taints'],
    ['0/1 nodes are available: persistentvolumeclaim "volume" not found.', 'a volume'],
    ['0/1 nodes are available: persistentvolumeclaim "taint" not found.', 'a volume'],
    [
      "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
      'affinity or node selector',
    ],
    ['0/1 nodes are available: 1 node(s) had volume node affinity conflict.', 'a volume'],
    ['', 'no suitable node'],
  ])('by the scheduler: %s', (message, why) => {
    const status = scheduled('False', 'Unschedulable', message);

    expect(readTrouble(status)).toEqual({ kind: 'unschedulable', why });
  });

  it.each([
    ['is scheduled', scheduled('True', '')],
    ['waits for a gate', scheduled('False', 'SchedulingGated')],
    ['is created', { containerStatuses: containers('ContainerCreating') }],
    ['is initialized', { containerStatuses: containers('PodInitializing') }],
    ['has no status', null],
  ])('is not reported if it %s', (_, status) => {
    expect(readTrouble(status)).toBeUndefined();
  });

  it('is that of the kubelet for containers and init containers', () => {
    expect(readTrouble({ containerStatuses: containers('CrashLoopBackOff') })).toEqual({
      kind: 'waiting',
      why: 'CrashLoopBackOff',
    });
    expect(readTrouble({ initContainerStatuses: containers('ImagePullBackOff') })?.why).toBe(
      'ImagePullBackOff',
    );
  });

  it('is kept while the pod is not ready, and dropped when it is', () => {
    const read = createPodReader();
    const of = (status: string) => {
      const pod = apiPod({ name: 'a' });
      const conditions = [{ type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:10Z' }];
      const containerStatuses = containers('CrashLoopBackOff');
      return read({ ...pod, status: { ...pod.status, conditions, containerStatuses } })?.pod;
    };

    expect(of('False')?.trouble).toEqual({ kind: 'waiting', why: 'CrashLoopBackOff' });
    expect(Object.keys(of('True') ?? {})).not.toContain('trouble');
  });
});

describe('the rollout of a Deployment', () => {
  const progressing = (status: string, reason: string) => ({
    conditions: [{ type: 'Progressing', status, reason }],
  });
  const read = (spec: object, status: object) => {
    const object = apiDeployment();
    const watched = readWatchedTarget({
      ...object,
      spec: { ...object.spec, ...spec },
      status: { ...object.status, ...status },
    });
    return watched === null ? null : toScaleTarget(WEB, watched).rollout;
  };

  it.each([
    ['goes on', {}, progressing('True', 'ReplicaSetUpdated'), undefined],
    ['has exceeded its deadline', {}, progressing('False', 'ProgressDeadlineExceeded'), 'stuck'],
    ['failed otherwise', {}, progressing('False', 'FailedCreate'), undefined],
    ['is paused', { paused: true }, progressing('Unknown', 'DeploymentPaused'), 'paused'],
    ['is not paused', { paused: false }, {}, undefined],
  ])('that %s', (_, spec, status, rollout) => {
    expect(read(spec, status)).toBe(rollout);
  });
});
