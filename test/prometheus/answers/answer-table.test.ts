import { describeFailure } from '../../../src/units/failure.js';
import { errorKindOf } from '../../../src/decision/snapshot/snapshot.js';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { decide } from '../../../src/decision/decide.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import type { Sample, Snapshot } from '../../../src/decision/snapshot/snapshot.js';
import { toSample } from '../../../src/prometheus/samples.js';
import { aDocument, aPod, aSource, at, T0, WORKLOAD } from '../../support/builders.js';
import { afterThisTest, clientOf, serve, serveText } from '../served.js';

/*
 * The classes of algorithm.md, section 2, row by row, from the bytes of a server to the decision: 5 replicas of 10 each, so
 * that anything read as 0 scales down to 1, and 80 scales up to 8.
 */

const SECONDS = T0 / 1000;

interface Wire {
  readonly status?: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const success = (data: unknown, extra: object = {}): Wire => ({
  body: JSON.stringify({ status: 'success', data, ...extra }),
});
const vector = (...values: readonly string[]) => ({
  resultType: 'vector',
  result: values.map((value) => ({ metric: {}, value: [SECONDS, value] })),
});
const errorOf = (status: number, errorType: string): Wire => ({
  status,
  body: JSON.stringify({ status: 'error', errorType, error: 'why' }),
});

async function urlOf({ status = 200, body, headers }: Wire): Promise<string> {
  return (await serveText(status, body, headers)).url;
}

const EXTERNAL = { metric: { name: 'm' }, query: 'sum(m)', target: { averageValue: 10 } };

function snapshotOf(metric: object): Snapshot {
  return parseSnapshot({
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      maxReplicas: 20,
      metrics: [metric],
      downscaleStabilizationSeconds: 0,
    }),
    now: '2026-01-01T00:00:00Z',
    target: { specReplicas: 5 },
    state: { recommendations: [] },
  });
}

/** Returns the result of a server's answer: the form or kind of the sample, and the replicas. */
async function outcome(
  url: string,
  metric: object = { external: EXTERNAL },
  { now = T0, timeoutMs = 5000 } = {},
): Promise<{ readonly sample: string; readonly replicas: number; readonly why: string }> {
  const snapshot = snapshotOf(metric);
  const [spec] = snapshot.scaler.spec.metrics;
  if (spec === undefined) throw new Error('there is no metric');
  const client = clientOf({ urls: [url] });
  const answer = await client.query('sum(m)', { timeoutMs });
  const context = { namespace: 'shop', workload: WORKLOAD, pods: [aPod('a')], now, source: aSource() };
  const sample = toSample(spec, answer, context);
  const { desiredReplicas } = decide({ ...snapshot, pods: [aPod('a')], samples: [sample] });
  return { sample: nameOf(sample), replicas: desiredReplicas, why: whyOf(sample) };
}

function nameOf(sample: Sample): string {
  if (sample.form === 'error') return errorKindOf(sample.failure);
  return sample.partial === null ? 'value' : 'partial';
}

function whyOf(sample: Sample): string {
  return sample.form === 'error' ? describeFailure(sample.failure) : (sample.partial ?? '');
}

