import type {
  ApiMode,
  Fault,
  RequestGroup,
  SourceMode,
  WatchMode,
  ClusterMode,
} from './simulation/faults.js';
import { scheduleShardFaults } from './schedule-shards.js';
import { scheduleSlowStarts } from './schedule-slow-starts.js';
import { createRandom, type Random } from './simulation/random.js';

type Kind = 'api' | 'patch' | 'watch' | 'source' | 'process' | 'target' | 'document';

interface Draw {
  readonly random: Random;
  readonly startMs: number;
  readonly replicas: number;
}

const TARGETS = ['web', 'api', 'worker', 'cart'] as const;
/** Usual duration of a fault: seconds, from and to. */
const SHORT = [2, 60] as const;
const LONG = [60, 1800] as const;
const LEAD_MS = 15 * 60_000;

interface Plan {
  readonly durationMs: number;
  readonly replicas: number;
  /** Whether the replicas share the scalers; unset: one replica is the leader. */
  readonly isSharded?: boolean;
  /** Whether the documents have the fields for slow starts, so that their faults are drawn; default: false. */
  readonly isSlow?: boolean;
  /** Only faults of these modes, with calm of at most a quarter of an hour; default: all. */
  readonly modes?: readonly string[];
}

/**
 * Schedules the faults of a seed: spells of one to four at a time, and between them calm of a few minutes to an hour
 * and a half, in which every count must become right again. The last half hour is calm.
 */
export function scheduleFaults(seed: number, plan: Plan): readonly Fault[] {
  const { durationMs, replicas, isSharded = false, isSlow = false, modes = [] } = plan;
  const random = createRandom(seed).fork('schedule');
  const longestCalm = modes.length === 0 ? 90 : 15;
  const faults: Fault[] = [];
  let startMs = LEAD_MS + random.between(0, LEAD_MS);
  const isDrawn = modes.length === 0 || modes.some((mode) => !LATER_MODES.has(mode));
  while (isDrawn && startMs < durationMs - 2 * LEAD_MS) {
    const count = random.pick([1, 1, 1, 2, 2, 3, 4]);
    let endMs = startMs;
    for (let index = 0; index < count; index += 1) {
      const draw = { random, startMs: startMs + random.between(0, 120_000), replicas };
      let fault = drawFault(draw);
      while (!isAmong(fault, modes)) fault = drawFault(draw);
      faults.push(fault);
      endMs = Math.max(endMs, fault.endMs);
    }
    startMs = endMs + random.between(3, longestCalm) * 60_000;
  }
  faults.push(
    ...drawApart(seed, plan, { stream: 'more faults', everyMinutes: 480, draw: drawLater }),
    ...drawApart(seed, plan, { stream: 'lost stores', everyMinutes: 360, draw: lostStore }),
    ...drawApart(seed, plan, { stream: 'late samples', everyMinutes: 120, draw: lateSamples }),
    ...drawApart(seed, plan, { stream: 'hostile tenants', everyMinutes: 120, draw: hostileTenant }),
  );
  if (modes.length === 0 || modes.includes('suspended')) faults.push(...suspensions(seed, plan));
  const isBusy = modes.length > 0;
  if (isSlow) faults.push(...scheduleSlowStarts(seed, { durationMs, isBusy }));
  if (isSharded) faults.push(...scheduleShardFaults(seed, { durationMs, replicas, isBusy }));
  return faults.filter(({ endMs }) => endMs < durationMs - 2 * LEAD_MS);
}

/**
 * Draws faults one after the other, at most this many minutes apart, from their own random stream, so that the other
 * faults of a seed do not change.
 */
function drawApart(
  seed: number,
  { durationMs, replicas, modes = [] }: Plan,
  given: {
    readonly stream: string;
    readonly everyMinutes: number;
    readonly draw: (draw: Draw) => Fault;
  },
): readonly Fault[] {
  const random = createRandom(seed).fork(given.stream);
  const faults: Fault[] = [];
  for (let startMs = LEAD_MS; ;) {
    startMs += random.between(10, modes.length === 0 ? given.everyMinutes : 45) * 60_000;
    const fault = given.draw({ random, startMs, replicas });
    if (fault.endMs >= durationMs - 2 * LEAD_MS) return faults;
    if (isAmong(fault, modes)) faults.push(fault);
    startMs = fault.endMs;
  }
}

/**
 * Suspends machines one after the other: with several replicas, the first one leads again while it remembers changes of
 * its earlier term. From its own random stream, so that the other faults of a seed do not change.
 */
