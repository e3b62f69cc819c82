import type { VNode } from 'preact';
import type { ScalerDetail } from '../../../api/answers.js';
import { command, keyOf, patchCommand } from '../../../decision/snippet.js';
import { evidenceLines } from '../../../scaler/field-changes.js';
import { asPlugin } from '../model/commands.js';
import { Sentence } from '../../ui/sentence.jsx';
import { RemedyItem } from './what-to-do.jsx';

interface RecommendationProps {
  readonly detail: ScalerDetail;
  readonly recommendation: NonNullable<ScalerDetail['recommendation']>;
}

/** Shows the change that the last back-test recommends: its saving, risk and evidence, and how to apply it. */
export function Recommendation({ detail, recommendation }: RecommendationProps): VNode {
  const { reason, patch, isObject } = recommendation;
  const apply =
    isObject && patch !== null
      ? { text: 'Apply it', snippet: command(patchCommand(detail, patch)) }
      : { text: `Set these fields in ${detail.file ?? 'the file of the document'}`, snippet: null };
  const status = asPlugin(`promscaler status ${keyOf(detail)} --recommendations`, detail);
  return (
    <div class="what-to-do">
      <h3>Recommended: {reason}</h3>
      <ul>
        {evidenceLines(recommendation).map((line) => (
          <li key={line}>
            <Sentence text={line} />
          </li>
        ))}
        <RemedyItem remedy={apply} />
        <RemedyItem remedy={{ text: 'Show the command of the back-test', snippet: command(status) }} />
      </ul>
    </div>
  );
}
