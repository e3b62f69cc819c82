import { type Command, Option } from 'commander';
import type { ExitCode } from '../output/io.js';

export function outputOption(formats: readonly [string, ...string[]]): Option {
  const option = new Option('-o, --output <format>', 'Output format').default(formats[0]);
  // The values are set directly, because `choices()` of commander would also check the value, which the command does.
  option.argChoices = [...formats];
  return option;
}

/** Creates an option whose values are shown in help and completion. The command rejects other values. */
export function optionOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...values];
  return option;
}

const KUBECONFIG: readonly [string, string] = [
  '--kubeconfig <file>',
  'Kubeconfig file (default: as for kubectl, else the service account of the pod)',
];
export const KUBECONFIG_OF_SERVICE: typeof KUBECONFIG = [
  '--kubeconfig <file>',
  'Kubeconfig file (default: the service account of the pod, else as for kubectl)',
];
const CONTEXT = ['--context <context>', 'Context of the kubeconfig'] as const;

export function reaching(command: Command): Command {
  return command
    .option(
      '--url <address>',
      'URL of the service, such as http://localhost:8080 (default: the service proxy of the API server)',
    )
    .option(
      '--service-namespace <namespace>',
      'Namespace of the Service of promscaler (default: search all namespaces)',
    )
    .option(
      '--token-file <file>',
      'File with the bearer token for a service with server.auth (default: token in the environment variable PROMSCALER_TOKEN)',
    )
    .option(...KUBECONFIG)
    .option(...CONTEXT);
}

/** Adds the options of commands that connect to the API server. These options override the service config. */
export function reachingCluster(command: Command, kubeconfig: typeof KUBECONFIG = KUBECONFIG): Command {
  return command
    .option(...kubeconfig)
    .option(...CONTEXT)
    .option('--url <address>', 'URL of the API server, such as the URL of kubectl proxy');
}

export const NAMESPACE_OF_SCALER = [
  '-n, --namespace <namespace>',
  'Namespace of a scaler that is given as NAME (default: namespace of the kubeconfig context)',
] as const;

/** Holds the exit code of a command, because commander discards what its action returns. */
export interface Result {
  exitCode: ExitCode;
}
