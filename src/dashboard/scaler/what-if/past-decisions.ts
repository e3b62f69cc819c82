import type { SnapshotAnswer } from '../../../api/answers.js';
import { ApiError } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { decisionsRequest, snapshotRequest } from '../../data/requests.js';
import type { DecisionEntry } from '../model/answers.js';
import { decideWith } from './decide-with.js';

export interface PastInput {
  readonly entry: Pick<DecisionEntry, 'firstAt' | 'lastAt' | 'count'>;
  /** Desired replicas of the service. */
  readonly desired: number;
  readonly snapshot: SnapshotAnswer;
}

/** A decision that another document would have changed. */
export interface OtherDecision extends PastInput {
  readonly current: number;
  readonly other: number;
}

export interface Comparison {
  readonly different: readonly OtherDecision[];
  /** Lowest and highest desired count, as it was and with the other document. */
  readonly was: readonly [number, number];
  readonly other: readonly [number, number];
}

/**
 * Decides each input again with another document. Each starts from the replicas, pods and windows of its snapshot, so
 * the decisions do not influence each other. Null: there is no input, or the document is rejected.
 */
export function compareDecisions(inputs: readonly PastInput[], document: unknown): Comparison | null {
  const made = inputs.flatMap((input) => {
    const { decision } = decideWith(input.snapshot, document);
    if (decision === null) return [];
    return [{ ...input, current: decision.currentReplicas, other: decision.desiredReplicas }];
  });
  if (made.length === 0) return null;
  const range = (counts: readonly number[]): readonly [number, number] => [
    Math.min(...counts),
    Math.max(...counts),
  ];
  return {
    different: made.filter(({ desired, other }) => desired !== other),
    was: range(made.map(({ desired }) => desired)),
    other: range(made.map(({ other }) => other)),
  };
}

const MOST = 40;
const AT_ONCE = 5;

/** Reads the newest decisions at or before `at` (RFC 3339) with their inputs, as far as the service keeps them. */
export async function readPastInputs(
  api: Api,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  at: string,
  signal: AbortSignal,
): Promise<readonly PastInput[]> {
  const { items } = await api.read(decisionsRequest(namespace, name, { at, limit: MOST }), signal);
  const inputs: PastInput[] = [];
  const read = async ({ firstAt, lastAt, count, decision }: DecisionEntry): Promise<PastInput | null> => {
    if (decision === null) return null;
    const snapshot = await orNull(api.read(snapshotRequest(namespace, name, { at: lastAt }), signal));
    const entry = { firstAt, lastAt, count };
    return snapshot === null ? null : { entry, desired: decision.desiredReplicas, snapshot };
  };
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const found = await Promise.all(items.slice(start, start + AT_ONCE).map(read));
    inputs.push(...found.filter((input) => input !== null));
    // Older snapshots are dropped first.
    if (found.at(-1) === null) break;
  }
  return inputs;
}

/** Returns null for a snapshot that is no longer kept. */
async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not-found') return null;
    throw error;
  }
}