function suspensions(seed: number, { durationMs, replicas, modes = [] }: Plan): readonly Fault[] {
  const random = createRandom(seed).fork('suspensions');
  const faults: Fault[] = [];
  for (let startMs = LEAD_MS; startMs < durationMs;) {
    startMs += random.between(5, modes.length === 0 ? 240 : 20) * 60_000;
    for (let replica = 0; replica < replicas; replica += 1) {
      const draw = { random, startMs, replicas };
      const time = span(draw, random.pick([SHORT, [20, 600] as const]));
      const target = random.pick(TARGETS);
      faults.push({ ...time, kind: 'cluster', replica, target, what: { mode: 'suspended' } });
      startMs = time.endMs + random.between(5, 60) * 1000;
    }
  }
  return faults;
}

const LATER_MODES: ReadonlySet<string> = new Set([
  'api-restart',
  'documents-emptied',
  'hostile-tenant',
  'lagging',
  'never-ready',
  'query-missing',
  'rate-limited',
  'store-lost',
  'suspended',
]);

/** Draws a fault that was observed at a real API server or mounted directory. */
function drawLater(draw: Draw): Fault {
  const { random } = draw;
  switch (random.pick(['restart', 'empty', 'busy'] as const)) {
    case 'restart': {
      const what = { mode: 'api-restart', forbiddenMs: random.between(200, 2000) } as const;
      return { ...clusterFault(draw, what), ...span(draw, [5, 300]) };
    }
    case 'empty':
      return { ...clusterFault(draw, { mode: 'documents-emptied' }), ...span(draw, [60, 1200]) };
    case 'busy': {
      const what = { mode: 'rate-limited' } as const;
      const place = { kind: 'api', group: 'patch', replica: null, probability: 0.7 } as const;
      return { ...span(draw, [300, 2400]), ...place, what };
    }
  }
}

/** For less than 15 minutes, after which a store counts as removed on purpose. */
function lostStore(draw: Draw): Fault {
  const { random } = draw;
  const what = { mode: 'store-lost', percent: random.integer(10, 60) } as const;
  return { ...span(draw, [30, 840]), kind: 'source', source: random.pick(['default', 'queues']), what };
}

/** From what changes nothing to almost the whole range of a query: 20 s, half of 2 and 5 minutes, and 5 s less. */
const LAGS_SECONDS = [20, 60, 115, 150, 295] as const;

/** Samples that arrive late, as by remote write that is behind, or never, because scrapes fail. */
function lateSamples(draw: Draw): Fault {
  const { random } = draw;
  const percent = random.pick([50, 100]);
  const what = random.pick<SourceMode>([
    { mode: 'lagging', percent, seconds: random.pick(LAGS_SECONDS) },
    { mode: 'lagging', percent, seconds: random.pick(LAGS_SECONDS) },
    { mode: 'unscraped', percent },
  ]);
  return { ...span(draw, [60, 1200]), kind: 'source', source: random.pick(['default', 'queues']), what };
}

function hostileTenant(draw: Draw): Fault {
  const way = draw.random.pick(['slow', 'forbidden', 'too-large', 'many'] as const);
  return { ...clusterFault(draw, { mode: 'hostile-tenant', way }), ...span(draw, [60, 900]) };
}

/** Matches `refused`, or `lease refused` for requests of only one group. */
function isAmong(fault: Fault, modes: readonly string[]): boolean {
  const { mode } = fault.what;
  const group = fault.kind === 'api' ? fault.group : fault.kind;
  return modes.length === 0 || modes.includes(mode) || modes.includes(`${group} ${mode}`);
}

function drawFault(draw: Draw): Fault {
  const kind = draw.random.pick<Kind>([
    'api',
    'patch',
    'patch',
    'watch',
    'watch',
    'source',
    'source',
    'source',
    'process',
    'process',
    'target',
    'target',
    'document',
  ]);
  switch (kind) {
    case 'api':
      return apiFault(draw);
    case 'patch':
      return patchFault(draw);
    case 'watch':
      return watchFault(draw);
    case 'source':
      return sourceFault(draw);
    case 'process':
      return clusterFault(draw, processMode(draw.random));
    case 'target':
      return clusterFault(draw, targetMode(draw.random));
    case 'document':
      return clusterFault(draw, documentMode(draw.random));
    default:
      return kind satisfies never;
  }
}

/** Returns a short or a long span from `startMs`; occasionally one that only a single request meets. */
function span({ random, startMs }: Draw, [from, to]: readonly [number, number] = random.pick([SHORT, LONG])) {
  return { startMs, endMs: startMs + random.between(from, to) * 1000 };
}

