import type { VNode } from 'preact';
import { Icon } from './icon.jsx';
import type { IconName } from './icon-paths.js';
import type { Tone } from './severities.js';

interface BadgeProps {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly text: string;
  readonly title?: string;
}

export function Badge({ tone, icon, text, title }: BadgeProps): VNode {
  return (
    <span class={`badge tone-${tone}`} title={title}>
      <Icon name={icon} />
      {text}
    </span>
  );
}
