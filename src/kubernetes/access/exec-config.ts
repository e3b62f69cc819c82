import { dirname, resolve } from 'node:path';
import { z } from 'zod';

/** The versions of the protocol between clients and credential plugins that are spoken here. */
const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

const text = z.string().nullish();

/** `exec` of a user of a kubeconfig. */
export const EXEC = z.looseObject({
  apiVersion: text,
  command: text,
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  interactiveMode: text,
  provideClusterInfo: z.boolean().nullish(),
  installHint: text,
});

/** A program that prints credentials. */
export interface ExecConfig {
  readonly apiVersion: (typeof API_VERSIONS)[number];
  /** A name to be found on the PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to our own environment; may hold secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it is told of the cluster. */
  readonly provideClusterInfo: boolean;
  /** How it is installed, in the words of the kubeconfig; null: it says nothing. */
  readonly installHint: string | null;
}

/** The plugin of a user, or as a text what is wrong with it. `file` is the kubeconfig that paths count from. */
export function readExec(value: z.infer<typeof EXEC>, file: string): ExecConfig | string {
  const { command = null, args, env, interactiveMode, provideClusterInfo, installHint } = value;
  if (command === null || command === '') return 'exec has no command';
  const apiVersion = API_VERSIONS.find((known) => known === value.apiVersion);
  if (apiVersion === undefined) return `exec.apiVersion must be ${API_VERSIONS.join(' or ')}`;
  if (interactiveMode === 'Always') {
    return `the plugin "${command}" wants to ask a person (interactiveMode: Always), and nobody is there to answer`;
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
