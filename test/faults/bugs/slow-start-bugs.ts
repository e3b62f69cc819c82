import { bug, edit, type Bug } from './bug.js';

/** Bugs of the fields for slow starts. */
export const SLOW_START_BUGS: readonly Bug[] = [
  bug(
    'starting-pods-doubled-again',
    { by: ['I34'], when: [], features: ['slow-starts'] },
    edit(
      'decision/proposals/saturation.js',
      'ceilCount(settings.factor * ready)',
      'ceilCount(settings.factor * target.specReplicas)',
    ),
    edit('decision/proposals/saturation.js', 'served > GROWTH * before ?', 'true ?'),
    edit('decision/proposals/saturation.js', 'before.step !== null &&', 'false &&'),
  ),
  bug(
    'missing-ceiling-is-none',
    { by: ['I35'], when: ['query-missing'], features: ['slow-starts'] },
    edit(
      'decision/limits/ceiling.js',
      'return last === undefined ? null : { replicas: last, error };',
      'return null;',
    ),
  ),
  bug(
    'ceiling-scales-down',
    { by: ['I3'], when: [], features: ['slow-starts'] },
    edit('decision/limits/limits.js', 'ceiling === null || replicas <= current ||', 'ceiling === null ||'),
    edit('decision/limits/limits.js', 'Math.max(current, ceiling.replicas)', 'ceiling.replicas'),
  ),
  bug(
    'capacity-forgotten-at-a-restart',
    { by: ['I3'], when: ['crash', 'query-missing'], features: ['slow-starts'] },
    edit(
      'decision/snapshot/judge-sample.js',
      `return partial === null ? errorSample('missing', 'the capacity has no value') : null;`,
      'return null;',
    ),
    edit('control/memory/measured-capacity.js', `if (metric.autoCapacity.mode !== 'Use')`, 'if (true)'),
    edit(
      'control/memory/stored-memory.js',
      'scaleEvents, zeroedBySelf, capacities } = entry;',
      'scaleEvents, zeroedBySelf } = entry; const capacities = undefined;',
    ),
  ),
];
