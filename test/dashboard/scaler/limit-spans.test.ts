import { expect, it } from '@jest/globals';
import type { PastDecision } from '../../../src/dashboard/scaler/model/answers.js';
import { limitSpans } from '../../../src/dashboard/scaler/model/timeline.js';
import { decision, entry } from './decisions.js';

const START = Date.parse('2026-01-01T10:00:00Z') / 1000;

const at = (minute: number, ...limits: readonly PastDecision['limits'][number]['limit'][]) =>
  entry({
    firstAt: `2026-01-01T10:0${minute}:00Z`,
    decision: decision({
      limits: limits.map((limit) => ({ limit, from: 9, to: 6, reason: '', until: null })),
    }),
  });

it('lasts from a decision to the next one, for the last limit that changed the result, or for none', () => {
  const entries = [at(5), at(4, 'policy', 'max_replicas'), at(2, 'stabilization'), at(1), at(0)];

  expect(limitSpans(entries, START + 360)).toEqual([
    { from: START, to: START + 120, limit: null, severity: 'ok' },
    { from: START + 120, to: START + 240, limit: 'stabilization', severity: 'ok' },
    { from: START + 240, to: START + 300, limit: 'max_replicas', severity: 'ok' },
    { from: START + 300, to: START + 360, limit: null, severity: 'ok' },
  ]);
});

it('is one for consecutive decisions with the same limit, ends now, and is missing without a decision', () => {
  const entries = [at(4, 'policy'), at(2, 'policy'), entry({ decision: null })];

  expect(limitSpans(entries, START + 300)).toEqual([
    { from: START + 120, to: START + 300, limit: 'policy', severity: 'ok' },
  ]);
});

it('is empty for a decision that is later than the clock of the browser', () => {
  expect(limitSpans([at(1, 'policy')], START + 59)).toEqual([
    { from: START + 60, to: START + 60, limit: 'policy', severity: 'ok' },
  ]);
});

it('has the color of its most urgent state', () => {
  const state = { ...entry().state, name: 'AtMaximum', severity: 'cannot-follow' } as const;
  const entries = [at(4, 'max_replicas'), { ...at(3, 'max_replicas'), state }, at(2, 'max_replicas')];

  expect(limitSpans(entries, START + 300)).toEqual([
    { from: START + 120, to: START + 300, limit: 'max_replicas', severity: 'cannot-follow' },
  ]);
});
