/** The text of a kubeconfig for the simulated cluster; `token` where the simulator asks for one. */
export function kubeconfigText(url: string, token: string | null, namespace = 'default'): string {
  const user = token === null ? {} : { token };
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'simulator',
      clusters: [{ name: 'simulator', cluster: { server: url } }],
      users: [{ name: 'simulator', user }],
      contexts: [{ name: 'simulator', context: { cluster: 'simulator', user: 'simulator', namespace } }],
    },
    null,
    2,
  );
}
