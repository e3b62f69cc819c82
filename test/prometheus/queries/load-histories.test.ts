import { describe, expect, it } from '@jest/globals';
import type { LoadHistory } from '../../../src/decision/snapshot/snapshot.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import { aClient, aSource } from '../../support/builders.js';
import { settle } from '../../support/manual-clock.js';
import { startRound, values } from '../fakes.js';
import { DAY_MS, EXTERNAL, CPU, scalerWith, type Respond, failure, matrix, Histories } from './histories.js';

describe('the history of a forecast', () => {
  it('is read with one query for each season and one for the highest load, and serves the next hour', async () => {
    const histories = new Histories();
    const scaler = scalerWith({ lead: '120s' });
    expect(await histories.after(60, scaler)).toBeUndefined();

    const known = await histories.after(60, scaler);
    // 15 days: each of the last seven, and two weeks ago.
    expect(histories.seasonQueries()).toHaveLength(8);
    expect(histories.asked).toHaveLength(9);
    expect(
      new Set(histories.seasonQueries().map(({ query, stepSeconds }) => `${query} ${stepSeconds}`)),
    ).toEqual(new Set(['sum(sum(load)\n) 60']));
    expect(histories.asked.at(-1)).toMatchObject({ query: 'max_over_time((sum(sum(load)\n))[15d:900s])' });
    expect(known).toMatchObject({ leadSeconds: 120, highest: 100, unusable: null });
    expect(known?.seasons).toHaveLength(8);
    expect(known?.seasons[0]).toMatchObject({ load: 100, level: 100 });

    for (let minute = 0; minute < 45; minute += 1) await histories.after(60, scaler);
    // At most one hour began since.
    expect(histories.asked.length).toBeLessThanOrEqual(17);
    expect((await histories.after(60, scaler))?.seasons).toHaveLength(8);
    expect(histories.most).toBe(1);
  });

  it('has the load of the time to come, and the level of the ten minutes before', async () => {
    const histories = new Histories();
    // 12:05: an opening.
    histories.respond = (range) => matrix(range, (minute) => (minute >= 725 ? 500 : 100));
    const scaler = scalerWith({ lead: '300s' });
    await histories.after(60, scaler);

    expect((await histories.after(0, scaler))?.seasons.map(({ load, level }) => [load, level])).toEqual(
      Array.from({ length: 8 }, () => [500, 100]),
    );
  });

  it('is not asked for without a forecast', async () => {
    const histories = new Histories();

    expect(await histories.after(3600, scalerWith(undefined))).toBeUndefined();
    expect(histories.asked).toEqual([]);
    expect(histories.clock.pending).toBe(0);
  });

  it('is not asked for while the time in which pods start is not known', async () => {
    const histories = new Histories();
    const scaler = scalerWith({});
    const metrics = createMetricSource({
      sources: new Map([['default', aSource()]]),
      clock: histories.clock,
      onQuery: () => undefined,
      createClient: (config) =>
        aClient(config, {
          query: () => Promise.resolve(values([], histories.clock.now())),
          startTime: () => Promise.resolve(null),
        }),
    });
    metrics.setScalers([scaler]);
    const round = startRound(metrics, [scaler]);
    await settle();

    expect(round.loadHistory(scaler, { now: histories.clock.now(), podStartSeconds: null })).toMatchObject({
      unusable: expect.stringContaining('the pod start time is not known yet'),
    });
  });

  it('waits with its queries until those of the round have ended', async () => {
    const histories = new Histories();
    let end = (): void => undefined;
    const scaler = scalerWith({ lead: '120s' });
    await histories.after(0, scaler);
    histories.asked.length = 0;
    histories.round = new Promise((resolve) => (end = resolve));
    histories.clock.advance(3_600_000);
    await histories.after(5, scaler);
    expect(histories.asked).toHaveLength(0);

    end();
    await histories.after(60, scaler);
    expect(histories.asked.length).toBeGreaterThan(0);
  });

  it('is read once for scalers with equal queries', async () => {
    const histories = new Histories();
    const scalers = ['web', 'api', 'shop'].map((name) => scalerWith({ lead: '120s' }, [EXTERNAL], name));
    await histories.after(60, ...scalers);

    expect(histories.asked).toHaveLength(9);
  });

  it('is spread over the hour by the query', async () => {
    const minutes = new Set<number>();
    const histories = new Histories();
    const scalers = Array.from({ length: 12 }, (_, index) =>
      scalerWith(
        { lead: '120s' },
        [{ ...EXTERNAL, external: { ...EXTERNAL.external, query: `sum(load${index})` } }],
        `web-${index}`,
      ),
    );
    await histories.after(60, ...scalers);
    for (let minute = 0; minute < 60; minute += 1) {
      const before = histories.asked.length;
      await histories.after(60, ...scalers);
      if (histories.asked.length > before) minutes.add(minute);
    }

    expect(minutes.size).toBeGreaterThan(6);
  });

  it('covers the lead that the pods need, also if it has grown', async () => {
    const histories = new Histories();
    await histories.after(60, scalerWith({ lead: '120s' }));
    const slow = scalerWith({ lead: '60m' });
    await histories.after(60, slow);

    expect((await histories.after(60, slow))?.seasons).toHaveLength(8);
  });
});

