import { describe, expect, it } from '@jest/globals';
import { readPause, stops } from '../../../src/control/cycle/pause.js';
import { type Pause, pauseMessage } from '../../../src/decision/pause.js';
import { addSeconds, instantFromMs, parseInstant } from '../../../src/units/time.js';

const YEAR_2026 = instantFromMs(Date.UTC(2026, 0, 1));

const NOW = addSeconds(YEAR_2026, 12 * 3600);

const byAnnotation = (annotations: Readonly<Record<string, string>>): Pause | null =>
  readPause(
    { paused: false },
    Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`promscaler.dev/${name}`, value])),
    NOW,
  );

const byDocument = (paused: boolean | 'scale-up' | 'scale-down'): Pause | null =>
  readPause({ paused }, {}, NOW);

/** With its message in place of the parts of it. */
function worded(pause: Pause | null): object | null {
  if (pause === null) return null;
  const { by, direction, until, replicas } = pause;
  return { by, direction, until, replicas, message: pauseMessage(pause) };
}

describe('readPause', () => {
  it('returns no pause without annotations and with paused false', () => {
    expect(byDocument(false)).toBeNull();
    expect(byAnnotation({})).toBeNull();
    expect(byAnnotation({ paused: 'false' })).toBeNull();
    expect(byAnnotation({ paused: '' })).toBeNull();
    expect(byAnnotation({ paused: ' False ', 'paused-until': '2026-01-01T13:00:00Z' })).toBeNull();
  });

  it('reads true, or one direction, from the document', () => {
    expect(worded(byDocument(true))).toMatchObject({ direction: 'both', message: 'spec.paused is true' });
    expect(byDocument('scale-down')).toMatchObject({ direction: 'scale-down' });
  });

  it('reads true, or one direction, from the annotation', () => {
    expect(worded(byAnnotation({ paused: 'true' }))).toEqual({
      by: 'annotation',
      direction: 'both',
      until: null,
      replicas: null,
      message: 'scaling is paused by annotation',
    });
    expect(byAnnotation({ paused: 'scale-up' })).toMatchObject({ direction: 'scale-up' });
  });

  it('ends a pause at paused-until, to the second', () => {
    expect(worded(byAnnotation({ paused: 'true', 'paused-until': '2026-01-01T12:00:01Z' }))).toMatchObject({
      until: parseInstant('2026-01-01T12:00:01Z'),
      message: 'scaling is paused by annotation until 2026-01-01T12:00:01Z',
    });
    expect(byAnnotation({ paused: 'true', 'paused-until': '2026-01-01T12:00:00Z' })).toBeNull();
  });

  it('requires no paused next to paused-until or paused-replicas', () => {
    expect(byAnnotation({ 'paused-until': '2026-01-01T13:00:00Z' })).toMatchObject({ direction: 'both' });
    expect(byAnnotation({ 'paused-replicas': '0' })).toMatchObject({ direction: 'both', replicas: 0 });
  });

  it('keeps the count of paused-replicas in both directions', () => {
    expect(worded(byAnnotation({ paused: 'scale-up', 'paused-replicas': '7' }))).toEqual({
      by: 'annotation',
      direction: 'both',
      until: null,
      replicas: 7,
      message: 'scaling is paused by annotation; kept at 7',
    });
  });

  it('reads the reason', () => {
    expect(worded(byAnnotation({ paused: 'true', 'paused-reason': 'incident 4711' }))).toMatchObject({
      message: 'scaling is paused by annotation; incident 4711',
    });
  });

  it.each([
    [{ paused: 'yes' }, 'promscaler.dev/paused "yes" is invalid, interpreted as "true"'],
    [
      { 'paused-until': 'tomorrow' },
      'promscaler.dev/paused-until "tomorrow" is not an RFC 3339 time, so the pause has no end',
    ],
    [
      { 'paused-replicas': '-1' },
      'promscaler.dev/paused-replicas "-1" is not a number of replicas, so the current count is kept',
    ],
    [{ 'paused-replicas': '2147483648' }, 'is not a number of replicas'],
  ])('pauses more rather than less for an invalid %j', (annotations, message) => {
    const pause = byAnnotation(annotations);

    expect(pause).toMatchObject({ direction: 'both', until: null, replicas: null });
    expect(pause?.notes.at(-1)).toContain(message);
  });

  it('converts a reason to one line of printable text, of 200 characters at most', () => {
    const pause = byAnnotation({ paused: 'true', 'paused-reason': `a\n\u001b[31m b${'c'.repeat(300)}` });

    expect(pause?.notes).toEqual([`a [31m b${'c'.repeat(192)}`]);
  });

  it.each([
    ['scale-up', 'scale-down', 'both'],
    ['scale-up', 'scale-up', 'scale-up'],
    [true, 'scale-down', 'both'],
    ['scale-down', 'true', 'both'],
  ] as const)('combines %s of the document and %s of the annotation: %s', (paused, text, both) => {
    const pause = readPause({ paused }, { 'promscaler.dev/paused': text }, NOW);

    expect(pause).toMatchObject({ direction: both, until: null });
  });

  it('continues with the pause of the document when that of the annotations has ended, and reports both before', () => {
    const annotations = { 'promscaler.dev/paused-until': '2026-01-01T12:00:00Z' };

    expect(worded(readPause({ paused: 'scale-up' }, annotations, addSeconds(NOW, -1)))).toEqual({
      by: 'both',
      direction: 'both',
      until: null,
      replicas: null,
      message: 'scaling is paused by annotation until 2026-01-01T12:00:00Z; spec.paused is scale-up',
    });
    expect(worded(readPause({ paused: 'scale-up' }, annotations, NOW))).toEqual({
      by: 'document',
      direction: 'scale-up',
      until: null,
      replicas: null,
      message: 'spec.paused is scale-up',
    });
  });

  it('ignores an annotation with false while the document pauses', () => {
    expect(readPause({ paused: true }, { 'promscaler.dev/paused': 'false' }, NOW)).toMatchObject({
      direction: 'both',
    });
  });
});

describe('stops', () => {
  const pause = (direction: Pause['direction']): Pause => ({
    by: 'annotation',
    direction,
    until: null,
    replicas: null,
    annotated: null,
    notes: [],
  });

  it('returns true for the paused directions, and false if nothing changes', () => {
    expect(stops(pause('both'), 'scale-up')).toBe(true);
    expect(stops(pause('both'), 'scale-down')).toBe(true);
    expect(stops(pause('scale-up'), 'scale-up')).toBe(true);
    expect(stops(pause('scale-up'), 'scale-down')).toBe(false);
    expect(stops(pause('both'), 'none')).toBe(false);
  });

  it('returns false if the pause keeps a count: that is a separate change', () => {
    expect(stops({ ...pause('both'), replicas: 3 }, 'scale-down')).toBe(false);
  });
});
