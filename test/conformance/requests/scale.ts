import type { ConformanceRequest } from '../exchange.js';
import { apps, merge, NS, scale } from './parts.js';

export const SCALE_REQUESTS: readonly ConformanceRequest[] = [
  { name: 'scale-get', path: `${apps}/deployments/web/scale` },
  { name: 'scale-missing', path: `${apps}/deployments/nobody/scale` },
  {
    name: 'scale-patch',
    ...scale(
      '',
      { replicas: 5 },
      { uid: '@scale-get.metadata.uid@', resourceVersion: '@scale-get.metadata.resourceVersion@' },
    ),
  },
  {
    name: 'scale-patch-stale',
    ...scale(
      '',
      { replicas: 6 },
      { uid: '@scale-get.metadata.uid@', resourceVersion: '@scale-get.metadata.resourceVersion@' },
    ),
  },
  {
    name: 'scale-patch-foreign-uid',
    ...scale('', { replicas: 6 }, { uid: '00000000-0000-0000-0000-000000000000' }),
  },
  { name: 'scale-patch-negative', ...scale('', { replicas: -1 }) },
  { name: 'scale-patch-text', ...scale('', { replicas: 'three' }) },
  { name: 'scale-patch-fraction', ...scale('', { replicas: 1.5 }) },
  { name: 'scale-patch-empty', ...merge, path: `${apps}/deployments/web/scale`, body: {} },
  { name: 'scale-patch-same', ...scale('', { replicas: 5 }) },
  { name: 'scale-patch-strict', ...scale('?fieldValidation=Strict', { replicas: 5, wrong: 1 }) },
  { name: 'scale-patch-dry', ...scale('?dryRun=All', { replicas: 9 }) },
  { name: 'scale-patch-manager', ...scale('?fieldManager=promscaler', { replicas: 4 }) },
  { name: 'scale-managers', path: `${apps}/deployments/web` },
  {
    name: 'scale-patch-media',
    method: 'PATCH',
    type: 'application/json',
    path: `${apps}/deployments/web/scale`,
    body: { spec: { replicas: 2 } },
  },
  {
    name: 'scale-json-patch',
    method: 'PATCH',
    type: 'application/json-patch+json',
    path: `${apps}/deployments/web/scale`,
    body: [{ op: 'replace', path: '/spec/replicas', value: 2 }],
  },
  {
    name: 'scale-strategic',
    method: 'PATCH',
    type: 'application/strategic-merge-patch+json',
    path: `${apps}/deployments/web/scale`,
    body: { spec: { replicas: 3 } },
  },
  {
    name: 'scale-put',
    method: 'PUT',
    path: `${apps}/deployments/web/scale`,
    body: {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'web', namespace: NS },
      spec: { replicas: 3 },
    },
  },
  { name: 'scale-zero', ...scale('', { replicas: 0 }) },
  { name: 'scale-at-zero', path: `${apps}/deployments/web/scale` },
];
