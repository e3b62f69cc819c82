import type { Snippet } from '../../decision/snippet.js';
import { type CommandIo, usageError } from '../output/io.js';
import { writeOptions } from '../output/lines.js';
import { contextNamespace } from '../reach/cluster-options.js';
import type { ReachOptions } from '../reach/find-service.js';
import { SOURCE_KINDS, type SourceKind } from '../reach/source-kinds.js';

export interface AdoptOptions extends ReachOptions {
  /** `hpa/NAME` or `scaledobject/NAME`. */
  readonly source: string;
  readonly namespace?: string;
  /** File with the scaler document, completed by the user. */
  readonly filename?: string;
  readonly adapterConfig?: string;
  readonly report?: boolean;
  readonly switch?: boolean;
  readonly undo?: boolean;
  readonly force?: boolean;
  /** File in which the manifest of the autoscaler is saved. */
  readonly save?: string;
  /** Whether to print only what the step would do. */
  readonly preview?: boolean;
  readonly output: string;
}

export interface Source {
  readonly kind: SourceKind;
  readonly namespace: string;
  readonly name: string;
}

export type AdoptStep = 'start' | 'report' | 'switch' | 'undo';

/** Returns the step that the options select. Throws `CommandError` for options that exclude each other. */
export function readStep(options: AdoptOptions): AdoptStep {
  const steps = (['report', 'switch', 'undo'] as const).filter((step) => options[step] === true);
  const [step = 'start', other] = steps;
  if (other !== undefined) throw usageError(`--${step} and --${other} cannot be combined`);
  const isStart = step === 'start';
  if (!isStart && options.filename !== undefined)
    throw usageError(`--filename cannot be combined with --${step}`);
  if (!isStart && options.adapterConfig !== undefined)
    throw usageError(`--adapter-config cannot be combined with --${step}`);
  if (options.filename !== undefined && options.adapterConfig !== undefined)
    throw usageError('--filename and --adapter-config cannot be combined');
  if (step !== 'switch' && options.force === true) throw usageError('--force needs --switch');
  if (step !== 'switch' && options.save !== undefined) throw usageError('--save needs --switch');
  if (step === 'report' && options.preview === true)
    throw usageError('--preview cannot be combined with --report, because a report changes nothing');
  return step;
}

/** Parses `KIND/NAME`. The namespace defaults to the namespace of the kubeconfig context. */
export async function readSource(options: AdoptOptions, io: Pick<CommandIo, 'env'>): Promise<Source> {
  const [type = '', name = '', rest] = options.source.split('/');
  const kind = SOURCE_KINDS.find(({ types }) => types.includes(type.toLowerCase()));
  if (kind === undefined || name === '' || rest !== undefined)
    throw usageError(
      `${options.source === '' ? '""' : options.source} is not the name of an autoscaler: use hpa/NAME or scaledobject/NAME`,
    );
  return { kind, namespace: options.namespace ?? (await contextNamespace(options, io)), name };
}

/** Returns for example `HPA shop/web`. */
export function nameSource({ kind, namespace, name }: Source): string {
  return `${kind.word} ${namespace}/${name}`;
}

/** What commands for the user need. They have the connection options that the user has set. */
interface CommandContext {
  readonly options: AdoptOptions;
  readonly io: Pick<CommandIo, 'command'>;
  readonly source: Source;
}

/** Returns the command line of another step of `adopt`. */
export function commandFor(flag: string, context: CommandContext): string {
  const { kind, namespace, name } = context.source;
  const step = `adopt ${kind.types[0] ?? ''}/${name} -n ${namespace}`;
  return promscalerFor(flag === '' ? step : `${step} ${flag}`, context);
}

/** Returns a command line of promscaler. `rest`: such as `resume shop/web`. */
export function promscalerFor(rest: string, { options, io }: CommandContext): string {
  const { url, serviceNamespace, kubeconfig, context } = options;
  const connection = writeOptions({ url, 'service-namespace': serviceNamespace, kubeconfig, context });
  return [`${io.command} ${rest}`, ...connection].join(' ');
}

/** Returns a kubectl command line with the namespace. `rest`: such as `describe hpa web`. */
export function kubectlFor(rest: string, context: CommandContext): string {
  return commandText({ text: `kubectl ${rest} -n ${context.source.namespace}` }, context);
}

/** Returns a kubectl command with the connection options. */
export function commandText(
  { text }: Pick<Snippet, 'text'>,
  { options: { kubeconfig, context } }: Pick<CommandContext, 'options'>,
): string {
  return [text, ...writeOptions({ kubeconfig, context })].join(' ');
}
