export interface KubeconfigOptions {
  /** Required if the simulator has tokens. Default: the first token. */
  readonly token?: string;
  /** Namespace of the context; default `default`. */
  readonly namespace?: string;
  /** Adds the token to the server path, because kubectl sends no credentials over plain HTTP. */
  readonly isForKubectl?: boolean;
}

const PREFIX = '/as/';

export function kubeconfigText(url: string, options: KubeconfigOptions): string {
  const { token, namespace = 'default', isForKubectl = false } = options;
  const user = token === undefined ? {} : { token };
  const server = isForKubectl && token !== undefined ? url + PREFIX + encodeURIComponent(token) : url;
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'simulator',
      clusters: [{ name: 'simulator', cluster: { server } }],
      users: [{ name: 'simulator', user }],
      contexts: [{ name: 'simulator', context: { cluster: 'simulator', user: 'simulator', namespace } }],
    },
    null,
    2,
  );
}

/** Splits the token from the start of a path; null if there is none. */
export function splitToken(path: string): { readonly token: string | null; readonly rest: string } {
  const end = path.startsWith(PREFIX) ? path.indexOf('/', PREFIX.length) : -1;
  if (end < 0) return { token: null, rest: path };
  return { token: decodeURIComponent(path.slice(PREFIX.length, end)), rest: path.slice(end) };
}