describe('a history that cannot be read', () => {
  const known = async (respond: Respond): Promise<LoadHistory | undefined> => {
    const histories = new Histories();
    histories.respond = respond;
    const scaler = scalerWith({ lead: '120s' });
    await histories.after(60, scaler);
    return histories.after(60, scaler);
  };

  it.each<[string, Respond, string]>([
    ['a timeout', () => failure('timeout', 'timeout after 10 s'), 'timeout after 10 s'],
    ['a refusal (422)', () => failure('execution', 'too many samples'), 'too many samples'],
    ['a negative load', (range) => matrix(range, () => -1), 'negative'],
    ['an infinite load', (range) => matrix(range, () => Infinity), 'too large'],
    ['a huge load', (range) => matrix(range, () => 1e300), 'too large'],
    [
      'points of another time',
      (range) => matrix({ ...range, start: (range.start + 7000) as never }),
      'for other times than requested',
    ],
    [
      'the same series twice',
      (range) => {
        const one = matrix(range);
        return one.class === 'failed' ? one : { ...one, series: [...one.series, ...one.series] };
      },
      'same labels',
    ],
  ])('says why: %s', async (_, respond, why) => {
    const history = await known(respond);

    expect(history).toMatchObject({ seasons: [], unusable: expect.stringContaining(why) });
  });

  it.each<[string, Respond]>([
    ['NaN', (range) => matrix(range, () => NaN)],
    ['no series', () => ({ class: 'matrix', series: [] })],
    ['gaps of six minutes', (range) => matrix({ ...range, stepSeconds: 360 })],
  ])('has no seasons, never zero, with %s', async (_, respond) => {
    expect((await known(respond))?.seasons).toEqual([]);
  });

  it('leaves out a day that fails alone, and uses the others', async () => {
    const histories = new Histories();
    const { clock } = histories;
    histories.respond = (range) =>
      Math.round((clock.now() - range.start) / DAY_MS) === 3
        ? failure('execution', 'block not found')
        : matrix(range);
    const scaler = scalerWith({ lead: '120s' });
    await histories.after(60, scaler);

    expect((await histories.after(60, scaler))?.seasons).toHaveLength(7);
  });

  it('takes the highest load from the seasons if its query is refused', async () => {
    const history = await known((range) =>
      range.query.startsWith('max_over_time') ? failure('execution', 'too many samples') : matrix(range),
    );

    expect(history).toMatchObject({ highest: 100, unusable: null });
  });

  it('keeps the last answers for an hour more, and is silent after that', async () => {
    const histories = new Histories();
    const scaler = scalerWith({ lead: '120s' });
    await histories.after(60, scaler);
    histories.respond = () => failure('connection', 'connection refused');
    for (let minute = 0; minute < 58; minute += 1) await histories.after(60, scaler);
    expect((await histories.after(60, scaler))?.seasons).toHaveLength(8);

    for (let minute = 0; minute < 62; minute += 1) await histories.after(60, scaler);
    expect(await histories.after(60, scaler)).toMatchObject({
      seasons: [],
      unusable: expect.stringContaining('connection refused'),
    });
    // With pauses from 1 to 15 minutes.
    expect(histories.reasons.filter((reason) => reason === 'connection').length).toBeLessThan(20);
  });

  it('is read again when the source is back', async () => {
    const histories = new Histories();
    histories.respond = () => failure('connection', 'connection refused');
    const scaler = scalerWith({ lead: '120s' });
    await histories.after(120, scaler);
    histories.respond = (range) => matrix(range);
    for (let minute = 0; minute < 5; minute += 1) await histories.after(60, scaler);

    expect((await histories.after(60, scaler))?.seasons).toHaveLength(8);
  });

  it('is a clock that was set: the seasons of another time are left out, and read again', async () => {
    const histories = new Histories();
    const scaler = scalerWith({ lead: '120s' });
    await histories.after(60, scaler);
    histories.clock.jump(12 * 3600);
    expect((await histories.after(60, scaler))?.seasons ?? []).toEqual([]);

    expect((await histories.after(60, scaler))?.seasons).toHaveLength(8);
  });
});

