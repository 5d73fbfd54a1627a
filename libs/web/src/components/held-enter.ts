import type { KeyboardEvent } from 'react';

/**
 * Ignores the repeats of a held Enter on buttons and fields of one line: it presses or sends once. Its repeats would
 * press the button of the dialog that the first one has opened, or send a refused form again and again.
 */
export const withoutRepeat = (event: KeyboardEvent): void => {
  if (event.repeat && event.key === 'Enter') event.preventDefault();
};
