import { asObject, objectIn, textIn } from '../../kubernetes/json.js';
import { watchedPlural } from '../../kubernetes/targets.js';
import type { TargetRef } from '../../scaler/spec.js';
import type { CommandIo } from '../io.js';
import { CommandError } from '../io.js';
import { nearestKeys } from '../nearest-keys.js';
import { workloadHint } from '../scaler-name.js';
import { readTarget } from '../new/target-kind.js';
import { createServiceClient } from '../reach/service-client.js';
import type { ScalerRow } from '../reach/service-client.js';
import type { ScalerName } from '../reach/service-pages.js';
import type { ResumeOptions } from './pause-options.js';

/** The workload whose annotations pause a scaler. */
export interface PauseTarget {
  readonly namespace: string;
  readonly ref: TargetRef;
  /** `deployments`. */
  readonly plural: string;
  /** As the service shows the scaler; null where it was not asked. */
  readonly told: { readonly isDryRun: boolean; readonly isPausedByDocument: boolean } | null;
}

/** The target of a scaler, by `--target` or by asking the service. Throws `CommandError` with a sentence. */
export async function findTarget(
  name: ScalerName,
  options: ResumeOptions,
  io: CommandIo,
): Promise<PauseTarget> {
  const row = options.target === undefined ? await findRow(name, options, io) : null;
  const ref = row === null ? readTarget(options.target ?? '').ref : refOf(row);
  const plural = ref === null ? null : watchedPlural(ref);
  if (ref === null || plural === null)
    throw new CommandError(
      `${ref?.kind ?? options.target ?? ''}: annotations are read of Deployments, StatefulSets and ReplicaSets alone: write spec.paused: true into the document of ${name.namespace}/${name.name}`,
    );
  return { namespace: name.namespace, ref, plural, told: row === null ? null : toldBy(row) };
}

async function findRow(name: ScalerName, options: ResumeOptions, io: CommandIo): Promise<ScalerRow> {
  const client = await createServiceClient(options, io);
  try {
    const { rows } = await client.listScalers(name.namespace);
    const row = rows.find((one) => one.name === name.name);
    if (row !== undefined) return row;
    const all = await client.listScalers(null);
    const keys = all.rows.map((one) => `${one.namespace}/${one.name}`);
    const key = `${name.namespace}/${name.name}`;
    const near = nearestKeys(key, keys);
    throw new CommandError(
      `${client.where} has no scaler ${key}, or none of its cycles has ended yet${near.length === 0 ? '' : `; similar: ${near.join(', ')}`}${workloadHint(name)}; --target KIND/NAME names the workload itself`,
    );
  } finally {
    client.close();
  }
}

function refOf({ namespace, name, view }: ScalerRow): TargetRef {
  const target = objectIn(view, 'target');
  const [apiVersion, kind, targetName] = [
    textIn(target, 'apiVersion'),
    textIn(target, 'kind'),
    textIn(target, 'name'),
  ];
  if (apiVersion === null || kind === null || targetName === null)
    throw new CommandError(
      `the service does not tell the target of ${namespace}/${name}: --target KIND/NAME names it`,
    );
  return { apiVersion, kind, name: targetName };
}

function toldBy({ view }: ScalerRow): PauseTarget['told'] {
  const by = textIn(asObject(view['pause']), 'by');
  return { isDryRun: view['dryRun'] === true, isPausedByDocument: by === 'document' || by === 'both' };
}