describe('an answer that is an error', () => {
  it.each<[string, Wire, string]>([
    ['redirect', { status: 302, body: '', headers: { Location: '/login' } }, 'redirects are not followed'],
    ['login page with 200', { body: '<!doctype html><title>Log in</title>' }, 'HTML page'],
    ['text with 200', { body: 'OK' }, 'text instead of JSON'],
    [
      'server that stops',
      { status: 503, body: 'Service Unavailable', headers: { 'X-Prometheus-Stopping': 'true' } },
      'HTTP 503',
    ],
    ['parse error', errorOf(400, 'bad_data'), 'HTTP 400 bad_data: why'],
    ['execution error', errorOf(422, 'execution'), 'HTTP 422 execution: why'],
    ['timeout of the server', errorOf(503, 'timeout'), 'HTTP 503 timeout: why'],
    ['canceled query', errorOf(499, 'canceled'), 'HTTP 499 canceled: why'],
    ['internal error', errorOf(500, 'internal'), 'HTTP 500 internal: why'],
    ['unavailable storage', errorOf(500, 'unavailable'), 'HTTP 500 unavailable: why'],
    ['401 of a proxy', { status: 401, body: 'Unauthorized' }, 'HTTP 401'],
    ['403 of a proxy', { status: 403, body: 'Forbidden' }, 'HTTP 403'],
    ['429 of Mimir', { status: 429, body: 'slow down' }, 'HTTP 429'],
    ['success without data', { body: '{"status":"success"}' }, 'no field "data"'],
    [
      'answer without status',
      { body: '{"data":{"resultType":"vector","result":[]}}' },
      'not an answer of the',
    ],
  ])('fails and holds: %s', async (_name, wire, why) => {
    expect(await outcome(await urlOf(wire))).toEqual({
      sample: 'failed',
      replicas: 5,
      why: expect.stringContaining(why),
    });
  });

  it('is one failure, with its reason, from the HTTP 500 to the result of the metric', async () => {
    const snapshot = snapshotOf({ external: EXTERNAL });
    const [spec] = snapshot.scaler.spec.metrics;
    const client = clientOf({ urls: [await urlOf(errorOf(500, 'internal'))] });
    const answer = await client.query('up', { timeoutMs: 5000 });
    if (spec === undefined) throw new Error('there is no metric');
    const context = { namespace: 'shop', workload: WORKLOAD, pods: [], now: T0, source: aSource() };
    const sample = toSample(spec, answer, context);
    const { metrics, conditions } = decide({ ...snapshot, samples: [sample] });

    expect(answer).toMatchObject({ class: 'failed', reason: 'server_error' });
    expect(sample).toEqual({ form: 'error', failure: { ...answer, source: 'default' } });
    expect(metrics[0]?.error).toBe(sample.form === 'error' && sample.failure);
    expect(conditions.find(({ type }) => type === 'ScalingActive')?.message).toMatch(
      /: Prometheus: HTTP 500 internal: why \(\S+\)$/,
    );
  });

  it('fails and holds: no connection', async () => {
    expect(await outcome('http://127.0.0.1:1')).toMatchObject({ sample: 'failed', replicas: 5 });
  });

  it('fails and holds: reset during the answer, TLS to a server without it, timeout', async () => {
    const cut = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"status":"success"');
        socket.end();
      });
    });
    await new Promise<void>((resolve) => cut.listen(0, '127.0.0.1', resolve));
    afterThisTest(() => new Promise((resolve) => cut.close(resolve)));
    const silent = await serve(() => undefined);
    const { port } = cut.address() as AddressInfo;

    const outcomes = [
      await outcome(`http://127.0.0.1:${port}`),
      await outcome(silent.url.replace('http:', 'https:')),
      await outcome(silent.url, undefined, { timeoutMs: 300 }),
    ];

    expect(outcomes).toEqual(outcomes.map(() => expect.objectContaining({ sample: 'failed', replicas: 5 })));
    // The request is sent with the rest of the 300 ms.
    expect(outcomes.at(-1)?.why).toMatch(/timeout after (?:[12]\d\d|300) ms/);
  });
});

