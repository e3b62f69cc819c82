import { homedir } from 'node:os';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { podNamespace, usualKubeconfigs } from '../../kubernetes/access/connection.js';
import { ConnectionError, readContextNames, readKubeconfig } from '../../kubernetes/access/kubeconfig.js';
import type { CommandIo } from '../output/io.js';
import { execFile } from 'node:child_process';
import type { RunPlugin } from '../../kubernetes/access/exec-plugin.js';
import { DeadlineError, withDeadline } from '../../units/clock.js';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly url?: string;
}

/**
 * Applies command-line options, which override the config. `--kubeconfig` and `--context` also override
 * `kubernetes.url`, and `--kubeconfig` also overrides `kubernetes.context`.
 */
export function withCluster(
  config: ServiceConfig,
  { kubeconfig, context, url }: ClusterOptions,
): ServiceConfig {
  const { kubernetes } = config;
  const isOtherFile = kubeconfig !== undefined;
  const isOtherContext = isOtherFile || context !== undefined;
  return {
    ...config,
    kubernetes: {
      ...kubernetes,
      kubeconfig: kubeconfig ?? kubernetes.kubeconfig,
      context: context ?? (isOtherFile ? null : kubernetes.context),
      url: url ?? (isOtherContext ? null : kubernetes.url),
    },
  };
}

/** Returns the settings of the connection. Unset settings are resolved as in kubectl. */
export function connectionSettings({ kubernetes: { kubeconfig, context, url } }: ServiceConfig): {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly url: string | undefined;
} {
  return { kubeconfig: kubeconfig ?? undefined, context: context ?? undefined, url: url ?? undefined };
}

/**
 * Returns the namespace of the kubeconfig context. Without a kubeconfig, returns the namespace of the pod, otherwise
 * `default`. `findConnection` tries the same sources. Sends no request and runs no credential plugin.
 */
export async function contextNamespace(
  { kubeconfig, context }: Pick<ClusterOptions, 'kubeconfig' | 'context'>,
  io: Pick<CommandIo, 'env'>,
): Promise<string> {
  try {
    const access = await readKubeconfig(
      kubeconfig === undefined ? usualPaths(io) : [kubeconfig],
      context ?? null,
    );
    if (access !== null) return access.namespace ?? DEFAULT_NAMESPACE;
    return (await podNamespace(io)) ?? DEFAULT_NAMESPACE;
  } catch (error) {
    // The error is ignored here, because commands that connect to the cluster report it.
    if (error instanceof ConnectionError) return DEFAULT_NAMESPACE;
    throw error;
  }
}

/** Returns the names of the contexts in the kubeconfig. Throws `ConnectionError` if the kubeconfig is invalid. */
export function contextNames(
  { kubeconfig }: Pick<ClusterOptions, 'kubeconfig'>,
  io: Pick<CommandIo, 'env'>,
): Promise<readonly string[]> {
  return readContextNames(kubeconfig === undefined ? usualPaths(io) : [kubeconfig]);
}

const DEFAULT_NAMESPACE = 'default';

function usualPaths(io: Pick<CommandIo, 'env'>): readonly string[] {
  return usualKubeconfigs({ env: io.env, home: homeDirectory(io) });
}

interface ConnectionAccess extends Pick<CommandIo, 'env' | 'clock'> {
  readonly home: string | null;
  readonly runPlugin: RunPlugin;
}

/** Returns what `findConnection` needs of the process. */
export function connectionAccess(io: Pick<CommandIo, 'env' | 'clock'>): ConnectionAccess {
  return { env: io.env, home: homeDirectory(io), clock: io.clock, runPlugin: pluginRunner(io) };
}

/** Returns null if HOME is unset and the user is not in /etc/passwd, as in some containers. */
export function homeDirectory({ env }: Pick<CommandIo, 'env'>): string | null {
  const { HOME: home = '' } = env;
  if (home !== '') return home;
  try {
    return homedir();
  } catch {
    return null;
  }
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_LINE_LENGTH = 200;

/**
 * Runs the credential plugin of a kubeconfig. It gets the environment of this process, its own variables from the
 * kubeconfig, and an empty standard input. If it fails, the message includes the last line of its standard error, with
 * at most 200 characters.
 */
export function pluginRunner({ env, clock }: Pick<CommandIo, 'env' | 'clock'>): RunPlugin {
  return (run) =>
    withDeadline(clock, { ms: run.timeoutMs }, (signal) => {
      return new Promise((resolve) => {
        const options = { env: { ...env, ...run.env }, maxBuffer: MAX_OUTPUT_BYTES, signal };
        const child = execFile(run.command, [...run.args], options, (error, stdout, stderr) => {
          if (error === null) {
            resolve({ kind: 'done', stdout });
            return;
          }
          // `error.message` is not used, because it contains the arguments and all of standard error.
          const reason: unknown = signal.reason;
          const isMissing = error.code === 'ENOENT';
          const why =
            reason instanceof DeadlineError
              ? `did not end within ${run.timeoutMs / 1000} s`
              : isMissing
                ? 'does not exist'
                : `ended with ${String(error.code ?? error.signal ?? 'an error')}${lastLine(stderr)}`;
          resolve({ kind: 'failed', why, isMissing });
        });
        // The error is ignored, because the pipe breaks if the plugin exits without reading its standard input.
        child.stdin?.on('error', () => undefined);
        child.stdin?.end();
      });
    });
}

function lastLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/\p{Cc}+/gu, ' ').trim());
  const last = lines.findLast((line) => line !== '');
  if (last === undefined) return '';
  return `: ${last.length > MAX_LINE_LENGTH ? `${last.slice(0, MAX_LINE_LENGTH)}...` : last}`;
}
