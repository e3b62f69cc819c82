import { bug, edit, type Bug } from './bug.js';

/** Bugs of forecasts and of nightly back-tests. */
export const LOOK_AHEAD_BUGS: readonly Bug[] = [
  bug(
    'forecast-lowers',
    { by: ['I3'], when: [], features: ['forecasts'] },
    edit(
      'decision/forecast/forecast.js',
      'isUsed ? Math.max(recommended, proposed.replicas) : recommended',
      'proposed.replicas ?? recommended',
    ),
  ),
  bug(
    'recommendation-applied',
    { by: ['I36'], when: [], features: ['recommendations'] },
    edit(
      'service/service.js',
      'keep: ledger.keepRecommendation,',
      `keep: (scaler, found) => {
        const spec = { ...scaler.spec, ...(found.patch === null ? {} : JSON.parse(found.patch).spec) };
        scalers = scalers.map((one) => (one === scaler ? { ...scaler, spec } : one));
        setOwnScalers();
        return ledger.keepRecommendation(scaler, found);
      },`,
    ),
  ),
  bug(
    'rounds-wait-for-back-tests',
    { by: ['I22', 'I14'], when: [], features: ['recommendations'] },
    edit(
      'service/run-term.js',
      'const recommending = ports.recommend(signal);',
      'const recommending = Promise.race([ports.recommend(signal), new Promise((ended) => ports.clock.after(600_000, ended))]); await recommending;',
    ),
  ),
  bug(
    'back-tested-again-in-the-same-night',
    { by: ['I37'], when: [], features: ['recommendations'] },
    edit('recommendations/recommendations.js', 'due.entry.night = due.night;', ''),
  ),
  bug(
    'back-tests-at-the-same-time',
    { by: ['I37'], when: [], features: ['recommendations'] },
    edit(
      'recommendations/recommendations.js',
      'await test(due.entry, signal);',
      'void test(due.entry, signal);',
    ),
    edit('recommendations/recommendations.js', 'await unlessAborted(last, signal);', ''),
  ),
  bug(
    'back-test-of-a-lost-bucket-goes-on',
    { by: ['I38'], when: ['gone', 'crash'], features: ['recommendations'], shards: 3 },
    edit('recommendations/recommendations.js', 'running.stop.abort();', 'void 0;'),
  ),
];
