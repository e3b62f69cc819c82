import { dirname, resolve } from 'node:path';
import { z } from 'zod';

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

const text = z.string().nullish();

/** `users[].user.exec` of a kubeconfig. */
export const EXEC = z.looseObject({
  apiVersion: text,
  command: text,
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  interactiveMode: text,
  provideClusterInfo: z.boolean().nullish(),
  installHint: text,
});

export interface ExecConfig {
  readonly apiVersion: (typeof API_VERSIONS)[number];
  /** A name on the PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of the process; may contain secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the plugin receives the address and CA of the cluster. */
  readonly provideClusterInfo: boolean;
  readonly installHint: string | null;
}

/** Returns the plugin of a user, or a problem as a string. Paths are relative to `file`, the kubeconfig. */
export function readExec(value: z.infer<typeof EXEC>, file: string): ExecConfig | string {
  const { command = null, args, env, interactiveMode, provideClusterInfo, installHint } = value;
  if (command === null || command === '') return 'exec has no command';
  const apiVersion = API_VERSIONS.find((known) => known === value.apiVersion);
  if (apiVersion === undefined) return `exec.apiVersion must be ${API_VERSIONS.join(' or ')}`;
  if (interactiveMode === 'Always') {
    return `the plugin "${command}" requires a terminal (interactiveMode: Always), which promscaler does not have`;
  }
  return {
    apiVersion,
    command: /[\\/]/.test(command) ? resolve(dirname(file), command) : command,
    args: args ?? [],
    env: Object.fromEntries((env ?? []).map(({ name, value: one }) => [name, one])),
    provideClusterInfo: provideClusterInfo ?? false,
    installHint: installHint ?? null,
  };
}

export const INSTEAD_OF_PLUGIN =
  'use a user with a token or a client certificate, or `kubectl proxy` and its URL';
