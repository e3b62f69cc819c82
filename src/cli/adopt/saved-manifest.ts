import { parseJson } from '../../units/json-bounds.js';
import { asObject } from '../../scaler/plain-json.js';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { type JsonObject, objectIn, textIn, textsIn } from '../../kubernetes/api/json.js';
import { ADOPTED_AT, ADOPTED_FROM, ADOPTED_MANIFEST } from '../../scaler/spec.js';
import { formatSecond, type Instant } from '../../units/time.js';
import { type FieldChange, fieldChanges } from '../../scaler/field-changes.js';
import { SYSTEM_METADATA } from '../../scaler/read/parse-scaler.js';
import { openOutputFile } from '../output/output-file.js';
import { writeStructured } from '../output/output-format.js';
import { CommandError, type CommandIo } from '../output/io.js';
import type { AdoptOptions, Source } from './adopt-options.js';

/** Returns the annotations that store the state of an adoption, so that another process can continue it. */
export function adoptionAnnotations(
  { kind, name }: Source,
  manifest: JsonObject,
  now: Instant,
): Readonly<Record<string, string>> {
  return {
    [ADOPTED_FROM]: `${kind.kind}/${name}`,
    [ADOPTED_AT]: formatSecond(now),
    [ADOPTED_MANIFEST]: JSON.stringify(manifest),
  };
}

/** Returns a manifest from which the object can be created again, without the fields that the API server sets. */
export function manifestOf(object: JsonObject, { kind }: Source): JsonObject {
  const metadata = Object.entries(objectIn(object, 'metadata') ?? {}).filter(
    ([field]) => !SYSTEM_METADATA.includes(field),
  );
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: Object.fromEntries(metadata),
    spec: object['spec'],
  };
}

/** Returns the manifest in the annotation of a Scaler object; null: there is none, or it is not a JSON object. */
export function savedManifest(scaler: JsonObject): JsonObject | null {
  const text = annotationsOf(scaler)[ADOPTED_MANIFEST];
  if (text === undefined) return null;
  const manifest = asObject(parseJson(text));
  return objectIn(manifest, 'spec') === null ? null : manifest;
}

export function annotationsOf(object: JsonObject): Readonly<Record<string, string>> {
  return textsIn(objectIn(object, 'metadata'), 'annotations');
}

/** Returns the fields of the spec that differ, regardless of the order of fields. */
export function specChanges(before: JsonObject, after: JsonObject): readonly FieldChange[] {
  return fieldChanges(before['spec'], after['spec'], 'spec');
}

/** Returns the default file name of a manifest. */
export function manifestFile({ kind, namespace, name }: Source): string {
  return `${kind.types[0] ?? ''}-${namespace}-${name}.yaml`;
}

/** A copy of the manifest for `kubectl create -f`, which remains if the Scaler object is deleted. */
export interface ManifestFile {
  readonly path: string;
  /** Throws `CommandError` if the file cannot be written. */
  readonly write: (manifest: JsonObject) => Promise<void>;
}

/**
 * Throws `CommandError` if the file cannot be written, or if it contains anything but an earlier manifest of the same
 * object.
 */
export async function openManifestFile(
  manifest: JsonObject,
  source: Source,
  { options, io }: { readonly options: AdoptOptions; readonly io: CommandIo },
): Promise<ManifestFile> {
  const path = options.save ?? manifestFile(source);
  const known = await readFile(resolve(io.cwd, path), 'utf8').catch(() => '');
  if (known !== '' && known !== writeStructured('yaml', manifest) && !isOfEarlierSwitch(known, source))
    throw new CommandError(
      `${path} exists with other content: move this file, or pass another file with --save. Nothing was changed`,
    );
  const file = await openOutputFile('--save', path, io.cwd);
  return { path, write: (changed) => file.write(writeStructured('yaml', changed)) };
}

/** Returns whether an earlier switch wrote the text. The text of a user differs in comments, order or style. */
function isOfEarlierSwitch(text: string, { kind, namespace, name }: Source): boolean {
  let manifest: JsonObject | null;
  try {
    manifest = asObject(parse(text));
  } catch {
    return false;
  }
  if (manifest === null || manifest['kind'] !== kind.kind) return false;
  const metadata = objectIn(manifest, 'metadata');
  if (textIn(metadata, 'namespace') !== namespace || textIn(metadata, 'name') !== name) return false;
  return writeStructured('yaml', manifest) === text;
}
