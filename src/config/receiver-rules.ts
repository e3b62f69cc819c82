import { type Finding, type Path, finding, formatPath } from '../scaler/problems/finding.js';
import type { Loose } from '../scaler/schema/document-schema.js';
import type { ReceiverInput } from './notification-schema.js';
import type { ServiceInput } from './service-schema.js';
import { checkTls } from './tls-rules.js';

/** Each has its own queue and connection. */
const MAX_RECEIVERS = 10;

export function checkReceivers(
  receivers: Loose<ServiceInput>['notifications'],
  isBroken: (path: Path) => boolean,
): readonly Finding[] {
  const all = Object.entries(receivers ?? {});
  const path = ['notifications'];
  const count = `notifications has ${all.length} receivers, must have at most ${MAX_RECEIVERS}`;
  return [
    ...(all.length > MAX_RECEIVERS ? [finding('wrong-settings', path, count)] : []),
    ...all.flatMap(([name, receiver]) =>
      receiver === undefined ? [] : checkReceiver(receiver, [...path, name], isBroken),
    ),
  ];
}

function checkReceiver(
  receiver: Loose<ReceiverInput>,
  path: Path,
  isBroken: (path: Path) => boolean,
): readonly Finding[] {
  const { url, urlFile, format, tls } = receiver;
  const findings: Finding[] = [];
  const report = (message: string): void =>
    void findings.push({ ...finding('wrong-settings', path, `${formatPath(path)} ${message}`), at: 'key' });
  // An invalid URL is another problem.
  const isKnown = !isBroken([...path, 'url']) && !isBroken([...path, 'urlFile']);
  if (isKnown && (url === undefined) === (urlFile === undefined)) report('must have one of url and urlFile');
  if (format === 'slack' && url !== undefined)
    report('must have urlFile: the URL of a Slack webhook is a secret');
  return [...findings, ...checkTls(tls, [...path, 'tls'])];
}
