/**
 * Copies a string, or selects the element that shows it, and returns what happened. Browsers provide the clipboard only
 * to pages with HTTPS or on localhost.
 */
export async function copyText(text: string, shown: HTMLElement | null): Promise<string> {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  try {
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return 'Copied.';
    }
  } catch {
    // The user or a policy has denied access to the clipboard.
  }
  if (shown !== null) getSelection()?.selectAllChildren(shown);
  return 'The browser does not allow copying here: the command is selected.';
}
