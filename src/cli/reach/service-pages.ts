import { type JsonObject, countIn, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { formatInstant, parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';

/** Reads a page of the service, such as `/api/v1/scalers`. Throws `KubernetesError`. */
export type Get = (page: string, query?: Readonly<Record<string, string>>) => Promise<JsonObject>;

export interface ScalerName {
  readonly namespace: string;
  readonly name: string;
}

export interface ReadScaler {
  /** JSON of a snapshot, not validated. */
  readonly snapshot: JsonObject;
  /** `GET /api/v1/scalers/NAMESPACE/NAME` */
  readonly detail: JsonObject;
  readonly isOneCycle: boolean;
}

/** The decision in effect at an earlier instant, if the service still has it. */
export interface PastScaler {
  readonly keptFrom: string;
  /** Item of `GET .../decisions`; null: the service retains only decisions after the instant. */
  readonly entry: JsonObject | null;
  /** Null if the service has no snapshot of the decision; `missing` is the reason. */
  readonly snapshot: JsonObject | null;
  readonly missing: string | null;
  /** `GET .../history` since the start of the entry; null: none. */
  readonly history: JsonObject | null;
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
}

export const LIST_PAGE = '/api/v1/scalers';
/** Start of the service's response for an unknown path. */
export const NO_SUCH_PAGE = 'there is no such page';

const MOST_TRIES = 3;

function pageOf({ namespace, name }: ScalerName): string {
  return `${LIST_PAGE}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

/** Retries if a cycle finished between the two requests. */
export async function readOneCycle(get: Get, name: ScalerName): Promise<ReadScaler> {
  const page = pageOf(name);
  for (let tries = 1; ; tries += 1) {
    const snapshot = await get(`${page}/snapshot`);
    const detail = await get(page);
    const isOneCycle = textIn(snapshot, 'now') === textIn(detail, 'at');
    if (isOneCycle || tries === MOST_TRIES) return { snapshot, detail, isOneCycle };
  }
}

/** Returns null if the service does not support `?at=`. */
export async function readPast(get: Get, name: ScalerName, instant: Instant): Promise<PastScaler | null> {
  const page = pageOf(name);
  const at = formatInstant(instant);
  for (let tries = 1; ; tries += 1) {
    const list = await get(`${page}/decisions`, { at, limit: '1' });
    const keptFrom = textIn(list, 'keptFrom');
    if (keptFrom === null) return null;
    const [entry = null] = objectsIn(list, 'items');
    if (entry === null) return { ...NOTHING, keptFrom };
    const found = objectIn(entry, 'decision') === null ? NO_SNAPSHOT : await readSnapshotAt(get, page, at);
    // A cycle may have finished between the requests only if the entry is the newest one.
    const isOneCycle = found.snapshot === null || textIn(found.snapshot, 'now') === textIn(entry, 'lastAt');
    if (!isOneCycle && tries < MOST_TRIES) continue;
    const since = textIn(entry, 'firstAt') ?? at;
    const history = await orNull(get(`${page}/history`, { since }));
    const changes = await get(`${page}/decisions`, { at, changes: 'true', limit: '100' });
    const now = await orNull(get(page));
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
  get: Get,
  page: string,
  at: string,
): Promise<{ readonly snapshot: JsonObject | null; readonly missing: string | null }> {
  try {
    return { snapshot: await get(`${page}/snapshot`, { at }), missing: null };
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { snapshot: null, missing: responseOf(error) };
  }
}

async function orNull(reading: Promise<JsonObject>): Promise<JsonObject | null> {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Whether the response is a 404 for a known path: the scaler or the decision does not exist. */
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

/** Adds changes from before the current process of the service: those of the current status that precede `instant`. */
function withEarlier(known: LastChanges, now: JsonObject | null, instant: Instant): LastChanges {
  const before = (field: keyof LastChanges): Instant | null => {
    const at = parseInstant(textIn(now, field) ?? '');
    return at !== null && at <= instant ? at : null;
  };
  return {
    lastScaleUp: known.lastScaleUp ?? before('lastScaleUp'),
    lastScaleDown: known.lastScaleDown ?? before('lastScaleDown'),
  };
}

function lastChanges(list: JsonObject): LastChanges {
  const last: { up: Instant | null; down: Instant | null } = { up: null, down: null };
  for (const entry of objectsIn(list, 'items')) {
    const outcome = objectIn(entry, 'outcome');
    const kind = textIn(outcome, 'kind');
    const [from, to] = [countIn(outcome, 'from'), countIn(outcome, 'to')];
    if ((kind !== 'patched' && kind !== 'replaced') || from === null || to === null || from === to) continue;
    const at = parseInstant(textIn(entry, 'lastAt') ?? '');
    if (to > from) last.up ??= at;
    else last.down ??= at;
  }
  return { lastScaleUp: last.up, lastScaleDown: last.down };
}
