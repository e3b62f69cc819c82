import { type Writer, managerOf } from '../../objects/managed-fields.js';
import type { ResourceRequest } from './request.js';
import { invalidOption, notAcceptable } from '../../objects/status-error.js';
import { forbidden, required, unsupported } from '../../validation/objects.js';

const KINDS: Readonly<Record<string, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

/** Reads the query parameters of a write. Throws 422 for an invalid one. */
export function readWriter(
  { query, subresource, verb }: ResourceRequest,
  sent: { readonly userAgent: string; readonly contentType: string },
  nowMs: number,
): Writer {
  const kind = KINDS[verb] ?? 'CreateOptions';
  const isApply = verb === 'patch' && sent.contentType.includes('apply-patch');
  const validation = query.get('fieldValidation') || 'Warn';
  if (!['Ignore', 'Warn', 'Strict'].includes(validation))
    throw invalidOption(kind, unsupported('fieldValidation', validation, ['Ignore', 'Strict', 'Warn']));
  const dryRun = query.get('dryRun') || null;
  if (dryRun !== null && dryRun !== 'All') throw invalidOption(kind, unsupported('dryRun', dryRun, ['All']));
  if (isApply && !query.get('fieldManager'))
    throw invalidOption(kind, required('fieldManager', 'is required for apply patch'));
  if (!isApply && verb === 'patch' && query.has('force'))
    throw invalidOption(kind, forbidden('force', 'may not be specified for non-apply patch'));
  return {
    manager: managerOf(query, sent.userAgent),
    subresource,
    nowMs,
    isStrict: validation === 'Strict',
    ...(validation === 'Warn' ? { warnings: [] } : {}),
    isDryRun: dryRun === 'All',
    isForced: query.get('force') === 'true',
  };
}

export type Form = 'object' | 'table' | 'metadata';

/** Returns the first supported form of an `Accept` header, always as JSON. Throws 406 if there is none. */
export function negotiate(accept: string): Form {
  if (accept.trim() === '') return 'object';
  for (const clause of accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice('as='.length);
    if (as === undefined) return 'object';
    if (as === 'Table') return 'table';
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'metadata';
  }
  throw notAcceptable();
}
