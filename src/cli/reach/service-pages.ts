import type { ApiClient } from '../../api/read-answer.js';
import type {
  DecisionEntry,
  DecisionList,
  HistoryAnswer,
  ScalerDetail,
  SnapshotAnswer,
} from '../../api/answers.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { formatInstant, type Instant, parseInstant } from '../../units/time.js';

export interface ScalerName {
  readonly namespace: string;
  readonly name: string;
}

export interface ReadScaler {
  readonly snapshot: SnapshotAnswer;
  readonly detail: ScalerDetail;
  readonly isOneCycle: boolean;
}

/** What the service still has about the decision that was in effect at an earlier instant. */
export interface PastScaler {
  readonly keptFrom: string;
  /** Null: the service has only decisions after the instant. */
  readonly entry: DecisionEntry | null;
  /** Null: the service has no snapshot of the decision. `missing`: the reason. */
  readonly snapshot: SnapshotAnswer | null;
  readonly missing: string | null;
  /** The history since the start of the entry; null: there is none. */
  readonly history: HistoryAnswer | null;
  readonly lastScaleUp: string | null;
  readonly lastScaleDown: string | null;
}

/** The start of the service's message for an unknown path. */
export const NO_SUCH_PAGE = 'there is no such page';

const MOST_TRIES = 3;

/** Reads snapshot and details of a scaler. If a cycle has finished between the two requests, tries again. */
export async function readOneCycle(api: ApiClient, { namespace, name }: ScalerName): Promise<ReadScaler> {
  for (let tries = 1; ; tries += 1) {
    const snapshot = await api('showSnapshot', { namespace, name });
    const detail = await api('showScaler', { namespace, name });
    const isOneCycle = snapshot.now === detail.at;
    if (isOneCycle || tries === MOST_TRIES) return { snapshot, detail, isOneCycle };
  }
}

export async function readPast(
  api: ApiClient,
  { namespace, name }: ScalerName,
  instant: Instant,
): Promise<PastScaler> {
  const at = formatInstant(instant);
  const scaler = { namespace, name };
  for (let tries = 1; ; tries += 1) {
    const { keptFrom, items } = await api('listDecisions', { ...scaler, at, limit: '1' });
    const [entry] = items;
    if (entry === undefined) return { ...NOTHING, keptFrom };
    const found = entry.decision === null ? NO_SNAPSHOT : await readSnapshotAt(api, scaler, at);
    // The snapshot can belong to a later cycle, which finished between the two requests, but only for the newest entry.
    const isOneCycle = found.snapshot === null || found.snapshot.now === entry.lastAt;
    if (!isOneCycle && tries < MOST_TRIES) continue;
    const history = await orNull(api('showHistory', { ...scaler, since: entry.firstAt }));
    const changes = await api('listDecisions', { ...scaler, at, changes: 'true', limit: '100' });
    const now = await orNull(api('showScaler', scaler));
    return { keptFrom, entry, ...found, history, ...withEarlier(lastChanges(changes), now, instant) };
  }
}

const NO_SNAPSHOT = { snapshot: null, missing: null } as const;
const NOTHING = {
  entry: null,
  ...NO_SNAPSHOT,
  history: null,
  lastScaleUp: null,
  lastScaleDown: null,
} as const;

async function readSnapshotAt(
  api: ApiClient,
  scaler: ScalerName,
  at: string,
): Promise<Pick<PastScaler, 'snapshot' | 'missing'>> {
  try {
    return { snapshot: await api('showSnapshot', { ...scaler, at }), missing: null };
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { snapshot: null, missing: responseOf(error) };
  }
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns whether the error is a 404 for a known path: the scaler or the decision does not exist. */
export function isMissing(error: unknown): error is KubernetesError {
  return (
    error instanceof KubernetesError && error.kind === 'not_found' && !error.message.includes(NO_SUCH_PAGE)
  );
}

function responseOf({ message }: KubernetesError): string {
  const status = ': 404 Not Found: ';
  const start = message.indexOf(status);
  return start < 0 ? message : message.slice(start + status.length);
}

type LastChanges = Pick<PastScaler, 'lastScaleUp' | 'lastScaleDown'>;

/** Adds changes from the current status that precede `instant`, because the service forgets changes in a restart. */
function withEarlier(known: LastChanges, now: ScalerDetail | null, instant: Instant): LastChanges {
  const before = (field: keyof LastChanges): string | null => {
    const time = now?.[field] ?? '';
    const at = parseInstant(time);
    return at !== null && at <= instant ? time : null;
  };
  return {
    lastScaleUp: known.lastScaleUp ?? before('lastScaleUp'),
    lastScaleDown: known.lastScaleDown ?? before('lastScaleDown'),
  };
}

function lastChanges({ items }: DecisionList): LastChanges {
  const last: { up: string | null; down: string | null } = { up: null, down: null };
  for (const { outcome, lastAt: at } of items) {
    const { kind, from, to } = outcome;
    if ((kind !== 'patched' && kind !== 'replaced') || from === null || to === null || from === to) continue;
    if (to > from) last.up ??= at;
    else last.down ??= at;
  }
  return { lastScaleUp: last.up, lastScaleDown: last.down };
}
