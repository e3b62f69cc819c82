import { describe, expect, it } from '@jest/globals';

import { createPodReader } from '../../../src/kubernetes/pods/watched-pod.js';
import { parseInstant } from '../../../src/units/time.js';
import { apiPod } from '../fake-api-server.js';

describe('createPodReader', () => {
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
