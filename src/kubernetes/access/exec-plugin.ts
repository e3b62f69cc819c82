import type { Clock } from '../../units/clock.js';
import { parseInstant, type Instant } from '../../units/time.js';
import type { ExecConfig } from './exec-config.js';
import { asObject, objectIn, textIn, type JsonObject } from '../json.js';

/** One run of a credential plugin. */
export interface PluginRun {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside our own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Starts a program without a terminal; `why` is short and holds nothing of its standard output. Never rejects. */
export type RunPlugin = (
  run: PluginRun,
) => Promise<
  | { readonly kind: 'done'; readonly stdout: string }
  | { readonly kind: 'failed'; readonly why: string; readonly isMissing: boolean }
>;

/** What a plugin gave: a token, or a certificate with its key, or both. */
export interface PluginCredentials {
  readonly token: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
}

/** What a plugin is told of the cluster, as the protocol has it. */
export type ClusterInfo = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 30_000;
/** Neither a plugin that fails nor a server that refuses what it gives makes it run more often. */
const REST_MS = 5000;

interface Issued extends PluginCredentials {
  readonly expiresAt: Instant | null;
}

/**
 * The credentials of a plugin, kept until they expire; with `fresh` it is run again, which is what a 401 asks for, but
 * not within 5 s of the last time. One run serves all who ask meanwhile. Rejects with a message that holds no secret.
 * Source: client.authentication.k8s.io/v1; reliability.md, K21.
 */
export function createPluginCredentials(options: {
  readonly exec: ExecConfig;
  /** Asked for where the plugin is to know the cluster. */
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
    const isResting = clock.monotonicMs() - ranAtMs < REST_MS;
    const isGood = issued !== null && (issued.expiresAt === null || clock.now() < issued.expiresAt);
    if (issued !== null && isGood && (!fresh || isResting)) return Promise.resolve(issued);
    if (failure !== null && isResting) return Promise.reject(failure);
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

/** What a plugin printed, or what is wrong with it: in our words, for it may hold a secret. */
function readCredential(stdout: string, apiVersion: string): Issued | string {
  const credential = parseObject(stdout);
  if (textIn(credential, 'kind') !== 'ExecCredential') return 'printed no ExecCredential';
  if (textIn(credential, 'apiVersion') !== apiVersion) return `did not answer in ${apiVersion}`;
  const status = objectIn(credential, 'status');
  const token = textIn(status, 'token');
  const certificate = textIn(status, 'clientCertificateData');
  const key = textIn(status, 'clientKeyData');
  if ((certificate === null) !== (key === null))
    return 'gave only one of clientCertificateData and clientKeyData';
  if (token === null && certificate === null) return 'gave neither a token nor a certificate';
  const expiration = textIn(status, 'expirationTimestamp');
  const expiresAt = expiration === null ? null : parseInstant(expiration);
  if (expiration !== null && expiresAt === null) return 'gave an expirationTimestamp that is no time';
  return { token, certificate, key, expiresAt };
}

function parseObject(stdout: string): JsonObject {
  try {
    return asObject(JSON.parse(stdout)) ?? {};
  } catch {
    return {};
  }
}
