import type { ConformanceRequest } from '../exchange.js';
import { apps, deployment, NS } from './parts.js';

export const DEPLOYMENT_REQUESTS: readonly ConformanceRequest[] = [
  {
    name: 'namespace',
    setUp: true,
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { metadata: { name: NS } },
  },
  { name: 'core-versions', path: '/api' },
  {
    name: 'deployment-create',
    method: 'POST',
    path: `${apps}/deployments`,
    body: deployment('web', { replicas: 3 }),
  },
  {
    name: 'deployment-create-again',
    method: 'POST',
    path: `${apps}/deployments`,
    body: deployment('web', { replicas: 3 }),
  },
  {
    name: 'deployment-no-replicas',
    method: 'POST',
    path: `${apps}/deployments`,
    body: deployment('plain', {}),
  },
  {
    name: 'deployment-selector-mismatch',
    method: 'POST',
    path: `${apps}/deployments`,
    body: deployment('odd', { replicas: 1, selector: { matchLabels: { app: 'other' } } }),
  },
  {
    name: 'deployment-dry-run',
    method: 'POST',
    path: `${apps}/deployments?dryRun=All`,
    body: deployment('ghost', { replicas: 1 }),
  },
  { name: 'deployment-ghost', path: `${apps}/deployments/ghost` },
  { name: 'deployment-get', path: `${apps}/deployments/web` },
  { name: 'deployments-list', path: `${apps}/deployments` },
  { name: 'deployments-page', path: `${apps}/deployments?limit=1` },
  {
    name: 'deployments-page-2',
    path: `${apps}/deployments?limit=1&continue=@deployments-page.metadata.continue@`,
  },
  { name: 'deployments-continue-bad', path: `${apps}/deployments?limit=1&continue=nonsense` },
  { name: 'deployments-label', path: `${apps}/deployments?labelSelector=team%3Da%2Capp%21%3Dx` },
  { name: 'deployments-label-bad', path: `${apps}/deployments?labelSelector=%3D%3D` },
  { name: 'deployments-field', path: `${apps}/deployments?fieldSelector=metadata.name%3Dweb` },
  { name: 'deployments-field-bad', path: `${apps}/deployments?fieldSelector=spec.replicas%3D1` },
  {
    name: 'deployments-metadata',
    path: `${apps}/deployments`,
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  },
  {
    name: 'deployment-metadata',
    path: `${apps}/deployments/web`,
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  },
  { name: 'deployment-not-acceptable', path: `${apps}/deployments/web`, accept: 'text/html' },
  { name: 'deployment-wrong-method', method: 'POST', path: `${apps}/deployments/web`, body: {} },
  {
    name: 'deployments-malformed',
    method: 'POST',
    path: `${apps}/deployments`,
    body: '{"apiVersion": "apps/v1", ',
  },
  { name: 'unknown-resource', path: `${apps}/gadgets` },
  { name: 'unknown-group', path: '/apis/nothing.example/v1' },
];
