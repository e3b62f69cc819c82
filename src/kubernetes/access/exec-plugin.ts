import { parseJson } from '../../units/json-bounds.js';
import { asObject } from '../../scaler/plain-json.js';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../units/clock.js';
import { type Instant, parseInstant } from '../../units/time.js';
import { objectIn, textIn } from '../api/json.js';

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

const text = z.string().nullish();

/** The schema of `users[].user.exec` in a kubeconfig. */
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
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that are added to the environment of the process; they may contain secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the plugin gets the address and CA of the cluster. */
  readonly provideClusterInfo: boolean;
  readonly installHint: string | null;
}

/**
 * Returns the plugin of a user, or a string that says why it is invalid. Paths are relative to the kubeconfig `file`.
 */
export function readExec(value: z.infer<typeof EXEC>, file: string): ExecConfig | string {
  const { command = null, args, env, interactiveMode, provideClusterInfo, installHint } = value;
  if (command === null || command === '') return 'exec has no command';
  const apiVersion = API_VERSIONS.find((known) => known === value.apiVersion);
  if (apiVersion === undefined) return `exec.apiVersion must be ${API_VERSIONS.join(' or ')}`;
  if (interactiveMode === 'Always') {
    return `the plugin "${command}" requires a terminal (interactiveMode: Always), but promscaler has no terminal`;
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

export interface PluginRun {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that are added to the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Runs a program without a terminal. `why` is a short reason, never the standard output. Never rejects. */
export type RunPlugin = (
  run: PluginRun,
) => Promise<
  | { readonly kind: 'done'; readonly stdout: string }
  | { readonly kind: 'failed'; readonly why: string; readonly isMissing: boolean }
>;

/** A token, or a certificate with its key, or both. */
export interface PluginCredentials {
  readonly token: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
}

export type ClusterInfo = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 30_000;
/** Minimum time between two runs of a plugin, even if it fails or the server rejects its credentials. */
const MIN_INTERVAL_MS = 5000;

interface Issued extends PluginCredentials {
  readonly expiresAt: Instant | null;
}

/**
 * Returns a function that returns the credentials of a plugin, cached until they expire. `fresh` is for a retry after a
 * 401: the plugin is run again, unless its last run was less than 5 s ago. Concurrent callers share one run. Rejects
 * with a message without secrets. Source: client.authentication.k8s.io/v1; reliability.md, K21.
 */
export function createPluginCredentials(options: {
  readonly exec: ExecConfig;
  readonly clusterInfo: () => Promise<ClusterInfo>;
  readonly runPlugin: RunPlugin;
  readonly clock: Clock;
}): (fresh?: boolean) => Promise<PluginCredentials> {
  const { clock } = options;
  let issued: Issued | null = null;
  let failure: Error | null = null;
  let ranAtMs = -Infinity;
  let running: Promise<Issued> | null = null;

  const run = async (): Promise<Issued> => {
    try {
      issued = await issue(options);
      failure = null;
      return issued;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw failure;
    } finally {
      ranAtMs = clock.monotonicMs();
      running = null;
    }
  };

  return (fresh = false) => {
    if (running !== null) return running;
    const isTooSoon = clock.monotonicMs() - ranAtMs < MIN_INTERVAL_MS;
    const isGood = issued !== null && (issued.expiresAt === null || clock.now() < issued.expiresAt);
    if (issued !== null && isGood && (!fresh || isTooSoon)) return Promise.resolve(issued);
    if (failure !== null && isTooSoon) return Promise.reject(failure);
    running = run();
    return running;
  };
}

async function issue(options: Parameters<typeof createPluginCredentials>[0]): Promise<Issued> {
  const { exec, clusterInfo, runPlugin } = options;
  const { apiVersion, command, args } = exec;
  const cluster = exec.provideClusterInfo ? { cluster: await clusterInfo() } : {};
  const info = { kind: 'ExecCredential', apiVersion, spec: { interactive: false, ...cluster } };
  const env = { ...exec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  const outcome = await runPlugin({ command, args, env, timeoutMs: TIMEOUT_MS });
  const plugin = `the credential plugin "${command}"`;
  if (outcome.kind === 'failed') {
    const hint = outcome.isMissing && exec.installHint !== null ? `. ${exec.installHint.trim()}` : '';
    throw new Error(`${plugin} ${outcome.why}${hint}`);
  }
  const read = readCredential(outcome.stdout, apiVersion);
  if (typeof read === 'string') throw new Error(`${plugin} ${read}`);
  return read;
}

/**
 * Parses the output of a plugin. Returns a string if it is invalid: the reason, without the output, which may contain
 * a secret.
 */
function readCredential(stdout: string, apiVersion: string): Issued | string {
  const credential = asObject(parseJson(stdout)) ?? {};
  if (textIn(credential, 'kind') !== 'ExecCredential') return 'did not print an ExecCredential';
  if (textIn(credential, 'apiVersion') !== apiVersion) return `did not print apiVersion ${apiVersion}`;
  const status = objectIn(credential, 'status');
  const token = textIn(status, 'token');
  const certificate = textIn(status, 'clientCertificateData');
  const key = textIn(status, 'clientKeyData');
  if ((certificate === null) !== (key === null))
    return 'must return both clientCertificateData and clientKeyData';
  if (token === null && certificate === null) return 'returned neither a token nor a certificate';
  const expiration = textIn(status, 'expirationTimestamp');
  const expiresAt = expiration === null ? null : parseInstant(expiration);
  if (expiration !== null && expiresAt === null) return 'returned an invalid expirationTimestamp';
  return { token, certificate, key, expiresAt };
}
