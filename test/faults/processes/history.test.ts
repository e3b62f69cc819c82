import { describe, expect, it } from '@jest/globals';
import type { LoggedRequest } from '../../../src/simulator/api/requests/request-log.js';
import { instantFromMs } from '../../../src/units/time.js';
import { findViolations } from './history.js';

/** Its state is in the ConfigMap promscaler-state-04. */
const WEB = { namespace: 'shop', name: 'web', first: 2 };
const START_MS = Date.parse('2026-01-01T00:00:00Z');

const STARTED = { message: 'started' };
const FAILED = { configMap: 'shop/promscaler-state-04', message: 'failed to persist scaler state' };
const RECOVERED = { configMap: 'shop/promscaler-state-04', message: 'scaler state is persisted again' };

const SCALE_UP = { from: 2, to: 4, resourceVersion: '7' };

/** The write of an entry; `intent` absent: one without an intent. */
function entryAt(seconds: number, intent?: typeof SCALE_UP): LoggedRequest {
  const data = { 'shop.web': JSON.stringify({ v: 1, intent }) };
  const body = JSON.stringify({ metadata: { resourceVersion: '1' }, data });
  return writeAt(seconds, { resource: 'configmaps', name: 'promscaler-state-04', body });
}

function patchAt(seconds: number, { to, resourceVersion } = SCALE_UP): LoggedRequest {
  const body = JSON.stringify({ metadata: { uid: 'u', resourceVersion }, spec: { replicas: to } });
  return writeAt(seconds, { resource: 'deployments', subresource: 'scale', name: 'web', body });
}

function writeAt(seconds: number, over: Partial<LoggedRequest>): LoggedRequest {
  return {
    at: instantFromMs(START_MS + seconds * 1000),
    monotonicMs: seconds * 1000,
    method: 'PATCH',
    path: '',
    verb: 'patch',
    resource: '',
    subresource: '',
    namespace: 'shop',
    name: null,
    code: 200,
    userAgent: '',
    body: null,
    isApplied: true,
    ...over,
  };
}

function logOf(...lines: readonly (readonly [seconds: number, line: object])[]): string {
  return lines
    .map(([seconds, line]) =>
      JSON.stringify({ time: new Date(START_MS + seconds * 1000).toISOString(), ...line }),
    )
    .join('\n');
}

function violations(requests: readonly LoggedRequest[], ...logs: readonly string[]): readonly string[] {
  const windows = { upSeconds: 8, downSeconds: 0 };
  return findViolations({ requests: () => requests }, WEB, { windows, logs });
}

const UNANNOUNCED = [expect.stringMatching(/^unannounced: /)];

describe('a PATCH', () => {
  it.each([0.1, 60])('is announced by the intent that was stored %d s before it', (seconds) => {
    expect(violations([entryAt(0, SCALE_UP), patchAt(seconds)])).toEqual([]);
  });

  it.each<[string, readonly LoggedRequest[]]>([
    ['no intent', [patchAt(1)]],
    ['an intent stored after it', [patchAt(1), entryAt(1, SCALE_UP)]],
    ['an intent that is no longer stored', [entryAt(0, SCALE_UP), entryAt(1), patchAt(1)]],
    ['the intent of another count', [entryAt(0, { ...SCALE_UP, to: 3 }), patchAt(1)]],
    ['the intent of another precondition', [entryAt(0, { ...SCALE_UP, resourceVersion: '6' }), patchAt(1)]],
    ['an intent that was not applied', [{ ...entryAt(0, SCALE_UP), isApplied: false }, patchAt(1)]],
  ])('with %s is not announced', (_, requests) => {
    expect(violations(requests, logOf([0, STARTED]))).toEqual(UNANNOUNCED);
  });
});

describe('a scale-up without an intent', () => {
  it('may be sent after the replica has logged that the ConfigMap failed', () => {
    expect(violations([patchAt(9)], logOf([0, STARTED], [5, FAILED]))).toEqual([]);
  });

  it.each([
    ['before the ConfigMap failed', logOf([0, STARTED], [10, FAILED])],
    ['after it was usable again', logOf([0, STARTED], [5, FAILED], [8, RECOVERED])],
    ['by a process after the one for which it failed', logOf([0, STARTED], [5, FAILED], [7, STARTED])],
    ['while another ConfigMap failed', logOf([5, { ...FAILED, configMap: 'shop/promscaler-state-05' }])],
  ])('may not be sent %s', (_, log) => {
    expect(violations([patchAt(9)], log)).toEqual(UNANNOUNCED);
  });

  it('starts no window for the next process, unlike one with an intent', () => {
    const next = { from: 4, to: 8, resourceVersion: '9' };
    const successor = [entryAt(10, next), patchAt(11, next)];
    const log = logOf([0, STARTED], [5, FAILED], [9.5, STARTED]);

    expect(violations([patchAt(9), ...successor], log)).toEqual([]);
    expect(violations([entryAt(8, SCALE_UP), patchAt(9), ...successor], log)).toEqual([
      '4 -> 8 only 2.0 s after the last change up, not 8 s',
    ]);
  });
});

describe('a scale-down without an intent', () => {
  it('is a violation, even while the ConfigMap fails', () => {
    const down = { from: 2, to: 1, resourceVersion: '7' };

    expect(violations([patchAt(9, down)], logOf([0, STARTED], [5, FAILED]))).toEqual(UNANNOUNCED);
  });
});
