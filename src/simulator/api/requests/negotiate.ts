import { notAcceptable } from '../../objects/status-error.js';

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
