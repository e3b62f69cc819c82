import type { Request, RequestHandler, Response } from 'express';
import type { OverviewRow } from '../../../src/api/answers.js';
import { decide } from '../../../src/decision/decide.js';
import { EMPTY_STATE, listUsage } from '../../../src/decision/snapshot/snapshot.js';
import type { LoadAhead } from '../../../src/decision/forecast/propose-forecast.js';
import type { LoadHistory, Pod, Sample, Snapshot, State } from '../../../src/decision/snapshot/snapshot.js';
import { shownQueries } from '../../../src/prometheus/queries/compile-queries.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import type { AppParts } from '../../../src/server/app.js';
import { ANYBODY, SEES_ALL, admit } from '../../../src/server/access/viewer.js';
import { rowRange, viewRow } from '../../../src/server/overview/overview-rows.js';
import {
  listDecisions,
  showForecast,
  showHistory,
  showScaler,
  showSnapshot,
} from '../../../src/server/pages/scaler-pages.js';
import type { Origin } from '../../../src/server/pages/scaler-pages.js';
import type { CycleRecord, Outcome } from '../../../src/telemetry/cycle-record.js';
import { createRecords, type Records } from '../../../src/telemetry/records.js';
import { failed, failureAt } from '../../../src/units/failure.js';
import { addSeconds, type Instant, instantFromMs } from '../../../src/units/time.js';
import { partsOf } from '../../server/app-parts.js';
import type { Generations } from '../../../src/decision/rejection.js';
import { aSource, scalerOf } from '../../support/builders.js';
import { FakeFailure } from './fake-service.js';
import type { FakeAnswer } from './fake-service.js';

export interface Story {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly namespace?: string;
  /** The newest version of the document. */
  readonly newest?: ReturnType<Origin['newest']>;
  /** Default: the document is a file, which has no generation. */
  readonly generations?: Generations;
  /** Of the UI of Prometheus. */
  readonly externalUrl?: string;
  readonly podName?: (index: number) => string;
  readonly rounds: number;
  readonly startReplicas: number;
  /** The sample of each metric of the document in a round. */
  readonly samples: (round: Round) => readonly Sample[];
  /** What is known of earlier days in a round. */
  readonly loadHistory?: (round: Round) => LoadHistory;
  /** What is expected after the last round. */
  readonly loadAhead?: (now: Instant) => LoadAhead;
  /** The rounds that a new pod needs to become ready; default: 0. */
  readonly startRounds?: number;
  /** Changes the pods, which are ready otherwise. */
  readonly pods?: (pods: readonly Pod[], round: Round) => readonly Pod[];
  readonly change?: (record: CycleRecord, round: Round) => Partial<CycleRecord>;
  /** Whether a wanted change is applied; default: yes. */
  readonly outcome?: (wanted: Outcome, round: Round) => Outcome;
}

export interface Round {
  readonly index: number;
  readonly rounds: number;
  readonly now: Instant;
  readonly pods: readonly Pod[];
}

const PERIOD_SECONDS = 15;
const CONFIG = '/etc/promscaler/config/promscaler.yaml';

/** Decides round after round up to now, and returns the answers of the API: the code of the service makes them. */
export function tellStory(story: Story): Readonly<Record<string, FakeAnswer>> {
  return tellWithRow(story).answers;
}

/** Returns the row of the overview as well. */
export function tellWithRow(story: Story): {
  readonly answers: Readonly<Record<string, FakeAnswer>>;
  readonly row: OverviewRow;
} {
  const {
    name = 'web',
    namespace = 'shop',
    rounds,
    newest = { documentText: null, rejectedChanges: [] },
    externalUrl = 'https://prometheus.example.com',
    generations,
  } = story;
  const scaler = scalerOf(story.spec, { name, namespace });
  const records = createRecords(SYSTEM_CLOCK);
  const end = Math.floor(Date.now() / 1000) * 1000;
  let state: State = EMPTY_STATE;
  let replicas = story.startReplicas;
  const counts: number[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const now = addSeconds(instantFromMs(end), (index + 1 - rounds) * PERIOD_SECONDS);
    const made = decideRound(story, scaler, {
      index,
      now,
      state,
      replicas,
      started: Math.min(...counts.slice(Math.max(0, index - (story.startRounds ?? 0))), replicas),
    });
    counts.push(replicas);
    const change = records.ledger.add(made.record);
    const before = change.before?.record.snapshot ?? null;
    if (before !== null && change.after.count === 1) records.archive.keep(change.after.key, before);
    records.chartPoints.add(made.record);
    state = made.state;
    replicas = made.replicas;
  }
  const key = `${namespace}/${name}`;
  const status = records.ledger.get(key);
  if (status === null) throw new Error('a story has at least one round');
  const recent = records.chartPoints.recentReplicas(key, rowRange(status.record.at));
  const origin: Origin = {
    file: `/etc/promscaler/scalers/${name}.yaml`,
    doctor: `kubectl exec -n monitoring promscaler-7d9f5c6b8-x2x9z -- promscaler doctor ${key} --config ${CONFIG}`,
    newest: () => newest,
  };
  return {
    row: viewRow(status, { replicas: recent }),
    answers: answersOf(records, key, {
      originOf: () => origin,
      ...(generations === undefined ? {} : { generationsOf: () => generations }),
      queriesOf: (one) => shownQueries(one, new Map([['default', { ...aSource(), externalUrl }]])),
      grafanaUrl: 'https://grafana.example.com/d/promscaler-scaler',
      loadAhead: () => story.loadAhead?.(instantFromMs(end)) ?? null,
    }),
  };
}

