export const OVERVIEW_LINK = '#/';
export const HEALTH_LINK = '#/health';

export function scalerLink(namespace: string, name: string): string {
  return `#/scalers/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}
