import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { statusRow } from '../../src/cli/status/status-row.js';
import { buildObjectStatus } from '../../src/control/status/object-status.js';
import { verdictOf } from '../../src/dashboard/scaler/model/headline.js';
import { isSeverity } from '../../src/dashboard/ui/severities.js';
import { STATES, STATE_NAMES } from '../../src/decision/severity.js';
import type { Problem } from '../../src/scaler/problems/problem.js';
import { viewRow } from '../../src/server/overview/overview-rows.js';
import { viewScaler } from '../../src/server/pages/views.js';
import { createChartPoints } from '../../src/telemetry/chart-points.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import type { LedgerEntry } from '../../src/telemetry/ledger.js';
import { createRecords } from '../../src/telemetry/records.js';
import { shortTimes } from '../../src/cli/output/lines.js';
import { SCALER_SERIES } from '../../src/telemetry/scaler-series.js';
import { rejectionsOf } from '../../src/telemetry/rejections.js';
import { formatInstant, type Instant } from '../../src/units/time.js';
import { runCli } from '../cli/fake-io.js';
import { appOf, listen } from '../cli/live-service.js';
import type { Listening } from '../cli/live-service.js';
import { object, problem, verdict } from '../control/status/status-builder.js';
import { at, T0 } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { metricsOf, record } from './record-builder.js';
import { STATE_CASES } from './state-cases.js';
import { decided, paused, type RecordOf } from './state-records.js';

const NAMED = STATE_CASES.map(([what, state, cause, make, other = {}], index) => {
  return { what, state, cause, make, name: `s${index}`, ...other };
});

function problemsOf({ rejection, name }: (typeof NAMED)[number]): readonly Problem[] {
  if (rejection === undefined) return [];
  return [problem({ message: rejection, path: 'spec.metric', scaler: `shop/${name}` })];
}

/** The parts of the answers of the API that a client shows. */
interface Detail {
  readonly name: string;
  readonly state: Parameters<typeof verdictOf>[0];
  readonly decision: Parameters<typeof verdictOf>[1];
  readonly outcome: Parameters<typeof verdictOf>[2];
}

