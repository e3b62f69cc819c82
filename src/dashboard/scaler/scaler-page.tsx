import type { VNode } from 'preact';
import type { Api } from '../data/api.js';
import { scalerRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { PageHeading } from '../ui/page-heading.jsx';
import { Waiting } from '../ui/states.jsx';

export interface ScalerPageProps {
  readonly namespace: string;
  readonly name: string;
  readonly api: Api;
}

export function ScalerPage({ namespace, name, api }: ScalerPageProps): VNode {
  const { value, error, refresh } = useAnswer(api, scalerRequest(namespace, name), { everyMs: 15_000 });
  return (
    <>
      <PageHeading title={name} context={namespace} />
      {value === null ? <Waiting error={error} onRetry={refresh} /> : <p>{value.reason}</p>}
    </>
  );
}
