/**
 * How far a problem reaches. `shape`: the document cannot be given a meaning. `rule`: it has one, which is refused when
 * it is configured, but a snapshot that holds it is still decided. `warning`: it is pointed out.
 */
export type ProblemClass = 'shape' | 'rule' | 'warning';

/** Every code of a problem in a scaler document or the service config, once. */
const CLASSES = {
  'yaml-syntax': 'shape',
  'yaml-alias': 'shape',
  'yaml-tag': 'shape',
  'yaml-size': 'shape',
  'yaml-count': 'shape',
  'too-deep': 'shape',
  'duplicate-key': 'shape',
  'key-not-text': 'shape',
  'reserved-key': 'shape',
  'wrong-kind': 'shape',
  'missing-field': 'shape',
  'unknown-field': 'shape',
  'wrong-type': 'shape',
  'wrong-value': 'shape',
  'wrong-format': 'shape',
  'wrong-quantity': 'shape',
  'out-of-range': 'shape',
  'contradicting-type': 'shape',
  'target-type': 'shape',
  'missing-query': 'shape',
  'missing-metric-name': 'shape',
  'selector-values': 'shape',
  'tolerance-above-one': 'rule',
  'replica-bounds': 'rule',
  'scale-to-zero': 'rule',
  'daemon-set': 'rule',
  'deletion-cost-target': 'rule',
  'duplicate-metric': 'rule',
  'schedule-times': 'shape',
  'schedule-bounds': 'shape',
  'schedule-date': 'shape',
  'unknown-time-zone': 'shape',
  cron: 'shape',
  'duplicate-schedule': 'rule',
  'unknown-variable': 'rule',
  'object-variable': 'rule',
  'query-syntax': 'rule',
  'duplicate-document': 'rule',
  'unknown-source': 'rule',
  'source-not-admitted': 'rule',
  'namespace-not-watched': 'rule',
  'query-unknown': 'warning',
  'never-scales-up': 'warning',
  'missing-is-zero': 'warning',
  'missing-scales-down': 'warning',
  'vector-zero': 'warning',
  'no-pod-label': 'warning',
  'unconfirmed-scale-down': 'warning',
  'schedule-past': 'warning',
  'schedule-always': 'warning',
  'activation-unused': 'warning',
  'wrong-url': 'shape',
  'wrong-settings': 'shape',
  unreadable: 'shape',
  'no-documents': 'warning',
  'not-updated': 'warning',
} as const satisfies Readonly<Record<string, ProblemClass>>;

/** Closed: one for each rule. */
export type ProblemCode = keyof typeof CLASSES;

/** All codes with their class, in the order of the manual. */
export const PROBLEM_CLASSES: Readonly<Record<ProblemCode, ProblemClass>> = CLASSES;
