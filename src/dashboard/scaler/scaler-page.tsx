import type { VNode } from 'preact';
import type { Api } from '../data/api.js';
import { isAbout } from '../data/keep-fresh.js';
import { scalerRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { usePart } from '../ui/hooks.js';
import { PageHeading } from '../ui/page.jsx';
import { PartMissing, Waiting } from '../ui/states.jsx';

export interface ScalerPageProps {
  readonly namespace: string;
  readonly name: string;
  readonly api: Api;
}

const EVERY_MS = 15_000;

/** Shows a scaler. The code of the page and of the charts is loaded while the data is requested. */
export function ScalerPage({ namespace, name, api }: ScalerPageProps): VNode {
  const { value, error, refresh } = useAnswer(api, scalerRequest(namespace, name), {
    everyMs: EVERY_MS,
    isAffected: isAbout({ namespace, name }),
    loadName: `${namespace}/${name}`,
  });
  const { part, hasFailed } = usePart(loadContent, true);
  const { part: missing } = usePart(loadMissing, value === null && error?.kind === 'not-found');
  return (
    <div class="scaler-page">
      <PageHeading title={name} context={namespace} />
      {hasFailed ? (
        <PartMissing />
      ) : value !== null && part !== null ? (
        <part.ScalerContent api={api} detail={value} />
      ) : value === null && error !== null && missing !== null ? (
        <missing.MissingScaler api={api} namespace={namespace} name={name} error={error} onRetry={refresh} />
      ) : (
        <Waiting error={value === null ? error : null} onRetry={refresh} />
      )}
    </div>
  );
}

const loadMissing = () => import('./what-to-do.jsx');
const loadContent = () => import('./scaler-content.jsx');
