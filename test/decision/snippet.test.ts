import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import {
  hasAnnotations,
  pauseFor30Minutes,
  pauseLength,
  pauseWithKubectl,
  resume,
} from '../../src/decision/snippet.js';

const SCALER = { namespace: 'shop', name: 'web', target: { kind: 'Deployment', name: 'front' } };
const WITHOUT_PLUGIN = { ...SCALER, pauseUntil: '2026-01-01T10:30:00Z' };

describe('commands of pauses', () => {
  it('are those of promscaler, if the end of the pause is unset', () => {
    expect(pauseFor30Minutes(SCALER, 6).text).toBe('promscaler pause shop/web --replicas 6 --for 30m');
    expect(pauseFor30Minutes(SCALER, null).text).toBe('promscaler pause shop/web --for 30m');
    expect(resume(SCALER).text).toBe('promscaler resume shop/web');
  });

  it('are those of kubectl with its end, and replace each annotation of an earlier pause', () => {
    const annotate = 'kubectl annotate -n shop deployment/front --overwrite';
    const begin = `${annotate} promscaler.dev/paused=true`;
    const end = 'promscaler.dev/paused-until=2026-01-01T10:30:00Z promscaler.dev/paused-reason=dashboard';

    expect(pauseFor30Minutes(WITHOUT_PLUGIN, 6).text).toBe(
      `${begin} promscaler.dev/paused-replicas=6 ${end}`,
    );
    expect(pauseFor30Minutes(WITHOUT_PLUGIN, null).text).toBe(
      `${begin} promscaler.dev/paused-replicas- ${end}`,
    );
    const local = { ...WITHOUT_PLUGIN, pauseUntil: '2026-01-01T11:30:00+01:00' };
    expect([pauseLength(local), pauseLength(SCALER)]).toEqual(['until 11:30', 'for 30 minutes']);
    expect(pauseFor30Minutes(local, null).text).toContain(
      ' promscaler.dev/paused-until=2026-01-01T11:30:00+01:00 ',
    );
    expect(resume(WITHOUT_PLUGIN).text).toBe(
      `${annotate} promscaler.dev/paused- promscaler.dev/paused-replicas- promscaler.dev/paused-until- promscaler.dev/paused-reason-`,
    );
  });

  it('without an end are in the guide as they are written here', async () => {
    const guide = await readFile('docs/guides/pause.md', 'utf8');
    const checkout = { ...SCALER, target: { kind: 'Deployment', name: 'checkout' } };
    const { text } = pauseWithKubectl(checkout, {});

    expect(text).toBe(
      'kubectl annotate -n shop deployment/checkout --overwrite promscaler.dev/paused=true promscaler.dev/paused-replicas- promscaler.dev/paused-until- promscaler.dev/paused-reason-',
    );
    expect(guide.replace(/ \\\n +/g, ' ')).toContain(`\n${text}\n`);
  });
});

it.each([
  ['apps/v1', 'StatefulSet', true],
  ['apps.kruise.io/v1beta1', 'StatefulSet', false],
  ['argoproj.io/v1alpha1', 'Rollout', false],
])('annotations of a target of %s, kind %s, are read: %p', (apiVersion, kind, expected) => {
  expect(hasAnnotations({ target: { apiVersion, kind, name: 'web' } })).toBe(expected);
});
