const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** One key of a shortcut as it stands on a keyboard. */
export const keyText = (key: string): string =>
  key === 'mod+k' ? (isApple ? '⌘ K' : 'Ctrl K') : key.replace('shift+', 'Shift ').replace('Escape', 'Esc');