describe(`the state of ${NAMED.length} scalers`, () => {
  const records = createRecords(new ManualClock());
  let service: Listening;
  let table: ReadonlyMap<string, readonly string[]>;
  let exposed: readonly string[];

  const read = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${service.url}/api/v1/${path}`)).json()) as T;

  beforeAll(async () => {
    for (const { name, make } of NAMED) records.ledger.add(make(name));
    const problems = NAMED.flatMap(problemsOf);
    records.ledger.setRejections(rejectionsOf(problems), T0);
    const page = String(Buffer.concat([...(await metricsOf(records.ledger).render())]));
    exposed = page.split('\n').filter((line) => line.startsWith('promscaler_scaler_state{'));
    service = await listen(appOf(records.ledger, records, { problems: () => problems }));
    const { stdout } = await runCli(['status', '--url', service.url], { clock: new ManualClock() });
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    table = new Map(rows.map(([, name = '', ...cells]) => [name, cells]));
  });

  afterAll(() => service.close());

  it.each(NAMED)('$what: $state in the API, the CLI, the page, the status and the metric', async (one) => {
    const { name, state, cause, until = null } = one;

    const detail = await read<Detail>(`scalers/shop/${name}`);
    const list = await read<{ readonly items: readonly Detail[] }>('scalers');
    const overview = await read<{ readonly rows: readonly Detail[] }>('overview');
    const last = records.ledger.get(`shop/${name}`);
    const scaler = last?.scaler ?? null;
    const written = buildObjectStatus({
      object: object({ name }),
      verdict: verdict({ scaler, problems: problemsOf(one) }),
      last,
      now: T0,
    });
    const explained = await runCli(['explain', `shop/${name}`, '--url', service.url]);

    const expected = { name: state, severity: STATES[state], cause, until };
    expect(detail.state).toMatchObject(expected);
    expect(list.items.find((item) => item.name === name)?.state).toEqual(detail.state);
    expect(overview.rows.find((row) => row.name === name)?.state).toEqual(detail.state);
    expect({ state: written.state, cause: written.cause ?? null }).toEqual({ state, cause });
    expect(table.get(name)?.slice(4, 5)).toEqual([state]);
    expect(table.get(name)?.[6] ?? '').toContain(shortTimes(cause ?? '', T0));
    expect(verdictOf(detail.state, detail.decision, detail.outcome, null).name).toBe(state);
    expect(isSeverity(detail.state.severity)).toBe(true);
    expect(exposed.filter((line) => line.includes(`scaler="${name}"`))).toEqual([
      `promscaler_scaler_state{namespace="shop",scaler="${name}",state="${state}",severity="${STATES[state]}"} 1`,
    ]);
    if (detail.decision !== null) expect(explained.stdout).toMatch(new RegExp(`^state: ${state}\\b`, 'm'));
  });

  it('covers each state; only the object of a document without an effect is Invalid', () => {
    const seen = new Set(NAMED.map(({ state }) => state));

    expect(STATE_NAMES.filter((name) => !seen.has(name))).toEqual(['Invalid']);
    const invalid = buildObjectStatus({
      object: object(),
      verdict: verdict({ scaler: null, problems: [problem({ message: 'unknown field', path: '' })] }),
      last: null,
      now: T0,
    });
    expect(invalid).toMatchObject({ state: 'Invalid', cause: 'unknown field' });
  });
});

describe('a state that nothing else of the scaler suggests', () => {
  const calm = createLedger().add(record()).after;
  const status: LedgerEntry = {
    ...calm,
    history: [],
    shownState: { name: 'RateLimited', severity: 'held', cause: 'because', until: at(60) },
    stateSince: at(-60),
  };
  const shown = {
    name: 'RateLimited',
    severity: 'held',
    cause: 'because',
    since: formatInstant(at(-60)),
    until: formatInstant(at(60)),
  };

  it('is what the API, the overview, the status and the CLI show: none of them decides itself', () => {
    const view = viewScaler(status);

    expect([view.state, viewRow(status, { replicas: [] }).state]).toEqual([shown, shown]);
    expect(buildObjectStatus({ object: object(), verdict: verdict(), last: status, now: T0 })).toMatchObject({
      state: 'RateLimited',
      stateSince: '2025-12-31T23:59:00Z',
      cause: 'because',
    });
    const json = JSON.parse(JSON.stringify(view)) as Parameters<typeof statusRow>[0];
    expect(statusRow(json, T0)).toMatchObject({ state: 'RateLimited', since: '1m', severity: 'held' });
  });
});

it('has the count of a pause that keeps one as the desired count, not that of the decision', () => {
  const { pause } = paused({ replicas: 4 });
  const kept = { ...decided({ percent: 83 })('web'), pause };
  const { after } = createLedger().add(kept);
  const chartPoints = createChartPoints();
  const exposed: number[] = [];

  const written = buildObjectStatus({ object: object(), verdict: verdict(), last: after, now: T0 });
  chartPoints.add(kept);
  const chart = chartPoints.read(kept.scaler.key, { since: null, limit: 1, stepSeconds: null });
  SCALER_SERIES.desiredReplicas(after, (_, value) => exposed.push(value));

  expect([chart?.points[0]?.counts[1], ...exposed]).toEqual([4, 4]);
  expect([viewScaler(after).desiredReplicas, viewRow(after, { replicas: [] }).desired]).toEqual([4, 4]);
  expect(written).toMatchObject({ currentReplicas: 4, desiredReplicas: 4 });
});

describe('since', () => {
  const problems = [problem({ scaler: 'shop/web', message: 'unknown field', path: '' })];
  const rejections = rejectionsOf(problems);
  const rejection = rejections.get('shop/web') ?? null;

  /** A scaler that stays in a state from 00:00:00 on, and whose document is rejected between 7 s and 40 s. */
  function rejectedFor33Seconds(one: RecordOf): readonly (readonly [string, string | null])[] {
    const ledger = createLedger();
    const seen: [string, string | null][] = [];
    const see = (until: Rejected): void => {
      const { after } = ledger.add({ ...one('web'), at: until.at });
      const { name, since } = viewScaler(after).state;
      const written = buildObjectStatus({
        object: object({ createdAt: null }),
        verdict: verdict({ scaler: after.scaler, problems: until.rejection === null ? [] : problems }),
        last: after,
        now: until.at,
      });
      expect([written.state, written.stateSince]).toEqual([name, since?.replace('.000Z', 'Z')]);
      seen.push([name, since]);
    };
    see({ at: at(0), rejection: null });
    ledger.setRejections(rejections, at(7));
    see({ at: at(15), rejection });
    see({ at: at(30), rejection });
    ledger.setRejections(new Map(), at(40));
    see({ at: at(45), rejection: null });
    return seen;
  }
  interface Rejected {
    readonly at: Instant;
    readonly rejection: typeof rejection;
  }

  it('is the start of the last run of the state: a rejection of 33 s in between starts it again', () => {
    expect(rejectedFor33Seconds(decided({}))).toEqual([
      ['OK', formatInstant(at(0))],
      ['Rejected', formatInstant(at(7))],
      ['Rejected', formatInstant(at(7))],
      ['OK', formatInstant(at(40))],
    ]);
  });

  it('stays for a state that takes precedence over the rejection', () => {
    const atMaximum = decided({ percent: 90, spec: { maxReplicas: 4 } });

    expect(rejectedFor33Seconds(atMaximum)).toEqual(
      Array.from({ length: 4 }, () => ['AtMaximum', formatInstant(at(0))]),
    );
  });

  it('is the cycle after which the rejection shows, if another state took precedence until then', () => {
    const ledger = createLedger();
    ledger.setRejections(rejections, at(7));
    ledger.add({ ...decided({ percent: 90, spec: { maxReplicas: 4 } })('web'), at: at(15) });
    const { after } = ledger.add({ ...decided({})('web'), at: at(30) });

    expect(viewScaler(after).state).toMatchObject({
      name: 'Rejected',
      since: formatInstant(at(30)),
    });
  });

  it('of a rejection is what an earlier process has stored', () => {
    const stored = (state: string) => () => ({ state, stateSince: at(-300), conditions: [] });
    const [invalid, ok] = ['Invalid', 'OK'].map((state) => {
      const ledger = createLedger({ earlierTimes: stored(state) });
      ledger.setRejections(rejections, at(7));
      ledger.setRejections(rejections, at(30));
      return ledger;
    });

    expect(invalid?.rejectedSince('shop/web')).toBe(at(-300));
    expect(ok?.rejectedSince('shop/web')).toBe(at(7));
    ok?.setRejections(new Map(), at(45));
    expect(ok?.rejectedSince('shop/web')).toBeNull();
  });
});
