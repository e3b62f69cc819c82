import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import { checkSyntax } from '../../../src/promql/syntax.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { type Scripted, clusterOfWeb, diagnosed, document, healthy, metric, prometheus } from './fixture.js';

let simulator: Simulator;
let pods: readonly string[];

beforeAll(async () => {
  ({ simulator, pods } = await clusterOfWeb());
});

const SPIKES = /^max_over_time\(.*\[6h:1m\]\)$/;

async function spikes(
  factor: number | null,
  { spec = '', source = '' } = {},
): Promise<{ readonly found: readonly CheckResult[]; readonly query: string | undefined }> {
  const script: readonly Scripted[] = factor === null ? [] : [[SPIKES, factor]];
  const server = await prometheus([...script, ...healthy(pods)]);
  const documents = { web: document('web', spec) };
  const { of } = await diagnosed({ prometheus: server.url, source, kubernetes: simulator.url, documents });
  const query = server.requests.map(({ form }) => form.get('query') ?? '').find((one) => SPIKES.test(one));
  return { found: of('spikes'), query };
}

describe('spikes', () => {
  it('recommends a metric of the whole load if the CPU tripled within five minutes', async () => {
    const [warned, quiet, unknown] = [await spikes(3), await spikes(2.99), await spikes(null)];

    expect(warned.found).toMatchObject([{ status: 'warning' }]);
    expect(warned.found[0]?.message).toContain(
      'in the last 6h, the CPU of deployment shop/web rose to 3 times its value within 5m',
    );
    expect(warned.found[0]?.fix).toContain('scale on a metric of the whole load');
    expect([quiet.found, unknown.found]).toEqual([[], []]);
  });

  it('compares the CPU of the pods of the workload with what the minimum of replicas takes', async () => {
    // The pods request 0.5 cores each, of which 80 % are the target; the minimum is 1 replica.
    const usage =
      'sum(sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace=~"shop", container!="", container!="POD", pod=~"web-[a-z0-9]+-[a-z0-9]{5}"}[120s])))';
    const { query = '' } = await spikes(null);

    expect(query).toBe(
      `max_over_time((${usage} / clamp_min(last_over_time((${usage})[1m:1m] offset 5m), 0.4))[6h:1m])`,
    );
    expect(checkSyntax(query)).toEqual([]);
  });

  it('reads every selector of the query of VictoriaMetrics', async () => {
    const { query = '' } = await spikes(null, { source: ', flavor: victoriametrics' });

    expect(query.match(/pod=~"web-/g)).toHaveLength(4);
    expect(checkSyntax(query)).toEqual([]);
  });

  it.each([
    ['a metric of the whole load', { spec: metric('external', 'sum(rps)') }],
    [
      'a query whose series have other labels',
      { source: ", resourceQueries: { cpu: 'sum by (namespace, pod, container) (cpu:rate5m)' }" },
    ],
  ])('asks nothing with %s', async (_, given) => {
    expect(await spikes(9, given)).toEqual({ found: [], query: undefined });
  });
});
