import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openLongHistory } from '../../src/service/long-history.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { createRangeClient } from '../../src/prometheus/client/range-client.js';
import { instantFromSeconds } from '../../src/units/time.js';
import { aSource } from '../support/builders.js';
import { type FilledServer, type ServerName, startFilled } from '../support/filled-server.js';
import type { WrittenSeries } from '../support/remote-write.js';
import { CPU, scaler } from '../telemetry/record-builder.js';

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const STEP_SECONDS = 300;
const END = Math.floor(Date.now() / 1000 / STEP_SECONDS - 1) * STEP_SECONDS;
const START = END - 5 * STEP_SECONDS;
/** Ends string literals and selectors that do not quote it. */
const NAME = 'we"b\\}\n';
const SCRAPE_SECONDS = 15;

/** What the replica `pod` exposed from one second after the start to another, with its end. */
function exposed(
  pod: string,
  [from, to]: readonly [number, number],
  values: Readonly<Record<string, number>>,
  name = NAME,
): readonly WrittenSeries[] {
  const scrapes = Array.from(
    { length: (to - from) / SCRAPE_SECONDS },
    (_, index) => START + from + 7 + index * SCRAPE_SECONDS,
  );
  return Object.entries(values).map(([metric, value]) => ({
    labels: {
      __name__: `promscaler_${metric}`,
      namespace: 'shop',
      scaler: name,
      pod,
      ...(metric.startsWith('metric_') ? { metric: 'cpu', type: 'Resource' } : {}),
    },
    samples: [...scrapes.map((second) => [second, value] as const), [START + to + 7, null] as const],
  }));
}

const SERIES = [
  // A leader, then another one in the middle of a step, which was not scraped for a while.
  ...exposed('a', [-300, 750], {
    current_replicas: 3,
    max_replicas: 10,
    metric_value: 40,
    metric_target: 60,
  }),
  ...exposed('b', [750, 1050], {
    current_replicas: 5,
    max_replicas: 10,
    metric_value: 80,
    metric_target: 60,
  }),
  ...exposed('b', [1350, 1500], {
    current_replicas: 0,
    max_replicas: 10,
    metric_value: 0,
    metric_target: 60,
  }),
  ...exposed('a', [-300, 1500], { current_replicas: 99, metric_value: 99 }, 'other'),
];

describe.each<ServerName>(['Prometheus', 'VictoriaMetrics'])('the history from %s', (engine) => {
  let server: FilledServer;

  beforeAll(async () => {
    server = await startFilled(engine, SERIES);
  }, START_MS);

  afterAll(() => server.stop());

  const read = (name: string) => {
    const flavor = engine === 'VictoriaMetrics' ? 'victoriametrics' : 'prometheus';
    const web = { ...scaler('web', [CPU]), name };
    const history = openLongHistory({
      source: aSource({ urls: [server.url], flavor }),
      createClient: (source) => createRangeClient(source, SYSTEM_CLOCK),
      scalers: () => [web],
      clock: SYSTEM_CLOCK,
    });
    const [start, end] = [instantFromSeconds(START), instantFromSeconds(END)];
    return history.read(web, { start, end, stepSeconds: STEP_SECONDS });
  };

  it('counts two leaders once, and has no zero in a gap', async () => {
    const answer = await read(NAME);
    if ('why' in answer) throw new Error(answer.why);

    const points = answer.points.points.map(({ at, counts, values }) => [
      at / 1000 - START,
      counts[0],
      counts[1],
      counts[4],
      ...values,
    ]);
    expect(points).toEqual([
      [0, 3, null, 10, 40, 60],
      [300, 3, null, 10, 40, 60],
      [600, 3, null, 10, 40, 60],
      [900, 5, null, 10, 60, 60],
      [1200, null, null, null, 80, 60],
      [1500, 0, null, 10, 0, 60],
    ]);
  });

  it('says that there is none of another scaler', async () => {
    expect(await read('nobody')).toMatchObject({
      why: expect.stringContaining('has no series of shop/nobody'),
    });
  });
});
