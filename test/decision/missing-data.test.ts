import { describe, expect, it } from '@jest/globals';
import { podsAt } from '../../src/decision/missing-data.js';
import { remediesOf } from '../../src/decision/remedies.js';
import type { TroubledScaler } from '../../src/decision/snippet.js';
import { failureWithoutAnswer } from '../../src/http/http-client.js';
import { INTERNAL_ERROR, mayBeDown } from '../../src/units/failure.js';

const BLIND: TroubledScaler = {
  namespace: 'shop',
  name: 'web',
  target: { kind: 'Deployment', name: 'web' },
  state: { name: 'NoData', cause: null },
  currentReplicas: 4,
  desiredReplicas: 4,
  outcome: { kind: 'none', to: 4 },
  recommendedReplicas: null,
  maxReplicas: 10,
  metrics: [{ metric: 'cpu', error: null }],
  conditions: [],
  pause: null,
  dryRun: false,
  conflictingWriter: null,
  otherScaler: null,
  generation: null,
  doctor: 'kubectl exec',
  queries: [{ path: 'spec.metrics[1]', query: 'q', graphUrl: null }],
  rejections: [],
  document: {},
};

function remediesFor(fields: Partial<TroubledScaler>): readonly string[] {
  return remediesOf({ ...BLIND, ...fields }).map(({ text, snippet }) =>
    snippet === null ? text : `${text}: ${snippet.text}`,
  );
}

describe('mayBeDown', () => {
  it.each([
    ['ECONNREFUSED', true],
    ['ECONNRESET', true],
    ['EHOSTUNREACH', true],
    ['ENETUNREACH', true],
    ['ETIMEDOUT', true],
    ['EUNKNOWN', true],
    ['ENOTFOUND', false],
    ['EPROTO', false],
    ['CERT_HAS_EXPIRED', false],
  ])('of the failure that the client has for %s: %p', (code, expected) => {
    const error = Object.assign(new Error(code), { code });

    expect(mayBeDown(failureWithoutAnswer(error, new AbortController().signal))).toBe(expected);
  });
});

describe('what to do about a metric without a value', () => {
  const UNHEARD = 'the url in the service config or a NetworkPolicy may be wrong';

  it.each([
    [
      { host: 'prometheus.monitoring:9090', isDown: true },
      [
        'Check whether the pods of Prometheus run; meanwhile nothing is scaled down: kubectl get -n monitoring pods',
        `If they run, ${UNHEARD}. Test the connection: kubectl exec`,
      ],
    ],
    [
      { host: 'localhost:9090', isDown: true },
      [
        'Test the connection to localhost:9090; meanwhile nothing is scaled down: kubectl exec',
        `Check whether Prometheus runs there. If it does, ${UNHEARD}`,
      ],
    ],
    [
      { host: null, isDown: true },
      [
        'Test the connection to Prometheus; meanwhile nothing is scaled down: kubectl exec',
        `Check whether Prometheus runs there. If it does, ${UNHEARD}`,
      ],
    ],
    [
      { host: 'h.svc:9090', isDown: false },
      ['Run doctor to find the fix; meanwhile nothing is scaled down: kubectl exec'],
    ],
    [undefined, ['Run doctor to find the fix: kubectl exec', 'Try the query of queue in Prometheus: q']],
  ])(
    'starts at the server if it did not answer, and tries only a query that it rejected: %j',
    (noAnswer, expected) => {
      const metrics = [
        { metric: 'cpu', error: null },
        { metric: 'queue', error: 'why', noAnswer },
      ];

      expect(remediesFor({ metrics })).toEqual(expected);
    },
  );

  it.each([
    [null, []],
    ['no series', ['Run doctor to find the fix: kubectl exec', 'Try the query of queue in Prometheus: q']],
  ])(
    'says that an internal error is a defect to report, next to a metric with the error %j',
    (error, others) => {
      const metrics = [
        { metric: 'cpu', error: INTERNAL_ERROR.message, errorReason: INTERNAL_ERROR.reason },
        { metric: 'queue', error },
      ];
      const queries = [0, 1].map((index) => ({ path: `spec.metrics[${index}]`, query: 'q', graphUrl: null }));

      expect(remediesFor({ metrics, queries })).toEqual([
        'Report the defect of promscaler, with the line "query failed: internal error" of its log',
        ...others,
      ]);
    },
  );

  it.each(['requests no cpu', 'requests 0 cpu'])('sets a request of a container that %s', (lacks) => {
    const metrics = [{ metric: 'cpu', error: `container app ${lacks} (pod web-0 and 2 more)` }];

    expect(
      remediesFor({ metrics, queries: [{ path: 'spec.metrics[0]', query: 'q', graphUrl: null }] }),
    ).toEqual([
      expect.stringMatching(
        /^Set a cpu request that fits the workload.*: kubectl set resources deployment\/web -n shop -c app --requests=cpu=250m$/,
      ),
      'Run doctor to find the fix: kubectl exec',
    ]);
  });

  it('says what happens while no metric has an answer: 4 replicas are kept, until the fallback after 3 minutes', () => {
    const noAnswer = { host: 'prometheus.monitoring.svc:9090', isDown: true };
    const metrics = [{ metric: 'cpu', error: 'timeout after 5000 ms', noAnswer }];
    const document = { spec: { fallback: { afterSeconds: 180, replicas: 5 } } };

    expect(remediesFor({ metrics })[0]).toMatch(/; meanwhile 4 replicas are kept: /);
    expect(remediesFor({ metrics, document })[0]).toMatch(
      /; meanwhile 4 replicas are kept, and the fallback applies after 3m: kubectl get -n monitoring pods$/,
    );
    expect(remediesFor({ metrics: [{ metric: 'cpu', error: null, noAnswer }] })[0]).toMatch(
      /^Check whether the pods of Prometheus run; meanwhile the fallback applies: /,
    );
  });

  it('names the way out if the target is at 0, and the metric that could start it has no series', () => {
    const metrics = [{ metric: 'rps', error: 'no series' }];
    const atZero = { metrics, currentReplicas: 0, generation: 3, document: { spec: { minReplicas: 0 } } };

    expect(remediesFor(atZero).slice(0, 2)).toEqual([
      `If only the pods of the workload expose the metric, keep 1 replica: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"minReplicas":1}}'`,
      'To scale to 0 again, query work that waits outside of the pods, such as the length of a queue or requests at the Ingress',
    ]);
    for (const other of [
      { currentReplicas: 1 },
      { recommendedReplicas: 0 },
      { document: { spec: { minReplicas: 1 } } },
      { metrics: [{ metric: 'rps', error: 'Prometheus: timeout after 1500 ms' }] },
    ])
      expect(remediesFor({ ...atZero, ...other }).join('\n')).not.toMatch(/keep 1 replica/);
  });

  it.each([
    ['prometheus.monitoring:9090', 'monitoring'],
    ['prometheus-server.monitoring', 'monitoring'],
    ['prometheus.monitoring.svc', 'monitoring'],
    ['thanos-query.obs-1.svc.cluster.local:9090', 'obs-1'],
    ['prometheus.example.com', null],
    ['example.com:9090', null],
    ['10.0.0.1:9090', null],
    ['localhost:9090', null],
    ['[::1]:9090', null],
  ])('reads the namespace of %s as %s', (host, namespace) => {
    expect(podsAt(host)?.text ?? null).toBe(namespace === null ? null : `kubectl get -n ${namespace} pods`);
  });
});
