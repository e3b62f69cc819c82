import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { ScalerDetail } from '../../../api/answers.js';
import { patchCommand } from '../../../decision/snippet.js';
import { changeText, fieldChanges, mergePatch } from '../../../scaler/field-changes.js';
import type { PlainObject } from '../../../scaler/plain-json.js';
import { announce } from '../../ui/announcer.jsx';
import { Icon } from '../../ui/icon.jsx';
import { Sentence } from '../text/sentence.jsx';
import { CommandText, copyText } from '../text/command-text.jsx';

interface ApplyProps {
  readonly detail: ScalerDetail;
  readonly before: unknown;
  readonly after: PlainObject;
}

/** Shows how the user applies the change: an object is patched, a file is edited. */
export function Apply({ detail: { namespace, name, generation }, before, after }: ApplyProps): VNode {
  const code = useRef<HTMLElement>(null);
  const changes = fieldChanges(before, after, '');
  const text =
    generation === null
      ? changes.map(({ field, proposed }) => `${field}: ${proposed}`).join('\n')
      : patchCommand({ namespace, name }, JSON.stringify(mergePatch(before, after)));
  return (
    <div class="what-if-apply">
      <p dir="auto">
        <b>Apply</b> <Sentence text={changes.map(changeText).join(', ')} />
        {generation === null ? '. In the file, set:' : ':'}
      </p>
      <CommandText code={code} text={text} kind={generation === null ? 'edit' : 'command'} />{' '}
      <button type="button" onClick={() => void copyText(text, code.current).then(announce)}>
        <Icon name="copy" /> Copy
      </button>
    </div>
  );
}
