import type { SnapshotAnswer } from '../../../api/answers.js';
import { ApiError } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { decisionsRequest, snapshotRequest } from '../../data/requests.js';
import type { DecisionEntry } from '../model/answers.js';
import { decideWith } from './decide-with.js';

export interface PastInput {
  readonly entry: Pick<DecisionEntry, 'firstAt' | 'lastAt' | 'count'>;
  /** The desired replicas that the service has decided. */
  readonly desired: number;
  readonly snapshot: SnapshotAnswer;
}

/** A past decision that would be different with another document. */
export interface OtherDecision extends PastInput {
  readonly current: number;
  readonly other: number;
}

export interface Comparison {
  readonly different: readonly OtherDecision[];
  /** The lowest and the highest desired count, as decided (`was`) and with the other document (`other`). */
  readonly was: readonly [number, number];
  readonly other: readonly [number, number];
}

/**
 * Decides again on each input with another document. Each decision starts with the replicas, pods and windows of its
 * own snapshot, so that the decisions do not influence each other. Null: there is no input, or the document is invalid.
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

/** Returns the inputs of decisions that were in effect within a time range in Unix seconds. */
export function inputsWithin(
  inputs: readonly PastInput[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly PastInput[] {
  return inputs.filter(
    ({ entry: { firstAt, lastAt } }) => Date.parse(lastAt) >= from * 1000 && Date.parse(firstAt) <= to * 1000,
  );
}

const MOST = 100;
const AT_ONCE = 5;

/** Reads the newest decisions at or before `at` (RFC 3339), with their snapshots as far as they are kept. */
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
    // If a snapshot was dropped, all older snapshots were dropped, too.
    if (found.at(-1) === null) break;
  }
  return inputs;
}

/** Returns the answer; null: the service no longer has the snapshot. */
async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not-found') return null;
    throw error;
  }
}
