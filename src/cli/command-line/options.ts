import { type Command, Option } from 'commander';

/** `-o` with the formats that a command has; the first is the default. */
export function outputOption(formats: readonly [string, ...string[]]): Option {
  const option = new Option('-o, --output <format>', 'output format').default(formats[0]);
  // Not choices(): a wrong format is refused in our own words. Help and completion read these.
  option.argChoices = [...formats];
  return option;
}

/** An option whose values help and completion show; the command itself refuses others. */
export function optionOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...values];
  return option;
}

/** The options by which a command finds the running service. */
export function reaching(command: Command): Command {
  return command
    .option('--url <address>', "URL of the service (default: found through the API server's service proxy)")
    .option(
      '--service-namespace <namespace>',
      'namespace of the Service of promscaler (default: search all namespaces)',
    )
    .option('--kubeconfig <file>', 'kubeconfig file (default: as for kubectl)')
    .option('--context <name>', 'context of the kubeconfig');
}

/** The options by which a command finds the API server; those of the service config they replace. */
export function reachingCluster(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig file (default: as for kubectl)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--url <address>', 'URL of the API server, such as that of kubectl proxy');
}

/** The namespace of a scaler that is named without one. */
export const NAMESPACE_OF_SCALER = [
  '-n, --namespace <namespace>',
  'namespace of a scaler given without one (default: of the kubeconfig context)',
] as const;
