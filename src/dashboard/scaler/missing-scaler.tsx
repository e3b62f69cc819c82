import type { VNode } from 'preact';
import type { Api } from '../data/api.js';
import type { ApiError } from '../data/api-error.js';
import { overviewRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { Icon } from '../ui/icon.jsx';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { Waiting } from '../ui/states.jsx';
import { Time } from '../ui/time.jsx';
import { Sentence } from '../ui/sentence.jsx';
import { RemedyItem, invalidRemedies } from './text/what-to-do.jsx';

interface MissingScalerProps {
  readonly api: Api;
  readonly namespace: string;
  readonly name: string;
  /** The answer of the API about the scaler. */
  readonly error: ApiError;
  readonly onRetry: () => void;
}

const EVERY_MS = 15_000;

/** Shows why the document of a scaler without decisions is invalid, or else that the scaler does not exist. */
export function MissingScaler({ api, namespace, name, error, onRetry }: MissingScalerProps): VNode {
  const { value } = useAnswer(api, overviewRequest(null, namespace), { everyMs: EVERY_MS });
  const row = value?.rows.find((one) => one.name === name);
  if (row?.rejections === undefined) return <Waiting error={error} onRetry={onRetry} />;
  const { state } = row;
  const { tone, icon } = SEVERITY_STYLES[state.severity];
  return (
    <section class={`card scaler-verdict tone-${tone}`} aria-label="State">
      <h2>
        <Icon name={icon} />
        <span>{state.name}: nothing is scaled, because no version of the document is valid</span>
      </h2>
      <p class="verdict-sentence">
        <Sentence text={state.cause ?? ''} />
      </p>
      <div class="what-to-do">
        <h3>What to do</h3>
        <ul>
          {invalidRemedies(row).map((remedy) => (
            <RemedyItem key={remedy.text} remedy={remedy} />
          ))}
        </ul>
      </div>
      {state.since === null ? null : (
        <p class="muted">
          Invalid since <Time at={state.since} />
        </p>
      )}
    </section>
  );
}
