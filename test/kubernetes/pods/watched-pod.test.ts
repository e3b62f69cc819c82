import { describe, expect, it } from '@jest/globals';

import { createPodReader, POD_FIELDS } from '../../../src/kubernetes/pods/watched-pod.js';
import { pruneJson } from '../../../src/kubernetes/requests/prune-json.js';
import { parseInstant } from '../../../src/units/time.js';
import { apiPod } from '../fake-api-server.js';

describe('POD_FIELDS', () => {
  it('are all that is read: pods without other fields are the same', () => {
    const starting = {
      metadata: {
        name: 'b',
        namespace: 'shop',
        resourceVersion: '7',
        deletionTimestamp: '2026-01-01T00:00:00Z',
        labels: { app: 'web' },
        annotations: {
          'controller.kubernetes.io/pod-deletion-cost': '5',
          'promscaler.dev/deletion-cost': '5',
          other: 'x',
        },
        managedFields: [{ manager: 'kubelet', fieldsV1: { 'f:status': {} } }],
      },
      spec: {
        nodeName: 'node-1',
        containers: [
          { name: 'app', image: 'app:1', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } },
        ],
        initContainers: [{ name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } }],
        resources: { requests: { cpu: '3' } },
      },
      status: {
        phase: 'Pending',
        startTime: '2026-01-01T00:00:00Z',
        podIP: '10.0.0.1',
        conditions: [
          { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:10Z' },
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '1 Insufficient cpu.' },
        ],
      },
    };
    const waiting = { state: { waiting: { reason: 'ImagePullBackOff', message: 'x' } }, image: 'app:1' };
    const pods = [
      apiPod({ name: 'a', resourceVersion: '5' }),
      starting,
      { ...starting, status: { ...starting.status, conditions: [], containerStatuses: [waiting] } },
      { ...starting, status: { ...starting.status, conditions: [], initContainerStatuses: [waiting] } },
    ];
    for (const object of pods) {
      const pruned = pruneJson(Buffer.from(JSON.stringify(object)), POD_FIELDS, { depth: 64, items: 1000 });
      const fields = pruned !== null && 'text' in pruned ? (JSON.parse(pruned.text) as typeof object) : {};

      expect(JSON.stringify(fields).length).toBeLessThan(JSON.stringify(object).length);
      expect(createPodReader()(fields)).toEqual(createPodReader()(object));
    }
  });
});

describe('createPodReader', () => {
  it('shares the labels of pods that have the same, and only of those', () => {
    const read = createPodReader();
    const labelsOf = (labels: Readonly<Record<string, string>>): unknown =>
      read(apiPod({ name: 'a', labels }))?.labels;

    expect(labelsOf({ app: 'web' })).toBe(labelsOf({ app: 'web' }));
    for (const [some, others] of [
      [{ a: 'bc' }, { ab: 'c' }],
      [{ a: 'b1 1 cd' }, { a: 'b', c: 'd' }],
    ] as const)
      expect([labelsOf(some), labelsOf(others)]).toEqual([some, others]);
  });

  it('reads name, phase, times, readiness, labels and requests', () => {
    expect(createPodReader()(apiPod({ name: 'a', resourceVersion: '5' }))).toEqual({
      namespace: 'shop',
      name: 'a',
      resourceVersion: '5',
      labels: Object.assign(Object.create(null) as object, { app: 'web' }),
      pod: {
        name: 'a',
        phase: 'Running',
        deleting: false,
        startTime: parseInstant('2026-01-01T00:00:00Z'),
        ready: true,
        readyChangedAt: parseInstant('2026-01-01T00:00:10Z'),
        requests: new Map([['app', new Map([['cpu', 100n]])]]),
        podRequests: null,
      },
    });
  });

  it('counts sidecars but no other init containers, and pod-level requests as well', () => {
    const read = createPodReader()({
      metadata: { name: 'a', namespace: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        containers: [
          { name: 'app', resources: { requests: { cpu: '0.5', memory: '1Gi', broken: 'much' } } },
          { name: 'bare' },
        ],
        initContainers: [
          { name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: 1 } } },
          { name: 'setup', resources: { requests: { cpu: '8' } } },
        ],
        resources: { requests: { cpu: '2' } },
      },
    });

    expect(read?.pod).toEqual({
      name: 'a',
      phase: 'Unknown',
      deleting: true,
      startTime: null,
      ready: null,
      readyChangedAt: null,
      requests: new Map([
        [
          'app',
          new Map([
            ['cpu', 500n],
            ['memory', 1_073_741_824_000n],
          ]),
        ],
        ['bare', new Map()],
        ['proxy', new Map([['cpu', 1000n]])],
      ]),
      podRequests: new Map([['cpu', 2000n]]),
    });
  });

  it.each([
    ['False', false],
    ['Unknown', false],
  ])('reads a Ready condition %s as %p', (status, ready) => {
    const read = createPodReader()({
      metadata: { name: 'a', namespace: 'shop' },
      status: { conditions: [{ type: 'Ready', status, lastTransitionTime: 'soon' }] },
    });

    expect([read?.pod.ready, read?.pod.readyChangedAt]).toEqual([ready, null]);
  });

  it.each([
    ['the sum of its containers and sidecars', [{ cpu: '500m' }, { cpu: 1 }], undefined, 1500n],
    ['none if a container has none', [{ cpu: '500m' }, { memory: '1Gi' }], undefined, undefined],
    ['that of the pod', [{ cpu: '500m' }, {}], { cpu: '2' }, 2000n],
    ['none of 0', [{ cpu: '0' }], undefined, undefined],
  ])('has a cpu limit: %s', (_name, limits, ofPod, expected) => {
    const [first, sidecar] = limits;
    const spec = {
      containers: [{ name: 'app', resources: { limits: first } }],
      initContainers: [
        ...(sidecar === undefined
          ? []
          : [{ name: 'proxy', restartPolicy: 'Always', resources: { limits: sidecar } }]),
        { name: 'setup', resources: { limits: { cpu: '8' } } },
      ],
      ...(ofPod === undefined ? {} : { resources: { limits: ofPod } }),
    };

    expect(createPodReader()({ ...apiPod({ name: 'a' }), spec })?.pod.cpuLimit).toBe(expected);
  });

  it('shares the requests of equal pods', () => {
    const read = createPodReader();

    expect(read(apiPod({ name: 'a' }))?.pod.requests).toBe(read(apiPod({ name: 'b' }))?.pod.requests);
  });

  it.each([[{}], [{ metadata: { name: 'a' } }], [{ metadata: { namespace: 'shop' } }]])(
    'is null for %j',
    (object) => {
      expect(createPodReader()(object)).toBeNull();
    },
  );
});
