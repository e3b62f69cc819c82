import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { cluster, diagnosed, server } from './fixture.js';

const VICTORIA_METRICS = { version: '2.24.0' };
const PROMETHEUS = { version: '3.5.0', revision: '8be3a9560fbdd18a94dedec4b747c35178177202' };

let simulator: Simulator;

beforeAll(async () => {
  simulator = await cluster({});
});

/** Returns the results for a server with this build information; `path` precedes the paths of its API. */
async function flavorResults(
  build: object,
  { flavor = null, path = '' }: { readonly flavor?: string | null; readonly path?: string } = {},
): Promise<{ readonly url: string; readonly results: readonly CheckResult[] }> {
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
  const { of } = await diagnosed({
    prometheus: `${address}/`,
    source: flavor === null ? '' : `, flavor: ${flavor}`,
    kubernetes: simulator.url,
  });
  return { url: `${address}/`, results: of('prometheus') };
}

describe('the flavor of a data source', () => {
  it.each([
    ['VictoriaMetrics', 'victoriametrics', VICTORIA_METRICS],
    ['Prometheus', 'prometheus', PROMETHEUS],
    ['Prometheus', 'thanos', PROMETHEUS],
    ['Prometheus', null, PROMETHEUS],
    ['server of an unknown kind', 'victoriametrics', {}],
  ] as const)('of a %s can be %s', async (_, flavor, build) => {
    const { results } = await flavorResults(build, { flavor });

    expect(results).toEqual([]);
  });

  it.each(['', '/select/0/prometheus'])(
    'is reported as unset for a VictoriaMetrics under "%s"',
    async (path) => {
      const { url, results } = await flavorResults(VICTORIA_METRICS, { path });

      expect(results).toMatchObject([
        {
          status: 'warning',
          message: expect.stringContaining(
            `${url} is VictoriaMetrics, but prometheus.default.flavor is not set`,
          ),
          fix: 'prometheus.default.flavor: victoriametrics',
        },
      ]);
    },
  );

  it.each(['prometheus', 'thanos', 'mimir'])('is invalid as %s for a VictoriaMetrics', async (flavor) => {
    const { url, results } = await flavorResults(VICTORIA_METRICS, { flavor });

    expect(results).toMatchObject([
      {
        status: 'failed',
        message: expect.stringContaining(
          `${url} is VictoriaMetrics, but prometheus.default.flavor is ${flavor}: samples are about 30 s old`,
        ),
        fix: 'prometheus.default.flavor: victoriametrics',
      },
    ]);
  });

  it('is invalid as victoriametrics for a Prometheus', async () => {
    const { url, results } = await flavorResults(PROMETHEUS, { flavor: 'victoriametrics' });

    expect(results).toMatchObject([
      {
        status: 'failed',
        message: `${url} is not VictoriaMetrics, but prometheus.default.flavor is victoriametrics: on other servers, the cpu query for VictoriaMetrics omits the usage before a restart of a container, so the value is too low for one window`,
        fix: 'prometheus.default.flavor: prometheus, thanos or mimir',
      },
    ]);
  });
});
