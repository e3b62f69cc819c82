import { isIP } from 'node:net';
import * as z from 'zod';

export const filePath = z.string().min(1).max(4096);

/** A URL without credentials: other fields name files with credentials. */
export const url = z.string().refine(isPlainUrl, {
  error: 'must be an http or https URL without user, password, query and fragment',
  params: { code: 'wrong-url' },
});

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (
    ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '')
  );
}

export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'must be the name of a header' });

export const labelKey = z
  .string()
  .max(317)
  .regex(/^(?:[a-z0-9][a-z0-9.-]*\/)?[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/, {
    error: 'must be the key of a label',
  });

/** The value of a header. A line break is not allowed, because it would start another header. */
export const headerValue = z.string().regex(/^[^\r\n\0]*$/, { error: 'must be one line' });

/** An ID, a region or a name without spaces. */
export const word = z
  .string()
  .regex(/^[\x21-\x7e]{1,256}$/, { error: 'must be 1 to 256 ASCII characters without spaces' });

/** An IP address. A host name is not allowed, because it may have several addresses. */
export const address = z
  .string()
  .refine((text) => isIP(text) !== 0, { error: 'must be an IP address, such as 127.0.0.1 or ::' });

/** The host in a Host header, without the port. `*` may replace the first label. */
export const hostName = z
  .string()
  .max(253)
  .regex(/^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, {
    error: 'must be a host name without a port',
  });
