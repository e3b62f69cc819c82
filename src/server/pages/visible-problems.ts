import type { Problem } from '../../scaler/problems/problem.js';
import type { Viewer } from '../access/viewer.js';

const OF_OBJECT = /^scalers\.promscaler\.dev\/([^/]+)\/[^/]+$/;

/**
 * Returns the problems that a client may see. A file can contain documents of several namespaces, so only clients that
 * see all of them get its problems.
 */
export function visibleProblems(problems: readonly Problem[], viewer: Viewer): readonly Problem[] {
  if (viewer.seesAll) return problems;
  return problems.filter(({ file }) => {
    const namespace = OF_OBJECT.exec(file ?? '')?.[1];
    return namespace !== undefined && viewer.sees(namespace);
  });
}
