import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ScalerDetail } from '../../../api/answers.js';
import { ApiError } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { snapshotRequest } from '../../data/requests.js';
import { announce } from '../../ui/announcer.jsx';
import { Icon } from '../../ui/icon.jsx';
import { Sentence } from '../../ui/sentence.jsx';
import { explainCommand, snapshotFileName } from '../model/commands.js';
import { CommandText, copyText } from '../text/command-text.jsx';

export interface DecisionActionsProps {
  readonly api: Api;
  readonly scaler: ScalerDetail;
  /** Time of the decision in RFC 3339; null: the last decision. */
  readonly at: string | null;
}

/** Offers the command that explains this decision, and its snapshot as a download. */
export function DecisionActions({ api, scaler, at }: DecisionActionsProps): VNode {
  const code = useRef<HTMLElement>(null);
  const [message, setMessage] = useState<string | null>(null);
  useEffect(() => setMessage(null), [at]);
  const tell = (text: string): void => {
    setMessage(text);
    announce(text);
  };
  const command = explainCommand(scaler, at);
  const copy = async (): Promise<void> => tell(await copyText(command, code.current));
  const download = async (): Promise<void> => {
    try {
      const snapshot = await api.read(
        snapshotRequest(scaler.namespace, scaler.name, at === null ? {} : { at }),
      );
      save(JSON.stringify(snapshot, null, 2), snapshotFileName(scaler, snapshot.now));
      tell('Downloaded. promscaler decide reads this file.');
    } catch (error) {
      tell(error instanceof ApiError ? error.message : 'The snapshot cannot be downloaded.');
    }
  };
  return (
    <div class="decision-actions">
      <CommandText code={code} text={command} />
      <button type="button" onClick={() => void copy()}>
        <Icon name="copy" /> Copy command
      </button>
      <button type="button" onClick={() => void download()}>
        <Icon name="download" /> Download snapshot
      </button>
      {message === null ? null : (
        <span class="hint">
          <Sentence text={message} />
        </span>
      )}
    </div>
  );
}

function save(text: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
