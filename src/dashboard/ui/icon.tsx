import type { VNode } from 'preact';
import { ICON_PATHS, type IconName } from './icon-paths.js';
import type { Tone } from './severities.js';

/** Shows an icon. It is hidden from screen readers, because a text with the same meaning is next to it. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={ICON_PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

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