function apiFault(draw: Draw): Fault {
  const { random, replicas } = draw;
  const groups: readonly RequestGroup[] = [
    'all',
    'all',
    'scale',
    'list',
    'watch',
    'lease',
    'state',
    'events',
    'hpa',
  ];
  const status = (code: number, retryAfter: string | null = null): ApiMode => ({
    mode: 'status',
    status: code,
    retryAfter,
  });
  const what = random.pick<ApiMode>([
    { mode: 'refused' },
    { mode: 'hang' },
    { mode: 'slow', delayMs: random.between(500, 9000) },
    status(500),
    status(503, '2'),
    status(429, random.pick(['1', '5', '9999', '0'])),
    status(401),
    status(403),
  ]);
  return {
    ...span(draw),
    kind: 'api',
    group: random.pick(groups),
    replica: replicas > 1 && random.chance(0.4) ? random.integer(0, replicas - 1) : null,
    what,
    probability: random.pick([1, 1, 0.5]),
  };
}

/** Lasts long enough for a write to occur. */
function patchFault(draw: Draw): Fault {
  const { random } = draw;
  const what = random.pick<ApiMode>([
    { mode: 'applied-lost' },
    { mode: 'unapplied-lost' },
    { mode: 'applied-504' },
    { mode: 'unapplied-504' },
    { mode: 'late-504', delayMs: random.between(1000, 20_000) },
    { mode: 'status', status: 409, retryAfter: null },
    { mode: 'status', status: 422, retryAfter: null },
    { mode: 'slow', delayMs: random.between(500, 9500) },
  ]);
  return {
    ...span(draw, [120, 2400]),
    kind: 'api',
    group: 'patch',
    replica: null,
    what,
    probability: random.pick([1, 0.5]),
  };
}

function watchFault(draw: Draw): Fault {
  const { random } = draw;
  const what = random.pick<WatchMode>([
    { mode: 'end-at-once' },
    { mode: 'http-410' },
    { mode: 'error', code: 410, reason: 'Expired' },
    { mode: 'error', code: 500, reason: 'InternalError' },
    { mode: 'error', code: 0, reason: 'Whatever' },
    { mode: 'garbage' },
    { mode: 'silent' },
    { mode: 'no-bookmarks' },
    { mode: 'replay' },
  ]);
  return { ...span(draw), kind: 'watch', resource: random.pick([null, 'pods', 'deployments']), what };
}

function sourceFault(draw: Draw): Fault {
  const { random } = draw;
  const what = random.pick<SourceMode>([
    { mode: 'down' },
    { mode: 'restarted' },
    { mode: 'wiped' },
    { mode: 'wiped' },
    { mode: 'emptied' },
    { mode: 'emptied' },
    { mode: 'hang' },
    { mode: 'slow', delayMs: random.between(500, 9000) },
    {
      mode: 'failed',
      reason: random.pick(['server_error', 'rate_limited', 'bad_answer', 'execution'] as const),
    },
    { mode: 'missing' },
    { mode: 'nan' },
    { mode: 'infinite' },
    { mode: 'negative' },
    { mode: 'partial' },
    { mode: 'unscraped', percent: random.integer(10, 60) },
    { mode: 'skewed', seconds: random.pick([-600, -90, 90, 600]) },
    { mode: 'second-replica' },
  ]);
  return { ...span(draw), kind: 'source', source: random.pick(['default', 'default', 'queues']), what };
}

function clusterFault(draw: Draw, what: ClusterMode): Fault {
  const { random, replicas } = draw;
  return {
    ...span(draw),
    kind: 'cluster',
    replica: random.integer(0, replicas - 1),
    target: random.pick(TARGETS),
    what,
  };
}

function processMode(random: Random): ClusterMode {
  const groups: readonly RequestGroup[] = ['patch', 'patch', 'scale', 'state', 'lease', 'all'];
  return random.pick<ClusterMode>([
    { mode: 'crash', point: null },
    {
      mode: 'crash',
      point: { step: random.pick(['sending', 'sent', 'answered'] as const), group: random.pick(groups) },
    },
    { mode: 'restart' },
    { mode: 'stopped' },
    { mode: 'clock-jump', seconds: random.pick([-10, 10, -50, 50, -3600, 3600]) },
  ]);
}

function targetMode(random: Random): ClusterMode {
  return random.pick<ClusterMode>([
    { mode: 'pods-crash', percent: random.integer(10, 60) },
    { mode: 'node-lost', percent: random.integer(10, 60) },
    { mode: 'slow-start', seconds: random.integer(20, 120) },
    { mode: 'recreate' },
    { mode: 'foreign-write', factor: random.pick([0.5, 0.7, 1.5]) },
    { mode: 'foreign-storm', periodMs: random.between(3000, 60_000), factor: random.pick([0.8, 1.2]) },
    { mode: 'status-churn', periodMs: random.between(50, 2000) },
    { mode: 'hpa-appears' },
  ]);
}

function documentMode(random: Random): ClusterMode {
  return random.pick<ClusterMode>([
    { mode: 'document-changed', maxReplicas: random.integer(5, 20) },
    { mode: 'document-removed' },
    { mode: 'compaction' },
  ]);
}
