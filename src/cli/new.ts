import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { TargetRef } from '../scaler/spec.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { askCluster } from './new/ask-cluster.js';
import { WORKLOAD_NAME, checkDocument } from './new/check-document.js';
import { findAccess } from './new/find-access.js';
import { type NewOptions, readNewOptions } from './new/new-options.js';
import { guessTarget, readTarget } from './new/target-kind.js';
import { writeDocument } from './new/write-document.js';

/**
 * `new KIND/NAME`: prints the first document of a workload, valid at once. The cluster, where there is one, is asked for
 * what would keep the document from working; what it says (or that it says nothing) is a warning on standard error.
 */
export async function runNew(targetText: string, options: NewOptions, io: CommandIo): Promise<ExitCode> {
  const request = readNewOptions(options);
  const asked = readTarget(targetText);
  const isOffline = options.offline === true;
  const access = await findAccess(io, options);
  const namespace = options.namespace ?? access.namespace ?? 'default';
  const build = (target: TargetRef): string => {
    const name = options.name ?? asked.name;
    return writeDocument({ ...request, namespace, name, target, file: options.outputFile ?? null });
  };
  const nameOption = options.name === undefined ? WORKLOAD_NAME : '--name';
  // A mistake in the options is told before the cluster is asked.
  const draft = asked.ref ?? guessDraft(asked.name);
  const warnings = checkDocument(build(draft), nameOption);

  const found = isOffline
    ? { ref: null, remarks: [], failure: 'with --offline' }
    : await askCluster({ access, asked, namespace, metrics: request.metrics, io });
  const target = asked.ref ?? found.ref ?? guessTarget(asked.name, asked.unknown, found.failure);
  const text = build(target);
  checkDocument(text, nameOption);
  for (const remark of [...warnings, ...found.remarks]) io.stderr.write(`promscaler: warning: ${remark}\n`);
  await hand(text, options.outputFile, io);
  return 0;
}

/** Stands for a kind that is not known yet, so that all else can be checked. */
function guessDraft(name: string): TargetRef {
  return { apiVersion: 'apps/v1', kind: 'Deployment', name };
}

const WRITE_FAILURES: Readonly<Record<string, string>> = {
  EEXIST: 'there is such a file already, it is left as it is',
  ENOENT: 'there is no such folder',
  EACCES: 'permission to write it is denied',
};

async function hand(text: string, file: string | undefined, io: CommandIo): Promise<void> {
  if (file === undefined || file === '-') {
    io.stdout.write(text);
    return;
  }
  try {
    await writeFile(resolve(io.cwd, file), text, { flag: 'wx' });
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
    throw new CommandError(`writing ${file}: ${WRITE_FAILURES[String(code)] ?? String(error)}`);
  }
  io.stdout.write(`${file} is written; next: promscaler validate ${file}\n`);
}
