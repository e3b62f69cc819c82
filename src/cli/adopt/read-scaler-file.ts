import { targetKey } from '../../control/cycle/shared-targets.js';
import { IMPORT_BOUNDS } from '../../importers/read-manifests.js';
import { type JsonObject, asObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import { readScalerDocument } from '../../scaler/read/read-scalers.js';
import { formatProblem } from '../../scaler/problems/format-problem.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { readInput } from '../input/read-files.js';
import { CommandError } from '../process/io.js';
import { type AdoptContext, targetOf, nameWorkload } from './adoption.js';
import { nameSource } from './adopt-options.js';

/** Reads the completed document of a file and sets `dryRun: true`. Its target must be that of the autoscaler. */
export async function readScalerFile(
  context: AdoptContext,
  file: string,
  object: JsonObject,
): Promise<JsonObject> {
  const { io, source } = context;
  const input = await readInput(file, io, IMPORT_BOUNDS.bytes);
  if ('code' in input) throw new CommandError(`-f ${file}: ${input.message}`);
  const [document, second] = readYaml(input.text, file);
  if (document === undefined || second !== undefined)
    throw new CommandError(`-f ${file}: must have exactly one scaler document`);
  const { scaler, problems } = readScalerDocument(document, file, {});
  for (const problem of problems) io.stderr.write(`${formatProblem(problem)}\n`);
  const value = asObject(document.value);
  if (scaler === null || value === null) throw new CommandError(`-f ${file}: the scaler document is invalid`);
  const { namespace } = source;
  if (scaler.namespace !== namespace)
    throw new CommandError(`-f ${file}: metadata.namespace is ${scaler.namespace}, must be ${namespace}`);
  const target = targetOf(value);
  const wanted = targetOf(object);
  if (targetKey(namespace, target) !== targetKey(namespace, wanted))
    throw new CommandError(
      `-f ${file}: the target is ${nameWorkload(context, { target })}, but ${nameSource(source)} scales ${nameWorkload(context, { target: wanted })}`,
    );
  if (scaler.spec.paused === true)
    throw new CommandError(`-f ${file}: spec.paused is true: complete the document and remove the field`);
  const metadata = { ...objectIn(value, 'metadata'), name: textIn(objectIn(value, 'metadata'), 'name') };
  return { ...value, metadata, spec: { ...objectIn(value, 'spec'), dryRun: true } };
}
