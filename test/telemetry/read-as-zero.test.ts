import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildObjectStatus } from '../../src/control/status/object-status.js';
import type { TroubledScaler } from '../../src/decision/snippet.js';
import { createRecords } from '../../src/telemetry/records.js';
import { runCli } from '../cli/fake-io.js';
import { appOf, listen, type Listening } from '../cli/live-service.js';
import { object, verdict } from '../control/status/status-builder.js';
import { T0 } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { type Json, decided } from './state-records.js';

const at = '2025-12-31T23:59:45Z';
const MISSING = { error: 'no series', kind: 'missing' };

function metric(name: string, fields: Json = {}): Json {
  return { external: { metric: { name }, query: name, target: { averageValue: 30 }, ...fields } };
}

/** Scalers with `onMissing: zero` for the metric `queue`, at 0 or more replicas. */
const CASES = {
  asleep: { count: 0, spec: { metrics: [metric('queue', { onMissing: 'zero' })] }, samples: [MISSING] },
  activation: {
    count: 0,
    spec: { metrics: [metric('queue', { onMissing: 'zero', activation: { above: 5 } })] },
    samples: [MISSING],
  },
  empty: {
    count: 0,
    spec: { metrics: [metric('queue', { onMissing: 'zero' })] },
    samples: [{ at, values: [0] }],
  },
  night: {
    count: 4,
    spec: {
      metrics: [metric('queue', { onMissing: 'zero' })],
      schedules: [{ name: 'night', start: '0 0 * * *', end: '0 6 * * *', minReplicas: 4 }],
    },
    samples: [MISSING],
  },
  falling: { count: 4, spec: { metrics: [metric('queue', { onMissing: 'zero' })] }, samples: [MISSING] },
  other: {
    count: 4,
    spec: { metrics: [metric('queue', { onMissing: 'zero' }), metric('rps')] },
    samples: [MISSING, { at, values: [120] }],
  },
};

describe('a metric without series, which the document reads as 0', () => {
  const records = createRecords(new ManualClock());
  let service: Listening;

  beforeAll(async () => {
    for (const [name, { count, spec, samples }] of Object.entries(CASES)) {
      const target = { specReplicas: count, statusReplicas: count };
      const snapshot = { target, samples, ...(count === 0 ? { pods: [] } : {}) };
      records.ledger.add(decided({ spec: { minReplicas: 0, ...spec }, snapshot })(name));
    }
    service = await listen(appOf(records.ledger, records));
  });
  afterAll(() => service.close());

  const explained = async (name: string): Promise<string> =>
    (await runCli(['explain', `shop/${name}`, '--url', service.url])).stdout;
  const statusOf = (name: string) => {
    const last = records.ledger.get(`shop/${name}`);
    return buildObjectStatus({
      object: object({ name }),
      verdict: verdict({ scaler: last?.scaler ?? null }),
      last,
      now: T0,
    });
  };
  const conditionIn = (name: string, type: string) =>
    statusOf(name).conditions.find((one) => one.type === type);

  it.each(['asleep', 'activation', 'falling'])(
    'is in ScalingActive and Ready of the object, which say no value and no calculation: %s',
    (name) => {
      const active = 'External metric queue: no series, read as 0 (onMissing: zero)';

      expect(conditionIn(name, 'ScalingActive')).toMatchObject({
        status: 'True',
        reason: 'ReadAsZero',
        message: active,
      });
      expect(conditionIn(name, 'Ready')).toMatchObject({
        status: 'True',
        message: `the document is in effect and its target can be scaled; ${active}`,
      });
      expect(statusOf(name)).toMatchObject({ targets: 'queue: <unknown>/30 (avg)' });
      expect(statusOf(name).currentMetrics).toBeUndefined();
    },
  );

  it('is the state of a scaler at 0 replicas in the status, and in explain with the query to try', async () => {
    const text = await explained('asleep');

    expect(statusOf('asleep')).toMatchObject({
      state: 'NoSeries',
      cause:
        '0 recommended; queue: no series, read as 0; without series, no metric starts the workload from 0 replicas',
    });
    expect(text).toMatch(/^state: NoSeries for [^:]*: 0 recommended; queue: no series, read as 0; /m);
    expect(text).toContain('queue: no series, read as 0, target 30 per pod: stays at 0');
    expect(text).toContain('queue (External): no series, read as 0, target 30 per pod - proposes 0');
    expect(text).toMatch(/\nWhat to do\n {2}Run doctor to find the fix:\n.*doctor shop\/asleep /);
    expect(text).not.toMatch(/is at 0|calculated from/);
  });

  it('has no end, although a schedule that ends keeps the count', () => {
    const { name, cause, until } = records.ledger.get('shop/night')?.shownState ?? {};

    expect(name).toBe('NoSeries');
    expect(cause).toMatch(/ by schedule "night" until 2026-01-01T06:00:00Z; queue: no series, read as 0/);
    expect(until ?? null).toBeNull();
  });

  it('is in the activation of explain: "read as 0", not "is 0"', async () => {
    expect(await explained('activation')).toContain(
      'queue is read as 0, not above its activation threshold of 5',
    );
  });

  it('has no value in the API, which says why', async () => {
    const answer = await fetch(`${service.url}/api/v1/scalers/shop/falling`);

    expect(((await answer.json()) as TroubledScaler).metrics).toMatchObject([
      { metric: 'queue', value: null, error: null, readAsZero: 'no series' },
    ]);
  });

  it('is not claimed of a queue with the value 0, or of a count that another metric proposes', async () => {
    expect(conditionIn('empty', 'ScalingActive')).toMatchObject({
      message: 'the replica count was calculated from External metric queue',
    });
    expect(statusOf('empty')).toMatchObject({ state: 'Asleep', cause: '0 recommended' });
    expect(await explained('empty')).not.toContain('What to do');
    expect(conditionIn('other', 'ScalingActive')).toMatchObject({
      reason: 'ValidMetricFound',
      message: 'the replica count was calculated from External metric rps',
    });
    expect(statusOf('other').targets).toBe('queue: <unknown>/30 (avg), rps: 30/30 (avg)');
  });
});
