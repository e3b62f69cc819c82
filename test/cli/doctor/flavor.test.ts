import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../../src/cli/doctor/finding.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { cluster, examined, server } from './rig.js';

const VICTORIA_METRICS = { version: '2.24.0' };
const PROMETHEUS = { version: '3.5.0', revision: '8be3a9560fbdd18a94dedec4b747c35178177202' };

let simulator: Simulator;

beforeAll(async () => {
  simulator = await cluster({});
});

/** What is found on the flavor of a server with this build information; `path` is before the paths of its API. */
async function flavorFindings(
  build: object,
  { flavor = null, path = '' }: { readonly flavor?: string | null; readonly path?: string } = {},
): Promise<{ readonly url: string; readonly findings: readonly Finding[] }> {
  const { url } = await server((response, request) => {
    const page = new URL(request.url, 'http://x').pathname;
    const seconds = Date.now() / 1000;
    const query = { resultType: 'vector', result: [{ metric: {}, value: [seconds, String(seconds)] }] };
    const data = page === `${path}/api/v1/status/buildinfo` ? build : query;
    response.writeHead(page.startsWith(`${path}/api/v1/`) ? 200 : 404, {
      'Content-Type': 'application/json',
      ...(build === VICTORIA_METRICS ? { 'X-Server-Hostname': 'vm-0' } : {}),
    });
    response.end(JSON.stringify({ status: 'success', data }));
  });
  const address = `${url}${path}`;
  const { of } = await examined({
    prometheus: `${address}/`,
    source: flavor === null ? '' : `, flavor: ${flavor}`,
    kubernetes: simulator.url,
  });
  return { url: `${address}/`, findings: of('prometheus') };
}

describe('the flavor of a data source', () => {
  it.each([
    ['VictoriaMetrics', 'victoriametrics', VICTORIA_METRICS],
    ['Prometheus', 'prometheus', PROMETHEUS],
    ['Prometheus', 'thanos', PROMETHEUS],
    ['Prometheus', null, PROMETHEUS],
    ['server that does not say what it is', 'victoriametrics', {}],
  ] as const)('of a %s may be %s', async (_, flavor, build) => {
    const { findings } = await flavorFindings(build, { flavor });

    expect(findings).toEqual([]);
  });

  it.each(['', '/select/0/prometheus'])('is missed at a VictoriaMetrics under "%s"', async (path) => {
    const { url, findings } = await flavorFindings(VICTORIA_METRICS, { path });

    expect(findings).toMatchObject([
      {
        status: 'warning',
        message: expect.stringContaining(
          `${url} is a VictoriaMetrics and prometheus.default.flavor is not set`,
        ),
        mend: 'prometheus.default.flavor: victoriametrics',
      },
    ]);
  });

  it.each(['prometheus', 'thanos', 'mimir'])('%s is wrong for a VictoriaMetrics', async (flavor) => {
    const { url, findings } = await flavorFindings(VICTORIA_METRICS, { flavor });

    expect(findings).toMatchObject([
      {
        status: 'failed',
        message: expect.stringContaining(
          `${url} is a VictoriaMetrics and prometheus.default.flavor is ${flavor}: its answers are about 30 s old`,
        ),
        mend: 'prometheus.default.flavor: victoriametrics',
      },
    ]);
  });

  it('victoriametrics is wrong for a Prometheus', async () => {
    const { url, findings } = await flavorFindings(PROMETHEUS, { flavor: 'victoriametrics' });

    expect(findings).toMatchObject([
      {
        status: 'failed',
        message: expect.stringContaining(`${url} is not a VictoriaMetrics`),
        mend: 'prometheus.default.flavor: prometheus, thanos or mimir',
      },
    ]);
  });
});