describe('an answer of success', () => {
  it.each<[string, Wire, string, number]>([
    ['a value of 20', success(vector('20')), 'value', 2],
    ['a true 0', success(vector('0')), 'value', 1],
    ['a scalar', success({ resultType: 'scalar', result: [SECONDS, '20'] }), 'value', 2],
    ['infos', success(vector('20'), { infos: ['PromQL info: x'] }), 'value', 2],
    ['infos among warnings', success(vector('20'), { warnings: ['PromQL info: x'] }), 'value', 2],
    ['a warning next to 20', success(vector('20'), { warnings: ['store down'] }), 'partial', 5],
    ['a warning next to 80', success(vector('80'), { warnings: ['store down'] }), 'partial', 8],
    ['isPartial next to 20', success(vector('20'), { isPartial: true }), 'partial', 5],
    ['isPartial next to 80', success(vector('80'), { isPartial: true }), 'partial', 8],
    ['no series', success(vector()), 'missing', 5],
    ['no series and a warning', success(vector(), { warnings: ['store down'] }), 'invalid', 5],
    ['a scalar of +Inf (1/0)', success({ resultType: 'scalar', result: [SECONDS, '+Inf'] }), 'invalid', 5],
    ['a scalar of NaN (of nothing)', success({ resultType: 'scalar', result: [SECONDS, 'NaN'] }), 'nan', 5],
    ['a string', success({ resultType: 'string', result: [SECONDS, '0'] }), 'invalid', 5],
    ['a matrix', success({ resultType: 'matrix', result: [] }), 'invalid', 5],
    [
      'a native histogram',
      success({ resultType: 'vector', result: [{ metric: {}, histogram: [SECONDS, {}] }] }),
      'invalid',
      5,
    ],
    ['NaN', success(vector('NaN')), 'nan', 5],
    ['NaN next to 20', success(vector('NaN', '20')), 'partial', 5],
    ['NaN next to 80', success(vector('NaN', '80')), 'partial', 8],
    ['+Inf', success(vector('+Inf')), 'invalid', 5],
    ['-Inf', success(vector('-Inf')), 'invalid', 5],
    ['an empty text for a number', success(vector('')), 'invalid', 5],
    ['a blank for a number', success(vector(' ')), 'invalid', 5],
    ['0x10', success(vector('0x10')), 'invalid', 5],
    ['1e999, which is beyond a number', success(vector('1e999')), 'invalid', 5],
    ['a negative value', success(vector('-1')), 'invalid', 5],
  ])('with %s', async (_name, wire, sample, replicas) => {
    expect(await outcome(await urlOf(wire))).toMatchObject({ sample, replicas });
  });

  it('of an Object metric with two series is invalid, with one a value', async () => {
    const object = { object: EXTERNAL };

    expect(await outcome(await urlOf(success(vector('10', '10'))), object)).toMatchObject({
      sample: 'invalid',
      replicas: 5,
    });
    expect(await outcome(await urlOf(success(vector('20'))), object)).toMatchObject({ replicas: 2 });
  });

  it('of a Pods metric: two series of one pod are invalid, a series of an unlisted pod is ignored, a scalar is invalid', async () => {
    const pods = { pods: { ...EXTERNAL, query: 'sum by (pod) (m)' } };
    const series = (...names: readonly string[]): Wire =>
      success({
        resultType: 'vector',
        result: names.map((pod, index) => ({
          metric: { pod, replica: String(index) },
          value: [SECONDS, '1'],
        })),
      });
    const scalar = success({ resultType: 'scalar', result: [SECONDS, '1'] });

    const outcomes = [series('a', 'a'), series('gone'), scalar, series('a', 'gone')].map(async (wire) =>
      outcome(await urlOf(wire), pods),
    );

    expect((await Promise.all(outcomes)).map(({ sample, replicas }) => [sample, replicas])).toEqual([
      ['invalid', 5],
      ['missing', 5],
      ['invalid', 5],
      ['value', 1],
    ]);
  });

  it.each([
    [120, 'value', 2],
    [121, 'partial', 5],
    [-120, 'value', 2],
    [-121, 'partial', 5],
  ])('with a clock %d s off is a %s: %d replicas', async (seconds, sample, replicas) => {
    const url = await urlOf(success(vector('20')));

    expect(await outcome(url, undefined, { now: at(seconds) })).toMatchObject({ sample, replicas });
  });
});

describe('onMissing and onNaN', () => {
  const zero = (field: 'onMissing' | 'onNaN') => ({ external: { ...EXTERNAL, [field]: 'zero' } });

  it.each<[string, 'onMissing' | 'onNaN', Wire, number]>([
    ['no series', 'onMissing', success(vector()), 1],
    ['NaN', 'onMissing', success(vector('NaN')), 5],
    ['no series and a warning', 'onMissing', success(vector(), { warnings: ['store down'] }), 5],
    ['a matrix', 'onMissing', success({ resultType: 'matrix', result: [] }), 5],
    ['a failure', 'onMissing', errorOf(503, 'timeout'), 5],
    ['NaN', 'onNaN', success(vector('NaN')), 1],
    ['no series', 'onNaN', success(vector()), 5],
    ['NaN next to 20', 'onNaN', success(vector('NaN', '20')), 5],
    ['+Inf', 'onNaN', success(vector('+Inf')), 5],
    ['a failure', 'onNaN', errorOf(503, 'timeout'), 5],
  ])('turn %s with %s into zero', async (_name, field, wire, replicas) => {
    expect(await outcome(await urlOf(wire), zero(field))).toMatchObject({ replicas });
  });
});
