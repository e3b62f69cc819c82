import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../../kubernetes/api/json.js';
import { CommandError } from '../process/io.js';
import { type Source, nameSource } from './adopt-options.js';

/** Throws `CommandError` if a controller made the object: it would make it again. */
export function checkOwner(object: JsonObject, source: Source): void {
  const owners = objectsIn(objectIn(object, 'metadata'), 'ownerReferences');
  const owner = owners.find((one) => one['controller'] === true) ?? null;
  if (owner === null) return;
  const [kind, name] = [textIn(owner, 'kind') ?? '', textIn(owner, 'name') ?? ''];
  const advice =
    kind === 'ScaledObject' ? `adopt that: scaledobject/${name}` : `disable autoscaling in ${kind} ${name}`;
  throw new CommandError(
    `${nameSource(source)} belongs to ${kind} ${name}, which makes it again when it is deleted: ${advice}`,
  );
}

/** Throws `CommandError` if deleting the object changes the replicas. */
export function checkDeletion(object: JsonObject, source: Source): void {
  const advanced = objectIn(objectIn(object, 'spec'), 'advanced');
  if (advanced?.['restoreToOriginalReplicaCount'] !== true) return;
  throw new CommandError(
    `${nameSource(source)} has restoreToOriginalReplicaCount: true, so that deleting it would change the replicas. Set it to false first`,
  );
}

/** Tools that apply their objects again, by the label or annotation that they set. */
const TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^argocd\.argoproj\.io\//, 'Argo CD'],
  [/^(?:kustomize|helm)\.toolkit\.fluxcd\.io\//, 'Flux'],
  [/^meta\.helm\.sh\/release-name$/, 'Helm'],
];

/** Returns a warning if a tool manages the object, such as Helm. */
export function managerWarning(object: JsonObject, source: Source): string | null {
  const metadata = objectIn(object, 'metadata');
  const keys = Object.keys({ ...textsIn(metadata, 'labels'), ...textsIn(metadata, 'annotations') });
  const tool = TOOLS.find(([pattern]) => keys.some((key) => pattern.test(key)))?.[1];
  return tool === undefined
    ? null
    : `${tool} manages ${nameSource(source)}: remove it there, too. If it comes back, promscaler reports ConflictingScaler and patches nothing`;
}
