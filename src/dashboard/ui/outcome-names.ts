import type { ServiceStatus } from '../../api/answers.js';

type OutcomeKind = ServiceStatus['lastOutcomes'][number]['outcome']['kind'];

/** Names of the results of a decision. */
export const OUTCOME_NAMES: Readonly<Record<OutcomeKind, string>> = {
  none: 'No change',
  patched: 'Changed',
  replaced: 'Replaced',
  'dry-run': 'Dry run',
  paused: 'Paused',
  held: 'Held back',
  conflict: 'Conflict',
  failed: 'Failed',
};
