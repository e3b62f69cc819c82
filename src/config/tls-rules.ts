import { type Finding, type Path, finding, formatPath } from '../scaler/problems/finding.js';
import type { Loose } from '../scaler/schema/document-schema.js';
import type { SourceInput } from './source-schema.js';

export function checkTls(tls: Loose<SourceInput>['tls'], path: Path): readonly Finding[] {
  if (tls === undefined || (tls.certFile === undefined) === (tls.keyFile === undefined)) return [];
  const message = `${formatPath(path)} needs both certFile and keyFile, or neither`;
  return [{ ...finding('wrong-settings', path, message), at: 'key' }];
}
