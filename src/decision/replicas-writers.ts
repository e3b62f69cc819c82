import { OBJECTS_PATH } from '../scaler/problems/problem.js';
import { kubectl, type Pausable, type Remedy, targetOf, type TroubledScaler } from './snippet.js';

/** Removing the field from a manifest may reset the count of a running workload once. */
const MAY_RESET = '. Read docs/guides/gitops.md first: the next run of the tool may set the count to 1';

/** `before-first-apply`: the fields of an object before `kubectl apply` was first used on it. */
const CLIENT_SIDE_APPLY = /^kubectl-client-side-apply$|^before-first-apply$/;

/** Field managers of deployment tools that set `spec.replicas`, and how to make each tool ignore the field. */
const TOOLS: readonly (readonly [RegExp, string])[] = [
  [
    /^argocd|^argo-cd/i,
    'remove spec.replicas from the manifest, or configure Argo CD: ignoreDifferences: [{ group: apps, kind: Deployment, jsonPointers: [/spec/replicas] }] with syncOptions: [RespectIgnoreDifferences=true]',
  ],
  [
    /^(?:kustomize-controller|flux|gotk)/i,
    `remove spec.replicas from the manifest in the repository that Flux applies${MAY_RESET}`,
  ],
  [
    /helm/i,
    `remove replicas from the template of the chart (in most charts, autoscaling.enabled: true or replicaCount: null does this)${MAY_RESET}`,
  ],
  [
    /^terraform|hashicorp/i,
    'add lifecycle { ignore_changes = [spec[0].replicas] } to the Terraform resource',
  ],
  [/^pulumi/i, 'add ignoreChanges: ["spec.replicas"] to the Pulumi resource'],
  [
    CLIENT_SIDE_APPLY,
    'remove spec.replicas with kubectl apply edit-last-applied TARGET, then from the manifest. Without the first step, the next apply sets the count to 1',
  ],
  [/apply/i, `remove spec.replicas from the manifest that is applied${MAY_RESET}`],
];

/**
 * Returns how to stop a deployment tool from setting `spec.replicas` of a workload; null: the field manager is not
 * known to be a deployment tool.
 */
export function fixOfTool(
  manager: string,
  workload: Pick<Pausable, 'target'> & { readonly namespace: string },
): string | null {
  const fix = TOOLS.find(([pattern]) => pattern.test(manager))?.[1] ?? null;
  return fix?.replace('TARGET', () => `${targetOf(workload)} -n ${workload.namespace}`) ?? null;
}

/** Returns the name of a deployment tool: the name of its field manager, or `kubectl apply` for client-side apply. */
export function nameTool(manager: string): string {
  return isClientSideApply(manager) ? 'kubectl apply' : manager;
}

export function isClientSideApply(manager: string): boolean {
  return CLIENT_SIDE_APPLY.test(manager);
}

/**
 * Returns how to stop clients that keep changing the replicas. `kubectl` may be a person with `kubectl scale` or a
 * server-side apply, so both are named. `managedFields` does not show it, because the last writer in it is promscaler.
 */
export function stopWriters(
  { namespace, name, generation, target }: TroubledScaler,
  managers: readonly string[],
): readonly Remedy[] {
  const tools = managers.flatMap((manager): readonly Remedy[] => {
    const fix = fixOfTool(manager, { namespace, target });
    return fix === null ? [] : [{ text: `Stop ${nameTool(manager)}: ${fix}`, snippet: null }];
  });
  if (tools.length > 0 && tools.length === managers.length) return tools;
  const by = managers.length === 0 ? '' : `, with the field manager ${managers.join(', ')}`;
  return [
    ...tools,
    {
      text: 'If a person sets the count (kubectl scale), pause the scaler first, or change spec.minReplicas or spec.maxReplicas',
      snippet: generation === null ? null : kubectl(namespace, 'edit', OBJECTS_PATH, name),
    },
    {
      text: `If a tool applies a manifest, remove replicas from it, or configure the tool to ignore the field (Argo CD: ignoreDifferences). The audit log of the API server has the requests${by}`,
      snippet: null,
    },
  ];
}