describe('the query of a history', () => {
  const queryOf = async (metric: object, overrides: Partial<SourceConfig> = {}): Promise<string> => {
    const histories = new Histories(overrides);
    await histories.after(60, scalerWith({ lead: '120s' }, [metric]));
    return histories.asked[0]?.query ?? '';
  };
  const PODS = 'pod=~"web-[a-z0-9]+';

  it('selects only the pods of the workload, if the resource query keeps pods apart', async () => {
    const cpu =
      'sum by (namespace, pod, container) (rate(cpu{namespace=~"$namespaces", container!=""}[$window]))';
    const query = await queryOf(CPU, { resourceQueries: { cpu } });

    expect(query).toContain('namespace=~"shop", pod=~"web-');
    expect(query).toContain('"promscaler_target", "yes", "pod", "web-');
  });

  it('marks the pods of the workload in the result of any other query', async () => {
    const query = await queryOf(CPU, { resourceQueries: { cpu: 'namespace_pod:cpu:rate1m' } });

    expect(query).not.toContain(PODS);
    expect(query).toMatch(/^sum by \(promscaler_target\) \(label_replace\(namespace_pod:cpu:rate1m\n/);
  });

  it('is of one container for a metric of a container', async () => {
    const metric = {
      type: 'ContainerResource',
      containerResource: {
        name: 'cpu',
        container: 'app',
        target: { type: 'Utilization', averageUtilization: 60 },
      },
    };

    expect(await queryOf(metric)).toMatch(/^sum by \(promscaler_target, container\) /);
  });

  it('shows each minute of the next hour from the same answers, without a query', async () => {
    const histories = new Histories();
    // A rise by 1 each minute of the day; the clock is at 12:01 when the history is read.
    histories.respond = (range) => matrix(range, (minute) => minute);
    const scaler = scalerWith({ lead: '120s' });
    expect(histories.ahead(scaler)).toBeNull();
    await histories.after(60, scaler);
    const known = await histories.after(0, scaler);
    const asked = histories.asked.length;

    const ahead = histories.ahead(scaler);

    expect(ahead?.history).toBe(known);
    expect(ahead?.later).toHaveLength(60);
    const [first, , third] = ahead?.later ?? [];
    expect(first).toMatchObject({ at: Date.parse('2026-03-02T12:02:00Z'), seconds: -60 });
    expect(ahead?.later.at(-1)).toMatchObject({ at: Date.parse('2026-03-02T13:01:00Z'), seconds: 3480 });
    // A decision a minute later plans for a load that is higher by 1.
    expect(third?.seconds).toBe(60);
    expect(third?.seasons).toHaveLength(8);
    expect(third?.seasons.map(({ at, load }) => ({ at: at - 60_000, load: load - 1 }))).toEqual(
      known?.seasons.map(({ at, load }) => ({ at, load })),
    );
    expect(ahead?.later.every(({ seasons }) => seasons.length === 8)).toBe(true);
    expect(histories.asked).toHaveLength(asked);
    expect(histories.ahead(scalerWith(undefined))).toBeNull();
  });

  it('adds up only the series of the target', async () => {
    const histories = new Histories();
    histories.respond = (range) => {
      const [own, other] = ['yes', undefined].map((target) =>
        matrix(
          range,
          () => (target === undefined ? 900 : 7),
          target === undefined ? {} : { promscaler_target: target },
        ),
      );
      const series = [own, other].flatMap((one) => (one?.class === 'matrix' ? one.series : []));
      return { class: 'matrix', series };
    };
    const scaler = scalerWith({ lead: '120s' }, [CPU]);
    await histories.after(60, scaler);

    expect(await histories.after(0, scaler)).toMatchObject({ highest: 7 });
  });
});
