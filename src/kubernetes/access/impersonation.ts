import { z } from 'zod';

export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Fields of a kubeconfig user. */
export const IMPERSONATION = {
  as: z.string().nullish(),
  'as-uid': z.string().nullish(),
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
};

type ImpersonatedUser = z.infer<z.ZodObject<typeof IMPERSONATION>>;

/**
 * Returns the headers for a user to impersonate, none without `as`, or which field is invalid. Source:
 * k8s.io/client-go/transport/round_trippers.go
 */
export function impersonationHeaders(user: ImpersonatedUser): RequestHeaders | string {
  const { as: name, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  const headers: Record<string, string | readonly string[]> = {};
  if (uid !== undefined && uid !== null && uid !== '') headers['Impersonate-Uid'] = uid;
  if (groups !== undefined && groups !== null && groups.length > 0) headers['Impersonate-Group'] = groups;
  for (const [key, values] of Object.entries(extra ?? {}))
    if (values.length > 0) headers[`Impersonate-Extra-${escapeKey(key)}`] = values;
  if (name === undefined || name === null || name === '')
    return Object.keys(headers).length === 0 ? {} : 'as-uid, as-groups and as-user-extra need as';
  headers['Impersonate-User'] = name;
  const isSendable = Object.values(headers)
    .flat()
    .every((value) => /^[\x20-\x7e]*$/.test(value));
  return isSendable ? headers : 'as, as-uid, as-groups and as-user-extra must be ASCII without line breaks';
}

/** Percent-encodes what a header name does not allow, and the percent sign. */
function escapeKey(key: string): string {
  return Array.from(new TextEncoder().encode(key), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9!#$&'*+.^_`|~-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}
