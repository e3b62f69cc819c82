import { checkPodLabel } from './query-result-rules.js';
import { type Finding, type IsBroken, finding, formatPath } from '../problems/finding.js';
import { checkSideQuery } from './query-rules.js';
import { resolveReference } from '../resolve/resolve-metric.js';
import type { Loose, SpecInput } from '../schema/document-schema.js';

const PATH = ['spec', 'podDeletionCost'];
const QUERY = [...PATH, 'query'];

/** Checks that the query returns series per pod, and that the controller of the target reads the annotation. */
export function checkDeletionCost(
  spec: Loose<SpecInput>,
  isBroken: IsBroken,
  isMetricsql: boolean,
): readonly Finding[] {
  const { podDeletionCost } = spec;
  if (podDeletionCost === undefined || (Object.keys(podDeletionCost).length === 0 && !isBroken(PATH)))
    return [];
  const { query } = podDeletionCost;
  const findings = [...checkTarget(spec)];
  if (query === undefined) {
    if (!isBroken(QUERY)) findings.push(finding('missing-field', QUERY, `${formatPath(QUERY)} is missing`));
    return findings;
  }
  findings.push(...checkSideQuery(query, QUERY, { hasObject: false, isMetricsql }));
  if (findings.every(({ code }) => code !== 'query-type'))
    findings.push(...checkPodLabel({ query, path: QUERY }));
  return findings;
}

/** Only the ReplicaSet controller, which Deployments use, reads the annotation. */
function checkTarget({ scaleTargetRef }: Loose<SpecInput>): readonly Finding[] {
  const { apiVersion, kind } = resolveReference({ ...scaleTargetRef, name: scaleTargetRef?.name ?? '' });
  const isApps = apiVersion.startsWith('apps/');
  if (kind === 'DaemonSet' || (isApps && (kind === 'Deployment' || kind === 'ReplicaSet'))) return [];
  const why =
    isApps && kind === 'StatefulSet'
      ? 'a StatefulSet removes the pod with the highest ordinal first'
      : `no controller reads the deletion cost of the pods of a ${kind}`;
  const message = `${formatPath(PATH)} is for a Deployment or ReplicaSet: ${why}`;
  return [{ ...finding('deletion-cost-target', PATH, message), at: 'key' }];
}
