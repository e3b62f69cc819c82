import type { Kubectl } from './run-namespace.js';

const NAME = 'scalers.promscaler.dev';

/**
 * Creates the CustomResourceDefinition of Scalers, unless the cluster has one; returns whether this run has created it.
 */
export async function createDefinition(kubectl: Kubectl, manifest: string): Promise<boolean> {
  if ((await kubectl(['get', 'crd', NAME, '--ignore-not-found', '-o', 'name'])) !== '') return false;
  await kubectl(['create', '-f', '-', '--request-timeout=30s'], manifest);
  await kubectl(['wait', '--for=condition=Established', `crd/${NAME}`, '--timeout=60s']);
  return true;
}

/**
 * Deletes a definition that this run has created, except while Scalers of others exist: they would be deleted with it.
 */
export async function deleteDefinition(kubectl: Kubectl, namespace: string): Promise<string | null> {
  const list = ['get', 'scalers', '-A', '-o', 'jsonpath={.items[*].metadata.namespace}'];
  const others = (await kubectl(list)).split(/\s+/).filter((name) => name !== '' && name !== namespace);
  if (others.length > 0) return `it has Scalers in ${[...new Set(others)].join(', ')}`;
  await kubectl(['delete', 'crd', NAME, '--ignore-not-found', '--wait=false', '--request-timeout=30s']);
  return null;
}
