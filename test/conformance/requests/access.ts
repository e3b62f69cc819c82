import type { ConformanceRequest } from '../exchange.js';
import { core, NS, scale } from './parts.js';

export const ACCESS_REQUESTS: readonly ConformanceRequest[] = [
  { name: 'unauthorized', as: 'nobody', path: `${core}/pods` },
  {
    name: 'reader-account',
    setUp: true,
    method: 'POST',
    path: `${core}/serviceaccounts`,
    body: { metadata: { name: 'reader' } },
  },
  { name: 'reader-token', method: 'POST', path: `${core}/serviceaccounts/reader/token`, body: { spec: {} } },
  { name: 'forbidden-list', as: 'reader', path: `${core}/pods` },
  { name: 'forbidden-patch', as: 'reader', ...scale('', { replicas: 1 }) },
  { name: 'forbidden-watch', as: 'reader', path: '/apis/apps/v1/deployments?watch=true&timeoutSeconds=1' },
  {
    name: 'access-review',
    as: 'reader',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      spec: {
        resourceAttributes: {
          namespace: NS,
          verb: 'patch',
          group: 'apps',
          resource: 'deployments',
          subresource: 'scale',
        },
      },
    },
  },
  {
    name: 'access-review-admin',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      spec: {
        resourceAttributes: {
          namespace: NS,
          verb: 'patch',
          group: 'apps',
          resource: 'deployments',
          subresource: 'scale',
        },
      },
    },
  },
  {
    name: 'apply',
    method: 'PATCH',
    type: 'application/apply-patch+yaml',
    path: `${core}/configmaps/applied?fieldManager=a`,
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied }\ndata: { k: one }\n',
  },
  {
    name: 'apply-conflict',
    method: 'PATCH',
    type: 'application/apply-patch+yaml',
    path: `${core}/configmaps/applied?fieldManager=b`,
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied }\ndata: { k: two }\n',
  },
  {
    name: 'apply-force',
    method: 'PATCH',
    type: 'application/apply-patch+yaml',
    path: `${core}/configmaps/applied?fieldManager=b&force=true`,
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied }\ndata: { k: two }\n',
  },
  { name: 'namespace-delete', method: 'DELETE', path: `/api/v1/namespaces/${NS}` },
  {
    name: 'create-in-terminating',
    method: 'POST',
    path: `${core}/configmaps`,
    body: { metadata: { name: 'late' } },
  },
];
