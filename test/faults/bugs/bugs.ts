/** A fault of our own, planted to see whether the checker finds it. */
export interface Bug {
  readonly name: string;
  /** The invariants of which at least one must find it. */
  readonly caughtBy: readonly string[];
  readonly edits: readonly Edit[];
}

interface Edit {
  /** Below `dist`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

function bug(name: string, caughtBy: readonly string[], ...edits: readonly Edit[]): Bug {
  return { name, caughtBy, edits };
}

function edit(file: string, find: string, replace: string): Edit {
  return { file, find, replace };
}

const ZERO = `{ form: 'values', at: context.now, values: [0], partial: null }`;

/** Every one has happened to somebody, or nearly to us. */
export const BUGS: readonly Bug[] = [
  bug(
    'empty-read-as-zero',
    ['I2'],
    edit(
      'prometheus/samples.js',
      `if (answer.class === 'failed' ||`,
      `if (answer.class === 'missing') return withoutDrops(${ZERO}); if (answer.class === 'failed' ||`,
    ),
  ),
  bug(
    'failure-read-as-zero',
    ['I2'],
    edit(
      'prometheus/samples.js',
      `if (answer.class === 'failed' ||`,
      `if (answer.class === 'failed') return withoutDrops(${ZERO}); if (answer.class === 'failed' ||`,
    ),
  ),
  bug(
    'nan-read-as-zero',
    ['I2'],
    edit(
      'prometheus/samples.js',
      'if (Number.isNaN(value)) {',
      'if (Number.isNaN(value)) return 0; if (false) {',
    ),
  ),
  bug(
    'negative-taken-for-a-value',
    ['I2'],
    edit(
      'prometheus/samples.js',
      `return Number.isFinite(value) && value >= 0 ? value : 'invalid';`,
      `return Number.isFinite(value) ? Math.max(0, value) : 'invalid';`,
    ),
  ),
  bug(
    'part-taken-for-the-whole',
    ['I2'],
    edit('prometheus/samples.js', `return answer.class === 'partial' ? answer.why : null;`, 'return null;'),
  ),
  bug(
    'lowers-while-a-metric-fails',
    ['I2'],
    edit('decision/decide.js', '(!pick.isTrusted && pick.replicas < snapshot.target.specReplicas)', 'false'),
  ),
  bug(
    'recovery-hold-ignored',
    ['I2'],
    edit('decision/limits/recovery-hold.js', 'if (until === null ||', 'if (true ||'),
  ),
  bug(
    'young-server-trusted',
    ['I2'],
    edit('prometheus/recovery-hold.js', 'if (startTime !== null && startTime >', 'if (false && startTime >'),
  ),
  bug(
    'stabilization-skipped',
    ['I3', 'I24'],
    edit(
      'decision/limits/limits.js',
      `{ name: 'stabilization', apply: stabilize }`,
      `{ name: 'stabilization', apply: () => null }`,
    ),
  ),
  bug(
    'maximum-skipped',
    ['I1'],
    edit('decision/limits/limits.js', `apply: limitToMaxReplicas }`, 'apply: () => null }'),
  ),
  bug(
    'scale-up-limit-skipped',
    ['I23'],
    edit('decision/limits/limits.js', 'apply: applyScaleUpLimit }', 'apply: () => null }'),
  ),
  bug(
    'policies-skipped',
    ['I23'],
    edit('decision/limits/limits.js', 'apply: applyPolicies }', 'apply: () => null }'),
  ),
  bug(
    'windows-skipped',
    ['I4'],
    edit('decision/limits/limits.js', 'apply: applyForbiddenWindow }', 'apply: () => null }'),
  ),
  bug(
    'window-of-the-other-direction-forgotten',
    ['I5'],
    edit('decision/limits/forbidden-window.js', 'const last = isAny ?', 'const last = false ?'),
  ),
  bug(
    'stored-state-not-read',
    ['I4', 'I5', 'I23'],
    edit(
      'control/stored-memory.js',
      'return { ...fresh, uid, state, unresolved: intent };',
      'return { ...fresh, uid, state: EMPTY_STATE, unresolved: null };',
    ),
  ),
  bug(
    'intent-skipped',
    ['I6'],
    edit('control/act.js', 'wasUnannounced ? null : await ports.announce(intent);', 'null;'),
  ),
  bug(
    'lost-answer-forgotten',
    ['I4', 'I5', 'I23'],
    edit(
      'control/act.js',
      'const unresolved = UNKNOWN_OUTCOME.includes(error.kind) ? progress.sent : null;',
      'const unresolved = null;',
    ),
  ),
  bug(
    'no-preconditions',
    ['I9'],
    edit(
      'kubernetes/scale.js',
      'body: { metadata: { uid, resourceVersion }, spec: { replicas } }',
      'body: { spec: { replicas } }',
    ),
  ),
  bug(
    'no-uid',
    ['I9'],
    edit(
      'kubernetes/scale.js',
      'body: { metadata: { uid, resourceVersion }, spec: { replicas } }',
      'body: { metadata: { resourceVersion }, spec: { replicas } }',
    ),
  ),
  bug(
    'patches-what-is-there',
    ['I8'],
    edit('control/carry-out.js', `if (decision.action === 'none' || hold !== null)`, 'if (hold !== null)'),
  ),
  bug(
    'other-autoscaler-fought',
    ['I30'],
    edit(
      'control/why-held.js',
      'const conflict = input.sharesTargetWith ?? input.otherScaler;',
      'const conflict = null;',
    ),
  ),
  bug(
    'deleted-scaler-goes-on',
    ['I28'],
    edit('control/controller.js', '.filter((old) => !keys.has(old))', '.filter(() => false)'),
  ),
  bug(
    'stale-cache-trusted',
    ['I19'],
    edit('control/observe.js', 'const STALE_CACHE_SECONDS = 180;', 'const STALE_CACHE_SECONDS = Infinity;'),
  ),
  bug(
    'silent-watch-kept',
    ['I12', 'I18'],
    edit('kubernetes/idle-limit.js', 'const IDLE_MS = 150_000;', 'const IDLE_MS = 2_000_000_000;'),
  ),
  bug(
    'version-of-an-error-taken',
    ['I27'],
    edit(
      'kubernetes/watch-events.js',
      `if (type === 'ERROR') {`,
      `if (type === 'ERROR') return { type: 'bookmark', object, resourceVersion: textIn(objectIn(object, 'metadata'), 'resourceVersion') ?? '' }; if (type === 'ERROR') {`,
    ),
  ),
  bug(
    'old-list-asked-for',
    ['I27'],
    edit('kubernetes/list-pages.js', '{ limit: PAGE_SIZE,', `{ limit: PAGE_SIZE, resourceVersion: '0',`),
  ),
  bug(
    'old-events-believed',
    ['I18'],
    edit(
      'kubernetes/ordered-sink.js',
      'const isOutdated = (object) => {',
      'const isOutdated = (object) => { return false;',
    ),
  ),
  bug('no-back-off', ['I16'], edit('kubernetes/backoff.js', 'return waitMs;', 'return 0;')),
  bug(
    'a-failure-ends-the-rhythm',
    ['I22'],
    edit(
      'control/controller.js',
      'entry.isRunning = false; }',
      'entry.isRunning = entry.memory.unresolved !== null; }',
    ),
  ),
  bug(
    'surprise-is-thrown',
    ['I15'],
    edit(
      'prometheus/samples.js',
      'if (Number.isNaN(value)) {',
      `if (Number.isNaN(value)) throw new Error('NaN'); if (false) {`,
    ),
  ),
  bug('deadlines-left-behind', ['I17'], edit('units/clock.js', 'finally { cancel();', 'finally {')),
  bug(
    'write-after-the-term',
    ['I10', 'I11'],
    edit(
      'control/election.js',
      'mayWrite: () => term !== null && term.isValid() && isSteady(),',
      'mayWrite: () => true,',
    ),
  ),
  bug(
    'snapshot-without-events',
    ['I21'],
    edit('decision/write-json.js', 'scaleEvents: state.scaleEvents.map(', 'scaleEvents: [].map('),
  ),
];
