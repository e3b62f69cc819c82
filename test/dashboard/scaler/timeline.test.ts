import { describe, expect, it } from '@jest/globals';
import type { Change } from '../../../src/dashboard/scaler/model/changes.js';
import { buildTimeline } from '../../../src/dashboard/scaler/model/timeline.js';

const NONE = { lastScaleUp: null, lastScaleDown: null };
const START = Date.parse('2026-01-01T10:00:00Z') / 1000;

function changeAt(seconds: number, label: string): Change {
  const second = START + seconds;
  const isApplied = !label.includes(',');
  const [from = 0, to = 0] = label.split(/ → |,/).map(Number);
  const at = new Date(second * 1000).toISOString();
  return { second, at, from, to, isApplied, isKept: true, label, reason: isApplied ? 'cpu is at 90 %' : '' };
}

function eventAt(seconds: number, reason: string, message = '', count = 1) {
  const at = new Date((START + seconds) * 1000).toISOString();
  return {
    at,
    type: reason.startsWith('Failed') ? ('Warning' as const) : ('Normal' as const),
    reason,
    message,
    count,
  };
}

describe('changes and Events in one list', () => {
  it('are ordered newest first, and a change replaces its Event', () => {
    const changes = [changeAt(0, '4 → 2'), changeAt(60, '4 → 6')];
    const events = [
      eventAt(61, 'SuccessfulRescale', 'New size: 6'),
      eventAt(30, 'FailedGetMetrics', 'no series'),
      eventAt(-60, 'SuccessfulRescale', 'New size: 2'),
    ];

    expect(
      buildTimeline(changes, events, NONE).map(({ title, text, icon, second }) => [
        title,
        text,
        icon,
        second,
      ]),
    ).toEqual([
      ['4 → 6', 'cpu is at 90 %', 'up', START + 60],
      ['FailedGetMetrics', 'no series', 'warning', null],
      ['4 → 2', 'cpu is at 90 %', 'down', START],
      ['SuccessfulRescale', 'New size: 2', 'ok', null],
    ]);
  });

  it('equal ones that follow each other are one item, which counts them', () => {
    const changes = [0, 15, 30].map((seconds) => changeAt(seconds, '3 → 6, dry run'));
    const events = [eventAt(5, 'DryRun', 'would scale', 7), eventAt(4, 'DryRun', 'would scale', 2)];

    expect(buildTimeline(changes, events, NONE)).toMatchObject([
      { title: '3 → 6', text: 'not applied: dry run', count: 2, second: START + 30 },
      { title: 'DryRun', count: 9 },
      { title: '3 → 6', count: 1, second: START },
    ]);
  });

  it('say of a change from the points of the charts that there is no decision to select', () => {
    const change = { ...changeAt(0, '4 → 6'), isKept: false, reason: '' };

    expect(buildTimeline([change], [], NONE)).toMatchObject([
      { title: '4 → 6', text: 'the decision is no longer kept', second: null },
    ]);
  });

  it('has at most 20 items', () => {
    const changes = Array.from({ length: 60 }, (_, index) => changeAt(index, `${index} → ${index + 1}`));

    expect(buildTimeline(changes, [], NONE)).toHaveLength(20);
    expect(buildTimeline(changes, [], NONE)[0]).toMatchObject({ title: '59 → 60' });
  });

  it('have the last scale-up of a document that was added again, whose decisions are lost, and no second one', () => {
    const last = { lastScaleUp: '2026-01-01T09:00:00Z', lastScaleDown: '2026-01-01T10:01:00.500Z' };

    const items = buildTimeline([changeAt(60, '6 → 4')], [], last);

    expect(items.map(({ title, text, lastAt, second }) => [title, text, lastAt, second])).toEqual([
      ['6 → 4', 'cpu is at 90 %', '2026-01-01T10:01:00.000Z', START + 60],
      ['Scale-up', 'the decision is no longer kept', '2026-01-01T09:00:00Z', null],
    ]);
  });
});
