import type { ScalerDetail, ScalerState } from '../../../api/answers.js';
import { headlineOf } from '../../../decision/headline.js';
import { nameOtherScaler } from '../../../decision/pause.js';
import type { Outcome, PastDecision } from './answers.js';

interface Verdict {
  readonly name: ScalerState['name'];
  /** When the state ends, in RFC 3339; null: it does not end automatically. */
  readonly until: string | null;
  /**
   * What ends the state, as a clause after "until", such as `spec.paused is removed`; null: it ends automatically, or
   * that is unknown.
   */
  readonly end: string | null;
  readonly result: string;
}

/**
 * Returns the parts of the headline of a decision. `facts` is null for a past decision, because only the current facts
 * are known.
 */
export function verdictOf(
  state: ScalerState,
  decision: PastDecision | null,
  outcome: Outcome,
  facts: EndingFacts | null,
): Verdict {
  const { name, until, cause } = state;
  return { name, until, end: endOf(state, facts), result: resultText(decision, outcome, cause) };
}

/** Returns the result, such as `stays at 10, not 17: maxReplicas is 10`. Omits the limit if `cause` contains it. */
export function resultText(decision: PastDecision | null, outcome: Outcome, cause: string | null): string {
  if (decision === null) return 'no decision';
  const { change, limit } = headlineOf(decision, outcome);
  return limit === null || (cause ?? '').includes(limit) ? change : `${change}: ${limit}`;
}

/**
 * Returns the part of the reason about what the metrics measured. The result and its limits are removed, because they
 * are shown next to it.
 */
export function measuredOf(reason: string): string {
  return reason.replace(/(?:^|: )(?:stays at \d+|\d+ -> \d+)(?:[,;].*)?$/, '');
}

type EndingFacts = Pick<ScalerDetail, 'conflictingWriter' | 'otherScaler' | 'pause' | 'document'>;

/**
 * Returns what ends a conflict, a pause or a dry run, as a clause such as `spec.paused is removed`; null: the state
 * ends automatically, or that is unknown.
 */
export function endOf({ name, until }: ScalerState, facts: EndingFacts | null): string | null {
  if (until !== null || facts === null) return null;
  const { conflictingWriter, otherScaler, pause, document } = facts;
  if (name === 'Conflict') {
    if (otherScaler !== null) return deletionOf(otherScaler, 'and');
    const managers = conflictingWriter?.managers.join(', ') ?? '';
    return conflictingWriter === null
      ? 'the webhook allows the change'
      : `${managers === '' ? 'the other client' : managers} stops`;
  }
  if (name === 'Paused' && pause !== null)
    return pause.by === 'document' ? 'spec.paused is false' : 'it is resumed';
  if (name !== 'DryRun' && name !== 'NoAutoscaler') return null;
  if (name === 'NoAutoscaler' && otherScaler !== null)
    return otherScaler.second === undefined
      ? `${nameOtherScaler(otherScaler)} has desired replicas`
      : deletionOf(otherScaler, 'or');
  const { spec } = document as { readonly spec?: { readonly dryRun?: unknown } };
  return spec?.dryRun === true ? 'spec.dryRun is false' : 'the service runs without --dry-run';
}

function deletionOf(other: NonNullable<EndingFacts['otherScaler']>, word: 'and' | 'or'): string {
  const { second } = other;
  if (second === undefined) return `${nameOtherScaler(other)} is deleted`;
  const both = `${nameOtherScaler(other)} ${word} ${nameOtherScaler(second)}`;
  return `${both} ${word === 'and' ? 'are' : 'is'} deleted`;
}
