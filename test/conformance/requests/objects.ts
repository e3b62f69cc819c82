import type { ConformanceRequest } from '../exchange.js';
import { core, merge, NS } from './parts.js';

export const OBJECT_REQUESTS: readonly ConformanceRequest[] = [
  {
    name: 'configmap-create',
    method: 'POST',
    path: `${core}/configmaps`,
    body: { metadata: { name: 'state' }, data: { a: '1' } },
  },
  {
    name: 'configmap-patch',
    ...merge,
    path: `${core}/configmaps/state`,
    body: { metadata: { resourceVersion: '@configmap-create.metadata.resourceVersion@' }, data: { b: '2' } },
  },
  {
    name: 'configmap-stale',
    ...merge,
    path: `${core}/configmaps/state`,
    body: { metadata: { resourceVersion: '@configmap-create.metadata.resourceVersion@' }, data: { c: '3' } },
  },
  { name: 'configmap-remove-key', ...merge, path: `${core}/configmaps/state`, body: { data: { a: null } } },
  { name: 'configmap-number', ...merge, path: `${core}/configmaps/state`, body: { data: { d: 4 } } },
  { name: 'configmap-key-bad', ...merge, path: `${core}/configmaps/state`, body: { data: { 'a/b': 'x' } } },
  {
    name: 'configmap-large',
    ...merge,
    path: `${core}/configmaps/state`,
    body: { data: { big: 'x'.repeat(1_100_000) } },
  },
  { name: 'configmap-missing', ...merge, path: `${core}/configmaps/none`, body: { data: {} } },
  {
    name: 'lease-create',
    method: 'POST',
    path: `/apis/coordination.k8s.io/v1/namespaces/${NS}/leases`,
    body: {
      metadata: { name: 'promscaler' },
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      },
    },
  },
  {
    name: 'lease-update',
    method: 'PUT',
    path: `/apis/coordination.k8s.io/v1/namespaces/${NS}/leases/promscaler`,
    body: {
      metadata: { name: 'promscaler', resourceVersion: '@lease-create.metadata.resourceVersion@' },
      spec: {
        holderIdentity: 'b',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:01.000000Z',
        leaseTransitions: 1,
      },
    },
  },
  {
    name: 'lease-stale',
    method: 'PUT',
    path: `/apis/coordination.k8s.io/v1/namespaces/${NS}/leases/promscaler`,
    body: {
      metadata: { name: 'promscaler', resourceVersion: '@lease-create.metadata.resourceVersion@' },
      spec: { holderIdentity: 'c', leaseDurationSeconds: 15 },
    },
  },
  {
    name: 'lease-time-without-micros',
    method: 'PUT',
    path: `/apis/coordination.k8s.io/v1/namespaces/${NS}/leases/promscaler`,
    body: {
      metadata: { name: 'promscaler' },
      spec: { holderIdentity: 'c', leaseDurationSeconds: 0, renewTime: '2026-01-01T00:00:01Z' },
    },
  },
  {
    name: 'event-create',
    method: 'POST',
    path: `${core}/events`,
    body: {
      metadata: { name: 'web.1' },
      involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: NS },
      reason: 'SuccessfulRescale',
      message: 'New size: 5',
      type: 'Normal',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'promscaler' },
    },
  },
  { name: 'event-patch', ...merge, path: `${core}/events/web.1`, body: { count: 2 } },
  {
    name: 'event-foreign-namespace',
    method: 'POST',
    path: `${core}/events`,
    body: {
      metadata: { name: 'web.2' },
      involvedObject: { kind: 'Deployment', name: 'web', namespace: 'default' },
      reason: 'X',
      type: 'Normal',
    },
  },
  {
    name: 'event-no-namespace',
    method: 'POST',
    path: '/api/v1/namespaces/nowhere/events',
    body: {
      metadata: { name: 'web.3' },
      involvedObject: { kind: 'Deployment', name: 'web', namespace: 'nowhere' },
      reason: 'X',
      type: 'Normal',
    },
  },
  {
    name: 'hpa-create',
    method: 'POST',
    path: `/apis/autoscaling/v2/namespaces/${NS}/horizontalpodautoscalers`,
    body: {
      metadata: { name: 'web' },
      spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    },
  },
  { name: 'hpa-get-v1', path: `/apis/autoscaling/v1/namespaces/${NS}/horizontalpodautoscalers/web` },
  { name: 'hpa-list', path: '/apis/autoscaling/v2/horizontalpodautoscalers' },
  {
    name: 'hpa-bad',
    method: 'POST',
    path: `/apis/autoscaling/v2/namespaces/${NS}/horizontalpodautoscalers`,
    body: {
      metadata: { name: 'bad' },
      spec: { minReplicas: 6, maxReplicas: 5, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
    },
  },
];