/** Returns the answers of the API about a scaler with these records: the code of the service makes them. */
export function answersOf(
  records: Records,
  key: string,
  parts: Partial<AppParts['api']> = {},
): Readonly<Record<string, FakeAnswer>> {
  const [namespace = '', name = ''] = key.split('/');
  const { api } = partsOf(records, { api: parts });
  const answer = (page: RequestHandler): FakeAnswer => answerOf(page, { namespace, name });
  return {
    [`scalers/${key}`]: answer(showScaler(api)),
    [`scalers/${key}/decisions`]: answer(listDecisions(api)),
    [`scalers/${key}/snapshot`]: answer(showSnapshot(api)),
    [`scalers/${key}/history`]: answer(showHistory(api)),
    [`scalers/${key}/forecast`]: answer(showForecast(api)),
    [`scalers/${key}/events`]: () => ({ items: [] }),
  };
}

interface Before {
  readonly index: number;
  readonly now: Instant;
  readonly state: State;
  readonly replicas: number;
  /** How many of the replicas have started. */
  readonly started: number;
}

function decideRound(
  story: Story,
  scaler: Scaler,
  { index, now, state, replicas, started }: Before,
): { readonly record: CycleRecord; readonly state: State; readonly replicas: number } {
  const podName =
    story.podName ?? ((pod: number) => `${scaler.name}-7d9f5c6b8-${String(pod).padStart(5, '0')}`);
  const plain = { index, now, rounds: story.rounds, pods: readyPods(replicas, now, podName) };
  const running = plain.pods.map((pod, at) => (at < started ? pod : { ...pod, ready: false }));
  const pods = story.pods?.(running, plain) ?? running;
  const round: Round = { ...plain, pods };
  const snapshot: Snapshot = {
    scaler,
    now,
    target: { specReplicas: replicas, statusReplicas: replicas },
    pods,
    samples: story.samples(round),
    ...(story.loadHistory === undefined ? {} : { loadHistory: story.loadHistory(round) }),
    state,
  };
  const decision = decide(snapshot);
  const { desiredReplicas: to } = decision;
  const wanted: Outcome = { kind: to === replicas ? 'none' : 'patched', from: replicas, to, message: '' };
  const outcome = story.outcome?.(wanted, round) ?? wanted;
  const record: CycleRecord = {
    scaler,
    at: now,
    snapshot,
    decision,
    outcome,
    conditions: decision.conditions,
    pause: null,
    dryRun: false,
    seconds: { observe: 0.012, decide: 0.0002, act: 0 },
  };
  return {
    record: { ...record, ...story.change?.(record, round) },
    state: decision.state,
    replicas: outcome.kind === 'patched' ? to : replicas,
  };
}

function readyPods(count: number, now: Instant, podName: (index: number) => string): readonly Pod[] {
  const since = addSeconds(now, -3600);
  return Array.from({ length: count }, (_, index) => ({
    name: podName(index),
    phase: 'Running',
    deleting: false,
    startTime: since,
    ready: true,
    readyChangedAt: since,
    requests: new Map([
      [
        'app',
        new Map([
          ['cpu', 1000n],
          ['memory', 1_073_741_824_000n],
        ]),
      ],
    ]),
    podRequests: null,
  }));
}

/** The same value for each pod that is not left out. */
export function podsSample(
  { now, pods }: Round,
  total: number,
  isMissing: (name: string) => boolean = () => false,
): Sample {
  const sampled = pods.filter(({ name }) => !isMissing(name));
  return {
    form: 'containers',
    at: addSeconds(now, -5),
    partial: null,
    windowSeconds: 60,
    ...listUsage(new Map(sampled.map(({ name }) => [name, new Map([['app', total / pods.length]])]))),
  };
}

export function totalSample({ now }: Round, value: number): Sample {
  return { form: 'values', at: addSeconds(now, -5), partial: null, values: [value] };
}

/** The data source does not accept connections. */
export function refusedSample(source: string, host: string): Sample {
  return {
    form: 'error',
    failure: { ...failureAt(host, failed('connection', 'connection refused')), source },
  };
}

/** Runs a page of the service without a server. */
function answerOf(page: RequestHandler, params: Readonly<Record<string, string>>): FakeAnswer {
  return (url) => {
    let status = 200;
    let body: unknown = null;
    const response = {
      status: (code: number) => {
        status = code;
        return response;
      },
      type: () => response,
      send: (text: string) => {
        body = JSON.parse(text);
      },
      json: (value: unknown) => {
        body = JSON.parse(JSON.stringify(value));
      },
    };
    const request = { params, query: Object.fromEntries(url.searchParams) } as unknown as Request;
    admit(request, SEES_ALL, ANYBODY);
    void page(request, response as unknown as Response, () => undefined);
    return status === 200 ? body : new FakeFailure(status, (body as { error: string }).error);
  };
}
