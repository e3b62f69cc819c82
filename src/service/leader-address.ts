import { readAddress } from '../kubernetes/member-leases.js';
import { objectIn, textsIn } from '../kubernetes/api/json.js';
import type { LeaseClient, LeaseSpec, SeenLease } from '../kubernetes/lease.js';

/** Annotation of the Lease of leader election: `IDENTITY URL` of the leader and its HTTP server. */
const ANNOTATION = 'promscaler.dev/leader-address';

export interface AddressedLease {
  readonly client: LeaseClient;
  /** URL of the HTTP server of a replica, as last read; null: unknown. */
  readonly addressOf: (identity: string) => string | null;
}

/**
 * Lets the leader write the address of its HTTP server into its Lease, where standbys find it. The identity next to it
 * shows that the address is not that of an earlier leader.
 */
export function withLeaderAddress(
  client: LeaseClient,
  { identity, address }: { readonly identity: string; readonly address: () => string | null },
): AddressedLease {
  let known: { readonly identity: string; readonly address: string } | null = null;
  const note = (seen: SeenLease): SeenLease => {
    known = readLeader(annotationsOf(seen)[ANNOTATION] ?? '');
    return seen;
  };
  /** Returns the annotations for a spec: none if this replica is not its holder. */
  const ownAnnotations = ({ holderIdentity }: LeaseSpec): Readonly<Record<string, string>> => {
    const own = address();
    return holderIdentity === identity && own !== null ? { [ANNOTATION]: `${identity} ${own}` } : {};
  };
  const claimed = (seen: SeenLease, spec: LeaseSpec): SeenLease => {
    const annotations = { ...annotationsOf(seen), ...ownAnnotations(spec) };
    return {
      ...seen,
      object: { ...seen.object, metadata: { ...objectIn(seen.object, 'metadata'), annotations } },
    };
  };
  return {
    client: {
      name: client.name,
      read: async (signal) => {
        const seen = await client.read(signal);
        return seen === null ? null : note(seen);
      },
      create: async (spec, signal) => note(await client.create(spec, signal, ownAnnotations(spec))),
      update: async (seen, spec, signal) => note(await client.update(claimed(seen, spec), spec, signal)),
    },
    addressOf: (wanted) => (known?.identity === wanted ? known.address : null),
  };
}

function annotationsOf({ object }: SeenLease): Readonly<Record<string, string>> {
  return textsIn(objectIn(object, 'metadata'), 'annotations');
}

const MOST_CHARACTERS = 500;

function readLeader(text: string): { readonly identity: string; readonly address: string } | null {
  const [identity, url, ...rest] = text.length > MOST_CHARACTERS ? [] : text.split(' ');
  const address = readAddress(url ?? null);
  return identity === undefined || address === null || rest.length > 0 ? null : { identity, address };
}
