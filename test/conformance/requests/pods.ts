import type { ConformanceRequest } from '../exchange.js';
import { core, merge, pod } from './parts.js';

export const POD_REQUESTS: readonly ConformanceRequest[] = [
  { name: 'pods-start', path: `${core}/pods` },
  { name: 'pod-create', method: 'POST', path: `${core}/pods`, body: pod('web-1') },
  { name: 'pod-create-2', method: 'POST', path: `${core}/pods`, body: pod('web-2') },
  {
    name: 'pod-status',
    ...merge,
    path: `${core}/pods/web-1/status`,
    body: {
      status: {
        phase: 'Running',
        startTime: '2026-01-01T00:00:00Z',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }],
      },
    },
  },
  {
    name: 'pod-annotation',
    ...merge,
    path: `${core}/pods/web-1`,
    body: { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-10' } } },
  },
  {
    name: 'pod-cost-bad',
    ...merge,
    path: `${core}/pods/web-1`,
    body: { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': 'cheap' } } },
  },
  { name: 'pods-field', path: `${core}/pods?fieldSelector=status.phase%3DRunning` },
  { name: 'pods-cached', path: `${core}/pods?resourceVersion=0` },
  {
    name: 'pods-watch',
    watch: true,
    path: `${core}/pods?watch=true&resourceVersion=@pods-start.metadata.resourceVersion@&timeoutSeconds=2&allowWatchBookmarks=true`,
  },
  {
    name: 'pods-watch-label',
    watch: true,
    path: `${core}/pods?watch=1&resourceVersion=@pods-start.metadata.resourceVersion@&timeoutSeconds=1&labelSelector=app%3Dnone`,
  },
  {
    name: 'pods-watch-no-version',
    setUp: true,
    watch: true,
    path: `${core}/pods?watch=true&timeoutSeconds=1`,
  },
  {
    name: 'pods-watch-old',
    setUp: true,
    watch: true,
    path: `${core}/pods?watch=true&resourceVersion=1&timeoutSeconds=1`,
  },
  {
    name: 'pods-watch-bad',
    watch: true,
    path: `${core}/pods?watch=true&resourceVersion=abc&timeoutSeconds=1`,
  },
  { name: 'pods-watch-future', watch: true, path: `${core}/pods?resourceVersion=999999999&timeoutSeconds=1` },
  {
    name: 'pods-table',
    path: `${core}/pods`,
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json',
  },
  {
    name: 'pod-delete-foreign',
    method: 'DELETE',
    path: `${core}/pods/web-2`,
    body: {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: '00000000-0000-0000-0000-000000000000' },
    },
  },
  {
    name: 'pod-delete',
    method: 'DELETE',
    path: `${core}/pods/web-2`,
    body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 },
  },
  { name: 'pod-gone', path: `${core}/pods/web-2` },
];
