import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { checkSyntax } from '../../../src/promql/syntax.js';
import {
  type Scripted,
  cluster,
  clusterOfWeb,
  diagnosed,
  document,
  healthy,
  metric,
  prometheus,
  shop,
} from './fixture.js';

let simulator: Simulator;
let running: string;
let asleep: string;
let gone: string;

beforeAll(async () => {
  ({ simulator } = await clusterOfWeb());
  running = simulator.url;
  gone = (await cluster({ workloads: [shop('other')] })).url;
  asleep = (await cluster({ workloads: [shop('web', { replicas: 0 })] })).url;
});

const RPS = 'sum(rate(http_requests_total{namespace="$namespace", service="web"}[2m]))';
const SELECTOR = 'http_requests_total{namespace="shop", service="web"}';
/** All series of the query that are not of pods of the workload. */
const OTHERS = /^count\((?:last_over_time\()?http_requests_total\{.*\) - count\(/;
const RUNS: readonly Scripted[] = [[/^sum\(rate\(http_requests_total/, 20]];

interface Asked {
  readonly kubernetes?: string;
  readonly metrics?: string;
  readonly minReplicas?: number;
  readonly more?: string;
}

async function found(
  script: readonly Scripted[],
  { kubernetes = running, metrics = metric('external', RPS), minReplicas = 0, more = '' }: Asked = {},
): Promise<{ readonly wakeUp: readonly CheckResult[]; readonly query: readonly CheckResult[] } & Sent> {
  const server = await prometheus(script);
  const web = document('web', `${more}${metrics}`).replace('minReplicas: 1', `minReplicas: ${minReplicas}`);
  const { of } = await diagnosed({ prometheus: server.url, kubernetes, documents: { web } });
  const sent = server.requests.map(({ form }) => form.get('query') ?? '');
  return { wakeUp: of('wake-up'), query: of('query'), sent: sent.filter((one) => OTHERS.test(one)) };
}

interface Sent {
  /** The queries that compare the series of pods of the workload with all series. */
  readonly sent: readonly string[];
}

describe('a query that names no pod, for a workload with minReplicas 0', () => {
  it('is reported if all of its series come from pods of the workload', async () => {
    const { wakeUp } = await found([[OTHERS, 0], ...RUNS]);

    expect(wakeUp).toEqual([
      {
        check: 'wake-up',
        status: 'warning',
        subject: 'shop/web',
        message:
          'External metric m: only the pods of deployment shop/web expose its series, and spec.minReplicas is 0. At 0 replicas, the metric has no series, so the workload never starts again',
        fix: 'set spec.minReplicas: 1, or query work that waits outside of the pods, such as the length of a queue or requests at the Ingress',
      },
    ]);
  });

  it('is not reported if one series comes from elsewhere, or if there is no series', async () => {
    const [one, none] = [await found([[OTHERS, 1], ...RUNS]), await found(RUNS)];

    expect([one.wakeUp, none.wakeUp]).toEqual([[], []]);
  });

  it('is compared with the names of the pods under each label that contains them, and with their addresses, in the namespace', async () => {
    const { sent } = await found([[OTHERS, 0], ...RUNS]);
    const [instance = ''] = /instance=~"[^"]*"/.exec(sent[0] ?? '') ?? [];
    const ips = simulator
      .listObjects('/pods', 'shop')
      .map(({ status }) => String((status as { readonly podIP?: unknown } | undefined)?.podIP));

    const own = (matcher: string): string =>
      `http_requests_total{namespace="shop", service="web", ${matcher}, namespace=~"shop|"}`;
    const labels = ['pod', 'pod_name', 'kubernetes_pod_name', 'k8s_pod_name'];
    const names = labels.map((label) => `${label}=~"web-[a-z0-9]+-[a-z0-9]{5}"`);
    expect(sent).toEqual([`count(${SELECTOR}) - count(${[...names, instance].map(own).join(' or ')})`]);
    expect(checkSyntax(sent[0] ?? '')).toEqual([]);
    const pattern = new RegExp(`^(?:${JSON.parse(instance.replace('instance=~', '')) as string})$`);
    expect(ips).toHaveLength(2);
    for (const ip of ips)
      expect([ip, `${ip}:8080`, `[${ip}]:8080`].every((one) => pattern.test(one))).toBe(true);
    expect([`${ips[0] ?? ''}1:8080`, '10.0.0.1:9100', 'web:8080'].some((one) => pattern.test(one))).toBe(
      false,
    );
  });

  it.each<[string, Asked]>([
    ['minReplicas is 1', { minReplicas: 1 }],
    [
      'another metric can start it',
      {
        metrics: `${metric('external', RPS)}${metric('external', 'sum(queue)').replace('  metrics:\n', '')}`,
      },
    ],
    [
      'the query selects the pods by name, which the rule never-wakes-up reports',
      { metrics: metric('external', 'sum(rate(http_requests_total{pod=~"$pods"}[2m]))') },
    ],
  ])('is not reported if %s', async (_, asked) => {
    const { wakeUp } = await found([[OTHERS, 0], ...RUNS, [/^sum\(queue\)$/, 3]], asked);

    expect(wakeUp).toEqual([]);
  });

  it('is reported with the schedule that sets the minimum to 0', async () => {
    const { wakeUp } = await found([[OTHERS, 0], ...RUNS], { minReplicas: 1, more: night(0) });

    expect(wakeUp[0]?.message).toMatch(
      /and spec\.schedules\[0\]\.minReplicas is 0\. .* so the workload does not start again before the period of spec\.schedules\[0\] ends$/,
    );
  });
});

function night(minReplicas: number): string {
  return `  schedules: [{ name: night, start: "0 22 * * *", end: "0 6 * * *", timeZone: UTC, minReplicas: ${minReplicas} }]\n`;
}

describe('the same workload at 0 replicas', () => {
  it('fails with the reason and the way out, in place of a missing scrape', async () => {
    const { wakeUp, query, sent } = await found([[OTHERS, 0]], { kubernetes: asleep });

    expect(wakeUp).toEqual([
      {
        check: 'wake-up',
        status: 'failed',
        subject: 'shop/web',
        message:
          'deployment shop/web has 0 replicas, and only its own pods exposed the series of External metric m in the last 1d: while spec.minReplicas is 0, the workload never starts again',
        fix: 'set spec.minReplicas: 1 (starts 1 replica, unless another client has set the workload to 0). Before you set 0 again, let the metric query work that waits outside of the pods, such as the length of a queue or requests at the Ingress',
      },
    ]);
    expect(query).toEqual([]);
    expect(sent[0]).toMatch(/^count\(last_over_time\(http_requests_total\{[^}]*\}\[1d\]\)\) - count\(/);
  });

  it.each([
    [
      1,
      0,
      'spec.schedules[0].minReplicas is 0, the workload does not start again before the period of spec.schedules[0] ends',
    ],
    [0, 2, 'spec.minReplicas is 0, only spec.schedules[0] starts the workload again'],
  ])(
    'is a warning with minReplicas %i and a schedule with %i, which starts it',
    async (minReplicas, floor, end) => {
      const asked = { kubernetes: asleep, minReplicas, more: night(floor) };
      const { wakeUp } = await found([[OTHERS, 0]], asked);

      expect(wakeUp).toMatchObject([
        { status: 'warning', message: expect.stringContaining(`: while ${end}`) },
      ]);
    },
  );

  it('says what may be the reason if no series is known', async () => {
    const { wakeUp, query } = await found([], { kubernetes: asleep });

    expect(wakeUp).toEqual([]);
    expect(query[0]?.message).toContain('External metric m has no series');
    expect(query[0]?.fix).toMatch(
      /; the workload has 0 replicas: if only its own pods expose the metric, set spec\.minReplicas: 1$/,
    );
  });

  it('is not reported for a metric that reads no series as 0, if others expose its series', async () => {
    const metrics = metric('external', RPS).replace('target:', 'onMissing: zero, target:');
    const [own, other] = [
      await found([[OTHERS, 0]], { kubernetes: asleep, metrics }),
      await found([[OTHERS, 2]], { kubernetes: asleep, metrics }),
    ];

    expect(own.wakeUp).toMatchObject([{ status: 'failed' }]);
    expect([own.query, other.wakeUp]).toEqual([[], []]);
  });
});

describe('a workload that does not exist', () => {
  const pods = metric('pods', 'm{pod=~"$pods"}');

  it.each([
    ['Pods metric m', pods, [], 'Pods metric m: the target does not exist, so no pod has a value'],
    [
      'Pods metric m with series of other pods',
      pods,
      [[/^m\{/, [{ labels: { pod: 'web-0' }, value: 1 }]]],
      'Pods metric m: the target does not exist, so no pod has a value',
    ],
    ['Resource metric cpu', '', [], 'Resource metric cpu: the target does not exist, so no pod has a value'],
    [
      'External metric m of its pods',
      metric('external', RPS),
      [[OTHERS, 0]],
      'External metric m: only pods of the target, which does not exist, exposed the metric',
    ],
  ] as const)('does not fail for %s: only its target does', async (_, metrics, script, message) => {
    const { query } = await found(script, {
      kubernetes: gone,
      metrics,
      minReplicas: 1,
    });

    expect(query.map((one) => [one.status, one.message])).toEqual([['skipped', message]]);
  });

  it('fails for an External metric without series that others expose', async () => {
    const { query } = await found([[OTHERS, 2]], { kubernetes: gone, minReplicas: 1 });

    expect(query).toMatchObject([{ status: 'failed' }]);
  });
});

describe('a workload that a person has set to 0 replicas', () => {
  it.each([
    ['Resource metric cpu', '', healthy(['web-0'])],
    ['Resource metric cpu', '', []],
    [
      'Pods metric m',
      metric('pods', 'm{pod=~"$pods"}'),
      [[/^m\{/, [{ labels: { pod: 'web-0' }, value: 1 }]]],
    ],
  ] as const)('does not fail for %s, which needs pods', async (name, metrics, script) => {
    const { query } = await found(script as readonly Scripted[], {
      kubernetes: asleep,
      metrics,
      minReplicas: 2,
    });

    expect(query.map(({ status, message }) => [status, message])).toEqual([
      ['skipped', `${name}: the target has 0 replicas, so no pod has a value`],
    ]);
  });
});
