/** How a kubeconfig is to look. */
export interface KubeconfigOptions {
  /** Where the simulator asks for one; default: the first it knows. */
  readonly token?: string;
  /** Of the context; default `default`. */
  readonly namespace?: string;
  /**
   * Puts the token into the server's path as well. For kubectl, which sends no credentials over plain HTTP.
   */
  readonly isForKubectl?: boolean;
}

/** What comes before a token in a path. */
const PREFIX = '/as/';

/** The text of a kubeconfig for the simulated cluster. */
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

/** Takes a token off the front of a path; null where there is none. */
export function splitToken(path: string): { readonly token: string | null; readonly rest: string } {
  const end = path.startsWith(PREFIX) ? path.indexOf('/', PREFIX.length) : -1;
  if (end < 0) return { token: null, rest: path };
  return { token: decodeURIComponent(path.slice(PREFIX.length, end)), rest: path.slice(end) };
}
