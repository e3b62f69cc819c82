import { bug, edit, type Bug, type Edit } from './bug.js';
import { LOOK_AHEAD_BUGS } from './look-ahead-bugs.js';
import { SHARDING_BUGS } from './sharding-bugs.js';
import { SLOW_START_BUGS } from './slow-start-bugs.js';

const TO_SAMPLE = 'export function toSample(metric, answer, context) {';

/** Replaces each value of an answer with the result of an expression over `one`, its series. */
function withValues(expression: string): Edit {
  const replaced = `{ ...given, columns: undefined, series: given.series?.map((one) => ({ ...one, value: ${expression} })) }`;
  return edit(
    'prometheus/samples.js',
    TO_SAMPLE,
    `export function toSample(metric, given, context) { const answer = ${replaced};`,
  );
}

const ZERO = `{ form: 'values', at: context.now, values: [0], partial: null }`;

/** Each of these has happened in some project, or nearly in this one. */
export const BUGS: readonly Bug[] = [
  bug(
    'empty-read-as-zero',
    { by: ['I2'], when: ['missing'] },
    edit(
      'prometheus/samples.js',
      `if (answer.class === 'failed')`,
      `if (answer.class === 'missing') return ${ZERO}; if (answer.class === 'failed')`,
    ),
  ),
  bug(
    'failure-read-as-zero',
    { by: ['I2'], when: ['failed', 'down'] },
    edit(
      'prometheus/samples.js',
      `if (answer.class === 'failed')`,
      `if (answer.class === 'failed') return ${ZERO}; if (answer.class === 'failed')`,
    ),
  ),
  bug(
    'nan-read-as-zero',
    { by: ['I2'], when: ['nan'] },
    withValues('Number.isNaN(one.value) ? 0 : one.value'),
  ),
  bug(
    'negative-taken-for-a-value',
    { by: ['I2'], when: ['negative'] },
    withValues('one.value < 0 ? 0 : one.value'),
  ),
  bug(
    'part-taken-for-the-whole',
    { by: ['I2'], when: ['partial'] },
    edit('prometheus/samples.js', `return answer.class === 'partial' ? answer.why : null;`, 'return null;'),
  ),
  bug(
    'lowers-while-a-metric-fails',
    { by: ['I2'], when: ['failed', 'down'] },
    edit('decision/decide.js', '(!pick.isTrusted && pick.replicas < snapshot.target.specReplicas)', 'false'),
  ),
  bug(
    'recovery-hold-ignored',
    { by: ['I2'], when: ['wiped', 'missing'] },
    edit('decision/limits/limits.js', 'if (until === null ||', 'if (true ||'),
  ),
  bug(
    'young-server-trusted',
    { by: ['I2'], when: ['wiped', 'restarted'] },
    edit('prometheus/recovery-hold.js', '&& isYoung(startTime)', '&& false'),
  ),
  bug(
    'emptied-engine-trusted',
    { by: ['I2'], when: ['emptied'] },
    edit('prometheus/source/history-watch.js', 'again > before || !isTenthGone(left)', 'true'),
  ),
  bug(
    'lost-store-trusted',
    { by: ['I2'], when: ['store-lost'] },
    edit('prometheus/source/history-watch.js', '|| !isTenthGone(left)', '|| left > 0'),
  ),
  bug(
    'loss-forgotten',
    { by: ['I2'], when: ['emptied'] },
    edit('prometheus/recovery-hold.js', '|| isYoung(loss.at)', ''),
  ),
  bug(
    'old-samples-trusted',
    { by: ['I2'], when: ['lagging'] },
    edit('prometheus/queries/sample-ages.js', 'if (maxAgeOf(metric, checked.config) === 0)', 'if (true)'),
  ),
  bug(
    'failing-scrapes-trusted',
    { by: ['I2'], when: ['unscraped'] },
    edit(
      'prometheus/source/judge-ages.js',
      'if (ageSeconds === null) return 1;',
      'if (ageSeconds === null) return 0;',
    ),
  ),
  bug(
    'one-queue-for-all-namespaces',
    { by: ['I14'], when: ['hostile-tenant'] },
    edit('prometheus/source/fair-slots.js', 'if (payer === null)', 'if (true)'),
  ),
  bug(
    'stabilization-skipped',
    { by: ['I3', 'I24'], when: [] },
    edit(
      'decision/limits/limits.js',
      `{ name: 'stabilization', apply: stabilize }`,
      `{ name: 'stabilization', apply: () => null }`,
    ),
  ),
  bug(
    'first-count-forgotten',
    { by: ['I24'], when: ['crash', 'restart'] },
    edit(
      'decision/next-state.js',
      'state.recommendations ?? [{ at: now, replicas: target.specReplicas }]',
      'state.recommendations ?? []',
    ),
  ),
  bug(
    'maximum-skipped',
    { by: ['I1'], when: ['document-changed'] },
    edit('decision/limits/limits.js', `apply: limitToMaxReplicas }`, 'apply: () => null }'),
  ),
  bug(
    'scale-up-limit-skipped',
    { by: ['I23'], when: ['down', 'hang'] },
    edit('decision/limits/limits.js', 'apply: applyScaleUpLimit }', 'apply: () => null }'),
  ),
  bug(
    'policies-skipped',
    { by: ['I23'], when: [] },
    edit('decision/limits/limits.js', 'apply: applyPolicies }', 'apply: () => null }'),
  ),
  bug(
    'windows-skipped',
    { by: ['I4'], when: [] },
    edit('decision/limits/limits.js', 'apply: applyForbiddenWindow }', 'apply: () => null }'),
  ),
  bug(
    'window-of-the-other-direction-forgotten',
    { by: ['I5'], when: [] },
    edit('decision/limits/forbidden-window.js', 'const last = isAny ?', 'const last = false ?'),
  ),
  bug(
    'stored-state-not-read',
    { by: ['I4', 'I5', 'I23'], when: ['crash', 'restart'] },
    edit(
      'control/memory/stored-memory.js',
      'return { ...fresh, uid, state, assumedAt: reading.since, unresolved: intent, capacities };',
      'return { ...fresh, uid, state: EMPTY_STATE, unresolved: null, capacities };',
    ),
  ),
  bug(
    'intent-skipped',
    { by: ['I6'], when: [] },
    edit('control/cycle/change.js', 'wasUnannounced ? null : await ports.announce(intent);', 'null;'),
  ),
  bug(
    'lost-answer-forgotten',
    { by: ['I4', 'I5', 'I23'], when: ['applied-lost', 'applied-504'] },
    edit(
      'control/cycle/change.js',
      'const unresolved = UNKNOWN_OUTCOME.includes(error.kind) ? progress.sent : null;',
      'const unresolved = null;',
    ),
  ),
  bug(
    'change-under-a-foreign-one-not-counted',
    { by: ['I23'], when: ['applied-lost', 'foreign-storm'], hours: 24 },
    edit(
      'control/memory/unresolved-change.js',
      'isOurs ? [change] : widestChanges(unresolved)',
      'isOurs ? [change] : []',
    ),
  ),
  bug(
    'no-preconditions',
    { by: ['I9'], when: [] },
    edit(
      'kubernetes/scale.js',
      'body: { metadata: { uid, resourceVersion }, spec: { replicas } }',
      'body: { spec: { replicas } }',
    ),
  ),
  bug(
    'no-uid',
    { by: ['I9'], when: [] },
    edit(
      'kubernetes/scale.js',
      'body: { metadata: { uid, resourceVersion }, spec: { replicas } }',
      'body: { metadata: { resourceVersion }, spec: { replicas } }',
    ),
  ),
  bug(
    'patches-the-current-count',
    { by: ['I8'], when: [] },
    edit('control/cycle/change.js', `if (toApply.action === 'none') {`, 'if (false) {'),
  ),
  bug(
    'other-autoscaler-fought',
    { by: ['I30'], when: ['hpa-appears'] },
    edit(
      'control/cycle/holds.js',
      'const other = chooseOther(spec, { sharesTargetWith, hpa: otherScaler });',
      'const other = null;',
    ),
  ),
  bug(
    'deleted-scaler-goes-on',
    { by: ['I28'], when: ['document-removed'] },
    edit('control/controller.js', 'if (keys.has(key)) continue;', 'continue;'),
  ),
  bug(
    'empty-directory-taken-for-unreadable',
    { by: ['I28'], when: ['documents-emptied'] },
    edit(
      'config/document-set.js',
      '(error === null ? [] : [path])',
      '(error === null && files.length > 0 ? [] : [path])',
    ),
    edit('config/document-set.js', 'contents: { path, error } })', 'contents: { path, error, files } })'),
  ),
  bug(
    'refusal-believed-at-once',
    { by: ['I18'], when: ['api-restart'] },
    edit('kubernetes/requests/retry.js', 'const BELIEVED_MS = 15_000;', 'const BELIEVED_MS = 0;'),
    edit('kubernetes/requests/retry.js', 'const BELIEVED_TRIES = 4;', 'const BELIEVED_TRIES = 1;'),
  ),
  bug(
    'room-not-waited-for',
    { by: ['I16'], when: ['rate-limited'] },
    edit('control/cycle/change.js', 'const waitMs = rateLimitMs(error);', 'const waitMs = null;'),
  ),
  bug(
    'retry-after-not-waited-for',
    { by: ['I16'], when: ['rate-limited'] },
    edit('kubernetes/requests/retry.js', 'return Math.max(', 'return 10; return Math.max('),
  ),
  bug(
    'stale-cache-trusted',
    { by: ['I19'], when: ['silent', 'refused', 'hang', 'status'] },
    edit(
      'control/cycle/observe.js',
      'const STALE_CACHE_SECONDS = 180;',
      'const STALE_CACHE_SECONDS = Infinity;',
    ),
  ),
  bug(
    'silent-watch-kept',
    { by: ['I12', 'I18'], when: ['silent'] },
    edit('kubernetes/watch/reflector.js', 'const IDLE_MS = 150_000;', 'const IDLE_MS = 2_000_000_000;'),
  ),
  bug(
    'version-of-an-error-taken',
    { by: ['I27'], when: ['error'] },
    edit(
      'kubernetes/watch/watch-events.js',
      `if (type === 'ERROR') {`,
      `if (type === 'ERROR') return { type: 'bookmark', object, resourceVersion: textIn(objectIn(object, 'metadata'), 'resourceVersion') ?? '' }; if (type === 'ERROR') {`,
    ),
  ),
  bug(
    'old-list-asked-for',
    { by: ['I27'], when: [] },
    edit(
      'kubernetes/watch/list-pages.js',
      '{ limit: PAGE_SIZE,',
      `{ limit: PAGE_SIZE, resourceVersion: '0',`,
    ),
  ),
  bug(
    'old-events-believed',
    { by: ['I18'], when: ['replay'] },
    edit(
      'kubernetes/watch/object-store.js',
      'const isOutdated = (object) => {',
      'const isOutdated = (object) => { return false;',
    ),
  ),
  bug(
    'no-back-off',
    { by: ['I16'], when: ['refused', 'status'] },
    edit('kubernetes/requests/retry.js', 'return waitMs;', 'return 0;'),
  ),
  bug(
    'a-failure-ends-the-loop',
    { by: ['I22'], when: ['applied-lost', 'unapplied-lost'] },
    edit(
      'control/controller.js',
      'entry.isRunning = false; inFlight.end(); }',
      'entry.isRunning = entry.memory.unresolved !== null; inFlight.end(); }',
    ),
  ),
  bug(
    'surprise-is-thrown',
    { by: ['I15'], when: ['nan'] },
    edit(
      'prometheus/samples.js',
      TO_SAMPLE,
      `${TO_SAMPLE} if (answer.series?.some((one) => Number.isNaN(one.value))) throw new Error('NaN');`,
    ),
  ),
  bug(
    'each-reload-starts-another-loop',
    { by: ['I17', 'I16'], when: ['document-changed'] },
    edit('control/controller.js', 'if (!loops.has(period))', 'if (true)'),
  ),
  bug(
    'renew-deadline-in-the-wrong-unit',
    { by: ['I10', 'I11'], when: ['lease hang', 'lease refused', 'lease status'] },
    edit(
      'control/election/term.js',
      'const deadlineMs = times.renewDeadlineSeconds * 1000;',
      'const deadlineMs = times.renewDeadlineSeconds * 1_000_000;',
    ),
  ),
  bug(
    'snapshot-without-events',
    { by: ['I21'], when: [] },
    edit('decision/result/write-json.js', 'scaleEvents: state.scaleEvents.map(', 'scaleEvents: [].map('),
  ),
  ...SHARDING_BUGS,
  ...SLOW_START_BUGS,
  ...LOOK_AHEAD_BUGS,
];
