import type { Failure, Rescale, ReceiverConfig } from '../../src/notifications/notification.js';
import type { ServiceEvent } from '../../src/telemetry/event-feed.js';
import { at } from '../support/builders.js';

export function aRescale(overrides: Partial<Rescale> = {}): Rescale {
  return {
    id: 'run-1',
    at: at(0),
    namespace: 'shop',
    name: 'web',
    event: 'rescale',
    direction: 'up',
    from: 3,
    to: 5,
    reason: 'cpu is at 90 % of 60 %',
    ...overrides,
  };
}

export function aFailure(overrides: Partial<Failure> = {}): Failure {
  return {
    id: 'run-2',
    at: at(0),
    namespace: 'shop',
    name: 'web',
    event: 'failure',
    subject: 'ScalingActive',
    failing: true,
    message: 'FailedGetResourceMetric: no series',
    ...overrides,
  };
}

export function aReceiver(overrides: Partial<ReceiverConfig> = {}): ReceiverConfig {
  return {
    name: 'ops',
    format: 'json',
    url: 'http://127.0.0.1:1',
    urlFile: null,
    bearerTokenFile: null,
    tls: null,
    events: ['rescale', 'failure'],
    namespaces: [],
    timeoutSeconds: 10,
    maxPerMinute: 60,
    ...overrides,
  };
}

export function failureEvent(name: string, failing = true, subject = 'ScalingActive'): ServiceEvent {
  return { type: 'failure', at: at(0), namespace: 'shop', name, subject, failing, message: 'why' };
}

export function rescaleEvent(namespace = 'shop'): ServiceEvent {
  const outcome = { kind: 'patched', from: 3, to: 5, message: '' } as const;
  return { type: 'decision', at: at(0), namespace, name: 'web', outcome, reason: 'cpu', limits: [] };
}
